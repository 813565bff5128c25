//! A whole run against a server that is not the product's own client code: through every fault a service has, out of
//! quota and on again, within its dollars. What was sent is read from the server's own log.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::service::{Request, Service};
use crate::support::{Place, Podium, Run, need};

/// Faults after which nobody knows whether the service billed: counted at their worst case.
const UNKNOWN: [&str; 8] = [
    "cut-before",
    "cut-stream",
    "empty-choices",
    "invalid-json",
    "stall",
    "stall-stream",
    "html",
    "html-200",
];

/// Sum of the tokens of all whole answers, prompt and answer, as the server counted them.
fn served(requests: &[Request]) -> (u64, u64) {
    let tokens = requests.iter().filter_map(Request::tokens);
    tokens.fold((0, 0), |sum, (input, output)| (sum.0 + input, sum.1 + output))
}

/// Every request has an output limit, and none is sent again after a whole answer.
fn sent_as_promised(requests: &[Request]) {
    let mut answered = BTreeSet::new();
    for request in requests {
        assert!(
            request.output_limit().is_some_and(|limit| limit > 0),
            "no output limit: {:?}",
            request.body()
        );
        let text = request.body().to_string();
        assert!(!answered.contains(&text), "sent again after its answer: {text}");
        if request.tokens().is_some() {
            answered.insert(text);
        }
    }
}

fn usage(report: &Value) -> (u64, u64) {
    let count = |name: &str| report["usage"][name].as_u64().unwrap();
    (count("input_tokens"), count("output_tokens"))
}

