//! `podium show RUN --html`: the page says what the journal says, also of a run that is still going on. What a browser
//! makes of it is for the tests in `browser`.

use std::collections::BTreeMap;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::held::HeldService;
use crate::support::{Place, Podium, Run, need};

/// The documents in a page, by their names.
pub(crate) fn documents(page: &str) -> BTreeMap<String, Value> {
    let blocks = page.split("<script type=\"application/json\" id=\"").skip(1);
    let document = |block: &str| {
        let (name, rest) = block.split_once("\">").unwrap();
        (name.to_owned(), serde_json::from_str(rest.split("</script>").next().unwrap()).unwrap())
    };
    blocks.map(document).collect()
}

#[test]
fn the_page_says_what_the_journal_says() {
    if !need::jail("the_page_says_what_the_journal_says") {
        return;
    }
    let place = Place::new();
    let report = Podium::toy_run(&place, 8, 7).output().expect(0).json();
    let run = Run::only(&place.runs());
    let told = Podium::new(&place).arg("show").arg(&run.path).arg("--html").output().expect(0);
    let file = run.path.join("page.html");
    assert_eq!(told.stdout.trim(), file.to_str().unwrap());
    let page = std::fs::read_to_string(&file).unwrap();
    let piped = Podium::new(&place).arg("show").arg(&run.path).args(["--html", "-"]).output().expect(0);
    assert_eq!(piped.stdout.trim_end(), page.trim_end());

    let documents = documents(&page);
    let shown = run.show(&place);
    // Who ran it and who looked at it closed the journal for good.
    for beside in ["journal.db-wal", "journal.db-shm"] {
        assert!(!run.path.join(beside).exists(), "{beside} is left");
    }
    let nodes = shown["nodes"].as_array().unwrap();
    let items = documents["items"].as_array().unwrap();
    assert_eq!(items.len(), nodes.len());
    let mut spent = 0;
    for (item, node) in items.iter().zip(nodes) {
        for field in ["id", "parents", "operator", "metric"] {
            assert_eq!(item[field], node[field]);
        }
        assert_eq!(item["good"], node["buggy"].is_null());
        let detail = &documents[&format!("item-{}", node["id"])];
        for (field, of) in [
            ("plan", "plan"),
            ("code", "code"),
            ("buggy", "buggy"),
            ("review", "summary"),
            ("reason", "reason"),
            ("submission", "submission"),
        ] {
            assert_eq!(detail[field], node[of], "{field}");
        }
        assert_eq!(
            detail["signals"].as_array().map(Vec::len),
            node["signals"].as_array().map(Vec::len).or(Some(0))
        );
        let output = std::fs::read_to_string(run.path.join(format!("nodes/{}/output.txt", node["id"])));
        assert_eq!(detail["executions"][0]["output"], output.unwrap());
        assert_eq!(detail["executions"][0]["wall_ms"], node["execution_ms"]);
        spent += detail["input_tokens"].as_u64().unwrap();
    }
    assert_eq!(report["usage"]["input_tokens"], spent);
    let answered: usize = documents.values().filter_map(|one| one["calls"].as_array()).map(Vec::len).sum();
    assert_eq!(report["usage"]["calls"], answered);
    let prompts = documents.values().filter_map(|one| one["calls"][0]["messages"].as_array());
    assert!(prompts.clone().count() > 0 && prompts.clone().all(|messages| !messages.is_empty()));

    let story = &documents["story"];
    assert_eq!(story["selected"], report["nodes"]["selected"]);
    assert_eq!(story["grade"]["score"], report["report"]["raw_score"]);
    assert_eq!(story["grade"]["gap"], report["validation"]["gap"]);
    assert_eq!(story["grade"]["lines"][0], json!(["gold", report["report"]["gold_threshold"]]));
    assert_eq!(story["ending"]["stopped_by"], "steps");
    assert!(story["warnings"][0].as_str().unwrap().contains("stand-in"));
}

#[test]
fn a_run_that_is_going_on_has_a_page_and_no_grade() {
    if !need::jail("a_run_that_is_going_on_has_a_page_and_no_grade") {
        return;
    }
    let place = Place::new();
    let service = HeldService::start();
    let (running, _never_answered) = Podium::toy_run_going_on(&place, &service);
    let run = Run::only(&place.runs());
    let file = place.path().join("elsewhere/page.html");
    Podium::new(&place).arg("show").arg(&run.path).arg("--html").arg(&file).output().expect(0);
    let documents = documents(&std::fs::read_to_string(&file).unwrap());
    assert_eq!(documents["items"], json!([]));
    let story = &documents["story"];
    assert_eq!((&story["grade"], &story["ending"]), (&Value::Null, &Value::Null));
    running.signal(Signal::KILL);
    let _ = running.wait();
}
