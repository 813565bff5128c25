//! One chat: a turn, calls of tools in whatever form the model makes them, and with an output schema the check of its
//! document and at most one repair turn.

mod delay;
pub(crate) mod document;
mod redaction;
pub(crate) mod shape;
mod span;
mod tools;
mod tries;
mod truncation;

use podium_types::chat::{ChatAnswer, ChatRequest, FinishReason, Message, OutputSchema, Speaker};
use serde_json::Value;
use tracing::{Instrument, Span};

use crate::client::{Call, Client};
use crate::error::Error;
use crate::observer::CallEvent;
use crate::provider::{Answered, Provider};
use document::Form;
use tries::Tries;

/// Runs the chat inside a span with the OpenTelemetry names for generative AI. Bodies are never recorded.
pub(crate) async fn run(
    client: &Client,
    provider: &dyn Provider,
    call: &Call<'_>,
) -> Result<ChatAnswer, Error> {
    let span = span::open(client, call);
    let mut tries = Tries::new(client, provider, call);
    let result = answer(&mut tries, &span).instrument(span.clone()).await;
    span::close(&span, tries.attempts, &tries.used, &result);
    result
}

async fn answer(tries: &mut Tries<'_>, span: &Span) -> Result<ChatAnswer, Error> {
    let request = tries.call.request;
    let schemas = &tries.client.shared.schemas;
    let form = match &request.output {
        Some(output) => Some((output, schemas.form(output)?)),
        None => None,
    };
    let mut answered = tools::turn(tries).await?;
    let document = match &form {
        Some((output, form)) if answered.tool_calls.is_empty() => match form.read(&answered.content) {
            Ok(document) => Some(document),
            Err(problem) => repair(tries, output, form, &mut answered, problem).await,
        },
        _ => None,
    };
    span::answered(span, &answered);
    let model = answered.model.unwrap_or_else(|| tries.call.model.model.clone());
    Ok(ChatAnswer {
        content: answered.content,
        reasoning: answered.reasoning,
        tool_calls: answered.tool_calls,
        document,
        logprobs: answered.logprobs,
        finish: answered.finish,
        usage: tries.used,
        model,
        provider_state: answered.provider_state,
    })
}

/// Asks once more for the document. Whatever fails on the way, a service that is gone included, leaves the first
/// answer as it was: it is paid for, and the caller sees that it has no document. A service that stays away stops the
/// run at its next chat.
async fn repair(
    tries: &mut Tries<'_>,
    output: &OutputSchema,
    form: &Form,
    answered: &mut Answered,
    problem: String,
) -> Option<Value> {
    if answered.finish == FinishReason::Refusal || answered.content.trim().is_empty() {
        return None;
    }
    let template = &tries.client.shared.settings.repair_instruction;
    let instruction = shape::with_schema(template, output).replace("{{ problem }}", &problem);
    tries.call.observer.event(CallEvent::Repairing { problem });
    let mut request: ChatRequest = tries.call.request.clone();
    request.messages.push(Message {
        provider_state: answered.provider_state.clone(),
        ..Message::text(Speaker::Assistant, answered.content.clone())
    });
    request.messages.push(Message::text(Speaker::User, instruction));
    let repaired = match tries.turn(&request).await {
        Ok(repaired) => repaired,
        Err(error) => {
            tracing::warn!(%error, "the repair turn failed; the answer before it goes on without a document");
            return None;
        }
    };
    let document = form.read(&repaired.content).ok();
    if document.is_some() {
        *answered = repaired;
    }
    document
}

/// A server that does not take stop texts, or overlooks them, must not change the result. Calls beside the text stay
/// what the answer ended with.
fn cut_at_stop(answered: &mut Answered, stop: &[String]) {
    let ends = stop.iter().filter(|text| !text.is_empty()).filter_map(|text| answered.content.find(text));
    if let Some(end) = ends.min() {
        answered.content.truncate(end);
        if answered.tool_calls.is_empty() {
            answered.finish = FinishReason::Stop;
        }
    }
}
