//! One run of each loop, killed with `kill -9` and resumed again and again: what was committed stands, no answered call is
//! sent again, no act is done twice, and the run ends graded and replays.

use std::path::Path;

use crate::support::reference::{Left, in_parallel};
use crate::support::{Place, Podium, Run, need};

/// Kills of one run.
const KILLS: usize = 20;
/// Where a sitting is killed, in turn, and how many entries behind those that it found: its own is the first of them.
const INSTANTS: [(&str, u64); 3] = [("before_commit", 3), ("after_commit", 2), ("after_intent", 2)];

/// A run of CodeAct with the stand-in model on the toy competition.
pub(crate) fn codeact(place: &Place, runs: &Path) -> Podium {
    toy(place, runs, "codeact").args(["--seed", "3", "--set", "session.soft_timeout=30s"])
}

/// One of MLAB.
fn mlab(place: &Place, runs: &Path) -> Podium {
    toy(place, runs, "mlab").args(["--seed", "5", "--set", "turn.steps_in_context=2"])
}

fn toy(place: &Place, runs: &Path, scaffold: &str) -> Podium {
    Podium::new(place)
        .arg("run")
        .toy()
        .args(["--json", "--scaffold", scaffold, "--competition", "toy", "--model", "playbook"])
        .args(["--steps", "40", "--memory", "512MiB", "--cpus", "1", "--runs-dir"])
        .arg(runs)
}

/// What a kill left, by which the end is measured.
pub(crate) struct Kept(Left);

impl Kept {
    /// What lies in the run's folder now.
    pub(crate) fn by(run: &Run) -> Self {
        Self(Left::by(run))
    }

    /// Entries of its journal.
    pub(crate) fn entries(&self) -> u64 {
        self.0.entries()
    }

    /// Calls and acts that were begun and have no result.
    pub(crate) fn open(&self) -> &[String] {
        self.0.open()
    }

    /// All of it stands in what the run has become, and nothing is open.
    #[track_caller]
    pub(crate) fn stands(&self, run: &Run) {
        let last = Left::by(run);
        assert!(last.begins_with(&self.0), "{}: the prefix changed", run.path.display());
        assert!(last.open().is_empty(), "{}: {:?}", run.path.display(), last.open());
    }
}

type Start = fn(&Place, &Path) -> Podium;

#[test]
fn twenty_kills_of_one_run_lose_nothing_that_was_committed() {
    let test = "twenty_kills_of_one_run_lose_nothing_that_was_committed";
    if !need::jail(test) || !need::failpoints(test) {
        return;
    }
    let place = Place::new();
    let cases: [(&str, Start); 2] = [("codeact", codeact), ("mlab", mlab)];
    in_parallel(&cases, |(name, start)| {
        let runs = place.path().join("cases").join(name);
        let mut kept: Vec<Kept> = Vec::new();
        for kill in 0..KILLS {
            let (instant, behind) = INSTANTS[kill % INSTANTS.len()];
            let named = format!("{instant}:{}", kept.last().map_or(0, Kept::entries) + behind);
            let sitting = match kill {
                0 => start(&place, &runs),
                _ => Podium::resume(&place, &Run::only(&runs).path),
            };
            let killed = sitting.failpoint(&named).output();
            assert!(killed.was_killed(), "{name}, kill {kill}, {named} was not reached: {killed:?}");
            let left = Kept::by(&Run::only(&runs));
            assert!(kept.last().is_none_or(|before| left.0.begins_with(&before.0)), "{name}, {named}");
            kept.push(left);
        }
        let run = Run::only(&runs);
        let report = Podium::resume(&place, &run.path).output().expect(0).json();
        assert_eq!(report["outcome"], "graded", "{name}: {report}");
        for kept in &kept {
            kept.stands(&run);
        }
        // Every call was sent once, and once more for each kill that cut it.
        let cuts = |key: &String| kept.iter().filter(|kept| kept.open().contains(key)).count() as u64;
        for (key, tries) in run.intents() {
            assert!(tries <= 1 + cuts(&key), "{name}: {key} was sent {tries} times");
        }
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true, "{name}");
    });
}
