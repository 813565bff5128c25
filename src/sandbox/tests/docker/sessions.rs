//! What is the container's own about sessions: nothing is left of it, and an image brings its own shell.

use podium_sandbox::{SandboxKind, SessionJob, open};
use podium_types::session::SessionKind;

use crate::{
    common::{Place, environment, eventually, settings},
    leftovers::{alone, containers_of},
    session::{send, value},
};

#[tokio::test(flavor = "multi_thread")]
async fn no_container_is_left_of_closed_dropped_restarted_and_crashed_sessions() {
    let Some(settings) = settings() else { return };
    if !alone("sessions::no_container_is_left_of_closed_dropped_restarted_and_crashed_sessions") {
        return;
    }
    let docker = open(SandboxKind::Docker, &settings).unwrap();
    let place = Place::new();
    let containers = || containers_of(&settings, std::process::id()).len();
    for kind in [SessionKind::Shell, SessionKind::Kernel] {
        let job = SessionJob::new(kind, place.workspace(), &environment());
        let mut session = crate::session::open(&*docker, &job).await;
        assert_eq!(containers(), 1);
        session.restart().await.unwrap();
        eventually("the old one is gone", || containers() == 1);
        let crash = if kind == SessionKind::Shell { "kill -9 $$" } else { "import os; os.abort()" };
        assert!(send(&mut *session, crash).await.is_over());
        eventually("a dead session has no container", || containers() == 0);
        session.restart().await.unwrap();
        session.close().await.unwrap();
        eventually("a closed one has none", || containers() == 0);
        drop(crate::session::open(&*docker, &job).await);
        eventually("a dropped one has none", || containers() == 0);
    }
}

#[tokio::test]
async fn the_names_of_the_pipes_are_gone_before_the_first_call() {
    let Some(docker) = crate::common::docker() else { return };
    let place = Place::new();
    let job = SessionJob::new(SessionKind::Kernel, place.workspace(), &environment());
    let mut kernel = crate::session::open(&*docker, &job).await;
    let cell = "import os\nos.listdir('/mounts'), os.listdir('/mounts/.session')";
    assert_eq!(send(&mut *kernel, cell).await.state, value("(['.session'], [])"));
    let job = SessionJob::new(SessionKind::Shell, place.workspace(), &environment());
    let mut shell = crate::session::open(&*docker, &job).await;
    assert_eq!(send(&mut *shell, "ls /mounts/.session; echo none").await.output.text(), "none\n");
    let write = send(&mut *shell, ": > /mounts/.session/x; mkfifo /mounts/.session/calls").await;
    assert!(!write.succeeded(), "{write:?}");
}