/// Seconds of the waits that were shown.
fn shown_waits(stderr: &str) -> Vec<f64> {
    let waits = stderr
        .lines()
        .filter(|line| line.starts_with("waiting ") && line.contains("not counted as run time"));
    waits
        .map(|line| line.split(", for ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn a_run_outlives_every_fault_of_a_service() {
    if !need::jail("a_run_outlives_every_fault_of_a_service") {
        return;
    }
    let faults = [
        "rate-limit",
        "ok", // draft 0
        "server-error",
        "cut-before",
        "ok", // its review
        "cut-stream",
        "empty-choices",
        "surrogate", // draft 1
        "invalid-json",
        "numeric-code",
        "ok", // its review
        "stall",
        "ok", // draft 2
        "stall-stream",
        "ok", // its review
        "html",
        "html-200",
        "ok", // draft 3
    ];
    let service = Service::toy(faults);
    let place = Place::new();
    let run = service.toy_run(&place, "openai/local").args(["--steps", "4", "--json"]);
    let ended = run.env("PODIUM_STALL_TIMEOUT", "1s").output().expect(0);
    let (report, requests) = (ended.json(), service.requests());

    assert_eq!(report["outcome"], "graded");
    assert_eq!(report["stopped_by"], "steps");
    assert_eq!(report["nodes"]["total"], 4);
    assert_eq!(report["usage"]["cost_usd"], Value::Null, "the price of openai/local is unknown, not zero");
    let met: Vec<&str> = requests.iter().map(Request::fault).collect();
    assert_eq!(met[..faults.len()], faults);
    assert_eq!(met[faults.len()..], ["ok"], "the last review");
    sent_as_promised(&requests);

    let (input, output) = served(&requests);
    let unknown = requests.iter().filter(|request| UNKNOWN.contains(&request.fault()));
    let worst: u64 = unknown.filter_map(Request::output_limit).sum();
    let (counted_input, counted_output) = usage(&report);
    assert_eq!(
        counted_output,
        output + worst,
        "answers as the server counts them, lost ones at their worst case"
    );
    assert!(counted_input >= input);

    // Whoever fails is waited for in the open, and on the waiting clock.
    let waits = shown_waits(&ended.stderr);
    let failed = met.iter().filter(|fault| !["ok", "surrogate"].contains(fault)).count();
    assert_eq!(waits.len(), failed, "{}", ended.stderr);
    assert!(waits[0] >= 1.0, "Retry-After: 1 is kept");
    let (sum, waiting) = (waits.iter().sum::<f64>(), report["time"]["waiting_s"].as_f64().unwrap());
    // The tries that failed, two of them by stalling, were waiting as well; answering and executing were not.
    assert!(waiting >= 0.95 * sum && waiting < sum + 8.0, "waited {waiting} s, shown {sum} s");
    // The lost half of a surrogate pair is one replacement character in the plan.
    let shown = Run::only(&place.runs()).show(&place);
    let plan = shown["nodes"][1]["plan"].as_str().unwrap();
    assert!(plan.starts_with("I try \u{fffd}"), "{plan}");
}

#[test]
fn tokens_add_up_to_what_the_server_counts() {
    if !need::jail("tokens_add_up_to_what_the_server_counts") {
        return;
    }
    let service = Service::toy(["ok", "server-error", "ok", "ok", "rate-limit", "ok"]);
    let place = Place::new();
    let ended =
        service.toy_run(&place, "openai/gpt-4.1-mini").args(["--steps", "3", "--json"]).output().expect(0);
    let (report, requests) = (ended.json(), service.requests());
    let counted = served(&requests);
    assert_eq!(usage(&report), counted);
    // The catalog's prices: 0.40 and 1.60 dollars per million tokens.
    let cost = (counted.0 as f64 * 0.4 + counted.1 as f64 * 1.6) / 1e6;
    assert!((report["usage"]["cost_usd"].as_f64().unwrap() - cost).abs() < 1e-6, "{report}");
    let calls = Run::only(&place.runs()).show(&place)["calls"].as_array().unwrap().len();
    assert_eq!(calls, requests.iter().filter(|request| request.tokens().is_some()).count());
}

#[test]
fn a_refused_key_stops_the_run_resumably() {
    if !need::jail("a_refused_key_stops_the_run_resumably") {
        return;
    }
    let service = Service::toy(["unauthorised"]);
    let place = Place::new();
    let ended = service.toy_run(&place, "openai/local").args(["--steps", "1", "--json"]).output().expect(5);
    let report = ended.json();
    assert_eq!(
        (&report["outcome"], &report["stopped_by"]),
        (&"no_submission".into(), &"model_service".into())
    );
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("401") && detail.contains("check the key"), "{detail}");
    assert!(ended.stderr.contains("go on with: podium resume"), "{}", ended.stderr);

    let run = Run::only(&place.runs());
    let resumed = service.podium(&place).arg("resume").arg(&run.path).arg("--json").output().expect(0);
    assert_eq!(resumed.json()["outcome"], "graded");
}

#[test]
fn a_used_up_quota_leaves_the_best_graded_and_the_run_goes_on() {
    if !need::jail("a_used_up_quota_leaves_the_best_graded_and_the_run_goes_on") {
        return;
    }
    let service = Service::toy(["ok", "ok", "ok", "ok", "quota"]);
    let place = Place::new();
    let ended = service.toy_run(&place, "openai/local").args(["--steps", "4", "--json"]).output().expect(5);
    let report = ended.json();
    assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"model_service".into()));
    assert!(report["detail"].as_str().unwrap().contains("quota"), "{report}");
    assert_eq!(report["nodes"]["total"], 2);
    assert!(report["report"]["score"].is_number());

    let run = Run::only(&place.runs());
    let before = run.tree(&place);
    // Without the address the prompts would go to the official service: refused, nothing is sent.
    let elsewhere = Podium::new(&place).env("OPENAI_API_KEY", "sk-other").arg("resume").arg(&run.path);
    let refused = elsewhere.output().expect(2);
    assert!(refused.stderr.contains("would go to"), "{}", refused.stderr);
    let resumed = service.podium(&place).arg("resume").arg(&run.path).arg("--json").output().expect(0).json();
    assert_eq!((&resumed["stopped_by"], &resumed["nodes"]["total"]), (&"steps".into(), &4.into()));
    assert_eq!(run.tree(&place)[..2], before[..]);
    let requests = service.requests();
    sent_as_promised(&requests);
    assert_eq!(usage(&resumed), served(&requests), "nothing is paid for twice");
}

