//! Lines 21 to 26 and 29: processes without number and without end. Line 29, a killed harness, is in `harness` and
//! `leftovers`.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use podium_sandbox::Strength;
use podium_types::execution::{Ended, LimitHit};
use serde_json::json;

use super::{attack, held, say};
use crate::common::{Place, attacked, mark, run, skip, sleepers};

#[tokio::test]
async fn line_21_and_22_bombs_end_by_the_process_limit() {
    let Some(sandbox) = attacked() else { return };
    if rustix::process::getuid().is_root() && sandbox.facts().strength != Strength::Full {
        skip("as root, processes are limited by control groups only, and there are none");
        return;
    }
    let bombs = [("21", "21_fork_bomb", true), ("21", "21_fork_bomb", false), ("22", "22_thread_bomb", true)];
    for (line, program, raises) in bombs {
        let place = Place::new();
        let mut job = attack(&place, program, &json!({"raise": raises}));
        job.limits.processes = 40;
        job.timeout = Duration::from_secs(if raises { 30 } else { 3 });
        let start = Instant::now();
        let execution = sandbox.execute(&job).await.unwrap();
        held(&*sandbox, line, &execution);
        assert!(start.elapsed() < Duration::from_secs(25));
        if sandbox.facts().strength == Strength::Full {
            let refused = execution.blocked.get("processes").copied().unwrap_or(0);
            assert!(refused > 0, "{execution:?}");
            let by_time = execution.limit == Some(LimitHit::WallClock { limit_ms: 3000 });
            assert!(by_time != raises, "{execution:?}");
            assert!(by_time || execution.limit == Some(LimitHit::Processes { limit: 40 }), "{execution:?}");
        }
        assert_eq!(run(&*sandbox, "print('alive')").await.output.text(), "alive\n");
        say(&*sandbox, line, &format!("{:?}", execution.limit));
    }
}

#[tokio::test]
async fn line_23_and_24_daemons_die_and_hold_nothing_up() {
    let Some(sandbox) = attacked() else { return };
    let mark = mark(1, std::process::id());
    for stay in [false, true] {
        let place = Place::new();
        let mut job = attack(&place, "23_daemon", &json!({"mark": mark, "stay": stay}));
        job.timeout = Duration::from_secs(if stay { 2 } else { 60 });
        let start = Instant::now();
        let execution = sandbox.execute(&job).await.unwrap();
        assert_eq!(execution.output.text().lines().next(), Some("left"));
        assert_eq!(execution.limit.is_some(), stay, "{execution:?}");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        // Gone when the execution has ended, not a while later.
        assert_eq!(sleepers(&mark), [0_u32; 0]);
        say(&*sandbox, "23, 24", &format!("gone after {} ms", execution.wall_ms));
    }
}

#[tokio::test]
async fn line_26_what_does_not_end_is_ended() {
    let Some(sandbox) = attacked() else { return };
    for case in ["loop", "stopped", "blocked", "thread", "library", "closed"] {
        let place = Place::new();
        let mut job = attack(&place, "26_stubborn", &json!({"case": case}));
        job.timeout = Duration::from_secs(2);
        let execution = sandbox.execute(&job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 2000 }), "{case}: {execution:?}");
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Signal(9), "on\n"), "{case}");
        assert!(execution.wall_ms < 8000, "{case}: {} ms", execution.wall_ms);
        say(&*sandbox, "26", &format!("{case}: ended after {} ms of 2000", execution.wall_ms));
    }
}

#[tokio::test]
async fn line_26_a_loop_in_c_is_ended() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks/26_loop.c");
    let compiled = Command::new("cc")
        .arg(source)
        .arg("-static-pie")
        .arg("-o")
        .arg(place.workspace().join("loop"))
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        skip("there is no C compiler");
        return;
    }
    let mut job = place.command(&["/workspace/loop"]);
    job.timeout = Duration::from_secs(1);
    let execution = sandbox.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 1000 }));
    assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Signal(9), "on\n"));
    say(&*sandbox, "26", &format!("C: ended after {} ms of 1000", execution.wall_ms));
}
