//! `podium grade --jsonl`: a list of submissions into one aggregate, written as `mlebench grade` writes it: a file
//! named by the time in the output folder. One that is there already is never written over.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use podium_competition::{Aggregate, Catalog};

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape, one_line};
use crate::run::site::Site;

pub(crate) fn main(
    list: &Path,
    output: &Path,
    as_json: bool,
    site: &Site,
    catalog: &Catalog,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let text = std::fs::read(list)
        .map_err(|error| Failure::usage(format!("could not read the list {}: {error}", list.display())))?;
    // Before the work: hours of grading must not end at a folder that cannot be made.
    DirBuilder::new().recursive(true).create(output).map_err(|error| unwritable(output, &error))?;
    let aggregate = site.grade_list(catalog, &text);
    let file = write(output, &aggregate)?;
    for one in &aggregate.not_graded {
        let competition = one.competition_id.as_deref().map(|id| format!(", {id}")).unwrap_or_default();
        let told = escape(&format!("line {}{competition}, not graded: {}", one.line, one.problem));
        terminal.error_line(&format!("{} {}", terminal.yellow("warning:"), one_line(&told, 400)));
    }
    if as_json {
        terminal.json(&aggregate);
    } else {
        print(&aggregate, &file, terminal);
    }
    Ok(ExitCode::from(match &aggregate.not_graded {
        none if none.is_empty() => 0,
        some if some.iter().any(|one| !one.broken_line) => exit::ENVIRONMENT,
        _ => exit::USAGE,
    }))
}

fn print(aggregate: &Aggregate, file: &Path, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    for report in &aggregate.competition_reports {
        let score = report.score.map(super::summary::shown);
        let medal = match (report.gold_medal, report.silver_medal, report.bronze_medal) {
            (true, ..) => "gold",
            (_, true, _) => "silver",
            (.., true) => "bronze",
            _ if report.above_median => "above median",
            _ => "-",
        };
        let why = report.reason.as_deref().unwrap_or_default();
        let score = score.unwrap_or_else(|| "invalid".to_owned());
        let row = format!("{:<56}  {score:<12}  {medal:<12}  {}", report.competition_id, one_line(why, 120));
        terminal.line(&escape(row.trim_end()));
    }
    say(
        "runs",
        &format!(
            "{} graded, {} with a submission, {} valid; {} not graded",
            aggregate.total_runs,
            aggregate.total_runs_with_submissions,
            aggregate.total_valid_submissions,
            aggregate.not_graded.len()
        ),
    );
    say(
        "medals",
        &format!(
            "{} ({} gold, {} silver, {} bronze); {} above the median",
            aggregate.total_medals,
            aggregate.total_gold_medals,
            aggregate.total_silver_medals,
            aggregate.total_bronze_medals,
            aggregate.total_above_median
        ),
    );
    say("written", &file.display().to_string());
}

/// Writes the aggregate to a new file and says which.
fn write(output: &Path, aggregate: &Aggregate) -> Result<PathBuf, Failure> {
    let json = serde_json::to_vec_pretty(aggregate)
        .map_err(|error| Failure::environment(format!("the aggregate could not be written: {error}")))?;
    let stamp = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S-GMT").to_string();
    let name = |again: u32| match again {
        0 => format!("{stamp}_grading_report.json"),
        again => format!("{stamp}_grading_report_{again}.json"),
    };
    for path in (0..1000).map(|again| output.join(name(again))) {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(&json)
                    .and_then(|()| file.sync_all())
                    .map_err(|error| unwritable(&path, &error))?;
                return Ok(path);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&path, &error)),
        }
    }
    Err(Failure::environment(format!("{} has a thousand reports of this second", output.display())))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::environment(format!("could not write {}: {error}", path.display()))
        .hint("name a folder that can be written with --output")
}
