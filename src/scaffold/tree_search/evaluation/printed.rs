//! The validation metric as a program printed it: the last line `validation <metric>: <number>` of its output.
//!
//! Prompts ask for that line, so where it stands it is the program's own word, and it counts before what the review
//! read: a model may round, or take another number for it. Without such a line, or with one that holds no number
//! (another scaffold's prompts, a unit after the number), the review alone decides. Either way the metric is what the
//! program says of itself, one signal among others.

use futures_util::future::LocalBoxFuture;
use podium_types::execution::Output;

use crate::prompts::execution::readable;
use crate::strategy::StrategyError;
use crate::tree_search::evaluation::{Case, MetricSource, Reading};

/// The name of this source.
pub const NAME: &str = "printed";

/// The program's own word.
pub(crate) struct Printed;

impl MetricSource for Printed {
    fn name(&self) -> &'static str {
        NAME
    }

    fn measure<'a>(&'a self, case: Case<'a>) -> LocalBoxFuture<'a, Result<Reading, StrategyError>> {
        let value = metric(&case.execution.output, &case.context.task().metric);
        Box::pin(std::future::ready(Ok(Reading { value, ..Reading::default() })))
    }
}

/// Numbers further apart than this, relative to the larger, contradict each other. It decides only whether people are
/// told.
const ROUNDING: f64 = 1e-3;

/// The number in the last such line; it may be infinite or not a number.
pub fn metric(output: &Output, name: &str) -> Option<f64> {
    let label = plain(&format!("validation {name}"));
    let last = |text: &str| {
        let text = readable(text);
        text.lines().rev().find_map(|line| {
            let (before, value) = line.split_once(':')?;
            (plain(before) == label).then(|| number(value))
        })
    };
    if output.dropped_bytes == 0 {
        return last(&format!("{}{}", output.head, output.tail)).flatten();
    }
    last(&output.tail).or_else(|| last(&output.head)).flatten()
}

/// Whether the review read something else than what was printed.
pub fn contradict(printed: f64, read: Option<f64>) -> bool {
    match read {
        Some(read) if printed.is_finite() => {
            (printed - read).abs() > ROUNDING * printed.abs().max(read.abs())
        }
        Some(_) => true,
        None => printed.is_finite(),
    }
}

/// Without what people and models write differently: case, underscores, emphasis.
fn plain(label: &str) -> String {
    let words = label.split(|character: char| character.is_whitespace() || "_-`*".contains(character));
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

fn number(text: &str) -> Option<f64> {
    let word = text.split_whitespace().next()?;
    word.trim_matches(['`', '*', ',', ';']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Output {
        Output { head: text.into(), ..Output::default() }
    }

    #[test]
    fn the_last_line_of_the_form_counts() {
        let cases = [
            ("validation log_loss: 0.5\n", Some(0.5)),
            ("validation log_loss: 0.7\nfold\nvalidation log_loss: 0.5\nSaved.\n", Some(0.5)),
            ("Validation Log Loss: 5e-1 (std 0.01)", Some(0.5)),
            ("  **validation log-loss**: 1\r\n", Some(1.0)),
            ("10%\r100%\rvalidation log_loss: -2,\n", Some(-2.0)),
            ("validation log_loss: inf", Some(f64::INFINITY)),
            ("fold 1 validation log_loss: 0.4", None),
            ("validation accuracy: 0.9", None),
            ("validation log_loss 0.9", None),
            ("validation log_loss: 0.7\nvalidation log_loss: n/a", None),
            ("validation log_loss: 81%", None),
            ("validation log_loss:", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(metric(&output(text), "log_loss"), expected, "{text}");
        }
        assert!(metric(&output("validation log_loss: nan"), "log_loss").is_some_and(f64::is_nan));
        let ends = |head: &str, tail: &str| Output { head: head.into(), tail: tail.into(), dropped_bytes: 9 };
        assert_eq!(metric(&ends("validation auc: 1\n", "x\nvalidation auc: 2"), "auc"), Some(2.0));
        assert_eq!(metric(&ends("validation auc: 1\n", "killed"), "auc"), Some(1.0));
    }

    #[test]
    fn rounding_is_no_contradiction() {
        let cases = [
            (0.81234, Some(0.8123), false),
            (0.0, Some(0.0), false),
            (0.81, Some(0.82), true),
            (-0.5, Some(0.5), true),
            (0.0, Some(1e-9), true),
            (0.5, None, true),
            (f64::NAN, Some(0.5), true),
            (f64::INFINITY, None, false),
        ];
        for (printed, read, expected) in cases {
            assert_eq!(contradict(printed, read), expected, "{printed} {read:?}");
        }
    }
}
