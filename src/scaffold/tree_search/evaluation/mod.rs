//! Evaluation: what a node is worth. Facts of the harness come first (how the execution ended, the format verdict of
//! the submission), then the review, then the validation metric.
//!
//! The metric is read by *sources*, each a small file that implements [`MetricSource`]: what the program printed, what
//! the review read, and whatever the harness can measure by itself from training labels. All readings are recorded as
//! signals of the node; the first that the scaffold names, and that has a value, is the metric that the search goes by.
//! A new source is one file, a word in [`SourceName`] and an arm in [`SourceName::source`].

mod folds;
mod holdout;
mod loose;
mod outcome;
pub mod printed;
pub mod review;

use futures_util::future::LocalBoxFuture;
use podium_types::execution::Execution;
use podium_types::key::EffectKey;
use podium_types::number::Number;
use podium_types::verdict::Verdict;
use serde::{Deserialize, Serialize};

use crate::context::{RunContext, Task};
use crate::node::{NodeRecord, Signal};
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;
use crate::tree_search::TreeSearch;
use crate::tree_search::evaluation::review::{Review, ReviewSpec};

/// How a node is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationSpec {
    /// Sources of the metric: the first that has a value decides.
    pub metric: Vec<SourceName>,
    /// Sources that are only recorded.
    #[serde(default)]
    pub record: Vec<SourceName>,
    /// A metric that is so many times the best good node's, or that part of it, is not believed; none: anything is.
    pub outlier_factor: Option<f64>,
    /// Folds of the cross-validation that prompts suggest; 1: no word of it.
    pub k_fold: u32,
    /// A model reads each output; none: the facts and the sources decide alone.
    pub review: Option<ReviewSpec>,
}

/// The sources that a file may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    /// The last line `validation <metric>: <number>` of the output.
    Printed,
    /// The number that the review took from the output.
    Review,
    /// The score of predictions for rows that the harness holds out for the search.
    Holdout,
    /// The score of out-of-fold predictions, with the spread between the folds.
    Folds,
}

impl SourceName {
    fn source(self) -> &'static dyn MetricSource {
        match self {
            Self::Printed => &printed::Printed,
            Self::Review => &review::Reviewed,
            Self::Holdout => &holdout::Holdout,
            Self::Folds => &folds::Folds,
        }
    }
}

/// An executed node on its way to a judgement: what a source may look at.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    /// The run; for sources that ask the harness.
    pub(crate) context: &'a dyn RunContext,
    /// The node as far as it is known.
    pub(crate) node: &'a NodeRecord,
    /// How its program ran.
    pub(crate) execution: &'a Execution,
    /// The review, where one was asked for and could be read.
    pub(crate) review: Option<&'a Review>,
}

/// What a source read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// The metric; it may be infinite or not a number. None: this source has nothing to say.
    pub(crate) value: Option<f64>,
    /// Standard deviation between folds.
    pub(crate) spread: Option<f64>,
    /// Why it has nothing to say, where the program is to hear of it.
    pub(crate) remark: Option<String>,
}

/// Where a validation metric comes from.
pub(crate) trait MetricSource {
    /// Its name in scaffold files and signals.
    fn name(&self) -> &'static str;

    /// Reads the metric of one node.
    fn measure<'a>(&'a self, case: Case<'a>) -> LocalBoxFuture<'a, Result<Reading, StrategyError>>;
}

/// Judges a node that was executed: fills in signals, metric, summary, flags, and why it is buggy. A review that cannot be
/// read is an opinion less, and no bug of the program: facts and sources decide then. `best` is the metric of the best
/// good node when this one was proposed. Returns what a later prompt is to tell of it besides.
pub(crate) async fn evaluate(
    search: &TreeSearch,
    context: &dyn RunContext,
    node: &mut NodeRecord,
    execution: &Execution,
    told: &RunVariables,
    best: Option<f64>,
) -> Result<Vec<String>, StrategyError> {
    let spec = &search.spec.evaluation;
    let review = match &spec.review {
        Some(review) => review::ask(search, context, review, node, told).await?,
        None => None,
    };
    let case = Case { context, node, execution, review: review.as_ref() };
    let Measured { signals, chosen, mut remarks } = measure(spec, case).await?;
    tell_contradictions(case, &signals).await?;
    let metric = chosen.map(|place| signals.get(place).map_or(f64::NAN, |signal| signal.value.0));
    node.metric_source = chosen.and_then(|place| signals.get(place)).map(|signal| signal.source.clone());
    node.signals = signals;
    let metric = metric.filter(|metric| metric.is_finite());
    let unread = spec.review.is_some() && review.is_none();
    let found_bug = review.as_ref().is_some_and(|review| review.is_bug);
    let doubt = doubt(context.task(), spec, metric, best, remarks.first());
    let opinion = match &doubt {
        _ if found_bug => Some("the review found a bug".to_owned()),
        Some(doubt) if unread => Some(format!("the review could not be read; {doubt}")),
        doubt => doubt.clone(),
    };
    node.buggy =
        outcome::failure(execution).or_else(|| fault_of(&node.submission)).or_else(|| opinion.clone());
    node.metric = metric.map(Number);
    node.flags.clone_from(&remarks);
    if unread {
        node.flags.push("the review could not be read".to_owned());
    }
    if remarks.is_empty() && node.buggy == opinion {
        // Nothing else went wrong that the next program could be told of.
        remarks.extend(doubt);
    }
    if matches!(node.submission, Verdict::Valid { copies_sample: true, .. }) {
        node.flags.push("the submission copies the sample".to_owned());
    }
    node.summary = review.map(|review| review.summary).unwrap_or_default();
    Ok(remarks)
}

