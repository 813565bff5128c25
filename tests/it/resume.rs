//! Going on with a run: limits are raised and never lowered, two processes never write one journal, an interrupt leaves
//! the best so far, and a replay believes nothing that was changed.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rustix::process::Signal;
use sha2::{Digest as _, Sha256};

use crate::json_errors::document;
use crate::support::held::HeldService;
use crate::support::reference::{Left, Reference, SEED, STEPS};
use crate::support::run::{grade_of, tree_of};
use crate::support::{Place, Podium, Run, need, wait};

/// The run below `runs`, once its journal holds `entries`.
fn begun(runs: &Path, entries: usize) -> Run {
    wait::until("the run's first entries", || {
        let run = Run::all(runs).into_iter().find(|run| run.path.join("journal.db").exists())?;
        (run.rows().len() >= entries).then_some(run)
    })
}

/// Every file of a run but the lock and SQLite's own side files, by its hash.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                pending.push(path);
            } else if !["lock", "journal.db-wal", "journal.db-shm"].contains(&name.as_str()) {
                let hash = Sha256::digest(std::fs::read(&path).unwrap()).to_vec();
                found.insert(path.to_string_lossy().into_owned(), hash);
            }
        }
    }
    found
}

#[test]
fn limits_are_raised_never_lowered_and_an_ended_run_is_left_alone() {
    if !need::jail("limits_are_raised_never_lowered_and_an_ended_run_is_left_alone") {
        return;
    }
    let reference = Reference::make();
    let place = &reference.place;
    let runs = reference.case("raised");
    let report = Podium::toy_run_in(place, &runs, 3, SEED).output().expect(0).json();
    assert_eq!((&report["stopped_by"], &report["nodes"]["total"]), (&"steps".into(), &3.into()));
    let run = Run::only(&runs);
    let before = files(&run.path);

    let lowered = Podium::resume(place, &run.path).args(["--steps", "2"]).output().expect(2);
    assert!(lowered.stderr.contains("can only raise limits"), "{}", lowered.stderr);
    assert_eq!(document(&lowered)["error"]["kind"], "usage");
    let unlimited = Podium::resume(place, &run.path).args(["--max-tokens", "1000"]).output().expect(2);
    assert!(unlimited.stderr.contains("the token limit is already unlimited"), "{}", unlimited.stderr);
    assert_eq!(files(&run.path), before, "a refused resume changed the run");

    let again = Podium::resume(place, &run.path).output().expect(0);
    assert_eq!(again.json(), report);
    assert_eq!(files(&run.path), before, "a resume of an ended run changed it");

    let left = Left::by(&run);
    let raised = Podium::resume(place, &run.path).args(["--steps", &STEPS.to_string()]).output().expect(0);
    reference.agrees(&run, &left, &raised.json());
    let limits = run.rows().iter().filter(|row| row.kind == "limits").count();
    assert_eq!(limits, 1, "the raise is in the journal");
}

#[test]
fn a_second_resume_is_refused_and_the_first_is_unharmed() {
    if !need::jail("a_second_resume_is_refused_and_the_first_is_unharmed") {
        return;
    }
    let reference = Reference::make();
    let runs = reference.case("twice");
    let first = reference.again(&runs).start();
    let run = begun(&runs, 5);
    // Held still, so that it cannot end before the second comes.
    first.signal(Signal::STOP);
    let left = Left::by(&run);
    let second = Podium::resume(&reference.place, &run.path).output().expect(2);
    let sentence = format!("is being run by process {}", first.pid());
    assert!(second.stderr.contains(&sentence) && second.stderr.contains("hint:"), "{}", second.stderr);
    assert_eq!(document(&second)["error"]["kind"], "usage");
    assert_eq!(Left::by(&run).entries(), left.entries());
    first.signal(Signal::CONT);
    let report = first.wait().expect(0).json();
    reference.agrees(&run, &left.without_open(), &report);
}

