//! `podium scaffolds check`: everything that can be found before a dollar is spent, all faults at once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use podium_llm::ModelName;
use podium_scaffold::spec::faults;
use podium_scaffold::{Scaffold, SpecError};
use podium_types::nearest::nearest;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::grants::GrantArguments;
use crate::cli::run::{equip, watch_signals};
use crate::cli::scaffolds_syntax;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::values;
use crate::run::config::{Place, PreviewMode};
use crate::run::driver::Interrupt;
use crate::run::error::{CAUSES, RunError};
use crate::run::events::RunEvent;
use crate::run::external::ExternalSpec;
use crate::run::folder::RunFolder;
use crate::run::limits::Raise;
use crate::run::order::{Order, packages_pinned};
use crate::run::scaffold_file;
use crate::run::site::{PLAYBOOK, Site};
use crate::run::sitting::StoredRun;
use crate::run::stop::{Outcome, StoppedBy};
use crate::run::strategies;
use crate::run::summary::RunReport;
use crate::run::wording::Wording;

/// Check a scaffold before a dollar is spent: its file, its prompts, its models, and a dry run with the stand-in
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium scaffolds check mine\n  podium scaffolds check mine --no-run -m openai/gpt-4.1-mini\n\n\
    Exit code 2 where anything is wrong."
)]
pub(crate) struct Arguments {
    /// Its id, or its file
    scaffold: String,
    /// The model that you mean to use for all roles: is it known, and does it take what the scaffold asks?
    #[arg(short, long, value_name = "M", value_parser = values::model)]
    model: Option<String>,
    /// The model that you mean to use for one role; may be repeated
    #[arg(long, value_name = "ROLE=M", value_parser = values::role)]
    role: Vec<(String, String)>,
    /// Make no dry run
    #[arg(long)]
    no_run: bool,
    /// The built-in competition of the dry run
    #[arg(short, long, value_name = "C", default_value = "travel-mode")]
    competition: String,
    /// Steps of the dry run
    #[arg(long, value_name = "N", default_value_t = 3)]
    steps: u32,
    #[command(flatten)]
    grants: GrantArguments,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// In a dry run a strategy's own program may be silent so long, in milliseconds.
const SILENCE_MS: u64 = 60_000;

/// Something that is wrong.
#[derive(Debug, serde::Serialize)]
struct Fault {
    /// `key`, `value`, `name`, `prompt`, `model`, `syntax` or `run`.
    kind: &'static str,
    /// Line of the scaffold file, from 1.
    line: Option<usize>,
    message: String,
}

pub(crate) fn main(arguments: &Arguments, site: &Site, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let Subject { id, text, site } = subject(&arguments.scaffold, site)?;
    let mut found: Vec<Fault> =
        faults(strategies::registry(), &text, &site.prompts()).iter().map(Fault::of).collect();
    found.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    let scaffold = site.scaffold(&id, &[]).ok().filter(|_| found.is_empty());
    if let Some(scaffold) = &scaffold
        && scaffold.head().id != id
    {
        let message = format!("id: is `{}`, but the file's name says `{id}`", scaffold.head().id);
        found.push(Fault { kind: "value", line: None, message });
    }
    found.extend(models(arguments, scaffold.as_ref(), &site)?);
    let mut warnings: Vec<String> = Vec::new();
    if let Some(scaffold) = &scaffold {
        let mounts = arguments.grants.asked()?.mounts;
        match scaffolds_syntax::faults(named(&id, arguments), scaffold, &mounts, &site) {
            Ok(faults) => {
                found.extend(faults.into_iter().map(|message| Fault { kind: "syntax", line: None, message }));
            }
            Err(error) => warnings.push(format!("the Python files were not looked at: {error}")),
        }
    }
    let mut dry_run = Value::Null;
    if let Some(scaffold) = scaffold.as_ref().filter(|_| found.is_empty() && !arguments.no_run) {
        match dry(&id, scaffold, arguments, &site, terminal) {
            Ok(Tried { report, differs }) => {
                dry_run = told(&report);
                let asks = !scaffold.roles().is_empty();
                let silent = || silent(&report).filter(|_| asks);
                found.extend(unfinished(&report).or(differs).or_else(silent));
                warnings.extend(without_submission(&report));
            }
            Err(failure) => {
                found.push(Fault {
                    kind: "run",
                    line: None,
                    message: format!("dry run: {}", failure.sentence()),
                });
            }
        }
    }
    if arguments.json {
        terminal.json(&json!({"scaffold": id, "faults": found, "warnings": warnings, "dry_run": dry_run}));
    } else {
        for fault in &found {
            terminal.line(&escape(&fault.message));
        }
        let part = |name: &str| dry_run.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let clean = match warnings.len() {
            0 => "nothing was found".to_owned(),
            1 => format!("no fault, 1 warning: {}", warnings.concat()),
            count => format!("no fault, {count} warnings: {}", warnings.join("; ")),
        };
        match found.len() {
            0 if dry_run.is_null() => terminal.line(&escape(&format!("{id}: {clean}; no dry run was made"))),
            0 => terminal.line(&escape(&format!(
                "{id}: {clean}; the dry run on {} ended {} (stopped by {}: {})",
                part("competition"),
                part("outcome"),
                part("stopped_by"),
                part("detail")
            ))),
            1 => terminal.line(&format!("{id}: 1 fault")),
            count => terminal.line(&format!("{id}: {count} faults")),
        }
    }
    Ok(if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::USAGE) })
}

