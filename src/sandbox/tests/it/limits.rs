//! Limits hold, and are named as the cause.

use std::time::{Duration, Instant};

use podium_sandbox::{Settings, Strength};
use podium_types::execution::{Ended, LimitHit};

use crate::common::{Place, jail, jail_with, run};

#[tokio::test]
async fn at_the_time_limit_a_script_sees_an_interrupt() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let code =
        "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('saved')\n    raise";
    let mut job = place.python(code);
    job.timeout = Duration::from_secs(1);
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 1000 }));
    assert!(execution.output.text().starts_with("saved\n"), "{:?}", execution.output);
    let exception = execution.exception.unwrap();
    assert_eq!((exception.kind.as_str(), exception.line), ("KeyboardInterrupt", Some(3)));
    assert!(execution.wall_ms < 2900, "{} ms", execution.wall_ms);
}

#[tokio::test]
async fn what_ignores_the_interrupt_is_killed() {
    let Some(jail) = jail() else { return };
    for body in ["while True: pass", "os.kill(os.getpid(), signal.SIGSTOP)", "os.read(os.pipe()[0], 1)"] {
        let place = Place::new();
        let mut job = place.python(&format!(
            "import os, signal, time\nfor s in (2, 15, 1): signal.signal(s, signal.SIG_IGN)\nprint('on')\n{body}"
        ));
        job.timeout = Duration::from_millis(700);
        let execution = jail.execute(&job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 700 }), "{body}");
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Signal(9), "on\n"), "{body}");
        assert!(execution.wall_ms < 4000, "{body}: {} ms", execution.wall_ms);
    }
}

#[tokio::test]
async fn memory_of_the_whole_tree_is_limited() {
    let Some(jail) = jail() else { return };
    let code = "
import subprocess, sys, time
if len(sys.argv) > 1:
    held = b'x' * (90 << 20); time.sleep(2)
children = [subprocess.Popen([sys.executable, __file__, 'child']) for _ in range(4)]
codes = [child.wait() for child in children]
sys.exit(1 if any(codes) else 0)
";
    let place = Place::new();
    let mut job = place.python(code);
    job.limits.memory_bytes = 200 << 20;
    job.timeout = Duration::from_secs(50);
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Memory { limit_bytes: 200 << 20 }), "{execution:?}");
    assert!(!execution.succeeded());
}

#[tokio::test]
async fn one_large_allocation_ends_the_script_as_a_memory_limit() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = place.python("held = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))");
    job.limits.memory_bytes = 150 << 20;
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.ended, Ended::Signal(9));
    assert_eq!(execution.limit, Some(LimitHit::Memory { limit_bytes: 150 << 20 }));
    if jail.facts().strength == Strength::Full {
        let peak = execution.peak_memory_bytes.unwrap();
        assert!((100 << 20..=150 << 20).contains(&peak), "{peak}");
    }
}

#[tokio::test]
async fn without_control_groups_memory_is_watched() {
    let settings = Settings { cgroups: false, ..Settings::default() };
    let Some(jail) = jail_with(&settings) else { return };
    assert_eq!(jail.facts().strength, Strength::Namespaces);
    let place = Place::new();
    let mut job = place.python("import time\nheld = b'x' * (400 << 20)\ntime.sleep(50)");
    job.limits.memory_bytes = 150 << 20;
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Memory { limit_bytes: 150 << 20 }));
}

#[tokio::test]
async fn memory_file_systems_count_and_have_a_size() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = place.python(
        "import os\nfor folder in ['/tmp', '/dev/shm']:\n    try:\n        \
         with open(folder + '/big', 'wb') as f:\n            for _ in range(20): f.write(b'x' * (1 << 20))\n        \
         print('written')\n    except OSError as e: print(e.errno)",
    );
    (job.limits.tmp_bytes, job.limits.shm_bytes) = (10 << 20, 8 << 20);
    assert_eq!(jail.execute(&job).await.unwrap().output.text(), "28\n28\n");
    if jail.facts().strength == Strength::Full {
        (job.limits.tmp_bytes, job.limits.memory_bytes) = (1 << 30, 100 << 20);
        let code = "with open('/tmp/big', 'wb') as f:\n    for _ in range(300): f.write(b'x' * (1 << 20))";
        job.program = place.python(code).program;
        let execution = jail.execute(&job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::Memory { limit_bytes: 100 << 20 }));
    }
}

#[tokio::test]
async fn a_fork_bomb_ends_by_the_process_limit() {
    let Some(jail) = jail() else { return };
    let root = rustix::process::getuid().is_root();
    if root && jail.facts().strength != Strength::Full {
        crate::common::skip("as root, processes are limited by control groups only, and there are none");
        return;
    }
    let place = Place::new();
    let mut job = place.python("import os, time\nwhile True: os.fork()");
    job.limits.processes = 40;
    job.timeout = Duration::from_secs(20);
    let start = Instant::now();
    let execution = jail.execute(&job).await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(15));
    if jail.facts().strength == Strength::Full {
        assert_eq!(execution.limit, Some(LimitHit::Processes { limit: 40 }), "{execution:?}");
    }
    assert_eq!(run(&*jail, "print('alive')").await.output.text(), "alive\n");
}

#[tokio::test]
async fn a_file_too_large_is_named() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = place.python("with open('big', 'wb') as f:\n    while True: f.write(b'x' * 65536)");
    job.limits.file_bytes = 1 << 20;
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::FileSize { limit_bytes: 1 << 20 }), "{execution:?}");
}

#[tokio::test]
async fn a_full_workspace_is_a_disk_limit() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let code = "import time\nfor i in range(40):\n    with open(f'working/{i}', 'wb') as f: f.write(b'x' * (1 << 20))\nwhile True: print('busy')";
    let mut job = place.python(code);
    job.limits.workspace_bytes = 20 << 20;
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Disk { limit_bytes: 20 << 20 }), "{execution:?}");
}
