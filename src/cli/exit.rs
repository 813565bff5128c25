//! Exit codes. They are part of the interface: scripts and schedulers act on them.

use std::process::ExitCode;

use crate::run::stop::StoppedBy;

/// An invalid submission, or failed runs.
pub(crate) const INVALID: u8 = 1;
/// Usage or configuration.
pub(crate) const USAGE: u8 = 2;
/// Sandbox, data or Python missing.
pub(crate) const ENVIRONMENT: u8 = 3;
/// The dollar or token cap was reached.
pub(crate) const CAP: u8 = 4;
/// Stopped, resumable.
pub(crate) const RESUMABLE: u8 = 5;
/// A bug of ours, or of a strategy that somebody wrote.
pub(crate) const BUG: u8 = 70;

/// The code of a run that ended with a report.
pub(crate) fn of_stop(stop: StoppedBy) -> ExitCode {
    ExitCode::from(match stop {
        StoppedBy::Finished | StoppedBy::Steps | StoppedBy::Time => 0,
        StoppedBy::Tokens | StoppedBy::Dollars => CAP,
        StoppedBy::Interrupted | StoppedBy::ModelService => RESUMABLE,
        StoppedBy::Sandbox => ENVIRONMENT,
        StoppedBy::Strategy | StoppedBy::Internal => BUG,
    })
}

/// What a code is called in a document.
pub(crate) const fn name(code: u8) -> &'static str {
    match code {
        INVALID => "invalid",
        USAGE => "usage",
        ENVIRONMENT => "environment",
        CAP => "cap",
        RESUMABLE => "resumable",
        _ => "internal",
    }
}

/// The code of what clap says: help and version are no failures.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}
