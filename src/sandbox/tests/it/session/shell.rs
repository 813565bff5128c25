//! Shells.

use podium_sandbox::SandboxError;
use podium_types::{execution::Ended, session::SessionKind, session::SessionState};

use super::{LONG, SHORT, exited, job, open, printed, send, start};
use crate::common::{Place, attacked, mark, sleepers};

/// The shells that are tried: the usual one, and the plainest.
const SHELLS: [Option<&str>; 2] = [None, Some("/bin/sh")];

#[tokio::test]
async fn state_is_kept_and_nothing_a_command_does_to_its_streams_lasts() {
    let Some(sandbox) = attacked() else { return };
    let table = [
        ("cd working; export A=1; f() { echo in $1; }; alias ll='echo LL'", 0, ""),
        ("pwd; echo $A; f x\nll", 0, "/workspace/working\n1\nin x\nLL\n"),
        ("printf no-newline", 0, "no-newline"),
        ("false", 1, ""),
        ("(exit 7)", 7, ""),
        ("echo \"it's !x\" # comment", 0, "it's !x\n"),
        ("cat <<EOF\nhere $A\nEOF", 0, "here 1\n"),
        ("exec >/dev/null 2>&1; echo lost", 0, ""),
        ("echo seen", 0, "seen\n"),
        ("exec 0<&- 1>&- 2>&-", 0, ""),
        ("echo seen; echo too >&2", 0, "seen\ntoo\n"),
        ("test -t 0 || test -t 1 || test -t 2 || echo no terminal", 0, "no terminal\n"),
        ("echo $TERM $PAGER; env | grep -c MANPAGER", 0, "dumb cat\n1\n"),
        ("python3 -c 'import sys; print(sys.stdin.isatty()); sys.exit(5)'", 5, "False\n"),
        ("head -c 4 ../input/train.csv | wc -c", 0, "4\n"),
        ("echo a; echo b >&2; echo c", 0, "a\nb\nc\n"),
    ];
    for shell in SHELLS {
        let place = Place::new();
        let mut job = job(&place, SessionKind::Shell);
        job.shell = shell.map(Into::into);
        let mut session = open(&*sandbox, &job).await;
        assert_eq!(session.facts().program, if shell.is_some() { "sh" } else { "bash" });
        for (number, (command, code, output)) in (1..).zip(table) {
            let seen = send(&mut *session, command).await;
            assert_eq!((seen.state, seen.output.text().as_str()), (exited(code), output), "{command}");
            assert_eq!((seen.call, seen.interrupted, seen.background.len()), (number, false, 0), "{command}");
        }
        let seen = send(&mut *session, "sh -c 'kill -9 $$'").await;
        assert_eq!(seen.state, exited(137));
        // What is no command at all does not end the shell either.
        for (command, says) in [("if", "yntax error"), ("x=$((", "yntax"), ("no-such-program", "not found")] {
            let seen = send(&mut *session, command).await;
            let failed = matches!(seen.state, SessionState::Exited { code } if code > 0);
            assert!(failed || says == "yntax", "{command}: {seen:?}");
            assert_eq!(send(&mut *session, "echo alive").await.output.text(), "alive\n", "{command}");
        }
    }
}

#[tokio::test]
async fn commands_inherit_nothing_but_their_streams() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    let seen =
        send(&mut *session, "ls /proc/self/fd; python3 -c 'import os; print(os.listdir(\"/proc/self/fd\"))'")
            .await;
    assert_eq!(seen.output.text(), "0\n1\n2\n3\n['0', '1', '2', '3']\n");
    assert_eq!(
        send(&mut *session, "tr '\\0' '\\n' </proc/$$/cmdline | head -1").await.output.text(),
        "/bin/bash\n"
    );
}

