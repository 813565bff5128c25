//! An agent that is a program of its own and knows nothing of Podium but the address of its models: it is served, it is
//! graded, it is started again where it was cut, and it can do no harm.

use serde_json::{Value, json};

use crate::secrets::files;
use crate::service::{KEY, Service, toy_script};
use crate::support::{Place, Podium, Run, need, wait};

/// A run of the agent in `fixtures/agent.py`.
fn agent(place: &Place, service: &Service, mode: &str) -> Podium {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures");
    place.write("agent/agent.py", std::fs::read(folder.join("agent.py")).unwrap());
    service
        .podium(place)
        .arg("run")
        .toy()
        .args(["--scaffold", "command", "--competition", "toy", "--model", "openai/m", "--json"])
        .args(["--memory", "512MiB", "--cpus", "1", "--time-limit", "10m"])
        .args(["--set", &format!("agent.env=[\"MODE={mode}\"]"), "--set", "agent.max_request_bytes=65536"])
        .arg(format!("--mount=agent={}", place.path().join("agent").display()))
        .arg("--runs-dir")
        .arg(place.runs())
}

/// A service whose answers hold a script that works.
fn serving(faults: &[&str]) -> Service {
    Service::start(&json!({"faults": faults, "code": [toy_script("nearest.py")]}))
}

/// What the agent saw, from the output of its execution in this step's folder.
fn seen(run: &Run, step: u32) -> Value {
    let output = std::fs::read_to_string(run.path.join(format!("nodes/{step}/output.txt"))).unwrap();
    serde_json::from_str(output.lines().last().unwrap()).unwrap_or_else(|_| panic!("{output}"))
}

fn prompts(service: &Service) -> Vec<String> {
    let words = |body: &Value| {
        let messages = body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap().to_owned()
    };
    service.requests().iter().map(|request| words(request.body())).collect()
}

#[test]
fn an_agent_that_is_killed_starts_again_and_is_served_its_earlier_answers() {
    if !need::jail("an_agent_that_is_killed_starts_again_and_is_served_its_earlier_answers") {
        return;
    }
    let place = Place::new();
    let service = serving(&["ok", "ok", "ok", "ok", "ok", "hold"]);
    let running = agent(&place, &service, "work").start();
    wait::until("the last request", || (service.requests().len() == 6).then_some(()));
    running.kill();
    assert!(running.wait().was_killed());
    service.release();
    let run = Run::only(&place.runs());
    let report = Podium::resume(&place, &run.path)
        .env("OPENAI_BASE_URL", service.url())
        .env("OPENAI_API_KEY", KEY)
        .output()
        .expect(0)
        .json();
    assert_eq!(
        (&report["stopped_by"], &report["outcome"]),
        (&json!("finished"), &json!("graded")),
        "{report}"
    );

    // Nothing that had an answer was asked again: only what was in flight, and what was another thing by chance.
    let asked = prompts(&service);
    let known = ["plain", "streamed", "response", "response streamed"];
    assert_eq!(asked[..4], known);
    assert!(asked[4].starts_with("by chance ") && asked[4] != asked[7], "{asked:?}");
    assert_eq!((asked.len(), asked[5].as_str(), asked[6].as_str()), (8, "the last", "the last"));
    let restarts = json!([{"earlier": 6, "served": 5, "fresh": 1, "diverged": true}]);
    assert_eq!(report["agent"]["restarts"], restarts, "{}", report["agent"]);
    assert_eq!((&report["agent"]["starts"], &report["usage"]["calls"]), (&json!(2), &json!(7)));

    let seen = seen(&run, 0);
    for (name, wanted) in [
        ("models", json!(["code", "fast", "feedback"])),
        ("plain", json!([200, "stop", true])),
        ("streamed", json!([200, true, true, true])),
        ("response", json!([200, true])),
        ("response streamed", json!([200, "response.completed", "assistant"])),
        ("by chance", json!(200)),
        ("checked", json!("Submission is valid.")),
        ("key", json!("podium")),
        ("task", json!(true)),
    ] {
        assert_eq!(seen[name], wanted, "{name}: {seen}");
    }
    assert_eq!(report["saw"]["verdicts_inside"], 1);
    for file in files(&run.path) {
        let bytes = std::fs::read(&file).unwrap();
        let leaks = bytes.windows(12).any(|window| window == b"SECRETSECRET");
        assert!(!leaks, "{} holds the key", file.display());
    }

    // The calls are steps, with what was said; what happened to the agent stands among them.
    let shown = run.show(&place);
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 7, "{steps:#?}");
    let log = steps.iter().map(ToString::to_string).collect::<String>();
    assert!(
        log.contains("diverged: ") && log.contains("by chance ") && log.contains("I try nearest"),
        "{log}"
    );
    let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
    assert_eq!(replay["agrees"], true);
}

