//! `podium experiment report`: what an experiment came to, and its arms beside each other.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_competition::BoardKind;
use podium_report::experiment::{Comparison, End, Report, Run, Table, report};
use podium_report::statistics::Verdict;
use podium_report::statistics::power::SeedsNeeded;
use podium_report::statistics::rates::Rate;

use crate::cli::experiment::runs_dir;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, dollars, escape};
use crate::experiment::stored::Experiment;
use crate::run::summary::RunReport;

/// What an experiment came to, and its arms beside each other
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium experiment report ab\n  podium experiment report ab --by steps --json"
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
    /// As MLE-bench's own aggregation: cut to the smallest number of seeds, refuse a competition without runs
    #[arg(long)]
    strict: bool,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let axes = match &arguments.by {
        Some(axis) => vec![axis.clone()],
        None => experiment.stored.spec.varied(),
    };
    let arms = experiment.stored.spec.arms();
    if let Some(unknown) = axes.iter().find(|axis| !arms.iter().any(|arm| arm.contains_key(*axis))) {
        let known: Vec<&str> = arms.iter().flat_map(|arm| arm.keys()).map(String::as_str).collect();
        let known: std::collections::BTreeSet<&str> = known.into_iter().collect();
        return Err(Failure::usage(format!("the experiment has no axis `{unknown}`"))
            .hint(format!("its axes: {}", known.into_iter().collect::<Vec<_>>().join(", "))));
    }
    let made = report(&experiment.stored.spec.name, &facts(&experiment, &axes), arguments.strict).map_err(
        |missing| Failure::usage(missing.to_string()).hint("leave out --strict to count it as failed"),
    )?;
    if arguments.json {
        terminal.json(&made);
    } else {
        print(&made, terminal);
    }
    Ok(ExitCode::SUCCESS)
}

/// The runs of the plan as plain data, named by the values of `axes`.
fn facts(experiment: &Experiment, axes: &[String]) -> Vec<Run> {
    let plan = &experiment.stored.plan;
    let run = |planned: &crate::experiment::plan::PlannedRun| {
        let facts = plan.competitions.get(&planned.competition);
        let values: Vec<&str> =
            axes.iter().filter_map(|axis| planned.arm.get(axis)).map(String::as_str).collect();
        Run {
            arm: values.join(" · "),
            competition: planned.competition.clone(),
            seed: planned.seed,
            splits: facts.map(|facts| facts.splits.clone()).unwrap_or_default(),
            baselines: facts.is_none_or(|facts| facts.board == BoardKind::Baselines),
            end: experiment.state(planned).report().map(end),
        }
    };
    plan.runs.iter().map(run).collect()
}

fn end(report: &RunReport) -> End {
    let graded = report.report.as_ref();
    let is = |of: fn(&podium_competition::GradingReport) -> bool| graded.is_some_and(of);
    End {
        outcome: report.outcome.word().to_owned(),
        stopped_by: report.stopped_by.word().to_owned(),
        outside: report.stopped_by.resumes_as_it_is(),
        medal: is(|graded| graded.any_medal),
        gold: is(|graded| graded.gold_medal),
        silver: is(|graded| graded.silver_medal),
        bronze: is(|graded| graded.bronze_medal),
        above_median: is(|graded| graded.above_median),
        valid: is(|graded| graded.valid_submission),
        made: is(|graded| graded.submission_exists),
        percentile: graded.and_then(|graded| graded.percentile),
        cost: report.usage.cost_usd,
        tokens: report.usage.input_tokens.saturating_add(report.usage.output_tokens),
        hours: report.time.run_s / 3600.0,
        stand_in: report.stand_in,
    }
}

fn print(report: &Report, terminal: &Terminal) {
    let counts: Vec<String> = report
        .counts
        .iter()
        .map(|count| format!("{} {} (stopped by {})", count.runs, count.outcome, count.stopped_by))
        .collect();
    let say = |text: String| terminal.line(&escape(&text));
    say(format!("experiment {}: {} planned = {}", report.experiment, report.planned, counts.join(" + ")));
    for missing in report.missing.iter().take(10) {
        say(format!("! no report, counted as failed: {missing}"));
    }
    if report.missing.len() > 10 {
        say(format!("! and {} more", report.missing.len() - 10));
    }
    if report.outside > 0 {
        say(format!(
            "! {} runs were stopped outside the agent; they count as what they had come to",
            report.outside
        ));
    }
    for note in &report.notes {
        say(format!("! {note}"));
    }
    for table in &report.tables {
        print_table(table, terminal);
    }
}

