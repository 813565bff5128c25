//! Faults are planted one by one in a set that has none; each is found under its name, and nothing else is.

use std::fmt::Write as _;

use podium_competition::check::{Fault, check};
use podium_competition::own::Request;
use podium_types::rng::Rng;

use crate::own::Place;

/// A row of the clean set.
#[derive(Clone, Debug)]
struct Row {
    cells: Vec<(&'static str, String)>,
    y: f64,
}

/// Independent measurements, a colour, a person without influence, a day; the target follows from some of them.
fn clean(rows: usize) -> Vec<Row> {
    let mut rng = Rng::new(11);
    (0..rows)
        .map(|_| {
            let (a, b, c) = (rng.uniform(), rng.uniform(), rng.uniform());
            let y = 2.0 * a - b + 0.5 * rng.uniform();
            let day = rng.below(300);
            Row {
                cells: vec![
                    ("a", format!("{a:.6}")),
                    ("b", format!("{b:.6}")),
                    ("c", format!("{c:.6}")),
                    ("colour", ["red", "green", "blue"][rng.below(3)].to_owned()),
                    ("patient", format!("p{}", rng.below(rows / 5))),
                    ("begun", format!("2023-{:02}-{:02}", 1 + day / 28 % 11, 1 + day % 28)),
                    ("ended", format!("2023-{:02}-{:02}", 2 + day / 28 % 11, 1 + day % 28)),
                ],
                y,
            }
        })
        .collect()
}

fn class(row: &Row) -> &'static str {
    if row.y > 0.75 { "1" } else { "0" }
}

fn set(row: &mut Row, name: &'static str, value: String) {
    match row.cells.iter_mut().find(|(known, _)| *known == name) {
        Some((_, cell)) => *cell = value,
        None => row.cells.push((name, value)),
    }
}

fn table(rows: &[Row], number: bool) -> String {
    let names: Vec<&str> = rows[0].cells.iter().map(|(name, _)| *name).collect();
    let mut text = format!("{},y\n", names.join(","));
    for row in rows {
        let cells: Vec<&str> = row.cells.iter().map(|(_, cell)| cell.as_str()).collect();
        let y = if number { format!("{:.5}", row.y) } else { class(row).to_owned() };
        let _ = writeln!(text, "{},{y}", cells.join(","));
    }
    text
}

