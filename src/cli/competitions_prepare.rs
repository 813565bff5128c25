//! `podium competitions prepare`: unpacks what is built in, prepares a raw download, or fetches and prepares what is held
//! on Kaggle.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use podium_competition::prepare::{PrepareError, Request, prepare};
use podium_competition::{Catalog, Competition, Folders, Kind, Status, folders, status};
use podium_download::{Credentials, DownloadError, Service, Settings, service};
use serde_json::{Value, json};

use crate::cli::competitions_progress::Progress;
use crate::cli::exit;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::terminal::{Terminal, escape};
use crate::cli::values;
use crate::provision::{Order, Outcome, Plan, ProvisionError, Source, carry_out, plan};
use crate::run::error::RunError;
use crate::run::site::Site;

/// What is prepared from what.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct PrepareArguments {
    /// Their ids
    #[arg(required_unless_present_any = ["split", "all"], value_name = "ID")]
    ids: Vec<String>,
    /// All of a split: low (or lite), medium, high, all, dev, offline
    #[arg(long, value_name = "NAME", conflicts_with_all = ["ids", "raw"])]
    split: Option<String>,
    /// All of MLE-bench's 75, short for --split all
    #[arg(long, conflicts_with_all = ["ids", "raw", "split"])]
    all: bool,
    /// Folder of the raw download, inner archives as they are, or its zip; of several competitions, a folder with one ID/ for each
    #[arg(long, value_name = "DIR")]
    raw: Option<PathBuf>,
    /// Folder of archives that are at hand, ID.zip or ID/ID.zip; what is not there is fetched
    #[arg(long, value_name = "DIR", conflicts_with = "raw")]
    archives: Option<PathBuf>,
    /// How many at a time
    #[arg(long, value_name = "N", value_parser = values::count, default_value_t = 2)]
    jobs: usize,
    /// Keep the archive and the raw data beside the prepared ones
    #[arg(long)]
    keep_raw: bool,
    /// The variant without what is known to tell the answers, stored apart as ID-fixed; of --split and --all those that
    /// have one
    #[arg(long)]
    fixed: bool,
    /// Take another version of an archive than the one whose checksum is recorded
    #[arg(long)]
    skip_verification: bool,
    /// Leave so much of the disk free
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = "1GiB")]
    leave_free: u64,
    /// A mirror of Kaggle's service; credentials go there over HTTPS only
    #[arg(long, value_name = "URL", env = "KAGGLE_API_ENDPOINT", default_value = service::KAGGLE)]
    endpoint: String,
    /// Only look: where each comes from, how large it is, whether its rules are accepted
    #[arg(long, conflicts_with = "raw")]
    dry_run: bool,
    /// Another number of the recipe, such as `prepare.constants.test_rows=100`; `competitions show ID --json` has them
    #[arg(long, value_name = "KEY=NUMBER", value_parser = constant, requires = "raw")]
    set: Vec<(String, i64)>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// `prepare.constants.NAME=NUMBER`.
fn constant(text: &str) -> Result<(String, i64), String> {
    let found = text.split_once('=').and_then(|(key, value)| {
        let name = key.trim().strip_prefix("prepare.constants.")?;
        Some((name.to_owned(), value.trim().replace('_', "").parse().ok()?))
    });
    found.ok_or_else(|| format!("`{text}` is not of the form `prepare.constants.NAME=NUMBER`"))
}

/// Prepares them.
pub(crate) fn main(
    arguments: &PrepareArguments,
    catalog: &Catalog,
    site: &Site,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let wanted = arguments.wanted(catalog)?;
    let mut rows = Vec::new();
    let mut from_kaggle = Vec::new();
    for competition in wanted {
        if arguments.raw.is_none() && competition.kind == Kind::Kaggle {
            from_kaggle.push(competition);
            continue;
        }
        let found = match &arguments.raw {
            None if arguments.dry_run => folders(&site.data_dir, &competition.id),
            None => site.prepared(competition)?,
            Some(raw) => from_raw(competition, raw, arguments, &site.data_dir)?,
        };
        rows.push(arguments.row(&competition.id, &found, terminal));
    }
    let mut failed = 0;
    if !from_kaggle.is_empty() {
        failed = arguments.provide(from_kaggle, site, terminal, &mut rows)?;
    }
    if arguments.json {
        terminal.json(&rows);
    }
    Ok(if failed > 0 { ExitCode::from(exit::ENVIRONMENT) } else { ExitCode::SUCCESS })
}

