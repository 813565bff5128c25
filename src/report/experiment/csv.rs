//! One line for each run, for whoever counts for himself. An empty cell is unknown; a run without a report has the
//! outcome `missing`.

use super::run::{End, Run};

/// The columns.
const COLUMNS: [&str; 33] = [
    "arm",
    "run",
    "competition",
    "seed",
    "category",
    "complexity",
    "ended",
    "board",
    "after_cutoff",
    "known_issues",
    "published",
    "outcome",
    "stopped_by",
    "score",
    "lower_is_better",
    "any_medal",
    "gold_medal",
    "silver_medal",
    "bronze_medal",
    "above_median",
    "valid_submission",
    "submission_exists",
    "percentile",
    "teams",
    "human_relative",
    "validation_gap",
    "cost_usd",
    "calls",
    "input_tokens",
    "output_tokens",
    "hours",
    "waiting_hours",
    "stand_in",
];

/// All runs as CSV with a header.
pub fn csv(runs: &[Run]) -> String {
    let mut out = COLUMNS.join(",");
    out.push('\n');
    for run in runs {
        let cells: Vec<String> = cells(run).iter().map(|cell| quoted(cell)).collect();
        out.push_str(&cells.join(","));
        out.push('\n');
    }
    out
}

fn cells(run: &Run) -> Vec<String> {
    let of = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let after = run.after_cutoff.map(|after| after.to_string()).unwrap_or_default();
    let mut cells = vec![
        run.arm.clone(),
        run.run.clone(),
        run.competition.clone(),
        run.seed.to_string(),
        run.about.category.clone(),
        run.about.complexity().unwrap_or_default().to_owned(),
        run.about.ended.clone().unwrap_or_default(),
        if run.about.baselines { "baselines" } else { "kaggle" }.to_owned(),
        after,
        run.about.known_issues.len().to_string(),
        run.published.to_string(),
    ];
    let Some(end) = &run.end else {
        cells.push("missing".to_owned());
        cells.resize(COLUMNS.len(), String::new());
        return cells;
    };
    cells.extend([end.outcome.clone(), end.stopped_by.clone(), of(end.score)]);
    cells.push(end.lower_is_better.map(|lower| lower.to_string()).unwrap_or_default());
    let flags = |end: &End| {
        [end.medal, end.gold, end.silver, end.bronze, end.above_median, end.valid, end.made]
            .map(|flag| flag.to_string())
    };
    cells.extend(flags(end));
    cells.push(of(end.percentile));
    cells.push(end.teams.map(|teams| teams.to_string()).unwrap_or_default());
    cells.extend([of(end.human_relative), of(end.gap), of(end.cost)]);
    if run.published {
        cells.resize(COLUMNS.len(), String::new());
        return cells;
    }
    cells.extend([u64::from(end.calls), end.input_tokens, end.output_tokens].map(|count| count.to_string()));
    cells.extend([end.hours.to_string(), end.waiting_hours.to_string(), end.stand_in.to_string()]);
    cells
}

/// A cell as RFC 4180 has it. One that a spreadsheet would take for a formula is kept from being one.
fn quoted(cell: &str) -> String {
    let is_number = cell.parse::<f64>().is_ok();
    let guarded = if !is_number && cell.starts_with(['=', '+', '-', '@']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    };
    if guarded.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", guarded.replace('"', "\"\""))
    } else {
        guarded
    }
}
