//! Limits hold, and are named as the cause.

use std::time::Duration;

use podium_sandbox::{Settings, Strength};
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
