//! Sessions in the process kind, which promises no boundary: they work and leave nothing.

use podium_sandbox::{SandboxKind, Settings};
use podium_types::session::SessionKind;

use crate::{
    common::{Place, eventually, mark, sleepers},
    session::{LONG, job, open, send, start, value},
};

#[tokio::test]
async fn a_plain_process_has_sessions_too() {
    let process = podium_sandbox::open(SandboxKind::Process, &Settings::default()).unwrap();
    let place = Place::new();
    let mut session = open(&*process, &job(&place, SessionKind::Shell)).await;
    send(&mut *session, "A=2; cd working").await;
    assert_eq!(send(&mut *session, "echo $A; basename $PWD").await.output.text(), "2\nworking\n");
    let mark = mark(89, std::process::id());
    send(&mut *session, &format!("sleep {mark} &")).await;
    start(&mut *session, &format!("sleep {mark}")).await;
    assert!(session.interrupt(LONG).await.unwrap().interrupted);
    drop(session);
    eventually("the job in the background is dead", || sleepers(&mark).is_empty());
    let mut session = open(&*process, &job(&place, SessionKind::Kernel)).await;
    assert_eq!(send(&mut *session, "1 + 1").await.state, value("2"));
}