/// What is checked.
struct Subject {
    id: String,
    text: String,
    /// With the file and the prompts beside it in force.
    site: Site,
}

fn subject(named: &str, site: &Site) -> Result<Subject, Failure> {
    let mut site = site.clone();
    let path = Path::new(named);
    let is_file = path.extension().is_some_and(|end| end == "toml") || path.components().count() > 1;
    if !is_file {
        let text = site.scaffold_text(named)?.into_owned();
        return Ok(Subject { id: named.to_owned(), text, site });
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("could not read {}: {error}", path.display()))
            .hint("name a scaffold (podium scaffolds list), or the file of one")
    })?;
    let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let beside: Option<PathBuf> =
        path.parent().map(|folder| folder.join("../prompts")).filter(|folder| folder.is_dir());
    if let Some(prompts) = beside {
        site.assets.lay(&prompts, "prompts").map_err(RunError::from)?;
    }
    site.assets.put(&format!("scaffolds/{id}.toml"), text.clone());
    Ok(Subject { id, text, site })
}

/// Models that are not known, or do not take what the scaffold asks of them.
fn models(
    arguments: &Arguments,
    scaffold: Option<&podium_scaffold::Scaffold>,
    site: &Site,
) -> Result<Vec<Fault>, Failure> {
    let mut found = Vec::new();
    let mut tell = |message: String| found.push(Fault { kind: "model", line: None, message });
    let catalog = site.model_texts()?.catalog().map_err(RunError::from)?;
    let own: BTreeMap<&str, &str> =
        arguments.role.iter().map(|(role, model)| (role.as_str(), model.as_str())).collect();
    let roles: Vec<&str> = scaffold.map(podium_scaffold::Scaffold::roles).unwrap_or_default();
    for role in own.keys().filter(|role| scaffold.is_some() && !roles.contains(*role)) {
        tell(format!("--role {role}: the scaffold has no such role; its roles: {}", roles.join(", ")));
    }
    for role in roles {
        let Some(name) = own.get(role).copied().or(arguments.model.as_deref()) else { continue };
        let name: ModelName = name.parse().map_err(RunError::from)?;
        if name.provider == PLAYBOOK {
            continue;
        }
        if !catalog.providers().any(|(provider, _)| *provider == name.provider) {
            let near = nearest(&name.provider, catalog.providers().map(|(provider, _)| provider.as_str()));
            let hint = near.map(|near| format!("; nearest: `{near}`")).unwrap_or_default();
            tell(format!("role {role}: there is no provider `{}`{hint}", name.provider));
            continue;
        }
        let facts = catalog.facts(&name);
        if facts.context_window.is_none() && facts.prices.is_none() {
            let known: Vec<String> = catalog.entries().map(|(name, _)| name.to_string()).collect();
            let near = nearest(&name.to_string(), known.iter().map(String::as_str));
            let hint = near.map(|near| format!("; nearest: `{near}`")).unwrap_or_default();
            tell(format!(
                "role {role}: nothing is known of the model `{name}`, no price and no window{hint}"
            ));
        }
        let asked = scaffold.and_then(|scaffold| scaffold.head().models.get(role)?.max_output_tokens);
        if let (Some(asked), Some(limit)) = (asked, facts.output_limit)
            && asked > limit
        {
            tell(format!("models.{role}.max_output_tokens: is {asked}, and `{name}` gives at most {limit}"));
        }
    }
    Ok(found)
}

