//! Lines 30 to 34: memory, disk, output and processors.

use std::{process::Command, time::Duration};

use podium_sandbox::{Sandbox, SandboxKind, Strength};
use podium_types::execution::{Ended, Execution, LimitHit};
use serde_json::json;

use super::{attack, held, say};
use crate::common::{Place, attacked};

#[tokio::test]
async fn line_30_memory_is_limited_however_it_is_taken() {
    let Some(sandbox) = attacked() else { return };
    let full = sandbox.facts().strength == Strength::Full;
    for case in ["heap", "children", "shared", "tmp", "anonymous file"] {
        if !full && case != "heap" && case != "children" {
            crate::common::skip("without control groups, memory file systems have a size of their own only");
            continue;
        }
        let place = Place::new();
        let mut job = attack(&place, "30_memory", &json!({"case": case}));
        job.limits.memory_bytes = 200 << 20;
        // Beyond the memory, so that this is what ends it.
        (job.limits.shm_bytes, job.limits.tmp_bytes) = (2 << 30, 2 << 30);
        let execution = sandbox.execute(&job).await.unwrap();
        held(&*sandbox, "30", &execution);
        assert_eq!(
            execution.limit,
            Some(LimitHit::Memory { limit_bytes: 200 << 20 }),
            "{case}: {execution:?}"
        );
        if full {
            assert!(execution.blocked.get("memory").is_some_and(|count| *count > 0), "{case}: {execution:?}");
        }
        if let Some(peak) = execution.peak_memory_bytes {
            assert!(((100 << 20)..=(200 << 20)).contains(&peak), "{case}: {peak}");
        }
        say(&*sandbox, "30", &format!("{case}: out of memory after {} ms", execution.wall_ms));
    }
}

/// Runs one case of filling the disk, with small quotas, in a place of its own.
async fn filled(sandbox: &dyn Sandbox, case: &str) -> Execution {
    let place = Place::new();
    let mut job = attack(&place, "31_disk", &json!({"case": case}));
    job.limits.workspace_bytes = 300 << 20;
    job.limits.workspace_files = 20_000;
    (job.limits.tmp_bytes, job.limits.shm_bytes) = (10 << 20, 8 << 20);
    job.timeout = Duration::from_secs(50);
    let execution = sandbox.execute(&job).await.unwrap();
    held(sandbox, "31", &execution);
    say(sandbox, "31", &format!("{case}: {:?} after {} ms", execution.limit, execution.wall_ms));
    execution
}

#[tokio::test]
async fn line_31_a_full_workspace_is_named() {
    let Some(sandbox) = attacked() else { return };
    for case in ["one file", "many files", "home", "fallocate", "deep", "shut"] {
        let execution = filled(&*sandbox, case).await;
        assert_eq!(execution.limit, Some(LimitHit::Disk { limit_bytes: 300 << 20 }), "{case}: {execution:?}");
        assert!(execution.wall_ms < 40_000, "{case}: {}", execution.wall_ms);
    }
}

#[tokio::test]
async fn line_31_files_without_a_name_count() {
    let Some(sandbox) = attacked() else { return };
    for case in ["unlinked", "temporary", "mapped", "another process", "thread"] {
        let execution = filled(&*sandbox, case).await;
        assert_eq!(execution.limit, Some(LimitHit::Disk { limit_bytes: 300 << 20 }), "{case}: {execution:?}");
        assert!(execution.wall_ms < 40_000, "{case}: {}", execution.wall_ms);
    }
}

#[tokio::test]
async fn line_31_empty_files_count() {
    let Some(sandbox) = attacked() else { return };
    for case in ["empty files", "folders"] {
        let execution = filled(&*sandbox, case).await;
        assert_eq!(execution.limit, Some(LimitHit::Files { limit: 20_000 }), "{case}: {execution:?}");
    }
}

/// A small file system of its own, gone when dropped.
struct Small(tempfile::TempDir);

impl Small {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "podium-test"])
            .arg(folder.path())
            .status();
        mount.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // Lazily: what a failed test left may still be in it.
        assert!(Command::new("umount").arg("-l").arg(self.0.path()).status().unwrap().success());
    }
}

#[tokio::test]
async fn line_31_what_cannot_be_seen_is_stopped_when_little_room_is_left() {
    let Some(sandbox) = attacked() else { return };
    if sandbox.facts().kind != SandboxKind::Jail {
        return;
    }
    let Some(small) = Small::mount("size=200m") else {
        crate::common::skip("a small file system cannot be mounted without root");
        return;
    };
    let place = Place::new();
    let mut job = attack(&place, "31_disk", &json!({"case": "in flight"}));
    job.workspace = small.0.path().join("workspace");
    podium_sandbox::workspace::create(&job.workspace).unwrap();
    job.limits.workspace_bytes = 60 << 20;
    job.timeout = Duration::from_secs(50);
    let execution = sandbox.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Disk { limit_bytes: 60 << 20 }), "{execution:?}");
    say(&*sandbox, "31", &format!("in flight: stopped after {} ms", execution.wall_ms));
}

#[tokio::test]
async fn line_31_memory_file_systems_have_a_size() {
    let Some(sandbox) = attacked() else { return };
    for case in ["/tmp", "/dev/shm"] {
        let execution = filled(&*sandbox, case).await;
        assert!(execution.output.text().contains(&format!("held {case} OSError 28")), "{execution:?}");
    }
}

