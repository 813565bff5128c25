//! The entry of an own competition, `competition.toml`: written once, then the user's to edit.

use std::fmt::Write as _;

use crate::catalog::MetricName;
use crate::own::Request;
use crate::own::lay::{ANSWERS, FORMAT, SAMPLE, TEST, TRAIN};
use crate::own::make::Laid;
use crate::own::split::SplitRule;
use crate::own::target::Target;

/// The text of the entry. It ends inside `[board]`.
pub(super) fn write(id: &str, request: &Request, laid: &Laid) -> String {
    let mut text = String::from("# Made by `podium competitions new`; yours to edit.\n");
    let mut line = |key: &str, value: String| {
        let _ = writeln!(text, "{key} = {value}");
    };
    let summary = match (&request.goal, &laid.target) {
        (Some(goal), _) => goal.lines().next().unwrap_or_default().to_owned(),
        (None, Some(target)) => format!("Predict {}", target.names.join(", ")),
        (None, None) => String::new(),
    };
    line("id", quoted(id));
    line("name", quoted(id));
    line("summary", quoted(&summary));
    line("kind", quoted("own"));
    line("splits", "[\"own\"]".to_owned());
    line("category", quoted(if laid.target.is_some() { "tabular" } else { "other" }));
    line("source", quoted(&request.from.display().to_string()));
    line("split", quoted(&split(request, laid)));
    line("seed", request.seed.min(i64::MAX as u64).to_string());
    line("\n[metric]\nname", quoted(request.metric.as_str()));
    line("direction", quoted(request.metric.direction().as_str()));
    let predicted = laid.target.as_ref().filter(|_| laid.sizes.test > 0);
    match predicted {
        Some(target) => {
            line("\n[submission]\nid", list(std::slice::from_ref(&laid.key.name)));
            line("columns", list(&target.columns));
            line("value", quoted(target.value.as_str()));
        }
        None => {
            line("\n# Any CSV file is a submission.\n[submission]\nid", "[]".to_owned());
            line("columns", "[]".to_owned());
            let rule = request.metric.rules().first().map_or("text", |rule| rule.as_str());
            line("value", quoted(rule));
        }
    }
    if laid.has_answers() {
        line("\n[answers]\nfile", quoted(ANSWERS));
    } else {
        line(
            "\n# There are none: the file holds made-up labels, for the check of a submission's format.\n[answers]\nfile",
            quoted(FORMAT),
        );
        line("absent", "true".to_owned());
    }
    if let Some(target) = predicted.filter(|target| target.columns != target.names) {
        line("columns", list(&target.names));
    }
    data(&mut text, laid);
    training(&mut text, request.metric, laid);
    text.push_str(
        "\n# Scores of plain models, in board.csv beside this file.\n[board]\nkind = \"baselines\"\n",
    );
    text
}

fn data(text: &mut String, laid: &Laid) {
    text.push_str("\n[data]\n");
    if laid.target.is_some() {
        let _ = writeln!(text, "train = \"{TRAIN}\"");
    }
    if laid.sizes.test > 0 {
        let _ = writeln!(text, "test = \"{TEST}\"");
    }
    // Of data with a goal alone it is the description, which is there in any case.
    let sample = if laid.sizes.test > 0 { SAMPLE } else { "description.md" };
    let _ = writeln!(text, "sample_submission = \"{sample}\"");
    if laid.target.is_some() {
        let _ = writeln!(text, "train_rows = {}\ntest_rows = {}", laid.sizes.train, laid.sizes.test);
    }
}

/// Where the training labels are, for scaffolds that hold some out.
fn training(text: &mut String, metric: MetricName, laid: &Laid) {
    let Some(target) = laid.target.as_ref().filter(|_| laid.sizes.test > 0) else { return };
    let _ = writeln!(text, "\n[training]\nfile = \"{TRAIN}\"");
    if let SplitRule::Group(column) = &laid.rule {
        let _ = writeln!(text, "group = {{ column = {} }}", quoted(column));
    } else if let ([name], true) = (target.names.as_slice(), stratifies(metric, target)) {
        let _ = writeln!(text, "stratify = {}", quoted(name));
    }
}

fn stratifies(metric: MetricName, target: &Target) -> bool {
    target.has_classes() && metric != MetricName::QuadraticWeightedKappa
}

fn split(request: &Request, laid: &Laid) -> String {
    let Laid { rule, sizes, .. } = laid;
    match rule {
        SplitRule::None => "none: there are no answers".to_owned(),
        rule => format!(
            "{rule}, {} rows to learn from and {} to predict, seed {}",
            sizes.train, sizes.test, request.seed
        ),
    }
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

/// As TOML spells a text.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