/// What the scaffold is named by: what lies beside a file is found by its path.
fn named<'a>(id: &'a str, arguments: &'a Arguments) -> &'a str {
    scaffold_file::path(&arguments.scaffold).map_or(id, |_| &arguments.scaffold)
}

/// What came of a dry run.
struct Tried {
    report: RunReport,
    /// What a second start did otherwise, told the same.
    differs: Option<Fault>,
}

/// A few steps with the stand-in model, in a folder that goes away again; and the same from its journal.
fn dry(
    id: &str,
    scaffold: &Scaffold,
    arguments: &Arguments,
    site: &Site,
    terminal: &Terminal,
) -> Result<Tried, Failure> {
    let mut site = site.clone();
    let mut asked = arguments.grants.asked()?;
    if asked.machine.is_none() {
        // A trial leaves the machine to others.
        asked.cpus = asked.cpus.or(Some(1));
        asked.memory_bytes = asked.memory_bytes.or(Some(2 << 30));
    }
    let order = Order {
        scaffold: named(id, arguments).to_owned(),
        overrides: impatience(scaffold),
        competition: arguments.competition.clone(),
        model: Some(format!("{PLAYBOOK}/default")),
        roles: BTreeMap::new(),
        seed: None,
        steps: Some(arguments.steps),
        run_ms: None,
        execution_ms: Some(30_000),
        tokens: None,
        cost: None,
        sandbox: asked,
        description: Wording::default(),
        mle_bench: None,
        preview: PreviewMode::Full,
    };
    site.mounts.clone_from(&order.sandbox.mounts);
    let pinned = packages_pinned(&site.requirements(&order.sandbox.environment));
    let mut resolved = order.resolve(&site, pinned)?;
    let place = tempfile::Builder::new()
        .prefix("podium-check-")
        .tempdir()
        .map_err(|error| Failure::environment(format!("no folder could be made for the dry run: {error}")))?;
    let (runtime, equipment) = equip(&mut resolved.config, &site, place.path(), terminal)?;
    let folder = RunFolder::create(place.path(), &order.folder_name()).map_err(RunError::from)?;
    let run = StoredRun::create(
        folder,
        resolved.config,
        Place { endpoints: equipment.endpoints(), ..site.place() },
    )?;
    let lock = run.lock()?;
    let (interrupter, interrupt) = watch::channel(Interrupt::None);
    let wish = interrupt.clone();
    let signals = runtime.spawn(watch_signals(interrupter));
    let mut silent = |_: &RunEvent| {};
    let report = runtime.block_on(run.sit(lock, equipment, &Raise::default(), interrupt, &mut silent));
    let tried = report.map_err(Failure::from).and_then(|report| {
        let differs = if is_well(&report) { again(&run, &site, &runtime, wish)? } else { None };
        Ok(Tried { report, differs })
    });
    signals.abort();
    runtime.shutdown_background();
    tried
}

/// A program of its own that hangs is waited for as long as a person at a terminal would.
fn impatience(scaffold: &Scaffold) -> Vec<(String, String)> {
    let spec = ExternalSpec::of(scaffold);
    let is_patient = spec.is_some_and(|spec| spec.external.silence.millis() > SILENCE_MS);
    if is_patient { vec![("external.silence".to_owned(), format!("{SILENCE_MS}ms"))] } else { Vec::new() }
}

