//! With the stand-in model, offline competitions end in a graded submission, in every format, and replay.

use std::path::Path;

use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need};

#[test]
fn two_offline_competitions_end_graded_in_each_format() {
    let test = "two_offline_competitions_end_graded_in_each_format";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let sklearn = std::process::Command::new("python3").args(["-c", "import sklearn, pandas"]).status();
    if !sklearn.is_ok_and(|status| status.success()) {
        need::skip(test, "the Python on PATH has no scikit-learn and pandas");
        return;
    }
    let cases: Vec<(&str, &str)> = ["codeact", "codeact-text", "codeact-mlebench"]
        .into_iter()
        .flat_map(|scaffold| [(scaffold, "segment"), (scaffold, "travel-mode")])
        .collect();
    in_parallel(&cases, |(scaffold, competition)| {
        let runs = place.path().join("cases").join(format!("{scaffold}-{competition}"));
        let report = Podium::new(&place)
            .args(["run", "--json", "--scaffold", scaffold, "--competition", competition])
            .args(["--model", "playbook", "--steps", "30", "--memory", "1GiB", "--cpus", "1"])
            .args(["--set", "session.soft_timeout=10s", "--assets"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")))
            .arg("--python")
            .arg(crate::support::place::python())
            .arg("--runs-dir")
            .arg(&runs)
            .output()
            .expect(0)
            .json();
        assert_eq!(report["outcome"], "graded", "{scaffold} {competition}: {report}");
        assert!(report["report"]["score"].is_number(), "{scaffold} {competition}: {report}");
        let run = Run::only(&runs);
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true, "{scaffold} {competition}");
    });
}
