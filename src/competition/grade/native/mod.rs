//! Graders written in Rust, for competitions whose rules are not of a usual kind. One file a family.
//!
//! A grader is a function from two tables to a score. It ports the official grader with its quirks: what that one
//! refuses is refused, in words that say what to mend, and a quirk that took effect is a note of the score.

mod areas;
mod bias;
mod boxes;
mod correlations;
mod cuboids;
mod errors;
mod findings;
mod labels;
mod lists;
mod masks;
mod positional;
mod positions;
mod questions;
mod ranking;
mod shared;
mod single;
mod texts;
mod timsort;
mod tokens;
mod volumes;

use crate::grade::input::{Fault, Input, Score};

/// A grader.
pub(crate) type Native = fn(&Input<'_>) -> Result<Score, Fault>;

/// All graders by the names that a competition's TOML uses.
const GRADERS: &[(&str, Native)] = &[
    // Tables and probabilities.
    ("alaska2_image_steganalysis", areas::alaska),
    ("champs_scalar_coupling", errors::champs),
    ("jigsaw_toxic_comment_classification_challenge", positional::jigsaw_toxic),
    ("osic_pulmonary_fibrosis_progression", errors::osic),
    ("spooky_author_identification", positional::spooky),
    ("stanford_covid_vaccine", errors::stanford_covid),
    // Boxes, masks and points.
    ("3d_object_detection_for_autonomous_vehicles", cuboids::road_users),
    ("google_research_identify_contrails_reduce_global_warming", masks::contrails),
    ("hubmap_kidney_segmentation", masks::glomeruli),
    ("kuzushiji_recognition", boxes::characters),
    ("siim_covid19_detection", boxes::signs),
    ("tgs_salt_identification_challenge", masks::salt),
    ("uw_madison_gi_tract_image_segmentation", volumes::organs),
    ("vesuvius_challenge_ink_detection", masks::ink),
    ("vinbigdata_chest_xray_abnormalities_detection", boxes::findings),
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
    ("cell_orders", lists::cell_orders),
    ("ranked_lists", lists::ranked_lists),
    ("ranked_lists_among", lists::ranked_lists_among),
    ("ranked_lists_only", lists::ranked_lists_only),
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
