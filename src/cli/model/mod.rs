//! `podium model`: what is known of models, and one chat by hand, through the same client as every run.
//!
//! - `list`: windows, prices, abilities, and whether a model can be called now
//! - `chat`: one request and its answer; `input` reads what goes into it, `watch` shows what it waits for

mod chat;
mod input;
mod list;
mod watch;

pub(crate) use chat::ask;

use std::process::ExitCode;

use clap::Subcommand;

use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::Terminal;

/// Models: list, and one chat by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List models: window, prices, abilities, and whether they can be called now
    #[command(
        after_help = "Examples:\n  podium model list --provider openai\n  podium model list --models mine.toml --json"
    )]
    List(list::Arguments),
    /// Ask a model once
    #[command(after_help = "Examples:\n  podium model chat -m openai/gpt-4.1-mini 'Say hello'\n  \
        podium model chat -m openai/gpt-4.1-mini --system 'Be brief' @question.md\n  \
        git diff | podium model chat -m openai/gpt-4.1-mini --system 'Review this' -")]
    Chat(Box<chat::Arguments>),
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    match command {
        Command::List(arguments) => list::main(arguments, &site, terminal),
        Command::Chat(arguments) => chat::main(arguments, &site, terminal),
    }
}
