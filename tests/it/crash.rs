//! Promise 1, nothing paid for is lost: `kill -9` at every committed-effect boundary and at random instants.
//!
//! After each kill the run is resumed, and must end in the tree and the grade of a run that was never interrupted,
//! with the journal's prefix untouched and no answered call sent again.

use std::time::{Duration, Instant};

use podium_types::rng::Rng;

use crate::support::held::HeldService;
use crate::support::leftovers::{groups_of, jailed};
use crate::support::reference::{Left, Reference, in_parallel};
use crate::support::{Place, Podium, Run, need, wait};

/// Kills from outside, with one worker and with three.
const RANDOM_KILLS: u64 = 30;
const THREE_WORKERS_KILLS: u64 = 8;

/// Kills at the named instants of the journal that `select` picks, each in a run of its own.
fn sweep(test: &str, instant: &str, select: impl Fn(&Reference) -> Vec<u64>) {
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let reference = Reference::make();
    let numbers = select(&reference);
    let begun = Instant::now();
    in_parallel(&numbers, |number| {
        let runs = reference.case(format!("{instant}-{number}"));
        let named = format!("{instant}:{number}");
        let killed = reference.again(&runs).failpoint(&named).output();
        assert!(killed.was_killed(), "{named} was not reached: {killed:?}");
        let run = Run::only(&runs);
        let left = Left::by(&run);
        let committed = if instant == "after_commit" { *number } else { *number - 1 };
        assert_eq!(left.entries(), committed, "{named}");
        // Only a call can be under way: sent, and its answer not yet committed.
        let under_way = instant != "after_commit" && reference.call_entries().any(|entry| entry == *number);
        assert_eq!(left.open().len(), usize::from(under_way), "{named}");
        reference.completes(&run, &left);
    });
    eprintln!("{} kills at {instant} in {:.1} s", numbers.len(), begun.elapsed().as_secs_f64());
}

#[test]
fn a_kill_before_any_commit_loses_nothing() {
    sweep("a_kill_before_any_commit_loses_nothing", "before_commit", |reference| {
        (1..=reference.last()).collect()
    });
}

#[test]
fn a_kill_after_any_commit_loses_nothing() {
    sweep("a_kill_after_any_commit_loses_nothing", "after_commit", |reference| {
        (1..=reference.last()).collect()
    });
}

#[test]
fn a_call_that_was_sent_and_not_answered_is_charged_and_sent_once_more() {
    let test = "a_call_that_was_sent_and_not_answered_is_charged_and_sent_once_more";
    sweep(test, "after_intent", |reference| reference.call_entries().collect());
}

#[test]
fn a_kill_at_a_random_instant_loses_nothing_and_leaves_nothing_running() {
    if !need::jail("a_kill_at_a_random_instant_loses_nothing_and_leaves_nothing_running") {
        return;
    }
    let reference = Reference::make();
    let begun = Instant::now();
    let cases: Vec<u64> = (0..RANDOM_KILLS).collect();
    in_parallel(&cases, |case| {
        let runs = reference.case(format!("random-{case}"));
        let mut rng = Rng::new(1000 + case);
        // One delay in each of thirty slices of the reference's duration, drawn inside its slice.
        let mut delay = reference.took.mul_f64((*case as f64 + rng.uniform()) / RANDOM_KILLS as f64);
        let owner = loop {
            let started = reference.again(&runs).start();
            let owner = started.pid();
            if started.killed_after(delay).was_killed() {
                break owner;
            }
            // Faster than the reference: this run ended first. Earlier, in a folder of its own.
            std::fs::remove_dir_all(&runs).unwrap();
            delay = delay.mul_f64(0.7);
        };
        wait::until("the processes of the killed run's jail to be gone", || {
            jailed(&runs).is_empty().then_some(())
        });
        let run = Run::all(&runs).into_iter().find(|run| run.path.join("config.json").exists());
        if let Some(run) = run {
            reference.completes(&run, &Left::by(&run));
        } else {
            // So early that there is no run yet: nothing was sent, and a new one finds a folder of its own.
            let report = reference.again(&runs).output().expect(0).json();
            let run = Run { path: report["run"].as_str().unwrap().into() };
            reference.agrees(&run, &Left::nothing(), &report);
        }
        wait::until("the control groups of the killed run to be gone", || {
            groups_of(owner).is_empty().then_some(())
        });
    });
    eprintln!("{RANDOM_KILLS} kills at random instants in {:.1} s", begun.elapsed().as_secs_f64());
}

