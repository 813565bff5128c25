//! `podium sandbox exec`: anyone can try by hand what an agent's code can do, and cannot.

use rustix::fs::{FileType, Mode};
use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Place, Podium, leftovers, need, place, wait};

fn exec(place: &Place, options: &[&str], command: &[&str]) -> Podium {
    let podium = Podium::new(place).args(["sandbox", "exec", "--python"]).arg(place::python());
    podium.args(options).arg("--").args(command)
}

/// The JSON document of a command in the jail.
fn report(place: &Place, options: &[&str], command: &[&str]) -> Value {
    exec(place, &[options, &["--json"]].concat(), command).output().expect(0).json()
}

/// What a Python script prints in the jail, without its line end.
fn prints(place: &Place, options: &[&str], script: &str) -> String {
    let report = report(place, options, &["python", "-c", script]);
    report["text"].as_str().unwrap().trim_end().to_owned()
}

#[test]
fn output_and_exit_codes_come_through() {
    if !need::jail("output_and_exit_codes_come_through") {
        return;
    }
    let place = Place::new();
    let hello = exec(&place, &[], &["echo", "hello"]).output().expect(0);
    assert_eq!((hello.stdout.as_str(), hello.stderr.as_str()), ("hello\n", ""));
    let silent = exec(&place, &[], &["sh", "-c", "exit 7"]).output().expect(7);
    assert_eq!(silent.stdout, "");
    exec(&place, &[], &["sh", "-c", "kill -9 $$"]).output().expect(137);
    // A terminal must not obey what an agent prints.
    let coloured = exec(&place, &[], &["printf", "\\033[2Jx\\r"]).output().expect(0);
    assert_eq!(coloured.stdout, "\\u{1b}[2Jx\\r\n");
    let missing = exec(&place, &[], &["no-such-command"]).output().expect(3);
    assert!(missing.stderr.starts_with("error: ") && missing.stderr.contains("no-such-command"));
}

