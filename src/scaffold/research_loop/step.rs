//! One step: the prompt, an answer in form, the action, the observation.

use podium_types::chat::{ChatError, ChatRequest, Message, Speaker};
use podium_types::log::{Line, LineKind};

use super::ResearchLoop;
use super::action::{self, Action, Outcome};
use super::answer::{self, AnswerFault, FieldFault, InputFault, Reading};
use super::bench::Bench;
use super::diff::unified;
use super::digest::digest;
use super::history::{History, Past};
use super::words::{Question, Told, Turn, Words};
use crate::context::{Budget, Task};
use crate::prompts::budget::Part;
use crate::prompts::cut::Cutter;
use crate::prompts::variables::{submission_path, word};
use crate::strategy::StrategyError;

/// Ends an answer before the model makes observations up.
const STOP: &str = "Observation:";

/// The template of what stands where something was cut.
pub(super) const CUT: &str = "common/cut.md.tera";

/// How a step ended.
pub(crate) enum Ended {
    /// It was taken in.
    Taken(Past, String),
    /// The agent is done.
    Done,
    /// No answer was in form.
    NoAnswer(String),
}

/// The prompt of a step.
pub(crate) fn prompt(
    agent: &ResearchLoop,
    task: &Task,
    budget: &Budget,
    preview: &str,
    history: &History,
    faults: &[String],
    room: u64,
) -> Result<String, StrategyError> {
    let spec = &agent.spec;
    let cutter = Cutter::new(&agent.common.prompts, CUT);
    let description =
        cutter.end(Part::Description, &task.description, spec.turn.description_tokens.min(room))?;
    let mut steps = history.shown(spec.turn.observations_in_context);
    for step in &mut steps {
        for (_, text) in &mut step.fields {
            *text = cutter.middle(Part::Plan, text, room)?;
        }
        if let Some(observation) = &mut step.observation {
            *observation = cutter.middle(Part::Output, observation, room)?;
        }
    }
    let turn = Turn {
        description: &description,
        preview: &cutter.end(Part::Preview, preview, room)?,
        packages: agent.common.packages(task),
        metric: &task.metric,
        direction: word(task.direction),
        submission_path: submission_path(task),
        actions: &told(agent),
        memory: &cutter.middle(Part::Output, &history.memory(), room)?,
        plan: &cutter.middle(Part::Plan, &history.plan, room)?,
        steps: &steps,
        earlier: history.left,
        time_limit_ms: budget.run_limit_ms,
        step_limit: budget.step_limit,
        execution_limit_ms: budget.execution_limit_ms,
        faults,
    };
    agent.common.prompts.render(&spec.turn.prompt, &turn)
}

/// The actions as the prompt tells them.
fn told(agent: &ResearchLoop) -> Vec<Told> {
    let spec = &agent.spec;
    let on = spec.actions.on.iter().filter_map(|name| action::find(spec, name));
    let commands = spec.command.iter().map(|command| command as &dyn Action);
    on.chain(commands)
        .map(|action| Told {
            name: action.name().to_owned(),
            description: action.description().unwrap_or_default().to_owned(),
            arguments: action
                .arguments()
                .into_iter()
                .map(|name| (name.to_owned(), action.hint(name).unwrap_or_default().to_owned()))
                .collect(),
            observation: action.observation().unwrap_or_default().to_owned(),
        })
        .collect()
}

/// The request of a step's first try.
pub(crate) fn request(
    agent: &ResearchLoop,
    task: &Task,
    budget: &Budget,
    prompt: String,
) -> Result<ChatRequest, StrategyError> {
    let rules = agent.common.rules(task, budget)?;
    let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
    let request = agent.common.request(&agent.spec.turn.role, messages, 1);
    Ok(ChatRequest { stop: vec![STOP.to_owned()], ..request })
}

/// Takes one step.
pub(crate) async fn take(
    bench: &Bench<'_>,
    preview: &str,
    history: &History,
) -> Result<Ended, StrategyError> {
    let (agent, spec) = (bench.agent, &bench.agent.spec);
    let signatures = action::signatures(spec);
    let mut faults: Vec<String> = Vec::new();
    let mut room = spec.turn.description_tokens.max(spec.actions.observation_tokens);
    for _ in 0..spec.turn.tries {
        let (task, budget) = (bench.context.task(), bench.context.budget());
        let text = prompt(agent, task, &budget, preview, history, &faults, room)?;
        let answer = match bench.chat("think", &spec.turn.role, text, vec![STOP.to_owned()]).await? {
            Ok(answer) => answer,
            Err(error) => {
                let reason = error.to_string();
                // What does not fit is shown shorter; whatever it was, it is told.
                if matches!(error, ChatError::ContextTooLong { .. }) {
                    room /= 2;
                }
                bench.log_line(Line::new(LineKind::Refused, "no answer", reason.clone()).failed(true));
                faults.push(bench.say(&Words { say: "no_reply", reason: &reason, ..Words::default() })?);
                continue;
            }
        };
        let taken = match answer::read(&answer, &signatures) {
            Ok(reading) => Some(act(bench, &reading).await?),
            Err(fault) => {
                bench.log(LineKind::Said, "answer", answer.trim());
                bench.log_line(Line::new(LineKind::Refused, "answer", fault.to_string()).failed(true));
                faults.push(malformed(bench, &fault)?);
                None
            }
        };
        if let Some(ended) = taken {
            return Ok(ended);
        }
    }
    Ok(Ended::NoAnswer(faults.pop().unwrap_or_default()))
}

