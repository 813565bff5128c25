//! Reports of whole experiments against the reference values of the procedures.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test tells its failure by its panic"
)]

use podium_report::document;
use podium_report::experiment::course::{Course, Over, Point};
use podium_report::experiment::csv::csv;
use podium_report::experiment::interchange::{self, GradingReport};
use podium_report::experiment::markdown::markdown;
use podium_report::experiment::{About, End, Run, Terms, report, sheet, words};
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

/// One run that was given in full, changed as a case needs it.
fn one(arm: &str, competition: &str, seed: u64, change: impl FnOnce(&mut Run)) -> Run {
    let mut run = Run {
        arm: arm.to_owned(),
        run: format!("{arm}-{competition}-{seed}"),
        competition: competition.to_owned(),
        seed,
        about: About { splits: vec!["low".to_owned()], category: "text".to_owned(), ..About::default() },
        end: Some(End {
            outcome: "graded".to_owned(),
            stopped_by: "steps".to_owned(),
            valid: true,
            made: true,
            percentile: Some(50.0),
            cost: Some(2.0),
            hours: 1.0,
            ..End::default()
        }),
        ..Run::default()
    };
    change(&mut run);
    run
}

#[test]
fn whatever_happens_counts_add_up_to_the_plan() {
    let outcomes = ["graded", "no_submission", "invalid_submission", "no_answers", "failed", ""];
    let stops = ["finished", "steps", "time", "tokens", "dollars", "interrupted", "model_service", "sandbox"];
    let mut runs = Vec::new();
    for (place, outcome) in outcomes.iter().enumerate() {
        for (seed, stop) in stops.iter().enumerate() {
            runs.push(one("a", &format!("c{place}"), seed as u64, |run| {
                run.end = (!outcome.is_empty()).then(|| End {
                    outcome: (*outcome).to_owned(),
                    stopped_by: (*stop).to_owned(),
                    valid: *outcome == "graded",
                    ..End::default()
                });
            }));
        }
    }
    let made = report("x", &runs, &Terms::default()).unwrap();
    assert_eq!(made.planned, 48);
    assert_eq!(made.counts.iter().map(|count| count.runs).sum::<usize>(), 48);
    let row = &made.tables[0].rows[0];
    assert_eq!(row.counts.iter().map(|count| count.runs).sum::<usize>(), 48);
    assert_eq!(made.missing.len(), 8);
    near(row.valid.mean, 100.0 / 6.0);
    assert_eq!(made.disclosure.runs, 40);
    assert_eq!(made.tables[0].rows[0].spent.cost, None, "an unknown cost is never 0");
}

#[test]
fn a_part_of_a_split_is_no_number_of_it_and_known_issues_stand_apart() {
    let medal = |run: &mut Run| run.end.as_mut().unwrap().medal = true;
    let runs = vec![
        one("a", "good", 1, |run| run.about.ended = Some("2019-01-01".to_owned())),
        one("a", "bad", 1, |run| {
            medal(run);
            run.about.known_issues = vec!["labels leak".to_owned()];
            (run.about.ended, run.about.category) = (Some("2024".to_owned()), "image".to_owned());
            run.after_cutoff = Some(true);
        }),
    ];
    let split_sizes = [("low".to_owned(), 22)].into();
    let made = report("x", &runs, &Terms { split_sizes, ..Terms::default() }).unwrap();
    let table = &made.tables[0];
    assert!(table.is_part());
    assert!(words::title(table).contains("2 of 22"), "{}", words::title(table));
    near(table.rows[0].any_medal.mean, 50.0);
    near(table.without_known_issues[0].any_medal.mean, 0.0);
    let slices: Vec<(&str, &str, f64)> = made
        .slices
        .iter()
        .map(|slice| (slice.by.word(), slice.value.as_str(), slice.arms[0].any_medal.mean))
        .collect();
    let expected = [
        ("category", "image", 100.0),
        ("category", "text", 0.0),
        ("complexity", "low", 50.0),
        ("year", "2019", 0.0),
        ("year", "2024", 100.0),
        ("knowledge cut-off", "ended after it", 100.0),
        ("knowledge cut-off", "unknown", 0.0),
    ];
    assert_eq!(slices, expected);
}

