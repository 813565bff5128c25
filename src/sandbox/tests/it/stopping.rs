//! An execution that is stopped from outside leaves nothing, of whatever kind the sandbox is.

use podium_sandbox::SandboxError;

use crate::common::{Place, attacked, eventually, mark, sleepers};

/// A script that leaves a daemon behind which ignores signals and holds the output pipe.
pub(crate) fn daemon(mark: &str, then: &str) -> String {
    format!(
        "import os, signal, subprocess, sys, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        \
         for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n        \
         os.execvp('sleep', ['sleep', '{mark}'])\n    os._exit(0)\nsubprocess.Popen(['sleep', '{mark}'])\n\
         time.sleep(0.2)\nprint('left', flush=True)\n{then}"
    )
}

#[tokio::test]
async fn cancelling_kills_everything() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mark = mark(4, std::process::id());
    let job = place.python(&daemon(&mark, "time.sleep(1000)"));
    let (cancel, number) = (job.cancel.clone(), mark.clone());
    let watch = std::thread::spawn(move || {
        eventually("the daemon runs", || sleepers(&number).len() >= 2);
        cancel.cancel();
    });
    let result = sandbox.execute(&job).await;
    watch.join().unwrap();
    assert!(matches!(result, Err(SandboxError::Cancelled)), "{result:?}");
    assert_eq!(sleepers(&mark), [0_u32; 0]);
}

#[tokio::test]
async fn dropping_the_execution_kills_everything() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mark = mark(5, std::process::id());
    let job = place.python(&daemon(&mark, "time.sleep(1000)"));
    {
        let execution = sandbox.execute(&job);
        let number = mark.clone();
        let started = tokio::task::spawn_blocking(move || {
            eventually("the daemon runs", || sleepers(&number).len() >= 2);
        });
        tokio::select! {
            result = execution => panic!("ended by itself: {result:?}"),
            started = started => started.unwrap(),
        }
    }
    eventually("the daemon is dead", || sleepers(&mark).is_empty());
}
