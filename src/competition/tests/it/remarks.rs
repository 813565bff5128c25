//! Each quirk of an official grader that took effect on a submission is told in its report, and no other is.

use podium_competition::{Outcome, grade};

use crate::common::Files;
use crate::oracle::cases::competition;

/// A competition, answers, a submission, and the notes on it.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

const TAXI: &str = "new-york-city-taxi-fare-prediction";
const NOMAD: &str = "nomad2018-predict-transparent-conductors";
const PLANTS: &str = "herbarium-2020-fgvc7";
const EYES: &str = "aptos2019-blindness-detection";
const VOLCANO: &str = "predict-volcanic-eruptions-ingv-oe";
const CATS: &str = "dogs-vs-cats-redux-kernels-edition";
const SPOKEN: &str = "text-normalization-challenge-english-language";
const RICE: &str = "paddy-disease-classification";
const SEEDLINGS: &str = "plant-seedlings-classification";
const SPECIES: &str = "inaturalist-2019-fgvc6";
const BREATH: &str = "ventilator-pressure-prediction";
const INSULTS: &str = "detecting-insults-in-social-commentary";
const FOREST: &str = "tabular-playground-series-dec-2021";
const BREAST: &str = "rsna-breast-cancer-detection";
const HANDS: &str = "multi-modal-gesture-recognition";

const NOMAD_TRUTH: &str = "id,formation_energy_ev_natom,bandgap_energy_ev\n1,0.5,2\n2,0.25,3\n";

