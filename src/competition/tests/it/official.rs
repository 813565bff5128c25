//! Cases beyond the oracle: what the official graders returned (NumPy 2.2.6, scikit-learn 1.9) for submissions of kinds
//! that the oracle does not hold. `None` where they raise.

use podium_competition::{Outcome, grade};

use crate::common::Files;
use crate::oracle::cases::competition;

fn score(id: &str, answers: &str, submission: &str) -> Option<f64> {
    let files = Files::new();
    let paths = (files.write("submission.csv", submission), files.write("answers.csv", answers));
    match grade(&competition(id), &paths.0, &paths.1).unwrap().outcome {
        Outcome::Scored { raw_score, .. } => Some(raw_score),
        _ => None,
    }
}

/// Numbers beside a missing label are texts; a column of numbers alone is refused.
#[test]
fn labels_of_rice_diseases_beside_missing_ones() {
    let answers = "image_id,label\na,blast\nb,tungro\nc,normal\nd,hispa\n";
    let table: &[([&str; 4], Option<f64>)] = &[
        (["blast", "", "normal", "hispa"], Some(0.75)),
        (["5", "", "", ""], Some(0.0)),
        (["5.5", "", "", ""], Some(0.0)),
        (["5", "", "6", "7"], Some(0.0)),
        (["", "", "", ""], Some(0.0)),
        (["1e300", "", "", ""], Some(0.0)),
        (["inf", "", "", ""], Some(0.0)),
        (["True", "", "False", ""], Some(0.0)),
        (["5", "6", "7", "8"], None),
        (["5.5", "6", "7", "8"], None),
        (["True", "False", "True", "True"], None),
    ];
    for (labels, expected) in table {
        let [a, b, c, d] = labels;
        let submission = format!("image_id,label\na,{a}\nb,{b}\nc,{c}\nd,{d}\n");
        assert_eq!(score("paddy-disease-classification", answers, &submission), *expected, "{labels:?}");
    }
}

/// Columns of booleans become angles of half precision.
#[test]
fn phones_at_true_degrees() {
    const HEADER: &str = "tripId,UnixTimeMillis,LatitudeDegrees,LongitudeDegrees\n";
    let rows = |latitudes: [&str; 4], longitudes: [&str; 4]| {
        let places = ["t,1", "t,2", "t,3", "u,1"].iter().zip(latitudes.iter().zip(longitudes));
        let row = |(key, (latitude, longitude))| format!("{key},{latitude},{longitude}\n");
        places.map(row).fold(HEADER.to_owned(), |text, row| text + &row)
    };
    let answers = rows(["1.0", "0.25", "0.75", "1.0"], ["0.5", "1.0", "0.0", "1.5"]);
    let numbers = ["0.5", "0.5", "1", "2"];
    let booleans = ["True", "False", "True", "True"];
    let table = [
        (booleans, numbers, 70_679.340_878_403_69),
        (["True"; 4], ["False"; 4], 129_954.122_455_373_09),
        (numbers, booleans, 119_460.389_808_260_17),
        (["1", "0", "1", "1"], numbers, 70_674.413_527_533_89),
    ];
    for (latitudes, longitudes, expected) in table {
        let found = score("smartphone-decimeter-2022", &answers, &rows(latitudes, longitudes)).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{latitudes:?} {longitudes:?}: {found}");
    }
}