type Plant = fn(&mut Vec<Row>);
/// A fault, and the first column that is named with it.
type Named = (Fault, &'static str);

/// What is planted, where it is done to numbers and to classes alike, and what is to be found.
fn faults() -> Vec<(&'static str, Plant, &'static [Named])> {
    vec![
        ("nothing", |_| {}, &[]),
        ("duplicates", |rows| rows.extend(rows.clone().into_iter().take(200)), &[(Fault::Duplicates, "")]),
        (
            "near duplicates",
            |rows| {
                let mut twins: Vec<Row> = rows.iter().take(200).cloned().collect();
                for twin in &mut twins {
                    for name in ["a", "b", "c"] {
                        let value = twin.cells.iter().find(|(known, _)| *known == name).unwrap().1.clone();
                        set(twin, name, format!("{value}00001"));
                    }
                    let colour =
                        twin.cells.iter().find(|(known, _)| *known == "colour").unwrap().1.to_uppercase();
                    set(twin, "colour", colour);
                }
                rows.extend(twins);
            },
            &[(Fault::NearDuplicates, "")],
        ),
        (
            "an id that sorts by target",
            |rows| {
                rows.sort_by(|one, other| one.y.total_cmp(&other.y));
                rows.iter_mut()
                    .enumerate()
                    .for_each(|(place, row)| row.cells.insert(0, ("id", (1000 + place).to_string())));
            },
            &[(Fault::OrderTells, "id")],
        ),
        (
            "a group on both sides",
            |rows| {
                let mut rng = Rng::new(5);
                let people: Vec<f64> = (0..80).map(|_| 4.0 * rng.uniform() - 1.0).collect();
                for row in rows {
                    let who = rng.below(people.len());
                    set(row, "patient", format!("p{who}"));
                    row.y = 0.5 * row.y + people[who];
                }
            },
            &[(Fault::GroupOnBothSides, "patient")],
        ),
        (
            "a copy of the target",
            |rows| {
                for row in rows {
                    let copy = format!("{:.5}", 3.0 * (row.y * 1e5).round() / 1e5 + 1.0);
                    let word = if class(row) == "1" { "churned" } else { "stayed" };
                    set(row, "status", format!("{copy}|{word}"));
                }
            },
            &[(Fault::TargetCopy, "status")],
        ),
        (
            "a feature that knows",
            |rows| {
                let mut rng = Rng::new(6);
                for row in rows {
                    // Nearly the target: a measurement made afterwards.
                    let after = row.y + if row.y > 0.75 { 0.02 } else { -0.02 } + 0.001 * rng.uniform();
                    set(row, "refund", format!("{after:.6}"));
                }
            },
            &[(Fault::PredictsTooWell, "refund")],
        ),
        (
            "dates that run backwards in a row",
            |rows| {
                for row in rows.iter_mut().step_by(40) {
                    set(row, "ended", "2022-01-01".to_owned());
                }
            },
            &[(Fault::DatesBackwards, "begun")],
        ),
        (
            "a table from the latest to the earliest",
            |rows| {
                for (place, row) in rows.iter_mut().rev().enumerate() {
                    set(
                        row,
                        "seen",
                        format!("20{:02}-{:02}-{:02}", 10 + place / 336, 1 + place / 28 % 12, 1 + place % 28),
                    );
                }
            },
            &[(Fault::TrainsOnTheFuture, "seen"), (Fault::DatesBackwards, "seen")],
        ),
        (
            "empty and constant columns",
            |rows| {
                for row in rows {
                    set(row, "nothing", String::new());
                    set(row, "same", "7".to_owned());
                }
            },
            &[(Fault::EmptyColumn, "nothing"), (Fault::ConstantColumn, "same")],
        ),
    ]
}

#[test]
fn each_planted_fault_is_found_and_named() {
    for (name, plant, expected) in faults() {
        for number in [false, true] {
            let mut rows = clean(1000);
            plant(&mut rows);
            if name == "a copy of the target" {
                for row in &mut rows {
                    let both = row.cells.iter().find(|(name, _)| *name == "status").unwrap().1.clone();
                    let (copy, word) = both.split_once('|').unwrap();
                    set(row, "status", if number { copy } else { word }.to_owned());
                }
            }
            let place = Place::new(&[("t.csv", table(&rows, number).as_bytes())]);
            let made = place.make(&place.request("y", if number { "rmse" } else { "auc" })).unwrap();
            let checked = check(&made.competition, &made.folders).unwrap();
            let found: Vec<(Fault, &str)> = checked
                .findings
                .iter()
                .map(|finding| (finding.fault, finding.columns.first().map_or("", String::as_str)))
                .collect();
            assert_eq!(found, expected, "{name}, number {number}: {:#?}", checked.findings);
            for finding in &checked.findings {
                assert!(
                    finding.columns.iter().all(|name| finding.text.contains(&format!("`{name}`"))),
                    "{finding:?}"
                );
                assert!(!finding.advice.is_empty());
            }
        }
    }
}

#[test]
fn a_split_that_does_not_keep_its_word_is_told() {
    let mut rows = clean(400);
    for (place, row) in rows.iter_mut().enumerate() {
        set(row, "seen", format!("2024-{:02}-{:02}", 1 + place / 28 % 12, 1 + place % 28));
    }
    let place = Place::new(&[("t.csv", table(&rows, false).as_bytes())]);
    let request = Request { split: Some("time:seen".parse().unwrap()), ..place.request("y", "auc") };
    let made = place.make(&request).unwrap();
    assert_eq!(check(&made.competition, &made.folders).unwrap().findings, []);
    // Somebody puts an old row among the rows to predict, and breaks the answers.
    let test = made.folders.public.join("test.csv");
    let text = std::fs::read_to_string(&test).unwrap();
    let last = text.lines().last().unwrap();
    let day = last.rsplit(',').next().unwrap();
    std::fs::write(&test, text.replace(last, &last.replace(day, "2023-01-01"))).unwrap();
    let faults = |found: Vec<podium_competition::check::Finding>| {
        found.into_iter().map(|finding| finding.fault).collect::<Vec<Fault>>()
    };
    let found = check(&made.competition, &made.folders).unwrap().findings;
    assert_eq!(faults(found), [Fault::TrainsOnTheFuture]);
    std::fs::write(made.folders.answers(&made.competition), "id,y\n1,0\n").unwrap();
    let found = faults(check(&made.competition, &made.folders).unwrap().findings);
    assert!(found.contains(&Fault::SelfGrade), "{found:?}");
}
