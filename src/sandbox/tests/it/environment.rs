//! Python environments: built once, even when several want the same one, and usable inside a jail.

use std::sync::atomic::{AtomicUsize, Ordering};

use podium_sandbox::{Environment, Interpreter, Job, SandboxError, workspace};
use podium_types::execution::Program;

use crate::common::{eventually, jail, mark, sleepers};

/// Requirements that need no network.
const NOTHING: &str = "# nothing\n";

#[tokio::test]
async fn a_profile_is_built_once_and_works_in_a_jail() {
    let cache = tempfile::tempdir().unwrap();
    let python = Interpreter::find(None).unwrap();
    let folder = Environment::locate(cache.path(), "base", NOTHING, &python);
    // What a build that was cut leaves is no environment.
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    std::fs::write(folder.join("bin/python"), "half").unwrap();
    assert_eq!(Environment::find(cache.path(), "base", NOTHING, &python), None);
    let builds = AtomicUsize::new(0);
    let environments: Vec<Environment> = std::thread::scope(|scope| {
        let build = || {
            let mut any = false;
            let found =
                Environment::build(cache.path(), "base", NOTHING, &python, &mut |_| any = true).unwrap();
            builds.fetch_add(usize::from(any), Ordering::Relaxed);
            found
        };
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(build)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(builds.into_inner() <= 1);
    let environment = environments.first().unwrap();
    assert!(environments.iter().all(|other| other == environment));
    environment.verify().unwrap();
    assert!(environment.python().starts_with(&folder));
    assert_eq!(environment.describe().version, python.version);

    let Some(jail) = jail() else { return };
    let place = cache.path().join("workspace");
    workspace::create(&place).unwrap();
    let program =
        Program::Python { file: "s.py".to_owned(), code: "import sys; print(sys.prefix)".to_owned() };
    let execution = jail.execute(&Job::new(program, &place, environment)).await.unwrap();
    assert_eq!(execution.output.text().trim(), folder.to_str().unwrap());
}

#[test]
fn the_packages_are_those_that_python_itself_finds() {
    let python = Interpreter::find(None).unwrap();
    let list = "import json, importlib.metadata as m\n\
                print(json.dumps({d.metadata['Name'].lower(): d.version for d in list(m.distributions())[::-1]}))";
    let found = std::process::Command::new(&python.path).args(["-I", "-c", list]).output().unwrap();
    let found: std::collections::BTreeMap<String, String> = serde_json::from_slice(&found.stdout).unwrap();
    assert!(found.contains_key("pip"));
    assert_eq!(Environment::of_user(&python.path).unwrap().describe().packages, found);
}

#[test]
fn a_damaged_environment_is_built_anew() {
    let cache = tempfile::tempdir().unwrap();
    let python = Interpreter::find(None).unwrap();
    let build = || Environment::build(cache.path(), "base", NOTHING, &python, &mut |_| {}).unwrap();
    let environment = build();
    let list = std::process::Command::new(environment.python())
        .args(["-c", "import importlib.metadata as m; print(m.distribution('pip')._path)"])
        .output()
        .unwrap();
    let lost = std::path::PathBuf::from(String::from_utf8(list.stdout).unwrap().trim());
    for damage in [lost.clone(), environment.python().to_owned()] {
        let folder = damage.is_dir() && !damage.is_symlink();
        if folder { std::fs::remove_dir_all(&damage) } else { std::fs::remove_file(&damage) }.unwrap();
        assert_eq!(Environment::find(cache.path(), "base", NOTHING, &python), None, "{damage:?}");
        assert_eq!(build(), environment);
        assert!(lost.exists());
    }
}

#[test]
fn a_builder_that_was_killed_holds_up_nobody() {
    let cache = tempfile::tempdir().unwrap();
    let python = Interpreter::find(None).unwrap();
    let folder = Environment::locate(cache.path(), "base", NOTHING, &python);
    std::fs::create_dir_all(folder.join("bin")).unwrap();
    let lock = folder.with_extension("lock");
    let mark = mark(21, std::process::id());
    let mut other = std::process::Command::new("flock")
        .arg(&lock)
        .args(["sh", "-c", &format!("echo held; exec sleep {mark}")])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = [0; 4];
    std::io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut word).unwrap();
    std::thread::scope(|scope| {
        let builder = scope.spawn(|| Environment::build(cache.path(), "base", NOTHING, &python, &mut |_| {}));
        // The lock is the child's as well.
        eventually("the other holds the lock", || !sleepers(&mark).is_empty());
        for pid in children(other.id()).into_iter().chain([other.id()]) {
            let pid = rustix::process::Pid::from_raw(pid.try_into().unwrap()).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        other.wait().unwrap();
        builder.join().unwrap().unwrap().verify().unwrap();
    });
}

fn children(pid: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    list.split_whitespace().map(|child| child.parse().unwrap()).collect()
}

#[test]
fn a_failed_build_carries_the_installer_s_words() {
    let cache = tempfile::tempdir().unwrap();
    let python = Interpreter::find(None).unwrap();
    let requirements = "./no-such-package-here\n";
    let error = Environment::build(cache.path(), "broken", requirements, &python, &mut |_| {}).unwrap_err();
    assert!(matches!(error, SandboxError::Environment { .. }), "{error:?}");
    assert!(error.to_string().contains("no-such-package-here"), "{error}");
    assert_eq!(Environment::find(cache.path(), "broken", requirements, &python), None);
}

#[test]
fn no_python_is_said_with_a_hint() {
    let error = Interpreter::find(Some("/no/python".as_ref())).unwrap_err();
    assert!(error.to_string().contains("`/no/python` cannot be started"), "{error}");
    assert!(error.hint().is_some());
}