#[tokio::test]
async fn at_the_soft_time_out_a_command_goes_on_and_can_be_interrupted() {
    let Some(sandbox) = attacked() else { return };
    for shell in SHELLS {
        let place = Place::new();
        let mut job = job(&place, SessionKind::Shell);
        job.shell = shell.map(Into::into);
        let mut session = open(&*sandbox, &job).await;
        for command in [
            "sleep 1000; echo next",
            "while :; do sleep 0.1; done; echo next",
            "while :; do :; done; echo next",
            "kill -STOP $$; sleep 1000; echo next",
            "sh -c 'kill -STOP $$; sleep 1000'; echo next",
            "python3 -c 'import time; time.sleep(1000)' | cat; sleep 1000; echo next",
        ] {
            start(&mut *session, command).await;
            let busy = session.send("echo other", SHORT).await.unwrap_err();
            assert!(matches!(busy, SandboxError::SessionBusy { .. }) && busy.hint().is_some(), "{busy:?}");
            let seen = session.interrupt(LONG).await.unwrap();
            assert!(
                seen.interrupted && matches!(seen.state, SessionState::Exited { code } if code > 0),
                "{command}: {seen:?}"
            );
            assert!(!seen.output.text().contains("next"), "{command}: {seen:?}");
            let seen = send(&mut *session, "echo alive").await;
            assert_eq!((seen.output.text().trim(), seen.interrupted), ("alive", false), "{command}");
        }
        let seen = start(&mut *session, "echo one; until [ -e go ]; do sleep 0.05; done; echo two").await;
        assert_eq!(printed(&mut *session, seen).await, "one\n");
        std::fs::write(place.workspace().join("go"), "").unwrap();
        let seen = session.wait(LONG).await.unwrap();
        assert_eq!((seen.state.clone(), seen.output.text().as_str()), (exited(0), "two\n"), "{seen:?}");
        assert!(seen.wall_ms >= 400, "{seen:?}");
        assert_eq!(session.wait(LONG).await.unwrap().state, SessionState::Idle);
        assert_eq!(session.interrupt(LONG).await.unwrap().state, SessionState::Idle);
    }
}

#[tokio::test]
async fn what_ignores_the_interrupt_goes_on_until_the_restart() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    send(&mut *session, "A=1; touch working/kept").await;
    let mark = mark(88, std::process::id());
    start(&mut *session, &format!("trap '' INT; sleep {mark}")).await;
    let seen = session.interrupt(SHORT).await.unwrap();
    assert!(seen.state == SessionState::Running && seen.interrupted, "{seen:?}");
    session.restart().await.unwrap();
    assert_eq!(sleepers(&mark), [0_u32; 0]);
    assert_eq!(session.facts().generation, 2);
    let seen = send(&mut *session, "echo \"[$A]\" $(ls working)").await;
    assert_eq!((seen.output.text().as_str(), seen.call, seen.generation), ("[] kept\n", 1, 2));
}

#[tokio::test]
async fn a_command_can_be_given_input() {
    let Some(sandbox) = attacked() else { return };
    for shell in SHELLS {
        let place = Place::new();
        let mut job = job(&place, SessionKind::Shell);
        job.shell = shell.map(Into::into);
        let mut session = open(&*sandbox, &job).await;
        start(&mut *session, "read x; echo got $x").await;
        let seen = session.send_input("abc\n", false, LONG).await.unwrap();
        assert_eq!((seen.state, seen.output.text().as_str()), (exited(0), "got abc\n"));

        // The end of input is that of one command only.
        for _ in 0..2 {
            start(&mut *session, "cat").await;
            let large = "x".repeat(300_000);
            let seen = session.send_input(&large, false, SHORT).await.unwrap();
            assert_eq!(seen.state, SessionState::Running);
            let last = session.send_input("y", true, LONG).await.unwrap();
            let length =
                seen.output.text().len() as u64 + seen.output.dropped_bytes + last.output.dropped_bytes;
            assert!(
                last.state == exited(0) && length > 100_000 && last.output.text().ends_with('y'),
                "{last:?}"
            );
        }
        start(&mut *session, "sleep 1").await;
        session.send_input("stale\n", false, LONG).await.unwrap();
        start(&mut *session, "read x; echo got $x").await;
        let seen = session.send_input("fresh\n", false, LONG).await.unwrap();
        assert_eq!(seen.output.text(), "got fresh\n");
    }
}