fn print_table(table: &Table, terminal: &Terminal) {
    let say = |text: String| terminal.line(&escape(&text));
    let board = if table.baselines { "baselines" } else { "human teams" };
    say(format!("\n{}: {} competitions, boards of {board}", table.split, table.competitions));
    let width = table.rows.iter().map(|row| row.arm.chars().count()).max().unwrap_or(0).max(4);
    say(format!(
        "{:<width$}  any medal %        gold  silver  bronze  >median   valid  percentile     $/run   h/run",
        "arm"
    ));
    for row in &table.rows {
        say(format!(
            "{:<width$}  {:<15}  {:>6.1}  {:>6.1}  {:>6.1}  {:>7.1}  {:>6.1}  {:>10}  {:>8}  {:>6.2}",
            row.arm,
            told(row.any_medal),
            row.gold.mean,
            row.silver.mean,
            row.bronze.mean,
            row.above_median.mean,
            row.valid.mean,
            row.percentile.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}")),
            row.cost.map_or_else(|| "?".to_owned(), dollars),
            row.hours
        ));
    }
    say("± is one SEM over seeds (MLE-bench's convention), not a confidence interval".to_owned());
    if table.is_too_small() && !table.comparisons.is_empty() {
        say(format!(
            "with {} competitions the smallest p is {:.3}: nothing can be significant",
            table.competitions, table.smallest_p
        ));
    }
    for comparison in &table.comparisons {
        compared(comparison).into_iter().for_each(say);
    }
}

fn told(rate: Rate) -> String {
    match rate.seeds {
        1 => format!("{:.1} (1 seed)", rate.mean),
        _ => format!("{:.1} ± {:.1}", rate.mean, rate.sem),
    }
}

fn compared(comparison: &Comparison) -> Vec<String> {
    let points = |share: f64| format!("{:+.1}", 100.0 * share);
    let between = |interval: Option<podium_report::statistics::Interval>| {
        interval.map_or_else(
            || "no interval".to_owned(),
            |interval| format!("95 % [{}, {}]", points(interval.low), points(interval.high)),
        )
    };
    let difference = &comparison.difference;
    let word = match comparison.verdict {
        Verdict::FirstBetter => format!("{} is better", comparison.a),
        Verdict::SecondBetter => format!("{} is better", comparison.b),
        Verdict::PracticallyEqual => "practically equal (within 3 points)".to_owned(),
        Verdict::Undecided => "undecided".to_owned(),
    };
    let seeds = match comparison.seeds_for_five_points {
        SeedsNeeded::Seeds(seeds) => format!("{seeds} seeds"),
        SeedsNeeded::MoreCompetitions => "no number of seeds will do, add competitions".to_owned(),
        SeedsNeeded::Unknown => "unknown".to_owned(),
    };
    let seen = comparison.detectable.map_or_else(
        || "unknown, the competitions show no spread".to_owned(),
        |share| format!("{:.1} points", 100.0 * share),
    );
    let most: Vec<String> =
        comparison.differs_most.iter().map(|(name, by)| format!("{name} {}", points(*by))).collect();
    vec![
        format!(
            "{} − {}  {} points, {} for competitions like these; {} for exactly these",
            comparison.a,
            comparison.b,
            points(difference.mean),
            between(difference.like_these),
            between(difference.exactly_these)
        ),
        format!(
            "  p           sign flip {:.4} (Holm {:.4}), labels permuted {:.4}; wins/ties/losses {}/{}/{}",
            comparison.sign_flip.p,
            comparison.holm,
            comparison.label_permutation.p,
            difference.wins,
            difference.ties,
            difference.losses
        ),
        format!(
            "  verdict     {word}. Smallest difference this design can see (80 % power): {seen}; to see 5: {seeds}"
        ),
        format!("  differ most {}", if most.is_empty() { "nowhere".to_owned() } else { most.join(" · ") }),
    ]
}
