//! Defects of the programs that Podium follows, each as a program that would bring it out, in real runs against a model
//! service. `docs/aide-parity.md` says which test holds which defect; those of single functions are tested beside them.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::service::{Service, toy_script};
use crate::support::{Finished, Place, Run, need};

/// Writes a valid submission and prints a validation line of one's own.
const HONEST: &str = r#"
import csv, os
def hand_in(metric, label="blue"):
    with open("input/test.csv", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    os.makedirs("submission", exist_ok=True)
    with open("submission/submission.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "class"])
        writer.writerows([id, label] for id in ids)
    if metric is not None:
        print(f"validation accuracy: {metric}", flush=True)
"#;

/// A run of drafts alone, one for each program, with these options.
fn drafts(place: &Place, programs: &[&str], options: &[&str]) -> (Service, Finished, Vec<Value>) {
    let script = |(number, program): (usize, &&str)| {
        place.write(&format!("program-{number}.py"), format!("{HONEST}\n{program}\n"))
    };
    let scripts: Vec<PathBuf> = programs.iter().enumerate().map(script).collect();
    let service = Service::start(&json!({"code": scripts}));
    let steps = programs.len().to_string();
    let run = service.toy_run(place, "openai/local").args(["--json", "--steps", &steps]);
    let ended =
        run.args(["--set", &format!("policy.rule.drafts.number={steps}")]).args(options).output().expect(0);
    let nodes = Run::only(&place.runs()).tree(place);
    assert_eq!(nodes.len(), programs.len(), "no program ends the run");
    (service, ended, nodes)
}

/// What became of a node: its metric, or why it counts as buggy.
fn fate(node: &Value) -> String {
    match node["buggy"].as_str() {
        Some(why) => why.to_owned(),
        None => format!("metric {}", node["metric"]),
    }
}

#[test]
fn each_program_gets_the_verdict_it_deserves() {
    if !need::jail("each_program_gets_the_verdict_it_deserves") {
        return;
    }
    // Program, and how its fate begins.
    let cases = [
        // A main guard is run, and its functions can be sent to worker processes.
        (
            "import multiprocessing\ndef double(x):\n    return 2 * x\n\
             if __name__ == '__main__':\n    with multiprocessing.Pool(2) as pool:\n        \
             hand_in(sum(pool.map(double, [1, 2])) / 10)",
            "metric 0.6",
        ),
        // A whole number is a metric.
        ("hand_in(1)", "metric 1"),
        ("hand_in(0)", "metric 0"),
        // Leaving by itself is no failure; with a code it is.
        ("import sys\nhand_in(0.5)\nsys.exit(0)", "metric 0.5"),
        ("import sys\nhand_in(0.5)\nsys.exit()", "metric 0.5"),
        ("import sys\nhand_in(0.5)\nsys.exit(3)", "exit code 3"),
        ("import os\nhand_in(0.5)\nos._exit(0)", "metric 0.5"),
        ("import os\nos._exit(7)", "exit code 7"),
        // What is printed below Python, by children and by loggers is seen.
        ("import os\nhand_in(None)\nos.write(1, b'validation accuracy: 0.25\\n')", "metric 0.25"),
        (
            "import subprocess\nhand_in(None)\nsubprocess.run(['echo', 'validation accuracy: 0.35'], check=True)",
            "metric 0.35",
        ),
        (
            "import logging, sys\nlogging.basicConfig(stream=sys.stderr, format='%(message)s', level='INFO')\n\
             hand_in(None)\nlogging.info('validation accuracy: 0.45')",
            "metric 0.45",
        ),
        // A child that dies ends its program and nothing else.
        (
            "import os, signal\nhand_in(0.5)\nos.kill(os.getpid(), signal.SIGKILL)",
            "exit code 137 (or signal 9)",
        ),
        ("import ctypes\nhand_in(0.5)\nctypes.string_at(0)", "exit code 139 (or signal 11)"),
        (
            "hand_in(0.5)\nrows = [b'x' * (64 << 20) for _ in range(40)]\nprint(len(rows))",
            "memory limit (512 MiB)",
        ),
        // An error of a program's own is told from a limit of the harness.
        (
            "raise TimeoutError('the data was not there in time')",
            "TimeoutError: the data was not there in time",
        ),
        ("import time\nhand_in(0.5)\ntime.sleep(60)", "execution limit (6 s)"),
        // Nothing of another program's is handed in.
        ("print('validation accuracy: 0.99')", "no submission: nothing"),
        ("x = = 1", "SyntaxError"),
    ];
    let programs: Vec<&str> = cases.iter().map(|(program, _)| *program).collect();
    let place = Place::new();
    let (_service, ended, nodes) = drafts(&place, &programs, &["--execution-limit", "6s"]);
    let wrong: Vec<String> = nodes
        .iter()
        .zip(&cases)
        .filter(|(node, (_, expected))| !fate(node).starts_with(expected))
        .map(|(node, (program, expected))| format!("{program}\n=> {}, not {expected}", fate(node)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // Each node keeps its own output, whatever ran after it.
    let run = Run::only(&place.runs());
    for (number, (program, _)) in cases.iter().enumerate() {
        let output = std::fs::read_to_string(run.path.join(format!("nodes/{number}/output.txt"))).unwrap();
        let says = ["validation accuracy: ", "Error"];
        assert!(
            says.iter().any(|word| output.contains(word)) || program.contains("os._exit(7)"),
            "{number}: {output}"
        );
    }
    assert_eq!(ended.json()["outcome"], "graded");
}

#[test]
fn the_best_program_s_file_is_handed_in_and_not_the_last() {
    if !need::jail("the_best_program_s_file_is_handed_in_and_not_the_last") {
        return;
    }
    let programs = [
        "hand_in(0.5, 'red')",
        "hand_in(0.9, 'green')",
        "hand_in(0.7, 'blue')",
        "hand_in(float('nan'), 'red')",
    ];
    let place = Place::new();
    let (_service, ended, _) = drafts(&place, &programs, &[]);
    assert_eq!(ended.json()["outcome"], "graded");
    let run = Run::only(&place.runs());
    let handed_in = std::fs::read_to_string(run.path.join("submission.csv")).unwrap();
    assert!(handed_in.lines().skip(1).all(|line| line.ends_with(",green")), "{handed_in}");
}

#[test]
fn what_a_program_leaves_behind_dies_with_it() {
    if !need::jail("what_a_program_leaves_behind_dies_with_it") {
        return;
    }
    // A number of seconds that nobody else sleeps.
    let detached = "import subprocess\n\
                    subprocess.Popen(['sleep', '86123'], start_new_session=True, stdout=subprocess.DEVNULL)\n\
                    hand_in(0.5)";
    let place = Place::new();
    let (_service, _, nodes) = drafts(&place, &[detached, "hand_in(0.6)"], &[]);
    assert_eq!(nodes.iter().map(fate).collect::<Vec<_>>(), ["metric 0.5", "metric 0.6"]);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let left = processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .filter(|line| line.windows(5).any(|window| window == b"86123"))
        .count();
    assert_eq!(left, 0);
}

#[test]
fn runs_of_one_order_have_folders_of_their_own() {
    if !need::jail("runs_of_one_order_have_folders_of_their_own") {
        return;
    }
    let place = Place::new();
    let service = Service::start(&json!({"code": [toy_script("one_cut.py")]}));
    for _ in 0..3 {
        service.toy_run(&place, "openai/local").args(["--json", "--steps", "1"]).output().expect(0);
    }
    assert_eq!(Run::all(&place.runs()).len(), 3);
}
