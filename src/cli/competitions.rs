//! `podium competitions`: list, show, prepare, verify, import, new.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde_json::Value;

use crate::cli::competitions_check;
use crate::cli::competitions_import::{self, Checksums};
use crate::cli::competitions_prepare::{self, PrepareArguments};
use crate::cli::competitions_show::{facts, is_of, row, show, whole};
use crate::cli::competitions_verify;
use crate::cli::failure::Failure;
use crate::cli::own;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;

/// Competitions: list, show, prepare, verify, import, new
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List competitions
    #[command(after_help = "Example:\n  podium competitions list --split low --category tabular")]
    List {
        /// Only those of this split: low (or lite), medium, high, all, dev, offline
        #[arg(long, value_name = "NAME")]
        split: Option<String>,
        /// Only those of this category, or of a kind of it: image, image-classification, tabular, ...
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
    ///
    /// Offline competitions are built in. Those held on Kaggle are fetched with your account there, or taken from an
    /// archive or a raw download that you have, and prepared as MLE-bench prepares them, byte for byte the same. What was
    /// cut or killed goes on where it stopped.
    #[command(after_help = "Examples:\n  podium competitions prepare segment diamonds\n  \
        podium competitions prepare --split low\n  \
        podium competitions prepare spaceship-titanic --archives downloads\n  \
        podium competitions prepare spaceship-titanic --raw downloads/spaceship-titanic\n\n\
        Credentials are found where Kaggle's own tool finds them: KAGGLE_API_TOKEN, ~/.kaggle/access_token, \
        ~/.kaggle/credentials.json (a sign-in), KAGGLE_USERNAME with KAGGLE_KEY, kaggle.json in KAGGLE_CONFIG_DIR or ~/.kaggle")]
    Prepare(Box<PrepareArguments>),
    /// Compare prepared data with the checksums that MLE-bench recorded
    ///
    /// The exit code is 1 where something differs, is missing or has no recorded checksum.
    #[command(after_help = "Example:\n  podium competitions verify spaceship-titanic")]
    Verify {
        /// Their ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Make a competition of your own data
    #[command(
        after_help = "Examples:\n  podium competitions new churn --from churn.csv --target churned --metric auc\n  \
        podium competitions new demand --from data/ --target sold --metric rmse --split time:date"
    )]
    New(Box<own::NewArguments>),
    /// Look for what would spoil a competition: faults of grading, and data that tell the answers
    ///
    /// The answers are read. The exit code is 1 when the competition cannot grade itself.
    #[command(after_help = "Example:\n  podium competitions check churn")]
    Check {
        /// Its id
        id: String,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Look through a folder of data that MLE-bench prepared: what is ready, missing or another version
    ///
    /// Nothing is copied or changed; --data-dir names the folder afterwards. The exit code is 3 when nothing in it can
    /// be used.
    #[command(after_help = "Example:\n  podium competitions import ~/.cache/mle-bench/data")]
    Import {
        /// The folder that holds ID/prepared/public and ID/prepared/private
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// Which recorded checksums are compared
        #[arg(long, value_name = "WHICH", value_enum, default_value_t)]
        checksums: Checksums,
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
            if let Some(wanted) = category {
                if !catalog.list().any(|competition| is_of(&competition.category, wanted)) {
                    return Err(unknown_category(wanted, catalog.list().map(|one| one.category.as_str())));
                }
                members.retain(|competition| is_of(&competition.category, wanted));
            }
            if *json {
                let rows: Vec<Value> = members.iter().map(|competition| facts(competition, &site)).collect();
                terminal.json(&rows);
            } else {
                let width = members.iter().map(|competition| competition.id.len()).max().unwrap_or(0);
                for competition in members {
                    terminal.line(&escape(&row(competition, &site, width)));
                }
            }
        }
        Command::Show { id, json } => {
            let competition = catalog.get(id).map_err(RunError::from)?;
            if *json { terminal.json(&whole(competition, &site)) } else { show(competition, &site, terminal) }
        }
        Command::Prepare(arguments) => {
            return competitions_prepare::main(arguments, &catalog, &site, terminal);
        }
        Command::Verify { ids, json } => {
            return competitions_verify::main(ids, *json, &catalog, &site, terminal);
        }
        Command::Check { id, json } => {
            return competitions_check::main(
                catalog.get(id).map_err(RunError::from)?,
                *json,
                &site,
                terminal,
            );
        }
        Command::New(arguments) => return own::new(arguments, &site, terminal),
        Command::Import { folder, checksums, json } => {
            return competitions_import::main(folder, *checksums, *json, &catalog, terminal);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_category<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: std::collections::BTreeSet<&str> = known.collect();
    Failure::usage(format!("there is no category `{wanted}`"))
        .hint(format!("the categories are {}", known.into_iter().collect::<Vec<_>>().join(", ")))
}
