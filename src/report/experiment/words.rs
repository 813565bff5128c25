//! The report for people, line by line. Names of arms and hosts are as they came: whoever shows a line makes it harmless.

use std::fmt::Display;

use super::comparison::Comparison;
use super::course::Curve;
use super::disclosure::Disclosure;
use super::report::{Count, Report};
use super::row::Row;
use super::slice::{ArmRate, Slice};
use super::table::Table;
use crate::statistics::power::SeedsNeeded;
use crate::statistics::rates::Rate;
use crate::statistics::{Interval, Verdict};

/// Missing runs that are named; the document has all.
const NAMED: usize = 10;
/// With more arms, comparisons of all of them are left to the document.
pub const COMPARED: usize = 15;

/// Said below each table of rates.
pub const SEM: &str = "± is one SEM over seeds (MLE-bench's convention), not a confidence interval";

/// The report in lines.
pub fn lines(report: &Report) -> Vec<String> {
    let mut lines = vec![format!("experiment {}: {}", report.experiment, planned(report))];
    lines.extend(remarks(report).into_iter().map(|line| format!("! {line}")));
    for table in &report.tables {
        lines.push(String::new());
        lines.extend(table_lines(table, report));
    }
    if !report.slices.is_empty() {
        lines.push(String::new());
        lines.push("any medal % by what competitions are like".to_owned());
        for slice in &report.slices {
            let [by, value, competitions, arms] = slice_cells(slice);
            lines.push(format!("{by:<18} {value:<22} {competitions:<31} {arms}"));
        }
    }
    lines.push(String::new());
    lines.extend(disclosed(&report.disclosure));
    lines
}

/// A part of the competitions: by what, its value, how many of which boards, and each arm on them.
pub fn slice_cells(slice: &Slice) -> [String; 4] {
    let board = if slice.baselines { "baselines" } else { "human teams" };
    let arms: Vec<String> = slice.arms.iter().map(arm_rate).collect();
    [
        slice.by.word().to_owned(),
        slice.value.clone(),
        format!("{} ({board})", number(slice.competitions)),
        arms.join(" · "),
    ]
}

/// What must be known before any number is read.
pub fn remarks(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    let counted_as = if report.strict { "no report" } else { "no report, counted as failed" };
    lines.extend(report.missing.iter().take(NAMED).map(|missing| format!("{counted_as}: {missing}")));
    if let Some(more) = report.missing.len().checked_sub(NAMED).filter(|more| *more > 0) {
        lines.push(format!("and {more} more without a report"));
    }
    if report.outside > 0 {
        lines.push(format!(
            "{} runs were stopped outside the agent; they count as what they had come to",
            report.outside
        ));
    }
    if report.program_failed > 0 {
        lines.push(format!(
            "the strategy's own program failed in {} of the runs; they count as what they had come to",
            report.program_failed
        ));
    }
    lines.extend(report.notes.iter().cloned());
    lines
}

/// What came of the plan.
pub fn planned(report: &Report) -> String {
    let counts = if report.counts.is_empty() { "0".to_owned() } else { counted(&report.counts) };
    format!("{} planned = {counts}", report.planned)
}

fn counted(counts: &[Count]) -> String {
    let count = |count: &Count| match count.stopped_by.as_str() {
        "-" => format!("{} {}", count.runs, count.outcome),
        by => format!("{} {} (stopped by {by})", count.runs, count.outcome),
    };
    counts.iter().map(count).collect::<Vec<_>>().join(" + ")
}

/// What a table is of.
pub fn title(table: &Table) -> String {
    let board = if table.baselines { "baselines, no people" } else { "human teams" };
    let of = match table.of {
        Some(of) if table.is_part() => {
            format!("{} of {of} competitions: no number of the whole split", table.competitions)
        }
        _ => number(table.competitions),
    };
    let teams = match table.teams {
        Some((least, most)) if least == most => format!(" ({least} lines)"),
        Some((least, most)) => format!(" ({least}–{most} lines)"),
        None => String::new(),
    };
    format!("{}: {of}, boards of {board}{teams}", table.split)
}

/// Headings of a table of rates.
pub const HEADS: [&str; 13] = [
    "arm",
    "any medal %",
    "gold",
    "silver",
    "bronze",
    ">median",
    "valid",
    "made",
    "percentile",
    "human-rel",
    "$/run",
    "h/run",
    "tokens/run",
];
/// How wide a column is; the first is as wide as its longest name.
const WIDTHS: [usize; 13] = [0, 15, 6, 6, 6, 7, 6, 6, 10, 9, 8, 6, 10];

