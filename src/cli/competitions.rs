//! `podium competitions`: list, show, prepare.

use std::process::ExitCode;

use clap::Subcommand;
use podium_competition::{Competition, Status};
use serde_json::{Value, json};

use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::summary::board;
use crate::cli::terminal::{Terminal, escape, one_line};
use crate::run::error::RunError;
use crate::run::site::Site;

/// Competitions: list, show, prepare
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List competitions
    #[command(after_help = "Example:\n  podium competitions list --category text")]
    List {
        /// Only those of this split
        #[arg(long, value_name = "NAME")]
        split: Option<String>,
        /// Only those of this category
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Show one competition
    #[command(after_help = "Example:\n  podium competitions show segment")]
    Show {
        /// Its id
        id: String,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Prepare the data of competitions
    #[command(after_help = "Example:\n  podium competitions prepare segment diamonds")]
    Prepare {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let catalog = site.competitions()?;
    match command {
        Command::List { split, category, json } => {
            let mut members = match split {
                Some(split) => catalog.split(split).map_err(RunError::from)?,
                None => catalog.list().collect(),
            };
            members.retain(|competition| {
                category.as_ref().is_none_or(|category| is_of(&competition.category, category))
            });
            if *json {
                let rows: Vec<Value> = members.iter().map(|competition| facts(competition, &site)).collect();
                terminal.json(&rows);
            } else {
                for competition in members {
                    terminal.line(&row(competition, &site));
                }
            }
        }
        Command::Show { id, json } => {
            let competition = catalog.get(id).map_err(RunError::from)?;
            if *json { terminal.json(&whole(competition, &site)) } else { show(competition, &site, terminal) }
        }
        Command::Prepare { ids, json } => {
            let mut prepared = Vec::new();
            for id in ids {
                let competition = catalog.get(id).map_err(RunError::from)?;
                let folders = site.prepared(competition)?;
                if !json {
                    terminal.line(&format!("{id}: ready in {}", folders.public.display()));
                }
                prepared.push(json!({"id": id, "public": folders.public, "private": folders.private}));
            }
            if *json {
                terminal.json(&prepared);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a category is the wanted one, or a kind of it: `image-segmentation` is a kind of `image`.
fn is_of(category: &str, wanted: &str) -> bool {
    category.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn status(competition: &Competition, site: &Site) -> &'static str {
    match podium_competition::status(&site.data_dir, competition) {
        Status::Prepared => "prepared",
        Status::Partly { .. } => "partly prepared",
        Status::NotPrepared
            if site.assets.offline_data(&competition.id).is_some_and(|data| data.is_dir()) =>
        {
            "built in"
        }
        Status::NotPrepared => "not prepared",
    }
}

fn facts(competition: &Competition, site: &Site) -> Value {
    json!({
        "id": competition.id,
        "name": competition.name,
        "summary": competition.summary,
        "category": competition.category,
        "splits": competition.splits,
        "metric": competition.metric.name.as_str(),
        "direction": competition.direction().as_str(),
        "board": competition.board.kind,
        "teams": competition.board.thresholds.as_ref().and_then(|board| board.teams),
        "data": status(competition, site),
    })
}

fn whole(competition: &Competition, site: &Site) -> Value {
    let mut value = serde_json::to_value(competition).unwrap_or_default();
    if let Value::Object(map) = &mut value {
        map.insert("data_status".to_owned(), json!(status(competition, site)));
    }
    value
}

fn row(competition: &Competition, site: &Site) -> String {
    format!(
        "{:<40}  {:<12}  {:<24}  {:<12}  {}",
        competition.id,
        competition.category,
        format!("{} ({})", competition.metric.name.as_str(), competition.direction()),
        status(competition, site),
        one_line(&competition.summary, 70)
    )
}

fn show(competition: &Competition, site: &Site, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    say("id", &competition.id);
    say("name", &competition.name);
    say("summary", &competition.summary);
    say("category", &format!("{}; splits: {}", competition.category, competition.splits.join(", ")));
    say("metric", &format!("{}, {} is better", competition.metric.name.as_str(), competition.direction()));
    let submission = &competition.submission;
    say(
        "submission",
        &format!("keys {}; predicts {}", submission.id.join(", "), submission.columns.join(", ")),
    );
    say(
        "board",
        &board(competition.board.kind, competition.board.thresholds.as_ref().and_then(|board| board.teams)),
    );
    if let Some(board) = &competition.board.thresholds {
        say(
            "thresholds",
            &format!(
                "gold {:.5} · silver {:.5} · bronze {:.5} · median {:.5}",
                board.gold, board.silver, board.bronze, board.median
            ),
        );
    }
    for (name, text) in
        [("split", &competition.split), ("source", &competition.source), ("licence", &competition.licence)]
    {
        if let Some(text) = text {
            say(name, text);
        }
    }
    say(
        "data",
        &format!("{} ({})", status(competition, site), site.data_dir.join(&competition.id).display()),
    );
}
