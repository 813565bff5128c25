//! A disk that fills up, and a disk across a network: nothing committed is lost, and the words are clear.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::json_errors::document;
use crate::support::held::HeldService;
use crate::support::reference::{Left, Reference, in_parallel};
use crate::support::run::{grade_of, tree_of};
use crate::support::{Podium, Run, need, wait};

/// Says that any folder is on a network file system.
const NETWORK: (&str, &str) = ("PODIUM_FILE_SYSTEM", "network");

/// A small file system of its own, unmounted when dropped.
struct SmallDisk {
    folder: PathBuf,
}

impl SmallDisk {
    /// `None` when mounting is refused.
    fn mount(folder: PathBuf, size: &str) -> Result<Self, String> {
        std::fs::create_dir_all(&folder).unwrap();
        let options = format!("size={size},mode=755");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).output();
        match mounted {
            Ok(told) if told.status.success() => Ok(Self { folder }),
            Ok(told) => Err(String::from_utf8_lossy(&told.stderr).trim().to_owned()),
            Err(error) => Err(format!("mount: {error}")),
        }
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Writes until nothing fits any more.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        for size in [1 << 20, 4096, 1] {
            let block = vec![0x5a_u8; size];
            while file.write_all(&block).is_ok() {}
        }
        assert!(std::fs::write(self.folder.join("more"), "x").is_err(), "there is still room");
        let _ = std::fs::remove_file(self.folder.join("more"));
    }

    fn empty(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.folder).output();
    }
}

/// The run below `runs`, held still once its journal has `entries`.
fn held(running: &crate::support::Running, runs: &Path, entries: usize) -> Run {
    let run = wait::until("the run's first entries", || {
        let run = Run::all(runs).into_iter().find(|run| run.path.join("journal.db").exists())?;
        (run.rows().len() >= entries).then_some(run)
    });
    running.signal(Signal::STOP);
    run
}

#[test]
fn a_disk_that_fills_up_stops_the_run_and_loses_nothing() {
    let test = "a_disk_that_fills_up_stops_the_run_and_loses_nothing";
    if !need::jail(test) || !need::mounts(test) {
        return;
    }
    let reference = Reference::make();
    let place = &reference.place;
    for entries in [1, 9, 16, 30] {
        let disk = match SmallDisk::mount(reference.case(format!("full-{entries}")), "48m") {
            Ok(disk) => disk,
            Err(why) => return need::skip(test, &why),
        };
        let runs = disk.folder.join("runs");
        let running = reference.again(&runs).start();
        let run = held(&running, &runs, entries);
        disk.fill();
        let committed = Left::by(&run);
        running.signal(Signal::CONT);
        let stopped = running.wait().expect(5);
        let words = format!("{}{}", stopped.stdout, stopped.stderr);
        assert!(words.contains("the disk is full") && words.contains("podium resume"), "{words}");
        let left = Left::by(&run);
        assert!(left.begins_with(&committed), "something committed was lost");
        assert!(left.open().is_empty() || left.entries() == committed.entries(), "{words}");

        // Still full: the same words, and still nothing lost.
        let again = Podium::resume(place, &run.path).output().expect(5);
        let words = format!("{}{}", again.stdout, again.stderr);
        assert!(words.contains("No space left on device") || words.contains("the disk is full"), "{words}");
        assert!(Left::by(&run).begins_with(&left));

        disk.empty();
        let report = Podium::resume(place, &run.path).output().expect(0).json();
        assert_eq!(tree_of(&run.show(place)), reference.tree, "filled at entry {entries}");
        assert_eq!(grade_of(&report), reference.grade);
        let last = Left::by(&run);
        assert!(last.begins_with(&left));
        last.accounts_for_every_try();
        Podium::new(place).arg("replay").arg(&run.path).output().expect(0);
    }
}

#[test]
fn an_answer_in_flight_lands_on_a_full_disk() {
    let test = "an_answer_in_flight_lands_on_a_full_disk";
    if !need::jail(test) || !need::mounts(test) {
        return;
    }
    let place = crate::support::Place::new();
    let disk = match SmallDisk::mount(place.path().join("disk"), "48m") {
        Ok(disk) => disk,
        Err(why) => return need::skip(test, &why),
    };
    let runs = disk.folder.join("runs");
    let service = HeldService::start();
    let running = Podium::toy_run_with(&place, &runs, 1, &service).start();
    let draft = service.request();
    disk.fill();
    // So long that it goes to a content file of its own.
    let plan = "I think about it at length. ".repeat(10_000);
    draft.answer(&format!("{plan}\n\n```python\nprint('validation accuracy: 0.5')\n```\n"));
    let stopped = running.wait().expect(5);
    let words = format!("{}{}", stopped.stdout, stopped.stderr);
    assert!(words.contains("the disk is full"), "{words}");
    let run = Run::only(&runs);
    let answers = || run.rows().iter().filter(|row| row.key.as_deref() == Some("node/0/draft/0")).count();
    assert_eq!((answers(), run.open_intents().len()), (1, 0), "the answer was paid for: {words}");

    disk.empty();
    let resumed = Podium::resume(&place, &run.path).held(&service).start();
    // What is asked now is what comes next: the review of what the answer's code printed.
    let next = service.request();
    assert!(next.body.to_string().contains("validation accuracy: 0.5"), "{}", next.body);
    resumed.signal(Signal::KILL);
    assert!(resumed.wait().was_killed());
    assert_eq!(run.intents()["node/0/draft/0"], 1, "the answered call was sent again");
}

