//! CodeAct from outside: its tools on a real sandbox, and acts that a kill cuts.

mod cuts;
mod tools;
