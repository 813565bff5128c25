//! A turn with tools: reads calls out of the text where the model has no others, and sees to a demanded call.
//!
//! A demanded call that is missing is asked for once more in words, and then as a document whose schema the model's
//! decoder enforces. What shows on the way is remembered for the model: that it ignores tools (they go as text from
//! then on), and that it does not heed their text form either (demanded calls are documents from then on). A model that
//! has called a tool by itself before is never taken for one that ignores them. Whatever fails behind the first answer
//! leaves that answer as it was: it is paid for.

use podium_types::chat::{ChatRequest, FinishReason, Message, Speaker, Tool, ToolCall};

use super::{forced, form, read};
use crate::chat::cut_at_stop;
use crate::chat::tries::Tries;
use crate::error::Error;
use crate::observer::CallEvent;
use crate::provider::{Answered, Parameter};

/// The answer to the chat's request, with its calls as calls.
pub(crate) async fn turn(tries: &mut Tries<'_>) -> Result<Answered, Error> {
    let request = tries.call.request;
    let demanded = form::allowed(&request.tools, &request.tool_choice);
    let demanded: Vec<&Tool> = if request.tool_choice.demands_call() { demanded } else { Vec::new() };
    if !demanded.is_empty()
        && lacks(tries, Parameter::ToolText)
        && let Some(document) = document(tries)
    {
        let answered = called(tries, &document, &demanded).await?;
        if is_met(&answered, &demanded) {
            return Ok(answered);
        }
        return repaired(tries, answered, &demanded, false).await;
    }
    // In words alone, or as text, a demand that is not met says nothing of the tools themselves.
    let sent_natively = tries.client.shape(tries.call.model, request).request.tool_choice.demands_call();
    let answered = called(tries, request, &demanded).await?;
    if demanded.is_empty() || is_met(&answered, &demanded) {
        return Ok(answered);
    }
    if sent_natively
        && !answered.content.trim().is_empty()
        && !tries.client.shared.has_called(tries.call.model)
    {
        tries.downgrade(Parameter::Tools);
    }
    repaired(tries, answered, &demanded, true).await
}

/// One turn, and the calls in its text.
async fn called(tries: &mut Tries<'_>, request: &ChatRequest, demanded: &[&Tool]) -> Result<Answered, Error> {
    let mut answered = tries.turn(request).await?;
    cut_at_stop(&mut answered, &request.stop);
    if answered.tool_calls.is_empty() {
        let given = tries.call.request;
        if !form::allowed(&given.tools, &given.tool_choice).is_empty() {
            take_from_text(&mut answered, demanded, given.messages.len());
        }
    } else {
        tries.client.shared.note_call(tries.call.model);
    }
    if tries.call.request.one_tool_call {
        keep_one(&mut answered, demanded);
    }
    Ok(answered)
}

/// Asks again, in words and then for a document.
async fn repaired(
    tries: &mut Tries<'_>,
    first: Answered,
    demanded: &[&Tool],
    in_words: bool,
) -> Result<Answered, Error> {
    let thought_only = first.content.trim().is_empty() && first.finish == FinishReason::Length;
    if first.finish == FinishReason::Refusal || thought_only {
        return Ok(first);
    }
    if in_words || document(tries).is_none() {
        let request = asked_again(tries, &first, demanded);
        let as_text = lacks(tries, Parameter::Tools);
        match again(tries, &request, demanded).await {
            Some(second) if is_met(&second, demanded) => return Ok(second),
            None => return Ok(first),
            Some(_) if as_text => tries.downgrade(Parameter::ToolText),
            Some(_) => {}
        }
    }
    if in_words && let Some(request) = document(tries) {
        let third = again(tries, &request, demanded).await;
        return Ok(third.filter(|answered| is_met(answered, demanded)).unwrap_or(first));
    }
    Ok(first)
}

async fn again(tries: &mut Tries<'_>, request: &ChatRequest, demanded: &[&Tool]) -> Option<Answered> {
    let problem = format!("it calls none of {}", form::names(demanded));
    tries.call.observer.event(CallEvent::Repairing { problem });
    match called(tries, request, demanded).await {
        Ok(answered) => Some(answered),
        Err(error) => {
            tracing::warn!(%error, "asking again for a tool call failed; the answer before it goes on without one");
            None
        }
    }
}

/// The conversation, the answer without a call, and the demand.
fn asked_again(tries: &Tries<'_>, first: &Answered, demanded: &[&Tool]) -> ChatRequest {
    let wording = &tries.client.shared.settings.tool_wording;
    let mut request = tries.call.request.clone();
    if !first.content.trim().is_empty() {
        let provider_state = first.provider_state.clone().filter(|_| first.tool_calls.is_empty());
        request
            .messages
            .push(Message { provider_state, ..Message::text(Speaker::Assistant, first.content.clone()) });
    }
    let text = wording.missing.trim_end().replace("{{ names }}", &form::names(demanded));
    request.messages.push(Message::text(Speaker::User, text));
    request
}

/// The request for a document, where the model enforces schemas.
fn document(tries: &Tries<'_>) -> Option<ChatRequest> {
    if lacks(tries, Parameter::Schema) {
        return None;
    }
    forced::request(tries.call.request, &tries.client.shared.settings.tool_wording)
}

fn lacks(tries: &Tries<'_>, parameter: Parameter) -> bool {
    tries.client.shape(tries.call.model, tries.call.request).without.contains(&parameter)
}

fn is_met(answered: &Answered, demanded: &[&Tool]) -> bool {
    answered.tool_calls.iter().any(|call| demanded.iter().any(|tool| tool.name == call.name))
}

/// Makes calls of what the text holds. `turn` tells this turn's made up ids from those of others.
fn take_from_text(answered: &mut Answered, demanded: &[&Tool], turn: usize) {
    let (text, calls) = match read::tagged(&answered.content) {
        Some(found) => (found.text, found.calls),
        None => (String::new(), read::plain(&answered.content, demanded)),
    };
    if calls.is_empty() {
        return;
    }
    let made_up = |(position, call): (usize, read::Written)| ToolCall {
        id: format!("call_{turn}_{position}"),
        name: call.name,
        arguments: call.arguments,
    };
    answered.tool_calls = calls.into_iter().enumerate().map(made_up).collect();
    answered.content = text;
    // It speaks of an answer without calls.
    answered.provider_state = None;
    if answered.finish == FinishReason::Stop {
        answered.finish = FinishReason::ToolCalls;
    }
}

/// Keeps the first call, or the first that was demanded.
fn keep_one(answered: &mut Answered, demanded: &[&Tool]) {
    let is_demanded = |call: &ToolCall| demanded.iter().any(|tool| tool.name == call.name);
    let kept = answered.tool_calls.iter().position(is_demanded).unwrap_or_default();
    answered.tool_calls = std::mem::take(&mut answered.tool_calls).into_iter().skip(kept).take(1).collect();
}
