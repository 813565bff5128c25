//! Limits of a session, each named, and what is left when it ends: nothing.

use std::{ffi::OsStr, path::PathBuf, process::Command, time::Duration};

use podium_sandbox::{SandboxError, SubmissionRule};
use podium_types::{
    execution::{Collected, Ended, LimitHit},
    session::{SessionKind, SessionState},
};

use super::{LONG, exited, job, open, send, start};
use crate::common::{self, Place, attacked, eventually, mark, sleepers};

/// Set for the process that plays the harness.
const WORKSPACE: &str = "PODIUM_TEST_SESSION_HARNESS";
/// The mark of what it runs.
const HARNESS: u64 = 17;

#[tokio::test]
async fn a_call_has_a_hard_limit() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = job(&place, SessionKind::Shell);
    job.call_limit = Duration::from_millis(700);
    let mut session = open(&*sandbox, &job).await;
    let limit = Some(LimitHit::WallClock { limit_ms: 700 });
    let seen = send(&mut *session, "A=1; sleep 1000; echo next").await;
    assert_eq!((&seen.limit, seen.interrupted), (&limit, true), "{seen:?}");
    assert_eq!(seen.state, exited(130), "what ends at the interrupt leaves the shell alive");
    assert_eq!(send(&mut *session, "echo $A").await.output.text().trim(), "1");
    let seen = send(&mut *session, "trap '' INT; while :; do :; done").await;
    assert_eq!((&seen.limit, seen.interrupted), (&limit, true), "{seen:?}");
    assert_eq!(seen.state, SessionState::Ended { ended: Ended::Signal(9) });
    assert_eq!(session.close().await.unwrap().limit, limit);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_has_a_hard_limit() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = job(&place, SessionKind::Shell);
    job.job.timeout = Duration::from_secs(2);
    let limit = Some(LimitHit::WallClock { limit_ms: 2000 });
    let mut session = open(&*sandbox, &job).await;
    let first = mark(12, std::process::id());
    let seen = send(&mut *session, &format!("sleep {first}")).await;
    assert_eq!((&seen.limit, seen.interrupted), (&limit, true), "{seen:?}");
    let end = session.close().await.unwrap();
    assert_eq!(end.limit, limit);
    assert_eq!(sleepers(&first), [0_u32; 0]);
    // It ends as well when nobody looks and nothing runs.
    let mut session = open(&*sandbox, &job).await;
    let second = mark(13, std::process::id());
    send(&mut *session, &format!("sleep {second} &")).await;
    let over = async {
        while !session.wait(LONG).await.unwrap().is_over() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, over).await.unwrap();
    assert_eq!(sleepers(&second), [0_u32; 0]);
    let end = session.close().await.unwrap();
    assert_eq!((end.ended, end.limit), (Ended::Signal(9), limit));
}

#[tokio::test]
async fn memory_is_limited_and_named() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let limit = Some(LimitHit::Memory { limit_bytes: 200 << 20 });
    let mut shell = job(&place, SessionKind::Shell);
    shell.job.limits.memory_bytes = 200 << 20;
    let mut session = open(&*sandbox, &shell).await;
    let command = "python3 -c \"x = b'x' * (600 << 20); import time; time.sleep(5)\"";
    let seen = send(&mut *session, command).await;
    assert_eq!(seen.limit, limit, "{seen:?}");
    if sandbox.facts().cgroup.is_some() {
        assert_eq!(seen.state, exited(137), "only the program is killed");
        let seen = send(&mut *session, "(exit 1)").await;
        assert_eq!((seen.state, seen.limit), (exited(1), None), "an old cause is not named again");
        assert!(session.close().await.unwrap().blocked.contains_key("memory"));
    }
    let place = Place::new();
    let mut kernel = job(&place, SessionKind::Kernel);
    kernel.job.limits.memory_bytes = 200 << 20;
    let mut session = open(&*sandbox, &kernel).await;
    let seen = send(&mut *session, "x = b'x' * (600 << 20); import time; time.sleep(5)").await;
    assert_eq!((&seen.limit, seen.interrupted), (&limit, true), "{seen:?}");
    assert_eq!(seen.state, SessionState::Ended { ended: Ended::Signal(9) });
    session.restart().await.unwrap();
    assert!(send(&mut *session, "1").await.succeeded());
}

