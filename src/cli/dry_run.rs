//! `podium run --dry-run`: what would happen, with the origin of each value, before a cent is spent.

use std::process::ExitCode;

use podium_competition::PreviewOptions;
use podium_llm::WorstCase;
use podium_types::chat::ChatRequest;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::terminal::{Terminal, dollars, escape};
use crate::run::config::{PreviewMode, RunConfig};
use crate::run::error::RunError;
use crate::run::order::Resolved;
use crate::run::site::Site;
use crate::run::validation;

pub(crate) fn main(
    resolved: &Resolved,
    site: &Site,
    as_json: bool,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let config = &resolved.config;
    let data = site.prepared(&resolved.competition)?;
    let preview = preview(resolved, &data)?;
    let budget = crate::run::tally::Tally::new(config.limits).budget();
    let first = resolved.scaffold.first_call(&config.task, &budget, &preview).map_err(RunError::from)?;
    let first = match first {
        Some((role, request)) => Some(FirstCall::new(resolved, site, role, request)?),
        None => None,
    };
    if as_json {
        terminal.json(&json!({
            "config": config,
            "identity": config.identity().unwrap_or_default(),
            "origins": resolved.origins,
            "first_prompt": first.as_ref().map(|call| json!({
                "role": call.role, "model": call.model, "messages": call.request.messages,
            })),
            "prompt_tokens": first.as_ref().map(|call| call.tokens),
            "worst_case": first.as_ref().map(|call| json!({
                "input_tokens": call.worst.input_tokens,
                "output_tokens": call.worst.output_tokens,
                "cost_usd": call.cost(),
            })),
            "data_shown": data_shown(config, &preview),
            "leaves_the_machine": first.as_ref().map_or("nothing: no model is asked", |call| &call.leaves),
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let width = resolved.origins.iter().map(|value| value.name.chars().count()).max().unwrap_or(0).min(48);
    for value in &resolved.origins {
        terminal.line(&escape(&format!("{:<width$}  {:<28}  {}", value.name, value.value, value.origin)));
    }
    for note in &config.sandbox.cut {
        terminal.line(&escape(&format!("note: {note}")));
    }
    let shown = data_shown(config, &preview);
    let part = |name: &str| shown.get(name).cloned().unwrap_or_default();
    terminal.line(&escape(&format!(
        "\nof the data the model is shown: the description ({} characters) and an overview ({} characters): {}",
        part("description_characters"), part("overview_characters"), part("overview_holds").as_str().unwrap_or_default()
    )));
    match &first {
        Some(call) => call.tell(terminal),
        None => terminal.line("\nno model is asked before something was run: there is no first prompt"),
    }
    terminal.line("nothing was run or spent");
    Ok(ExitCode::SUCCESS)
}

/// What of the data goes to the model before any code has run.
fn data_shown(config: &RunConfig, preview: &str) -> serde_json::Value {
    json!({
        "preview": config.preview.as_str(),
        "overview_holds": match config.preview {
            PreviewMode::Full => "names of files and columns, types, ranges, example values",
            PreviewMode::Schema => "names of files and columns, types",
        },
        "overview_characters": preview.chars().count(),
        "description_characters": config.task.description.chars().count(),
    })
}

/// The call that a run would begin with.
struct FirstCall {
    role: String,
    model: String,
    request: ChatRequest,
    tokens: u64,
    worst: WorstCase,
    leaves: String,
}

impl FirstCall {
    fn new(resolved: &Resolved, site: &Site, role: String, request: ChatRequest) -> Result<Self, Failure> {
        let texts = resolved.config.model_texts();
        let client = site.client(&texts, &resolved.models, Some(&resolved.competition.id))?;
        let Some(model) = resolved.models.get(&role) else {
            return Err(Failure::usage(format!("no model has the role `{role}`")));
        };
        let prepared = client.prepare(model).map_err(RunError::from)?;
        let leaves = match &prepared.base_url {
            Some(url) => format!(
                "to {url}: the description, {}, the agent's code and its output; never the answers",
                match resolved.config.preview {
                    PreviewMode::Full =>
                        "file and column names, sample rows and statistics of the public data",
                    PreviewMode::Schema => {
                        "file and column names and types of the public data, no values of it unless code prints them"
                    }
                }
            ),
            None if prepared.recorded => "nothing: a recorded run answers".to_owned(),
            None => "nothing: the stand-in model is part of the program".to_owned(),
        };
        let (tokens, worst) = (client.count_exact(model, &request), client.worst_case(model, &request));
        Ok(Self { role, model: model.to_string(), request, tokens, worst, leaves })
    }

    /// Dollars at worst; `None`: the model has no price here.
    fn cost(&self) -> Option<f64> {
        self.worst.cost.map(podium_types::money::Usd::dollars)
    }

    fn tell(&self, terminal: &Terminal) {
        let Self { role, model, request, tokens, worst, leaves } = self;
        terminal.line(&format!("\nfirst prompt, {role}, {model}:\n"));
        for message in &request.messages {
            terminal.line(&escape(&message.content));
        }
        terminal.line(&format!("\nprompt tokens     {tokens}"));
        let price = self.cost().map_or_else(|| "unknown: this model has no price here".to_owned(), dollars);
        let (input, output) = (worst.input_tokens, worst.output_tokens);
        terminal.line(&format!("dearest call      {price} ({input} tokens in, {output} out)"));
        terminal.line(&format!("leaves the machine  {leaves}"));
    }
}

/// The overview that the run would show: of the training table without the rows that it would hold out.
fn preview(resolved: &Resolved, data: &podium_competition::Folders) -> Result<String, Failure> {
    let options = PreviewOptions {
        max_chars: resolved.scaffold.head().data_preview.max_chars,
        schema_only: resolved.config.preview == PreviewMode::Schema,
    };
    let plan = validation::plan(resolved.scaffold.validation(), resolved.config.seed);
    let (Some(plan), Some(training)) = (plan, &resolved.competition.training) else {
        return Ok(podium_competition::preview_with(&data.public, options));
    };
    let place = podium_sandbox::scratch::folder().map_err(RunError::from)?;
    let holdout = podium_competition::Holdout::at(place.path());
    holdout.lay(&resolved.competition, &data.public, &plan).map_err(RunError::from)?;
    let instead = std::iter::once((training.file.clone(), holdout.training_table())).collect();
    Ok(podium_competition::preview::preview_instead(&data.public, options, &instead))
}
