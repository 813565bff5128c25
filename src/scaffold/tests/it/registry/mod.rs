//! A second strategy beside tree search: nothing in the package knows of it, and all that a scaffold gives works.

mod toy;

use podium_scaffold::spec::Origin;
use podium_scaffold::{AnswerStatus, Effect, EffectResult, Registry, Scaffold};
use podium_types::chat::{ChatAnswer, FinishReason};
use podium_types::execution::{Collected, Ended, Execution, Output};
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;

use crate::support::context::{FakeContext, World};
use crate::support::{AIDE, budget, prompts, task};

const TOY: &str = include_str!("toy.toml");

fn load(file: &str, overrides: &[(&str, &str)]) -> Result<Scaffold, String> {
    let registry = Registry::shipped().with::<toy::ToySpec>("toy_loop");
    let mut prompts = prompts();
    prompts.insert("toy/turn.md.tera".into(), "Write a program for {{ competition }}.".into());
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    Scaffold::load_with(&registry, file, prompts, &overrides).map_err(|error| error.to_string())
}

fn error(file: &str, overrides: &[(&str, &str)]) -> String {
    load(file, overrides).map(|_| ()).unwrap_err()
}

fn world() -> World {
    Box::new(|key, effect| match effect {
        Effect::BeginStep => EffectResult::Granted,
        Effect::Chat { .. } => EffectResult::Chat(Ok(ChatAnswer {
            logprobs: Vec::new(),
            content: format!("print('{key}')"),
            reasoning: None,
            tool_calls: vec![],
            document: None,
            finish: FinishReason::Stop,
            usage: Usage::NOTHING,
            model: "script".into(),
            provider_state: None,
        })),
        Effect::Execute(_) => EffectResult::Execution(Box::new(Execution {
            ended: Ended::Exit(0),
            limit: None,
            output: Output::default(),
            exception: None,
            submission: Collected::File { sha256: Sha256::of(format!("file of {key}").as_bytes()), bytes: 3 },
            collected: std::collections::BTreeMap::new(),
            wall_ms: 1,
            cpu_ms: None,
            peak_memory_bytes: None,
            blocked: std::collections::BTreeMap::new(),
            names_asked: std::collections::BTreeMap::new(),
            requests_refused: std::collections::BTreeMap::new(),
            submission_checks: 0,
            interrupted: false,
            warm: false,
        })),
        _ => EffectResult::Recorded,
    })
}

#[test]
fn it_loads_and_tells_of_itself() {
    let scaffold = load(TOY, &[("action.stop.seconds", "2"), ("action.1.seconds", "7")]).unwrap();
    assert_eq!((scaffold.roles(), scaffold.parallel_executions()), (vec!["fast"], 1));
    assert_eq!((scaffold.head().strategy.as_str(), scaffold.limits().steps), ("toy_loop", 5));
    assert_eq!((&scaffold.spec()["turns"]["number"], &scaffold.spec()["id"]), (&3.into(), &"toy".into()));
    let value = |path: &str| {
        let value = scaffold.values().iter().find(|value| value.path == path).unwrap();
        (value.value.clone(), value.origin)
    };
    assert_eq!(value("turns.number"), (3.into(), Origin::File));
    assert_eq!(value("action.stop.seconds"), (2.into(), Origin::Set));
    assert_eq!(value("action.run.seconds"), (7.into(), Origin::Set));
    assert_eq!(value("models.fast.max_output_tokens"), (serde_json::Value::Null, Origin::Unset));
    let again = load(&scaffold.to_toml(), &[]).unwrap();
    assert_eq!(again.spec(), scaffold.spec());

    let (role, request) = scaffold.first_call(&task(), &budget(), "").unwrap().unwrap();
    assert_eq!((role.as_str(), request.temperature), ("fast", Some(0.0)));
    assert_eq!(request.messages[1].content, "Write a program for segment.\n");
    assert!(request.messages[0].content.contains("# What is fair"), "the rules are the same for all");
    let read = scaffold.parse_answer("x", Some("tags"));
    assert_eq!((read.status, read.code.as_deref()), (AnswerStatus::Ok, Some("tags: x")));
    // The other strategy is still there.
    assert_eq!(load(AIDE, &[("search.workers", "4")]).unwrap().parallel_executions(), 4);
}

#[test]
fn it_runs_and_selects_without_a_node() {
    let context = FakeContext::new(1, 9, world());
    let finished = context.drive(&*load(TOY, &[]).unwrap().strategy()).unwrap().unwrap();
    assert_eq!(finished.reason, "all turns are taken");
    let journal = context.journal.borrow();
    let keys: Vec<&str> = journal.iter().map(|(key, ..)| key.as_str()).take(4).collect();
    assert_eq!(keys, ["step/0/begin", "step/0/chat", "step/0/execute", "step/0/select"]);
    let (_, last, _) = journal.last().unwrap();
    assert_eq!(*last, Effect::SelectFinal { node: None, sha256: Sha256::of(b"file of step/2/execute") });
}

#[test]
fn its_wrong_files_say_where_and_what_like_all_others() {
    let shipped = Scaffold::load(TOY, prompts(), &[]).map(|_| ()).unwrap_err().to_string();
    let messages = [
        shipped,
        error(&TOY.replace("\"toy_loop\"", "\"toy_lop\""), &[]),
        error(&TOY.replace("strategy = \"toy_loop\"\n", ""), &[]),
        error(&TOY.replace("[turns]", "[turn]"), &[]),
        error(
            &TOY.replace(
                "[[action]]\nname = \"stop\"",
                "[policy]\nkind = \"rules\"\n[[action]]\nname = \"stop\"",
            ),
            &[],
        ),
        error(&TOY.replace("version = 1", "version = 1\nlimit.steps = 3"), &[]),
        error(&TOY.replace("number = 3", "numbr = 3"), &[]),
        error(&TOY.replace("number = 3", "number = \"3\""), &[]),
        error(&TOY.replace("number = 3", "number = 0"), &[]),
        error(&TOY.replace("role = \"fast\"", "role = \"fats\""), &[]),
        error(&TOY.replace("toy/turn", "toy/turns"), &[]),
        error(&TOY.replace("tail_chars = 40", "tail_chars = 80"), &[]),
        error(TOY, &[("turns.numbr", "3")]),
        error(TOY, &[("turns.number", "many")]),
        error(TOY, &[("action.3.seconds", "3")]),
        error(TOY, &[("strategy", "tree_serch")]),
        error(TOY, &[("strategy", "tree_search")]),
        error(AIDE, &[("turns.number", "3")]),
    ];
    insta::assert_snapshot!(messages.join("\n"));
}
