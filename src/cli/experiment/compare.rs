//! `podium experiment compare` and `podium compare`: arms of an experiment, two experiments, or two runs beside each
//! other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use podium_report::experiment::{Report, Run, report, words};
use serde::Serialize;

use crate::cli::experiment::compare_runs;
use crate::cli::experiment::runs_dir;
use crate::cli::experiment::terms::TermArguments;
use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::experiment::error::ExperimentError;
use crate::experiment::outcomes::Known;
use crate::experiment::published;
use crate::experiment::stored::Experiment;

/// The axis that is no arm's.
const COMPETITION: &str = "competition";

/// The arms of an experiment beside each other: intervals, p-values, verdicts
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium experiment compare ab\n  podium experiment compare ab --by model\n  \
    podium experiment compare ab --by competition"
)]
pub(crate) struct Arguments {
    /// Its name, or its folder
    experiment: String,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    /// What is compared: scaffold, model, a setting, or each competition by itself [default: all that vary]
    #[arg(long, value_name = "AXIS")]
    by: Option<String>,
    #[command(flatten)]
    terms: TermArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// Two experiments or two runs beside each other
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium compare ab cd\n  podium compare runs/ab/aide-segment-1-0a1b runs/ab/mlab-segment-1-2c3d\n  \
    podium compare ab mle-bench/runs/run_group_experiments.csv"
)]
pub(crate) struct PairArguments {
    /// An experiment, a run's folder, or published runs in MLE-bench's files
    first: String,
    /// Another
    second: String,
    /// Where experiments are looked for by their names [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
    #[command(flatten)]
    terms: TermArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let known = Known::of(&site.open_for(Some(&experiment.stored.place), terminal)?)?;
    let by = arguments.by.as_deref().filter(|axis| *axis != COMPETITION);
    let asked = arguments.terms.read(&experiment, by, &known)?;
    if arguments.by.as_deref() == Some(COMPETITION) {
        by_competition(&asked.runs, arguments.json, terminal);
        return Ok(ExitCode::SUCCESS);
    }
    let name = &experiment.stored.spec.name;
    let made = report(name, &asked.runs, &asked.terms)?;
    tell(&made, arguments.json, terminal);
    Ok(ExitCode::SUCCESS)
}

/// `podium compare`.
pub(crate) fn pair(
    arguments: &PairArguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    if arguments.first == arguments.second {
        return Err(Failure::usage("the same stands on both sides")
            .hint("podium experiment compare tells the arms of one experiment"));
    }
    let (first, second) = (Path::new(&arguments.first), Path::new(&arguments.second));
    let is_run = |path: &Path| path.join("config.json").is_file();
    if is_run(first) && is_run(second) {
        return compare_runs::main(first, second, arguments.json, terminal);
    }
    let known = Known::of(&site.open(terminal)?)?;
    let runs_dir = runs_dir(arguments.runs_dir.as_ref());
    let mut sides = Vec::new();
    for name in [&arguments.first, &arguments.second] {
        if is_run(Path::new(name)) {
            return Err(Failure::usage(format!("{name} is a run, and the other is none"))
                .hint("compare two runs, or two experiments"));
        }
        sides.push(side(name, &runs_dir, &arguments.terms, &known)?);
    }
    let mut runs: Vec<Run> = sides.into_iter().flatten().collect();
    runs.extend(arguments.terms.published(&known)?);
    let title = format!("{} and {}", arguments.first, arguments.second);
    let made = report(&title, &runs, &arguments.terms.terms(&known))?;
    tell(&made, arguments.json, terminal);
    Ok(ExitCode::SUCCESS)
}

/// The runs of one side, named by it.
fn side(name: &str, runs_dir: &Path, terms: &TermArguments, known: &Known) -> Result<Vec<Run>, Failure> {
    let mut runs = match Experiment::find(name, runs_dir) {
        Ok(experiment) => {
            let asked = terms.read(&experiment, None, known)?;
            asked.runs.into_iter().filter(|run| !run.published).collect()
        }
        Err(ExperimentError::Absent(_)) if published::is_published(Path::new(name)) => {
            published::read(Path::new(name), known)?
        }
        Err(error) => return Err(error.into()),
    };
    let is_one = runs.iter().all(|run: &Run| Some(&run.arm) == runs.first().map(|first| &first.arm));
    for run in &mut runs {
        run.arm = if is_one { name.to_owned() } else { format!("{name}: {}", run.arm) };
    }
    Ok(runs)
}

/// Rates and comparisons of a report.
fn tell(made: &Report, json: bool, terminal: &Terminal) {
    if json {
        terminal.json(made);
        return;
    }
    let say = |text: &str| terminal.line(&escape(text));
    say(&format!("experiment {}: {} planned", made.experiment, made.planned));
    for remark in words::remarks(made) {
        say(&format!("! {remark}"));
    }
    for table in &made.tables {
        say("");
        say(&words::title(table));
        for row in &table.rows {
            say(&format!("{}  any medal {} %", row.arm, words::told(row.any_medal)));
        }
        say(words::SEM);
        if table.comparisons.is_empty() {
            say("nothing to compare: there is one arm, or no competition that two of them ran");
        } else if table.is_too_small() {
            say(&words::too_small(table));
        }
        for comparison in &table.comparisons {
            for line in words::compared(comparison, made.equal_within) {
                say(&line);
            }
        }
    }
}

/// One arm on one competition.
#[derive(Debug, Default, Serialize)]
struct Cell {
    runs: usize,
    missing: usize,
    valid: usize,
    above_median: usize,
    medals: usize,
    best_score: Option<f64>,
}

/// Medals of each arm on each competition. Seeds are few: it shows where to look, and decides nothing.
fn by_competition(runs: &[Run], json: bool, terminal: &Terminal) {
    let mut table: BTreeMap<&str, BTreeMap<&str, Cell>> = BTreeMap::new();
    for run in runs {
        let cell = table.entry(&run.competition).or_default().entry(&run.arm).or_default();
        cell.runs += 1;
        let Some(end) = &run.end else {
            cell.missing += 1;
            continue;
        };
        cell.valid += usize::from(end.valid);
        cell.above_median += usize::from(end.above_median);
        cell.medals += usize::from(end.medal);
        if let Some(score) = end.score.filter(|score| score.is_finite()) {
            let better =
                |known: f64| if end.lower_is_better == Some(true) { score < known } else { score > known };
            if cell.best_score.is_none_or(better) {
                cell.best_score = Some(score);
            }
        }
    }
    if json {
        terminal.json(&table);
        return;
    }
    terminal.line("medals of runs (above the median; valid; missing), best score; few seeds decide nothing");
    for (competition, arms) in table {
        terminal.line(&escape(competition));
        for (arm, cell) in arms {
            let score = cell.best_score.map_or_else(|| "-".to_owned(), |score| format!("{score:.5}"));
            terminal.line(&escape(&format!(
                "  {arm:<24}  {} of {} ({}; {}; {})  {score}",
                cell.medals, cell.runs, cell.above_median, cell.valid, cell.missing
            )));
        }
    }
}
