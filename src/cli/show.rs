//! `podium show`: a run as a table of nodes or a log of steps, its calls, its report, or a page for a browser; also while
//! it is going on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use podium_scaffold::NodeRecord;
use podium_types::chat::{ChatRequest, Message, Speaker};
use podium_types::usage::Usage;
use serde::Serialize;

use crate::cli::calls::Calls;
use crate::cli::failure::Failure;
use crate::cli::page_file;
use crate::cli::progress::line;
use crate::cli::site::SiteArguments;
use crate::cli::steps::Steps;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{model, one_page, summary, values};
use crate::run::config::RunConfig;
use crate::run::error::RunError;
use crate::run::journal::{Entry, Record};
use crate::run::site::Site;
use crate::run::sitting::StoredRun;
use crate::run::story::story;
use crate::run::summary::RunReport;

/// Show a run: its tree or its log, its calls, its report, or a page for a browser
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium show runs/aide-segment-1\n  podium show runs/aide-segment-1 --calls\n  \
    podium show runs/aide-segment-1 --html"
)]
pub(crate) struct Arguments {
    /// The run's folder
    run: PathBuf,
    /// List every model call instead of the nodes or the steps
    #[arg(long)]
    calls: bool,
    /// The run on one page, in Markdown: what was tried, what helped, where time and dollars went
    #[arg(long, conflicts_with_all = ["calls", "json", "html", "full"])]
    summary: bool,
    /// Beside --summary: have this model tell what the page says, in its words. It is sent the page, no more; the run is
    /// not touched, and what it cost is printed
    #[arg(short, long, value_name = "M", requires = "summary", value_parser = values::model)]
    model: Option<String>,
    /// Of a loop: show long texts whole
    #[arg(long, conflicts_with_all = ["calls", "json", "html"])]
    full: bool,
    /// Write a page for a browser: the tree with all its nodes, the best over time and dollars, the grading. One file
    /// that loads nothing [default FILE: page.html in the run's folder; `-`: standard output]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["calls", "json"])]
    #[expect(clippy::option_option, reason = "asked for or not, and with a file or without")]
    html: Option<Option<PathBuf>>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    run: String,
    config: &'a RunConfig,
    nodes: Vec<&'a NodeRecord>,
    #[serde(flatten)]
    steps: Steps,
    #[serde(flatten)]
    calls: Calls,
    report: Option<RunReport>,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let run = StoredRun::open(&arguments.run)?;
    // Read first: a call that is answered meanwhile is in the journal then.
    let open = run.open_intents()?;
    let entries = run.entries_so_far()?;
    let report = run.report()?;
    if arguments.summary {
        let page = one_page::page(&run, &entries, report.as_ref());
        if let Some(model) = &arguments.model {
            let site = site.open(terminal)?;
            model::ask(model, &retold(&page, &site), &site, terminal)?;
        } else {
            terminal.line(escape(&page).trim_end());
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(file) = &arguments.html {
        return write_page(&run, &entries, report.as_ref(), file.as_deref(), terminal);
    }
    if arguments.json {
        terminal.json(&Shown {
            run: run.folder.path().display().to_string(),
            config: &run.config,
            nodes: crate::run::summary::nodes(&entries).collect(),
            steps: Steps::of(story(&run, &entries, report.as_ref())),
            calls: Calls::read(&run.config, &entries, &open),
            report,
        });
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.calls {
        Calls::read(&run.config, &entries, &open).print(terminal);
    } else {
        let steps = Steps::of(story(&run, &entries, report.as_ref()));
        if steps.is_empty() {
            show_nodes(&run, &entries, terminal);
        } else {
            steps.print(arguments.full, terminal);
        }
    }
    match report {
        Some(report) => summary::footer(&run, &report, terminal),
        None => terminal.line("the run has not ended"),
    }
    Ok(ExitCode::SUCCESS)
}

/// What a model is asked that tells a run's page in its words.
fn retold(page: &str, site: &Site) -> ChatRequest {
    // A template without variables is its text but for the remark at its head.
    let told = site.assets.text("prompts/common/run_summary.md.tera").unwrap_or_default();
    let told = told.split_once("-#}").map_or(told, |(_, told)| told);
    ChatRequest {
        messages: vec![Message::text(Speaker::System, told.trim()), Message::text(Speaker::User, page)],
        max_output_tokens: Some(SUMMARY_TOKENS),
        seed: Some(1),
        ..ChatRequest::default()
    }
}

/// Room for a summary and for what a reasoning model thinks before.
const SUMMARY_TOKENS: u32 = 4096;

/// More of prompts and answers than this would make the page slow to open.
const CONVERSATIONS: usize = 12_000_000;

fn write_page(
    run: &StoredRun,
    entries: &[Entry],
    report: Option<&RunReport>,
    file: Option<&Path>,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let mut story = story(run, entries, report);
    story.leave_out_above(CONVERSATIONS);
    let page = podium_report::page(&story).map_err(RunError::Story)?;
    page_file::write(&page, file.unwrap_or(&run.folder.path().join("page.html")), terminal)
}

fn show_nodes(run: &StoredRun, entries: &[Entry], terminal: &Terminal) {
    let mut costs: BTreeMap<u32, Usage> = BTreeMap::new();
    for entry in entries {
        if let Record::Result { key, usage, .. } | Record::Charge { key, usage, .. } = &entry.record
            && let Some(node) = key.number()
        {
            let sum = costs.entry(node).or_insert(Usage::NOTHING);
            *sum = sum.plus(usage);
        }
    }
    terminal.line("   #  from  did        validation    file        time      cost  note");
    let mut best: Option<f64> = None;
    for node in crate::run::summary::nodes(entries) {
        let value = node.metric.map(|metric| metric.0).filter(|_| node.is_good());
        let better =
            value.is_some_and(|value| best.is_none_or(|best| run.config.task.direction.better(value, best)));
        if better {
            best = value;
        }
        let cost = costs.get(&node.id).and_then(|usage| usage.cost).map(|cost| cost.to_string());
        terminal.line(&line(node, better, cost));
    }
}
