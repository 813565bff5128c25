//! The stand-in model through the whole client, and what is said before anything is spent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use podium_types::chat::{ChatAnswer, ChatRequest, Message, OutputSchema, Speaker, Tool};
use podium_types::money::Usd;
use serde_json::{Value, json};

use crate::playbook::{Library, LibraryError};
use crate::{Call, Catalog, Client, Error, ModelName, NoLedger, NoObserver, Settings};

const CONTENTS: &str = r#"
[[solution]]
name = "plain"
file = "plain.py"
plan = "A plain model first."
draft = 3
improved_by = ["better"]

[[solution]]
name = "better"
file = "better.py"
plan = "A better model."
draft = 0
improved_by = []

[[solution]]
name = "broken"
file = "broken.py"
plan = "A model with a mistake."
draft = 2
fixed_by = "better"
buggy = true

[[solution]]
name = "leaky"
file = "leaky.py"
plan = "Cells of position."
draft = 1
leaky = true
"#;

const COMMON: &str = r#"
[[misbehaviour]]
name = "crash"
file = "crash.py"
plan = "I look at the columns."
kind = "crash"
draft = 1
fixed_by = ""
"#;

fn files() -> BTreeMap<String, String> {
    let script =
        |name: &str| format!("# {name}\nimport pandas as pd\nprint(f\"validation log_loss: {{score}}\")\n");
    let mut files: BTreeMap<String, String> = ["plain", "better", "broken", "leaky"]
        .iter()
        .map(|name| (format!("segment/{name}.py"), script(name)))
        .collect();
    files.insert("common/crash.py".into(), script("crash"));
    files.insert("segment/playbook.toml".into(), CONTENTS.into());
    files.insert("common/playbook.toml".into(), COMMON.into());
    files
}

fn client() -> Client {
    let library = Library::from_files(&files()).unwrap();
    let catalog = Catalog::parse(include_str!("../../../benchmark/models.toml")).unwrap();
    Client::new(catalog, Settings::default(), Some(Arc::new(library)))
}

fn name(text: &str) -> ModelName {
    text.parse().unwrap()
}

async fn ask(client: &Client, request: &ChatRequest) -> ChatAnswer {
    let model = name("playbook/default");
    let call = Call { model: &model, request, ledger: &NoLedger, observer: &NoObserver, purpose: "test" };
    client.chat(&call).await.unwrap()
}

fn prompt(text: &str, seed: u64) -> ChatRequest {
    ChatRequest {
        messages: vec![Message::text(Speaker::User, text)],
        seed: Some(seed),
        ..ChatRequest::default()
    }
}

/// The scripts answered over many seeds, by the comment at their head.
async fn scripts(text: &str) -> BTreeMap<String, u32> {
    let client = client();
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        let answer = ask(&client, &prompt(text, seed)).await.content;
        let (plan, code) = answer.split_once("\n\n```python\n").expect("a plan, then a block");
        assert!(!plan.is_empty() && code.ends_with("\n```\n"), "{answer}");
        *counts.entry(code.lines().next().unwrap().trim_start_matches("# ").to_owned()).or_default() += 1;
    }
    counts
}

fn names(counts: &BTreeMap<String, u32>) -> BTreeSet<&str> {
    counts.keys().map(String::as_str).collect()
}

fn shown(script: &str, behind: &str) -> String {
    let code =
        &files()[&if script == "crash" { "common/crash.py".into() } else { format!("segment/{script}.py") }];
    format!("Rules: an execution may take at most 10 min.\n\n```python\n{}\n```\n\n{behind}", code.trim_end())
}

#[tokio::test]
async fn drafts_vary_with_the_seed_and_sometimes_misbehave() {
    let drafts = scripts("Write a program for this competition.").await;
    assert_eq!(names(&drafts), BTreeSet::from(["plain", "broken", "leaky", "crash"]));
    assert!((20..60).contains(&drafts["crash"]) && drafts["plain"] > drafts["leaky"], "{drafts:?}");
    // A design that was tried is not drafted again.
    let drafts = scripts("Tried: A plain model first.\nWrite another.").await;
    assert_eq!(names(&drafts), BTreeSet::from(["broken", "leaky", "crash"]));
}

