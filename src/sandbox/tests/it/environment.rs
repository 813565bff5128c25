//! Python environments: built once, even when several want the same one, and usable inside a jail.

use std::sync::atomic::{AtomicUsize, Ordering};

use podium_sandbox::{Environment, Interpreter, Job, SandboxError, workspace};
use podium_types::execution::Program;

use crate::common::jail;

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
    assert_eq!(environment.describe().unwrap().version, python.version);

    let Some(jail) = jail() else { return };
    let place = cache.path().join("workspace");
    workspace::create(&place).unwrap();
    let program =
        Program::Python { file: "s.py".to_owned(), code: "import sys; print(sys.prefix)".to_owned() };
    let execution = jail.execute(&Job::new(program, &place, environment)).await.unwrap();
    assert_eq!(execution.output.text().trim(), folder.to_str().unwrap());
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