/// What all sources read.
struct Measured {
    signals: Vec<Signal>,
    /// The place of the one that counts.
    chosen: Option<usize>,
    remarks: Vec<String>,
}

async fn measure(spec: &EvaluationSpec, case: Case<'_>) -> Result<Measured, StrategyError> {
    let (mut signals, mut remarks): (Vec<Signal>, Vec<String>) = (Vec::new(), Vec::new());
    let mut chosen = None;
    for (place, name) in spec.metric.iter().chain(&spec.record).enumerate() {
        let source = name.source();
        if signals.iter().any(|signal| signal.source == source.name()) {
            continue;
        }
        let Reading { value, spread, remark } = source.measure(case).await?;
        remarks.extend(remark);
        let Some(value) = value else { continue };
        if place < spec.metric.len() && chosen.is_none() {
            chosen = Some(signals.len());
        }
        signals.push(Signal {
            source: source.name().to_owned(),
            value: Number(value),
            spread: spread.map(Number),
        });
    }
    Ok(Measured { signals, chosen, remarks })
}

fn fault_of(submission: &Verdict) -> Option<String> {
    match submission {
        Verdict::Valid { .. } => None,
        Verdict::Invalid { reason } => Some(format!("invalid submission: {reason}")),
        Verdict::Missing { found } => Some(format!("no submission: {found}")),
    }
}

/// Why the metric is not believed; none: it is.
fn doubt(
    task: &Task,
    spec: &EvaluationSpec,
    metric: Option<f64>,
    best: Option<f64>,
    remark: Option<&String>,
) -> Option<String> {
    let Some(metric) = metric else {
        return Some(match remark {
            Some(remark) => format!("no finite validation metric: {remark}"),
            None => "no finite validation metric".to_owned(),
        });
    };
    // A sign turned round, a per cent, a number made up: each would win for ever.
    let (name, range) = (&task.metric, task.metric_range);
    let impossible = !range.holds(metric);
    impossible
        .then(|| format!("its validation {name} {metric} cannot be: a {name} is {range}"))
        .or_else(|| outlier(spec, metric, best))
}

/// A metric far from all that is known is a mistake more often than a discovery (ML-Master, arXiv:2506.16499, does so
/// with a factor of 100). A zero on either side has no ratio, and is believed.
fn outlier(spec: &EvaluationSpec, metric: f64, best: Option<f64>) -> Option<String> {
    let (factor, best) = (spec.outlier_factor?, best?);
    let ratio = (metric / best).abs();
    let far = ratio.is_finite() && ratio > 0.0 && (ratio > factor || ratio < 1.0 / factor);
    far.then(|| format!("its metric {metric} is not believed: the best so far is {best}"))
}

/// Tells people where program and review disagree on the metric, or review and competition on its direction. Prompts
/// are not told: they show what counts.
async fn tell_contradictions(case: Case<'_>, signals: &[Signal]) -> Result<(), StrategyError> {
    let Some(review) = case.review else { return Ok(()) };
    let (id, task) = (case.node.id, case.context.task());
    let name = &task.metric;
    let printed = signals.iter().find(|signal| signal.source == printed::NAME).map(|signal| signal.value);
    if let Some(printed) = printed
        && !review.is_bug
        && printed::contradict(printed.0, review.metric)
    {
        let read = review.metric.map_or_else(|| "none".to_owned(), |metric| Number(metric).to_string());
        let text = format!(
            "node {id} printed {printed} as its validation {name}, the review read {read}: the first counts"
        );
        case.context.note(EffectKey::node(id, "metric", 0), text).await?;
    }
    let lower = task.direction == crate::context::Direction::Lower;
    if review.lower_is_better.is_some_and(|opinion| opinion != lower) {
        let (said, is) = if lower { ("higher", "lower") } else { ("lower", "higher") };
        let text = format!(
            "the review of node {id} takes a {said} {name} for better; the competition says {is}, and that counts"
        );
        case.context.note(EffectKey::node(id, "direction", 0), text).await?;
    }
    Ok(())
}
