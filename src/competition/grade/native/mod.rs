//! Graders written in Rust, for competitions whose rules are not of a usual kind. One file a family.
//!
//! A grader is a function from two tables to a score. It ports the official grader with its quirks: what that one
//! refuses is refused, in words that say what to mend, and a quirk that took effect is a note of the score.

mod bias;
mod correlations;
mod findings;
mod labels;
mod positions;
mod questions;
mod rankings;
mod single;
mod texts;

use crate::grade::input::{Fault, Input, Score};

/// A grader.
pub(crate) type Native = fn(&Input<'_>) -> Result<Score, Fault>;

/// All graders by the names that a competition's TOML uses.
const GRADERS: &[(&str, Native)] = &[
    // Tables and probabilities.

    // Boxes, masks and points.

    // Text, sequences and rankings.
    ("unintended_bias", bias::unintended_bias),
    ("label_correlation", correlations::label_correlation),
    ("rank_correlations", correlations::rank_correlations),
    ("soft_f1", findings::soft_f1),
    ("vote_divergence", findings::vote_divergence),
    ("weighted_findings", findings::weighted_findings),
    ("label_sets", labels::label_sets),
    ("label_sets_or_none", labels::label_sets_or_none),
    ("ranked_label_columns", labels::ranked_label_columns),
    ("angular_error", positions::angular_error),
    ("trip_distance", positions::trip_distance),
    ("answer_spans", questions::answer_spans),
    ("cell_orders", rankings::cell_orders),
    ("ranked_lists", rankings::ranked_lists),
    ("ranked_lists_among", rankings::ranked_lists_among),
    ("ranked_lists_only", rankings::ranked_lists_only),
    ("sentence_distance", texts::sentence_distance),
    ("sequence_error_rate", texts::sequence_error_rate),
    ("spelled_distance", texts::spelled_distance),
    ("spelled_word_overlap", texts::spelled_word_overlap),
    ("word_overlap", texts::word_overlap),
];

/// The grader that a competition's TOML names.
pub(crate) fn find(name: &str) -> Option<Native> {
    GRADERS.iter().find(|(known, _)| *known == name).map(|(_, grader)| *grader)
}
