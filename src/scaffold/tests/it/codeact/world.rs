//! A scripted world for an agent: a model that says what the test gives it, files in memory, and a shell whose commands
//! are a few words.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::{ChatAnswer, ChatError, ChatRequest, FinishReason, ToolCall};
use podium_types::execution::{Ended, Output};
use podium_types::session::{
    Observation, SessionAct, SessionAnswer, SessionFault, SessionKind, SessionRequest, SessionState,
};
use podium_types::usage::Usage;
use podium_types::verdict::Verdict;
use serde_json::Value;

use crate::support::context::World;
use crate::support::home::Home;

/// What the model says to a request, as a function of the number of the answer.
pub(super) type Model = Box<dyn Fn(usize, &ChatRequest) -> Result<ChatAnswer, ChatError>>;

pub(super) fn answer(content: &str, calls: &[(&str, Value)]) -> ChatAnswer {
    let call = |(place, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("call-{place}"),
        name: (*name).to_owned(),
        arguments: arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned),
    };
    ChatAnswer {
        logprobs: Vec::new(),
        content: content.to_owned(),
        reasoning: None,
        tool_calls: calls.iter().enumerate().map(call).collect(),
        document: None,
        finish: FinishReason::Stop,
        usage: Usage::NOTHING,
        model: "script".into(),
        provider_state: None,
    }
}

/// A model that says these one after another, and the last again and again.
pub(super) fn says(answers: Vec<ChatAnswer>) -> Model {
    Box::new(move |number, _| Ok(answers[number.min(answers.len() - 1)].clone()))
}

/// A shell: `write TEXT` writes the submission, `run` goes on and on, `crash` is cut by the harness, `die` ends it,
/// anything else is echoed.
#[derive(Default)]
struct Shell {
    open: bool,
    running: bool,
    call: u64,
}

impl Shell {
    fn act(&mut self, request: &SessionRequest, home: &Home) -> EffectResult {
        let opened = !std::mem::replace(&mut self.open, true);
        let kernel = request.kind == SessionKind::Kernel;
        let done = || {
            if kernel { SessionState::Completed { value: None } } else { SessionState::Exited { code: 0 } }
        };
        let (state, output) = match &request.act {
            SessionAct::Send { .. } if self.running => {
                return EffectResult::Session(Err(SessionFault::Busy { kind: request.kind }));
            }
            SessionAct::Send { input } => {
                self.call += 1;
                match input.split_once(' ').unwrap_or((input, "")) {
                    ("write", text) => {
                        let path = "submission/submission.csv".to_owned();
                        home.0.borrow_mut().insert(path, format!("{text}\n"));
                        (done(), String::new())
                    }
                    ("run", _) => {
                        self.running = true;
                        (SessionState::Running, "epoch 1\n".to_owned())
                    }
                    ("crash", _) => {
                        *self = Self::default();
                        return EffectResult::Interrupted;
                    }
                    ("die", _) => {
                        self.open = false;
                        (SessionState::Ended { ended: Ended::Signal(9) }, String::new())
                    }
                    ("false", _) => (SessionState::Exited { code: 1 }, String::new()),
                    _ => (done(), format!("{input}\n")),
                }
            }
            SessionAct::Input { text, .. } => (SessionState::Running, format!("read {text}")),
            SessionAct::Interrupt => {
                self.running = false;
                (SessionState::Exited { code: 130 }, "^C\n".to_owned())
            }
            SessionAct::Wait if self.running => (SessionState::Running, String::new()),
            SessionAct::Wait => (SessionState::Idle, String::new()),
            SessionAct::Restart => {
                *self = Self { open: true, ..Self::default() };
                (SessionState::Idle, String::new())
            }
        };
        let interrupted =
            matches!(request.act, SessionAct::Interrupt) || matches!(state, SessionState::Ended { .. });
        let observation = Observation {
            call: self.call,
            generation: 1,
            state,
            output: Output { head: output, ..Output::default() },
            wall_ms: 1_500,
            limit: None,
            background: Vec::new(),
            interrupted,
        };
        EffectResult::Session(Ok(Box::new(SessionAnswer { observation, opened, before: None })))
    }
}

/// The world. Each request to the model in `role` `code` goes into the list that comes with it.
pub(super) fn world(home: Home, model: Model) -> (World, Rc<RefCell<Vec<ChatRequest>>>) {
    let asked: Rc<RefCell<Vec<ChatRequest>>> = Rc::default();
    let seen = Rc::clone(&asked);
    let shells: RefCell<[Shell; 2]> = RefCell::default();
    let answer_to = move |_: &str, effect: &Effect| {
        if let Some(result) = home.answer(effect) {
            return result;
        }
        match effect {
            Effect::BeginStep => EffectResult::Granted,
            Effect::Preview(_) => EffectResult::Preview("input/\n  train.csv (90 rows)".into()),
            Effect::Chat { role, .. } if role == "fast" => {
                EffectResult::Chat(Ok(answer("- Data: 90 rows.\n- Results: 0.81 by a forest.", &[])))
            }
            Effect::Chat { request, .. } => {
                let number = seen.borrow().len();
                seen.borrow_mut().push((**request).clone());
                EffectResult::Chat(model(number, request))
            }
            Effect::Session(request) => {
                let place = usize::from(request.kind == SessionKind::Kernel);
                shells.borrow_mut()[place].act(request, &home)
            }
            Effect::Validate { sha256 } if *sha256 == podium_types::sha256::Sha256::of(b"bad\n") => {
                EffectResult::Verdict(Verdict::Invalid { reason: "column `EAP` is missing".into() })
            }
            Effect::Validate { sha256 } => {
                EffectResult::Verdict(Verdict::Valid { sha256: sha256.clone(), copies_sample: false })
            }
            Effect::Step(_) | Effect::Note { .. } | Effect::SelectFinal { .. } => EffectResult::Recorded,
            other => panic!("{other:?}"),
        }
    };
    (Box::new(answer_to), asked)
}

/// A conversation as a reader sees it.
pub(super) fn shown(request: &ChatRequest) -> String {
    let mut text = String::new();
    for message in &request.messages {
        let id = message.tool_call_id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        write!(text, "===== {:?}{id}\n{}\n", message.role, message.content).unwrap();
        for call in &message.tool_calls {
            writeln!(text, "--> {} {} {}", call.id, call.name, call.arguments).unwrap();
        }
    }
    text
}
