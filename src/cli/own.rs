//! `podium competitions new`, and the arguments by which a competition is made of the user's own data, the same for
//! `podium run --data`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_competition::own::{self, Made, Request, SplitRule};
use podium_competition::{Competition, Kind};
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::grants::GrantArguments;
use crate::cli::runtime;
use crate::cli::terminal::{Terminal, escape};
use crate::run::alone::Alone;
use crate::run::error::RunError;
use crate::run::ladder::{self, Ladder};
use crate::run::site::Site;

/// What a competition is made of.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Your own data")]
pub(crate) struct OwnArguments {
    /// A column to predict; may be repeated [default: what the sample submission of a set in Kaggle's shape predicts]
    #[arg(long, value_name = "COL")]
    target: Vec<String>,
    /// What is measured, such as auc, logloss, accuracy, f1, rmse, mae, rmsle
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,
    /// How test rows are chosen: random, stratified, group:COL, time:COL, or none: there are no answers then [default:
    /// stratified for classes, else random]
    #[arg(long, value_name = "RULE", value_parser = |text: &str| text.parse::<SplitRule>())]
    split: Option<SplitRule>,
    /// Seed of the split [default: 1]
    #[arg(long, value_name = "N")]
    split_seed: Option<u64>,
    /// Share of the rows that is kept for the test set [default: 0.2]
    #[arg(long, alias = "holdout", value_name = "SHARE")]
    test_share: Option<f64>,
    /// The column that names a row [default: a column `id` whose cells differ, else numbers]
    #[arg(long, value_name = "COL")]
    id: Option<String>,
    /// What you want, in your own words: it stands first in the description
    #[arg(long, value_name = "TEXT")]
    goal: Option<String>,
}

impl OwnArguments {
    /// Whether any of them is given.
    pub(crate) fn given(&self) -> bool {
        !self.target.is_empty()
            || self.metric.is_some()
            || self.split.is_some()
            || self.split_seed.is_some()
            || self.test_share.is_some()
            || self.id.is_some()
            || self.goal.is_some()
    }

    /// As the library takes them.
    pub(crate) fn request(
        &self,
        id: Option<String>,
        from: PathBuf,
        seed: Option<u64>,
    ) -> Result<Request, Failure> {
        let metric = self.metric.as_deref().ok_or_else(|| {
            Failure::usage("no metric was named")
                .hint("say with --metric how a solution is judged: auc, log_loss, accuracy, rmse, ...")
        })?;
        Ok(Request {
            id,
            from,
            targets: self.target.clone(),
            metric: own::metric_of(metric).map_err(RunError::from)?,
            split: self.split.clone(),
            seed: self.split_seed.or(seed).unwrap_or(1),
            test_share: self.test_share.unwrap_or(own::TEST_SHARE),
            id_column: self.id.clone(),
            goal: self.goal.clone(),
            schema_only: false,
        })
    }
}

/// Make a competition of your own data
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// Its id, also the name of its folder
    name: String,
    /// A folder of data, or one table
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
    #[command(flatten)]
    own: OwnArguments,
    /// The same as --split-seed
    #[arg(long, value_name = "N", conflicts_with = "split_seed", hide = true)]
    seed: Option<u64>,
    /// Make no board: run no plain models on the data
    #[arg(long)]
    no_board: bool,
    #[command(flatten)]
    grants: GrantArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(crate) fn new(arguments: &NewArguments, site: &Site, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let name = &arguments.name;
    if site.competitions()?.get(name).is_ok_and(|known| known.kind != Kind::Own) {
        return Err(
            Failure::usage(format!("there is a competition `{name}` already")).hint("choose another id")
        );
    }
    let request = arguments.own.request(Some(name.clone()), arguments.from.clone(), arguments.seed)?;
    let made = make(&request, site, terminal)?;
    let ladder = if arguments.no_board || made.competition.answers.absent {
        None
    } else {
        Some(board(&made, arguments, site, terminal)?)
    };
    let competition = site.competition(name)?;
    let home = own::home(&site.data_dir, name);
    if arguments.json {
        terminal.json(&json!({
            "id": name,
            "folder": home,
            "public": made.folders.public,
            "private": made.folders.private,
            "train_rows": competition.data.train_rows,
            "test_rows": competition.data.test_rows,
            "split": competition.split,
            "notes": made.notes,
            "sample_submission": competition.board.sample_submission,
            "board": competition.board.entries.iter()
                .map(|entry| json!({"name": entry.name, "score": entry.score})).collect::<Vec<_>>(),
            "trouble": ladder.and_then(|ladder| ladder.trouble),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let say = |name: &str, text: &str| terminal.line(&format!("{name:<12}{}", escape(text)));
    tell(&competition, &say);
    for entry in &competition.board.entries {
        say("", &format!("{:<28} {:.5}", entry.name, entry.score));
    }
    say("entry", &home.join("competition.toml").display().to_string());
    say("description", &format!("{} (yours to edit)", made.folders.public.join("description.md").display()));
    say("next", &format!("podium competitions check {name}"));
    Ok(ExitCode::SUCCESS)
}

/// Makes it, and tells what was noticed.
pub(crate) fn make(request: &Request, site: &Site, terminal: &Terminal) -> Result<Made, Failure> {
    let made = own::make(request, &site.data_dir).map_err(RunError::from)?;
    for note in &made.notes {
        terminal.error_line(&format!("{} {}", terminal.yellow("note:"), escape(note)));
    }
    Ok(made)
}

fn tell(competition: &Competition, say: &dyn Fn(&str, &str)) {
    say("id", &competition.id);
    let (metric, direction) = (competition.metric.name.as_str(), competition.direction());
    say("metric", &format!("{metric}, {direction} is better"));
    say("split", competition.split.as_deref().unwrap_or("none"));
    if let Some(score) = competition.board.sample_submission {
        say("sample", &format!("{score:.5}"));
    }
    if let Some(board) = &competition.board.thresholds {
        say(
            "board",
            &format!(
                "{} plain models; gold {:.5} · silver {:.5} · bronze {:.5} · median {:.5}",
                competition.board.entries.len(),
                board.gold,
                board.silver,
                board.bronze,
                board.median
            ),
        );
    }
}

/// Runs the ladder in the sandbox and writes the board.
fn board(made: &Made, arguments: &NewArguments, site: &Site, terminal: &Terminal) -> Result<Ladder, Failure> {
    let mut site = site.clone();
    let asked = arguments.grants.asked()?;
    site.mounts.clone_from(&asked.mounts);
    let config = asked.resolve(&site, 1, &mut Vec::new())?;
    let runtime = runtime()?;
    let ladder = {
        let _inside = runtime.enter();
        let mut progress = |line: &str| terminal.error_line(&format!("environment  {line}"));
        let mut alone = Alone::open(&site, &config, &made.folders, &mut progress)?;
        terminal.error_line("board        plain models are fitted in the sandbox");
        runtime.block_on(ladder::climb(&mut alone, &made.competition, &made.folders))?
    };
    if let Some(trouble) = &ladder.trouble {
        terminal.error_line(&format!(
            "{} the ladder did not end well; the board holds {} models:\n{}",
            terminal.yellow("warning:"),
            ladder.rungs.len(),
            escape(trouble)
        ));
    }
    if !ladder.rungs.is_empty() {
        ladder::write_board(&ladder, &own::home(&site.data_dir, &made.competition.id))?;
    }
    Ok(ladder)
}
