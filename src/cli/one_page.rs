//! A run on one page, in Markdown: what was tried, what helped, the validation with its spread, where time and dollars
//! went, how to use what came out. Made from the journal alone; no model is asked here.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use podium_scaffold::NodeRecord;
use podium_types::number::Number;

use crate::cli::summary::shown;
use crate::cli::terminal::{dollars, one_line};
use crate::run::journal::Entry;
use crate::run::sitting::StoredRun;
use crate::run::summary::{RunReport, nodes};

/// So many failures are named.
const FAILURES: usize = 3;

/// The page. Texts of models are cut and on one line each.
pub(crate) fn page(run: &StoredRun, entries: &[Entry], report: Option<&RunReport>) -> String {
    let nodes: Vec<&NodeRecord> = nodes(entries).collect();
    let mut page = String::new();
    head(&mut page, run, report);
    result(&mut page, &nodes, report);
    tried(&mut page, run, &nodes);
    helped(&mut page, run, &nodes, report);
    if let Some(report) = report {
        spent(&mut page, report);
    }
    what_now(&mut page, run);
    page
}

fn head(page: &mut String, run: &StoredRun, report: Option<&RunReport>) {
    let config = &run.config;
    let models: std::collections::BTreeSet<&str> = config.models.values().map(String::as_str).collect();
    let models: Vec<&str> = models.into_iter().collect();
    let _ = writeln!(page, "# {} on {}\n", config.scaffold.id, config.task.competition);
    let asked = if models.is_empty() { String::new() } else { format!(", {}", models.join(", ")) };
    let _ = writeln!(
        page,
        "Metric `{}` ({} is better){asked}, seed {}.",
        config.task.metric, config.task.direction, config.seed
    );
    let end = match report {
        Some(report) => format!(
            "Outcome `{}`; stopped by {}: {}.",
            report.outcome.word(),
            report.stopped_by.word(),
            one_line(&report.detail, 200)
        ),
        None => "The run has not ended.".to_owned(),
    };
    let _ = writeln!(page, "{end}\n");
    if run.has_stand_in() {
        let _ = writeln!(page, "Note: {}.\n", crate::run::summary::STAND_IN);
    }
}

fn result(page: &mut String, nodes: &[&NodeRecord], report: Option<&RunReport>) {
    page.push_str("## Result\n\n");
    let selected = report.and_then(|report| report.nodes.selected);
    let best = selected.and_then(|id| nodes.iter().find(|node| node.id == id));
    if let Some(node) = best {
        let metric =
            node.metric.map_or_else(|| "no validation".to_owned(), |metric| validation(node, metric));
        let _ = writeln!(page, "- Handed in: node {}, {metric}.", node.id);
    } else {
        page.push_str("- Nothing was handed in from the tree.\n");
    }
    let values: Vec<f64> = good(nodes).filter_map(|node| node.metric.map(|metric| metric.0)).collect();
    if let (Some(spread), true) = (deviation(&values), values.len() > 2) {
        let _ = writeln!(
            page,
            "- The {} good nodes have validations with a standard deviation of {spread:.5}: a smaller lead may be chance.",
            values.len()
        );
    }
    match report.and_then(|report| report.report.as_ref()) {
        Some(graded) => {
            let score = graded.score.map_or_else(|| "none".to_owned(), shown);
            let _ = writeln!(page, "- Test score: {score}.");
            if let Some(median) = graded.median_threshold {
                let place = if graded.above_median { "better than" } else { "not better than" };
                let _ = writeln!(page, "- That is {place} the median of the board, {}.", shown(median));
            }
        }
        None if report.is_some() => {
            page.push_str("- There are no answers or no submission, so there is no test score.\n");
        }
        None => {}
    }
    if let Some(gap) = report.and_then(|report| report.validation.as_ref()) {
        let word = if gap.gap.0 > 0.0 { "too optimistic" } else { "not too optimistic" };
        let _ = writeln!(page, "- Validation was {word}: ahead of the test score by {:+.5}.", gap.gap.0);
    }
    page.push('\n');
}

/// A validation with its source and its spread between folds.
fn validation(node: &NodeRecord, metric: Number) -> String {
    let source = node.metric_source.as_deref();
    let spread = source.and_then(|source| node.signal(source)).and_then(|signal| signal.spread);
    let spread = spread.map(|spread| format!(" ± {} between folds", shown(spread))).unwrap_or_default();
    let source = source.map(|source| format!(" ({source})")).unwrap_or_default();
    format!("validation {}{spread}{source}", shown(metric))
}

fn good<'a>(nodes: &'a [&NodeRecord]) -> impl Iterator<Item = &'a NodeRecord> {
    nodes.iter().copied().filter(|node| node.is_good())
}

fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sum: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let deviation = (sum / (n - 1.0)).sqrt();
    deviation.is_finite().then_some(deviation)
}

fn tried(page: &mut String, run: &StoredRun, nodes: &[&NodeRecord]) {
    if nodes.is_empty() {
        return;
    }
    page.push_str(
        "## What was tried\n\n| did | nodes | good | best validation | execution |\n|---|---|---|---|---|\n",
    );
    let mut by_operator: BTreeMap<&str, Vec<&NodeRecord>> = BTreeMap::new();
    for node in nodes {
        by_operator.entry(&node.operator).or_default().push(node);
    }
    let direction = run.config.task.direction;
    for (operator, nodes) in by_operator {
        let metrics = good(&nodes).filter_map(|node| node.metric.map(|metric| metric.0));
        let best = metrics.reduce(|best, metric| if direction.better(metric, best) { metric } else { best });
        let best = best.map_or_else(|| "-".to_owned(), |best| shown(Number(best)));
        let seconds = nodes.iter().map(|node| node.execution_ms).sum::<u64>() as f64 / 1e3;
        let _ = writeln!(
            page,
            "| {operator} | {} | {} | {best} | {seconds:.1} s |",
            nodes.len(),
            good(&nodes).count()
        );
    }
    let mut faults: BTreeMap<String, usize> = BTreeMap::new();
    for fault in nodes.iter().filter_map(|node| node.buggy.as_deref()) {
        *faults.entry(one_line(fault, 100)).or_default() += 1;
    }
    let mut faults: Vec<(String, usize)> = faults.into_iter().collect();
    faults.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<String> =
        faults.iter().take(FAILURES).map(|(fault, count)| format!("{count} × {fault}")).collect();
    if !told.is_empty() {
        let _ = writeln!(page, "\nWhat failed: {}.", told.join("; "));
    }
    page.push('\n');
}

/// The way from the first draft to what was handed in, each step with what it changed.
fn helped(page: &mut String, run: &StoredRun, nodes: &[&NodeRecord], report: Option<&RunReport>) {
    let mut way = Vec::new();
    let mut next = report.and_then(|report| report.nodes.selected);
    while let Some(node) = next.and_then(|id| nodes.iter().find(|node| node.id == id)) {
        way.push(*node);
        next = node.parents.first().copied().filter(|parent| *parent < node.id);
    }
    if way.is_empty() {
        return;
    }
    page.push_str("## What helped\n\n");
    let mut before: Option<f64> = None;
    for (step, node) in way.iter().rev().enumerate() {
        let metric = node.metric.map(|metric| metric.0).filter(|_| node.is_good());
        let lead = match (metric, before) {
            (Some(metric), Some(before)) => {
                let lead = run.config.task.direction.lead(metric, before);
                format!(", {} by {:.5}", if lead > 0.0 { "better" } else { "no better" }, lead.abs())
            }
            _ => String::new(),
        };
        let value = metric.map_or_else(|| "failed".to_owned(), |metric| shown(Number(metric)));
        let _ = writeln!(
            page,
            "{}. node {}, {}: {value}{lead}. {}",
            step + 1,
            node.id,
            node.operator,
            one_line(&node.plan, 240)
        );
        before = metric.or(before);
    }
    page.push('\n');
}

fn spent(page: &mut String, report: &RunReport) {
    let (time, usage) = (&report.time, &report.usage);
    let cost = usage.cost_usd.map_or_else(|| "cost unknown".to_owned(), dollars);
    page.push_str("## Where time and dollars went\n\n");
    let _ = writeln!(
        page,
        "- {:.1} s of run time: {:.1} s model calls, {:.1} s executions; {:.1} s waiting for a service beside it.",
        time.run_s, time.model_s, time.execution_s, time.waiting_s
    );
    let _ = writeln!(
        page,
        "- {cost}: {} calls, {} prompt tokens, {} generated.\n",
        usage.calls, usage.input_tokens, usage.output_tokens
    );
}

fn what_now(page: &mut String, run: &StoredRun) {
    let best = run.folder.best_path();
    if !best.join("solution.py").is_file() {
        return;
    }
    let (best, folder) = (best.display().to_string(), run.folder.path().display().to_string());
    page.push_str("## What to do with it\n\n");
    let _ = writeln!(page, "- The script: `{best}/solution.py`; its packages: `{best}/requirements.txt`.");
    let _ = writeln!(page, "- The same submission without Podium: `sh {best}/run.sh DATA`.");
    let _ = writeln!(page, "- New rows, in the sandbox: `podium predict {folder} NEW.csv`.");
}
