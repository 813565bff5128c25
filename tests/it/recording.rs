//! `--model replay/RUN_FOLDER`: a recorded run answers in the place of its model.

use serde_json::{Value, json};

use crate::service::Service;
use crate::support::{Place, Podium, Run, need};

fn replayed(place: &Place, recorded: &Run, steps: &str) -> Podium {
    Podium::new(place)
        .arg("run")
        .toy()
        .args(["--competition", "toy", "--json", "--memory", "512MiB", "--cpus", "1", "--steps", steps])
        .arg("--model")
        .arg(format!("replay/{}", recorded.path.display()))
        .arg("--runs-dir")
        .arg(place.path().join("again"))
}

#[test]
fn a_recorded_run_is_taken_again_without_its_service() {
    if !need::jail("a_recorded_run_is_taken_again_without_its_service") {
        return;
    }
    let service = Service::toy(["ok", "server-error", "ok"]);
    let place = Place::new();
    service.toy_run(&place, "openai/local").args(["--steps", "4"]).output().expect(0);
    let recorded = Run::only(&place.runs());
    let sent = service.requests().len();

    // Where a price is unknown a dollar limit is refused; a recorded answer is not billed again.
    let ended = replayed(&place, &recorded, "4").args(["--max-cost", "0.01"]).output().expect(0);
    let (report, again) = (ended.json(), Run::only(&place.path().join("again")));
    assert_eq!(service.requests().len(), sent, "nothing reaches the server");
    assert_eq!(again.tree(&place), recorded.tree(&place));
    assert_eq!((&report["stopped_by"], &report["usage"]["cost_usd"]), (&json!("steps"), &json!(0.0)));
    let before: Value =
        serde_json::from_slice(&std::fs::read(recorded.path.join("run.json")).unwrap()).unwrap();
    assert_eq!(report["report"]["score"], before["report"]["score"]);
    assert!(ended.stderr.contains("no model was asked"), "{}", ended.stderr);
    assert_eq!(report["stand_in"], false);
    let model = report["models"]["code"].as_str().unwrap();
    let folder = recorded.path.canonicalize().unwrap().display().to_string();
    assert_eq!(report["recordings"], json!({ model: folder }));
    let config = std::fs::read_to_string(again.path.join("config.json")).unwrap();
    assert!(!config.contains(&folder), "the identity does not hang on where the recording is");

    // A resume needs the recording again.
    let moved = place.path().join("moved");
    std::fs::rename(&recorded.path, &moved).unwrap();
    let resume = || Podium::resume(&place, &again.path).args(["--steps", "5"]);
    let lost = resume().output().expect(2);
    assert!(
        lost.stderr.contains("error: the recording ") && lost.stderr.contains("place.json"),
        "{}",
        lost.stderr
    );
    std::fs::rename(&moved, &recorded.path).unwrap();
    std::fs::write(recorded.path.join("journal.db"), "no journal").unwrap();
    let damaged = resume().output().expect(3);
    assert!(damaged.stderr.contains("error: the recording "), "{}", damaged.stderr);
}

#[test]
fn a_request_that_no_recorded_one_is_like_stops_the_run_resumably() {
    if !need::jail("a_request_that_no_recorded_one_is_like_stops_the_run_resumably") {
        return;
    }
    let place = Place::new();
    Podium::toy_run(&place, 1, 1).output().expect(0);
    let recorded = Run::only(&place.runs());
    let ended = replayed(&place, &recorded, "9").output().expect(5);
    let report = ended.json();
    assert_eq!((&report["stopped_by"], &report["stand_in"]), (&json!("model_service"), &json!(true)));
    let (detail, name) = (report["detail"].as_str().unwrap(), recorded.path.file_name().unwrap());
    assert!(detail.contains(name.to_str().unwrap()) && detail.contains("node/"), "{detail}");
    assert!(ended.stderr.contains("go on with: podium resume"), "{}", ended.stderr);

    let nowhere = Run { path: place.path().join("nowhere") };
    let refused = replayed(&place, &nowhere, "1").output().expect(2);
    assert!(refused.stderr.contains("hint: a recording is the folder of a run"), "{}", refused.stderr);
}
