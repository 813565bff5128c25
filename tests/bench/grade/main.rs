//! What grading costs: `cargo bench -p podium --bench grade [-- --python PYTHON] [--official CHECKOUT] [--podium PROGRAM]
//! [--folder DIR] [--only ID]...`. A table, no test: nothing here fails. The files stand in `--folder` where one is named, to be looked
//! at afterwards.
//!
//! Made-up files with the columns and the rows of real competitions (`sets`) are graded by `podium grade`, a whole
//! process each time; beside it stands the equal computation with pandas and scikit-learn (`peer.py`), a whole process
//! too, where `--python` names an interpreter that has them. Medians of several rounds (one, of the peer on large
//! files), one after the other; peak
//! memory is the most that the kernel ever counted for the process (`VmHWM`, read until it ends). `--podium` names
//! another build of the program, such as a release. The score of both is
//! compared, so that a row compares equal work.
//!
//! With `--official` it is the official graders' own code that stands beside it (`official`).
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    clippy::approx_constant,
    missing_docs,
    reason = "a program that prints a table, and stops at what it did not expect"
)]

mod official;
mod sets;

use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sets::{Pair, Random, SETS, Set};

/// Rows of the small submissions.
const SMALL: usize = 2000;
/// Rounds on small and on large files.
const ROUNDS: [usize; 2] = [9, 3];
/// Between two looks at the memory of a process.
const LOOK: Duration = Duration::from_micros(300);
const MIB: f64 = 1024.0 * 1024.0;

/// What one process took.
struct Cost {
    seconds: f64,
    peak: f64,
    /// The most that was seen of its own memory, without what it maps of files: the program and its libraries.
    own: f64,
    /// What it printed, or that it failed.
    output: Result<String, String>,
}

/// Runs a program to its end, watching its memory.
fn run(command: &mut Command) -> Cost {
    let started = Instant::now();
    // A file takes more than a pipe that nobody reads: hours of progress bars.
    let mut errors = tempfile::tempfile().unwrap();
    let mut child = command.stdout(Stdio::piped()).stderr(errors.try_clone().unwrap()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let (mut peak, mut own) = (0.0f64, 0.0f64);
    while child.try_wait().unwrap().is_none() {
        if let Ok(text) = std::fs::read_to_string(&status) {
            peak = peak.max(bytes_of(&text, "VmHWM:"));
            own = own.max(bytes_of(&text, "RssAnon:"));
        }
        std::thread::sleep(LOOK);
    }
    let seconds = started.elapsed().as_secs_f64();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let output = if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        let mut said = Vec::new();
        errors.rewind().unwrap();
        errors.read_to_end(&mut said).unwrap();
        Err(text(&said))
    };
    Cost { seconds, peak, own, output }
}

/// A line of a process's status, which counts in KiB; 0 where it is not there, as in the moment of the start.
fn bytes_of(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0.0) * 1024.0
}

