//! The typed doors of the run context to the home workspace: what each asks, what it gives back, and that a cut act
//! cannot be overlooked.

use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Acted, Effect, EffectResult, Finished, RunContext, Strategy};
use podium_types::execution::{Collected, ExecutionRequest, Program, Workspace};
use podium_types::files::{FileFault, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::key::EffectKey;
use podium_types::session::{SessionAct, SessionFault, SessionKind, SessionRequest};
use podium_types::sha256::Sha256;

use crate::support::context::FakeContext;
use crate::support::home::Home;
use crate::support::script::execute;

/// Does one of each.
struct Dweller;

impl Strategy for Dweller {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        Box::pin(async move {
            let key = |call: &str| EffectKey::step(0, call);
            let write = |path: &str, when| FilesRequest::Write {
                path: path.to_owned(),
                content: "print('1')".to_owned(),
                when,
            };
            let written = context.files(key("write"), write("a.py", WriteWhen::Absent)).await?;
            assert!(matches!(written, Ok(FilesAnswer::Written { bytes: 10, .. })), "{written:?}");
            let again = context.files(key("again"), write("a.py", WriteWhen::Absent)).await?;
            assert_eq!(again, written, "twice is as once");
            let input = context.files(key("input"), write("input/a.py", WriteWhen::Always)).await?;
            assert_eq!(input, Err(FileFault::ReadOnly { path: "input/a.py".to_owned() }));
            let request = |timeout_ms| ExecutionRequest {
                workspace: Workspace::Home,
                program: Program::Command { argv: vec!["python".to_owned(), "a.py".to_owned()] },
                timeout_ms,
                env: std::collections::BTreeMap::new(),
                collect: Vec::new(),
                agent: None,
            };
            assert!(matches!(context.execute_at_home(key("run"), request(7)).await?, Acted::Done(_)));
            assert_eq!(context.execute_at_home(key("cut"), request(8)).await?, Acted::Interrupted);
            let act = SessionAct::Send { input: "ls".to_owned() };
            let request =
                SessionRequest { name: "main".to_owned(), kind: SessionKind::Shell, act, soft_ms: 9 };
            let fault = SessionFault::Busy { kind: SessionKind::Shell };
            assert_eq!(context.session(key("session"), request).await?, Acted::Done(Err(fault)));
            let Collected::File { sha256, .. } = context.collect(key("collect"), "./a.py").await? else {
                panic!("it was written")
            };
            assert_eq!(sha256, Sha256::of(b"print('1')"));
            Ok(Finished { reason: "all done".to_owned() })
        })
    }
}

#[test]
fn each_act_at_home_has_a_door_of_its_own() {
    let home = Home::with(&[("input/train.csv", "id\n")]);
    let world = move |key: &str, effect: &Effect| {
        home.answer(effect).unwrap_or_else(|| match effect {
            Effect::Execute(_) if key.ends_with("cut") => EffectResult::Interrupted,
            Effect::Execute(_) => EffectResult::Execution(Box::new(execute("print('1')"))),
            Effect::Session(request) => EffectResult::Session(Err(SessionFault::Busy { kind: request.kind })),
            effect => panic!("{effect:?}"),
        })
    };
    let context = FakeContext::new(1, 1, Box::new(world));
    assert_eq!(context.drive(&Dweller).unwrap().unwrap().reason, "all done");
    let at_most_once: Vec<String> = context
        .journal
        .borrow()
        .iter()
        .filter(|(_, effect, _)| effect.is_at_most_once())
        .map(|(key, ..)| key.clone())
        .collect();
    assert_eq!(at_most_once, ["step/0/run", "step/0/cut", "step/0/session"]);
}

#[test]
fn a_fresh_execution_is_written_as_it_always_was() {
    let request = ExecutionRequest {
        workspace: Workspace::Fresh,
        program: Program::Command { argv: vec!["true".to_owned()] },
        timeout_ms: 5,
        env: std::collections::BTreeMap::new(),
        collect: Vec::new(),
        agent: None,
    };
    let json = serde_json::to_string(&Effect::Execute(Box::new(request))).unwrap();
    assert_eq!(json, r#"{"effect":"execute","program":{"kind":"command","argv":["true"]},"timeout_ms":5}"#);
    for request in [
        FilesRequest::List { path: ".".to_owned() },
        FilesRequest::Read { path: "a".to_owned(), max_bytes: 5, beginning: true },
        FilesRequest::Write {
            path: "a".to_owned(),
            content: "b".to_owned(),
            when: WriteWhen::Unchanged { sha256: Sha256::of(b"c") },
        },
    ] {
        let effect = Effect::Files(Box::new(request));
        let text = serde_json::to_string(&effect).unwrap();
        assert_eq!(serde_json::from_str::<Effect>(&text).unwrap(), effect, "{text}");
    }
}
