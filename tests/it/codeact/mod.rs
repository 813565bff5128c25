//! CodeAct from outside: its tools on a real sandbox, offline competitions solved from an empty workspace in every
//! format, and what a kill leaves.

mod cuts;
mod tools;