/// The median of the seconds of several runs, the most memory of any, and the last output.
fn rounds(count: usize, mut once: impl FnMut() -> Cost) -> Cost {
    let costs: Vec<Cost> = (0..count).map(|_| once()).collect();
    let mut seconds: Vec<f64> = costs.iter().map(|cost| cost.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let most = |of: fn(&Cost) -> f64| costs.iter().map(of).fold(0.0, f64::max);
    let (peak, own) = (most(|cost| cost.peak), most(|cost| cost.own));
    let output = costs.into_iter().next_back().unwrap().output;
    Cost { seconds: seconds[seconds.len() / 2], peak, own, output }
}

struct Bench {
    /// The program.
    podium: PathBuf,
    folder: PathBuf,
    python: Option<PathBuf>,
    /// Competitions that the peer can grade.
    known: Vec<String>,
}

impl Bench {
    fn podium(&self, id: &str) -> Cost {
        let [submission, answers] = self.files();
        let mut command = Command::new(&self.podium);
        command.args(["grade", "--json", "-c", id, "--answers"]).arg(answers).arg(submission);
        run(&mut command)
    }

    fn peer(&self, python: &Path, id: &str) -> Cost {
        run(Command::new(python).arg(peer_script()).arg(id).args(self.files()))
    }

    fn files(&self) -> [PathBuf; 2] {
        ["submission.csv", "answers.csv"].map(|name| self.folder.join(name))
    }

    /// Writes both files of a set; how many bytes they are.
    fn write(&self, set: &Set, rows: usize) -> f64 {
        let [submission, answers] = self.files();
        let mut pair = Pair::create(&submission, &answers);
        (set.write)(&mut pair, rows, &mut Random(0x9E37_79B9_7F4A_7C15));
        drop(pair);
        let size: u64 = [&submission, &answers].map(|path| path.metadata().unwrap().len()).iter().sum();
        size as f64
    }

    /// One line of the table.
    fn row(&self, set: &Set, rows: usize, rounds_of: usize) {
        let size = self.write(set, rows);
        let ours = rounds(rounds_of, || self.podium(set.id));
        let Some(score) = score(set.id, &ours.output) else { return };
        let python = self.python.as_ref().filter(|_| self.known.iter().any(|known| known == set.id));
        let theirs =
            python.map(|python| rounds(if rows == SMALL { 3 } else { 1 }, || self.peer(python, set.id)));
        let [seconds, ratio, peak] = match &theirs {
            None => <[String; 3]>::default(),
            Some(theirs) => {
                agree(set.id, score, &theirs.output);
                let ratio = theirs.seconds / ours.seconds;
                [format!("{:.2} s", theirs.seconds), format!("{ratio:.0}"), mib(theirs.peak)]
            }
        };
        let official = if rows == set.rows { format!("{:.2} s", set.official) } else { String::new() };
        println!(
            "| {} | {rows} | {} | {} | {seconds} | {ratio} | {official} | {} | {:.1} | {} | {peak} |",
            set.id,
            mib(size),
            time(ours.seconds),
            mib(ours.peak),
            ours.peak / size,
            mib(ours.own),
        );
    }
}

/// The score in Podium's report; where there is none it is said why.
fn score(id: &str, output: &Result<String, String>) -> Option<f64> {
    match output {
        Ok(report) => serde_json::from_str::<serde_json::Value>(report).unwrap()["score"].as_f64(),
        Err(error) => {
            eprintln!("{id}: {}", error.trim());
            None
        }
    }
}

/// Says so when the two did not compute the same.
fn agree(id: &str, ours: f64, theirs: &Result<String, String>) {
    let theirs = match theirs {
        Ok(text) => text.trim().parse::<f64>().unwrap(),
        Err(error) => return eprintln!("{id}: the peer failed: {error}"),
    };
    if (ours - theirs).abs() > 1e-5 {
        eprintln!("{id}: Podium scored {ours}, the peer {theirs}");
    }
}

fn time(seconds: f64) -> String {
    if seconds < 0.1 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") }
}

fn mib(bytes: f64) -> String {
    if bytes < 10.0 * MIB { format!("{:.1} MiB", bytes / MIB) } else { format!("{:.0} MiB", bytes / MIB) }
}

fn peer_script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/grade/peer.py")
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let mut podium = PathBuf::from(env!("CARGO_BIN_EXE_podium"));
    let (mut python, mut checkout, mut kept, mut wanted) = (None, None, None, Vec::new());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--python" => python = arguments.next().map(PathBuf::from),
            "--official" => checkout = arguments.next().map(PathBuf::from),
            "--podium" => podium = arguments.next().map_or(podium, PathBuf::from),
            "--folder" => kept = arguments.next().map(PathBuf::from),
            "--only" => wanted.extend(arguments.next()),
            other => return eprintln!("there is no option {other}"),
        }
    }
    let wanted = |set: &&Set| wanted.is_empty() || wanted.iter().any(|id| id == set.id);
    let scratch = tempfile::tempdir().unwrap();
    let folder = kept.unwrap_or_else(|| scratch.path().to_owned());
    if let Some(checkout) = checkout {
        let python = python.unwrap_or_else(|| PathBuf::from("python3"));
        let bench = Bench { podium, folder, python: Some(python.clone()), known: Vec::new() };
        return official::table(&bench, &python, &checkout, SETS.iter().filter(wanted));
    }
    let known = python.as_ref().map(|python| run(Command::new(python).arg(peer_script())).output.unwrap());
    let known = known.unwrap_or_default().lines().map(str::to_owned).collect();
    let bench = Bench { podium, folder, python, known };
    println!(
        "| competition | rows | both files | podium grade | pandas and scikit-learn | times faster | official graders, elsewhere | peak memory | times the files | of it its own | peak of pandas |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for small in [true, false] {
        for set in SETS.iter().filter(wanted) {
            let rows = if small { SMALL.min(set.rows) } else { set.rows };
            if small || set.rows > SMALL {
                bench.row(set, rows, ROUNDS[usize::from(!small)]);
            }
        }
    }
}
