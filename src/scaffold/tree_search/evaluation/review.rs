//! The review: a model reads a run's output and says whether it went wrong, what it found, and which validation
//! metric it printed. Which way the metric improves is fixed by the competition; the model's opinion of it is asked
//! for as a sign of whether it knows what it reads, and never used.
//!
//! The schema is strict; the reading is not: an integer is a number, so is a number in quotes, and NaN is none.
//! The original took an integer metric for a bug and let a NaN win when less is better.

use futures_util::future::LocalBoxFuture;
use podium_types::chat::{ChatAnswer, FinishReason, Message, OutputSchema, Speaker};
use podium_types::key::EffectKey;
use podium_types::tokens::estimate_text;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::{RunContext, Task};
use crate::node::NodeRecord;
use crate::prompts::budget::{Part, Tokens};
use crate::prompts::cut::{self, Cutter};
use crate::prompts::sections::description;
use crate::prompts::variables::{RunVariables, submission_path, word};
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::evaluation::{Case, MetricSource, Reading, loose};
use crate::tree_search::operators::request::{Attempt, Built};
use crate::tree_search::variables::ReviewVariables;

/// The name of this source.
pub const NAME: &str = "review";

/// How a model reads a run's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReviewSpec {
    /// Template, a path below `prompts/`.
    pub prompt: String,
    /// The role whose model reviews.
    pub role: String,
    /// Reviews to ask for before the node counts as buggy.
    pub tries: u32,
}

/// The metric as the review read it.
pub(crate) struct Reviewed;

impl MetricSource for Reviewed {
    fn name(&self) -> &'static str {
        NAME
    }

    fn measure<'a>(&'a self, case: Case<'a>) -> LocalBoxFuture<'a, Result<Reading, StrategyError>> {
        let value = case.review.and_then(|review| review.metric);
        Box::pin(std::future::ready(Ok(Reading { value, ..Reading::default() })))
    }
}

/// What the reviewer said.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// Whether it saw a failure or a bug.
    pub is_bug: bool,
    /// Its findings.
    pub summary: String,
    /// The validation metric that it took from the output; always finite.
    pub metric: Option<f64>,
    /// Which way it believes that the metric improves.
    pub lower_is_better: Option<bool>,
}

/// Asks for a review; `None` when no answer could be read.
pub(crate) async fn ask(
    search: &TreeSearch,
    context: &dyn RunContext,
    spec: &ReviewSpec,
    node: &NodeRecord,
    run: &RunVariables,
) -> Result<Option<Review>, StrategyError> {
    let mut attempt = Attempt::first(search.spec.prompt_budget.limits());
    for number in 0..spec.tries {
        let shown = Shown::new(search, context.task(), node, run, &attempt.limits)?;
        let built = shown.build(search, context.task(), spec, number > 0, attempt.output_factor)?;
        let key = EffectKey::node(node.id, "review", number);
        let answer = match context.chat(key, &spec.role, built.request.clone()).await? {
            Ok(answer) => answer,
            Err(error) => {
                attempt.after_error(&built, &error);
                continue;
            }
        };
        if let Some(review) = read(&answer) {
            return Ok(Some(review));
        }
        if answer.finish == FinishReason::Length {
            attempt.output_factor = attempt.output_factor.saturating_mul(2);
        }
    }
    Ok(None)
}

/// The parts of the prompt, each inside its limit.
struct Shown {
    description: String,
    plan: String,
    code: String,
    run: RunVariables,
}

impl Shown {
    fn new(
        search: &TreeSearch,
        task: &Task,
        node: &NodeRecord,
        run: &RunVariables,
        limits: &Tokens,
    ) -> Result<Self, StrategyError> {
        let cutter = Cutter::new(&search.common.prompts, &search.spec.prompt_budget.remark);
        Ok(Self {
            description: description(&task.description, limits.of(Part::Description), cutter)?,
            plan: cutter.middle(Part::Plan, &node.plan, limits.of(Part::Plan))?,
            code: cutter.middle(Part::Code, &node.code, limits.of(Part::Code))?,
            run: cut::run(run, limits.of(Part::Output)),
        })
    }

