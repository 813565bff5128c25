//! `podium view`: the runs folder in a browser of this machine.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::cli::failure::Failure;
use crate::cli::signals::Signals;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::experiment::outcomes::Known;
use crate::run::error::RunError;
use crate::run::order::default_runs_dir;
use crate::view::reporting::Beside;
use crate::view::root::Root;
use crate::view::server::Server;
use crate::view::shelf::Shelf;

/// Where it listens unless told otherwise.
const PORT: u16 = 8710;

/// Show runs and experiments in a browser of this machine, also while they go on
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium view\n  podium view runs/ab --port 8800\n\nIt only reads, and answers this machine only. From \
    another one: ssh -L 8710:127.0.0.1:8710 HOST"
)]
pub(crate) struct Arguments {
    /// A folder of runs and experiments, one experiment, or one run [default: runs]
    dir: Option<PathBuf>,
    /// The port of 127.0.0.1 [default: 8710, or any that is free]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let folder = arguments.dir.clone().unwrap_or_else(default_runs_dir);
    let root = Root::open(&folder).map_err(|error| Failure::from(RunError::from(error)))?;
    let site = site.clone();
    // Assets that are wrong take what is known beside the runs away, and not the view of them.
    let known = Beside::new(move |place| {
        let site = site.open_for(Some(place), &Terminal::new()).ok();
        site.and_then(|site| Known::of(&site).ok()).unwrap_or_default()
    });
    let runtime = super::runtime()?;
    let server = match arguments.port {
        Some(port) => Server::bind(port),
        None => Server::bind(PORT).or_else(|_| Server::bind(0)),
    };
    let server = server.map_err(|error| {
        let port = arguments.port.unwrap_or(PORT);
        Failure::environment(format!("port {port} of 127.0.0.1 cannot be had: {error}"))
            .hint("leave out --port to take any that is free")
    })?;
    let failed = |error: std::io::Error| Failure::environment(format!("the viewer cannot go on: {error}"));
    terminal.error_line(&escape(&format!("{} · reads only · stop: Ctrl-C", root.path().display())));
    let address = server.address();
    runtime.block_on(async {
        let mut signals = Signals::watch().map_err(failed)?;
        terminal.line(&format!("http://{address}/"));
        tokio::select! {
            served = server.serve(Shelf::new(root, known)) => served.map_err(failed)?,
            _ = signals.any() => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}