/// One row of it.
pub fn cells(row: &Row) -> [String; 13] {
    let own = |text: String| if row.published { "-".to_owned() } else { text };
    let rate = |rate: Rate| format!("{:.1}", rate.mean);
    [
        row.arm.clone(),
        told(row.any_medal),
        rate(row.gold),
        rate(row.silver),
        rate(row.bronze),
        rate(row.above_median),
        rate(row.valid),
        rate(row.made),
        or_dash(row.percentile.map(|value| format!("{value:.1}"))),
        or_dash(row.human_relative.map(|share| format!("{:.3}", share.mean))),
        own(row.spent.cost_of_run.map_or("?".to_owned(), dollars)),
        own(format!("{:.2}", row.spent.hours_of_run)),
        own(format!("{:.0}", row.spent.tokens_of_run)),
    ]
}

fn table_lines(table: &Table, report: &Report) -> Vec<String> {
    let mut lines = vec![title(table)];
    let width = table.rows.iter().map(|row| row.arm.chars().count()).max().unwrap_or(0).max(4);
    let line = |cells: [String; 13]| {
        let placed = cells.into_iter().zip(WIDTHS).enumerate().map(|(place, (cell, wide))| match place {
            0 => format!("{cell:<width$}"),
            1 => format!("{cell:<wide$}"),
            _ => format!("{cell:>wide$}"),
        });
        placed.collect::<Vec<_>>().join("  ")
    };
    lines.push(line(HEADS.map(str::to_owned)));
    lines.extend(table.rows.iter().map(|row| line(cells(row))));
    lines.push(SEM.to_owned());
    for row in &table.rows {
        lines.extend(row_lines(row).into_iter().map(|line| format!("{:<width$}  {line}", row.arm)));
    }
    lines.extend(without_issues(table));
    for curve in &table.curves {
        lines.push(curve_line(curve));
    }
    if table.is_too_small() && !table.comparisons.is_empty() {
        lines.push(too_small(table));
    }
    for comparison in table.comparisons.iter().take(COMPARED) {
        lines.extend(compared(comparison, report.equal_within));
    }
    lines.extend(more_compared(table));
    lines
}

/// Any medal without the competitions that have known issues; none where nothing has one.
pub fn without_issues(table: &Table) -> Option<String> {
    let names: Vec<&str> = table.known_issues.keys().map(String::as_str).collect();
    let arms: Vec<String> = table.without_known_issues.iter().map(arm_rate).collect();
    (!arms.is_empty()).then(|| {
        format!("without competitions with known issues ({}): {}", names.join(", "), arms.join(" · "))
    })
}

/// How many comparisons are left to the document.
pub fn more_compared(table: &Table) -> Option<String> {
    let more = table.comparisons.len().checked_sub(COMPARED).filter(|more| *more > 0)?;
    Some(format!("and {more} more comparisons: --json has them"))
}

/// So many competitions.
fn number(competitions: usize) -> String {
    format!("{competitions} {}", if competitions == 1 { "competition" } else { "competitions" })
}

/// Hours or dollars with digits that tell them apart.
fn short(value: f64) -> String {
    match value {
        value if value >= 1.0 => format!("{value:.2}"),
        value if value >= 0.01 => format!("{value:.3}"),
        value => format!("{value:.5}"),
    }
}

/// Why nothing can be significant.
pub fn too_small(table: &Table) -> String {
    format!(
        "with {} the smallest p is {:.3}: nothing can be significant",
        number(table.competitions),
        table.smallest_p
    )
}

