//! Sessions from outside: shells and kernels that keep state, and what hostile commands and cells do to them.

mod ends;
mod kernel;
mod shell;

use std::time::Duration;

use podium_sandbox::{Sandbox, Session, SessionJob};
use podium_types::session::{Observation, SessionKind, SessionState};

use crate::common::{Place, environment};

/// Longer than anything takes that ends by itself.
const LONG: Duration = Duration::from_secs(50);
/// Shorter than what does not.
const SHORT: Duration = Duration::from_millis(400);

/// What a test of sessions asks for.
fn job(place: &Place, kind: SessionKind) -> SessionJob {
    let mut job = SessionJob::new(kind, place.workspace(), &environment());
    job.job.input = Some(place.folder.path().join("input"));
    job
}

async fn open(sandbox: &dyn Sandbox, job: &SessionJob) -> Box<dyn Session> {
    sandbox.open_session(job).await.unwrap()
}

/// Sends a call that ends by itself.
async fn send(session: &mut dyn Session, input: &str) -> Observation {
    let seen = session.send(input, LONG).await.unwrap();
    assert!(seen.has_ended(), "{input}: {seen:?}");
    seen
}

/// Sends a call that does not end.
async fn start(session: &mut dyn Session, input: &str) -> Observation {
    let seen = session.send(input, SHORT).await.unwrap();
    assert_eq!(seen.state, SessionState::Running, "{input}: {seen:?}");
    seen
}

fn exited(code: i32) -> SessionState {
    SessionState::Exited { code }
}

fn value(text: &str) -> SessionState {
    SessionState::Completed { value: Some(text.to_owned()) }
}

const NOTHING: SessionState = SessionState::Completed { value: None };