#[tokio::test]
async fn the_end_of_the_shell_is_told_and_a_restart_mends_it() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    for (command, ended) in [
        ("exit 3", Ended::Exit(3)),
        ("kill -9 $$", Ended::Signal(9)),
        ("exec sh -c 'exit 4'", Ended::Exit(4)),
        ("set -e; false", Ended::Exit(1)),
    ] {
        let seen = send(&mut *session, command).await;
        assert!(seen.is_over() && seen.interrupted, "{command}: {seen:?}");
        assert_eq!((seen.state, seen.limit), (SessionState::Ended { ended }, None), "{command}");
        let over = session.send("echo", LONG).await.unwrap_err();
        assert!(matches!(over, SandboxError::SessionOver { .. }) && over.hint().is_some(), "{over:?}");
        assert!(session.wait(LONG).await.unwrap().is_over());
        session.restart().await.unwrap();
        assert_eq!(send(&mut *session, "echo alive").await.output.text(), "alive\n");
    }
}

#[tokio::test]
async fn jobs_in_the_background_are_listed_and_never_held_up() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    let mark = mark(82, std::process::id());
    let seen = send(&mut *session, &format!("sleep {mark} & (yes noise) & echo on")).await;
    assert!(seen.state == exited(0) && seen.output.text().contains("on\n"), "{seen:?}");
    let seen = send(&mut *session, "echo front").await;
    assert!(seen.background.iter().any(|process| process.name == "sleep"), "{:?}", seen.background);
    assert!(seen.background.len() >= 2, "{:?}", seen.background);
    // A writer that nobody reads would stand still once its pipe is full.
    let mut printed = 0;
    while printed < 3 << 20 {
        let seen = send(&mut *session, "sleep 0.2").await;
        assert_eq!(seen.state, exited(0));
        printed += seen.output.dropped_bytes + seen.output.head.len() as u64 + seen.output.tail.len() as u64;
    }
    session.close().await.unwrap();
    assert_eq!(sleepers(&mark), [0_u32; 0]);
}

#[tokio::test]
async fn much_output_costs_no_memory_and_is_counted() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    let seen = send(&mut *session, "printf BEGIN; head -c 300M /dev/zero; printf END").await;
    let output = &seen.output;
    assert!(output.head.starts_with("BEGIN") && output.tail.ends_with("END"));
    assert_eq!(output.dropped_bytes + (output.head.len() + output.tail.len()) as u64, (300 << 20) + 8);
    assert_eq!(send(&mut *session, "echo next").await.output.text(), "next\n");
}

#[tokio::test]
async fn what_is_written_to_the_control_descriptor_confuses_nothing() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    // The shell's own descriptors, each written to by a loop of the shell itself, now and in the background.
    let forge = "for n in $(ls /proc/$$/fd); do if [ $n -gt 9 ]; then { printf 'x%.0s' $(seq 20000); \
                 printf '\\n%032d 0\\n1 2 3' 0; } >&$n; fi; done 2>/dev/null; echo forged";
    for _ in 0..3 {
        let seen = send(&mut *session, forge).await;
        assert!(seen.state == exited(0) && seen.output.text().ends_with("forged\n"), "{seen:?}");
        let seen = send(&mut *session, "(exit 9)").await;
        assert_eq!(seen.state, exited(9));
    }
    // One that says it has ended goes on; the next command is that much later, and has its own end.
    let early = "fd=$(for n in /proc/$$/fd/*; do echo ${n##*/}; done | sort -n | head -40 | tr '\\n' ' '); \
                 trap 'true' DEBUG; sleep 0.3; echo late";
    let seen = send(&mut *session, early).await;
    assert!(seen.output.text().ends_with("late\n"), "{seen:?}");
    assert_eq!(send(&mut *session, "(exit 8)").await.state, exited(8));
}

#[tokio::test]
async fn a_look_that_is_dropped_loses_nothing() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut session = open(&*sandbox, &job(&place, SessionKind::Shell)).await;
    {
        let look = session.send("echo first; sleep 0.5; echo second", LONG);
        assert!(tokio::time::timeout(SHORT / 4, look).await.is_err());
    }
    let seen = session.wait(LONG).await.unwrap();
    assert_eq!((seen.state, seen.output.text().as_str(), seen.call), (exited(0), "first\nsecond\n", 1));
}