#[test]
fn a_limit_is_an_error_that_clients_know_and_a_higher_one_goes_on() {
    if !need::jail("a_limit_is_an_error_that_clients_know_and_a_higher_one_goes_on") {
        return;
    }
    let place = Place::new();
    let service = serving(&[]);
    let report = agent(&place, &service, "count").args(["--steps", "3"]).output().expect(0).json();
    let stopped = (&report["stopped_by"], &report["outcome"], &report["usage"]["calls"]);
    assert_eq!(stopped, (&json!("steps"), &json!("graded"), &json!(3)), "{report}");
    let run = Run::only(&place.runs());
    let told = seen(&run, 0);
    assert_eq!(told["told"], json!([200, 200, 200, 429]), "{told}");
    assert_eq!(told["refused"]["code"], "insufficient_quota");
    assert!(told["refused"]["message"].as_str().unwrap().contains("step limit (3) reached"), "{told}");

    let resume = Podium::resume(&place, &run.path).args(["--steps", "9"]);
    let report = service.behind(resume).output().expect(0).json();
    assert_eq!(
        (&report["stopped_by"], &report["outcome"]),
        (&json!("finished"), &json!("graded")),
        "{report}"
    );
    let restarts = json!([{"earlier": 4, "served": 4, "fresh": 1, "diverged": false}]);
    assert_eq!(report["agent"]["restarts"], restarts, "{}", report["agent"]);
    let wanted: Vec<String> = (0..5).map(|number| format!("number {number}")).collect();
    assert_eq!(prompts(&service), wanted, "each was sent once");
}

#[test]
fn what_no_client_should_send_does_no_harm() {
    if !need::jail("what_no_client_should_send_does_no_harm") {
        return;
    }
    let place = Place::new();
    let service = serving(&[]);
    let report = agent(&place, &service, "hostile").output().expect(0).json();
    assert_eq!(
        (&report["stopped_by"], &report["outcome"]),
        (&json!("finished"), &json!("graded")),
        "{report}"
    );
    let seen = seen(&Run::only(&place.runs()), 0);
    let statuses = &seen["statuses"];
    for (name, status) in statuses.as_object().unwrap() {
        let wanted = match name.as_str() {
            "huge" => json!([413, "invalid_request"]),
            "unknown model" => json!([404, "model_not_found"]),
            path if path.starts_with('/') || path == "GET" => json!(404),
            _ => json!([400, "invalid_request"]),
        };
        assert_eq!(*status, wanted, "{name}: {statuses}");
    }
    assert_eq!(seen["at once"], json!([200]), "{seen}");
    // Each that was no question is counted, and why; the rest of the reasons together.
    let (agent, detail) = (&report["agent"], report["detail"].as_str().unwrap());
    let reasons = agent["refusals"].as_object().unwrap();
    let refused: u64 = reasons.values().map(|count| count.as_u64().unwrap()).sum();
    assert!(refused >= 12 && reasons.contains_key("other reasons") && reasons.len() == 9, "{agent}");
    assert_eq!(
        (&agent["refused"], &agent["requests"]),
        (&refused.into(), &(refused + 102).into()),
        "{agent}"
    );
    assert!(detail.contains(&format!("{refused} requests refused: ")), "{detail}");
    // A hundred at once, the one that was cut, and the last.
    assert_eq!(report["usage"]["calls"], 102);
}

/// A block of `docs/command.md`, by its tag and place.
pub(crate) fn documented(tag: &str, place: usize) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/command.md");
    let text = std::fs::read_to_string(path).unwrap();
    let block = text.split(&format!("```{tag}\n")).nth(place + 1).unwrap();
    block.split_once("\n```").unwrap().0.to_owned() + "\n"
}

/// The words of a command line, with single quotes and line ends as a shell reads them.
pub(crate) fn words(line: &str) -> Vec<String> {
    let joined = line.replace("\\\n", " ");
    let parts = joined.trim().split('\'').enumerate();
    let parts = parts.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    parts.collect()
}

#[test]
fn the_agent_of_the_guide_is_graded() {
    if !need::jail("the_agent_of_the_guide_is_graded") {
        return;
    }
    let place = Place::new();
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/command/agent.py");
    assert_eq!(documented("python", 0), std::fs::read_to_string(shipped).unwrap());
    place.write("work/mine/agent.py", documented("python", 0));
    let line = words(&documented("sh", 0)).into_iter();
    let line = line.skip(1).map(|word| if word == "segment" { "toy".to_owned() } else { word });
    let report = Podium::new(&place)
        .args(line)
        .toy()
        .args(["--json", "--memory", "512MiB", "--cpus", "1", "--runs-dir"])
        .arg(place.runs())
        .output()
        .expect(0)
        .json();
    assert_eq!((&report["scaffold"], &report["outcome"]), (&json!("command"), &json!("graded")), "{report}");
    assert_eq!((&report["usage"]["calls"], &report["agent"]["starts"]), (&json!(1), &json!(1)));
}
