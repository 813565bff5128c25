//! What a model reads of each tool on a real sandbox: the test is the model, and each observation is in a snapshot.

use std::fmt::Write as _;
use std::thread;

use serde_json::{Value, json};

use crate::support::held::HeldService;
use crate::support::{Place, Podium, need};

/// A call as the text format has it.
fn call(name: &str, arguments: &Value) -> String {
    let mut text = format!("<function={name}>\n");
    for (name, value) in arguments.as_object().unwrap() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        write!(text, "<parameter={name}>\n{value}\n</parameter>\n").unwrap();
    }
    text + "</function>"
}

/// What differs each time, made the same: times, process numbers, what is left.
fn settled(text: &str) -> String {
    let mut settled = String::new();
    for line in text.lines() {
        if line.starts_with('[') && line.contains("run time left") {
            continue;
        }
        // How much an endless program prints, and where it is cut, differs.
        let endless = settled.ends_with("endless\n");
        if (endless && "endless".contains(line))
            || (!line.is_empty() && line.len() < 7 && "endless".ends_with(line))
        {
            continue;
        }
        if line.contains("left out here for want of room") && settled.contains("endless") {
            settled.push_str("[... left out ...]\n");
            continue;
        }
        let mut line = line.to_owned();
        if line.starts_with("Still running in the background: ") {
            // A program that was just started may still have the shell's name.
            line.replace_range(line.find(": ").map_or(0, |at| at + 2).., "N programs.");
        }
        if let Some(at) = line.find("It has run for ") {
            let end = line[at..].find('.').map_or(line.len(), |end| at + end);
            line.replace_range(at..end, "It has run for a while");
        }
        settled.push_str(&line);
        settled.push('\n');
    }
    settled.trim_end().to_owned()
}

/// Plays the model: makes each call, and gives what was read of it.
fn observed(calls: &[(&str, Value)]) -> String {
    let place = Place::new();
    let service = HeldService::start();
    let running = Podium::new(&place)
        .arg("run")
        .toy()
        .args(["--scaffold", "codeact-text", "--competition", "toy", "--model", "openai/held", "--json"])
        .args(["--memory", "512MiB", "--cpus", "1", "--set", "stuck.same=0", "--set", "stuck.errors=0"])
        .args(["--set", "tokens.observation=200", "--set", "session.soft_timeout=20s"])
        .args(["--steps", &(calls.len() + 1).to_string(), "--runs-dir"])
        .arg(place.runs())
        .held(&service)
        .start();
    let calls: Vec<(String, Value)> =
        calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.clone())).collect();
    let model = thread::spawn(move || {
        let mut text = String::new();
        let mut held = service.request();
        for (name, arguments) in &calls {
            held.answer(&call(name, arguments));
            held = service.request();
            let read = held.body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
            write!(text, "> {name} {arguments}\n{}\n\n", settled(read.as_str().unwrap())).unwrap();
        }
        text
    });
    let text = model.join().unwrap();
    running.kill();
    running.wait();
    text
}

fn bash(command: &str) -> (&'static str, Value) {
    ("execute_bash", json!({"command": command}))
}

fn input(command: &str) -> (&'static str, Value) {
    ("execute_bash", json!({"command": command, "is_input": true, "timeout": 2}))
}

fn soon(command: &str) -> (&'static str, Value) {
    ("execute_bash", json!({"command": command, "timeout": 1}))
}

fn cell(code: &str) -> (&'static str, Value) {
    ("execute_ipython_cell", json!({"code": code}))
}

fn edit(command: &str, path: &str, more: &Value) -> (&'static str, Value) {
    let mut arguments = json!({"command": command, "path": path});
    for (name, value) in more.as_object().into_iter().flatten() {
        arguments[name] = value.clone();
    }
    ("str_replace_editor", arguments)
}

