//! The tests from outside: one binary, one module per promise or command.
