//! `podium model chat`: one request through the client that runs use, and its answer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use podium_llm::{Call, ModelName, NoLedger};
use podium_types::chat::{ChatAnswer, ChatRequest, Effort, Message, Speaker};
use serde_json::json;

use super::input;
use super::watch::Watch;
use crate::cli::failure::Failure;
use crate::cli::site::tell_models;
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{exit, runtime, values};
use crate::run::error::RunError;
use crate::run::site::Site;

/// Ask a model once
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The model, as provider/name
    #[arg(short, long, value_name = "M", value_parser = values::model)]
    model: String,
    /// Instructions before the prompt; @FILE reads a file
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// File with OpenAI-style messages, before the prompt
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    /// File with a JSON schema that the answer must fit
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// File with the tools on offer
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// auto, none, required, or the name of a tool
    #[arg(long, value_name = "C", requires = "tools")]
    tool_choice: Option<String>,
    /// How hard a reasoning model thinks: minimal, low, medium, high
    #[arg(long, value_name = "E", value_parser = input::effort)]
    effort: Option<Effort>,
    /// Text that ends the answer; may be repeated
    #[arg(long, value_name = "TEXT")]
    stop: Vec<String>,
    /// Output limit in tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_output_tokens: Option<u32>,
    /// Sampling temperature
    #[arg(long, value_name = "T", value_parser = input::temperature)]
    temperature: Option<f64>,
    /// Sampling seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Ask for the log probabilities of this many likeliest tokens (0 to 20); --json shows them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=20))]
    logprobs: Option<u8>,
    /// Tries at most, where the service fails
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tries: Option<u32>,
    /// For the stand-in model: the competition whose library answers
    #[arg(short, long, value_name = "C")]
    competition: Option<String>,
    /// Print one JSON document on standard output: the answer, its tries and their timings
    #[arg(long)]
    json: bool,
    /// The prompt: TEXT, @FILE, or - for standard input
    #[arg(required_unless_present = "messages")]
    prompt: Option<String>,
}

impl Arguments {
    fn request(&self) -> Result<ChatRequest, Failure> {
        let mut messages = Vec::new();
        if let Some(system) = &self.system {
            messages.push(Message::text(Speaker::System, input::prompt(system)?));
        }
        if let Some(file) = &self.messages {
            messages.extend(input::messages(file)?);
        }
        if let Some(prompt) = &self.prompt {
            messages.push(Message::text(Speaker::User, input::prompt(prompt)?));
        }
        let tools = self.tools.as_deref().map(input::tools).transpose()?.unwrap_or_default();
        let choice = self.tool_choice.as_deref().map(|choice| input::tool_choice(choice, &tools));
        Ok(ChatRequest {
            messages,
            tool_choice: choice.transpose()?.unwrap_or_default(),
            tools,
            output: self.schema.as_deref().map(input::schema).transpose()?,
            stop: self.stop.clone(),
            temperature: self.temperature,
            max_output_tokens: self.max_output_tokens,
            effort: self.effort,
            seed: Some(self.seed),
            top_logprobs: self.logprobs,
            ..ChatRequest::default()
        })
    }
}

pub(super) fn main(arguments: &Arguments, site: &Site, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let name: ModelName = arguments.model.parse().map_err(RunError::from)?;
    let request = arguments.request()?;
    let mut site = site.clone();
    site.max_tries = arguments.tries;
    let watch = Watch::new(terminal);
    let (answer, seconds) =
        answered(&name, &request, arguments.competition.as_deref(), &site, &watch, terminal)?;
    let unfit = arguments.schema.is_some() && answer.document.is_none() && answer.tool_calls.is_empty();
    if arguments.json {
        let tries = watch.tries();
        terminal.json(&json!({
            "answer": answer,
            "cost_usd": answer.usage.cost.map(podium_types::money::Usd::dollars),
            "tries": tries.len(),
            "attempts": tries,
            "without": watch.without(),
            "seconds": seconds,
            "waited_s": watch.waited_s(),
        }));
    } else if unfit {
        return Err(Failure::invalid(
            "no answer of the model fits the schema, though it was asked to mend it",
        )
        .hint("--json shows its last answer"));
    } else {
        show(&answer, seconds, terminal);
    }
    Ok(if unfit { ExitCode::from(exit::INVALID) } else { ExitCode::SUCCESS })
}

/// One request and its answer, which nothing stores: the text on standard output, what it cost on standard error.
pub(crate) fn ask(
    model: &str,
    request: &ChatRequest,
    site: &Site,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let name: ModelName = model.parse().map_err(RunError::from)?;
    let (answer, seconds) = answered(&name, request, None, site, &Watch::new(terminal), terminal)?;
    show(&answer, seconds, terminal);
    Ok(())
}

/// The answer, and how many seconds it took.
fn answered(
    name: &ModelName,
    request: &ChatRequest,
    competition: Option<&str>,
    site: &Site,
    watch: &Watch<'_>,
    terminal: &Terminal,
) -> Result<(ChatAnswer, f64), Failure> {
    let models = BTreeMap::from([("chat".to_owned(), name.clone())]);
    let texts = site.model_texts()?;
    tell_models(texts.own.as_ref(), terminal);
    let client = site.client(&texts, &models, competition)?;
    let call = Call { model: name, request, ledger: &NoLedger, observer: watch, purpose: "chat" };
    let started = std::time::Instant::now();
    let answer = runtime()?.block_on(client.chat(&call)).map_err(by_hand)?;
    Ok((answer, started.elapsed().as_secs_f64()))
}

/// Nobody resumes a chat by hand: the hint says only what to do about the service.
fn by_hand(error: podium_llm::Error) -> Failure {
    let (remedy, passing) = (error.remedy(), error.retryable());
    let failure = Failure::from(RunError::from(error));
    match remedy {
        Some(remedy) => failure.hint(remedy),
        None if !passing => failure.hint("the same request will be refused again: change what it asks for"),
        None => failure.hint("try again later; --tries N tries more often or less"),
    }
}

fn show(answer: &ChatAnswer, seconds: f64, terminal: &Terminal) {
    match &answer.document {
        Some(document) => terminal.json(document),
        None if answer.content.is_empty() => {}
        None => terminal.line(&escape(&answer.content)),
    }
    for call in &answer.tool_calls {
        terminal.line(&escape(&format!("{}({})", call.name, call.arguments)));
    }
    let usage = &answer.usage;
    let cost = usage.cost.map_or_else(|| "cost unknown".to_owned(), |cost| cost.to_string());
    let cached = match usage.cached_input_tokens {
        0 => String::new(),
        cached => format!(" ({cached} cached)"),
    };
    let finish = match &answer.finish {
        podium_types::chat::FinishReason::Length => ", cut by the output limit",
        podium_types::chat::FinishReason::Refusal => ", refused",
        _ => "",
    };
    terminal.error_line(&format!(
        "{}: {}{cached} + {} tokens, {cost}, {seconds:.1} s{finish}",
        escape(&answer.model),
        usage.input_tokens,
        usage.output_tokens
    ));
}
