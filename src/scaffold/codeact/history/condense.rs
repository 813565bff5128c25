//! Leaving turns out, with a summary of them where a model writes one. A summary that cannot be had is no reason to
//! stop: the turns are left out without.

use podium_types::chat::{Message, Speaker};
use podium_types::key::EffectKey;
use podium_types::tokens::estimate_text;
use serde::Serialize;

use super::{Forgotten, History, Turn};
use crate::codeact::CodeAct;
use crate::codeact::variables::{CondenseVariables, CondensedVariables};
use crate::context::RunContext;
use crate::prompts::budget::Part;
use crate::prompts::cut::Cutter;
use crate::prompts::variables::submission_path;
use crate::strategy::StrategyError;

/// A turn, for the template of the request.
#[derive(Clone, Debug, Serialize)]
pub struct TurnVariables {
    /// The step.
    pub number: u32,
    /// What the agent said.
    pub said: String,
    /// Its calls: name and arguments.
    pub calls: Vec<String>,
    /// What came of them.
    pub results: Vec<String>,
}

/// Leaves turns out up to a place that was planned.
pub(crate) async fn condense(
    agent: &CodeAct,
    context: &dyn RunContext,
    history: &mut History,
    until: usize,
    key: EffectKey,
) -> Result<(), StrategyError> {
    let spec = &agent.spec.condensation;
    let start = history.keep_first.max(history.forgotten.until);
    let gone = Gone {
        before: &history.forgotten.summary,
        turns: history.turns.get(start..until).unwrap_or_default(),
        max_tokens: history.summary_tokens(spec, until),
    };
    let summary = match &spec.role {
        Some(role) => summary(agent, context, role, &gone, key).await?,
        None => String::new(),
    };
    let turns = until.saturating_sub(history.keep_first);
    let variables = CondensedVariables { turns, summary: &summary };
    let notice = agent.common.prompts.render(&agent.spec.prompts.condensed, &variables)?;
    history.forgotten = Forgotten { until, notice, summary };
    Ok(())
}

/// What a summary is made from.
struct Gone<'a> {
    /// The summary before it.
    before: &'a str,
    turns: &'a [Turn],
    /// Tokens that the summary may have.
    max_tokens: u64,
}

async fn summary(
    agent: &CodeAct,
    context: &dyn RunContext,
    role: &str,
    gone: &Gone<'_>,
    key: EffectKey,
) -> Result<String, StrategyError> {
    let spec = &agent.spec.condensation;
    let cutter = Cutter::new(&agent.common.prompts, &agent.spec.prompts.remark);
    let each = spec.turn_tokens.min(spec.material_tokens / (gone.turns.len() as u64).max(1));
    let turns: Vec<TurnVariables> =
        gone.turns.iter().map(|turn| told(turn, each, cutter)).collect::<Result<_, _>>()?;
    let variables = CondenseVariables {
        summary: gone.before,
        turns,
        submission_path: submission_path(context.task()),
        // English has about half of the tokens that we estimate.
        max_tokens: gone.max_tokens / 2,
    };
    let prompt = agent.common.prompts.render(&agent.spec.prompts.condense, &variables)?;
    let request = agent.common.request(role, vec![Message::text(Speaker::User, prompt)], 1);
    let answer = context.chat(key, role, request).await?;
    let text = answer.map(|answer| answer.content).unwrap_or_default();
    let text = crate::tree_search::answer::without_thinking(&text);
    cutter.middle(Part::Summary, text.trim(), gone.max_tokens)
}

/// A turn in so many tokens: half for what was said and called, half for what came of it.
fn told(turn: &Turn, tokens: u64, cutter: Cutter<'_>) -> Result<TurnVariables, StrategyError> {
    let cut = |text: &str, tokens: u64| {
        if estimate_text(text) <= tokens {
            Ok(text.to_owned())
        } else {
            cutter.middle(Part::Output, text, tokens)
        }
    };
    let parts = 2 * (turn.results.len() as u64 + 1);
    let calls = turn
        .message
        .tool_calls
        .iter()
        .map(|call| cut(&format!("{} {}", call.name, call.arguments), tokens / parts));
    let results = turn.results.iter().map(|told| cut(&told.text, tokens / parts));
    Ok(TurnVariables {
        number: turn.number,
        said: cut(&turn.message.content, tokens / 4)?,
        calls: calls.collect::<Result<_, _>>()?,
        results: results.collect::<Result<_, _>>()?,
    })
}
