//! The description that an agent reads, filled from the data: task, files, columns with types, missing cells and ranges,
//! metric, form of a submission. A template for the user to edit: what the columns mean only the user knows.

use std::fmt::Write as _;

use crate::catalog::{MetricName, ValueRule};
use crate::own::Request;
use crate::own::found::{self, Found};
use crate::own::lay::{SAMPLE, TEST, TRAIN};
use crate::own::make::Laid;
use crate::own::profile::{ColumnProfile, Kind};
use crate::own::split::SplitRule;
use crate::own::target::{Sample, Target};

/// Of more columns than these only the first are described.
const MOST_COLUMNS: usize = 200;

/// The text of `description.md`.
pub(super) fn write(id: &str, request: &Request, found: &Found, laid: &Laid) -> String {
    let mut text = format!("# {id}\n\n");
    if let Some(goal) = &request.goal {
        let _ = writeln!(text, "{}\n", goal.trim());
    }
    if let Some(target) = &laid.target {
        let names = backticked(&target.names);
        let _ = writeln!(text, "Predict {names} for each row of the test table from its other columns.\n");
        if let Some([no, yes]) = target.renamed() {
            let _ = writeln!(text, "In {names} a 1 stands for `{yes}` and a 0 for `{no}`.\n");
        }
    }
    files(&mut text, found, laid);
    columns(&mut text, laid, request.schema_only);
    metric(&mut text, request.metric, laid.target.as_ref());
    submission(&mut text, laid);
    text
}

fn files(text: &mut String, found: &Found, laid: &Laid) {
    text.push_str("## Files\n\n");
    let Laid { sizes, rule, .. } = laid;
    if laid.target.is_some() {
        let _ = writeln!(text, "- `{TRAIN}`: {} rows with their labels.", sizes.train);
    }
    if sizes.test > 0 {
        let parted = match rule {
            SplitRule::Random | SplitRule::Stratified => " They were drawn by chance.".to_owned(),
            SplitRule::Group(column) => {
                format!(" They are of other `{column}` than the training rows: validate by group.")
            }
            SplitRule::Time(column) => {
                format!(" They are later in `{column}` than all training rows: validate on the latest rows.")
            }
            SplitRule::None => String::new(),
        };
        let _ = writeln!(text, "- `{TEST}`: {} rows to predict.{parted}", sizes.test);
        let _ = writeln!(text, "- `{SAMPLE}`: a submission of the right form.");
    }
    let tables = [&found.table, &found.test, &found.sample].into_iter().flatten();
    for path in tables.filter(|_| laid.target.is_none()).chain(&found.others) {
        let folder = if path.is_dir() { "/" } else { "" };
        let _ = writeln!(text, "- `{}{folder}`", found::name(path));
    }
    text.push('\n');
}

fn columns(text: &mut String, laid: &Laid, schema_only: bool) {
    let named: Vec<&ColumnProfile> = laid.columns.iter().filter(|column| !column.name.is_empty()).collect();
    if named.is_empty() {
        return;
    }
    text.push_str("## Columns\n\n");
    text.push_str(if schema_only {
        "| column | type |\n|---|---|\n"
    } else {
        "Ranges and counts are those of all rows.\n\n| column | type | missing | values |\n|---|---|---|---|\n"
    });
    let is_target = |name: &String| laid.target.as_ref().is_some_and(|target| target.names.contains(name));
    for column in named.iter().take(MOST_COLUMNS) {
        let role = match () {
            () if is_target(&column.name) => " (target)",
            () if laid.key.place.is_some() && column.name == laid.key.name => " (names the row)",
            () => "",
        };
        let (name, kind) = (table_cell(&column.name), column.kind().as_str());
        if schema_only {
            let _ = writeln!(text, "| `{name}`{role} | {kind} |");
            continue;
        }
        let missing = match column.missing {
            0 => "none".to_owned(),
            missing => {
                let share = 100.0 * missing as f64 / (missing + column.filled).max(1) as f64;
                format!("{missing} ({share:.1} %)")
            }
        };
        // What the labels are is told by the training table; of a target only its type is said here.
        let values = if is_target(&column.name) { String::new() } else { values(column) };
        let _ = writeln!(text, "| `{name}`{role} | {kind} | {missing} | {values} |");
    }
    if named.len() > MOST_COLUMNS {
        let _ = writeln!(text, "\n{} more columns are not listed.", named.len() - MOST_COLUMNS);
    }
    text.push('\n');
}

fn values(column: &ColumnProfile) -> String {
    match column.kind() {
        Kind::Empty => "no value at all".to_owned(),
        Kind::Integer | Kind::Number => format!("{} to {}", column.least, column.most),
        Kind::Date => match (&column.first, &column.last) {
            (Some((_, first)), Some((_, last))) => format!("{} to {}", table_cell(first), table_cell(last)),
            _ => String::new(),
        },
        Kind::Category => {
            let names: Vec<String> = column
                .values
                .iter()
                .flat_map(|values| values.keys())
                .take(8)
                .map(|value| format!("`{}`", table_cell(value)))
                .collect();
            let more = column.distinct().unwrap_or(0).saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        }
        Kind::Text => match column.distinct() {
            Some(count) => format!("{count} different texts"),
            None => "many different texts".to_owned(),
        },
    }
}

fn metric(text: &mut String, metric: MetricName, target: Option<&Target>) {
    let better = metric.direction();
    let _ = write!(text, "## Metric\n\n`{}`; {better} is better.", metric.as_str());
    if let (MetricName::LogLoss, Some(target)) = (metric, target)
        && target.columns.len() > 1
    {
        text.push_str(" Rows are renormalised before they are scored.");
    }
    text.push_str("\n\n");
}

fn submission(text: &mut String, laid: &Laid) {
    text.push_str("## Submission\n\n");
    let Some(target) = laid.target.as_ref().filter(|_| laid.sizes.test > 0) else {
        text.push_str("A CSV file with a first line of column names.\n");
        return;
    };
    let what = match target.value {
        ValueRule::Probability if target.columns.len() > 1 && target.names.len() == 1 => {
            "the probability of each class"
        }
        ValueRule::Probability => "a probability of 1",
        ValueRule::Number if target.binary.is_some() => "a number that is larger the likelier a 1 is",
        ValueRule::NonNegative => "a number of at least 0",
        ValueRule::Label => "one of the target's values",
        _ => "a number",
    };
    let columns = backticked(target.columns.get(..20).unwrap_or(&target.columns));
    let _ = writeln!(
        text,
        "A CSV file with a row for each of the {} test rows: `{}` and {what} in {columns}.\n",
        laid.sizes.test, laid.key.name
    );
    let constant = match &target.sample {
        Sample::Constant(constant) => constant.as_str(),
        Sample::Mean => "1.5",
    };
    let cells: Vec<&str> = target.columns.iter().take(20).map(|_| constant).collect();
    let head: Vec<&str> = target.columns.iter().take(20).map(String::as_str).collect();
    let _ = writeln!(text, "```\n{},{}\n…,{}\n```", laid.key.name, head.join(","), cells.join(","));
}

fn backticked(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value inside a table of Markdown.
fn table_cell(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.replace('|', "\\|").replace('`', "'")
}