#[test]
fn the_document_has_its_shape() {
    if !need::jail("the_document_has_its_shape") {
        return;
    }
    let place = Place::new();
    let document = report(&place, &[], &["sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!(document["ended"], serde_json::json!({"kind": "exit", "value": 3}));
    assert_eq!(document["output"]["dropped_bytes"], 0);
    assert_eq!(document["limit"], Value::Null);
    assert_eq!(document["interrupted"], false);
    let text = document["text"].as_str().unwrap();
    assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
    for number in ["wall_ms", "cpu_ms", "peak_memory_bytes"] {
        assert!(document[number].is_u64(), "{number}: {document}");
    }
    assert_eq!(document["sandbox"]["kind"], "jail");
    assert_eq!(document["environment"]["name"], "user");
    assert_eq!(document["environment"]["version"], document["granted"]["python"]);
    assert!(["full", "namespaces"].contains(&document["sandbox"]["strength"].as_str().unwrap()));
}

#[test]
fn limits_that_fire_name_themselves() {
    if !need::jail("limits_that_fire_name_themselves") {
        return;
    }
    let place = Place::new();
    let late = exec(&place, &["--timeout", "1s"], &["sleep", "300"]).output();
    assert!(late.stderr.contains("limit: execution limit (1 s) reached"), "{}", late.stderr);
    let late = report(&place, &["--timeout", "1s"], &["sleep", "300"]);
    assert_eq!(late["limit"], serde_json::json!({"kind": "wall_clock", "limit_ms": 1000}));

    let hungry = "x = bytearray(400 << 20)\nfor i in range(0, len(x), 4096): x[i] = 1\nprint(len(x))";
    let document = report(&place, &["--memory", "150MiB"], &["python", "-c", hungry]);
    assert_ne!(document["ended"], serde_json::json!({"kind": "exit", "value": 0}), "{document}");
    if document["sandbox"]["strength"] == "full" {
        assert_eq!(document["limit"], serde_json::json!({"kind": "memory", "limit_bytes": 150 << 20}));
    } else {
        need::skip("limits_that_fire_name_themselves", "no control groups: memory is held in another way");
    }
    let cpus = "import os; print(len(os.sched_getaffinity(0)))";
    assert_eq!(prints(&place, &["--cpus", "1"], cpus), "1");
}

#[test]
fn nothing_of_the_host_is_seen() {
    if !need::jail("nothing_of_the_host_is_seen") {
        return;
    }
    let place = Place::new();
    let secret = place.write("home/secret.txt", "hunter2");
    place.write("input/train.csv", "id\n1\n");
    let input = place.path().join("input");
    let options = ["--input", input.to_str().unwrap()];
    // The environment is empty of the caller's, the key included.
    let environment =
        exec(&place, &["--json"], &["env"]).env("OPENAI_API_KEY", "sk-test").env("CALLER", "me");
    let shown = environment.output().expect(0).json()["text"].as_str().unwrap().to_owned();
    assert!(!shown.contains("sk-test") && !shown.contains("CALLER") && !shown.contains("PODIUM"), "{shown}");

    let probe = format!(
        "import os, socket\n\
         paths = {:?}\n\
         for path in paths: print(path, os.path.exists(path))\n\
         print('mounts', any('podium-test' in line for line in open('/proc/self/mountinfo')))\n\
         print('input', os.listdir('input'))\n\
         try: open('input/new', 'w'); print('written')\n\
         except OSError: print('read-only')\n\
         try: socket.create_connection(('1.1.1.1', 53), 1); print('connected')\n\
         except OSError: print('no network')\n\
         print('processes', sum(name.isdigit() for name in os.listdir('/proc')) < 8)\n",
        [secret.to_str().unwrap(), "/etc/shadow", "/var/log", "/boot", "/home/user"]
    );
    let seen = prints(&place, &options, &probe);
    for path in [secret.to_str().unwrap(), "/etc/shadow", "/var/log", "/boot", "/home/user"] {
        assert!(seen.contains(&format!("{path} False")), "{path}:\n{seen}");
    }
    for line in ["input ['train.csv']", "read-only", "no network", "processes True"] {
        assert!(seen.lines().any(|seen| seen == line), "no `{line}`:\n{seen}");
    }
}

#[test]
fn a_named_workspace_keeps_what_was_written() {
    if !need::jail("a_named_workspace_keeps_what_was_written") {
        return;
    }
    let place = Place::new();
    let workspace = place.path().join("space");
    std::fs::create_dir(&workspace).unwrap();
    let options = ["--workspace", workspace.to_str().unwrap()];
    exec(&place, &options, &["sh", "-c", "echo kept > result.txt"]).output().expect(0);
    assert_eq!(std::fs::read_to_string(workspace.join("result.txt")).unwrap(), "kept\n");
    assert_eq!(prints(&place, &options, "print(open('result.txt').read())"), "kept");
}

#[test]
fn a_plain_process_says_that_it_is_none() {
    let place = Place::new();
    let document = report(&place, &["--kind", "process"], &["echo", "hello"]);
    assert_eq!((&document["text"], &document["sandbox"]["strength"]), (&"hello\n".into(), &"limits".into()));
    assert!(!document["sandbox"]["missing"].as_array().unwrap().is_empty());
}

/// Lines of a session that is given these lines.
fn session(place: &Place, options: &[&str], lines: &str) -> (String, String) {
    let file = place.write("lines", lines);
    let podium = Podium::new(place).args(["sandbox", "session", "--python"]).arg(place::python());
    let done = podium.args(options).stdin(std::fs::File::open(file).unwrap()).output().expect(0);
    (done.stdout, done.stderr)
}

#[test]
fn a_session_keeps_its_state_from_line_to_line() {
    if !need::jail("a_session_keeps_its_state_from_line_to_line") {
        return;
    }
    let place = Place::new();
    let lines = "cd working; A=1\npwd; echo $A\n(exit 4)\n:nosuch\nexit 3\n:restart\necho \"[$A]\"\n";
    let (out, err) = session(&place, &[], lines);
    assert_eq!(out, "/workspace/working\n1\n[]\n");
    for told in
        ["new: bash, start 1", "exit code 4", "unknown order", "the session has ended", "new: bash, start 2"]
    {
        assert!(err.contains(told), "{told}: {err}");
    }
    // What is no text is no end.
    let file = place.path().join("bytes");
    std::fs::write(&file, b"echo \xff\necho after\r\n").unwrap();
    let podium = Podium::new(&place).args(["sandbox", "session", "--python"]).arg(place::python());
    let bytes = podium.stdin(std::fs::File::open(file).unwrap()).output().expect(0);
    assert!(bytes.stdout.ends_with("\nafter\n"), "{}", bytes.stdout);
    let (out, _) =
        session(&place, &["--kernel"], "x = 3\n\nfor i in range(2):\n    print(i)\nx + 1\n\n1/0\n");
    assert!(out.starts_with("0\n1\n4\n") && out.contains("ZeroDivisionError"), "{out}");
}

#[test]
fn a_session_takes_the_limits_and_grants_of_a_command() {
    if !need::jail("a_session_takes_the_limits_and_grants_of_a_command") {
        return;
    }
    let place = Place::new();
    let mounted = place.path().join("mounted");
    std::fs::create_dir(&mounted).unwrap();
    let mount = format!("extra={}", mounted.display());
    let options = ["--sandbox", "jail", "--open-files", "177", "--env", "TOLD=yes", "--mount", &mount];
    let lines = "ulimit -n; echo $TOLD; ls /mounts\nkill -9 $$\n";
    let (out, err) = session(&place, &options, lines);
    assert_eq!(out, "177\nyes\nextra\n");
    // What ends with such a code by itself is told in the same words.
    assert!(err.contains("the session has ended with exit code 137 (or signal 9)"), "{err}");
    let (_, err) = session(&place, &["--timeout", "700ms"], "sleep 98822\n");
    assert!(err.contains("limit: execution limit (0.7 s) reached"), "{err}");
}

#[test]
fn a_session_speaks_json_lines() {
    if !need::jail("a_session_speaks_json_lines") {
        return;
    }
    let place = Place::new();
    let lines = "{\"send\": \"echo one; sleep 98821\"}\n\"interrupt\"\nnonsense\n{\"send\": \"read x; echo got $x\"}\n\
                 {\"input\": \"abc\\n\"}\n\"close\"\n";
    let (out, _) = session(&place, &["--json", "--soft-timeout", "500ms"], lines);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> =
        lines.iter().map(|line| line["state"]["kind"].as_str().unwrap_or_default()).collect();
    assert_eq!(kinds, ["", "running", "exited", "", "running", "exited", ""], "{out}");
    assert_eq!(lines[0]["opened"]["generation"], 1);
    assert_eq!((&lines[1]["output"]["head"], &lines[2]["interrupted"]), (&"one\n".into(), &true.into()));
    assert!(lines[3]["error"].as_str().unwrap().starts_with("no request"));
    assert_eq!(lines[5]["output"]["head"], "got abc\n");
    assert!(lines[6]["closed"]["wall_ms"].is_u64());
}

#[test]
fn a_command_that_is_told_to_stop_leaves_nothing() {
    if !need::jail("a_command_that_is_told_to_stop_leaves_nothing") {
        return;
    }
    let place = Place::new();
    let temporary = place.path().join("tmp");
    let workspace = place.path().join("space");
    let lines = place.path().join("lines");
    std::fs::create_dir(&temporary).unwrap();
    std::fs::create_dir(&workspace).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &lines, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let up = workspace.join("up");
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for is_session in [false, true] {
            let options = ["--workspace", workspace.to_str().unwrap()];
            let podium = if is_session {
                // Nobody ever ends its input.
                let mut input = std::fs::File::options().read(true).write(true).open(&lines).unwrap();
                // An interrupt in the middle of a call is for the call, so that is over by then.
                let over: &[u8] = b"sleep 300 & echo up\n";
                let line = if signal == Signal::INT { over } else { b"touch up; sleep 300\n" };
                std::io::Write::write_all(&mut input, line).unwrap();
                let podium = Podium::new(&place).args(["sandbox", "session", "--python"]);
                podium.arg(place::python()).args(options).stdin(input)
            } else {
                exec(&place, &options, &["sh", "-c", "touch up; sleep 300 & sleep 300"])
            };
            let running = podium.env("TMPDIR", &temporary).start();
            wait::until("it is up", || (up.exists() || running.has_said("up\n")).then_some(()));
            running.signal(signal);
            let harness = running.pid();
            running.wait().expect(5);
            assert_eq!(leftovers::groups_of(harness), Vec::<std::path::PathBuf>::new(), "{signal:?}");
            let folders: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
            assert!(folders.is_empty(), "{signal:?}: {folders:?}");
            let _ = std::fs::remove_file(&up);
        }
    }
}

#[test]
fn what_cannot_be_granted_is_refused_in_a_sentence() {
    if !need::jail("what_cannot_be_granted_is_refused_in_a_sentence") {
        return;
    }
    let place = Place::new();
    let table: &[(&[&str], &str)] = &[
        (&["--memory", "1"], "a memory limit of 1 bytes is below the least"),
        (&["--processes", "2"], "a process limit of 2 processes is below the least"),
        (&["--processes", "18446744073709551615"], "is above the most, 4194304 processes"),
        (&["--open-files", "3"], "an open files limit of 3 files is below the least"),
        (&["--file-size", "1"], "a file size limit of 1 bytes is below the least"),
        (&["--submission", "../x"], "`../x` is no path inside the workspace"),
        (&["--submission", "/etc/passwd"], "`/etc/passwd` is no path inside the workspace"),
        (&["--submission", "."], "`.` is no path inside the workspace"),
        (&["--submission", ""], "`` is no path inside the workspace"),
        (&["--mount", "host=/proc"], "`/proc` cannot be mounted"),
        (&["--mount", "host=/dev/null"], "`/dev/null` cannot be mounted"),
        (&["--mount", "host=/run"], "`/run` cannot be mounted"),
        (&["--input", "/sys/kernel"], "`/sys/kernel` cannot be mounted"),
        (&["--image", "some"], "--image is for containers, and this sandbox is a jail"),
        (&["--runtime", "some"], "--runtime is for containers, and this sandbox is a jail"),
    ];
    for (options, want) in table {
        let refused = exec(&place, options, &["true"]).output().expect(2);
        assert!(refused.stderr.contains(want), "{options:?}: {}", refused.stderr);
        assert_eq!(refused.stderr.matches("error: ").count(), 1, "{}", refused.stderr);
    }
    let podium = Podium::new(&place).args(["sandbox", "exec", "--environment", "bas", "--", "true"]);
    let refused = podium.output().expect(2);
    assert!(refused.stderr.contains("environment `bas` is unknown; nearest: base"), "{}", refused.stderr);
    // What a submission's folder holds besides would go with it.
    let own = place.write("space/results/own.txt", "mine");
    let space = place.path().join("space");
    let options = ["--workspace", space.to_str().unwrap(), "--submission", "results/submission.csv"];
    let refused = exec(&place, &options, &["true"]).output().expect(2);
    assert!(refused.stderr.contains("would be emptied") && own.exists(), "{}", refused.stderr);
    // A job that could reach more than its workspace needs would be none of the sandbox's.
    let everything = exec(&place, &["--workspace", "/"], &["true"]).output().expect(2);
    assert!(
        everything.stderr.contains("/ is no workspace: everything in it could be"),
        "{}",
        everything.stderr
    );
    for part in ["data/some", "work/runs"] {
        std::fs::create_dir(place.path().join(part)).unwrap();
    }
    for (folder, what) in [
        ("home", "the home folder"),
        ("", "the home folder"),
        ("data", "the data of competitions"),
        ("data/some", "a part of Podium's own data"),
        ("work", "Podium's runs"),
    ] {
        let folder = place.path().join(folder);
        let refused = exec(&place, &["--workspace", folder.to_str().unwrap()], &["true"]).output().expect(2);
        assert!(refused.stderr.contains(&format!("is no workspace: {what} could be")), "{}", refused.stderr);
        assert!(refused.stderr.contains("hint: give a folder made for the purpose"), "{}", refused.stderr);
    }
    let lost = exec(&place, &[], &["true"]).env("TMPDIR", "/no/such/folder").output().expect(3);
    assert!(lost.stderr.contains("hint: the temporary folder must be there"), "{}", lost.stderr);
    // More than any file can have is no limit, and blanks of a variable are its own.
    let huge = ["--file-size", "16000000T", "--disk", "16000000T", "--env", "A= b "];
    exec(&place, &huge, &["sh", "-c", "test \"$A\" = ' b '"]).output().expect(0);
}