impl PrepareArguments {
    fn wanted<'a>(&self, catalog: &'a Catalog) -> Result<Vec<&'a Competition>, Failure> {
        let split = self.split.as_deref().or(self.all.then_some("all"));
        let members = match split {
            Some(split) => catalog.split(split).map_err(RunError::from)?,
            None => {
                let mut members: Vec<&Competition> = Vec::new();
                for id in &self.ids {
                    let member = catalog.get(id).map_err(RunError::from)?;
                    if !members.iter().any(|known| known.id == member.id) {
                        members.push(member);
                    }
                }
                members
            }
        };
        if !self.fixed {
            return Ok(members);
        }
        let mut variants = Vec::new();
        for member in members {
            match catalog.fixed(member.official_id()) {
                Some(variant) => variants.push(variant),
                None if split.is_some() => {}
                None => return Err(without_variant(&member.id)),
            }
        }
        Ok(variants)
    }

    fn row(&self, id: &str, found: &Folders, terminal: &Terminal) -> Value {
        if !self.json && !self.dry_run {
            terminal.line(&escape(&format!("{id}: ready in {}", found.public.display())));
        }
        json!({"id": id, "public": found.public, "private": found.private})
    }

    /// Fetches and prepares; the number of those that failed.
    fn provide(
        &self,
        competitions: Vec<&Competition>,
        site: &Site,
        terminal: &Terminal,
        rows: &mut Vec<Value>,
    ) -> Result<usize, Failure> {
        let order = Order {
            competitions,
            data_dir: &site.data_dir,
            archives: self.archives.as_deref(),
            jobs: self.jobs,
            keep_raw: self.keep_raw,
            skip_verification: self.skip_verification,
            leave_free: self.leave_free,
        };
        let runtime = crate::cli::runtime()?;
        let progress = Progress::new(terminal);
        let tell = |event: crate::provision::Event<'_>| progress.tell(event);
        let plan = plan(&order, || self.service(site), runtime.handle(), &tell)
            .map_err(|error| provision_failure(&error))?;
        if self.dry_run {
            rows.extend(plan.items.iter().map(|item| self.planned(item, terminal)));
            return Ok(0);
        }
        progress.expect(plan.items.len(), to_come(&plan));
        let told = |outcome: &Outcome| match &outcome.folders {
            Ok(found) => progress.around(|| drop(self.row(&outcome.id, found, terminal))),
            Err(error) => progress.around(|| {
                let failure = provision_failure(error);
                failure.in_words(format!("{}: {}", outcome.id, with_causes(error))).print(terminal);
            }),
        };
        let outcomes = progress.shown(|| carry_out(&plan, &order, runtime.handle(), &tell, &told));
        let mut failed = 0;
        for outcome in &outcomes {
            rows.push(match &outcome.folders {
                Ok(found) => json!({"id": outcome.id, "public": found.public, "private": found.private}),
                Err(error) => {
                    failed += 1;
                    json!({"id": outcome.id, "error": with_causes(error), "hint": error.hint()})
                }
            });
        }
        if failed > 0 {
            let all = outcomes.len();
            terminal
                .error_line(&format!("{failed} of {all} are not ready; the same command goes on with them"));
        }
        Ok(failed)
    }

    fn planned(&self, item: &crate::provision::Item<'_>, terminal: &Terminal) -> Value {
        let (id, bytes) = (&item.competition.id, item.bytes);
        let (word, from) = match &item.source {
            Source::Ready => ("ready", None),
            Source::Archive(path) => ("archive", Some(path)),
            Source::Remote(_) => ("download", None),
        };
        if !self.json {
            let size = bytes.map(|bytes| format!("  {}", crate::cli::competitions_progress::size(bytes)));
            let from = from.map(|path| format!("  {}", path.display())).unwrap_or_default();
            terminal.line(&escape(&format!("{id}: {word}{}{from}", size.unwrap_or_default())));
        }
        json!({"id": id, "source": word, "archive": from, "bytes": bytes, "needed": item.room.peak, "kept": item.room.kept})
    }

    fn service(&self, site: &Site) -> Result<Service, DownloadError> {
        let home = std::env::home_dir().unwrap_or_default();
        let credentials = Credentials::find(&site.variables, &home)?;
        if credentials.is_none() && self.endpoint == service::KAGGLE {
            return Err(DownloadError::NoCredentials);
        }
        let usual = Settings::new(credentials);
        let silence: Duration = site.stall_timeout.unwrap_or(usual.silence);
        Service::new(Settings { base: self.endpoint.clone(), silence, ..usual })
    }
}

/// Bytes that are still to be fetched, what is there of them included.
fn to_come(plan: &Plan<'_>) -> u64 {
    let remote = plan.items.iter().filter(|item| matches!(item.source, Source::Remote(_)));
    remote.filter_map(|item| item.bytes).sum()
}

/// Prepares a download, unless that was done before by the catalog's own numbers.
fn from_raw(
    competition: &Competition,
    raw: &Path,
    arguments: &PrepareArguments,
    data_dir: &Path,
) -> Result<Folders, Failure> {
    let raw = if arguments.ids.len() > 1 { raw.join(competition.official_id()) } else { raw.to_owned() };
    if arguments.set.is_empty() && status(data_dir, competition) == Status::Prepared {
        return Ok(folders(data_dir, &competition.id));
    }
    let constants: BTreeMap<String, i64> = arguments.set.iter().cloned().collect();
    let request = Request { raw: &raw, data_dir, constants: &constants };
    prepare(competition, &request).map_err(|error| prepare_failure(&error))
}

fn without_variant(id: &str) -> Failure {
    Failure::usage(format!("`{id}` has no fixed variant"))
        .hint("nothing that tells its answers is known: leave --fixed away")
}

fn prepare_failure(error: &PrepareError) -> Failure {
    let words = with_causes(error);
    let failure = match error {
        PrepareError::NoConstant { .. } => Failure::usage(words),
        _ => Failure::environment(words),
    };
    hinted(failure, error.hint())
}

fn provision_failure(error: &ProvisionError) -> Failure {
    let words = with_causes(error);
    let failure = match error {
        ProvisionError::Download(DownloadError::NoCredentials | DownloadError::Credentials { .. }) => {
            Failure::usage(words)
        }
        _ => Failure::environment(words),
    };
    hinted(failure, error.hint())
}

fn hinted(failure: Failure, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