/// What a row has beside its rates.
pub fn row_lines(row: &Row) -> Vec<String> {
    let mut lines = vec![format!("runs {}", counted(&row.counts))];
    let curve: Vec<String> = row
        .pass_at
        .iter()
        .map(|point| match point.interval {
            Some(interval) => {
                format!(
                    "@{} {} [{}, {}]",
                    point.k,
                    share(point.mean),
                    share(interval.low.max(0.0)),
                    share(interval.high.min(1.0))
                )
            }
            None => format!("@{} {}", point.k, share(point.mean)),
        })
        .collect();
    if !curve.is_empty() {
        lines.push(format!("pass {} (95 % over competitions)", curve.join(" · ")));
    }
    if row.best_of.len() > 1 {
        let points: Vec<String> =
            row.best_of.iter().map(|point| format!("of {} {}", point.k, share(point.mean))).collect();
        lines.push(format!("best by validation {}", points.join(" · ")));
    }
    if let Some(gap) = row.gap {
        let relative = gap
            .median_relative
            .map(|value| format!(", median gap {:+.1} % of the test score", 100.0 * value))
            .unwrap_or_default();
        lines.push(format!(
            "validation was too optimistic in {} of {} runs, too pessimistic in {}{relative}",
            gap.too_optimistic, gap.runs, gap.too_pessimistic
        ));
    }
    if let Some(loss) = row.selection_loss {
        lines.push(format!(
            "handed-in {:.1} %, best by test {:.1} % (oracle): picking costs {:.1} points",
            loss.handed_in,
            loss.oracle,
            loss.oracle - loss.handed_in
        ));
    }
    if !row.published {
        let spent = &row.spent;
        let sessions = match spent.session_hours {
            0.0 => String::new(),
            hours => format!(", shells and kernels {hours:.2} h"),
        };
        lines.push(format!(
            "took {}, {} + {} tokens in {} calls, {:.2} h of run time (models {:.2} h, executions {:.2} h{sessions}) and {:.2} h waiting",
            spent.cost.map_or("an unknown cost".to_owned(), dollars),
            spent.input_tokens,
            spent.output_tokens,
            spent.calls,
            spent.hours,
            spent.model_hours,
            spent.execution_hours,
            spent.waiting_hours
        ));
    }
    lines
}

/// A curve in one line.
pub fn curve_line(curve: &Curve) -> String {
    let point = |point: &super::course::CurvePoint| {
        format!("{}: {:.1} ({:.1})", short(point.at), point.handed_in.mean, point.oracle.mean)
    };
    format!(
        "{} by {}, any medal % (oracle)  {}",
        curve.arm,
        curve.over.word(),
        curve.points.iter().map(point).collect::<Vec<_>>().join("  ")
    )
}

/// A rate with its error.
pub fn told(rate: Rate) -> String {
    match rate.seeds {
        1 => format!("{:.1} (1 seed)", rate.mean),
        _ => format!("{:.1} ± {:.1}", rate.mean, rate.sem),
    }
}

/// An arm with its rate.
pub fn arm_rate(arm: &ArmRate) -> String {
    format!("{} {}", arm.arm, told(arm.any_medal))
}

fn share(value: f64) -> String {
    format!("{:.1}", 100.0 * value)
}

fn or_dash(value: Option<String>) -> String {
    value.unwrap_or_else(|| "-".to_owned())
}

/// Dollars: cents where there are any, more digits where there are none.
pub fn dollars(amount: f64) -> String {
    if amount == 0.0 || amount >= 0.1 { format!("${amount:.2}") } else { format!("${amount:.4}") }
}

fn points(share: f64) -> String {
    // Nothing is "-0.0 points" better.
    let points = 100.0 * share;
    if points.abs() < 0.05 { "0.0".to_owned() } else { format!("{points:+.1}") }
}

fn between(interval: Option<Interval>) -> Option<String> {
    interval.map(|interval| format!("[{}, {}]", points(interval.low), points(interval.high)))
}

/// What a comparison came to, in a word.
pub fn verdict(comparison: &Comparison, equal_within: f64) -> String {
    match comparison.verdict {
        Verdict::FirstBetter => format!("{} is better", comparison.a),
        Verdict::SecondBetter => format!("{} is better", comparison.b),
        Verdict::PracticallyEqual => {
            format!("practically equal (within {} points)", trimmed(100.0 * equal_within))
        }
        Verdict::Undecided => "undecided".to_owned(),
    }
}

fn trimmed(value: f64) -> impl Display {
    // What was typed in points comes back as it was, whatever its share rounds to.
    (value * 1e6).round() / 1e6
}

/// A p-value with four digits; none of them is ever nought.
fn chance(p: f64) -> String {
    if p < 0.000_05 { "<0.0001".to_owned() } else { format!("{p:.4}") }
}

