//! With the stand-in model, the loops bring offline competitions from an empty workspace to a graded submission, CodeAct
//! in both formats, and replay.

use std::path::Path;

use crate::support::place::cache;
use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need};

#[test]
fn two_offline_competitions_end_graded_with_each_loop() {
    if !need::jail("two_offline_competitions_end_graded_with_each_loop") {
        return;
    }
    let place = Place::new();
    let cases: Vec<(&str, &str)> = ["codeact", "codeact-text", "mlab"]
        .into_iter()
        .flat_map(|scaffold| [(scaffold, "segment"), (scaffold, "travel-mode")])
        .collect();
    in_parallel(&cases, |(scaffold, competition)| {
        let runs = place.path().join("cases").join(format!("{scaffold}-{competition}"));
        let mut podium = Podium::new(&place)
            .env("XDG_CACHE_HOME", cache())
            .args(["run", "--json", "--scaffold", scaffold, "--competition", competition])
            .args(["--model", "playbook", "--steps", "30", "--memory", "1GiB", "--cpus", "1"]);
        if *scaffold != "mlab" {
            podium = podium.args(["--set", "session.soft_timeout=10s"]);
        }
        let podium = podium.arg("--assets").arg(Path::new(env!("CARGO_MANIFEST_DIR")));
        let report = podium.arg("--runs-dir").arg(&runs).output().expect(0).json();
        assert_eq!(report["outcome"], "graded", "{scaffold} {competition}: {report}");
        assert!(report["report"]["score"].is_number(), "{scaffold} {competition}: {report}");
        let run = Run::only(&runs);
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true, "{scaffold} {competition}");
    });
}
