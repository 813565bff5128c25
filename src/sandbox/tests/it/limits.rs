//! Limits hold, and are named as the cause.

use std::time::Duration;

use podium_sandbox::{SandboxError, Settings, Strength};
use podium_types::execution::LimitHit;

use crate::common::{Place, jail, jail_with};

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
async fn limits_too_small_to_start_with_are_refused_by_name() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let job = |memory: u64, processes: u64, files: u64| {
        let mut job = place.command(&["/bin/echo", "fits"]);
        (job.limits.memory_bytes, job.limits.processes, job.limits.open_files) = (memory, processes, files);
        job
    };
    for (memory, processes, files, name) in [
        (0, 512, 8192, "memory limit"),
        (1 << 20, 512, 8192, "memory limit"),
        (4 << 30, 1, 8192, "process limit"),
        (4 << 30, 512, 3, "open files limit"),
    ] {
        let error = jail.execute(&job(memory, processes, files)).await.unwrap_err();
        assert!(matches!(error, SandboxError::Job { .. }), "{error:?}");
        let said = error.to_string();
        assert!(said.contains(name) && said.contains("below the least"), "{said}");
    }
    assert_eq!(jail.execute(&job(24 << 20, 8, 32)).await.unwrap().output.text(), "fits\n");
}