const CASES: &[Case] = &[
    (TAXI, "key,fare_amount\na,1\nb,2\n", "key,fare_amount\nb,2.5\na,1\n", &[]),
    (
        TAXI,
        "key,fare_amount\na,1\nb,2\n",
        "key,fare_amount\nb,2.5\nc,1\n",
        &[
            "rows are paired by rank of the key, and the official grader does not compare keys: 2 have another key than \
           the row of the answers",
        ],
    ),
    (NOMAD, NOMAD_TRUTH, "id,formation_energy_ev_natom,bandgap_energy_ev\n1,0.5,1\n2,0.5,1\n", &[]),
    (
        NOMAD,
        NOMAD_TRUTH,
        "id,formation_energy_ev_natom,bandgap_energy_ev\n2,0.5,1\n1,0.5,1\n",
        &[
            "rows are paired by place in the file, and the official grader does not compare keys: 2 have another key \
           than the row of the answers",
        ],
    ),
    (
        NOMAD,
        NOMAD_TRUTH,
        "formation_energy_ev_natom,bandgap_energy_ev\n0.5,1\n0.5,1\n",
        &[
            "rows are paired by their place in the file: there is no column `id`, and the official grader asks for none",
        ],
    ),
    (PLANTS, "Id,Predicted\n1,5\n2,6\n", "Id,Predicted\n1,5.0\n2,6.0\n", &[]),
    (
        PLANTS,
        "Id,Predicted\n1,5\n2,6\n",
        "Id,Predicted\n1,5.9\n2,6.0\n",
        &["column `Predicted`: fractions are cut off, as the official grader does (1 cell)"],
    ),
    (EYES, "id_code,diagnosis\na,0\nb,1\nc,2\n", "id_code,diagnosis\na,0\nb,2\nc,2\n", &[]),
    (
        EYES,
        "id_code,diagnosis\na,0\nb,1\nc,4\n",
        "id_code,diagnosis\na,0\nb,4\nc,4\n",
        &[
            "ratings are weighed by their rank among those that occur on either side: a gap between them counts as one \
           step",
        ],
    ),
    (VOLCANO, "segment_id,time_to_eruption\n1,10\n2,20\n", "segment_id,time_to_eruption\n1,10\n2,18\n", &[]),
    (
        VOLCANO,
        "segment_id,time_to_eruption\n1,10\n2,20\n",
        "segment_id,time_to_eruption\n1,10\n2,18\n2,20\n",
        &[
            "keys repeat: each row of a repeated key counts",
            "the official grader rounds the score to a whole number",
        ],
    ),
    (CATS, "id,label\n1,0\n2,1\n", "id,label\n1,0.5\n2,0.25\n", &[]),
    (
        CATS,
        "id,label\n1,0\n2,1\n",
        "id,label\n1,1\n2,0.25\n",
        &["probabilities of 0 or 1, or next to it, count as 2.220446049250313e-16 from it (1 cell)"],
    ),
    (
        SPOKEN,
        "id,after\n1_0,007\n1_1,x\n",
        "id,after\n1_0,007\n1_1,8\n",
        &["column `after`: read as int64, and compared as Python spells that"],
    ),
    (
        SPOKEN,
        "id,after\n1_0,null\n1_1,x\n",
        "id,after\n1_0,NA\n1_1,x\n",
        &["column `after`: words for a missing value are compared as the text `nan` (1 cell)"],
    ),
    (
        RICE,
        "image_id,label\na.jpg,blast\nb.jpg,tungro\n",
        "image_id,label\na.jpg,blast\nb.jpg,\n",
        &["column `label`: missing labels are compared as the empty text (1 cell)"],
    ),
    (
        SEEDLINGS,
        "file,species\na,Maize\nb,Charlock\n",
        "file,species\na,Maize\nb,\n",
        &["column `species`: missing labels are compared as the text `nan` (1 cell)"],
    ),
    (
        SPECIES,
        "id,predicted\n1,5\n2,6\n",
        "id,predicted\n1,5 7\n2,6\n",
        &["column `predicted`: only the first word of a cell counts (1 cell)"],
    ),
    (
        BREATH,
        "id,pressure,u_out\n1,5,0\n2,6,1\n",
        "id,pressure\n1,5\n2,any\n",
        &[
            "column `pressure`: not all cells of the file are numbers; those that are scored are read as Python does",
        ],
    ),
    (INSULTS, "Comment,Insult\nx,0\nx,1\ny,1\n", "Comment,Insult\nx,0.1\nx,0.5\ny,0.5\n", &[]),
    (
        INSULTS,
        "Comment,Insult\nx,0\nx,1\ny,1\n",
        "Comment,Insult\ny,0.1\nx,0.5\nx,0.5\n",
        &[
            "keys repeat: rows of one key are paired in the order in which NumPy's sort leaves them, as in the official \
           grader",
        ],
    ),
    (
        FOREST,
        "Id,Cover_Type\n1,2\n1,3\n2,3\n",
        "Id,Cover_Type\n2,2\n1,3\n1,3\n",
        &[
            "keys repeat: rows of one key are paired in the order in which they stand in the file; in the official \
           grader it depends on the processor, so that the score may differ from it",
        ],
    ),
    (
        FOREST,
        "Id,Cover_Type\n1,1\n2,3\n",
        "Id,Cover_Type\n1,True\n2,False\n",
        &["column `Cover_Type`: True and False count as 1 and 0"],
    ),
    (
        BREAST,
        "prediction_id,cancer\na,1\nb,0\n",
        "prediction_id,cancer\na,1.5\nb,0.5\n",
        &["predictions beyond 0 or 1 count as 0 or 1 (1 cell)"],
    ),
    (
        HANDS,
        "Id,Sequence\n1,2 3\n2,4\n2,5\n",
        "Id,Sequence\n2,4\n1,2 3\n2,5\n",
        &[
            "keys repeat: rows of one key are paired in the order in which they stand in the file; in the official \
           grader it depends on the processor, so that the score may differ from it",
        ],
    ),
];

#[test]
fn quirks_that_act_are_told() {
    for (id, answers, submission, expected) in CASES {
        let files = Files::new();
        let paths = (files.write("submission.csv", submission), files.write("answers.csv", answers));
        match grade(&competition(id), &paths.0, &paths.1).unwrap().outcome {
            Outcome::Scored { notes, .. } => assert_eq!(notes, *expected, "{id}: {submission}"),
            other => panic!("{id}: {submission}: {other:?}"),
        }
    }
}
