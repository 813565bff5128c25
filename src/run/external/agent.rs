//! The strategy: starts its program, listens to it, and answers until it is done.
//!
//! Must not know: the journal, models, competitions. Its future also waits for the program, so it is woken from outside
//! the driver; [`Strategy::quiet`] says when the program may be thinking.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use podium_sandbox::SandboxError;
use podium_scaffold::strategy::StrategyFuture;
use podium_scaffold::{Budget, Finished, Quiet, RunContext, Scaffold, Strategy, StrategyError};
use podium_types::execution::Execution;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::calls::Terms;
use super::message::{VERSION, answer};
use super::program::{MESSAGE_BYTES, Stage, Started};
use super::spec::ExternalSpec;
use super::talk::{MOST_OUTSTANDING, Next, Talk};
use super::wire::{Heard, Link};

/// Of what a program said last, so much is told.
const LAST_WORDS: usize = 400;
/// Time that is far enough away.
const NEVER: Duration = Duration::from_hours(24 * 365);

/// An external strategy with the place where its program is started.
pub struct Agent {
    spec: ExternalSpec,
    scaffold: Scaffold,
    files: Arc<BTreeMap<String, String>>,
    /// Before anything is used. What a program is told at first is the same in each sitting.
    budget: Budget,
    seed: u64,
    stage: Stage,
    quiet: Cell<Quiet>,
    task: RefCell<Option<JoinHandle<()>>>,
}

impl Agent {
    /// The strategy of `scaffold`, where it is external and there is a place for its program.
    pub fn of(
        scaffold: &Scaffold,
        files: &BTreeMap<String, String>,
        budget: Budget,
        seed: u64,
        stage: Option<Stage>,
    ) -> Option<Self> {
        let spec = ExternalSpec::of(scaffold)?;
        Some(Self {
            spec,
            scaffold: scaffold.clone(),
            files: Arc::new(files.clone()),
            budget,
            seed,
            stage: stage?,
            quiet: Cell::new(Quiet::Busy),
            task: RefCell::new(None),
        })
    }

    /// Waits until the program is gone, once the strategy's future was dropped.
    pub async fn close(self) {
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }

    /// What the handshake tells.
    fn greeting(&self, context: &dyn RunContext) -> Result<Value, StrategyError> {
        let task = context.task();
        let told = |value| serde_json::to_value(value).unwrap_or_default();
        Ok(json!({
            "protocol": VERSION,
            "podium": env!("CARGO_PKG_VERSION"),
            "scaffold": self.scaffold.head().id,
            "seed": self.seed,
            "task": serde_json::to_value(task).unwrap_or_default(),
            "rules": self.scaffold.rules(task, &self.budget)?,
            "budget": told(&self.budget),
            "roles": self.spec.external.roles,
            "settings": self.spec.settings,
            "limits": {
                "message_bytes": MESSAGE_BYTES,
                "outstanding": MOST_OUTSTANDING,
                "executions": self.spec.external.executions,
                "silence_ms": self.spec.external.silence.millis(),
            },
        }))
    }

    fn terms(&self) -> Terms {
        Terms {
            roles: self.spec.external.roles.iter().cloned().collect(),
            models: self.scaffold.head().models.clone(),
            execution_ms: self.budget.execution_limit_ms,
            nodes: std::collections::BTreeSet::new(),
            collected: std::collections::BTreeSet::new(),
        }
    }

    async fn converse(&self, context: &dyn RunContext) -> Result<Finished, StrategyError> {
        let greeting = self.greeting(context)?;
        let started = self.stage.start(&self.spec.external, Arc::clone(&self.files)).await;
        let Started { link: Link { mut heard, answers }, task } =
            started.map_err(|error| lost(format!("could not be started: {}", told(&error))))?;
        self.task.replace(Some(task));
        let mut talk = Talk::new(context, greeting, self.terms(), self.budget);
        let silence = Duration::from_millis(self.spec.external.silence.millis());
        let mut since = Instant::now();
        loop {
            let (quiet, left) = talk.quiet(since.elapsed(), silence);
            self.quiet.set(quiet);
            let has_answers = talk.has_answers();
            tokio::select! {
                biased;
                permit = answers.reserve(), if has_answers => {
                    let line = talk.take_answer();
                    // Where nobody reads any more the end is heard next.
                    if let Ok(permit) = permit {
                        permit.send(line);
                    }
                }
                Some(landed) = talk.flying.next() => talk.land(landed)?,
                heard = heard.recv(), if talk.listens() => {
                    if let Some(reason) = hear(&mut talk, &answers, heard)? {
                        return Ok(Finished { reason });
                    }
                }
                () = tokio::time::sleep(left.unwrap_or(NEVER)) => {
                    if talk.outstanding() == 0 && since.elapsed() >= silence {
                        let silence = self.spec.external.silence;
                        let last = talk.answered_last();
                        let why = format!(
                            "said nothing for {silence} though nothing it asked for is outstanding; {last}"
                        );
                        return Err(program(why));
                    }
                    continue;
                }
            }
            since = Instant::now();
        }
    }
}

