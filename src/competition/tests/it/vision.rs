//! Graders of boxes and masks beyond the oracle: what a reason says and what it must not give away, notes on quirks,
//! and cells of any bytes.

use std::fmt::Write;

use podium_competition::{Competition, Outcome, grade, validate};
use proptest::prelude::*;

use crate::common::Files;
use crate::oracle::cases::competition;

const LYFT: &str = "3d-object-detection-for-autonomous-vehicles";
const CONTRAILS: &str = "google-research-identify-contrails-reduce-global-warming";
const KIDNEY: &str = "hubmap-kidney-segmentation";
const PAGES: &str = "kuzushiji-recognition";
const COVID: &str = "siim-covid19-detection";
const SALT: &str = "tgs-salt-identification-challenge";
const ORGANS: &str = "uw-madison-gi-tract-image-segmentation";
const INK: &str = "vesuvius-challenge-ink-detection";
const CHEST: &str = "vinbigdata-chest-xray-abnormalities-detection";

/// Small answers, and the header of a submission; `{}` stands where its cells go.
const SMALL: [(&str, &str, &str); 9] = [
    (
        LYFT,
        "Id,PredictionString\na,1.0 5 5 0 2 4 2 0.3 car 1.0 9 9 0 2 4 2 0.1 truck\nb,1.0 1 1 0 1 1 1 0.0 bus\n",
        "Id,PredictionString\na,{}\nb,\n",
    ),
    (
        CONTRAILS,
        "record_id,encoded_pixels,height,width\n7,3 2 8 1,4,5\n8,-,4,5\n",
        "record_id,encoded_pixels\n7,{}\n8,-\n",
    ),
    (
        KIDNEY,
        "id,encoding,width_pixels,height_pixels\na,3 2 8 1,5,4\nb,1 9,5,4\n",
        "id,predicted\na,{}\nb,2 3\n",
    ),
    (PAGES, "image_id,labels\na,U+1 0 0 10 10 U+2 5 5 9 9\nb,\n", "image_id,labels\na,{}\nb,U+3 1 1\n"),
    (
        COVID,
        "id,PredictionString\na,typical 1 0 0 1 1\nb,opacity 1 10 10 50 60 opacity 1 5 5 9 9\n",
        "id,PredictionString\na,typical 0.5 0 0 1 1 opacity 0.1 0 0 1 1\nb,{}\n",
    ),
    (SALT, "id,rle_mask\na,1 300 500 2\nb,\n", "id,rle_mask\na,{}\nb,4 4\n"),
    (
        ORGANS,
        "id,class,predicted,image_width,image_height\nc1_d1_slice_1,large,3 2 8 1,5,4\nc1_d1_slice_2,large,2 2,5,4\n",
        "id,class,predicted\nc1_d1_slice_1,large,{}\nc1_d1_slice_2,large,4 2\n",
    ),
    (INK, "Id,Predicted,width,height\na,3 2 8 1,5,4\n", "Id,Predicted\na,{}\n"),
    (
        CHEST,
        "image_id,class_id,class_name,rad_id,x_min,y_min,x_max,y_max\na,3,x,R1,1,2,30,40\nb,14,x,R1,0,0,1,1\n",
        "image_id,PredictionString\na,{}\nb,14 1 0 0 1 1\n",
    ),
];

fn small(id: &str) -> (Competition, &'static str, &'static str) {
    let (_, answers, submission) = SMALL.iter().find(|(known, _, _)| *known == id).unwrap();
    (competition(id), answers, submission)
}

/// Grades, and checks that `validate` agrees.
fn outcome(competition: &Competition, answers: &str, submission: &str) -> Outcome {
    let files = Files::new();
    let (answers, submission) =
        (files.write("answers.csv", answers), files.write("submission.csv", submission));
    let outcome = grade(competition, &submission, &answers).unwrap().outcome;
    let verdict = validate(competition, &submission, &answers, None).unwrap();
    assert_eq!(verdict.is_valid(), matches!(outcome, Outcome::Scored { .. }), "{outcome:?} {verdict:?}");
    outcome
}

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Scored { raw_score, notes, .. } => format!("{raw_score:?} {notes:?}"),
        other => other.reason().unwrap(),
    }
}

#[test]
fn words() {
    let cells: &[(&str, &[&str])] = &[
        (
            LYFT,
            &[
                "0.5 5 5 0 2 4 2 0.3 car",
                "0.5 5 5 0 2 4 2 0.3",
                "0.5 5 5 0 2 4 2  0.3 car",
                "0.5 5 5 0 2 4 2 inf tram",
                "0.5 5 5 0 2 4 2 0.3 tram 1 1 1 1 0 1 1 0 car",
                "7",
            ],
        ),
        (CONTRAILS, &["3 2", "", "- ", "3 2 4 1", "7", "0 4"]),
        (KIDNEY, &["3 2 8 1", "", "3 x", "8 1 3 2", "3 2 8 1 9", "3 9223372036854775808"]),
        (PAGES, &["U+1 5 5", "", "U+1 5 5 ", "U+1 5", "U+1 5 five", "U+1\t5\t5"]),
        (
            COVID,
            &[
                "opacity 0.5 10 10 50 60",
                "",
                "opacity 0.5 10 10 50",
                "opacity half 10 10 50 60",
                "opacity nan 10 10 50 60",
                "none nan 0 0 1 1",
            ],
        ),
        (SALT, &["1 300", "", "3", "1.0 3", "3 2 4 1"]),
        (ORGANS, &["3 2", "", "3 -2", "3"]),
        (INK, &["3 2", "", " ", "3", "3_0 1"]),
        (
            CHEST,
            &[
                "3 0.9 1 2 30 40",
                "",
                "3 0.9 1 2 30",
                "nan 0.9 1 2 30 40",
                "3 0.9 1 2 30 40 ",
                "heart 0.9 1 2 30 40",
            ],
        ),
    ];
    let mut lines = String::new();
    for (id, cells) in cells {
        let (competition, answers, submission) = small(id);
        let _ = writeln!(lines, "{id}");
        for cell in *cells {
            let outcome = outcome(&competition, answers, &submission.replace("{}", cell));
            let _ = writeln!(lines, "  {cell:?}\n    {}", said(&outcome));
        }
    }
    insta::assert_snapshot!("words", lines);
}