#[test]
fn an_interrupt_grades_the_best_so_far_and_the_run_goes_on_later() {
    if !need::jail("an_interrupt_grades_the_best_so_far_and_the_run_goes_on_later") {
        return;
    }
    let reference = Reference::make();
    for signal in [Signal::INT, Signal::TERM] {
        let runs = reference.case(format!("interrupted-{}", signal.as_raw()));
        let running = reference.again(&runs).start();
        // Behind the first selection.
        let selected = reference.rows.iter().position(|row| row.key.as_deref() == Some("node/1/select/0"));
        let run = begun(&runs, selected.unwrap() + 2);
        running.signal(signal);
        let ended = running.wait().expect(5);
        let report = ended.json();
        assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"interrupted".into()));
        assert!(ended.stderr.contains("podium resume"), "{}", ended.stderr);
        assert!(run.path.join("best/solution.py").exists() && run.path.join("submission.csv").exists());
        let shown = run.show(&reference.place);
        assert!(reference.tree.starts_with(&tree_of(&shown)), "what was done is done as ever");
        let left = Left::by(&run);
        assert!(left.open().is_empty(), "what was in flight has its account");
        Podium::new(&reference.place).arg("replay").arg(&run.path).output().expect(0);
        let report = Podium::resume(&reference.place, &run.path).output().expect(0).json();
        assert_eq!(tree_of(&run.show(&reference.place)), reference.tree);
        assert_eq!(grade_of(&report), reference.grade);
        let last = Left::by(&run);
        assert!(last.begins_with(&left));
        last.accounts_for_every_try();
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_a_call_in_flight() {
    let test = "a_second_interrupt_does_not_wait_for_a_call_in_flight";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    let (running, _never_answered) = Podium::toy_run_going_on(&place, &service);
    let run = begun(&place.runs(), 2);
    running.signal(Signal::INT);
    // The first is taken note of before the second comes: two equal signals at once are one.
    let caught = format!("/proc/{}/status", running.pid());
    wait::until("the first signal to be taken", || {
        let status = std::fs::read_to_string(&caught).ok()?;
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"))?;
        (u64::from_str_radix(pending.trim(), 16).ok()? & 0b10 == 0).then_some(())
    });
    let asked = Instant::now();
    let mut signals = 0;
    let ended = wait::until("the run to end at once", || {
        // Each one counts; only the second has an effect, however the first two were merged.
        running.signal(Signal::INT);
        signals += 1;
        running.has_ended().then_some(asked.elapsed())
    });
    let report = running.wait().expect(5).json();
    assert!(ended < Duration::from_secs(10), "ended after {ended:?} and {signals} more signals");
    assert_eq!((&report["outcome"], &report["stopped_by"]), (&"no_submission".into(), &"interrupted".into()));
    let rows = run.rows();
    let charges: Vec<_> = rows.iter().filter(|row| row.kind == "charge").collect();
    assert_eq!(charges.len(), 1, "the call that was cut is charged");
    assert!(charges[0].record().unwrap()["usage"]["input_tokens"].as_u64().unwrap() > 0);
    assert!(run.open_intents().is_empty());
}

#[test]
fn a_replay_detects_a_journal_that_was_changed() {
    if !need::jail("a_replay_detects_a_journal_that_was_changed") {
        return;
    }
    let reference = Reference::make();
    let original = Run::only(&reference.place.runs());
    let changes = [
        (
            "an answer",
            "UPDATE entry SET body = replace(body, 'def predict', 'def predikt') WHERE key = 'node/0/draft/0'",
        ),
        (
            "a metric",
            "UPDATE entry SET body = replace(body, '\"metric\":0.9', '\"metric\":0.99') WHERE key = 'node/1/record/0'",
        ),
        (
            "a node's metric in the review",
            "UPDATE entry SET body = replace(body, '0.9', '0.99') WHERE key = 'node/1/review/0'",
        ),
        ("a missing entry", "DELETE FROM entry WHERE key = 'node/2/execute/0'"),
        ("a missing end of a node", "DELETE FROM entry WHERE key = 'node/7/record/0'"),
        (
            "an effect's hash",
            "UPDATE entry SET body = replace(body, '\"hash\":\"', '\"hash\":\"0') WHERE key = 'node/3/draft/0'",
        ),
        (
            "another key",
            "UPDATE entry SET body = replace(body, 'node/4/begin/0', 'node/9/begin/0') WHERE key = 'node/4/begin/0'",
        ),
        ("no JSON", "UPDATE entry SET body = substr(body, 2) WHERE seq = 3"),
        (
            "two entries exchanged",
            "UPDATE entry SET seq = CASE seq WHEN 9 THEN 1010 ELSE 1009 END WHERE seq IN (9, 10); UPDATE entry SET seq = seq - 1000 WHERE seq > 1000",
        ),
    ];
    for (number, (what, change)) in changes.iter().enumerate() {
        let copy = Run { path: reference.case(format!("changed-{number}")) };
        copy_folder(&original.path, &copy.path);
        let connection = Connection::open(copy.path.join("journal.db")).unwrap();
        connection.execute_batch(change).unwrap();
        assert!(connection.total_changes() > 0, "{what}");
        drop(connection);
        assert_ne!(copy.rows(), reference.rows, "{what}: nothing was changed");
        let replay = Podium::new(&reference.place).arg("replay").arg(&copy.path).arg("--json").output();
        assert!(![Some(0), Some(70), None].contains(&replay.code), "{what}: {replay:?}");
        let told = document(&replay)["error"]["message"].to_string();
        assert!(told.contains("entry"), "{what}: {replay:?}");
    }
    Podium::new(&reference.place).arg("replay").arg(&original.path).output().expect(0);
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