impl Strategy for Agent {
    fn run<'a>(&'a self, context: &'a dyn RunContext) -> StrategyFuture<'a> {
        // The driver polls it by itself until it is idle: the runtime's budget of turns must not keep it from that.
        Box::pin(tokio::task::unconstrained(self.converse(context)))
    }

    fn quiet(&self) -> Quiet {
        self.quiet.get()
    }
}

/// Takes in what was heard. Some: the program is done, and why.
fn hear(
    talk: &mut Talk<'_>,
    answers: &mpsc::Sender<Vec<u8>>,
    heard: Option<Heard>,
) -> Result<Option<String>, StrategyError> {
    let line = match heard {
        Some(Heard::Line(line)) => line,
        Some(Heard::TooLong) => {
            let limit = MESSAGE_BYTES >> 20;
            return Err(program(format!("broke the protocol: a line is longer than {limit} MiB")));
        }
        Some(Heard::Mute) => return Err(program("closed its standard output and lives on".to_owned())),
        Some(Heard::Ended(ended)) => {
            return Err(match *ended {
                Ok(execution) => program(gone(&execution, talk)),
                Err(error) => lost(format!("was lost: {}", told(&error))),
            });
        }
        None => return Err(program("is gone".to_owned())),
    };
    match talk.hear(&line) {
        Ok(Next::GoesOn) => Ok(None),
        Ok(Next::Finished(reason)) => Ok(Some(match talk.refused() {
            Some(refused) => format!("{reason}; {refused}"),
            None => reason,
        })),
        Err((id, fault)) => {
            let why = format!("broke the protocol at line {}: {}", talk.lines(), fault.message);
            // It may be written before the program is ended.
            let _ = answers.try_send(answer(id.as_ref(), Err(fault)));
            Err(program(why))
        }
    }
}

/// How a program ended that should not have.
fn gone(execution: &Execution, talk: &Talk<'_>) -> String {
    let how = match &execution.limit {
        Some(limit) => format!("{}, {limit}", execution.ended),
        None => execution.ended.to_string(),
    };
    let open = match talk.outstanding() {
        0 => "without `finish`".to_owned(),
        1 => "with a request outstanding".to_owned(),
        count => format!("with {count} requests outstanding"),
    };
    let said = execution.output.text();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| line.trim().chars().take(LAST_WORDS).collect::<String>());
    let place = place(&said).map(|place| format!(" ({place})")).unwrap_or_default();
    let last = last.map_or_else(String::new, |line| format!("; it said last: {line}{place}"));
    let refused = talk.refused().map(|refused| format!("; {refused}")).unwrap_or_default();
    format!("ended ({how}) {open}{last}{refused}")
}

/// Where the last of Python's tracebacks ends: `File "/mounts/strategy/greedy.py", line 12` is `greedy.py:12`.
fn place(said: &str) -> Option<String> {
    let line = said.lines().rev().find_map(|line| line.trim().strip_prefix("File \""))?;
    let (file, rest) = line.split_once("\", line ")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(format!("{file}:{number}").chars().take(LAST_WORDS).collect())
}

fn program(why: String) -> StrategyError {
    StrategyError::Program(why)
}

/// Not the program's own fault.
fn lost(why: String) -> StrategyError {
    StrategyError::ProgramLost(why)
}

/// The sandbox's error with its cause and its hint.
fn told(error: &SandboxError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{error}{cause}{hint}")
}