#[tokio::test]
async fn the_workspace_is_limited_and_a_submission_is_collected_at_the_end() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = job(&place, SessionKind::Shell);
    job.job.limits.workspace_bytes = 20 << 20;
    job.job.submission = Some(SubmissionRule {
        path: "submission/submission.csv".to_owned(),
        store: place.store(),
        max_bytes: 1 << 20,
    });
    std::fs::write(place.workspace().join("submission/submission.csv"), "old").unwrap();
    let mut session = open(&*sandbox, &job).await;
    send(&mut *session, "cat submission/*; echo id,y > submission/submission.csv").await;
    session.restart().await.unwrap();
    let seen = send(&mut *session, "cat submission/*; head -c 40M /dev/zero > working/big; sleep 1000").await;
    assert_eq!(seen.output.text(), "id,y\n", "a restart keeps the files");
    assert_eq!(seen.limit, Some(LimitHit::Disk { limit_bytes: 20 << 20 }));
    let end = session.close().await.unwrap();
    assert!(matches!(end.submission, Collected::File { bytes: 5, .. }), "{end:?}");
}

#[tokio::test]
async fn nothing_is_left_after_close_drop_and_cancel() {
    let Some(sandbox) = attacked() else { return };
    let mark = mark(15, std::process::id());
    let daemon = format!(
        "(trap '' HUP INT TERM; setsid sleep {mark} & setsid sh -c 'sleep {mark}; :' &) ; sleep {mark} & echo on"
    );
    for kind in [SessionKind::Shell, SessionKind::Kernel] {
        let place = Place::new();
        let job = job(&place, kind);
        for end in ["close", "drop", "drop while running", "cancel"] {
            let mut session = open(&*sandbox, &job).await;
            let command = daemon.clone();
            let call = if kind == SessionKind::Shell {
                command
            } else {
                format!("import os\nos.system({command:?})")
            };
            send(&mut *session, &call).await;
            eventually("the daemons run", || sleepers(&mark).len() >= 3);
            match end {
                "close" => {
                    session.close().await.unwrap();
                    assert_eq!(sleepers(&mark), [0_u32; 0]);
                }
                "drop" => drop(session),
                "drop while running" => {
                    let forever = if kind == SessionKind::Shell {
                        format!("sleep {mark}")
                    } else {
                        format!("import time; time.sleep({mark})")
                    };
                    start(&mut *session, &forever).await;
                    drop(session);
                }
                _ => {
                    let mut cancelled = job.clone();
                    cancelled.job.cancel = podium_sandbox::CancellationToken::new();
                    let token = cancelled.job.cancel.clone();
                    let mut other = open(&*sandbox, &cancelled).await;
                    token.cancel();
                    let forever = if kind == SessionKind::Shell {
                        "sleep 1000"
                    } else {
                        "import time; time.sleep(1000)"
                    };
                    let error = match other.send(forever, LONG).await {
                        Err(SandboxError::SessionOver { .. }) => other.wait(LONG).await,
                        error => error,
                    };
                    assert!(matches!(error, Err(SandboxError::Cancelled)), "{error:?}");
                    drop(session);
                }
            }
            eventually("everything is dead", || sleepers(&mark).is_empty());
        }
    }
}

/// The harness that is killed: this very test, in a process of its own.
fn play_harness(workspace: &OsStr) {
    let place = Place::new();
    let mut job = job(&place, SessionKind::Shell);
    job.job.workspace = PathBuf::from(workspace);
    podium_sandbox::workspace::create(&job.job.workspace).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let sandbox = attacked().unwrap();
    runtime.block_on(async {
        let mut session = open(&*sandbox, &job).await;
        let mark = mark(HARNESS, std::os::unix::process::parent_id());
        session.send(&format!("setsid sleep {mark} & sleep {mark}"), LONG * 10).await.unwrap();
    });
}

#[test]
fn killing_the_harness_kills_its_sessions() {
    if let Some(workspace) = std::env::var_os(WORKSPACE) {
        return play_harness(&workspace);
    }
    if attacked().is_none() {
        return;
    }
    let place = Place::new();
    let mut harness = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "session::ends::killing_the_harness_kills_its_sessions"])
        .env(WORKSPACE, place.workspace())
        .spawn()
        .unwrap();
    let mark = mark(HARNESS, std::process::id());
    eventually("the session runs", || sleepers(&mark).len() >= 2);
    harness.kill().unwrap();
    harness.wait().unwrap();
    common::next_start();
    eventually("the session is dead", || sleepers(&mark).is_empty());
    podium_sandbox::sweep();
}
