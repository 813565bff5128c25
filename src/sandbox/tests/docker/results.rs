//! What an execution reports.

use podium_sandbox::SandboxError;
use podium_types::execution::{Collected, Ended, Exception};

use crate::common::{Place, docker, run};

#[tokio::test]
async fn output_comes_in_order_with_what_was_used() {
    let Some(docker) = docker() else { return };
    let code = "import subprocess, sys\nprint('a')\nsubprocess.run(['sh', '-c', 'echo b; echo c >&2'])\n\
                print('d', file=sys.stderr)\nx = bytearray(40 << 20)\nsys.exit(3)";
    let execution = run(&*docker, code).await;
    assert_eq!(execution.output.text(), "a\nb\nc\nd\n");
    assert_eq!((execution.ended, execution.limit, execution.exception), (Ended::Exit(3), None, None));
    assert!(execution.cpu_ms.is_some_and(|cpu| cpu > 5), "{:?}", execution.cpu_ms);
    assert!(
        execution.peak_memory_bytes.is_some_and(|peak| peak > 40 << 20),
        "{:?}",
        execution.peak_memory_bytes
    );
    assert!(execution.blocked.is_empty(), "{:?}", execution.blocked);
}

#[tokio::test]
async fn an_exception_is_named_with_its_line_and_a_crash_is_a_signal() {
    let Some(docker) = docker() else { return };
    let execution = run(&*docker, "x = {}\n\nx['key']\n").await;
    let want = Exception { kind: "KeyError".to_owned(), message: "'key'".to_owned(), line: Some(3) };
    assert_eq!((execution.ended, execution.exception), (Ended::Exit(1), Some(want)));
    let execution = run(&*docker, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)").await;
    assert_eq!((execution.ended, execution.limit), (Ended::Signal(11), None));
}

#[tokio::test]
async fn commands_run_without_a_shell() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let argv = ["/bin/echo", "$HOME", "a b", "", "-n", "'\"\\"];
    let execution = docker.execute(&place.command(&argv)).await.unwrap();
    assert_eq!(
        (execution.ended, execution.output.text()),
        (Ended::Exit(0), "$HOME a b  -n '\"\\\n".to_owned())
    );
    let execution = docker.execute(&place.command(&["/no/such/program"])).await.unwrap();
    assert_eq!(execution.ended, Ended::Exit(127));
    assert!(execution.output.text().contains("/no/such/program"), "{:?}", execution.output);
}

#[tokio::test]
async fn a_missing_interpreter_is_the_image_s_fault_and_a_script_that_says_so_lies() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python("print('never')");
    job.python = "/no/python".into();
    let error = docker.execute(&job).await.unwrap_err();
    assert!(matches!(error, SandboxError::NoPythonInImage { .. }) && error.hint().is_some(), "{error:?}");
    assert_eq!(run(&*docker, "import os\nos._exit(127)").await.ended, Ended::Exit(127));
}

#[tokio::test]
async fn a_submission_is_collected_and_the_old_one_does_not_count() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let job = place.python("open('submission/submission.csv', 'w').write('id,y\\n1,2\\n')");
    let collected = docker.execute(&job).await.unwrap().submission;
    assert!(matches!(collected, Collected::File { bytes: 9, .. }), "{collected:?}");
    let missing = |found: &str| Collected::Missing { found: found.to_owned() };
    let job = place.python("import os\nprint(os.listdir('submission'))");
    let execution = docker.execute(&job).await.unwrap();
    assert_eq!((execution.submission, execution.output.text().as_str()), (missing("nothing"), "[]\n"));
    let job = place.python("import os\nos.symlink('/etc/passwd', 'submission/submission.csv')");
    assert_eq!(docker.execute(&job).await.unwrap().submission, missing("a symbolic link"));
}

#[tokio::test]
async fn what_the_harness_and_earlier_programs_wrote_can_be_changed() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let folder = place.workspace().join("working/deep");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("notes"), "old").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    let code = "open('working/deep/notes', 'a').write(' new')\nprint(open('working/deep/notes').read())";
    for want in ["old new\n", "old new new\n"] {
        assert_eq!(docker.execute(&place.python(code)).await.unwrap().output.text(), want);
    }
    assert_eq!(
        std::fs::metadata("/etc/passwd").map(|facts| std::os::unix::fs::MetadataExt::uid(&facts)).unwrap(),
        0
    );
}

#[tokio::test]
async fn much_output_costs_no_memory() {
    let Some(docker) = docker() else { return };
    let code = "import sys\nline = b'x' * 99 + b'\\n'\nsys.stdout.buffer.write(b'BEGIN')\nchunk = line * 20000\n\
                for _ in range(100): sys.stdout.buffer.write(chunk)\nsys.stdout.buffer.write(b'END')";
    let before = peak_memory();
    let execution = run(&*docker, code).await;
    let grown = peak_memory().saturating_sub(before);
    let output = execution.output;
    assert!(output.head.starts_with("BEGIN") && output.tail.ends_with("END"));
    assert_eq!(output.dropped_bytes + (output.head.len() + output.tail.len()) as u64, 200_000_008);
    assert!(grown < 50 << 20, "memory grew by {grown} bytes");
}

/// Peak resident memory of this process in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn a_program_that_speaks_for_the_shell_or_kills_it_has_ended() {
    let Some(docker) = docker() else { return };
    let forge = "import os, time\nopen(f'/proc/{os.getppid()}/fd/2', 'w').write('7\\n')\ntime.sleep(60)";
    for (code, ended) in [
        (forge, Ended::Exit(7)),
        ("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(60)", Ended::Signal(9)),
        ("import os\nos.kill(-1, 9)", Ended::Signal(9)),
    ] {
        let execution = run(&*docker, code).await;
        assert_eq!((execution.ended, execution.limit), (ended, None), "{code}");
    }
}

#[tokio::test]
async fn short_programs_are_measured_too() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    for _ in 0..5 {
        let execution = docker.execute(&place.command(&["true"])).await.unwrap();
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Exit(0), ""));
        assert!(execution.cpu_ms.is_some() && execution.peak_memory_bytes.is_some(), "{execution:?}");
    }
}