    fn build(
        &self,
        search: &TreeSearch,
        task: &Task,
        spec: &ReviewSpec,
        retry: bool,
        output_factor: u32,
    ) -> Result<Built, StrategyError> {
        let variables = ReviewVariables {
            description: &self.description,
            metric: &task.metric,
            direction: word(task.direction),
            submission_path: submission_path(task),
            plan: &self.plan,
            code: &self.code,
            run: &self.run,
            retry,
        };
        let prompt = search.common.prompts.render(&spec.prompt, &variables)?;
        let messages = vec![Message::text(Speaker::User, prompt)];
        let mut request = search.common.request(&spec.role, messages, output_factor);
        request.output = Some(OutputSchema { name: "review".to_owned(), schema: schema(), strict: true });
        let mut tokens = Tokens::default();
        tokens.add(Part::Description, estimate_text(&self.description));
        tokens.add(Part::Plan, estimate_text(&self.plan));
        tokens.add(Part::Code, estimate_text(&self.code));
        tokens.add(Part::Output, cut::output_tokens(&self.run));
        Ok(Built { request, tokens })
    }
}

/// The schema of the document. What the fields mean is said by the template.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "is_bug": {"type": "boolean"},
            "summary": {"type": "string"},
            "metric": {"type": ["number", "null"]},
            "lower_is_better": {"type": ["boolean", "null"]}
        },
        "required": ["is_bug", "summary", "metric", "lower_is_better"],
        "additionalProperties": false
    })
}

/// Reads a review from the checked document, or else from the last object in the text that is one.
fn read(answer: &ChatAnswer) -> Option<Review> {
    let document = answer.document.as_ref().and_then(review_of);
    document.or_else(|| loose::objects(&answer.content).iter().rev().find_map(review_of))
}

fn review_of(document: &Value) -> Option<Review> {
    let is_bug = match document.get("is_bug")? {
        Value::Bool(is_bug) => *is_bug,
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => true,
            "false" | "no" => false,
            _ => return None,
        },
        _ => return None,
    };
    let summary = document.get("summary").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let metric = match document.get("metric") {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    let lower_is_better = document.get("lower_is_better").and_then(Value::as_bool);
    Some(Review { is_bug, summary, metric: metric.filter(|metric| metric.is_finite()), lower_is_better })
}

#[cfg(test)]
mod tests {
    use super::*;
    use podium_types::usage::Usage;

    fn answer(document: Option<Value>, content: &str) -> ChatAnswer {
        ChatAnswer {
            logprobs: Vec::new(),
            content: content.to_owned(),
            reasoning: None,
            tool_calls: Vec::new(),
            document,
            finish: FinishReason::Stop,
            usage: Usage::NOTHING,
            model: String::new(),
            provider_state: None,
        }
    }

    #[test]
    fn metrics_are_read_in_any_dress() {
        let cases = [
            (json!(0.5), Some(0.5)),
            (json!(1), Some(1.0)),
            (json!(0), Some(0.0)),
            (json!(-3), Some(-3.0)),
            (json!(" 0.81 "), Some(0.81)),
            (json!("1e-3"), Some(0.001)),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!("81 %"), None),
            (json!([0.5]), None),
            (json!(null), None),
        ];
        for (metric, expected) in cases {
            let document = json!({"is_bug": false, "summary": " Fine. ", "metric": metric});
            let review = read(&answer(Some(document), "")).unwrap();
            assert_eq!(
                review,
                Review { is_bug: false, summary: "Fine.".into(), metric: expected, lower_is_better: None },
                "{metric}"
            );
        }
    }

    #[test]
    fn a_document_in_the_text_will_do_and_none_will_not() {
        let text = "Sure:\n```json\n{\"is_bug\": \"True\", \"metric\": null}\n```";
        let expected = Review { is_bug: true, summary: String::new(), metric: None, lower_is_better: None };
        assert_eq!(read(&answer(None, text)), Some(expected));
        let python =
            "{\"is_bug\": False, \"summary\": \"True to None.\", \"metric\": NaN, \"lower_is_better\": True}";
        let review = read(&answer(None, python)).unwrap();
        assert_eq!((review.is_bug, review.summary.as_str(), review.metric), (false, "True to None.", None));
        assert_eq!(review.lower_is_better, Some(true));
        // The last that is a review counts: models think aloud before they answer.
        let several =
            "{\"is_bug\": true} no: {\"is_bug\": \"no\", \"metric\": Infinity} {\"summary\": \"end\"}";
        let expected = Review { is_bug: false, summary: String::new(), metric: None, lower_is_better: None };
        assert_eq!(read(&answer(None, several)), Some(expected));
        for text in ["", "no bug", "{}", "} {", "{\"is_bug\": 3}", "{\"is_bug\": fal"] {
            assert_eq!(read(&answer(None, text)), None, "{text}");
        }
        assert_eq!(read(&answer(Some(json!([])), "")), None);
    }
}
