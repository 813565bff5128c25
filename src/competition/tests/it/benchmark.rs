//! The catalog of Kaggle's competitions as it stands in the repository: all entries read, their thresholds and boards fit
//! together, their texts are ours.

use std::collections::BTreeMap;
use std::path::Path;

use podium_competition::board::{medal_positions, round_like_python};
use podium_competition::{BoardKind, Catalog, Outcome, Rounding, report};
use podium_metric::Direction;

fn catalog() -> Catalog {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark");
    let mut texts = BTreeMap::new();
    for part in ["competitions", "boards"] {
        for entry in std::fs::read_dir(root.join(part)).unwrap().flatten() {
            let name = format!("benchmark/{part}/{}", entry.file_name().to_string_lossy());
            texts.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
    Catalog::from_texts(texts).unwrap()
}

#[test]
fn the_splits_are_the_benchmarks() {
    let catalog = catalog();
    let sizes = ["low", "medium", "high", "all", "dev", "lite"];
    let sizes = sizes.map(|split| catalog.split(split).unwrap().len());
    assert_eq!(sizes, [22, 38, 15, 75, 7, 22]);
    assert_eq!(catalog.list().len(), 82);
}

#[test]
fn each_entry_says_what_a_reader_needs() {
    for competition in catalog().list() {
        let id = &competition.id;
        assert!(competition.summary.len() > 20 && !competition.summary.ends_with('.'), "{id}");
        assert!(competition.split.as_ref().is_some_and(|split| split.len() > 15), "{id}");
        assert!(!competition.submission.columns.is_empty(), "{id}");
        assert!(!competition.data.public.is_empty() && !competition.data.private.is_empty(), "{id}");
        let sums = competition.data.md5.as_ref().unwrap();
        let hexadecimal = |sum: &String| sum.len() == 32 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let all = sums.public.values().chain(sums.private.values()).chain(&sums.zip);
        assert!(all.into_iter().all(hexadecimal), "{id}");
        assert!(sums.private.contains_key(&competition.answers.file), "{id}: no checksum of the answers");
    }
}

#[test]
fn thresholds_fall_from_gold_to_the_median() {
    for competition in catalog().list() {
        let id = &competition.id;
        let board = competition.board.thresholds.unwrap();
        assert_eq!(competition.board.kind, BoardKind::Kaggle, "{id}");
        assert_eq!(board.direction, competition.direction(), "{id}");
        let falls = |better: f64, worse: f64| !board.direction.better(worse, better);
        let thresholds = [board.gold, board.silver, board.bronze, board.median];
        assert!(thresholds.windows(2).all(|pair| falls(pair[0], pair[1])), "{id}: {thresholds:?}");
    }
}

#[test]
fn boards_run_from_best_to_worst_and_agree_with_the_thresholds() {
    let (mut boards, mut same) = (0, 0);
    for competition in catalog().list() {
        let id = &competition.id;
        let scores = competition.board.scores();
        let Some(listing) = &competition.board.listing else { continue };
        assert_eq!(scores.len() + 1, listing.lines().count(), "{id}: a line is no number");
        boards += 1;
        let better = |left: f64, right: f64| competition.direction().better(left, right);
        assert!(scores.windows(2).all(|pair| !better(pair[1], pair[0])), "{id} is not in order");
        let range = competition.metric.range();
        let outside = scores.iter().find(|score| !range.holds(**score));
        assert_eq!(outside, None, "{id}: {} is {range}", competition.metric.name);
        let [gold, silver, bronze] =
            medal_positions(scores.len()).map(|place| round_like_python(scores[place - 1]));
        let board = competition.board.thresholds.unwrap();
        let close = |left: f64, right: f64| (left - right).abs() < 2e-5 * right.abs().max(1.0);
        same += usize::from(
            close(gold, board.gold) && close(silver, board.silver) && close(bronze, board.bronze),
        );
    }
    // The others lack a team or more of the official snapshot; the thresholds are the official ones all the same.
    println!("{boards} boards, the medal scores of {same} are the recorded ones");
    assert_eq!(boards, 75);
    assert!(same >= 60, "{same}");
}

#[test]
fn a_score_is_placed_among_the_teams() {
    let catalog = catalog();
    let competition = catalog.get("aptos2019-blindness-detection").unwrap();
    let of = |raw_score| {
        let outcome = Outcome::Scored { raw_score, rounding: Rounding::Python, notes: Vec::new() };
        report(competition, &competition.board, &outcome, "submission.csv", "now")
    };
    let (gold, none, nan) = (of(0.99), of(0.1), of(f64::NAN));
    assert_eq!((gold.gold_medal, gold.percentile), (true, Some(100.0)));
    assert!(!none.any_medal && none.percentile.is_some_and(|share| share < 50.0));
    assert_eq!((nan.valid_submission, nan.any_medal, nan.percentile), (true, false, Some(0.0)));
    assert_eq!(gold.board.teams, Some(2929));
    // Half of the lines that are level count as beaten; the number of lines is that of the board at hand.
    for (id, score, expected, lines) in [
        ("spooky-author-identification", 0.29381, 0.900_081, 1241),
        ("leaf-classification", 0.0, 0.992_476, 1595),
        ("random-acts-of-pizza", 0.5, 0.058_442, 462),
    ] {
        let board = &catalog.get(id).unwrap().board;
        let found = board.standing(score).unwrap().percentile.unwrap() / 100.0;
        assert!((found - expected).abs() < 1e-6, "{id}: {found}");
        assert_eq!(board.scores().len(), lines, "{id}");
    }
    assert_eq!(competition.direction(), Direction::Higher);
}
