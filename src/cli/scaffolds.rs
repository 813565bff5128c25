//! `podium scaffolds`: list, show, new, check, and how a scaffold reads a model's answer.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use podium_scaffold::spec::Origin;
use podium_types::log::Line;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::site::SiteArguments;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{scaffolds_check, scaffolds_new, values};
use crate::run::site::Site;

/// Scaffolds: list, show, make and check your own, and how they read a model's answer
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List scaffolds
    #[command(after_help = "Example:\n  podium scaffolds list")]
    List {
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Show what a scaffold is made of
    #[command(after_help = "Example:\n  podium scaffolds show aide --set policy.rule.debug.probability=1")]
    Show {
        /// Its id
        id: String,
        /// Change one value; may be repeated
        #[arg(long, value_name = "KEY=VALUE", value_parser = values::pair)]
        set: Vec<(String, String)>,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Make a scaffold of your own from another: its file and its prompts, to be changed
    New(scaffolds_new::Arguments),
    /// Check a scaffold before a dollar is spent: its file, its prompts, its models, and a dry run with the stand-in
    Check(Box<scaffolds_check::Arguments>),
    /// Show how a scaffold reads a model's answer
    #[command(after_help = "Example:\n  podium scaffolds parse aide answer.md --json")]
    Parse {
        /// The scaffold
        id: String,
        /// File with the answer; `-` reads standard input
        file: PathBuf,
        /// Format of the answer, for scaffolds that have several: `codeact-tags`, `fncall-text`, or `fncall-json` (a file
        /// with `content` and `tool_calls`)
        #[arg(long, value_name = "F")]
        format: Option<String>,
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
    match command {
        Command::List { json } => list(&site, *json, terminal),
        Command::Show { id, set, json } => show(&site, id, set, *json, terminal),
        Command::New(arguments) => scaffolds_new::main(arguments, &site, terminal),
        Command::Check(arguments) => scaffolds_check::main(arguments, &site, terminal),
        Command::Parse { id, file, format, json } => {
            let scaffold = site.scaffold(id, &[])?;
            let reading = scaffold.parse_answer(&read(file)?, format.as_deref());
            if *json {
                terminal.json(&reading);
            } else {
                terminal.line(&format!("status: {}", json!(reading.status).as_str().unwrap_or_default()));
                if let Some(why) = &reading.why {
                    terminal.line(&format!("why: {}", escape(why)));
                }
                let is_code = reading.actions.is_empty() && reading.dropped.is_empty();
                for (name, part) in [("plan", &reading.plan), ("code", &reading.code)] {
                    if is_code || part.is_some() {
                        let part = part.as_deref().unwrap_or("(none)");
                        terminal.line(&format!("{name}:\n{}", escape(part)));
                    }
                }
                for (word, actions) in [("action", &reading.actions), ("not run", &reading.dropped)] {
                    for action in actions {
                        let call = Line::act(&action.name, &action.arguments);
                        terminal.line(&escape(&format!("{word}: {}", call.title)));
                        for line in call.text.lines() {
                            terminal.line(&format!("    {}", escape(line)));
                        }
                    }
                }
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn list(site: &Site, as_json: bool, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let mut rows = Vec::new();
    for id in site.scaffold_names() {
        let scaffold = site.scaffold(&id, &[])?;
        let head = scaffold.head();
        if !as_json {
            terminal.line(&format!("{id:<20}  {}", escape(&head.summary)));
        }
        rows.push(json!({"id": id, "name": head.name, "summary": head.summary, "strategy": head.strategy}));
    }
    if as_json {
        terminal.json(&rows);
    }
    Ok(ExitCode::SUCCESS)
}

fn show(
    site: &Site,
    id: &str,
    set: &[(String, String)],
    as_json: bool,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let scaffold = site.scaffold(id, set)?;
    if as_json {
        terminal.json(&json!({
            "id": id,
            "name": scaffold.head().name,
            "summary": scaffold.head().summary,
            "roles": scaffold.roles(),
            "composition": scaffold.composition().into_iter().collect::<BTreeMap<_, _>>(),
            "spec": scaffold.spec(),
            "values": scaffold.values(),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    terminal.line(&format!("{}: {}", scaffold.head().name, escape(&scaffold.head().summary)));
    terminal.line(&format!("roles: {}", scaffold.roles().join(", ")));
    for (part, text) in scaffold.composition() {
        terminal.line(&escape(&format!("{part}: {text}")));
    }
    // A blank line before each table of the file.
    let mut table = None;
    for value in scaffold.values() {
        let this = value.path.split_once('.').map(|(table, _)| table);
        if table != Some(this) {
            terminal.line("");
        }
        table = Some(this);
        let origin = match value.origin {
            Origin::File => "",
            Origin::Set => "  (--set)",
            Origin::Default => "  (default)",
            Origin::Unset => "  (not set)",
        };
        terminal.line(&escape(&format!("{} = {}{origin}", value.path, value.value)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of a file or of standard input. Bytes that are no UTF-8 are replaced: a model wrote them.
fn read(file: &PathBuf) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let result = if file.as_os_str() == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(file).map(|read| bytes = read)
    };
    result.map_err(|error| {
        Failure::usage(format!("could not read {}: {error}", file.display()))
            .hint("give a file that holds a model's answer, or `-` to read standard input")
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
