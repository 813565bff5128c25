//! Nothing outlives an execution.

use std::time::Duration;

use podium_sandbox::{SandboxKind, Settings, open};
use podium_types::execution::{Ended, LimitHit};

use crate::{
    common::{Place, eventually, jail, mark, sleepers},
    stopping::daemon,
};

#[tokio::test]
async fn a_plain_process_leaves_nothing_either() {
    let process = open(SandboxKind::Process, &Settings::default()).unwrap();
    let mark = mark(63, std::process::id());
    for cgroups in [true, false] {
        let process_without =
            open(SandboxKind::Process, &Settings { cgroups, ..Settings::default() }).unwrap();
        let place = Place::new();
        let execution = process_without.execute(&place.python(&daemon(&mark, ""))).await.unwrap();
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Exit(0), "left\n"));
        eventually("the daemon is dead", || sleepers(&mark).is_empty());
    }
    let place = Place::new();
    let mut job = place.python("import time\nprint(open('input/train.csv').read())\ntime.sleep(1000)");
    job.timeout = Duration::from_secs(1);
    let execution = process.execute(&job).await.unwrap();
    assert_eq!(execution.limit, Some(LimitHit::WallClock { limit_ms: 1000 }));
    assert_eq!(execution.exception.unwrap().kind, "KeyboardInterrupt");
    assert!(execution.output.text().starts_with("id,x"));
}

#[test]
fn a_jail_outlives_the_thread_that_asked_for_it() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let job =
        place.python("import time\nopen('working/started', 'w').close()\ntime.sleep(1.5)\nprint('done')");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let started = place.workspace().join("working/started");
    let execution = std::thread::scope(|scope| {
        // Polled first on a thread that ends while the program runs, then on another.
        let mut future = jail.execute(&job);
        let handle = runtime.handle().clone();
        let future = scope
            .spawn(move || {
                handle.block_on(async {
                    tokio::select! {
                        result = &mut future => panic!("ended early: {result:?}"),
                        () = async { while !started.exists() { tokio::time::sleep(Duration::from_millis(5)).await } } => {}
                    }
                });
                future
            })
            .join()
            .unwrap();
        scope.spawn(move || runtime.block_on(future)).join().unwrap()
    });
    let execution = execution.unwrap();
    assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Exit(0), "done\n"));
}