#[tokio::test]
async fn a_sound_script_is_improved() {
    let improved = scripts(&shown("plain", "Its validation log_loss: 0.5 (lower is better).")).await;
    assert_eq!(names(&improved), BTreeSet::from(["better", "crash"]));
    let improved = scripts(&shown("better", "Make it better. A time limit of 10 min holds.")).await;
    assert_eq!(names(&improved), BTreeSet::from(["plain", "leaky", "crash"]));
}

#[tokio::test]
async fn two_programs_lead_to_what_improves_either() {
    let both = |first, second| {
        let scores = "Its validation log_loss: 0.5 (lower is better).";
        format!("{}\n\n{}", shown(first, scores), shown(second, scores))
    };
    for (first, second) in [("plain", "leaky"), ("leaky", "plain")] {
        let joined = scripts(&both(first, second)).await;
        assert_eq!(names(&joined), BTreeSet::from(["better", "crash"]), "{first} {second}");
    }
    let joined = scripts(&both("better", "leaky")).await;
    assert_eq!(names(&joined), BTreeSet::from(["plain", "crash"]), "neither of the two again");
}

#[tokio::test]
async fn failures_are_fixed_most_of_the_time() {
    let trace = "Traceback (most recent call last):\n  File \"x\"\nKeyError: 'a'\n";
    let fixed = scripts(&shown("broken", trace)).await;
    assert_eq!(names(&fixed), BTreeSet::from(["better"]), "there is no other broken script to answer with");
    let fixed = scripts(&shown("plain", "The harness stopped it: memory limit (512 MiB) reached.")).await;
    assert_eq!(names(&fixed), BTreeSet::from(["better", "broken", "leaky"]));
    assert!((25..75).contains(&fixed["broken"]), "{fixed:?}");
    let fixed = scripts(&shown("crash", "")).await;
    assert_eq!(names(&fixed), BTreeSet::from(["plain", "better", "leaky", "broken"]));
}

#[tokio::test]
async fn the_answer_hangs_on_the_seed_and_on_what_is_shown_alone() {
    let client = client();
    let text = shown("plain", "Left: 3 h 59 min.");
    let answer = ask(&client, &prompt(&text, 7)).await;
    assert_eq!(ask(&client, &prompt(&text, 7)).await, answer);
    let later = ask(&client, &prompt(&text.replace("3 h 59 min", "12 s"), 7)).await;
    assert_eq!(later.content, answer.content);
    assert_eq!(answer.usage.cost, Some(Usd::ZERO));
    assert!(answer.usage.estimated && answer.usage.output_tokens > 0);
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "summary": {"type": "string"},
            "metric": {"type": ["number", "null"]},
            "is_bug": {"type": "boolean"},
            "lower_is_better": {"type": "boolean"},
        },
        "required": ["summary", "metric", "is_bug", "lower_is_better"],
        "additionalProperties": false,
    })
}

async fn review(behind: &str) -> Value {
    let output = OutputSchema { name: "review".into(), schema: schema(), strict: true };
    let text = format!("Example: validation log_loss: 9.9\n{}", shown("plain", behind));
    let answer = ask(&client(), &ChatRequest { output: Some(output), ..prompt(&text, 1) }).await;
    answer.document.expect("a document of the schema")
}

#[tokio::test]
async fn a_review_reads_the_output_and_invents_nothing() {
    let good =
        review("It ended with exit code 0.\nvalidation log_loss: 0.7\nvalidation log_loss: 0.25\n").await;
    assert_eq!(
        (&good["is_bug"], &good["metric"], &good["lower_is_better"]),
        (&json!(false), &json!(0.25), &json!(true))
    );
    for (behind, why) in [
        ("It ended with exit code 0. It printed nothing.", "no validation score"),
        ("validation log_loss: nan", "no validation score"),
        (
            "validation log_loss: 0.5\nTraceback (most recent call last):\n  x\nValueError: bad",
            "ValueError: bad",
        ),
        (
            "The harness stopped it: execution limit (30 s) reached. It took 30 s.\nvalidation log_loss: 0.5",
            "(30 s) reached",
        ),
        ("It ended with exit code 1.\nvalidation log_loss: 0.5", "exit code 1"),
        ("It was killed by signal 9.\nvalidation log_loss: 0.5", "signal 9"),
        (
            "It left no submission file at `./submission.csv`.\nvalidation log_loss: 0.5",
            "no valid submission",
        ),
    ] {
        let review = review(behind).await;
        assert_eq!((&review["is_bug"], &review["metric"]), (&json!(true), &Value::Null), "{behind}");
        assert!(review["summary"].as_str().unwrap().contains(why), "{behind}: {review}");
    }
}