#[test]
fn the_shell() {
    if !need::jail("the_shell") {
        return;
    }
    let text = observed(&[
        bash("mkdir -p a/b && cd a/b && pwd"),
        bash("pwd; echo one; echo two >&2; false"),
        bash("cat > x.txt <<'EOF'\nhere $HOME\n\nEOF\ncat x.txt; wc -l < x.txt"),
        bash("printf 'grün 猫 🦀\\n'"),
        bash("printf '\\000\\001\\377\\033[1mbold\\033[0m\\n'"),
        soon("read -p 'name? ' name; echo \"hello $name\""),
        input("Ada"),
        soon("echo begin; sleep 3; echo end"),
        bash("echo not run"),
        bash(""),
        soon("yes endless"),
        input("C-c"),
        bash("sleep 98765 & echo started"),
        bash("kill %1; wait; echo gone"),
        soon("cat"),
        input("C-d"),
        bash("exit 3"),
        bash("pwd"),
        ("execute_bash", json!({"command": "", "reset": true})),
        bash("echo \"unclosed"),
        bash("seq 1 100000"),
    ]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}

#[test]
fn the_kernel() {
    if !need::jail("the_kernel") {
        return;
    }
    let text = observed(&[
        cell("x = 3\nx + 1"),
        cell("print('é', x)\n1/0"),
        cell("x ="),
        (
            "execute_ipython_cell",
            json!({"code": "import time\nprint('on')\ntime.sleep(98765)", "timeout": 1}),
        ),
        cell("x"),
        cell("C-c"),
        cell("x"),
        cell("blocks = []\nwhile True: blocks.append(bytearray(b'1') * (1 << 24))"),
        cell("x"),
        ("execute_ipython_cell", json!({"code": "", "reset": true})),
    ]);
    // Tracebacks are those of whichever Python is there.
    let told: Vec<&str> = text
        .lines()
        .filter(|line| {
            !["Traceback", "  File", "Cell In", "File ", "---", "    "]
                .iter()
                .any(|head| line.starts_with(head))
        })
        .collect();
    for expected in [
        "ended with an exception",
        "ZeroDivisionError",
        "SyntaxError",
        "is still running",
        "was not run, because the cell before it is still running",
        "was interrupted",
        "memory limit (512 MiB) reached",
        "NOTE: the kernel is new",
        "was started anew",
    ] {
        assert!(told.iter().any(|line| line.contains(expected)), "{expected}: {text}");
    }
    assert!(text.contains("> execute_ipython_cell {\"code\":\"x = 3\\nx + 1\"}\n```\n4\n```"), "{text}");
}

#[test]
fn the_editor() {
    if !need::jail("the_editor") {
        return;
    }
    let text = observed(&[
        bash(
            "printf 'a = 1\\r\\nb = 2\\r\\n' > crlf.py; printf 'if a:\\n\\tb = 1\\nelse:\\n\\tb = 2' > tabs.py",
        ),
        edit("str_replace", "crlf.py", &json!({"old_str": "a = 1\nb = 2", "new_str": "a = 3\nb = 4"})),
        bash("od -c crlf.py"),
        edit("str_replace", "tabs.py", &json!({"old_str": "        b = 2", "new_str": "x"})),
        edit("insert", "tabs.py", &json!({"insert_line": 4, "new_str": "c = 3"})),
        bash("od -c tabs.py | tail -n 3"),
        edit("undo_edit", "tabs.py", &json!({})),
        edit("create", "same.py", &json!({"file_text": "def f():\n    return 1\n\ndef g():\n    return 1"})),
        edit("str_replace", "same.py", &json!({"old_str": "    return 1", "new_str": "    return 2"})),
        edit("view", "/workspace/same.py", &json!({"view_range": [4, -1]})),
        edit("view", "input", &json!({})),
        edit("create", "input/new.csv", &json!({"file_text": "x"})),
        edit("view", "/etc/passwd", &json!({})),
        bash("ln -s /etc/passwd link; printf 'a\\377b' > lossy.txt; printf '\\000\\001' > bin; mkfifo pipe"),
        edit("view", "link", &json!({})),
        edit("str_replace", "lossy.txt", &json!({"old_str": "a", "new_str": "c"})),
        edit("view", "bin", &json!({})),
        edit("view", "pipe", &json!({})),
    ]);
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(text) });
}
