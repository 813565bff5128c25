//! `podium grade` beside the official graders' own code (`official.py`) on the same two files of full size: whole
//! processes, in rounds that take turns, so that what else the machine does falls on both. Of the wall time the least of
//! all rounds is told, of the processor time the mean, which depends less on what else runs; the official code uses one
//! core but for one grader, and its peak is that of its first process.

use std::path::Path;
use std::process::Command;

use crate::{Bench, Cost, Set, agree, mib, run, score};

/// Rounds of Podium in each round of the official code.
const ROUNDS: usize = 3;
/// Where the official code took longer than this elsewhere, in seconds, it goes once.
const LONG: f64 = 60.0;

/// Several runs of one program.
struct Rounds {
    /// Of the fastest.
    seconds: f64,
    /// Processor seconds of all.
    processor: f64,
    count: usize,
    peak: f64,
    own: f64,
    output: Result<String, String>,
}

impl Rounds {
    const fn none() -> Self {
        Self {
            seconds: f64::INFINITY,
            processor: 0.0,
            count: 0,
            peak: 0.0,
            own: 0.0,
            output: Err(String::new()),
        }
    }

    fn add(&mut self, once: impl FnOnce() -> Cost) {
        let before = processor_seconds();
        let cost = once();
        self.processor += processor_seconds() - before;
        self.seconds = self.seconds.min(cost.seconds);
        self.peak = self.peak.max(cost.peak);
        self.own = self.own.max(cost.own);
        self.count += 1;
        self.output = cost.output;
    }

    fn mean_processor(&self) -> f64 {
        self.processor / self.count as f64
    }
}

/// Processor seconds of all children that have ended, and of theirs.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    // `cutime` and `cstime`: proc_pid_stat(5), fields 16 and 17, in hundredths of a second.
    let hundredths: f64 = fields.split(' ').skip(13).take(2).map(|field| field.parse::<f64>().unwrap()).sum();
    hundredths / 100.0
}

/// Prints the table.
pub(crate) fn table<'a>(bench: &Bench, python: &Path, checkout: &Path, sets: impl Iterator<Item = &'a Set>) {
    println!(
        "| competition, at full size | both files | podium grade | official code | times faster | processor seconds of podium grade | of the official code | times | peak memory | times the files | of it its own | peak of the official code |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for set in sets {
        row(bench, python, checkout, set);
    }
}

fn row(bench: &Bench, python: &Path, checkout: &Path, set: &Set) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/grade/official.py");
    let size = bench.write(set, set.rows);
    let (mut ours, mut theirs) = (Rounds::none(), Rounds::none());
    for _ in 0..if set.official > LONG { 1 } else { 2 } {
        for _ in 0..ROUNDS {
            ours.add(|| bench.podium(set.id));
        }
        theirs.add(|| run(Command::new(python).arg(&script).arg(checkout).arg(set.id).args(bench.files())));
    }
    let Some(score) = score(set.id, &ours.output) else { return };
    agree(set.id, score, &theirs.output);
    println!(
        "| {} | {} | {:.2} s | {:.2} s | {:.0} | {:.2} | {:.2} | {:.0} | {} | {:.1} | {} | {} |",
        set.id,
        mib(size),
        ours.seconds,
        theirs.seconds,
        theirs.seconds / ours.seconds,
        ours.mean_processor(),
        theirs.mean_processor(),
        theirs.mean_processor() / ours.mean_processor(),
        mib(ours.peak),
        ours.peak / size,
        mib(ours.own),
        mib(theirs.peak),
    );
}
