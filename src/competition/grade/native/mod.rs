//! Graders written in Rust, for competitions whose rules are not of a usual kind. One file a family.
//!
//! A grader is a function from two tables to a score. It ports the official grader with its quirks: what that one
//! refuses is refused, in words that say what to mend, and a quirk that took effect is a note of the score.

mod areas;
mod boxes;
mod cuboids;
mod errors;
mod masks;
mod positional;
mod ranking;
mod shared;
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
];

/// The grader that a competition's TOML names.
pub(crate) fn find(name: &str) -> Option<Native> {
    GRADERS.iter().find(|(known, _)| *known == name).map(|(_, grader)| *grader)
}
