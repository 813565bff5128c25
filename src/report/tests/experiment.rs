//! Reports of whole experiments against the reference values of the procedures.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test tells its failure by its panic"
)]

use podium_report::experiment::{About, End, Run, Terms, report};
use podium_report::statistics::Verdict;

fn runs(arm: &str, medals: &[&str]) -> Vec<Run> {
    let of = |competition: usize, seed: usize, medal: char| Run {
        arm: arm.to_owned(),
        competition: format!("c{competition}"),
        seed: seed as u64 + 1,
        about: About { splits: vec!["low".to_owned()], ..About::default() },
        end: (medal != '-').then(|| End {
            outcome: "graded".to_owned(),
            stopped_by: "steps".to_owned(),
            medal: medal == '1',
            valid: true,
            made: true,
            cost: Some(0.5),
            ..End::default()
        }),
        ..Run::default()
    };
    let seeds = |(competition, seeds): (usize, &&str)| {
        seeds.chars().enumerate().map(|(seed, medal)| of(competition, seed, medal)).collect::<Vec<_>>()
    };
    medals.iter().enumerate().flat_map(seeds).collect()
}

fn strict() -> Terms {
    Terms { strict: true, ..Terms::default() }
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value} is not {expected}");
}

/// Eight competitions × three seeds.
#[test]
fn two_arms_beside_each_other() {
    let mut all = runs("a", &["111", "101", "001", "000", "110", "111", "000", "010"]);
    all.extend(runs("b", &["101", "001", "000", "000", "010", "111", "000", "000"]));
    let made = report("x", &all, &Terms::default()).unwrap();
    let table = &made.tables[0];
    assert_eq!((table.split.as_str(), table.competitions, made.tables.len()), ("low", 8, 1));
    let compared = &table.comparisons[0];
    near(compared.difference.mean, 0.208_333_333);
    near(compared.difference.se, 0.060_993_75);
    near(compared.sign_flip.p, 0.0625);
    near(compared.holm, 0.0625);
    let wins = (compared.difference.wins, compared.difference.ties, compared.difference.losses);
    assert_eq!((wins, compared.verdict), ((5, 3, 0), Verdict::Undecided));
    assert_eq!(table.rows[0].spent.cost_of_run, Some(0.5));
}

/// Seeds of four competitions, one run of the plan missing.
#[test]
fn missing_runs_count_as_failures_or_cut_the_seeds() {
    let all = runs("a", &["111", "011", "11-", "001"]);
    let made = report("x", &all, &Terms::default()).unwrap();
    assert_eq!(made.missing, ["a on c2, seed 3"]);
    assert_eq!(made.counts.iter().map(|count| count.runs).sum::<usize>(), made.planned);
    let rate = made.tables[0].rows[0].any_medal;
    near(rate.mean, 66.666_666_667);
    near(rate.sem, 8.333_333_333);
    let rate = report("x", &all, &strict()).unwrap().tables[0].rows[0].any_medal;
    near(rate.mean, 62.5);
    near(rate.sem, 12.5);
    assert!(report("x", &runs("a", &["--", "11"]), &strict()).is_err());
}

#[test]
fn boards_of_baselines_and_of_people_are_never_in_one_table() {
    let mut all = runs("a", &["11"]);
    let mut others = runs("a", &["00"]);
    for run in &mut others {
        (run.about.baselines, run.competition) = (true, "other".to_owned());
    }
    all.extend(others);
    let made = report("x", &all, &Terms::default()).unwrap();
    let rates: Vec<(bool, f64)> =
        made.tables.iter().map(|table| (table.baselines, table.rows[0].any_medal.mean)).collect();
    assert_eq!(rates, [(false, 100.0), (true, 0.0)]);
    assert!(made.notes[0].contains("baselines"));
}
