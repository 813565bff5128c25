//! The loop: step after step until the agent is done. Limits need no care here: when one fires, the loop is dropped, and
//! the last valid submission is handed in.

use podium_types::key::EffectKey;

use super::ResearchLoop;
use super::bench::{Bench, Remembered};
use super::history::{History, Past};
use super::spec::NoAnswer;
use super::step::{Ended, closed, take};
use crate::context::RunContext;
use crate::effect::PreviewRequest;
use crate::strategy::{Finished, StrategyError};

pub(crate) async fn run(agent: &ResearchLoop, context: &dyn RunContext) -> Result<Finished, StrategyError> {
    let max_chars = agent.common.head.data_preview.max_chars;
    let preview = context.preview(EffectKey::run("preview"), PreviewRequest { max_chars }).await?;
    let remembered = Remembered::default();
    let mut history = History::default();
    let mut number = 0;
    loop {
        context.begin_step(EffectKey::step(number, "begin")).await?;
        let plan = history.plan.clone();
        let bench = Bench::new(agent, context, &remembered, &plan, number);
        history.settle(&bench).await?;
        let ended = take(&bench, &preview, &history).await?;
        bench.record().await?;
        match ended {
            Ended::Taken(past, plan) => {
                history.plan = plan;
                history.push(Past { number, ..past });
            }
            Ended::Done => {
                return Ok(Finished { reason: "the agent gave its final answer".to_owned() });
            }
            Ended::NoAnswer(_) if agent.spec.turn.no_answer == NoAnswer::End => {
                let reason = format!("no answer in form after {} tries", agent.spec.turn.tries);
                return Ok(Finished { reason });
            }
            Ended::NoAnswer(fault) => {
                let observation = closed(&bench, &fault)?;
                history.push(Past { number, fields: Vec::new(), observation, misread: true });
            }
        }
        number += 1;
    }
}
