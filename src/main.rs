//! The `podium` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    podium::cli::main()
}