/// Starts the strategy once more, against the journal of a run: what it then does otherwise it would do otherwise in a
/// resume.
fn again(
    run: &StoredRun,
    site: &Site,
    runtime: &Runtime,
    mut wish: watch::Receiver<Interrupt>,
) -> Result<Option<Fault>, Failure> {
    let stage = {
        let _inside = runtime.enter();
        site.stage(&run.config, run.folder.path(), &mut |_| {})?
    };
    let mut silent = |_: &RunEvent| {};
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = run.replay(stage, &mut silent) => Some(ended),
            Ok(_) = wish.wait_for(|wish| *wish != Interrupt::None) => None,
        }
    });
    match ended {
        None => Err(Failure::usage("interrupted")),
        Some(Ok(_)) => Ok(None),
        Some(Err(error)) if error.is_divergence() => {
            let message =
                format!("dry run: started again and told the same, it went another way: {error}; {CAUSES}");
            Ok(Some(Fault { kind: "run", line: None, message }))
        }
        Some(Err(error)) => Err(error.into()),
    }
}

fn told(report: &RunReport) -> Value {
    json!({
        "competition": report.competition,
        "outcome": report.outcome,
        "stopped_by": report.stopped_by,
        "detail": report.detail,
    })
}

fn is_well(report: &RunReport) -> bool {
    matches!(report.stopped_by, StoppedBy::Finished | StoppedBy::Steps | StoppedBy::Time)
}

/// A dry run that did not come to an end of its own.
fn unfinished(report: &RunReport) -> Option<Fault> {
    let message = format!("dry run: {}", report.detail);
    (!is_well(report)).then_some(Fault { kind: "run", line: None, message })
}

/// A dry run in which no model answered: each of its requests was refused, or none was made. How it ended says which.
fn silent(report: &RunReport) -> Option<Fault> {
    let asked = match &report.agent {
        Some(agent) if agent.requests == 0 => "; it asked for none",
        _ => "",
    };
    let message = format!("dry run: no model answered in all of its steps{asked}: {}", report.detail);
    (report.usage.calls == 0).then_some(Fault { kind: "run", line: None, message })
}

/// Nothing is wrong with that by itself: a few steps may be too few, and the stand-in is no model.
fn without_submission(report: &RunReport) -> Option<String> {
    match report.outcome {
        Outcome::NoSubmission => Some("the dry run ended without a submission".to_owned()),
        Outcome::InvalidSubmission => Some("the dry run ended with an invalid submission".to_owned()),
        _ => None,
    }
}

impl Fault {
    fn of(error: &SpecError) -> Self {
        let (kind, line) = match error {
            SpecError::Syntax { line, .. } => ("value", Some(*line)),
            SpecError::Unknown { line, .. } => ("key", Some(*line)),
            SpecError::Missing { .. } => ("name", None),
            SpecError::Prompt { .. } => ("prompt", None),
            SpecError::UnknownPath { .. } | SpecError::Override { .. } | SpecError::Invalid { .. } => {
                ("value", None)
            }
        };
        Self { kind, line, message: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dry_run_waits_a_minute_for_a_silent_program_and_no_longer_than_it_asks() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/external/greedy.toml");
        let text = std::fs::read_to_string(file).unwrap();
        let prompts =
            BTreeMap::from([("common/benchmark.md.tera".to_owned(), "{{ competition }}".to_owned())]);
        for (silence, expected) in [("10m", vec!["60000ms"]), ("1m", vec![]), ("5s", vec![])] {
            let set = [("external.silence".to_owned(), silence.to_owned())];
            let load = |set: &[(String, String)]| {
                Scaffold::load_with(strategies::registry(), &text, prompts.clone(), set).unwrap()
            };
            let more = impatience(&load(&set));
            let values: Vec<&str> = more.iter().map(|(_, value)| value.as_str()).collect();
            assert_eq!(values, expected, "{silence}");
            assert!(impatience(&load(&[&set[..], &more].concat())).is_empty(), "{silence}");
        }
    }
}
