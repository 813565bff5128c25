//! What the harness says of predictions for training rows: a score, or why there is none. It is made from training
//! labels alone and has nothing to do with the answers.

use serde::{Deserialize, Serialize};

use crate::number::Number;

/// The training labels that predictions are scored with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Labels {
    /// The part of the holdout that a search may look at again and again.
    HoldoutSearch,
    /// The part of the holdout that serves the choice of what is handed in, and nothing else.
    HoldoutFinal,
    /// Those of the rows in the fold file: out-of-fold predictions.
    OutOfFold,
}

/// What came of scoring predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "evaluation", rename_all = "snake_case")]
pub enum Evaluation {
    /// They have a score.
    Scored {
        /// Of all rows at once, by the competition's own grader.
        score: Number,
        /// Of each fold alone, in the order of the folds; empty without folds.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        folds: Vec<Number>,
    },
    /// They cannot be scored.
    Refused {
        /// Why, in words for the agent; never a word of the labels.
        reason: String,
    },
}

impl Evaluation {
    /// The score, where it is a number.
    pub fn score(&self) -> Option<f64> {
        match self {
            Self::Scored { score, .. } => Some(score.0).filter(|score| score.is_finite()),
            Self::Refused { .. } => None,
        }
    }

    /// The standard deviation of the folds' scores about their mean, with one degree of freedom taken; `None` with fewer
    /// than two.
    pub fn spread(&self) -> Option<f64> {
        let Self::Scored { folds, .. } = self else { return None };
        let folds: Vec<f64> = folds.iter().map(|fold| fold.0).filter(|fold| fold.is_finite()).collect();
        let count = folds.len() as f64;
        (folds.len() > 1).then(|| {
            let mean = folds.iter().sum::<f64>() / count;
            (folds.iter().map(|fold| (fold - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_the_sample_deviation_of_the_folds() {
        let scored = |score: f64, folds: &[f64]| Evaluation::Scored {
            score: Number(score),
            folds: folds.iter().copied().map(Number).collect(),
        };
        assert_eq!(scored(0.5, &[]).spread(), None);
        assert_eq!(scored(0.5, &[1.0]).spread(), None);
        assert_eq!(scored(0.5, &[1.0, 3.0]).spread(), Some(2.0_f64.sqrt()));
        assert_eq!(scored(0.5, &[1.0, f64::NAN, 3.0]).spread(), Some(2.0_f64.sqrt()));
        assert_eq!(scored(f64::NAN, &[]).score(), None);
        assert_eq!(scored(0.5, &[]).score(), Some(0.5));
        assert_eq!(Evaluation::Refused { reason: "no".into() }.score(), None);
    }
}