#[test]
fn what_would_have_been_handed_in_then_and_what_picking_loses() {
    let point = |hours: u64, cost, medal| Point { at_ms: hours * 3_600_000, cost, medal, ..Point::default() };
    let course = |handed_in, oracle| Some(Course { handed_in, oracle });
    let runs = vec![
        one("a", "c0", 1, |run| {
            run.end.as_mut().unwrap().hours = 10.0;
            run.course = course(
                vec![point(2, Some(0.2), false), point(5, Some(0.5), true), point(8, Some(1.9), false)],
                vec![point(2, Some(0.2), false), point(5, Some(0.5), true)],
            );
        }),
        // It handed nothing in: there is nothing to grade over time.
        one("a", "c1", 1, |run| run.end.as_mut().unwrap().made = false),
    ];
    let made = report("x", &runs, &Terms::default()).unwrap();
    let curves = &made.tables[0].curves;
    assert_eq!(curves.iter().map(|curve| curve.over).collect::<Vec<_>>(), [Over::Hours, Over::Dollars]);
    let medals: Vec<(f64, f64)> =
        curves[0].points.iter().map(|point| (point.handed_in.mean, point.oracle.mean)).collect();
    let (none, both, lost) = ((0.0, 0.0), (50.0, 50.0), (0.0, 50.0));
    assert_eq!(medals, [none, none, none, none, both, both, both, lost, lost, lost]);
    near(curves[1].points.last().unwrap().at, 2.0);
    let loss = made.tables[0].rows[0].selection_loss.unwrap();
    assert_eq!((loss.runs, loss.handed_in, loss.oracle), (1, 0.0, 100.0));
    // A run that handed something in and was not graded over time leaves no curve that would lie.
    let mut some = runs;
    some[1].end.as_mut().unwrap().made = true;
    assert!(report("x", &some, &Terms::default()).unwrap().tables[0].curves.is_empty());
}