/// Ratings that scikit-learn lists as doubles: those that are one double share the place of the last, and rows whose
/// rating is no double are left out.
#[test]
fn kappas_of_ratings_beyond_doubles() {
    const EYES: (&str, &str) = ("aptos2019-blindness-detection", "id_code,diagnosis\n");
    const ESSAYS: (&str, &str) = ("learning-agency-lab-automated-essay-scoring-2", "essay_id,score\n");
    type Rows = &'static [(&'static str, &'static str)];
    let table: [((&str, &str), Rows, f64); 4] = [
        (
            EYES,
            &[
                ("1", "18446744073709551615"),
                ("1000", "9223372036854776832"),
                ("1", "9223372036854775808"),
                ("1000", "9223372036854775809"),
                ("7", "9223372036854775809"),
                ("1000", "9223372036854776832"),
                ("1000", "18446744073709551615"),
                ("1", "3"),
                ("7", "3"),
                ("1", "9223372036854775808"),
            ],
            -0.156_25,
        ),
        (
            ESSAYS,
            &[
                ("0.0", "-3"),
                ("3.0", "9007199254740993"),
                ("0.0", "0"),
                ("4.0", "9007199254740993"),
                ("4.0", "4611686018427387904"),
                ("0.0", "5"),
                ("3.0", "9007199254740993"),
                ("1.0", "-3"),
                ("3.0", "5"),
                ("3.0", "9007199254740993"),
            ],
            0.433_333_333_333_333_35,
        ),
        (
            ESSAYS,
            &[
                ("3.0", "18446744073709551615"),
                ("3.0", "3"),
                ("0.0", "9223372036854775808"),
                ("2.0", "9223372036854776832"),
                ("0.0", "9223372036854776832"),
                ("2.0", "9223372036854775809"),
                ("4.0", "9223372036854775809"),
                ("3.0", "9223372036854775808"),
                ("3.0", "9223372036854775809"),
                ("4.0", "3"),
            ],
            -0.292_682_926_829_268_33,
        ),
        // Booleans beside whole numbers beyond the signed range are such numbers as well, and no doubles.
        (
            EYES,
            &[
                ("0", "False"),
                ("1", "False"),
                ("2", "True"),
                ("18446744073709551615", "True"),
                ("0", "False"),
                ("1", "True"),
            ],
            0.454_545_454_545_454_6,
        ),
    ];
    for ((id, header), rows, expected) in table {
        let (mut answers, mut submission) = (header.to_owned(), header.to_owned());
        for (row, (truth, guess)) in rows.iter().enumerate() {
            answers += &format!("k{row},{truth}\n");
            submission += &format!("k{row},{guess}\n");
        }
        let found = score(id, &answers, &submission).unwrap();
        assert!((found - expected).abs() < 1e-12, "{id}: {found}, not {expected}");
    }
}

/// The sets of keys are compared and the rows are paired by rank: keys that repeat on one side shift those behind, and a
/// missing key is one like another.
#[test]
fn keys_that_are_compared_as_sets_alone() {
    let eyes = (["0", "3", "2", "4", "1"], ["0", "3", "1", "4", "1"]);
    let pets = (["0", "1", "1", "0", "1"], ["0.2", "0.7", "0.4", "0.5", "0.9"]);
    let tables = [
        (
            "aptos2019-blindness-detection",
            "id_code,diagnosis",
            eyes,
            [0.952_380_952_380_952_3, 0.476_190_476_190_476_16],
        ),
        (
            "dogs-vs-cats-redux-kernels-edition",
            "id,label",
            pets,
            [0.458_923_384_668_973_8, 0.655_089_235_271_319],
        ),
        (
            "statoil-iceberg-classifier-challenge",
            "id,is_iceberg",
            pets,
            [0.458_923_384_668_973_8, 0.655_089_235_271_319],
        ),
    ];
    for (id, header, (truths, guesses), [missing, repeated]) in tables {
        let keys = [
            ([["p", "p", "q", "r", "null"], ["p", "q", "q", "r", "null"]], Some(missing)),
            ([["p", "p", "q", "r", "s"], ["q", "q", "p", "r", "s"]], Some(repeated)),
            ([["p", "p", "q", "r", "s"], ["q", "q", "p", "r", "t"]], None),
        ];
        for ([true_keys, guessed_keys], expected) in keys {
            let file = |keys: [&str; 5], cells: [&str; 5]| {
                let rows = keys.iter().zip(cells).map(|(key, cell)| format!("{key},{cell}\n"));
                rows.fold(format!("{header}\n"), |text, row| text + &row)
            };
            let found = score(id, &file(true_keys, truths), &file(guessed_keys, guesses));
            let close = |(found, expected): (f64, f64)| (found - expected).abs() < 1e-12;
            assert!(
                found.is_some() == expected.is_some() && found.zip(expected).is_none_or(close),
                "{id}: {found:?}"
            );
        }
    }
}
