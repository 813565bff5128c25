//! `podium doctor`: what works on this machine, what does not, and how to mend it.

use std::process::ExitCode;

use clap::Args;
use podium_llm::Endpoint;
use podium_sandbox::environment::Interpreter;
use podium_sandbox::{Environment, SandboxKind, Settings, Strength};
use serde::Serialize;

use crate::cli::exit;
use crate::cli::failure::{Failure, with_causes};
use crate::cli::runtime;
use crate::cli::site::{SiteArguments, tell_models};
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::site::Site;

/// What works on this machine, what does not, and how to mend it
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  podium doctor")]
pub(crate) struct Arguments {
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

/// How one thing stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// It works.
    Works,
    /// It does not, and runs get by without it.
    Optional,
    /// It does not, and runs need it.
    Missing,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    state: State,
    detail: String,
    mend: Option<String>,
}

pub(crate) fn main(
    arguments: &Arguments,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let runtime = runtime()?;
    let _inside = runtime.enter();
    let mut findings = vec![jail(), python(&site), environment(&site)];
    findings.extend(providers(&site, terminal)?);
    findings.push(docker());
    findings.push(data(&site));
    let broken = findings.iter().any(|finding| finding.state == State::Missing);
    if arguments.json {
        terminal.json(&findings);
    } else {
        for finding in &findings {
            let mark = match finding.state {
                State::Works => "works    ",
                State::Optional => "optional ",
                State::Missing => "MISSING  ",
            };
            terminal.line(&format!("{mark} {:<20} {}", finding.what, escape(&finding.detail)));
            if let Some(mend) = &finding.mend {
                terminal.line(&format!("          {:<20} {}", "", escape(mend)));
            }
        }
    }
    Ok(ExitCode::from(if broken { exit::ENVIRONMENT } else { 0 }))
}

fn jail() -> Finding {
    match podium_sandbox::open(SandboxKind::Jail, &Settings::default()) {
        Ok(sandbox) => {
            let facts = sandbox.facts();
            let full = facts.strength == Strength::Full;
            Finding {
                what: "sandbox (jail)".to_owned(),
                state: State::Works,
                detail: facts.describe(),
                mend: (!full).then(|| {
                    "it works, but weaker than `full`: limits of memory and processes are not held by a control group"
                        .to_owned()
                }),
            }
        }
        Err(error) => Finding {
            what: "sandbox (jail)".to_owned(),
            state: State::Missing,
            detail: with_causes(&error),
            mend: error.hint().map(str::to_owned),
        },
    }
}

fn python(site: &Site) -> Finding {
    match Interpreter::find(site.python.as_deref()) {
        Ok(found) => Finding {
            what: "python".to_owned(),
            state: State::Works,
            detail: format!("{} at {}", found.version, found.path.display()),
            mend: None,
        },
        Err(error) => Finding {
            what: "python".to_owned(),
            state: State::Missing,
            detail: with_causes(&error),
            mend: error.hint().map(str::to_owned),
        },
    }
}

fn environment(site: &Site) -> Finding {
    let found = Interpreter::find(None).ok().and_then(|interpreter| {
        Environment::find(&site.cache_dir, "base", &site.requirements("base"), &interpreter)
    });
    match found {
        Some(environment) => Finding {
            what: "environment base".to_owned(),
            state: State::Works,
            detail: environment.python().display().to_string(),
            mend: None,
        },
        None => Finding {
            what: "environment base".to_owned(),
            state: State::Optional,
            detail: "not built yet".to_owned(),
            mend: Some("podium environments build base (the first run does it too)".to_owned()),
        },
    }
}

/// Every provider, with its address and whether its key is there. None is called.
fn providers(site: &Site, terminal: &Terminal) -> Result<Vec<Finding>, Failure> {
    let texts = site.model_texts()?;
    tell_models(texts.own.as_ref(), terminal);
    let catalog = texts.catalog().map_err(RunError::from)?;
    let settings = podium_llm::Settings::new(&catalog, &site.variables);
    Ok(settings.endpoints.iter().map(|(name, endpoint)| provider(name, endpoint)).collect())
}

fn provider(name: &str, endpoint: &Endpoint) -> Finding {
    let (key, address) = (&endpoint.key_variable, &endpoint.base_url_variable);
    let there = endpoint.base_url.as_deref();
    let keyed = match (&endpoint.key, endpoint.key_required) {
        (Some(_), _) => format!("{key} is set"),
        (None, true) => format!("{key} is not set"),
        (None, false) => format!("no key ({key} would hold one)"),
    };
    let mend = match (there, &endpoint.key, endpoint.key_required) {
        (None, _, _) => Some(format!("set {address} in the environment or in .env to use it")),
        (Some(_), None, true) => {
            Some(format!("set {key} in the environment or in .env to use it; --model playbook needs none"))
        }
        _ => None,
    };
    Finding {
        what: format!("provider {name}"),
        state: if mend.is_none() { State::Works } else { State::Optional },
        detail: format!(
            "{keyed}; {}",
            there.map_or_else(|| "no address".to_owned(), |url| format!("at {url}"))
        ),
        mend,
    }
}

fn docker() -> Finding {
    match podium_sandbox::open(SandboxKind::Docker, &Settings::default()) {
        Ok(sandbox) => Finding {
            what: "sandbox (docker)".to_owned(),
            state: State::Works,
            detail: sandbox.facts().describe(),
            mend: None,
        },
        Err(error) => Finding {
            what: "sandbox (docker)".to_owned(),
            state: State::Optional,
            detail: with_causes(&error),
            mend: error.hint().map(str::to_owned),
        },
    }
}

fn data(site: &Site) -> Finding {
    let there = site.data_dir.is_dir();
    Finding {
        what: "competition data".to_owned(),
        state: if there { State::Works } else { State::Optional },
        detail: format!("{}{}", site.data_dir.display(), if there { "" } else { " (not there yet)" }),
        mend: (!there).then(|| "offline competitions are unpacked there on first use".to_owned()),
    }
}
