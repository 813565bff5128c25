//! `podium competitions import`: looks through a folder of data that MLE-bench prepared, and says what of it can be
//! used as it stands. Nothing is copied: `--data-dir` names the folder afterwards.

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use podium_competition::{Catalog, Checking, Competition, Found, Kind, Readiness, Survey};
use serde_json::json;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, escape};

/// Which recorded checksums are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Checksums {
    /// None
    None,
    /// Of files up to 64 MiB: seconds
    #[default]
    Small,
    /// Of all files: as long as reading them takes
    All,
}

impl From<Checksums> for Checking {
    fn from(checksums: Checksums) -> Self {
        match checksums {
            Checksums::None => Self::None,
            Checksums::Small => Self::Small,
            Checksums::All => Self::All,
        }
    }
}

pub(crate) fn main(
    folder: &Path,
    checksums: Checksums,
    as_json: bool,
    catalog: &Catalog,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if let Err(error) = std::fs::read_dir(&folder) {
        return Err(Failure::usage(format!("could not read the folder {}: {error}", folder.display()))
            .hint("name the folder that holds ID/prepared/public and ID/prepared/private"));
    }
    let kaggle = |competition: &Competition| competition.kind == Kind::Kaggle;
    let wanted = |competition: &Competition| kaggle(competition) || folder.join(&competition.id).is_dir();
    let survey = podium_competition::survey(&folder, catalog, checksums.into(), wanted);
    let usable = survey.competitions.iter().any(|found| found.readiness <= Readiness::GradingOnly);
    let folder_inside = folder.join("data");
    if !usable && survey.competitions.iter().any(|found| folder_inside.join(&found.id).is_dir()) {
        let (folder, inside) = (folder.display(), folder_inside.display());
        terminal.error_line(&escape(&format!("note: {folder} holds a folder `data`; was {inside} meant?")));
    }
    if as_json {
        terminal.json(&json!({
            "folder": folder,
            "competitions": survey.competitions,
            "unknown": survey.unknown,
        }));
    } else {
        print(&survey, &folder, terminal);
    }
    Ok(ExitCode::from(if usable { 0 } else { exit::ENVIRONMENT }))
}

fn print(survey: &Survey, folder: &Path, terminal: &Terminal) {
    let there: Vec<&Found> =
        survey.competitions.iter().filter(|found| found.readiness != Readiness::Absent).collect();
    let width = there.iter().map(|found| found.id.len()).max().unwrap_or(0);
    for found in &there {
        let row = format!("{:<width$}  {:<12}  {}", found.id, found.readiness.as_str(), remarks(found));
        terminal.line(&escape(row.trim_end()));
    }
    for id in &survey.unknown {
        terminal.line(&escape(&format!("{id:<width$}  {:<12}", "unknown")));
    }
    let count = |readiness: Readiness| {
        survey.competitions.iter().filter(|found| found.readiness == readiness).count()
    };
    let all = [
        Readiness::Ready,
        Readiness::GradingOnly,
        Readiness::Incomplete,
        Readiness::NotPrepared,
        Readiness::Absent,
    ];
    let counts: Vec<String> = all.map(|one| format!("{} {}", count(one), one.as_str())).into();
    terminal.line(&format!("{} competitions: {}", survey.competitions.len(), counts.join(", ")));
    if count(Readiness::Ready) + count(Readiness::GradingOnly) > 0 {
        terminal.error_line(&escape(&format!(
            "nothing was copied; use the folder as it is with --data-dir {0} or PODIUM_DATA_DIR={0}",
            folder.display()
        )));
    }
    if count(Readiness::NotPrepared) + count(Readiness::Incomplete) > 0 {
        terminal.error_line(
            "what is not prepared or incomplete: podium competitions prepare ID, or mlebench prepare -c ID",
        );
    }
    if survey.competitions.iter().any(|found| !found.lfs_pointers.is_empty()) {
        terminal
            .error_line("Git LFS pointers: git lfs pull, in the checkout that they lie in, brings the files");
    }
    if survey.competitions.iter().any(|found| !found.differs.is_empty()) {
        terminal.error_line(
            "what differs is another version of the data than the recorded one: its scores may not be comparable",
        );
    }
}

/// What is to be said of one competition, on one line.
fn remarks(found: &Found) -> String {
    let mut parts = Vec::new();
    for (what, files) in
        [("missing", &found.missing), ("Git LFS pointer", &found.lfs_pointers), ("differs", &found.differs)]
    {
        if !files.is_empty() {
            parts.push(format!("{what}: {}", some(files)));
        }
    }
    if found.verified > 0 {
        parts.push(format!("{} verified", files(found.verified)));
    }
    if found.not_compared > 0 {
        parts.push(format!("{} not compared", files(found.not_compared)));
    }
    parts.join("; ")
}

fn files(count: usize) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

/// The first few names of a list.
fn some(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    let more = names.len().saturating_sub(shown.len());
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
