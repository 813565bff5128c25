//! A call of the shell or the kernel: which act of the session it means, and what is seen of it. A call goes on when its
//! time is over, and the agent waits for it, gives it input or interrupts it; another one is not begun meanwhile.

use podium_types::execution::LimitHit;
use podium_types::session::{
    Observation, SessionAct, SessionAnswer, SessionFault, SessionKind, SessionRequest, SessionState,
};
use serde::Serialize;

use super::hands::SessionMemory;
use super::{Hands, Outcome};
use crate::context::Acted;
use crate::spec::Duration;
use crate::strategy::StrategyError;

/// What the model asked of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    /// The command, the cell, or the input.
    pub(crate) text: String,
    /// It is input for what runs.
    pub(crate) is_input: bool,
    /// Seconds to wait; none: the usual time.
    pub(crate) seconds: Option<f64>,
    /// Start anew first.
    pub(crate) reset: bool,
}

/// Variables of the template of what was seen. Durations are milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct SessionVariables<'a> {
    /// `shell` or `kernel`.
    pub session: &'static str,
    /// What it runs: `command` or `cell`.
    pub call: &'static str,
    /// What is to be said of the call itself: `seen`, `interrupted` (a crash of the harness cut it, effects may be partial),
    /// `busy` (not done: another goes on), `nothing_runs` (not done: no input without a program), `reset`, `refused`,
    /// `not_started`.
    pub outcome: &'static str,
    /// How it stands: `idle`, `running`, `exited`, `completed`, `raised`, `ended`, `lost`; empty: not known.
    pub state: &'static str,
    /// Exit code of a command.
    pub exit_code: Option<i32>,
    /// How the shell or kernel itself ended.
    pub ended: Option<String>,
    /// What was printed, with a cell's value or traceback; both ends of a long one.
    pub output: String,
    /// How long the call took or has taken.
    pub wall_ms: u64,
    /// How long it was waited for.
    pub soft_ms: u64,
    /// A limit that fired.
    pub limit: Option<LimitHit>,
    /// Programs behind the shell or kernel, by their own names.
    pub background: Vec<String>,
    /// The call was cut.
    pub cut: bool,
    /// The shell or kernel is another one than before: all state but files is new.
    pub fresh: bool,
    /// The last of the one before, where it died unobserved.
    pub before: Option<Before>,
    /// Why it was refused or did not start.
    pub problem: &'a str,
}

/// The last of a shell or kernel that died unobserved.
#[derive(Clone, Debug, Serialize)]
pub struct Before {
    /// How it ended.
    pub ended: String,
    /// The limit that ended it, in words.
    pub limit: Option<String>,
    /// What it printed last.
    pub output: String,
}

impl Before {
    fn new(hands: &Hands<'_>, seen: &Observation) -> Result<Self, StrategyError> {
        let ended = match &seen.state {
            SessionState::Ended { ended } => ended.to_string(),
            _ => String::new(),
        };
        let limit = seen.limit.as_ref().map(ToString::to_string);
        Ok(Self { ended, limit, output: hands.output(&seen.text())? })
    }
}

/// Names in [`SessionVariables`].
pub const SESSION: &[&str] = &[
    "session",
    "call",
    "outcome",
    "state",
    "exit_code",
    "ended",
    "output",
    "wall_ms",
    "soft_ms",
    "limit",
    "background",
    "cut",
    "fresh",
    "before",
    "problem",
];

/// Interrupts what runs.
const INTERRUPT: &str = "C-c";
/// Ends the input of what runs.
const END: &str = "C-d";

/// Does what was asked.
pub(crate) async fn act(
    hands: &Hands<'_>,
    kind: SessionKind,
    asked: Asked,
) -> Result<Outcome, StrategyError> {
    let known = hands.session(kind);
    let soft_ms = soft_ms(hands, asked.seconds);
    let (act, outcome) = meant(kind, known, asked);
    // What is not done is no reason to wait.
    let soft_ms = if matches!(outcome, "busy" | "nothing_runs") { 0 } else { soft_ms };
    let waits = act == SessionAct::Wait;
    let request = SessionRequest { name: kind.name().to_owned(), kind, act, soft_ms };
    let answered = hands.context.session(hands.key(kind.name()), request).await?;
    let mut seen = SessionVariables {
        session: kind.name(),
        call: if kind == SessionKind::Shell { "command" } else { "cell" },
        outcome,
        state: "",
        exit_code: None,
        ended: None,
        output: String::new(),
        wall_ms: 0,
        soft_ms,
        limit: None,
        background: Vec::new(),
        cut: false,
        fresh: false,
        before: None,
        problem: "",
    };
    let running;
    let problem;
    match answered {
        Acted::Interrupted => {
            seen.outcome = "interrupted";
            running = false;
        }
        Acted::Done(Err(fault)) => {
            problem = fault.to_string();
            seen.problem = &problem;
            seen.outcome = match fault {
                SessionFault::Busy { .. } => "busy",
                SessionFault::Refused { .. } => "refused",
                SessionFault::NotStarted { .. } => "not_started",
            };
            running = matches!(fault, SessionFault::Busy { .. });
        }
        Acted::Done(Ok(SessionAnswer { observation, opened, before })) => {
            seen.fresh = opened && known.used && outcome != "reset";
            seen.before = before.map(|before| Before::new(hands, &before)).transpose()?;
            running = !observation.has_ended();
            seen.observe(hands, &observation)?;
        }
    }
    hands.set_session(kind, SessionMemory { used: true, running });
    seen.outcome(hands, waits && running)
}

