//! Keys of all providers, one of the user's own among them, against servers that give them back: in an error's body,
//! in HTML, in headers, in an answer's text, in a broken body. Everything that is written is searched for them.

use serde_json::{Value, json};

use crate::secrets::files;
use crate::service::{Service, toy_script};
use crate::support::{Finished, Place, Podium, Run, need};

/// In all keys of this test.
const SECRET: &str = "SECRETSECRET";

/// Variables that hold keys, each with one of its own.
const VARIABLES: [&str; 11] = [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "OPENROUTER_API_KEY",
    "DEEPSEEK_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "AZURE_API_KEY",
    "OLLAMA_API_KEY",
    "VLLM_API_KEY",
    "LAB_KEY",
];

fn key(variable: &str) -> String {
    format!("sk-{}-{SECRET}/{}", variable.to_lowercase(), variable.len())
}

/// Everything a subscriber might be asked for, parts of silenced crates by name as well.
const LOG: &str = "trace,async_openai::client=trace,hyper_util::client=trace,reqwest::connect=trace,h2=trace";

fn own(service: &Service) -> String {
    let url = service.url();
    format!("[providers.mylab]\nprotocol = \"openai\"\nbase_url = \"{url}\"\nkey_variable = \"LAB_KEY\"\n")
}

/// With all keys, as much said as can be, and nothing that leaves the machine.
fn loud(podium: Podium, service: &Service) -> Podium {
    let nowhere = "http://127.0.0.1:9";
    let podium = podium.env("PODIUM_LOG", LOG).env("RUST_LOG", "trace").env("RUST_BACKTRACE", "1");
    let podium = podium.env("HTTPS_PROXY", nowhere).env("NO_PROXY", "127.0.0.1").arg("-vv");
    let keyed = VARIABLES.iter().fold(podium, |podium, variable| podium.env(variable, key(variable)));
    ["OPENAI", "ANTHROPIC", "GEMINI", "GOOGLE", "OPENROUTER", "DEEPSEEK", "AZURE_OPENAI", "OLLAMA", "VLLM"]
        .iter()
        .fold(keyed, |podium, name| podium.env(&format!("{name}_BASE_URL"), service.url()))
}

#[track_caller]
fn clean(what: &str, text: &[u8]) {
    let held = text.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
    assert!(!held, "a key is in {what}: {}", String::from_utf8_lossy(text));
}

#[track_caller]
fn clean_output(what: &str, ended: &Finished) {
    clean(&format!("standard output of {what}"), ended.stdout.as_bytes());
    clean(&format!("standard error of {what}"), ended.stderr.as_bytes());
}

#[test]
fn a_server_that_shows_keys_shows_them_to_nobody() {
    let place = Place::new();
    let all: Vec<String> = VARIABLES.map(key).to_vec();
    let doctor = {
        let service = Service::start(&json!({"content": ""}));
        place.write("home/.config/podium/models.toml", own(&service));
        let doctor = loud(Podium::new(&place), &service).args(["doctor", "--json"]).output();
        clean_output("doctor", &doctor);
        doctor.json()
    };
    let names = doctor.as_array().unwrap().iter().filter_map(|finding| finding["what"].as_str());
    let providers: Vec<&str> = names.filter_map(|name| name.strip_prefix("provider ")).collect();
    assert!(providers.contains(&"openai") && providers.contains(&"mylab"), "{providers:?}");
    for fault in
        ["echo-error", "echo-short", "echo-html", "echo-header", "echo-broken", "echo-refusal", "echo-answer"]
    {
        let faults = vec![fault; 200];
        let service = Service::start(&json!({"content": "I try.", "faults": faults, "echo": all}));
        place.write("home/.config/podium/models.toml", own(&service));
        for provider in &providers {
            let name = format!("{provider}/x");
            let chat =
                loud(Podium::new(&place), &service).args(["model", "chat", "-m", &name, "--tries", "1"]);
            let ended = chat.args(["--json", "hello"]).output();
            clean_output(&format!("{fault} from {provider}"), &ended);
        }
        let sent = service.requests();
        let keys: Vec<String> = sent.iter().map(|request| request.0["headers"].to_string()).collect();
        assert!(keys.iter().filter(|headers| headers.contains(SECRET)).count() >= 2, "{fault}: {keys:?}");
    }
}

#[test]
fn a_run_keeps_no_key_that_a_model_or_a_server_tells() {
    if !need::jail("a_run_keeps_no_key_that_a_model_or_a_server_tells") {
        return;
    }
    let place = Place::new();
    let all: Vec<String> = VARIABLES.map(key).to_vec();
    let faults = [
        "echo-answer", // draft 0
        "echo-answer", // its review
        "echo-error",
        "echo-html",
        "echo-header",
        "echo-broken",
        "echo-answer", // draft 1
        "echo-answer", // its review
        "unauthorised",
        "echo-answer", // draft 2, after the resume
        "echo-answer",
    ];
    let scripts = ["one_cut.py", "centres.py", "nearest.py"].map(toy_script);
    let service = Service::start(&json!({"faults": faults, "code": scripts, "echo": all}));
    place.write("home/.config/podium/models.toml", own(&service));
    let events = place.path().join("events.jsonl");
    let run = service.toy_run(&place, "mylab/x").args(["--steps", "3", "--json", "--events"]).arg(&events);
    let ended = loud(run, &service).output().expect(5);
    clean_output("run", &ended);
    let run = Run::only(&place.runs());
    let resumed = loud(Podium::resume(&place, &run.path), &service).output().expect(0);
    clean_output("resume", &resumed);
    for arguments in [vec!["--json"], vec!["--calls"], vec![]] {
        let show = loud(Podium::new(&place), &service).arg("show").arg(&run.path).args(arguments).output();
        clean_output("show", &show.expect(0));
    }
    for path in files(&run.path).iter().chain([&events]) {
        clean(&path.display().to_string(), &std::fs::read(path).unwrap());
    }
    let requests = service.requests();
    assert!(requests.len() >= faults.len(), "{}", requests.len());
    for request in &requests {
        clean("a prompt", request.body().to_string().as_bytes());
    }
    // The answers were taken all the same, with a mark where a key was.
    let nodes: Vec<Value> = run.tree(&place);
    let plan = nodes[0]["plan"].as_str().unwrap();
    assert!(plan.starts_with("I try [redacted]"), "{plan}");
    assert!(ended.stderr.contains("an answer held a key of yours"), "{}", ended.stderr);
}
