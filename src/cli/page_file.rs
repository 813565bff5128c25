//! A page for a browser, written where it was asked for: its path is what is printed then.

use std::path::Path;
use std::process::ExitCode;

use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::folder::write_whole;

/// Writes `page` to `file`; `-`: to standard output.
pub(crate) fn write(page: &str, file: &Path, terminal: &Terminal) -> Result<ExitCode, Failure> {
    if file == Path::new("-") {
        terminal.line(page);
        return Ok(ExitCode::SUCCESS);
    }
    write_whole(file, page.as_bytes()).map_err(RunError::from)?;
    terminal.line(&escape(&file.display().to_string()));
    Ok(ExitCode::SUCCESS)
}
