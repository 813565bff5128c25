//! `podium competitions check`: what was found, in words an engineer acts on.

use std::process::ExitCode;

use podium_competition::Competition;
use podium_competition::check::{Fault, check};

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::site::Site;

pub(crate) fn main(
    competition: &Competition,
    as_json: bool,
    site: &Site,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let folders = site.prepared(competition)?;
    let checked = check(competition, &folders).map_err(RunError::from)?;
    if as_json {
        terminal.json(&checked);
    } else {
        let say = |text: &str| terminal.line(&escape(text));
        if let Some(sample) = checked.sample_score {
            let best =
                checked.answers_score.map(|score| format!(", the answers {score:.5}")).unwrap_or_default();
            say(&format!("grades itself: the sample submission scores {sample:.5}{best}"));
        }
        for (name, (looked, all)) in [("training", checked.train_rows), ("test", checked.test_rows)] {
            if looked < all {
                say(&format!("{name} rows looked at: {looked} of {all}"));
            }
        }
        for text in &checked.not_checked {
            say(&format!("not checked: {text}"));
        }
        for finding in &checked.findings {
            say(&format!("\nwarning: {}\n         {}", finding.text, finding.advice));
        }
        match checked.findings.len() {
            0 => say("nothing was found"),
            1 => say("\n1 warning"),
            count => say(&format!("\n{count} warnings")),
        }
    }
    let broken = checked.findings.iter().any(|finding| finding.fault == Fault::SelfGrade);
    Ok(if broken { ExitCode::from(exit::INVALID) } else { ExitCode::SUCCESS })
}
