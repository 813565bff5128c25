//! What an action works with: the effects of its step under keys of its own, the templates, and what the loop remembers
//! for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use podium_types::chat::{ChatError, ChatRequest, Message, Speaker};
use podium_types::execution::{Collected, Execution, ExecutionRequest, Program, Workspace};
use podium_types::files::{FileFault, FileText, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::key::EffectKey;
use podium_types::log::{Line, LineKind};
use podium_types::sha256::Sha256;
use podium_types::verdict::Verdict;

use super::ResearchLoop;
use super::spec::LlmFailure;
use super::words::{Edit, Question, Words};
use crate::context::{Acted, RunContext};
use crate::step::StepRecord;
use crate::strategy::StrategyError;

/// The research log, a file of the workspace.
pub(crate) const LOG: &str = "research_log.log";

/// What the loop remembers for actions from step to step.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    /// What files were before they were written, the last last; none: there was no file.
    pub(crate) undo: RefCell<Vec<(String, Option<String>)>>,
    /// The submission that would be handed in.
    pub(crate) selected: RefCell<Option<Sha256>>,
    /// Final answers that were refused for want of a submission.
    pub(crate) refused_ends: Cell<u32>,
}

/// What the actions of one step work with: their only way out.
pub struct Bench<'a> {
    pub(crate) agent: &'a ResearchLoop,
    pub(crate) context: &'a dyn RunContext,
    pub(crate) remembered: &'a Remembered,
    pub(crate) plan: &'a str,
    step: u32,
    calls: Cell<u32>,
    lines: RefCell<Vec<Line>>,
    failed: Cell<bool>,
}

impl<'a> Bench<'a> {
    pub(crate) const fn new(
        agent: &'a ResearchLoop,
        context: &'a dyn RunContext,
        remembered: &'a Remembered,
        plan: &'a str,
        step: u32,
    ) -> Self {
        Self {
            agent,
            context,
            remembered,
            plan,
            step,
            calls: Cell::new(0),
            lines: RefCell::new(Vec::new()),
            failed: Cell::new(false),
        }
    }