#[tokio::test]
async fn line_32_output_is_capped_and_costs_no_memory() {
    let Some(sandbox) = attacked() else { return };
    let bytes = 5_000_000_000_u64;
    for (case, total) in
        [("bytes", bytes + 8), ("one line", (1 << 30) + 8), ("lines", 6_888_890 + 8), ("both", 1_600_000 + 8)]
    {
        let place = Place::new();
        let mut job = attack(&place, "32_output", &json!({"case": case, "bytes": bytes}));
        // Through an engine, on a busy machine.
        job.timeout = Duration::from_mins(5);
        let before = peak_memory();
        let execution = sandbox.execute(&job).await.unwrap();
        let grown = peak_memory().saturating_sub(before);
        let output = &execution.output;
        assert!(execution.succeeded(), "{case}: {:?} {:?}", execution.ended, execution.limit);
        assert!(output.tail.ends_with("END"), "{case}");
        assert!(case == "both" || output.head.starts_with("BEGIN"), "{case}");
        assert_eq!(output.dropped_bytes + (output.head.len() + output.tail.len()) as u64, total, "{case}");
        assert!(output.head.len() <= 64 << 10 && output.tail.len() <= 64 << 10, "{case}");
        assert!(grown < 50 << 20, "{case}: memory grew by {grown} bytes");
        say(
            &*sandbox,
            "32",
            &format!("{case}: {total} bytes in {} ms, {} KiB more memory", execution.wall_ms, grown >> 10),
        );
    }
}

#[tokio::test]
async fn line_33_nothing_printed_is_taken_for_a_fact() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let execution = sandbox.execute(&attack(&place, "33_poison", &json!({}))).await.unwrap();
    assert_eq!((execution.ended, &execution.limit), (Ended::Exit(3), &None));
    assert!(execution.output.text().contains("nul \0 invalid \u{fffd}"), "{:?}", execution.output);
    assert!(execution.output.text().contains("### RESULT"));
    assert!(!execution.succeeded());
    say(
        &*sandbox,
        "33",
        "exit code 3, whatever was printed; escaped where it is shown (`podium sandbox exec`)",
    );
}

#[tokio::test]
async fn line_34_processors_are_not_exceeded() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    let mut job = attack(&place, "34_processors", &json!({"cpus": 1, "seconds": 3}));
    job.limits.cpus = podium_sandbox::CpuSet::first(1);
    let execution = sandbox.execute(&job).await.unwrap();
    let pinned = |facts: &podium_sandbox::CgroupFacts| facts.controllers.iter().any(|name| name == "cpuset");
    if sandbox.facts().cgroup.as_ref().is_some_and(pinned) {
        held(&*sandbox, "34", &execution);
    } else {
        crate::common::skip("without a cpuset control group a program may move to other processors");
    }
    assert!(execution.succeeded(), "{execution:?}");
    if let Some(cpu) = execution.cpu_ms {
        // A period of the scheduler and the tenth that it may run over.
        assert!(cpu <= execution.wall_ms * 11 / 10 + 200, "{cpu} ms in {} ms", execution.wall_ms);
        say(&*sandbox, "34", &format!("{cpu} ms of one processor in {} ms", execution.wall_ms));
    }
}

#[tokio::test]
async fn cpu_time_is_limited_for_the_whole_tree() {
    let Some(sandbox) = attacked() else { return };
    let one = "while True: pass";
    let many = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        while True: pass\ntime.sleep(60)";
    let dead = "import os\nwhile True:\n    if os.fork() == 0:\n        for _ in range(10**6): pass\n        os._exit(0)\n    os.wait()";
    for code in [one, many, dead] {
        let place = Place::new();
        let mut job = place.python(code);
        job.limits.cpu_time = Some(Duration::from_millis(1500));
        let execution = sandbox.execute(&job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::CpuTime { limit_ms: 1500 }), "{code}: {execution:?}");
        assert!(
            execution.cpu_ms.is_none_or(|cpu| (1500..4000).contains(&cpu)),
            "{code}: {:?}",
            execution.cpu_ms
        );
    }
}

#[tokio::test]
async fn one_file_and_open_files_are_limited_by_name() {
    let Some(sandbox) = attacked() else { return };
    let place = Place::new();
    // Python hears an error, a program in C a signal.
    let mut python = place.python("with open('big', 'wb') as f:\n    while True: f.write(b'x' * 65536)");
    let mut shell = place.command(&["/bin/sh", "-c", "exec head -c 100000000 /dev/zero > big"]);
    for job in [&mut python, &mut shell] {
        job.limits.file_bytes = 1 << 20;
        let execution = sandbox.execute(job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::FileSize { limit_bytes: 1 << 20 }), "{execution:?}");
    }
    let mut job = place.python("held = []\nwhile True: held.append(open('input/train.csv'))");
    job.limits.open_files = 100;
    let execution = sandbox.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::OpenFiles { limit: 100 }), "{execution:?}");
}

/// Peak resident memory of this process so far, in bytes. The kernel sums it up from counts that may be a few pages
/// behind, so that a later reading can be a little lower.
pub(super) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