#[test]
fn a_kill_in_the_middle_of_an_execution_ends_it() {
    if !need::jail("a_kill_in_the_middle_of_an_execution_ends_it") {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    let running = Podium::toy_run_with(&place, &place.runs(), 1, &service).start();
    let owner = running.pid();
    let code = "import subprocess, sys\n\nsubprocess.Popen([sys.executable, '-c', 'while True: pass'], \
                start_new_session=True)\nwhile True:\n    pass";
    service.request().answer(&format!("I wait for better times.\n\n```python\n{code}\n```\n"));
    // The program, its child in a session of its own, and the jail around them.
    wait::until("the program and its child", || (jailed(&place.runs()).len() >= 3).then_some(()));
    let groups = groups_of(owner);
    running.kill();
    assert!(running.wait().was_killed());
    wait::until("their end", || jailed(&place.runs()).is_empty().then_some(()));
    if groups.is_empty() {
        need::skip("control groups of a killed run", "none can be made here");
        return;
    }
    // Empty groups stay until the next start, which may be that of any harness on this machine.
    Podium::new(&place).args(["sandbox", "exec", "--", "true"]).output().expect(0);
    wait::until("their control groups to be gone", || groups_of(owner).is_empty().then_some(()));
}

#[test]
fn a_resume_that_is_killed_again_and_again_loses_nothing() {
    let test = "a_resume_that_is_killed_again_and_again_loses_nothing";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let reference = Reference::make();
    let runs = reference.case("again-and-again");
    // A call is in flight, so that the resume has a charge to commit.
    let call = reference.call_entries().nth(4).unwrap();
    assert!(reference.again(&runs).failpoint(&format!("after_intent:{call}")).output().was_killed());
    let run = Run::only(&runs);
    let mut kept = Left::by(&run);
    let sent = kept.clone();
    // Every boundary of a resume's own first entries: its start, the charge, and the call sent again.
    for (instant, ahead) in [
        ("before_commit", 1),
        ("after_commit", 1),
        ("before_commit", 2),
        ("after_commit", 2),
        ("before_commit", 3),
    ] {
        let named = format!("{instant}:{}", kept.entries() + ahead);
        let killed = Podium::resume(&reference.place, &run.path).failpoint(&named).output();
        // A start that was committed moves what comes behind it.
        if killed.was_killed() {
            let now = Left::by(&run);
            assert!(now.begins_with(&kept), "{named}: the prefix changed");
            kept = now;
        } else {
            panic!("{named} was not reached: {killed:?}");
        }
    }
    // And five more within the first second, at instants drawn from a seed.
    let mut rng = Rng::new(77);
    for _ in 0..5 {
        let delay = Duration::from_secs_f64(rng.uniform());
        let ended = Podium::resume(&reference.place, &run.path).start().killed_after(delay);
        let now = Left::by(&run);
        assert!(now.begins_with(&kept), "the prefix changed");
        kept = now;
        if !ended.was_killed() {
            break;
        }
    }
    let report = Podium::resume(&reference.place, &run.path).output().expect(0).json();
    let shown = run.show(&reference.place);
    assert_eq!(crate::support::run::tree_of(&shown), reference.tree);
    assert_eq!(crate::support::run::grade_of(&report), reference.grade);
    let last = Left::by(&run);
    assert!(last.begins_with(&kept) && last.begins_with(&sent) && last.open().is_empty());
    last.accounts_for_every_try();
    Podium::new(&reference.place).arg("replay").arg(&run.path).output().expect(0);
}

#[test]
fn a_kill_with_three_workers_loses_no_answer() {
    if !need::jail("a_kill_with_three_workers_loses_no_answer") {
        return;
    }
    // What finishes first decides what is tried next, so the tree may differ; what is committed may not.
    let reference = Reference::make();
    let place = &reference.place;
    let cases: Vec<u64> = (0..THREE_WORKERS_KILLS).collect();
    in_parallel(&cases, |case| {
        let runs = reference.case(format!("three-{case}"));
        let mut rng = Rng::new(2000 + case);
        let share = 0.25 + 0.5 * (*case as f64 + rng.uniform()) / THREE_WORKERS_KILLS as f64;
        let start = || reference.again(&runs).args(["--set", "search.workers=3"]).start();
        start().killed_after(reference.took.mul_f64(share));
        let Some(run) = Run::all(&runs).into_iter().find(|run| run.path.join("config.json").exists()) else {
            return;
        };
        let left = Left::by(&run);
        assert!(left.open().len() <= 3, "{:?}", left.open());
        Podium::resume(place, &run.path).output().expect(0);
        let last = Left::by(&run);
        assert!(last.begins_with(&left), "the prefix changed");
        assert!(last.open().is_empty());
        last.accounts_for_every_try();
        let tree = run.tree(place);
        assert_eq!(tree.len(), reference.tree.len());
        Podium::new(place).arg("replay").arg(&run.path).output().expect(0);
    });
}

#[test]
fn two_runs_that_start_at_once_never_meet() {
    if !need::jail("two_runs_that_start_at_once_never_meet") {
        return;
    }
    let place = Place::new();
    let started: Vec<_> = (0..4).map(|_| Podium::toy_run(&place, 2, 1).start()).collect();
    let mut folders: Vec<String> = started
        .into_iter()
        .map(|running| running.wait().expect(0).json()["run"].as_str().unwrap().to_owned())
        .collect();
    folders.sort();
    folders.dedup();
    assert_eq!(folders.len(), 4);
    let runs = Run::all(&place.runs());
    assert_eq!(runs.len(), 4);
    let trees: Vec<_> = runs.iter().map(|run| run.tree(&place)).collect();
    assert!(trees.iter().all(|tree| *tree == trees[0]), "the same seed gives the same tree");
}