    /// The run context, for effects under keys of [`Self::key`].
    pub const fn context(&self) -> &'a dyn RunContext {
        self.context
    }

    /// A key of this step for a call of this name; no two are equal.
    pub fn key(&self, call: &str) -> EffectKey {
        let number = self.calls.get();
        self.calls.set(number + 1);
        EffectKey::step(self.step, &format!("{call}-{number}"))
    }

    /// One more line of the step's log, for people.
    pub(crate) fn log(&self, kind: LineKind, title: &str, text: impl Into<String>) {
        self.log_line(Line::new(kind, title, text));
    }

    /// One more line of the step's log, for people.
    pub(crate) fn log_line(&self, line: Line) {
        self.lines.borrow_mut().push(line);
    }

    /// Puts the log of the step so far into the journal.
    pub(crate) async fn record(&self) -> Result<(), StrategyError> {
        let record = StepRecord { number: self.step, lines: self.lines.take() };
        Ok(self.context.step(self.key("log"), record).await?)
    }

    /// Whether what was said tells of a failure.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// What the harness says.
    pub(crate) fn say(&self, words: &Words<'_>) -> Result<String, StrategyError> {
        self.failed.set(self.failed.get() || words.tell_of_a_failure());
        let text = self.agent.common.prompts.render(&self.agent.spec.turn.words, words)?;
        Ok(text.trim_end().to_owned())
    }

    /// What it says of a file that could not be touched.
    pub(crate) fn fault(&self, action: &str, fault: &FileFault) -> Result<String, StrategyError> {
        self.say(&Words { say: "file_fault", action, reason: &fault.to_string(), ..Words::default() })
    }

    /// Acts on files of the workspace; `call` names the effect's key.
    pub async fn files(
        &self,
        call: &str,
        request: FilesRequest,
    ) -> Result<Result<FilesAnswer, FileFault>, StrategyError> {
        Ok(self.context.files(self.key(call), request).await?)
    }

    /// The text of a file; of one that is too large its beginning, where that will do.
    pub async fn read(
        &self,
        path: &str,
        max_bytes: u64,
        beginning: bool,
    ) -> Result<Result<FileText, FileFault>, StrategyError> {
        let request = FilesRequest::Read { path: path.to_owned(), max_bytes, beginning };
        Ok(self.files("read", request).await?.and_then(|answer| match answer {
            FilesAnswer::Read(text) => Ok(text),
            _ => Err(FileFault::Failed { message: format!("`{path}` was not read") }),
        }))
    }

    /// Writes a file and remembers what it was.
    pub(crate) async fn write(
        &self,
        path: &str,
        old: Option<&FileText>,
        content: String,
    ) -> Result<Result<(), FileFault>, StrategyError> {
        let when = match old {
            None => WriteWhen::Absent,
            Some(FileText { sha256: Some(sha256), .. }) => WriteWhen::Unchanged { sha256: sha256.clone() },
            Some(_) => WriteWhen::Always,
        };
        let request = FilesRequest::Write { path: path.to_owned(), content, when };
        let written = self.files("write", request).await?;
        Ok(written.map(|_| {
            let before = old.map(|old| old.text.clone());
            self.remembered.undo.borrow_mut().push((plain(path), before));
        }))
    }

    /// Reads the file that is to be written: none where there is none.
    pub(crate) async fn before(
        &self,
        path: &str,
    ) -> Result<Result<Option<FileText>, FileFault>, StrategyError> {
        match self.read(path, self.agent.spec.actions.file_bytes, false).await? {
            Ok(text) => Ok(Ok(Some(text))),
            Err(FileFault::Missing { .. }) => Ok(Ok(None)),
            Err(fault) => Ok(Err(fault)),
        }
    }

    /// Runs a command in the workspace.
    pub async fn run(&self, argv: Vec<String>) -> Result<Acted<Execution>, StrategyError> {
        let request = ExecutionRequest {
            workspace: Workspace::Home,
            program: Program::Command { argv },
            timeout_ms: self.context.budget().next_execution_ms(),
            env: BTreeMap::new(),
            collect: Vec::new(),
            agent: None,
        };
        Ok(self.context.execute_at_home(self.key("execute"), request).await?)
    }

    /// Looks at a submission; a valid one at the right path is the one to hand in from then on.
    pub async fn check(&self, path: &str) -> Result<Verdict, StrategyError> {
        let collected = self.context.collect(self.key("collect"), path).await?;
        let sha256 = match collected {
            Collected::Missing { found } => return Ok(Verdict::Missing { found }),
            Collected::File { sha256, .. } => sha256,
        };
        let verdict = self.context.validate(self.key("validate"), &sha256).await?;
        let is_handed_in = plain(path) == plain(&self.context.task().submission_path);
        let is_new = self.remembered.selected.borrow().as_ref() != Some(&sha256);
        if verdict.is_valid() && is_handed_in && is_new {
            self.context.select_final(self.key("select"), None, &sha256).await?;
            *self.remembered.selected.borrow_mut() = Some(sha256);
        }
        Ok(verdict)
    }

    /// Asks the fast model. A failure is told in the answer's place.
    pub(crate) async fn ask(&self, question: &Question<'_>) -> Result<String, StrategyError> {
        let turn = &self.agent.spec.turn;
        let prompt = self.agent.common.prompts.render(&turn.fast_prompt, question)?;
        Ok(self
            .chat(question.ask, &turn.fast_role, prompt, Vec::new())
            .await?
            .unwrap_or_else(|failure| failure.to_string()))
    }

    /// Asks the model that rewrites files.
    pub(crate) async fn edit(&self, edit: &Edit<'_>) -> Result<Result<String, String>, StrategyError> {
        let turn = &self.agent.spec.turn;
        let prompt = self.agent.common.prompts.render(&turn.edit_prompt, edit)?;
        let answer = self.chat("edit", &turn.edit_role, prompt, Vec::new()).await?;
        Ok(answer.map_err(|failure| failure.to_string()))
    }

    /// One question to a model; a refusal, or a failure where those are observed, is an answer, too.
    pub(crate) async fn chat(
        &self,
        call: &str,
        role: &str,
        prompt: String,
        stop: Vec<String>,
    ) -> Result<Result<String, ChatError>, StrategyError> {
        let rules = self.agent.common.rules(self.context.task(), &self.context.budget())?;
        let messages = vec![Message::text(Speaker::System, rules), Message::text(Speaker::User, prompt)];
        let request = ChatRequest { stop, ..self.agent.common.request(role, messages, 1) };
        let key = self.key(call);
        let answer = match self.agent.spec.turn.llm_failure {
            LlmFailure::Stop => self.context.chat(key, role, request).await?,
            LlmFailure::Observe => self.context.chat_or_failure(key, role, request).await?,
        };
        Ok(answer.map(|answer| answer.content))
    }
}

/// A path as it is compared: without a leading `./`.
pub(crate) fn plain(path: &str) -> String {
    let mut path = path.trim();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path.to_owned()
}
