//! Programs that keep the protocol and programs that break it, each at the pipe of a strategy, beside a world that
//! answers at once, late or never; and what they were told, against the written schema.

mod schema;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use futures_util::future::join_all;
use podium_sandbox::{Environment, SandboxKind, Settings};
use podium_scaffold::context::EffectFuture;
use podium_scaffold::{Budget, Effect, EffectResult, RunContext, Scaffold, Strategy as _, Task, sample_task};
use podium_types::chat::{ChatAnswer, ChatError, FinishReason};
use podium_types::evaluation::Evaluation;
use podium_types::execution::{Collected, Ended, Execution, Output};
use podium_types::files::{FileFault, FilesAnswer, FilesRequest};
use podium_types::key::EffectKey;
use podium_types::rng::Rng;
use podium_types::session::SessionFault;
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use podium_types::verdict::Verdict;
use tokio::sync::Semaphore;

use super::*;
use crate::run::limits::Limits;
use crate::run::tally::Tally;

/// Chats of one program that are answered together, the last one first.
const TOGETHER: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn budget() -> Budget {
    let limits = Limits { steps: Some(9), run_ms: None, execution_ms: 60_000, tokens: None, cost: None };
    Tally::new(limits).budget()
}

struct World {
    task: Task,
    asked: Cell<usize>,
    all: Rc<Semaphore>,
}

impl World {
    fn new() -> Self {
        Self { task: sample_task(), asked: Cell::default(), all: Rc::new(Semaphore::new(0)) }
    }

    fn chat(&self, text: String) -> EffectFuture<'static> {
        let said = |content: String| {
            Ok(EffectResult::Chat(Ok(ChatAnswer {
                content,
                reasoning: None,
                tool_calls: Vec::new(),
                document: None,
                logprobs: Vec::new(),
                finish: FinishReason::Stop,
                usage: Usage::NOTHING,
                model: "fake".to_owned(),
                provider_state: None,
            })))
        };
        let Ok(number) = text.parse::<usize>() else {
            return match text.as_str() {
                "never" => Box::pin(std::future::pending()),
                "refused" => {
                    let error = ChatError::Refused { message: "not this".to_owned() };
                    Box::pin(std::future::ready(Ok(EffectResult::Chat(Err(error)))))
                }
                _ => Box::pin(std::future::ready(said(text))),
            };
        };
        self.asked.set(self.asked.get() + 1);
        if self.asked.get() == TOGETHER {
            self.all.add_permits(TOGETHER);
        }
        let all = Rc::clone(&self.all);
        Box::pin(async move {
            all.acquire().await.unwrap().forget();
            for _ in number..TOGETHER {
                tokio::task::yield_now().await;
            }
            said(format!("answer to {number}"))
        })
    }
}

fn execution() -> Execution {
    let file = || Collected::File { sha256: Sha256::of(b"id,class\n"), bytes: 9 };
    Execution {
        ended: Ended::Exit(0),
        limit: None,
        output: Output { head: "hello\n".to_owned(), ..Output::default() },
        exception: None,
        submission: file(),
        collected: BTreeMap::from([("validation/a.csv".to_owned(), file())]),
        wall_ms: 12,
        cpu_ms: Some(11),
        peak_memory_bytes: None,
        blocked: BTreeMap::new(),
        names_asked: BTreeMap::new(),
        requests_refused: BTreeMap::new(),
        submission_checks: 0,
        interrupted: false,
        warm: false,
    }
}

impl RunContext for World {
    fn task(&self) -> &Task {
        &self.task
    }

    fn perform(&self, _: EffectKey, effect: Effect) -> EffectFuture<'_> {
        let missing = || FileFault::Missing { path: "b.txt".to_owned() };
        let result = match effect {
            Effect::BeginStep => EffectResult::Granted,
            Effect::Chat { request, .. } => return self.chat(request.messages[0].content.clone()),
            Effect::Execute(request) if !request.workspace.is_fresh() => EffectResult::Interrupted,
            Effect::Execute(_) => EffectResult::Execution(Box::new(execution())),
            Effect::Files(request) => EffectResult::Files(match *request {
                FilesRequest::Write { .. } => Ok(FilesAnswer::Written { bytes: 1, sha256: None }),
                _ => Err(missing()),
            }),
            Effect::Session(request) => EffectResult::Session(Err(SessionFault::Busy { kind: request.kind })),
            Effect::Collect { .. } => EffectResult::Collected(execution().submission),
            Effect::Validate { sha256 } => {
                EffectResult::Verdict(Verdict::Valid { sha256, copies_sample: false })
            }
            Effect::Evaluate { .. } => {
                EffectResult::Evaluation(Evaluation::Refused { reason: "nothing is held out".to_owned() })
            }
            Effect::Preview(_) => EffectResult::Preview("train.csv: 90 rows".to_owned()),
            Effect::Hear | Effect::Reply { .. } => panic!("no agent of its own is run here"),
            Effect::Node(_) | Effect::Step(_) | Effect::Note { .. } | Effect::SelectFinal { .. } => {
                EffectResult::Recorded
            }
        };
        Box::pin(std::future::ready(Ok(result)))
    }

    fn budget(&self) -> Budget {
        budget()
    }

    fn rng(&self, key: &EffectKey) -> Rng {
        Rng::new(key.seed(1))
    }
}

