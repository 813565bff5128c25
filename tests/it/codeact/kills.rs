//! `kill -9` at instants all over a run, and a resume each time: what was committed stands, no answered call is sent
//! again, nothing of the shell is done twice, and the run ends graded and replays.

use crate::support::reference::{Left, in_parallel};
use crate::support::{Place, Podium, Run, need};

/// Kills, spread over the run.
const KILLS: u64 = 20;

fn start(place: &Place, runs: &std::path::Path) -> Podium {
    Podium::new(place)
        .arg("run")
        .toy()
        .args(["--json", "--scaffold", "codeact", "--competition", "toy", "--model", "playbook"])
        .args(["--steps", "40", "--seed", "3", "--memory", "512MiB", "--cpus", "1"])
        .args(["--set", "session.soft_timeout=5s", "--runs-dir"])
        .arg(runs)
}

#[test]
fn a_kill_anywhere_loses_nothing_that_was_committed() {
    let test = "a_kill_anywhere_loses_nothing_that_was_committed";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    let whole = place.path().join("whole");
    let report = start(&place, &whole).output().expect(0).json();
    assert_eq!(report["outcome"], "graded", "{report}");
    let entries = Run::only(&whole).rows().len() as u64;
    let instants = ["before_commit", "after_commit"];
    let cases: Vec<(u64, &str)> = (0..KILLS)
        .map(|kill| (2 + kill * (entries - 2) / KILLS, instants[usize::try_from(kill % 2).unwrap()]))
        .collect();
    in_parallel(&cases, |(entry, instant)| {
        let runs = place.path().join("cases").join(format!("{instant}-{entry}"));
        let named = format!("{instant}:{entry}");
        let killed = start(&place, &runs).failpoint(&named).output();
        assert!(killed.was_killed(), "{named} was not reached: {killed:?}");
        let run = Run::only(&runs);
        let left = Left::by(&run);
        let report = Podium::resume(&place, &run.path).output().expect(0).json();
        assert_eq!(report["outcome"], "graded", "{named}: {report}");
        let last = Left::by(&run);
        assert!(last.begins_with(&left), "{named}: the prefix changed");
        assert!(last.open().is_empty(), "{named}: {:?}", last.open());
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true, "{named}");
        // Every call was sent once, but for the one that the kill may have cut.
        let sent = run.intents();
        let again: Vec<&String> = sent.iter().filter(|(_, tries)| **tries > 1).map(|(key, _)| key).collect();
        assert!(again.len() <= 1 && again.iter().all(|key| left.open().contains(key)), "{named}: {again:?}");
    });
}
