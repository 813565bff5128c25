//! With `--json` an error is one document on standard output, whatever the command, beside its sentence on standard
//! error. Without it standard output stays empty.

use serde_json::{Value, json};

use crate::service::Service;
use crate::support::{Finished, Place, Podium};

/// Checks that the document and the sentence tell the same, and returns the document.
pub(crate) fn document(ended: &Finished) -> Value {
    let document = ended.json();
    let error = &document["error"];
    assert_eq!(error["exit_code"], json!(ended.code), "{document}");
    let message = error["message"].as_str().unwrap();
    let first = message.lines().next().unwrap();
    assert!(ended.stderr.contains(first), "{document} beside {}", ended.stderr);
    for cause in error["causes"].as_array().unwrap() {
        assert!(ended.stderr.contains(cause.as_str().unwrap()), "{document} beside {}", ended.stderr);
    }
    document
}

#[test]
fn an_error_of_any_command_is_one_document() {
    let place = Place::new();
    for (line, kind) in [
        ("run -s aide -c nope -m playbook", "usage"),
        ("run --frobnicate", "usage"),
        ("resume nowhere", "usage"),
        ("replay nowhere", "usage"),
        ("show nowhere", "usage"),
        ("grade -c nope x.csv", "usage"),
        ("competitions show nope", "usage"),
        ("scaffolds show nope", "usage"),
        ("model chat -m openai/x hello", "usage"),
        ("model chat -m opnai/x hello", "usage"),
        ("model list --provider nope", "usage"),
        ("model list --models nowhere.toml", "usage"),
    ] {
        let ended = Podium::new(&place).args(line.split(' ')).arg("--json").output();
        let document = document(&ended);
        let code = if kind == "usage" { 2 } else { 3 };
        // A competition whose data cannot be made is the machine's affair.
        let kinds = [(kind, code), ("environment", 3)];
        let told = (document["error"]["kind"].as_str().unwrap(), ended.code.unwrap());
        assert!(kinds.contains(&told), "podium {line}: {document}");
        let silent = Podium::new(&place).args(line.split(' ')).output();
        assert_eq!((silent.stdout.as_str(), silent.code), ("", ended.code), "podium {line}");
    }
}

#[test]
fn a_failed_service_is_told_with_its_hint() {
    let service = Service::start(&json!({"content": "", "faults": ["unauthorised"]}));
    let place = Place::new();
    let ended = service.podium(&place).args(["model", "chat", "-m", "openai/x", "--json", "hello"]).output();
    let expected = json!({"error": {
        "kind": "model_service",
        "message": "model service `openai` failed (not authorised) after 1 try: HTTP 401: Incorrect API key provided",
        "causes": [],
        "hint": "check the key of `openai` in the environment",
        "exit_code": 5,
    }});
    assert_eq!(document(&ended), expected);
}

#[test]
fn what_stands_behind_two_dashes_is_not_ours() {
    let place = Place::new();
    let ended =
        Podium::new(&place).args(["model", "chat", "-m", "openai/x", "--", "--json"]).output().expect(2);
    assert_eq!(ended.stdout, "");
}