/// Where programs are started: as plain processes, for what is tried is the protocol and not the boundary.
fn stage() -> Stage {
    let sandbox = podium_sandbox::open(SandboxKind::Process, &Settings::default()).unwrap();
    Stage::new(sandbox.into(), Environment::of_user(Path::new("python3")).unwrap())
}

/// How a run of `odd.py` in this mode ends.
async fn end_of(mode: &str, stage: Stage) -> Result<String, String> {
    let toml = read("examples/external/greedy.toml");
    let set = |path: &str, value: &str| (path.to_owned(), value.to_owned());
    let overrides = [
        set("external.command", &format!("[\"python3\", \"odd.py\", \"{mode}\"]")),
        set("external.files", "[\"odd.py\"]"),
        set("external.silence", if ["silent", "deaf"].contains(&mode) { "2s" } else { "1h" }),
    ];
    let prompts =
        BTreeMap::from([("common/benchmark.md.tera".to_owned(), "Rules of {{ competition }}.".to_owned())]);
    let scaffold = Scaffold::load_with(&with(Registry::shipped()), &toml, prompts, &overrides).unwrap();
    let files = BTreeMap::from([("odd.py".to_owned(), read("tests/it/fixtures/external/odd.py"))]);
    let agent = Agent::of(&scaffold, &files, budget(), 1, Some(stage)).unwrap();
    let world = World::new();
    let ended = agent.run(&world).await;
    agent.close().await;
    ended.map(|finished| finished.reason).map_err(|error| error.to_string())
}

#[tokio::test]
async fn programs_that_break_the_protocol_are_told_and_ended() {
    let broke = "the strategy's program broke the protocol at line";
    let cases: [(&str, Result<&str, String>); 23] = [
        (
            "bad_json",
            Err(format!(
                "{broke} 1: the line is no JSON: `{{nonsense` (key must be a string at line 1 column 2); standard \
                         output carries the protocol: print to standard error"
            )),
        ),
        ("no_greeting", Err(format!("{broke} 1: the first request must be `initialize`"))),
        ("old_version", Err(format!("{broke} 1: this is version 1 of the protocol"))),
        ("two_greetings", Err(format!("{broke} 2: this is version 1 of the protocol, greeted once"))),
        ("gives_answers", Err(format!("{broke} 2: the message is an answer, and nothing was asked"))),
        ("unknown_method", Ok("-32601 there is no method `chatt`; nearest: `chat`")),
        (
            "bad_params",
            Ok(
                "['-32602']; 2 requests refused, the first: no model `other` here; names are code; see external.roles",
            ),
        ),
        ("endless_line", Err("broke the protocol: a line is longer than 16 MiB".to_owned())),
        (
            "silent",
            Err("said nothing for 2s though nothing it asked for is outstanding; the last that was \
                        outstanding: `initialize`"
                .to_owned()),
        ),
        ("exits", Err("ended (exit code 3) with a request outstanding; it said last: I give up".to_owned())),
        ("mute", Err("closed its standard output and lives on".to_owned())),
        ("deaf", Err("said nothing for 2s".to_owned())),
        ("not_alone", Err(format!("{broke} 3: a request without a `key` must be alone"))),
        ("without_key", Err(format!("{broke} 3: a request without a `key` must be alone"))),
        ("asks_budget_beside", Err(format!("{broke} 3: `budget` must be alone"))),
        ("key_twice", Err(format!("{broke} 3: key `run/a` was used before"))),
        ("no_key", Err(format!("{broke} 2: `../a` is no key"))),
        ("id_twice", Err(format!("{broke} 3: the id is that of a request that is outstanding"))),
        ("too_many", Err(format!("{broke} 258: 256 requests are outstanding"))),
        ("out_of_order", Ok("right: True, in order: False")),
        ("cancels", Ok("True -32004 False")),
        (
            "not_there",
            Err("ended (exit code 1) without `finish`; it said last: KeyError: 'not_there' (odd.py:"
                .to_owned()),
        ),
        ("tour", Ok("all was seen")),
    ];
    let stage = stage();
    let ends = join_all(cases.iter().map(|(mode, _)| end_of(mode, stage.clone()))).await;
    for ((mode, expected), end) in cases.iter().zip(ends) {
        match (expected, &end) {
            (Ok(reason), Ok(told)) => assert_eq!(reason, told, "{mode}"),
            (Err(part), Err(told)) => assert!(told.contains(part), "{mode}: {told}"),
            _ => panic!("{mode}: {end:?}"),
        }
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")).unwrap();
    assert!(peak.trim().parse::<u64>().unwrap() < 512 << 10, "a line of a gibibyte cost {peak} kB");
}