#[test]
fn a_program_that_fills_the_disk_is_a_failed_program() {
    let test = "a_program_that_fills_the_disk_is_a_failed_program";
    if !need::jail(test) || !need::mounts(test) {
        return;
    }
    let place = crate::support::Place::new();
    let disk = match SmallDisk::mount(place.path().join("disk"), "48m") {
        Ok(disk) => disk,
        Err(why) => return need::skip(test, &why),
    };
    let runs = disk.folder.join("runs");
    let service = HeldService::start();
    let running = Podium::toy_run_with(&place, &runs, 1, &service).start();
    let code = "with open('big', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20))";
    service.request().answer(&format!("I keep everything.\n\n```python\n{code}\n```\n"));
    // The run goes on: the program's failure is reviewed as any other.
    let review = service.request().body.to_string();
    assert!(review.contains("No space left on device"), "{review}");
    running.signal(Signal::KILL);
    assert!(running.wait().was_killed());
}

#[test]
fn a_run_is_not_begun_on_a_full_disk() {
    let test = "a_run_is_not_begun_on_a_full_disk";
    if !need::jail(test) || !need::mounts(test) {
        return;
    }
    let place = crate::support::Place::new();
    let disk = match SmallDisk::mount(place.path().join("disk"), "8m") {
        Ok(disk) => disk,
        Err(why) => return need::skip(test, &why),
    };
    disk.fill();
    let refused = Podium::toy_run_in(&place, &disk.folder.join("runs"), 2, 1).output().expect(3);
    assert!(refused.stderr.contains("No space left on device"), "{}", refused.stderr);
    assert!(refused.stderr.contains("hint: free some room"), "{}", refused.stderr);
    assert_eq!(document(&refused)["error"]["kind"], "environment");
}

/// The sequence numbers in `events.jsonl`.
fn mirrored(run: &Run) -> Vec<u64> {
    let text = std::fs::read_to_string(run.path.join("events.jsonl")).unwrap();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.map(|event| event["entry"]["seq"].as_u64().unwrap()).collect()
}

#[test]
fn on_a_network_file_system_the_journal_is_mirrored_and_survives_kills() {
    let test = "on_a_network_file_system_the_journal_is_mirrored_and_survives_kills";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let reference = Reference::make();
    let place = &reference.place;
    let numbers = [1, 2, 4, 10, 14, 20, 33, 41, reference.last()];
    in_parallel(&numbers, |number| {
        for instant in ["before_commit", "after_commit"] {
            let runs = reference.case(format!("network-{instant}-{number}"));
            let named = format!("{instant}:{number}");
            let killed = reference.again(&runs).env(NETWORK.0, NETWORK.1).failpoint(&named).output();
            assert!(killed.was_killed(), "{named} was not reached: {killed:?}");
            let run = Run::only(&runs);
            let left = Left::by(&run);
            let shown = run.show(place);
            assert!(reference.tree.starts_with(&tree_of(&shown)), "{named}");
            // As when the kill falls in the middle of a line.
            let mirror = run.path.join("events.jsonl");
            let mut torn = std::fs::OpenOptions::new().append(true).create(true).open(mirror).unwrap();
            torn.write_all(b"{\"event\":\"ent").unwrap();
            let resumed = Podium::resume(place, &run.path).env(NETWORK.0, NETWORK.1).output().expect(0);
            reference.agrees(&run, &left, &resumed.json());
            let numbers: Vec<u64> = run.rows().iter().map(|row| row.seq).collect();
            assert_eq!(mirrored(&run), numbers, "{named}");
            assert!(!run.path.join("journal.db-wal").exists() && !run.path.join("journal.db-shm").exists());
        }
    });
}

#[test]
fn on_a_network_file_system_others_can_look_while_a_run_goes_on() {
    let test = "on_a_network_file_system_others_can_look_while_a_run_goes_on";
    if !need::jail(test) {
        return;
    }
    let reference = Reference::make();
    let runs = reference.case("watched");
    let running = reference.again(&runs).env(NETWORK.0, NETWORK.1).start();
    let run = wait::until("two nodes in the mirror", || {
        let run = Run::all(&runs).into_iter().find(|run| run.path.join("events.jsonl").exists())?;
        let text = std::fs::read_to_string(run.path.join("events.jsonl")).ok()?;
        (text.matches("/record/0").count() >= 2).then_some(run)
    });
    running.signal(Signal::STOP);
    let shown = run.show(&reference.place);
    let nodes = tree_of(&shown);
    assert!(nodes.len() >= 2 && reference.tree.starts_with(&nodes), "{nodes:?}");
    running.signal(Signal::CONT);
    let report = running.wait().expect(0).json();
    assert_eq!(grade_of(&report), reference.grade);
    assert_eq!(tree_of(&run.show(&reference.place)), reference.tree);
}