#[tokio::test]
async fn a_review_may_be_a_tool_call() {
    let tool = Tool { name: "submit_review".into(), description: String::new(), parameters: schema() };
    let text = shown("plain", "validation log_loss: 0.25");
    let answer = ask(&client(), &ChatRequest { tools: vec![tool], ..prompt(&text, 1) }).await;
    let call = &answer.tool_calls[0];
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
    assert_eq!((call.name.as_str(), &arguments["metric"]), ("submit_review", &json!(0.25)));
}

#[test]
fn broken_libraries_are_told_apart() {
    let broken = |path: &str, text: &str| {
        let mut files = files();
        files.insert(path.into(), text.into());
        Library::from_files(&files).unwrap_err()
    };
    let contents = "segment/playbook.toml";
    assert_eq!(
        broken(contents, "[[solution]]\nplann = 1").to_string(),
        "`segment/playbook.toml`, line 2: unknown key `plann`; did you mean `plan`?"
    );
    assert_eq!(
        broken(contents, &CONTENTS.replace("plain.py", "plane.py")).to_string(),
        "`segment/playbook.toml` names the script `plane.py`, which is not in the library; did you mean `plain.py`?"
    );
    assert_eq!(
        broken(contents, &CONTENTS.replace("[\"better\"]", "[\"beter\"]")).to_string(),
        "`segment/playbook.toml`: `plain` points at `beter`, which is no solution of this library; did you mean \
         `better`?"
    );
    assert!(matches!(broken("other/playbook.toml", CONTENTS), LibraryError::SeveralCompetitions { .. }));
    assert!(matches!(broken(contents, ""), LibraryError::NoDraft));
}

fn shipped() -> Settings {
    let catalog = Catalog::parse(include_str!("../../../benchmark/models.toml")).unwrap();
    Settings::new(&catalog, &BTreeMap::new())
}

#[test]
fn what_cannot_be_called_is_said_before_anything_is_spent() {
    let bare = Client::new(Catalog::default(), shipped(), None);
    let told = |client: &Client, model: &str| {
        let Err(Error::Configuration { problem, hint }) = client.prepare(&name(model)) else {
            panic!("{model}")
        };
        format!("{problem}; {hint}")
    };
    assert!(told(&bare, "openia/gpt-4o").contains("did you mean `openai`?"));
    let known: Vec<&str> = bare.shared.settings.endpoints.keys().map(String::as_str).collect();
    let known = format!("known providers: {}, playbook", known.join(", "));
    assert!(known.contains("openai") && told(&bare, "nobody/x").contains(&known));
    assert!(told(&bare, "openai/gpt-4o").contains("OPENAI_API_KEY"));
    assert!(told(&bare, "playbook/default").contains("no solutions"));
    assert!(told(&client(), "playbook/other").contains("`playbook/default`"));
    let mut settings = shipped();
    settings.endpoints.get_mut("openai").unwrap().base_url = Some("localhost:8080".into());
    let relative = Client::new(Catalog::default(), settings.clone(), None);
    assert!(told(&relative, "openai/x").contains("OPENAI_BASE_URL"));
    settings.endpoints.get_mut("openai").unwrap().key_required = false;
    for host in ["bücher.example", "xn--bcher-kva.example", "GPU.local:8000", "[::1]:8000"] {
        settings.endpoints.get_mut("openai").unwrap().base_url = Some(format!("http://{host}/v1"));
        assert!(
            Client::new(Catalog::default(), settings.clone(), None).prepare(&name("openai/x")).is_ok(),
            "{host}"
        );
    }
    let prepared = client().prepare(&name("playbook/default")).unwrap();
    assert!(prepared.stand_in && prepared.base_url.is_none());
}