/// The official grader checks a box only where its class is among the true ones of the sample. That shows in the
/// verdict; the words must not add to it.
#[test]
fn a_reason_does_not_tell_true_classes() {
    let lyft = competition(LYFT);
    let flat = |class: &str| format!("1 5 5 0 0 4 2 0 {class}");
    let submission =
        format!("Id,PredictionString\na,{}\nb,{}\n", flat("car"), [flat("bus"), flat("car")].join(" "));
    let reason = |row_a: &str, row_b: &str| {
        let truth = |class: &str| format!("1.0 5 5 0 2 4 2 0.3 {class}");
        let answers = format!("Id,PredictionString\na,{}\nb,{}\n", truth(row_a), truth(row_b));
        said(&outcome(&lyft, &answers, &submission))
    };
    let expected = reason("car", "bus");
    assert!(
        expected.starts_with("column `PredictionString`, data row 1 (Id `a`): box 1: a side"),
        "{expected}"
    );
    for (row_a, row_b) in [("tram", "bus"), ("car", "tram"), ("tram", "car")] {
        assert_eq!(reason(row_a, row_b), expected);
    }

    let covid = competition(COVID);
    let submission = "id,PredictionString\na,typical 0.5 0 0 1 1 negative 0.5 0 0 1 1\n";
    let reason =
        |truth: &str| said(&outcome(&covid, &format!("id,PredictionString\na,{truth}\n"), submission));
    assert_eq!(reason("typical 1 0 0 1 1"), reason("negative 1 0 0 1 1"));
    assert_eq!(reason("typical 1 0 0 1 1"), reason("negative 1 0 0 1 1 typical 1 0 0 1 1"));
}

/// Rows of a scan that have no partner still are part of the true volume.
#[test]
fn rows_without_a_partner() {
    let (organs, answers, submission) = small(ORGANS);
    let whole = submission.replace("{}", "3 2 8 1");
    let short: String = whole.split_inclusive('\n').take(2).collect();
    let Outcome::Scored { raw_score, notes, .. } = outcome(&organs, answers, &short) else { panic!() };
    // Dice of the only pair is 1. Of the second slice, which only the truth has, the farther voxel is one of two slices
    // and one of four rows away.
    let distance = (0.5f64.powi(2) + 0.25f64.powi(2)).sqrt() / 3.0f64.sqrt();
    assert!((raw_score - (0.4 + 0.6 * (1.0 - distance))).abs() < 1e-9, "{raw_score}");
    assert!(notes[0].contains("1 row without a partner"), "{notes:?}");
    let renamed = whole.replace("slice_2,large", "slice_2,small");
    let Outcome::Scored { notes, .. } = outcome(&organs, answers, &renamed) else { panic!() };
    assert!(notes[0].contains("1 row with another id or class"), "{notes:?}");
    let Outcome::Scored { notes, .. } = outcome(&organs, answers, &whole) else { panic!() };
    assert_eq!(notes, [""; 0]);
}

fn cell() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => "[0-9]{1,3}",
        1 => "[0-9]{18,21}",
        2 => "-?[0-9]{1,3}\\.[0-9]",
        1 => Just("nan".to_owned()),
        1 => Just("-inf".to_owned()),
        1 => Just("1e308".to_owned()),
        2 => prop::sample::select(vec!["car", "bus", "truck", "opacity", "typical", "U+1", "U+2", "-", "x"]).prop_map(str::to_owned),
        1 => "[^\",\r\n]{0,3}",
    ];
    let blank = prop::sample::select(vec![" ", " ", " ", " ", "  ", "\t", "\u{3000}"]);
    prop::collection::vec((token, blank), 0..24)
        .prop_map(|tokens| tokens.into_iter().map(|(token, blank)| token + blank).collect::<String>())
        .prop_map(|text| text.trim_end_matches(' ').to_owned())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_cell_gets_a_verdict(cell in cell(), nine in any::<bool>()) {
        // Whole groups come up rarely by themselves.
        let cell = if nine { format!("0.5 5 5 0 2 4 2 0.3 car {cell}") } else { cell };
        for (id, answers, submission) in SMALL {
            let outcome = outcome(&competition(id), answers, &submission.replace("{}", &cell));
            if let Outcome::Scored { raw_score, .. } = outcome {
                prop_assert!(raw_score.is_nan() || (-1.0..=1.0).contains(&raw_score), "{} {} {}", id, raw_score, cell);
            }
        }
    }
}
