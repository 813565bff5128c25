//! An uninterrupted run of the toy competition, and what must hold for a run that was killed and resumed: the same
//! tree, the same grade, an untouched journal prefix, and no call sent again that had an answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::run::{Row, grade_of, tree_of};
use super::{Place, Podium, Run};

/// The seed at which eight steps hold drafts, fixes, an improvement, a crash and an attempt at the network.
pub(crate) const SEED: u64 = 4;
/// Steps of the reference.
pub(crate) const STEPS: u32 = 8;

/// The run that all others are measured by.
#[derive(Debug)]
pub(crate) struct Reference {
    /// Where it ran; the others run beside it.
    pub(crate) place: Place,
    /// Its journal.
    pub(crate) rows: Vec<Row>,
    /// Its tree.
    pub(crate) tree: Vec<Value>,
    /// Its grade.
    pub(crate) grade: Value,
    /// How long it took, its start and end included.
    pub(crate) took: Duration,
}

/// What a killed run left.
#[derive(Clone, Debug)]
pub(crate) struct Left {
    rows: Vec<Row>,
    intents: BTreeMap<String, u64>,
    open: Vec<String>,
}

impl Left {
    /// What lies in the run's folder now.
    pub(crate) fn by(run: &Run) -> Self {
        Self { rows: run.rows(), intents: run.intents(), open: run.open_intents() }
    }

    /// What a run left that had not begun.
    pub(crate) fn nothing() -> Self {
        Self { rows: Vec::new(), intents: BTreeMap::new(), open: Vec::new() }
    }

    /// Committed entries.
    pub(crate) fn entries(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Calls that were sent and have no answer.
    pub(crate) fn open(&self) -> &[String] {
        &self.open
    }

    /// As it is for a process that was not killed: what is under way will be answered.
    pub(crate) fn without_open(mut self) -> Self {
        for key in std::mem::take(&mut self.open) {
            self.intents.remove(&key);
        }
        self
    }

    /// Whether everything of `earlier` still stands as it was.
    pub(crate) fn begins_with(&self, earlier: &Self) -> bool {
        self.rows.starts_with(&earlier.rows)
    }

    /// Every try that was sent has its answer or its charge.
    #[track_caller]
    pub(crate) fn accounts_for_every_try(&self) {
        for (key, tries) in &self.intents {
            let of_key = |kind: &str| {
                self.rows.iter().filter(|row| row.kind == kind && row.key.as_ref() == Some(key)).count()
                    as u64
            };
            assert_eq!(of_key("result"), 1, "{key}");
            assert_eq!(*tries, 1 + of_key("charge"), "{key}: tries, answers and charges do not add up");
        }
    }
}

impl Reference {
    /// Runs it.
    pub(crate) fn make() -> Self {
        let place = Place::new();
        let begun = Instant::now();
        let report = Podium::toy_run(&place, STEPS, SEED).output().expect(0).json();
        let took = begun.elapsed();
        assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"steps".into()));
        let run = Run::only(&place.runs());
        let (rows, tree) = (run.rows(), run.tree(&place));
        assert_eq!(tree.len(), STEPS as usize);
        let operators: Vec<&str> = tree.iter().filter_map(|node| node["operator"].as_str()).collect();
        for operator in ["draft", "debug", "improve"] {
            assert!(
                operators.contains(&operator),
                "{operators:?} should hold all operators: choose another seed"
            );
        }
        assert!(run.intents().values().all(|tries| *tries == 1));
        Self { rows, tree, grade: grade_of(&report), took, place }
    }

    /// Number of the last entry.
    pub(crate) fn last(&self) -> u64 {
        self.rows.len() as u64
    }

    /// A folder for the runs of one case.
    pub(crate) fn case(&self, name: impl AsRef<Path>) -> PathBuf {
        self.place.path().join("cases").join(name)
    }

    /// The same run below `runs`.
    pub(crate) fn again(&self, runs: &Path) -> Podium {
        Podium::toy_run_in(&self.place, runs, STEPS, SEED)
    }

    /// Resumes a run that was killed and checks all that must hold.
    #[track_caller]
    pub(crate) fn completes(&self, run: &Run, left: &Left) {
        let report = Podium::resume(&self.place, &run.path).output().expect(0).json();
        self.agrees(run, left, &report);
    }

    /// All that must hold for a run that was killed, resumed and ended with `report`.
    #[track_caller]
    pub(crate) fn agrees(&self, run: &Run, left: &Left, report: &Value) {
        let whose = run.path.display();
        let shown = run.show(&self.place);
        assert_eq!(tree_of(&shown), self.tree, "{whose}: another tree");
        assert_eq!(grade_of(report), self.grade, "{whose}: another grade");
        assert_eq!(report["stopped_by"], "steps", "{whose}");
        let rows = run.rows();
        assert_eq!(rows.get(..left.rows.len()), Some(left.rows.as_slice()), "{whose}: the prefix changed");
        assert!(rows.iter().zip(1..).all(|(row, seq)| row.seq == seq), "{whose}: a gap in the journal");
        self.nothing_is_sent_twice(run, left, &rows);
        let replay = Podium::new(&self.place).arg("replay").arg(&run.path).arg("--json").output().expect(0);
        assert_eq!(replay.json()["agrees"], true, "{whose}");
        assert_eq!(replay.json()["entries"], rows.len(), "{whose}");
    }

    /// Calls with an answer are not sent again; those in flight at the kill are, once, and their lost try is charged.
    #[track_caller]
    fn nothing_is_sent_twice(&self, run: &Run, left: &Left, rows: &[Row]) {
        let whose = run.path.display();
        let mut expected: BTreeMap<String, u64> = self.calls().map(|call| (call.to_owned(), 1)).collect();
        for key in &left.open {
            let before = left.intents.get(key).copied().unwrap_or_default();
            expected.insert(key.clone(), before + 1);
        }
        for (key, tries) in &left.intents {
            if !left.open.contains(key) {
                expected.insert(key.clone(), *tries);
            }
        }
        assert_eq!(run.intents(), expected, "{whose}: calls were sent again");
        assert!(run.open_intents().is_empty(), "{whose}: calls without an account");
        let charged: Vec<&str> = rows
            .iter()
            .skip(left.rows.len())
            .filter(|row| row.kind == "charge")
            .filter_map(|row| row.key.as_deref())
            .collect();
        assert_eq!(charged, left.open.iter().map(String::as_str).collect::<Vec<_>>(), "{whose}");
        assert!(charged.len() <= 1, "{whose}: one worker has one call in flight");
    }

    fn call_rows(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.record().is_some_and(|record| record["effect"]["effect"] == "chat"))
    }

    /// Keys of the model calls.
    fn calls(&self) -> impl Iterator<Item = &str> {
        self.call_rows().filter_map(|row| row.key.as_deref())
    }

    /// Numbers of the entries that hold the answers of model calls.
    pub(crate) fn call_entries(&self) -> impl Iterator<Item = u64> {
        self.call_rows().map(|row| row.seq)
    }
}

/// Cases in parallel: `act` for each, on a few threads. A failure fails the test with its own words, and no further
/// case is begun.
pub(crate) fn in_parallel<T: Send + Sync>(cases: &[T], act: impl Fn(&T) + Send + Sync) {
    const THREADS: usize = 4;
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS.min(cases.len()) {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed = FirstFailure(&next, cases.len());
                    act(case);
                    std::mem::forget(failed);
                }
            });
        }
    });
}

/// Dropped by a panic only: moves the counter behind the last case.
struct FirstFailure<'a>(&'a AtomicUsize, usize);

impl Drop for FirstFailure<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Relaxed);
    }
}
