//! What an execution reports.

use podium_types::execution::{Ended, Exception};

use crate::common::{Place, jail, run};

#[tokio::test]
async fn hello_from_a_script_of_its_own() {
    let Some(jail) = jail() else { return };
    let code = "import sys\nif __name__ == '__main__':\n    print('hello')\n    print('err', file=sys.stderr)\n    sys.exit(3)";
    let execution = run(&*jail, code).await;
    assert_eq!(execution.output.text(), "hello\nerr\n");
    assert_eq!((execution.ended, execution.limit, execution.exception), (Ended::Exit(3), None, None));
    assert_eq!(execution.cpu_ms.is_some_and(|cpu| cpu > 5), jail.facts().cgroup.is_some());
    assert!(execution.wall_ms > 0);
}

#[tokio::test]
async fn output_of_children_comes_in_order() {
    let Some(jail) = jail() else { return };
    let code =
        "import subprocess\nprint('a')\nsubprocess.run(['sh', '-c', 'echo b; echo c >&2'])\nprint('d')";
    assert_eq!(run(&*jail, code).await.output.text(), "a\nb\nc\nd\n");
}

#[tokio::test]
async fn an_exception_is_named_with_its_line() {
    let Some(jail) = jail() else { return };
    let execution = run(&*jail, "x = {}\n\nx['key']\n").await;
    let want = Exception { kind: "KeyError".to_owned(), message: "'key'".to_owned(), line: Some(3) };
    assert_eq!((execution.ended, execution.exception), (Ended::Exit(1), Some(want)));
    let execution = run(&*jail, "x = = 1\n").await;
    let exception = execution.exception.unwrap();
    assert_eq!((exception.kind.as_str(), exception.line), ("SyntaxError", Some(1)));
}

#[tokio::test]
async fn a_crash_is_a_signal() {
    let Some(jail) = jail() else { return };
    let execution = run(&*jail, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)").await;
    assert_eq!((execution.ended, execution.limit), (Ended::Signal(11), None));
}

#[tokio::test]
async fn commands_run_without_a_shell_and_failures_to_start_are_named() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let execution = jail.execute(&place.command(&["/bin/echo", "$HOME", "a b"])).await.unwrap();
    assert_eq!((execution.ended, execution.output.text()), (Ended::Exit(0), "$HOME a b\n".to_owned()));
    let error = jail.execute(&place.command(&["/no/such/program"])).await.unwrap_err();
    assert!(error.to_string().contains("/no/such/program"), "{error}");
}

#[tokio::test]
async fn a_script_cannot_be_written_through_a_link() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    std::fs::write(&outside, "untouched").unwrap();
    std::os::unix::fs::symlink(&outside, place.workspace().join("solution.py")).unwrap();
    let execution = jail.execute(&place.python("print('mine')")).await.unwrap();
    assert_eq!(execution.output.text(), "mine\n");
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched");
}
