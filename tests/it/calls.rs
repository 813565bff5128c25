//! What a run keeps and shows of its model calls: tries, waits, bills, what a model turned out not to take.

use serde_json::{Value, json};

use crate::service::{Request, Service};
use crate::support::held::HeldService;
use crate::support::{Place, Podium, Run, need};

/// `podium show RUN --calls` without what hangs on the clock: times, and counts of tokens, for prompts tell the time.
fn shown(place: &Place, run: &Run) -> String {
    let listed = Podium::new(place).arg("show").arg(&run.path).arg("--calls").output().expect(0).stdout;
    let calls = listed.split("\nstopped by").next().unwrap();
    let masked = |word: &'_ str| match word.trim_end_matches(':').parse::<f64>() {
        Ok(_) if word.contains('.') => "T".to_owned(),
        Ok(count) if count > 9.0 => "N".to_owned(),
        _ if word.starts_with('$') => "$N".to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(masked).collect::<Vec<_>>().join(" ");
    calls.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_call_is_shown_with_what_became_of_it() {
    if !need::jail("every_call_is_shown_with_what_became_of_it") {
        return;
    }
    let service =
        Service::toy(["rate-limit", "no-seed", "ok", "cut-stream", "ok", "ok", "ok", "unauthorised"]);
    let place = Place::new();
    let run = service.toy_run(&place, "openai/gpt-4.1-mini").args(["--steps", "3", "--json"]);
    let ended = run.output().expect(5);
    let run = Run::only(&place.runs());
    let without = "without   openai/gpt-4.1-mini: it does not take `seed`";
    assert_eq!(ended.stderr.matches(without).count(), 1, "{}", ended.stderr);

    let document = run.show(&place);
    let calls = document["calls"].as_array().unwrap();
    let first = &calls[0];
    assert_eq!(
        (&first["key"], &first["role"], &first["operator"], &first["model"], &first["served"]),
        (
            &json!("node/0/draft/0"),
            &json!("code"),
            &json!("draft"),
            &json!("openai/gpt-4.1-mini"),
            &json!("gpt-4.1-mini")
        )
    );
    assert!(first["id"].as_str().unwrap().starts_with("chatcmpl-"), "{first}");
    let tries: Vec<Value> = first["tries"].as_array().unwrap().iter().map(told).collect();
    assert_eq!(
        tries,
        [
            json!([1, 429, "rate_limited", "nothing"]),
            json!([2, 400, null, "nothing"]),
            json!([3, null, null, "used"])
        ]
    );
    let waits = first["waits"].as_array().unwrap();
    assert_eq!(
        (waits.len(), &waits[0]["after"], &waits[0]["why"]),
        (1, &json!(1), &json!("openai: rate limited"))
    );
    assert!(
        waits[0]["ms"].as_u64().unwrap() >= 1000 && first["waited_ms"].as_u64() >= waits[0]["ms"].as_u64()
    );
    assert!(first["first_byte_ms"].is_u64() && first["took_ms"].as_u64() >= first["waited_ms"].as_u64());
    let cut = &calls[1]["tries"][0];
    assert_eq!(told(cut), json!([1, null, "network", "worst_case"]));
    assert!(cut["usage"]["output_tokens"].as_u64().unwrap() > 1000, "the whole output limit: {cut}");

    // Known not to be billed, and kept all the same: what was tried when the run stopped.
    let charge = &document["charges"][0];
    assert_eq!(
        (&charge["ended"], &charge["role"], &charge["cost_usd"]),
        (&json!("not answered"), &json!("code"), &json!(0.0))
    );
    assert_eq!(told(&charge["tries"][0]), json!([1, 401, "auth", "nothing"]));
    let roles = &document["calls_by_role"];
    let sum = |name: &str| roles["code"][name].as_u64().unwrap() + roles["feedback"][name].as_u64().unwrap();
    let report = &document["report"]["usage"];
    assert_eq!(json!(sum("input_tokens")), report["input_tokens"]);
    assert_eq!(json!(sum("output_tokens")), report["output_tokens"]);
    assert_eq!((sum("calls"), sum("charges"), sum("tries")), (4, 1, 8));
    assert_eq!(sum("tries"), service.requests().len() as u64);
    insta::assert_snapshot!("calls", shown(&place, &run));
}

/// A try without its timings: number, status, kind of failure, bill.
fn told(sent: &Value) -> Value {
    json!([sent["attempt"], sent["failure"]["status"], sent["failure"]["kind"], sent["billed"]])
}

#[test]
fn what_a_model_does_not_take_is_asked_once_in_a_run_and_its_resumes() {
    if !need::jail("what_a_model_does_not_take_is_asked_once_in_a_run_and_its_resumes") {
        return;
    }
    let service = Service::toy(["no-seed", "ok", "ok", "quota"]);
    let place = Place::new();
    service.toy_run(&place, "openai/local").args(["--steps", "2"]).output().expect(5);
    let run = Run::only(&place.runs());
    let downgrades = run.show(&place)["downgrades"].clone();
    assert_eq!(
        (&downgrades[0]["model"], &downgrades[0]["parameter"], downgrades.as_array().unwrap().len()),
        (&json!("openai/local"), &json!("seed"), 1)
    );
    service.podium(&place).arg("resume").arg(&run.path).output().expect(0);
    let requests = service.requests();
    let seeded: Vec<bool> = requests.iter().map(|request| request.body()["seed"].is_u64()).collect();
    assert_eq!(
        seeded,
        [true, false, false, false, false, false],
        "{:?}",
        requests.iter().map(Request::fault)
    );
    assert_eq!(run.show(&place)["downgrades"], downgrades, "learnt once, journaled once");
    Podium::new(&place).arg("replay").arg(&run.path).output().expect(0);
}

#[test]
fn calls_of_a_run_in_progress_are_shown() {
    let (place, service) = (Place::new(), HeldService::start());
    let running =
        Podium::toy_run_with(&place, &place.runs(), 1, &service).args(["--sandbox", "process"]).start();
    let held = service.request();
    let run = Run::only(&place.runs());
    let document = run.show(&place);
    let in_flight = &document["unanswered"][0];
    assert_eq!((&in_flight["key"], &in_flight["tries"]), (&json!("node/0/draft/0"), &json!(1)));
    assert!(in_flight["worst"]["output_tokens"].as_u64().unwrap() > 0);
    assert_eq!(document["calls"], json!([]));
    let listed = Podium::new(&place).arg("show").arg(&run.path).arg("--calls").output().expect(0).stdout;
    assert!(listed.contains("in flight") && listed.contains("the run has not ended"), "{listed}");
    running.kill_group();
    running.wait();
    drop(held);

    // What is asked now is asked again; what the kill cut is charged, and says so.
    let resumed = Podium::resume(&place, &run.path).held(&service).start();
    service.request().answer("I print.\n\n```python\nprint('validation accuracy: 0.5')\n```\n");
    let review = service.request();
    let document = run.show(&place);
    let (charge, call) = (&document["charges"][0], &document["calls"][0]);
    assert_eq!((&charge["key"], &charge["model"]), (&call["key"], &call["model"]));
    assert_eq!(charge["ended"], "cut off, charged at its worst case");
    drop(review);
    resumed.kill_group();
    resumed.wait();
}
