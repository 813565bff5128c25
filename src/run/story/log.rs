//! The log of a step: what its strategy wrote, with what the harness did before, in and after it.
//!
//! A step that has no record (it goes on, a limit ended it, its strategy writes none) is told from its effects: what the
//! model answered, what ran and what came of it.

use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::ChatResult;
use podium_types::execution::{ExecutionRequest, Program};
use podium_types::files::FilesRequest;
use podium_types::key::EffectKey;
use podium_types::log::{Line, LineKind};
use podium_types::session::{SessionAct, SessionEnd, SessionRequest};
use podium_types::verdict::Verdict;

use crate::run::stop::Stop;

/// Of an output so many bytes are told where no strategy has cut it.
const OUTPUT_END: usize = 4 << 10;
const LEFT_OUT: &str = "are in the journal only";

/// The log of a step in the making.
#[derive(Default)]
pub(super) struct Log {
    before: Vec<Line>,
    record: Option<Vec<Line>>,
    effects: Vec<Line>,
    after: Vec<Line>,
}

impl Log {
    /// What the harness did before the agent was done with the step.
    pub(super) fn before(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.before.extend(lines);
    }

    /// What the harness did behind it.
    pub(super) fn after(&mut self, line: Line) {
        self.after.push(line);
    }

    /// Whether its strategy has written it.
    pub(super) const fn is_written(&self) -> bool {
        self.record.is_some()
    }

    /// Takes an effect in.
    pub(super) fn effect(&mut self, key: &EffectKey, effect: &Effect, result: &EffectResult) {
        match (effect, result) {
            (Effect::Step(step), _) => self.record = Some(step.lines.clone()),
            (Effect::Note { text }, _) => self.effects.push(Line::new(LineKind::Told, "note", text)),
            (Effect::Validate { .. }, EffectResult::Verdict(verdict)) => self.after.push(checked(verdict)),
            (Effect::SelectFinal { .. }, _) => {
                if let Some(line) = self.after.last_mut().filter(|line| line.kind == LineKind::Checked) {
                    line.text.push_str("; it is the one to hand in from here on");
                }
            }
            (_, EffectResult::Interrupted) => {
                let told = "cut by a crash or a stop of the harness: its effects may be partial";
                self.after.push(Line::new(LineKind::Harness, key.as_str(), told).failed(true));
            }
            (Effect::Chat { .. }, EffectResult::Chat(answer)) => self.effects.extend(said(answer)),
            (Effect::Execute(request), EffectResult::Execution(executed)) => {
                let title = key.as_str().rsplit('/').next().unwrap_or_default();
                self.effects.push(Line::new(LineKind::Act, title, program(request)));
                let output = super::both_ends(&executed.output.text(), OUTPUT_END, LEFT_OUT).0;
                self.effects.push(Line::new(LineKind::Seen, title, output).failed(!executed.succeeded()));
            }
            (Effect::Session(request), EffectResult::Session(answer)) => {
                let title = request.kind.name();
                self.effects.push(Line::new(LineKind::Act, title, asked(request)));
                let (text, failed) = match answer {
                    Ok(answer) => (answer.observation.text(), answer.observation.interrupted),
                    Err(fault) => (fault.to_string(), true),
                };
                let text = super::both_ends(&text, OUTPUT_END, LEFT_OUT).0;
                self.effects.push(Line::new(LineKind::Seen, title, text).failed(failed));
            }
            (Effect::Files(request), EffectResult::Files(answer)) => {
                self.effects.push(Line::new(LineKind::Act, "files", touched(request)));
                if let Err(fault) = answer {
                    self.effects.push(Line::new(LineKind::Seen, "files", fault.to_string()).failed(true));
                }
            }
            _ => {}
        }
    }

    /// The names of what the agent did, where its strategy says.
    pub(super) fn acts(&self) -> Vec<&str> {
        let lines = self.record.iter().flatten();
        lines.filter(|line| line.kind == LineKind::Act).map(|line| line.title.as_str()).collect()
    }

    /// Whether nothing that the agent did or said went wrong.
    pub(super) fn went_well(&self) -> bool {
        self.record.as_ref().unwrap_or(&self.effects).iter().all(|line| !line.failed)
    }

    /// All lines.
    pub(super) fn lines(self) -> Vec<Line> {
        let own = self.record.unwrap_or(self.effects);
        self.before.into_iter().chain(own).chain(self.after).collect()
    }
}

/// A sitting that is not the first, of an agent that is a program of its own or of another.
pub(super) fn resumed(program: &str, own_program: bool) -> Line {
    let what = if own_program {
        "the agent begins again, in a fresh workspace"
    } else {
        "shells and kernels of before are gone, files are not"
    };
    let text = format!("podium {program} went on; {what}");
    Line::new(LineKind::Harness, "resumed", text)
}

/// A sitting that is over.
pub(super) fn stopped(stop: &Stop) -> Line {
    Line::new(LineKind::Harness, "stopped", format!("{}: {}", stop.by.word(), stop.detail))
}

/// A shell or kernel that is over.
pub(super) fn session_ended(name: &str, end: &SessionEnd) -> Line {
    let how = end.limit.as_ref().map_or_else(|| end.ended.to_string(), ToString::to_string);
    let blocked = end.blocked.iter().map(|(kind, count)| format!("; the sandbox stopped {count} × {kind}"));
    let text = format!("after {:.1} s: {how}{}", end.wall_ms as f64 / 1e3, blocked.collect::<String>());
    Line::new(LineKind::Harness, format!("{name} ended"), text).failed(end.limit.is_some())
}

fn checked(verdict: &Verdict) -> Line {
    let text = match verdict {
        Verdict::Valid { copies_sample: false, .. } => "valid".to_owned(),
        Verdict::Valid { copies_sample: true, .. } => "valid, a copy of the sample".to_owned(),
        Verdict::Invalid { reason } => format!("invalid: {reason}"),
        Verdict::Missing { found } => format!("none: {found}"),
    };
    Line::new(LineKind::Checked, "", text).failed(!verdict.is_valid())
}

fn said(answer: &ChatResult) -> Option<Line> {
    match answer {
        Ok(answer) => {
            let calls = answer.tool_calls.iter().map(|call| format!("\n[{} {}]", call.name, call.arguments));
            let text = calls.fold(answer.content.clone(), |text, call| text + &call);
            Some(Line::new(LineKind::Said, "answer", text.trim())).filter(|line| !line.text.is_empty())
        }
        Err(error) => Some(Line::new(LineKind::Refused, "no answer", error.to_string()).failed(true)),
    }
}

fn program(request: &ExecutionRequest) -> String {
    match &request.program {
        Program::Python { code, .. } => code.clone(),
        Program::Command { argv } => argv.join(" "),
    }
}

fn asked(request: &SessionRequest) -> String {
    match &request.act {
        SessionAct::Send { input } => input.clone(),
        SessionAct::Wait => "wait".to_owned(),
        SessionAct::Input { text, .. } => format!("input: {text}"),
        SessionAct::Interrupt => "interrupt".to_owned(),
        SessionAct::Restart => "restart".to_owned(),
    }
}

fn touched(request: &FilesRequest) -> String {
    match request {
        FilesRequest::List { path } => format!("list {path}"),
        FilesRequest::Read { path, .. } => format!("read {path}"),
        FilesRequest::Write { path, content, .. } => format!("write {path}, {} bytes", content.len()),
        FilesRequest::Copy { from, to } => format!("copy {from} to {to}"),
        FilesRequest::Remove { path } => format!("remove {path}"),
    }
}
