//! An experiment's report as one HTML file: it loads nothing, asks nothing of a network, and draws the same tables and
//! plots as the viewer. Its content security policy allows exactly its own script and style.

use crate::embed;
use crate::experiment::Sheet;
use crate::page::{DOM, STYLE, TICKS, fill, only_own, wrapped};
use crate::view::REPORT;

const TEMPLATE: &str = include_str!("view/document.html");

/// The file.
///
/// # Errors
/// When the report has no JSON form, which no report is known to lack.
pub fn document(sheet: &Sheet) -> Result<String, serde_json::Error> {
    let script = wrapped([DOM, TICKS, REPORT, include_str!("view/document.js")]);
    let style = format!("{STYLE}\n{}", include_str!("view/view.css"));
    let (policy, title) = (only_own(&script, &style), embed::text(&sheet.experiment));
    let parts = [
        ("policy", policy.as_str()),
        ("title", &title),
        ("style", &style),
        ("data", &embed::json(sheet)?),
        ("script", &script),
    ];
    Ok(fill(TEMPLATE, &parts))
}
