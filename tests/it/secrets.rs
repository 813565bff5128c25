//! The key of a model service goes into the request's header and nowhere else: not into the run folder, not into any
//! output however much is asked for, not into a prompt, not where an agent's code could read it.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::service::{KEY, Service, toy_script};
use crate::support::{Place, Run, need};

/// The distinctive part: also half a key would be a leak.
const SECRET: &[u8] = b"SECRETSECRET";

fn holds_secret(bytes: &[u8]) -> bool {
    bytes.windows(SECRET.len()).any(|window| window == SECRET)
}

/// All files below `folder`.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files
}

/// A script that looks for the key wherever agents' code could think of, and prints what it finds.
fn prying_script(place: &Place) -> PathBuf {
    let look = format!(
        r#"
import os

found = []
for name, value in os.environ.items():
    if "sk-test" in value:
        found.append("environment " + name)
for folder in ["/proc/self", "/proc/1", f"/proc/{{os.getppid()}}"]:
    for name in ["environ", "cmdline"]:
        try:
            if b"sk-test" in open(os.path.join(folder, name), "rb").read():
                found.append(os.path.join(folder, name))
        except OSError:
            pass
for path in [".env", "../.env", "{work}/.env", os.path.expanduser("~/.env")]:
    if os.path.exists(path):
        found.append(path)
print("pried and found", len(found), *found)
"#,
        work = place.work().display()
    );
    let toy = std::fs::read_to_string(toy_script("centres.py")).unwrap();
    place.write("prying.py", format!("{look}\n{toy}"))
}

#[test]
fn a_key_is_nowhere_but_in_the_header() {
    if !need::jail("a_key_is_nowhere_but_in_the_header") {
        return;
    }
    let place = Place::new();
    place.write("work/.env", format!("OPENAI_API_KEY={KEY}\n"));
    let script = prying_script(&place);
    let service = Service::start(&json!({
        "code": [script],
        "faults": ["ok", "ok", "server-error", "ok", "cut-stream", "ok", "unauthorised"],
    }));
    let events = place.path().join("events.jsonl");
    let run = service.toy_run(&place, "openai/local").args(["--steps", "3", "--json", "-vvv", "--events"]);
    let ended = run.arg(&events).output().expect(5);
    let report = ended.json();
    assert_eq!((&report["outcome"], &report["stopped_by"]), (&"graded".into(), &"model_service".into()));

    let folder = Run::only(&place.runs()).path;
    for (name, bytes) in [("stdout", ended.stdout.as_bytes()), ("stderr", ended.stderr.as_bytes())] {
        assert!(!holds_secret(bytes), "the key is in {name}");
    }
    let written = files(&folder);
    assert!(written.iter().any(|path| path.ends_with("config.json")), "{written:?}");
    for path in written.iter().chain([&events]) {
        assert!(!holds_secret(&std::fs::read(path).unwrap()), "the key is in {}", path.display());
    }
    for request in service.requests() {
        assert!(!holds_secret(request.body().to_string().as_bytes()), "the key is in a prompt");
        assert_eq!(request.0["headers"]["authorization"], format!("Bearer {KEY}"));
    }
    // The scripts looked, and found nothing.
    let outputs: Vec<Vec<u8>> = written.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let prompts: String = service.requests().iter().map(|request| request.body().to_string()).collect();
    assert!(prompts.contains("pried and found 0"), "the script did not run, or found: {}", outputs.len());
    assert!(!prompts.contains("pried and found 1") && !prompts.contains("pried and found 2"));
}

#[test]
fn a_key_in_a_file_alone_is_found_and_kept() {
    let place = Place::new();
    place.write("work/.env", format!("# mine\nexport OPENAI_API_KEY=\"{KEY}\"\n"));
    let service = Service::start(&json!({"content": "Hi."}));
    place.write(
        "work/.env",
        format!("export OPENAI_API_KEY=\"{KEY}\"\nOPENAI_BASE_URL='{}'\n", service.url()),
    );
    let podium =
        crate::support::Podium::new(&place).args(["model", "chat", "-m", "openai/x", "-vvv", "hello"]);
    let said = podium.output().expect(0);
    assert!(!holds_secret(said.stderr.as_bytes()) && !holds_secret(said.stdout.as_bytes()));
    assert_eq!(service.requests()[0].0["headers"]["authorization"], format!("Bearer {KEY}"));
    let doctor = crate::support::Podium::new(&place).args(["doctor", "--json"]).output();
    assert!(!holds_secret(doctor.stdout.as_bytes()), "doctor says that a key is set, not which");
}

#[test]
fn a_file_of_keys_that_cannot_be_used_is_said() {
    let place = Place::new();
    let list = || {
        crate::support::Podium::new(&place).args(["model", "list", "--provider", "openai"]).output().expect(0)
    };
    let bytes = format!("\u{feff}export OPENAI_API_KEY='{KEY}' # mine\r\nsk-test-SECRETSECRET\r\n");
    place.write("work/.env", bytes);
    let said = list();
    let told = "warning: .env in this folder: line 2 is not of the form NAME=VALUE, and was left out\n";
    assert_eq!(said.stderr, told);
    assert!(said.stdout.contains("yes, at https://api.openai.com/v1"), "{}", said.stdout);
    std::fs::remove_file(place.work().join(".env")).unwrap();
    std::fs::create_dir(place.work().join(".env")).unwrap();
    let said = list();
    let told = "warning: .env in this folder: could not read it: Is a directory (os error 21)\n";
    assert_eq!(said.stderr, told);
    assert!(said.stdout.contains("no: no key for `openai`"), "{}", said.stdout);
}
