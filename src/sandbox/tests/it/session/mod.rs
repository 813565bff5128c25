//! Sessions from outside: shells and kernels that keep state, and what hostile commands and cells do to them. The binary
//! that includes this module says in which kind of sandbox, by its `common::attacked`.

mod ends;
mod kernel;
mod shell;

use std::time::Duration;

use podium_sandbox::{Environment, Interpreter, Sandbox, Session, SessionJob};
use podium_types::session::{Observation, SessionKind, SessionState};

use crate::common::Place;

/// Longer than anything takes that ends by itself.
pub(crate) const LONG: Duration = Duration::from_secs(50);
/// Shorter than what does not.
pub(crate) const SHORT: Duration = Duration::from_millis(400);

/// What a test of sessions asks for. Its Python is the machine's with its packages: `IPython` may be one.
pub(crate) fn job(place: &Place, kind: SessionKind) -> SessionJob {
    let python = Environment::of_user(&Interpreter::find(None).unwrap().path).unwrap();
    let mut job = SessionJob::new(kind, place.workspace(), &python);
    job.job.input = Some(place.folder.path().join("input"));
    job
}

pub(crate) async fn open(sandbox: &dyn Sandbox, job: &SessionJob) -> Box<dyn Session> {
    sandbox.open_session(job).await.unwrap()
}

/// Sends a call that ends by itself.
pub(crate) async fn send(session: &mut dyn Session, input: &str) -> Observation {
    let seen = session.send(input, LONG).await.unwrap();
    assert!(seen.has_ended(), "{input}: {seen:?}");
    seen
}

/// Sends a call that does not end.
pub(crate) async fn start(session: &mut dyn Session, input: &str) -> Observation {
    let seen = session.send(input, SHORT).await.unwrap();
    assert_eq!(seen.state, SessionState::Running, "{input}: {seen:?}");
    seen
}

/// What a call that does not end prints first, which may be later than the look at its start.
pub(crate) async fn printed(session: &mut dyn Session, mut seen: Observation) -> String {
    while seen.output.text().is_empty() {
        seen = session.wait(SHORT).await.unwrap();
        assert_eq!(seen.state, SessionState::Running, "{seen:?}");
    }
    seen.output.text()
}

pub(crate) fn exited(code: i32) -> SessionState {
    SessionState::Exited { code }
}

pub(crate) fn value(text: &str) -> SessionState {
    SessionState::Completed { value: Some(text.to_owned()) }
}

pub(crate) const NOTHING: SessionState = SessionState::Completed { value: None };