/// The act that a call means, and what is to be said of the call.
fn meant(kind: SessionKind, known: SessionMemory, asked: Asked) -> (SessionAct, &'static str) {
    let word = asked.text.trim();
    match (known.running, kind) {
        _ if asked.reset => (SessionAct::Restart, "reset"),
        (_, SessionKind::Shell) if asked.is_input && !known.running => (SessionAct::Wait, "nothing_runs"),
        (false, _) if word.is_empty() || word == INTERRUPT || word == END => {
            (SessionAct::Wait, "nothing_runs")
        }
        (false, _) => (SessionAct::Send { input: asked.text }, "seen"),
        (true, _) if word.is_empty() && !asked.text.contains('\n') => (SessionAct::Wait, "seen"),
        (true, _) if word == INTERRUPT => (SessionAct::Interrupt, "seen"),
        (true, SessionKind::Shell) if word == END => {
            (SessionAct::Input { text: String::new(), end: true }, "seen")
        }
        (true, SessionKind::Shell) if asked.is_input => {
            let feed = if asked.text.ends_with('\n') { "" } else { "\n" };
            (SessionAct::Input { text: format!("{}{feed}", asked.text), end: false }, "seen")
        }
        (true, _) if word.is_empty() => (SessionAct::Wait, "seen"),
        (true, _) => (SessionAct::Wait, "busy"),
    }
}

/// How long to wait: as was asked, inside of what may be, and no longer than the run.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is between 0 and the longest wait"
)]
fn soft_ms(hands: &Hands<'_>, seconds: Option<f64>) -> u64 {
    let spec = &hands.agent.spec.session;
    let longest = spec.longest_wait.millis();
    let asked = match seconds {
        Some(seconds) if seconds > 0.0 => (seconds * 1e3).clamp(1.0, longest as f64) as u64,
        _ => Duration::millis(spec.soft_timeout).min(longest),
    };
    asked.min(hands.context.budget().next_execution_ms())
}

impl SessionVariables<'_> {
    fn observe(&mut self, hands: &Hands<'_>, seen: &Observation) -> Result<(), StrategyError> {
        self.output = hands.output(&seen.text())?;
        self.wall_ms = seen.wall_ms;
        self.limit.clone_from(&seen.limit);
        self.cut = seen.interrupted;
        self.background =
            seen.background.iter().map(|process| format!("{} (pid {})", process.name, process.pid)).collect();
        self.state = match &seen.state {
            SessionState::Idle => "idle",
            SessionState::Running => "running",
            SessionState::Exited { code } => {
                self.exit_code = Some(*code);
                "exited"
            }
            SessionState::Completed { .. } => "completed",
            SessionState::Raised { .. } => "raised",
            SessionState::Ended { ended } => {
                self.ended = Some(ended.to_string());
                "ended"
            }
            SessionState::Lost => "lost",
        };
        Ok(())
    }

    /// What the model reads, and what the loop must know.
    fn outcome(&self, hands: &Hands<'_>, waits: bool) -> Result<Outcome, StrategyError> {
        let well = match self.outcome {
            "seen" => matches!(self.state, "completed" | "running" | "idle") || self.exit_code == Some(0),
            "reset" => true,
            _ => false,
        };
        Ok(Outcome {
            text: hands.render(&hands.agent.spec.prompts.session, self)?,
            came_to: format!("{} {} {:?} {}", self.outcome, self.state, self.exit_code, self.output),
            failed: !well || self.limit.is_some(),
            excused: waits || self.outcome == "interrupted",
            finished: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_decides_what_a_call_means() {
        let asked =
            |text: &str, is_input: bool| Asked { text: text.into(), is_input, seconds: None, reset: false };
        let idle = SessionMemory { used: true, running: false };
        let busy = SessionMemory { used: true, running: true };
        let input = |text: &str| SessionAct::Input { text: text.into(), end: false };
        let (shell, kernel) = (SessionKind::Shell, SessionKind::Kernel);
        for (kind, known, given, act, outcome) in [
            (shell, idle, asked("ls", false), SessionAct::Send { input: "ls".into() }, "seen"),
            (shell, idle, asked("", false), SessionAct::Wait, "nothing_runs"),
            (shell, idle, asked("yes", true), SessionAct::Wait, "nothing_runs"),
            (shell, idle, asked("C-c", false), SessionAct::Wait, "nothing_runs"),
            (shell, busy, asked("", false), SessionAct::Wait, "seen"),
            (shell, busy, asked("", true), SessionAct::Wait, "seen"),
            (shell, busy, asked("ls", false), SessionAct::Wait, "busy"),
            (shell, busy, asked("yes", true), input("yes\n"), "seen"),
            (shell, busy, asked("\n", true), input("\n"), "seen"),
            (shell, busy, asked("C-c", true), SessionAct::Interrupt, "seen"),
            (shell, busy, asked("C-c", false), SessionAct::Interrupt, "seen"),
            (shell, busy, asked("C-d", true), SessionAct::Input { text: String::new(), end: true }, "seen"),
            (kernel, idle, asked("x = 1", false), SessionAct::Send { input: "x = 1".into() }, "seen"),
            (kernel, busy, asked("x = 1", false), SessionAct::Wait, "busy"),
            (kernel, busy, asked(" ", false), SessionAct::Wait, "seen"),
            (kernel, busy, asked("C-c", false), SessionAct::Interrupt, "seen"),
        ] {
            assert_eq!(meant(kind, known, given.clone()), (act, outcome), "{kind} {known:?} {given:?}");
            assert_eq!(meant(kind, known, Asked { reset: true, ..given }), (SessionAct::Restart, "reset"));
        }
    }
}
