//! How fast the viewer opens what is large: `cargo bench -p podium --bench view [-- --folder DIR]`. A table, no test:
//! nothing here fails.
//!
//! A short run of the toy competition is made into one of 5,000 nodes and one of a loop with as many steps, by writing
//! into its journal, and 1,000 ended runs are laid beside them. Each request is sent to `podium view` over a connection of
//! its own; the first reads the journal, the second finds its outline open.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::indexing_slicing,
    missing_docs,
    dead_code,
    reason = "a program that prints a table, and stops at what it did not expect"
)]

#[path = "../../it/support/grown.rs"]
mod grown;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use grown::{Kind, grow};

/// Nodes, and steps.
const MANY: u32 = 5000;
/// Bytes that are added to each prompt.
const PROMPT: usize = 12_000;
/// Ended runs.
const RUNS: usize = 1000;

fn podium() -> Command {
    Command::new(env!("CARGO_BIN_EXE_podium"))
}

/// One short run in `runs`.
fn run(runs: &Path) -> PathBuf {
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/assets");
    let ended = podium()
        .args([
            "run",
            "--scaffold",
            "aide",
            "--competition",
            "toy",
            "--model",
            "playbook",
            "--steps",
            "1",
            "--json",
        ])
        .args(["--memory", "512MiB", "--cpus", "1", "--python", "python3"])
        .arg("--assets")
        .arg(assets)
        .arg("--runs-dir")
        .arg(runs)
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// One request: seconds and bytes of the answer.
fn ask(host: &str, target: &str) -> (f64, usize) {
    let begun = Instant::now();
    let mut connection = TcpStream::connect(host).unwrap();
    write!(connection, "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{target}: {}", String::from_utf8_lossy(&answer));
    (begun.elapsed().as_secs_f64(), answer.len())
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let named = arguments.find(|argument| argument == "--folder").and_then(|_| arguments.next());
    let kept = tempfile::tempdir().unwrap();
    let place = named.map_or_else(|| kept.path().to_owned(), PathBuf::from);
    let runs = place.join("runs");
    let first = run(&place.join("short"));
    copy(&first, &runs.join("nodes"));
    copy(&first, &runs.join("steps"));
    let nodes = grow(&runs.join("nodes"), MANY, Kind::Nodes, PROMPT);
    let steps = grow(&runs.join("steps"), MANY, Kind::Steps, PROMPT);
    for number in 0..RUNS {
        let folder = runs.join(format!("ended-{number}"));
        std::fs::create_dir_all(&folder).unwrap();
        for file in ["config.json", "place.json", "run.json"] {
            std::fs::copy(first.join(file), folder.join(file)).unwrap();
        }
    }
    let size = |name: &str| std::fs::metadata(runs.join(name).join("journal.db")).unwrap().len() / 1_000_000;
    println!(
        "{MANY} nodes: {nodes} entries, {} MB; {MANY} steps: {steps} entries, {} MB",
        size("nodes"),
        size("steps")
    );
    let mut viewer = podium()
        .arg("view")
        .arg(&runs)
        .args(["--port", "0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(viewer.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let host = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
    println!("{:<44}  {:>8}  {:>8}  {:>10}", "", "first s", "again s", "bytes");
    for (what, target) in [
        (format!("list of {} runs", RUNS + 2), "/api/list"),
        (format!("run of {MANY} nodes"), "/api/run?at=nodes"),
        ("a node of it".to_owned(), "/api/item?at=nodes&n=4321"),
        (format!("run of {steps} events"), "/api/run?at=steps"),
        ("a step of it".to_owned(), "/api/item?at=steps&n=4321"),
        ("a word that is nowhere, in both".to_owned(), "/api/search?q=zzzqqq&at=nodes"),
    ] {
        let ((first, bytes), (again, _)) = (ask(&host, target), ask(&host, target));
        println!("{what:<44}  {first:>8.3}  {again:>8.3}  {bytes:>10}");
    }
    viewer.kill().unwrap();
    viewer.wait().unwrap();
}
