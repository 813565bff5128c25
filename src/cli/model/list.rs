//! `podium model list`: what the catalog and the user's own file say, and whether a model can be called now. Nothing
//! is sent. What is unknown is called so, and is never zero.

use std::process::ExitCode;

use clap::Args;
use podium_llm::{Client, ModelFacts, ModelName, Settings};
use serde_json::{Value, json};

use crate::cli::failure::Failure;
use crate::cli::site::tell_models;
use crate::cli::terminal::{Terminal, escape};
use crate::run::error::RunError;
use crate::run::site::{PLAYBOOK, Site};

/// List models
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only models of this provider
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn main(arguments: &Arguments, site: &Site, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let texts = site.model_texts()?;
    tell_models(texts.own.as_ref(), terminal);
    let catalog = texts.catalog().map_err(RunError::from)?;
    let settings = Settings::new(&catalog, &site.variables);
    if let Some(provider) = &arguments.provider {
        known(provider, &settings)?;
    }
    let wanted = |name: &ModelName| arguments.provider.as_ref().is_none_or(|wanted| name.provider == *wanted);
    let client = Client::new(catalog, settings, None);
    let rows: Vec<(&ModelName, &ModelFacts, Callable)> = client
        .catalog()
        .entries()
        .filter(|(name, _)| wanted(name))
        .map(|(name, facts)| (name, facts, Callable::of(name, &client)))
        .collect();
    if arguments.json {
        let rows: Vec<Value> =
            rows.iter().map(|(name, facts, callable)| document(name, facts, callable, &client)).collect();
        terminal.json(&rows);
    } else {
        for line in table(&rows, &client) {
            terminal.line(&escape(&line));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn known(provider: &str, settings: &Settings) -> Result<(), Failure> {
    let names = || settings.endpoints.keys().map(String::as_str).chain([PLAYBOOK]);
    if names().any(|name| name == provider) {
        return Ok(());
    }
    let hint = match podium_types::nearest::nearest(provider, names()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("providers: {}", names().collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::usage(format!("there is no model provider `{provider}`")).hint(hint))
}

/// Whether a model can be called now.
struct Callable {
    address: Option<String>,
    /// What is missing.
    problem: Option<String>,
    hint: Option<String>,
}

impl Callable {
    fn of(name: &ModelName, client: &Client) -> Self {
        if name.provider == PLAYBOOK {
            return Self { address: None, problem: None, hint: None };
        }
        match client.prepare(name) {
            Ok(prepared) => Self { address: prepared.base_url, problem: None, hint: None },
            Err(error) => Self { address: None, problem: Some(error.to_string()), hint: error.hint() },
        }
    }

    fn words(&self) -> String {
        match (&self.problem, &self.address) {
            (Some(problem), _) => format!("no: {problem}"),
            (None, Some(address)) => format!("yes, at {address}"),
            (None, None) => "yes, built in".to_owned(),
        }
    }
}

fn table(rows: &[(&ModelName, &ModelFacts, Callable)], client: &Client) -> Vec<String> {
    let head =
        ["model", "window", "output", "$/M in", "cached", "out", "as of", "cut-off", "without", "callable"];
    let mut cells = vec![head.map(str::to_owned)];
    for (name, facts, callable) in rows {
        let [input, cached, output] = match &facts.prices {
            Some(prices) => [prices.input, prices.cached_input.unwrap_or(prices.input), prices.output]
                .map(|price| price.to_string()),
            None => ["unknown", "unknown", "unknown"].map(str::to_owned),
        };
        cells.push([
            name.to_string(),
            or_unknown(facts.context_window.as_ref()),
            or_unknown(facts.output_limit.as_ref()),
            input,
            cached,
            output,
            or_unknown(facts.prices_as_of.as_ref()),
            or_unknown(facts.knowledge_cutoff.as_ref()),
            match client.missing(name).as_slice() {
                [] => "-".to_owned(),
                missing => missing.join(","),
            },
            callable.words(),
        ]);
    }
    let mut widths = [0; 10];
    for row in &cells {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; 10]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    cells.iter().map(line).collect()
}

fn or_unknown(value: Option<&impl ToString>) -> String {
    value.map_or_else(|| "unknown".to_owned(), ToString::to_string)
}

fn document(name: &ModelName, facts: &ModelFacts, callable: &Callable, client: &Client) -> Value {
    let missing = client.missing(name);
    let abilities: serde_json::Map<String, Value> = podium_llm::ABILITIES
        .iter()
        .map(|ability| ((*ability).to_owned(), json!(!missing.contains(ability))))
        .collect();
    let prices = facts.prices.map(|prices| {
        json!({
            "input": prices.input,
            "cached_input": prices.cached_input.unwrap_or(prices.input),
            "cache_write": prices.cache_write.unwrap_or(prices.input),
            "output": prices.output,
            "reasoning": prices.reasoning.unwrap_or(prices.output),
        })
    });
    json!({
        "model": name.to_string(),
        "aliases": facts.aliases,
        "context_window": facts.context_window,
        "output_limit": facts.output_limit,
        "default_output_tokens": facts.max_output_tokens,
        "usd_per_million_tokens": prices,
        "prices_as_of": facts.prices_as_of,
        "knowledge_cutoff": facts.knowledge_cutoff,
        "abilities": abilities,
        "callable": callable.problem.is_none(),
        "address": callable.address,
        "problem": callable.problem,
        "hint": callable.hint,
    })
}