/// What is wrong with an answer, for the model.
fn malformed(bench: &Bench<'_>, fault: &AnswerFault) -> Result<String, StrategyError> {
    let reason = fault.to_string();
    let say = match fault {
        AnswerFault::Unknown { .. } => "unknown_action",
        AnswerFault::Fields(FieldFault::Empty) => "empty_answer",
        AnswerFault::Fields(_) => "malformed",
    };
    let on = bench.agent.spec.actions.on.iter().cloned();
    let names: Vec<String> =
        on.chain(bench.agent.spec.command.iter().map(|command| command.name.clone())).collect();
    bench.say(&Words { say, reason: &reason, names: &names, ..Words::default() })
}

/// Takes the action of an answer.
async fn act(bench: &Bench<'_>, reading: &Reading<'_>) -> Result<Ended, StrategyError> {
    let plan = answer::plan_of(reading.fields.plan);
    tell(bench, reading, &plan);
    let (observation, misread) = match &reading.input {
        Ok(input) => match action::take(bench, &reading.action, input).await? {
            Outcome::Observation(text) => (text, false),
            Outcome::End => return Ok(Ended::Done),
        },
        Err(fault) => (bad_input(bench, reading, fault)?, true),
    };
    let observation = bounded(bench, &reading.action, &observation).await?;
    let fields = [
        reading.fields.reflection,
        &plan,
        reading.fields.fact_check,
        reading.fields.thought,
        reading.fields.action,
        reading.fields.action_input,
    ];
    let fields = answer::FIELDS.into_iter().zip(fields).map(|(name, text)| (name, text.trim().to_owned()));
    let observation = closed(bench, &observation)?;
    let failed = misread || bench.has_failed();
    bench.log_line(Line::new(LineKind::Seen, &reading.action, observation.trim()).failed(failed));
    Ok(Ended::Taken(Past { number: 0, fields: fields.collect(), observation, misread }, plan))
}

/// An answer, for people: its plan as far as it is new.
fn tell(bench: &Bench<'_>, reading: &Reading<'_>, plan: &str) {
    let fields = &reading.fields;
    let said = |name: &str, text: &str| {
        if !text.trim().is_empty() {
            bench.log(LineKind::Said, name, text.trim());
        }
    };
    said("Reflection", fields.reflection);
    said("Fact Check", fields.fact_check);
    said("Thought", fields.thought);
    let change = match bench.plan {
        "" => plan.to_owned(),
        before => unified(before, plan, "before", "now"),
    };
    if !change.is_empty() {
        bench.log(LineKind::Plan, "Research Plan and Status", change);
    }
    bench.log_line(match &reading.input {
        Ok(input) => Line::act(&reading.action, input),
        Err(_) => Line::new(LineKind::Act, &reading.action, fields.action_input.trim()),
    });
}

fn bad_input(bench: &Bench<'_>, reading: &Reading<'_>, fault: &InputFault) -> Result<String, StrategyError> {
    let signatures = action::signatures(&bench.agent.spec);
    let names = signatures.into_iter().find(|signature| signature.name == reading.action);
    let names = names.map(|signature| signature.arguments).unwrap_or_default();
    let words = Words {
        say: "bad_input",
        action: &reading.action,
        reason: &fault.to_string(),
        names: &names,
        ..Words::default()
    };
    bench.say(&words)
}

/// An observation of a bearable length: summed up where the scaffold says so, and trimmed in any case.
async fn bounded(bench: &Bench<'_>, action: &str, observation: &str) -> Result<String, StrategyError> {
    let limits = &bench.agent.spec.actions;
    let long = limits.summarise_above_chars.is_some_and(|most| observation.chars().count() > most);
    if !long {
        return trimmed(bench, observation, limits.observation_tokens);
    }
    let question = Question { text: observation, source: action, ..Question::default() };
    let (summary, whole) =
        digest(bench, ("summarise", "summarise_all"), &question, limits.most_summary_blocks).await?;
    let summary = summary.split_once("[Observation]:").map_or(summary.as_str(), |(_, summary)| summary);
    let summary = trimmed(bench, summary.trim(), limits.observation_tokens)?;
    bench.say(&Words { say: "summarised", text: &summary, flag: !whole, ..Words::default() })
}

/// The two ends of a text, with what is left out between them.
pub(crate) fn trimmed(bench: &Bench<'_>, text: &str, tokens: u64) -> Result<String, StrategyError> {
    Cutter::new(&bench.agent.common.prompts, CUT).middle(Part::Output, text, tokens)
}

/// An observation with the time and the steps that remain.
pub(crate) fn closed(bench: &Bench<'_>, observation: &str) -> Result<String, StrategyError> {
    let budget = bench.context.budget();
    let words = Words {
        say: "remaining",
        time_left_ms: budget.run_ms_left(),
        steps_left: budget.steps_left(),
        ..Words::default()
    };
    Ok(format!("{}\n\n{}", observation.trim_end(), bench.say(&words)?))
}
