//! `podium grade`: the score of a submission, of a list of them, or of all nodes of a run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use podium_competition::{Board, Competition};

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::Terminal;
use crate::cli::{grade_list, grade_nodes, summary};
use crate::run::error::RunError;
use crate::run::summary::grading_report;

/// Score a submission as the competition would, a list of submissions, or all nodes of an ended run
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  podium grade -c segment submission.csv\n  \
    podium grade -c segment submission.csv --json\n  podium grade --jsonl submissions.jsonl --output results\n  \
    podium grade runs/aide-segment-1 --all-nodes\n\n\
    A list has one JSON object a line, {\"competition_id\": …, \"submission_path\": …}, as `mlebench grade` takes it; \
    the aggregate is written as it writes it. Invalid submissions are part of an aggregate: the exit code is 0 unless \
    a line could not be graded at all (2: a broken line, 3: data or answers missing).\n\n\
    --all-nodes tells the test score of each node and what the final choice lost, oracle figures that no strategy may \
    use: it is refused while the run could go on (--ended gives that up), and closes the run, which is never resumed \
    afterwards. Nothing of it is written down.")]
pub(crate) struct Arguments {
    /// The competition
    #[arg(short, long, value_name = "C", required_unless_present_any = ["jsonl", "all_nodes"], conflicts_with = "jsonl")]
    competition: Option<String>,
    /// The submission; with --all-nodes the folder of a run
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    submission: Option<PathBuf>,
    /// Grade the valid submission of every node of a run that has ended
    #[arg(long, conflicts_with_all = ["jsonl", "competition", "answers", "leaderboard"])]
    all_nodes: bool,
    /// End a run for good that could still go on
    #[arg(long, requires = "all_nodes")]
    ended: bool,
    /// The answers, instead of the prepared ones
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    answers: Option<PathBuf>,
    /// Medals by this leaderboard, a CSV with a column `score`, by Kaggle's rule, instead of the stored thresholds
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    leaderboard: Option<PathBuf>,
    /// A list of submissions, graded in parallel
    #[arg(long, value_name = "FILE", requires = "output")]
    jsonl: Option<PathBuf>,
    /// Folder for the aggregate of a list
    #[arg(long, value_name = "DIR", requires = "jsonl")]
    output: Option<PathBuf>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    if let (true, Some(run)) = (arguments.all_nodes, &arguments.submission) {
        return grade_nodes::main(run, arguments.ended, arguments.json, site, terminal);
    }
    let site = site.open(terminal)?;
    if let (Some(list), Some(output)) = (&arguments.jsonl, &arguments.output) {
        let catalog = site.competitions()?;
        return grade_list::main(list, output, arguments.json, &site, &catalog, terminal);
    }
    let (Some(id), Some(submission)) = (&arguments.competition, &arguments.submission) else {
        return Err(Failure::usage("no submission was named").hint("podium grade -c ID submission.csv"));
    };
    let mut competition = site.competition(id)?;
    if let Some(file) = &arguments.leaderboard {
        competition.board = leaderboard(file, &competition)?;
    }
    let answers = match &arguments.answers {
        Some(answers) => answers.clone(),
        None => site.answers(&competition)?,
    };
    let graded = podium_competition::grade(&competition, submission, &answers).map_err(RunError::from)?;
    let mut report = grading_report(&competition, &graded.outcome, submission);
    if let Some(file) = &arguments.leaderboard {
        report.notes.push(format!("medals by Kaggle's rule on the leaderboard {}", file.display()));
    }
    if arguments.json {
        terminal.json(&report);
    } else {
        summary::grade(&report, terminal);
    }
    Ok(if report.valid_submission { ExitCode::SUCCESS } else { ExitCode::from(exit::INVALID) })
}

fn leaderboard(file: &Path, competition: &Competition) -> Result<Board, Failure> {
    let name = file.display();
    if podium_competition::is_pointer(file) {
        return Err(Failure::from(RunError::Pointer { path: file.to_owned() }));
    }
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("could not read the leaderboard {name}: {error}")))?;
    Board::of_leaderboard(&text, competition.direction()).map_err(|problem| {
        Failure::usage(format!("{name}: {problem}"))
            .hint("a leaderboard is a CSV with a column `score`, a team a row")
    })
}
