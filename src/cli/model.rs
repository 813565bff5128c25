//! `podium model`: one chat by hand, through the same client as every run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use clap::Subcommand;
use podium_llm::{Call, CallEvent, ModelName, NoLedger, Observer};
use podium_types::chat::{ChatRequest, Message, OutputSchema, Speaker};
use serde_json::json;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::site::{SiteArguments, tell_models};
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{runtime, values};
use crate::run::error::RunError;

/// A model by hand
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask a model once
    #[command(after_help = "Example:\n  podium model chat -m openai/gpt-4.1-mini 'Say hello'")]
    Chat {
        /// The model, as provider/name
        #[arg(short, long, value_name = "M", value_parser = values::model)]
        model: String,
        /// File with a JSON schema that the answer must fit
        #[arg(long, value_name = "FILE")]
        schema: Option<PathBuf>,
        /// Output limit in tokens
        #[arg(long, value_name = "N")]
        max_output_tokens: Option<u32>,
        /// Sampling temperature
        #[arg(long, value_name = "T")]
        temperature: Option<f64>,
        /// For the stand-in model: the competition whose library answers
        #[arg(short, long, value_name = "C")]
        competition: Option<String>,
        /// Print one JSON document on standard output
        #[arg(long)]
        json: bool,
        /// The prompt
        prompt: String,
    },
}

pub(crate) fn main(
    command: &Command,
    site: &SiteArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let site = site.open(terminal)?;
    let Command::Chat { model, schema, max_output_tokens, temperature, competition, json: as_json, prompt } =
        command;
    let name: ModelName = model.parse().map_err(RunError::from)?;
    let models = BTreeMap::from([("chat".to_owned(), name.clone())]);
    let texts = site.model_texts()?;
    tell_models(texts.own.as_ref(), terminal);
    let client = site.client(&texts, &models, competition.as_deref())?;
    let request = ChatRequest {
        messages: vec![Message::text(Speaker::User, prompt.clone())],
        output: schema.as_ref().map(read_schema).transpose()?,
        temperature: *temperature,
        max_output_tokens: *max_output_tokens,
        seed: Some(1),
        ..ChatRequest::default()
    };
    let tries = Tries::new(terminal);
    let call = Call { model: &name, request: &request, ledger: &NoLedger, observer: &tries, purpose: "chat" };
    let answer = runtime()?.block_on(client.chat(&call)).map_err(RunError::from)?;
    let unfit = schema.is_some() && answer.document.is_none();
    if *as_json {
        terminal.json(&json!({ "answer": answer, "tries": tries.count.load(Ordering::Relaxed) }));
    } else if unfit {
        return Err(Failure::invalid(
            "no answer of the model fits the schema, though it was asked to mend it",
        )
        .hint("--json shows its last answer"));
    } else {
        match &answer.document {
            Some(document) => terminal.json(document),
            None => terminal.line(&escape(&answer.content)),
        }
        let usage = &answer.usage;
        let cost = usage.cost.map_or_else(|| "cost unknown".to_owned(), |cost| cost.to_string());
        terminal.error_line(&format!(
            "{}: {} + {} tokens, {cost}",
            escape(&answer.model),
            usage.input_tokens,
            usage.output_tokens
        ));
    }
    Ok(if unfit { ExitCode::from(exit::INVALID) } else { ExitCode::SUCCESS })
}

fn read_schema(file: &PathBuf) -> Result<OutputSchema, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| wrong_schema(format!("could not read {}: {error}", file.display())))?;
    let schema = serde_json::from_str(&text)
        .map_err(|error| wrong_schema(format!("{} is no JSON: {error}", file.display())))?;
    Ok(OutputSchema { name: "answer".to_owned(), schema, strict: true })
}

fn wrong_schema(message: String) -> Failure {
    Failure::usage(message).hint(
        "--schema names a file with one JSON schema, such as {\"type\": \"object\", \"properties\": {}}",
    )
}

/// Shows waits, and counts tries.
struct Tries<'a> {
    terminal: &'a Terminal,
    count: AtomicU32,
}

impl<'a> Tries<'a> {
    const fn new(terminal: &'a Terminal) -> Self {
        Self { terminal, count: AtomicU32::new(0) }
    }
}

impl Observer for Tries<'_> {
    fn event(&self, event: CallEvent) {
        match event {
            CallEvent::TryStarted { attempt, .. } => self.count.store(attempt, Ordering::Relaxed),
            CallEvent::Waiting { why, delay, attempt, of } => self.terminal.error_line(&format!(
                "waiting   {why}, for {:.1} s; try {} of {of}",
                delay.as_secs_f64(),
                attempt + 1
            )),
            CallEvent::TryFailed { message, .. } => tracing::info!(message, "a try failed"),
            _ => {}
        }
    }
}
