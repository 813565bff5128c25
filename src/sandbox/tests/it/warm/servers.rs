//! The servers themselves: who gets one, and what becomes of it.

use std::time::Duration;

use podium_sandbox::{CancellationToken, CpuSet, SandboxError};

use super::{base, both, job, run};
use crate::common::{Place, environment, eventually, processes_with};

#[tokio::test]
async fn what_must_start_cold_does() {
    let Some(environment) = base() else { return };
    let Some((_, warm)) = both() else { return };
    for (code, want) in [
        ("import numpy", true),
        // For one that comes alone no server is started.
        ("import csv", false),
        ("# podium: cold\nimport numpy", false),
        ("import numpy\ntry: import torch\nexcept ImportError: pass", false),
    ] {
        let execution = run(&*warm, &environment, code).await;
        assert_eq!((execution.warm, execution.succeeded()), (want, true), "{code}: {execution:?}");
    }
    let place = Place::new();
    let mut long = job(&place, &environment, "import numpy");
    long.timeout = Duration::from_hours(2);
    assert!(!warm.execute(&long).await.unwrap().warm);
    let mut other_path = job(&place, &environment, "import numpy");
    other_path.env.insert("PYTHONPATH".to_owned(), "/workspace/own".to_owned());
    assert!(!warm.execute(&other_path).await.unwrap().warm);
    // A module of the workspace stands before one of the same name.
    let mut shadowed = job(&place, &environment, "import numpy, random\nprint(random.mine)");
    std::fs::write(place.workspace().join("random.py"), "mine = 1").unwrap();
    shadowed.timeout = Duration::from_mins(1);
    // However often one workspace has it: others do not suffer.
    for _ in 0..4 {
        assert!(!warm.execute(&shadowed).await.unwrap().warm);
    }
    assert!(run(&*warm, &environment, "import numpy").await.warm);
}

#[tokio::test]
async fn an_interpreter_without_the_packages_does_as_well() {
    let Some((_, warm)) = both() else { return };
    let code = "try:\n    import numpy\nexcept ImportError: pass\nimport sys\nprint(sys.argv)";
    let execution = run(&*warm, &environment(), code).await;
    assert!(execution.warm && execution.succeeded(), "{execution:?}");
}

#[tokio::test]
async fn each_grant_has_its_own_server_and_they_work_at_once() {
    let Some(environment) = base() else { return };
    let Some((_, warm)) = both() else { return };
    let code = "import os, numpy\nfrom threadpoolctl import threadpool_info\nimport numpy.linalg\n\
                print(len(os.sched_getaffinity(0)), os.environ['OMP_NUM_THREADS'], {p['num_threads'] for p in threadpool_info()})";
    let one = async |cpus: usize| {
        let place = Place::new();
        let mut job = job(&place, &environment, code);
        job.limits.cpus = CpuSet::first(cpus);
        let execution = warm.execute(&job).await.unwrap();
        assert!(execution.warm, "{execution:?}");
        (cpus, execution.output.text())
    };
    let results = tokio::join!(one(1), one(2), one(1), one(2), one(1), one(1), one(2), one(1));
    let results = [results.0, results.1, results.2, results.3, results.4, results.5, results.6, results.7];
    for (cpus, text) in results {
        let cpus = cpus.min(CpuSet::default().count());
        assert_eq!(text, format!("{cpus} {cpus} {{{cpus}}}\n"));
    }
}

/// Numbers of the interpreters that run a script of this name, without the bubblewrap that started one.
fn interpreters(script: &str) -> Vec<u32> {
    let mut found = processes_with(script);
    let others = processes_with("bwrap");
    found.retain(|number| !others.contains(number));
    found
}

#[tokio::test]
async fn a_cancelled_execution_leaves_nothing_and_a_dead_server_is_replaced() {
    let Some(environment) = base() else { return };
    let Some((_, warm)) = both() else { return };
    // The script's name is on the server's command line, and on those of its copies.
    let name = format!("warm-{}.py", std::process::id());
    let place = Place::new();
    let mut job = job(&place, &environment, "");
    let script =
        |code: &str| podium_types::execution::Program::Python { file: name.clone(), code: code.to_owned() };
    job.program = script("import numpy, os\nif os.fork() == 0: os.setsid()\nwhile True: pass");
    job.cancel = CancellationToken::new();
    let cancel = job.cancel.clone();
    let (result, ()) = tokio::join!(warm.execute(&job), async {
        // The server, the process beside the jail, the program and its child.
        while tokio::task::spawn_blocking({
            let name = name.clone();
            move || interpreters(&name).len()
        })
        .await
        .unwrap()
            < 4
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    });
    assert!(matches!(result, Err(SandboxError::Cancelled)), "{result:?}");
    eventually("only the server is left", || interpreters(&name).len() == 1);

    let server = *interpreters(&name).first().unwrap();
    let pid = rustix::process::Pid::from_raw(server.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    eventually("the server is dead", || interpreters(&name).is_empty());
    job.cancel = CancellationToken::new();
    job.program = script("import numpy\nprint('again')");
    let cold = warm.execute(&job).await.unwrap();
    assert_eq!((cold.output.text().as_str(), cold.warm), ("again\n", false));
    let again = warm.execute(&job).await.unwrap();
    assert_eq!((again.output.text().as_str(), again.warm), ("again\n", true));
    // Not a moment later either: the program's parent, which is outside of the jail, is one of its processes.
    for _ in 0..20 {
        assert!(warm.execute(&job).await.unwrap().warm);
        assert_eq!(interpreters(&name).len(), 1);
    }
    drop(warm);
    eventually("nothing is left", || processes_with(&name).is_empty());
}
