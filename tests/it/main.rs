//! The tests from outside: one binary, one module per promise or command.

mod support;

mod crash;
mod disk;
mod resume;