#[test]
fn a_dollar_limit_is_never_exceeded() {
    if !need::jail("a_dollar_limit_is_never_exceeded") {
        return;
    }
    // Each lost draft may have cost 16,384 tokens at 1.60 dollars a million; two of them come near the limit.
    let service = Service::toy(["ok", "ok", "cut-stream", "ok", "ok", "cut-stream", "ok", "ok"]);
    let place = Place::new();
    let limit = 0.07;
    let run = service.toy_run(&place, "openai/gpt-4.1-mini").args(["--steps", "20", "--json"]);
    let ended = run.args(["--max-cost", &limit.to_string()]).output().expect(4);
    let (report, requests) = (ended.json(), service.requests());
    assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"dollars".into()));
    let detail = report["detail"].as_str().unwrap();
    assert!(detail.contains("dollar limit ($0.07"), "{detail}");
    let cost = report["usage"]["cost_usd"].as_f64().unwrap();
    let lost: u64 =
        requests.iter().filter(|r| r.fault() == "cut-stream").filter_map(Request::output_limit).sum();
    let (input, output) = served(&requests);
    let least = (input as f64 * 0.4 + (output + lost) as f64 * 1.6) / 1e6;
    assert!(least <= cost && cost <= limit, "at least {least}, counted {cost}, limit {limit}");
    sent_as_promised(&requests);
}

/// Each lost call may have cost 16,384 tokens: the calls in flight together could cost many times what is left.
#[test]
fn a_dollar_limit_holds_with_fifty_workers_and_cut_streams() {
    if !need::jail("a_dollar_limit_holds_with_fifty_workers_and_cut_streams") {
        return;
    }
    let faults = ["ok", "cut-stream", "ok"].into_iter().cycle().take(300);
    let (service, place) = (Service::toy(faults), Place::new());
    let limit = 0.5;
    let run = service.podium(&place).arg("run").toy().args(["-s", "aide", "-c", "toy", "--json"]);
    let run = run.args(["-m", "openai/gpt-4.1-mini", "--steps", "100", "--memory", "200MiB"]);
    let run = run.args(["--set", "search.workers=50", "--max-cost", &limit.to_string()]);
    let run = run.arg("--runs-dir").arg(place.runs());
    let (ended, most) = (run.output().expect(4), 16_384.0 * 1.6 / 1e6);
    let (report, requests) = (ended.json(), service.requests());
    assert_eq!(&report["stopped_by"], &Value::from("dollars"), "{report}");
    let cost = report["usage"]["cost_usd"].as_f64().unwrap();
    let lost: u64 =
        requests.iter().filter(|r| r.fault() == "cut-stream").filter_map(Request::output_limit).sum();
    let (input, output) = served(&requests);
    let least = (input as f64 * 0.4 + (output + lost) as f64 * 1.6) / 1e6;
    assert!(least <= cost && cost <= limit, "at least {least}, counted {cost}, limit {limit}");
    // It is used, too: what is left is less than one more call could have cost.
    assert!(cost > limit - 2.0 * most, "counted {cost} of {limit}");
    assert!(lost > 0, "no stream was cut");
}

#[test]
fn a_dollar_limit_needs_a_price() {
    let service = Service::toy([]);
    let place = Place::new();
    let run = service.toy_run(&place, "openai/local").args(["--max-cost", "1"]);
    let ended = run.output().expect(2);
    assert!(ended.stderr.contains("the price of `openai/local` is unknown"), "{}", ended.stderr);
    assert_eq!(service.requests(), []);
    assert!(Run::all(&place.runs()).is_empty(), "nothing was begun");
}
