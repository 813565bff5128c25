//! Mutated files: whatever bytes a submission or the answers hold, nothing panics, and what is read does not depend on
//! the pieces in which it comes.
//!
//! The seeds are the oracle's own files, so that mutants get past the first check of their grader. A plain run makes a
//! fixed number of mutants; `PODIUM_FUZZ_SECONDS=600 PODIUM_FUZZ_SEED=7 cargo test -p podium-competition --test it fuzz`
//! goes on for ten minutes from another seed. A mutant that fails is left in the folder that the failure names.

mod mutate;
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use podium_competition::csv::{self, ReadOptions, Table};
use podium_competition::{Competition, Outcome, grade, validate};

use crate::fuzz::mutate::{Random, mutate};
use crate::fuzz::seeds::{Case, Seeds};

/// Mutants of a plain run.
const MUTANTS: u64 = 1500;
const SEED: u64 = 0x00C0_FFEE;

/// How long to go on, and from which seed.
struct Plan {
    seed: u64,
    until: Option<Instant>,
}

impl Plan {
    fn of_environment() -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
        Self {
            seed: number("PODIUM_FUZZ_SEED").unwrap_or(SEED),
            until: number("PODIUM_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds)),
        }
    }

    fn goes_on(&self, done: u64) -> bool {
        self.until.map_or(done < MUTANTS, |until| Instant::now() < until)
    }
}

/// Hands out its bytes in pieces of odd sizes.
struct Pieces<'a> {
    bytes: &'a [u8],
    random: Random,
}

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let size = (1 + self.random.below(7)).min(buffer.len()).min(self.bytes.len());
        let (piece, rest) = self.bytes.split_at(size);
        buffer[..size].copy_from_slice(piece);
        self.bytes = rest;
        Ok(size)
    }
}

fn show(read: &Result<Table, csv::CsvError>) -> String {
    match read {
        Ok(table) => format!("{table:?}"),
        Err(error) => format!("{error:?}"),
    }
}

/// Reads the bytes in one piece and in many, with all columns and with one.
fn read_all_ways(bytes: &[u8], random: &mut Random) {
    let options = ReadOptions { max_rows: (random.below(8) == 0).then_some(3), ..ReadOptions::default() };
    let whole = csv::read(bytes, &options);
    let pieces = csv::read(Pieces { bytes, random: Random::new(random.next()) }, &options);
    assert_eq!(show(&whole), show(&pieces), "the pieces change what is read");
    let Ok(table) = whole else { return };
    for (name, column) in table.columns() {
        assert_eq!(column.len(), table.rows, "column {name:?} is of another length");
        assert_eq!(column.cells().len(), table.rows);
        column.cells().for_each(|cell| drop(cell.to_string()));
    }
    let Some(name) = table.names.last() else { return };
    let options = ReadOptions { keep: Some(vec![name.clone()]), ..options };
    let alone = csv::read(bytes, &options).unwrap();
    assert_eq!(format!("{:?}", alone.column(name)), format!("{:?}", table.column(name)));
}

/// Grades a mutant; the verdict of `validate` must be that of `grade`.
fn grade_mutant(competition: &Competition, submission: &Path, answers: &Path) {
    let graded = grade(competition, submission, answers).map(|graded| graded.outcome);
    let verdict = validate(competition, submission, answers, None);
    match (graded, verdict) {
        (Ok(Outcome::Scored { .. }), Ok(verdict)) => assert!(verdict.is_valid()),
        (Ok(outcome), Ok(verdict)) => {
            assert!(!verdict.is_valid());
            assert!(!outcome.reason().unwrap().is_empty());
        }
        (Err(left), Err(right)) => assert_eq!(left.to_string(), right.to_string()),
        (left, right) => panic!("grade says {left:?}, validate {right:?}"),
    }
}

/// Where a failing mutant is left.
fn keep(number: u64, bytes: &[u8], case: &Case) -> PathBuf {
    let folder = std::env::temp_dir().join("podium-fuzz");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{}-{number}.csv", case.competition));
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn no_mutant_panics() {
    let plan = Plan::of_environment();
    let mut random = Random::new(plan.seed);
    let mut seeds = Seeds::default();
    let folder = tempfile::tempdir().unwrap();
    let (submission, answers) = (folder.path().join("submission.csv"), folder.path().join("answers"));
    let (mut done, mut slowest) = (0, (Duration::ZERO, String::new()));
    while plan.goes_on(done) {
        let case = seeds.pick(&mut random);
        let other = seeds.pick(&mut random);
        let of_answers = random.below(6) == 0;
        let bytes =
            mutate(if of_answers { &case.answers } else { &case.submission }, &other.submission, &mut random);
        let started = Instant::now();
        let checked = catch_unwind(AssertUnwindSafe(|| {
            read_all_ways(&bytes, &mut random);
            std::fs::write(&submission, if of_answers { &case.submission } else { &bytes }).unwrap();
            std::fs::write(&answers, if of_answers { &bytes } else { &case.answers }).unwrap();
            grade_mutant(seeds.competition(&case.competition), &submission, &answers);
        }));
        if checked.is_err() {
            let (path, side) = (keep(done, &bytes, &case), if of_answers { "answers" } else { "submission" });
            panic!("mutant {done} of seed {} fails as {side}: {}", plan.seed, path.display());
        }
        if started.elapsed() > slowest.0 {
            slowest = (started.elapsed(), case.competition.clone());
            if slowest.0 > Duration::from_secs(2) {
                println!("slow: {slowest:?}, {}", keep(done, &bytes, &case).display());
            }
        }
        done += 1;
    }
    println!("{done} mutants of seed {}, the slowest took {:?} ({})", plan.seed, slowest.0, slowest.1);
}