/// A comparison in lines: the difference is never told without its intervals.
pub fn compared(comparison: &Comparison, equal_within: f64) -> Vec<String> {
    let difference = &comparison.difference;
    let like = between(difference.like_these).map_or_else(
        || "no interval with one competition".to_owned(),
        |interval| format!("95 % {interval} for competitions like these"),
    );
    let exactly = between(difference.exactly_these).map_or_else(
        || "none for exactly these (1 seed)".to_owned(),
        |interval| match difference.fixed_se {
            // No spread between few seeds is no certainty.
            Some(0.0) => format!("{interval} for exactly these, whose seeds show no spread"),
            _ => format!("{interval} for exactly these"),
        },
    );
    let seen = comparison.detectable.map_or_else(
        || "unknown, the competitions show no spread".to_owned(),
        |share| format!("{:.1} points", 100.0 * share),
    );
    let seeds = match comparison.seeds_for_declared {
        SeedsNeeded::Seeds(1) => "1 seed".to_owned(),
        SeedsNeeded::Seeds(seeds) => format!("{seeds} seeds"),
        SeedsNeeded::MoreCompetitions => "no number of seeds will do, add competitions".to_owned(),
        SeedsNeeded::Unknown => "unknown".to_owned(),
    };
    let drawn =
        |p: crate::statistics::PValue| p.drawn.map(|drawn| format!(", {drawn} drawn")).unwrap_or_default();
    let (flip, labels) = (comparison.sign_flip, comparison.label_permutation);
    let most: Vec<String> =
        comparison.differs_most.iter().map(|(name, by)| format!("{name} {}", points(*by))).collect();
    let mut lines = vec![
        format!(
            "{} − {}  {} points, {like}; {exactly}; {}",
            comparison.a,
            comparison.b,
            points(difference.mean),
            number(comparison.competitions)
        ),
        format!(
            "  p           sign flip {} (Holm {}{}), labels permuted {} (Holm {}{}); wins/ties/losses {}/{}/{}",
            chance(flip.p),
            chance(comparison.holm),
            drawn(flip),
            chance(labels.p),
            chance(comparison.label_permutation_holm),
            drawn(labels),
            difference.wins,
            difference.ties,
            difference.losses
        ),
        format!(
            "  verdict     {}. Smallest difference this design can see (80 % power): {seen}; to see {}: {seeds}",
            verdict(comparison, equal_within),
            trimmed(100.0 * comparison.declared)
        ),
        format!("  differ most {}", if most.is_empty() { "nowhere".to_owned() } else { most.join(" · ") }),
    ];
    if !comparison.left_out.is_empty() {
        lines.push(format!("  left out    only one of both ran {}", comparison.left_out.join(", ")));
    }
    lines
}

/// The disclosure in lines.
pub fn disclosed(disclosure: &Disclosure) -> Vec<String> {
    let counts = |counts: &std::collections::BTreeMap<String, usize>| {
        counts.iter().map(|(name, runs)| format!("{name} × {runs}")).collect::<Vec<_>>().join(" · ")
    };
    let amounts = |amounts: &std::collections::BTreeMap<String, u64>| {
        let all: Vec<String> =
            amounts.iter().take(NAMED).map(|(name, count)| format!("{name} × {count}")).collect();
        let more = if amounts.len() > NAMED { " · ..." } else { "" };
        if all.is_empty() { "none".to_owned() } else { format!("{}{more}", all.join(" · ")) }
    };
    let of = |runs: usize| format!("{runs} of {} runs", disclosure.runs);
    let mut lines = vec![
        "disclosure, from what each run stored".to_owned(),
        format!(
            "  saw         public data, description ({}), {} format verdicts; scores of training labels in {}",
            counts(&disclosure.descriptions),
            disclosure.verdicts,
            of(disclosure.training_scores)
        ),
        format!(
            "  answers     a test score was told in {}; the answers were in reach in {}; graded before it went on: {}",
            of(disclosure.test_scores),
            of(disclosure.answers_in_reach),
            of(disclosure.graded_before)
        ),
        format!("  probes      code that names the place of the answers: {}", amounts(&disclosure.probes)),
        format!(
            "  network     open in {}; hosts asked for: {}",
            of(disclosure.network_open),
            amounts(&disclosure.hosts)
        ),
        format!("  blocked     {}", amounts(&disclosure.blocked)),
        format!("  sandbox     {}", counts(&disclosure.sandboxes)),
        format!("  models      {}; stand-ins in {}", counts(&disclosure.models), of(disclosure.stand_ins)),
    ];
    if disclosure.published > 0 {
        lines.push(format!("  published   of {} runs nothing of this is known", disclosure.published));
    }
    lines
}
