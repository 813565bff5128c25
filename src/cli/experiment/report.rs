//! `podium experiment report`: what an experiment came to, its arms beside each other, and what has to be disclosed.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_report::experiment::csv::csv;
use podium_report::experiment::markdown::markdown;
use podium_report::experiment::{report, sheet, words};

use crate::cli::experiment::runs_dir;
use crate::cli::experiment::terms::TermArguments;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::page_file;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::experiment::grades;
use crate::experiment::outcomes::Known;
use crate::experiment::stored::{Experiment, State};
use crate::run::error::RunError;
use crate::run::site::Site;

/// What an experiment came to, and its arms beside each other
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
#[command(
    after_help = "Examples:\n  podium experiment report ab\n  podium experiment report ab --by steps --json\n  \
    podium experiment report ab --html\n  podium experiment report ab --beside mle-bench/runs"
)]
pub(crate) struct Arguments {
    /// Its name, or its folder
    experiment: String,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// Tell arms apart by this axis alone: scaffold, model, or a setting [default: all that vary]
    #[arg(long, value_name = "AXIS")]
    by: Option<String>,
    #[command(flatten)]
    terms: TermArguments,
    /// Grade what each ended run would have handed in over time, and the best by test beside it. Those runs are closed
    /// for good: they are never resumed
    #[arg(long)]
    over_time: bool,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with_all = ["json", "csv"])]
    markdown: bool,
    /// Print one line for each run, as CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write a page for a browser: the same tables, and plots over time and dollars. One file that loads nothing
    /// [default FILE: report.html in the experiment's folder; `-`: standard output]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["json", "markdown", "csv"])]
    #[expect(clippy::option_option, reason = "asked for or not, and with a file or without")]
    html: Option<Option<PathBuf>>,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let site = site.open_for(Some(&experiment.stored.place), terminal)?;
    let known = Known::of(&site)?;
    if arguments.over_time {
        grade_over_time(&experiment, &site, terminal);
    }
    let asked = arguments.terms.read(&experiment, arguments.by.as_deref(), &known)?;
    if arguments.csv {
        terminal.line(escape(&csv(&asked.runs)).trim_end());
        return Ok(ExitCode::SUCCESS);
    }
    let name = &experiment.stored.spec.name;
    let made = report(name, &asked.runs, &asked.terms)?;
    if let Some(file) = &arguments.html {
        let page = podium_report::document(&sheet(&made, &asked.runs)).map_err(RunError::Story)?;
        let usual = experiment.folder.join("report.html");
        return page_file::write(&page, file.as_deref().unwrap_or(&usual), terminal);
    }
    if arguments.json {
        terminal.json(&made);
    } else if arguments.markdown {
        terminal.line(escape(&markdown(&made)).trim_end());
    } else {
        terminal.line(&escape(&words::lines(&made).join("\n")));
    }
    Ok(ExitCode::SUCCESS)
}

/// Grades the ended runs that were not. One that cannot be graded is told, and takes no other with it.
fn grade_over_time(experiment: &Experiment, site: &Site, terminal: &Terminal) {
    let mut open = 0;
    for run in &experiment.stored.plan.runs {
        match experiment.state(run) {
            State::Ended(_) => {}
            _ => {
                open += 1;
                continue;
            }
        }
        if grades::read(experiment, run).is_some() {
            continue;
        }
        if let Err(error) = grades::make(experiment, run, site) {
            let why = with_causes(&error);
            terminal.error_line(&escape(&format!("note: {} is not graded over time: {why}", run.folder)));
        }
    }
    if open > 0 {
        terminal.error_line(&format!("note: {open} runs have not ended and are not graded over time"));
    }
}