#[test]
fn picking_by_validation_gaps_and_distances_to_gold() {
    let runs: Vec<Run> = [(0.9, false, 1.5), (0.88, true, -0.5), (0.85, true, 0.5), (0.8, false, 0.0)]
        .into_iter()
        .enumerate()
        .map(|(seed, (validated, medal, share))| {
            one("a", "c", seed as u64, |run| {
                let end = run.end.as_mut().unwrap();
                (end.validated, end.medal, end.human_relative) = (Some(validated), medal, Some(share));
                (end.gap, end.test) = (Some(validated - 0.86), Some(0.5));
            })
        })
        .collect();
    let made = report("x", &runs, &Terms::default()).unwrap();
    let row = &made.tables[0].rows[0];
    near(row.best_of[1].mean, 0.5);
    near(row.best_of[2].mean, 0.25);
    near(row.human_relative.unwrap().mean, (1.0 + 0.0 + 0.5 + 0.0) / 4.0);
    let gap = row.gap.unwrap();
    assert_eq!((gap.runs, gap.too_optimistic, gap.too_pessimistic), (4, 2, 2));
    near(gap.median_relative.unwrap(), 0.01);
    assert_eq!(row.pass_at.iter().map(|point| point.k).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn published_runs_stand_beside_ones_own() {
    let facts = include_str!("published/ml-master-run-0.csv");
    let mut splits = std::collections::BTreeMap::new();
    let reports = facts.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        splits.insert(fields[0].to_owned(), fields[1].to_owned());
        let is = |place: usize| fields[place] == "true";
        serde_json::json!({
            "competition_id": fields[0], "score": null, "gold_medal": fields[2] == "gold",
            "silver_medal": fields[2] == "silver", "bronze_medal": fields[2] == "bronze",
            "any_medal": fields[2] != "none", "above_median": is(3), "submission_exists": is(4),
            "valid_submission": is(5), "is_lower_better": null,
        })
    });
    let reports: Vec<serde_json::Value> = reports.collect();
    let text = serde_json::json!({ "competition_reports": reports }).to_string();
    // Python writes NaN, which is no JSON.
    let text = text.replacen("\"score\":null", "\"score\":NaN", 1);
    let read = GradingReport::read(&text).unwrap();
    assert_eq!((read.total_runs, read.total_medals), (75, 21));
    let about = |id: &str| {
        let split = splits.get(id)?.clone();
        Some(About { splits: vec![split, "all".to_owned()], ..About::default() })
    };
    let mut runs = interchange::runs("ML-Master", &[("run 0".to_owned(), read.clone())], about);
    runs.push(one("own", "leaf-classification", 1, |_| {}));
    let made = report("x", &runs, &Terms::default()).unwrap();
    let rates: Vec<(&str, f64)> =
        made.tables.iter().map(|table| (table.split.as_str(), table.rows[0].any_medal.mean)).collect();
    for ((split, rate), (expected, medals, of)) in rates.iter().zip([
        ("all", 21.0, 75.0),
        ("high", 4.0, 15.0),
        ("low", 10.0, 22.0),
        ("medium", 7.0, 38.0),
    ]) {
        assert_eq!(*split, expected);
        near(*rate, 100.0 * medals / of);
    }
    assert_eq!((made.planned, made.disclosure.runs, made.disclosure.published), (1, 1, 75));
    let low = made.tables.iter().find(|table| table.split == "low").unwrap();
    assert_eq!((low.comparisons[0].competitions, low.comparisons[0].left_out.len()), (1, 21));
    // What is written reads back; seeds follow the names of run groups, whatever their order.
    let again = GradingReport::read(&serde_json::to_string(&read).unwrap()).unwrap();
    assert_eq!(again, read);
    let groups = [("b".to_owned(), read.clone()), ("a".to_owned(), read)];
    let seeds = interchange::runs("x", &groups, about);
    assert!(seeds.iter().all(|run| (run.run == "a") == (run.seed == 1)));
    let listed = vec![("x".to_owned(), vec!["b".to_owned(), "a".to_owned()])];
    assert_eq!(interchange::read_run_groups(&interchange::write_run_groups(&listed)), listed);
    for wrong in ["", "[]", "{}", "{\"competition_reports\": 3}", "[{\"competition_id\": \"x\"}]"] {
        assert!(GradingReport::read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_difference_never_stands_alone_and_names_are_made_harmless() {
    let mut all = runs("a<b>|", &["111"]);
    all.extend(runs("=b,", &["000"]));
    let made = report("x", &all, &Terms::default()).unwrap();
    let text = words::lines(&made).join("\n");
    assert!(text.contains("+100.0 points, no interval with one competition"), "{text}");
    assert!(text.contains("nothing can be significant") && text.contains("undecided"), "{text}");
    assert!(!text.contains("tied"));
    let page = markdown(&made);
    assert!(!page.contains("a<b>|") && page.contains("a\\<b\\>\\|"), "{page}");
    let lines = csv(&all);
    assert!(lines.lines().skip(1).all(|line| !line.starts_with('=')), "{lines}");
    assert!(lines.contains("\"'=b,\""), "{lines}");
    let columns = |line: &str| line.split(',').count();
    let plain = csv(&runs("a", &["1-"]));
    let counts: Vec<usize> = plain.lines().map(columns).collect();
    assert!(counts.iter().all(|count| *count == counts[0]), "{plain}");
}

/// A page says what the report for people says: every cell of a table stands in one of its lines, every line is one of its.
#[test]
fn a_page_says_what_the_report_says_and_nothing_in_it_is_markup() {
    let hostile = "</script><script>alert(1)</script><!-- \u{2028}\u{202e} a";
    let mut all = runs(hostile, &["1111", "1010", "0010", "0000"]);
    all.extend(runs("b", &["1010", "0010", "0000", "0000"]));
    for (place, run) in all.iter_mut().enumerate() {
        let end = run.end.as_mut().unwrap();
        (end.gap, end.test) = (Some(place as f64 / 100.0 - 0.05), Some(-0.5));
        end.hours = 1.0;
        let point = Point { at_ms: 1_800_000, cost: Some(0.25), medal: end.medal, ..Point::default() };
        run.course = Some(Course { handed_in: vec![point.clone()], oracle: vec![point] });
    }
    let made = report("x", &all, &Terms::default()).unwrap();
    let told = sheet(&made, &all);
    let lines = words::lines(&made);
    let is_told =
        |text: &str| lines.iter().any(|line| line.trim_start_matches("! ").contains(text.trim_start()));
    let part = &told.tables[0];
    for row in &part.rates.rows {
        assert!(lines.iter().any(|line| row.iter().all(|cell| line.contains(cell.as_str()))), "{row:?}");
    }
    let beside = part.beside.iter().flat_map(|(_, lines)| lines);
    let texts = beside.chain(&part.below).chain(part.compared.iter().flatten()).chain(&told.remarks);
    for text in texts.chain(&told.disclosure).chain([&told.planned, &part.title, &part.errors]) {
        assert!(is_told(text), "{text}");
    }
    let titles: Vec<(&str, usize)> =
        part.curves.iter().map(|plot| (plot.over, plot.lines[0].points.len())).collect();
    assert_eq!(
        titles,
        [("runs per competition", 2), ("hours of run time", 10), ("dollars", 10)],
        "four runs: pass@k for 1 and 2"
    );
    near(part.differences[0].mean, 100.0 * made.tables[0].comparisons[0].difference.mean);
    assert_eq!(part.gaps.len(), all.len());
    near(part.gaps[0].percent, -10.0);

    let page = document(&told).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert!(!page.contains("alert(1)<") && !page.contains(['\u{2028}', '\u{202e}']));
    let data = page.split("id=\"report\">").nth(1).unwrap().split("</script>").next().unwrap();
    let read: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!(read, serde_json::to_value(&told).unwrap());
    for word in ["http-equiv=\"refresh", " src=", "@import", "url("] {
        assert!(!page.contains(word), "{word} would load something");
    }
}
