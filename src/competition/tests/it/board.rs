//! Thresholds, medals, rounding and the report.

use crate::common::{competition, toml};
use podium_competition::board::{Medal, Thresholds, medal_positions, round_like_numpy, round_like_python};
use podium_competition::{Board, Outcome, Rounding, report};
use podium_metric::Direction;
use proptest::prelude::*;

#[test]
fn positions_follow_the_official_rule() {
    let table = [
        (1, [1, 1, 1]),
        (5, [1, 1, 2]),
        (22, [2, 4, 8]),
        (99, [9, 19, 39]),
        (100, [10, 20, 40]),
        (249, [10, 49, 99]),
        (250, [10, 50, 100]),
        (999, [11, 50, 100]),
        (1000, [12, 50, 100]),
        (5000, [20, 250, 500]),
    ];
    for (teams, positions) in table {
        assert_eq!(medal_positions(teams), positions, "{teams} teams");
        let scores: Vec<f64> = (1..=teams).map(|rank| rank as f64).collect();
        let thresholds = Thresholds::of(&scores).unwrap();
        assert_eq!([thresholds.gold, thresholds.silver, thresholds.bronze], positions.map(|p| p as f64));
        assert_eq!(thresholds.median, f64::midpoint(1.0, teams as f64));
        let direction = if teams == 1 { Direction::Higher } else { Direction::Lower };
        assert_eq!(thresholds.direction, direction);
    }
    assert_eq!(Thresholds::of(&[]), None);
}

#[test]
fn a_medal_is_inclusive_and_the_median_is_strict() {
    let scores: Vec<f64> = (1..=20).map(|rank| 1.0 - f64::from(rank) / 100.0).collect();
    let board = Thresholds::of(&scores).unwrap();
    let medals = [0.99, 0.98, 0.979_99, 0.96, 0.92, 0.919_99].map(|score| board.medal(score));
    let [gold, silver, bronze] = [Some(Medal::Gold), Some(Medal::Silver), Some(Medal::Bronze)];
    assert_eq!(medals, [gold, gold, silver, silver, bronze, None]);
    assert!(!board.above_median(board.median) && board.above_median(board.median + 1e-5));
}

#[test]
fn rounding_has_two_flavours() {
    // 0.5 + 2^-6 ends in 5 at the sixth decimal: an exact tie.
    let tie = 0.515_625;
    assert_eq!((round_like_python(tie), round_like_numpy(tie)), (0.515_62, 0.515_62));
    // Python's round(x, 5) and numpy.round(x, 5).
    assert_eq!((round_like_python(0.015_625), round_like_numpy(0.015_625)), (0.015_62, 0.015_62));
    assert_eq!((round_like_python(2.675_675_675), round_like_python(-0.000_001)), (2.675_68, -0.0));
    assert!(round_like_python(f64::NAN).is_nan() && round_like_numpy(f64::INFINITY).is_infinite());
}

#[test]
fn the_report_has_the_benchmark_fields() {
    let mut texts = std::collections::BTreeMap::new();
    let entry = toml("mae", "lower", "number", &["y"], "").replace("{ANSWERS}", "");
    texts.insert("a/competition.toml".to_owned(), entry);
    let board: String =
        (1..=20).fold("name,score\n".into(), |text, rank| text + &format!("m{rank},{rank}\n"));
    texts.insert("a/board.csv".to_owned(), board);
    let catalog = podium_competition::Catalog::from_texts(texts).unwrap();
    let made_up = catalog.get("made-up").unwrap();
    let outcomes = [
        Outcome::Scored { raw_score: 2.000_004_9, rounding: Rounding::Python, notes: vec!["a note".into()] },
        Outcome::Scored { raw_score: f64::NAN, rounding: Rounding::Python, notes: Vec::new() },
        Outcome::Scored { raw_score: f64::NEG_INFINITY, rounding: Rounding::Python, notes: Vec::new() },
        Outcome::Invalid { reason: "broken".into() },
        Outcome::Missing { found: "nothing".into() },
    ];
    let reports: Vec<_> =
        outcomes.iter().map(|outcome| report(made_up, &made_up.board, outcome, "s.csv", "now")).collect();
    insta::assert_json_snapshot!("reports", reports);
    for report in &reports {
        let text = serde_json::to_string(report).unwrap();
        assert_eq!(&serde_json::from_str::<podium_competition::GradingReport>(&text).unwrap(), report);
    }
    let without = competition(&toml("mae", "lower", "number", &["y"], ""));
    let report = report(&without, &without.board, &outcomes[0], "s.csv", "now");
    assert_eq!((report.any_medal, report.gold_threshold, report.is_lower_better), (false, None, true));
}

proptest! {
    #[test]
    fn rounding_moves_by_half_a_unit_at_most(score in -1e6f64..1e6) {
        for rounded in [round_like_python(score), round_like_numpy(score)] {
            prop_assert!((rounded - score).abs() <= 0.500_001e-5);
        }
    }
}

#[test]
fn a_leaderboard_is_sorted_by_the_competition() {
    let text = "\u{feff}Rank,TeamName,score\n2,b,0.5\n1,NaN,0.25\n3,c,\n4,d,0.75\n";
    let lower = Board::of_leaderboard(text, Direction::Lower).unwrap();
    assert_eq!(lower.scores(), [0.25, 0.5, 0.75]);
    assert_eq!(lower.entries[0].name, "NaN");
    let higher = Board::of_leaderboard(text, Direction::Higher).unwrap();
    assert_eq!(higher.scores(), [0.75, 0.5, 0.25]);
    let equal = Board::of_leaderboard("Score\n1\n1\n", Direction::Lower).unwrap();
    assert_eq!(equal.thresholds.map(|board| board.direction), Some(Direction::Lower));
    for (text, problem) in [
        ("", "no column"),
        ("team\na\n", "its columns are team"),
        ("score\nnan\n\n", "no team"),
        ("score\ninf\n1\n", "data row 1"),
        ("score,score\n\"1", "cannot be read"),
    ] {
        let error = Board::of_leaderboard(text, Direction::Lower).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_leaderboard_or_an_error(text in "(score|Score|x)?[\n,0-9a\"\u{feff}-]{0,40}") {
        if let Ok(board) = Board::of_leaderboard(&text, Direction::Higher) {
            prop_assert!(!board.scores().is_empty() && board.thresholds.is_some());
        }
    }
}
