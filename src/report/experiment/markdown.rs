//! The report as Markdown, for a page or a pull request. What names come from elsewhere are escaped for a table's cells.

use std::fmt::Write as _;

use super::report::Report;
use super::table::Table;
use super::words;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = format!("# Experiment {}\n\n{} planned runs\n\n", cell(&report.experiment), report.planned);
    out.push_str("| outcome | stopped by | runs |\n|---|---|---:|\n");
    for count in &report.counts {
        let _ = writeln!(out, "| {} | {} | {} |", cell(&count.outcome), cell(&count.stopped_by), count.runs);
    }
    out.push('\n');
    for remark in words::remarks(report) {
        let _ = writeln!(out, "- {}", cell(&remark));
    }
    for table in &report.tables {
        rates(&mut out, table);
        comparisons(&mut out, table, report.equal_within);
    }
    if !report.slices.is_empty() {
        out.push_str("\n## Any medal by what competitions are like\n\n| by | value | boards | competitions | any medal % |\n|---|---|---|---:|---|\n");
    }
    for slice in &report.slices {
        let arms: Vec<String> = slice.arms.iter().map(words::arm_rate).collect();
        let board = if slice.baselines { "baselines" } else { "human teams" };
        let _ = writeln!(
            out,
            "| {} | {} | {board} | {} | {} |",
            slice.by.word(),
            cell(&slice.value),
            slice.competitions,
            cell(&arms.join(" · "))
        );
    }
    out.push_str("\n## Disclosure\n\n");
    for line in words::disclosed(&report.disclosure).iter().skip(1) {
        let _ = writeln!(out, "- {}", cell(&line.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    out
}

fn rates(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\n## {}\n", cell(&words::title(table)));
    out.push_str("| arm | any medal % | gold | silver | bronze | above median | valid | made | percentile | $/run | h/run |\n");
    out.push_str("|---|---|---|---|---|---|---|---|---:|---:|---:|\n");
    for row in &table.rows {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.2} |",
            cell(&row.arm),
            words::told(row.any_medal),
            words::told(row.gold),
            words::told(row.silver),
            words::told(row.bronze),
            words::told(row.above_median),
            words::told(row.valid),
            words::told(row.made),
            row.percentile.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}")),
            row.spent.cost_of_run.map_or_else(|| "?".to_owned(), words::dollars),
            row.spent.hours_of_run
        );
    }
    let _ = writeln!(out, "\n{}\n", words::SEM);
    for row in &table.rows {
        for line in words::row_lines(row) {
            let _ = writeln!(out, "- {}: {}", cell(&row.arm), cell(&line));
        }
    }
    if let Some(without) = words::without_issues(table) {
        let _ = writeln!(out, "- {}", cell(&without));
    }
}

fn comparisons(out: &mut String, table: &Table, equal_within: f64) {
    if table.comparisons.is_empty() {
        return;
    }
    out.push_str("\n### Arms beside each other\n\n");
    if table.is_too_small() {
        let _ = writeln!(out, "{}\n", words::too_small(table));
    }
    for comparison in &table.comparisons {
        for (place, line) in words::compared(comparison, equal_within).iter().enumerate() {
            let indent = if place == 0 { "" } else { "  " };
            let _ =
                writeln!(out, "{indent}- {}", cell(&line.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
}

/// Text that cannot end a cell, begin a tag or a link.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '<' | '>' | '[' | ']' | '`' | '*' | '\\' => out.extend(['\\', character]),
            '\n' | '\r' | '\t' => out.push(' '),
            _ if character.is_control() || podium_types::hidden::is_hidden(character) => {
                out.extend(character.escape_default());
            }
            _ => out.push(character),
        }
    }
    out
}
