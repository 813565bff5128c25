//! A scripted world for a research loop: models that say what the test gives them, files in memory, and programs whose text
//! says what becomes of them.

use std::cell::RefCell;
use std::rc::Rc;

use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::{ChatError, ChatRequest, FinishReason};
use podium_types::execution::{Ended, Execution, LimitHit, Output, Program};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use crate::support::context::World;
use crate::support::home::Home;
use crate::support::script::{chat, execute};

/// What the model that decides says to a request, as a function of the number of the answer.
pub(super) type Model = Box<dyn Fn(usize, &ChatRequest) -> Result<String, ChatError>>;

/// Where a submission counts.
const SUBMISSION: &str = "submission/submission.csv";

pub(super) fn turn(plan: &str, action: &str, input: &str) -> String {
    format!(
        "Reflection: r\nResearch Plan and Status: {plan}\nFact Check: f\nThought: t\nAction: {action}\nAction Input: {input}"
    )
}

pub(super) fn down() -> ChatError {
    ChatError::Service { message: "503 Service Unavailable".into() }
}

/// What an editing model makes of an instruction.
fn edited(request: &ChatRequest) -> EffectResult {
    let prompt = &request.messages.last().unwrap().content;
    let code = match () {
        () if prompt.contains("[leave nothing]") => "",
        () if prompt.contains("[leave it]") => "print('hello')\n",
        () if prompt.contains("[fail]") => return EffectResult::Chat(Err(down())),
        () => "print('edited')\n",
    };
    chat(&format!("```python\n{code}```"), None, FinishReason::Stop)
}

/// Runs a program: what its text says happens.
fn ran(home: &Home, argv: &[String]) -> EffectResult {
    let path = argv.last().unwrap().trim_start_matches("./").to_owned();
    let text = home.0.borrow().get(&path).cloned().unwrap_or_else(|| argv.join(" "));
    let printed = |text: &str| Output { head: text.to_owned(), ..Output::default() };
    let limit = LimitHit::WallClock { limit_ms: 600_000 };
    let well = Execution { output: printed(&text), ..execute("0.5") };
    let execution = match text.trim() {
        "cut" => return EffectResult::Interrupted,
        "crash" => {
            Execution { ended: Ended::Exit(1), output: printed("score 0.81\nKeyError: 'centroid'\n"), ..well }
        }
        "slow" => Execution {
            ended: Ended::Signal(9),
            limit: Some(limit),
            output: printed("epoch 1\nepoch 2\n"),
            wall_ms: 600_100,
            ..well
        },
        "silent" => Execution { output: Output::default(), ..well },
        "endless" => Execution {
            output: Output {
                head: "a line\n".repeat(400),
                tail: "the end\n".into(),
                dropped_bytes: 7_000_000,
            },
            ..well
        },
        text => {
            if let Some(rows) = text.strip_prefix("write ") {
                home.0.borrow_mut().insert(SUBMISSION.to_owned(), format!("{rows}\n"));
            }
            well
        }
    };
    EffectResult::Execution(Box::new(execution))
}

/// The world. Each request to the model that decides goes into the list that comes with it.
pub(super) fn world(home: Home, model: Model) -> (World, Rc<RefCell<Vec<ChatRequest>>>) {
    let asked: Rc<RefCell<Vec<ChatRequest>>> = Rc::default();
    let seen = Rc::clone(&asked);
    let answer = move |_: &str, effect: &Effect| {
        if let Some(result) = home.answer(effect) {
            return result;
        }
        match effect {
            Effect::BeginStep => EffectResult::Granted,
            Effect::Preview(_) => EffectResult::Preview("input/\n  train.csv (90 rows)".into()),
            Effect::Chat { role, request, .. } => match role.as_str() {
                "code" => {
                    let number = seen.borrow().len();
                    seen.borrow_mut().push((**request).clone());
                    match model(number, request) {
                        Ok(text) => chat(&text, None, FinishReason::Stop),
                        Err(error) => EffectResult::Chat(Err(error)),
                    }
                }
                "edit" => edited(request),
                _ => chat("[Observation]: It was read.", None, FinishReason::Stop),
            },
            Effect::Execute(request) => match &request.program {
                Program::Command { argv } => ran(&home, argv),
                Program::Python { .. } => panic!("a research loop runs commands"),
            },
            Effect::Validate { sha256 } if *sha256 == Sha256::of(b"bad\n") => {
                EffectResult::Verdict(Verdict::Invalid { reason: "column `EAP` is missing".into() })
            }
            Effect::Validate { sha256 } => {
                EffectResult::Verdict(Verdict::Valid { sha256: sha256.clone(), copies_sample: false })
            }
            Effect::Step(_) | Effect::SelectFinal { .. } => EffectResult::Recorded,
            other => panic!("{other:?}"),
        }
    };
    (Box::new(answer), asked)
}
