//! Limits hold, and are named as the cause.

use std::time::Duration;

use podium_sandbox::CpuSet;
use podium_types::execution::{Ended, LimitHit};

use crate::common::{Place, docker, run};

#[tokio::test]
async fn at_the_time_limit_a_script_sees_an_interrupt() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let code =
        "import time\ntry:\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('saved')\n    raise";
    let mut job = place.python(code);
    job.timeout = Duration::from_secs(2);
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 2000 }));
    assert!(execution.output.text().starts_with("saved\n"), "{:?}", execution.output);
    let exception = execution.exception.unwrap();
    assert_eq!((exception.kind.as_str(), exception.line), ("KeyboardInterrupt", Some(3)));
}

#[tokio::test]
async fn the_interrupt_reaches_children_too() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let code = "import subprocess, sys\nchild = \"import time\\ntry: time.sleep(60)\\nexcept KeyboardInterrupt: print('child', flush=True)\"\n\
                try: subprocess.run([sys.executable, '-c', child])\nexcept KeyboardInterrupt: pass";
    let mut job = place.python(code);
    job.timeout = Duration::from_secs(2);
    assert_eq!(docker.execute(&job).await.unwrap().output.text(), "child\n");
}

#[tokio::test]
async fn what_ignores_the_interrupt_is_killed() {
    let Some(docker) = docker() else { return };
    for body in ["while True: pass", "os.kill(os.getpid(), signal.SIGSTOP)", "os.read(os.pipe()[0], 1)"] {
        let place = Place::new();
        let mut job = place.python(&format!(
            "import os, signal, time\nfor s in (2, 15, 1): signal.signal(s, signal.SIG_IGN)\nprint('on')\n{body}"
        ));
        job.timeout = Duration::from_millis(1500);
        let execution = docker.execute(&job).await.unwrap();
        assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 1500 }), "{body}");
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Signal(9), "on\n"), "{body}");
        assert!(execution.wall_ms < 6000, "{body}: {} ms", execution.wall_ms);
    }
}

#[tokio::test]
async fn memory_of_the_whole_tree_is_limited() {
    let Some(docker) = docker() else { return };
    for code in [
        "held = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))",
        "import subprocess, sys, time\nif len(sys.argv) > 1:\n    held = b'x' * (90 << 20); time.sleep(2)\nelse:\n    \
         children = [subprocess.Popen([sys.executable, __file__, 'child']) for _ in range(4)]\n    \
         sys.exit(1 if any([child.wait() for child in children]) else 0)",
        "with open('/tmp/big', 'wb') as f:\n    for _ in range(300): f.write(b'x' * (1 << 20))",
        "with open('/dev/shm/big', 'wb') as f:\n    for _ in range(300): f.write(b'x' * (1 << 20))",
    ] {
        let place = Place::new();
        let mut job = place.python(code);
        job.limits.memory_bytes = 150 << 20;
        let execution = docker.execute(&job).await.unwrap();
        assert_eq!(
            execution.limit,
            Some(LimitHit::Memory { limit_bytes: 150 << 20 }),
            "{code}: {execution:?}"
        );
    }
}

#[tokio::test]
async fn memory_file_systems_have_a_size() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python(
        "import os\nfor folder in ['/tmp', '/dev/shm']:\n    try:\n        \
         with open(folder + '/big', 'wb') as f:\n            for _ in range(20): f.write(b'x' * (1 << 20))\n        \
         print('written')\n    except OSError as e: print(e.errno)",
    );
    (job.limits.tmp_bytes, job.limits.shm_bytes) = (10 << 20, 8 << 20);
    assert_eq!(docker.execute(&job).await.unwrap().output.text(), "28\n28\n");
}

#[tokio::test]
async fn a_fork_bomb_ends_by_the_process_limit() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python("import os, time\nwhile True: os.fork()");
    job.limits.processes = 40;
    job.timeout = Duration::from_secs(20);
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Processes { limit: 40 }), "{execution:?}");
    assert_eq!(run(&*docker, "print('alive')").await.output.text(), "alive\n");
}

#[tokio::test]
async fn files_and_workspaces_have_a_size() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python("with open('big', 'wb') as f:\n    while True: f.write(b'x' * 65536)");
    job.limits.file_bytes = 1 << 20;
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::FileSize { limit_bytes: 1 << 20 }), "{execution:?}");
    let code = "for i in range(40):\n    with open(f'working/{i}', 'wb') as f: f.write(b'x' * (1 << 20))\nwhile True: print('busy')";
    let mut job = place.python(code);
    job.limits.workspace_bytes = 20 << 20;
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::Disk { limit_bytes: 20 << 20 }), "{execution:?}");
}

#[tokio::test]
async fn the_grant_of_processors_is_what_is_seen() {
    let Some(docker) = docker() else { return };
    let all = CpuSet::default().ids();
    for ids in [all.iter().rev().take(1).copied().collect::<Vec<_>>(), all.clone()] {
        let place = Place::new();
        let mut job = place.python(
            "import os, subprocess\nprint(os.cpu_count(), subprocess.check_output('nproc').decode().strip(), \
             sorted(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS'])",
        );
        job.limits.cpus = CpuSet::of(ids.iter().copied());
        let count = ids.len();
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        let text = docker.execute(&job).await.unwrap().output.text();
        assert_eq!(text, format!("{count} {count} {sorted:?} {count}\n"));
    }
}

#[tokio::test]
async fn cpu_time_of_the_tree_is_limited() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python("import os\nfor _ in range(2): os.fork()\nwhile True: pass");
    job.limits.cpu_time = Some(Duration::from_secs(2));
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::CpuTime { limit_ms: 2000 }), "{execution:?}");
}
