//! Ctrl-C while a program of a loop runs: the run stops at once and gently, what was cut is told on resume and not done
//! again, and the run goes on to its end.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use crate::support::held::{Held, HeldService};
use crate::support::reference::in_parallel;
use crate::support::{Place, Podium, Run, need, wait};

/// How a loop is told to run something, and to end.
struct Words {
    scaffold: &'static str,
    set: &'static str,
    /// What it reads of an act that was cut.
    cut: &'static str,
    run: fn(&str) -> Vec<String>,
    end: fn() -> String,
}

/// A program that says that it runs, and goes on for longer than any test.
const PROGRAM: &str = "import time\nopen('began', 'a').write('x')\ntime.sleep(100000)\n";

fn turn(action: &str, input: &serde_json::Value) -> String {
    format!(
        "Reflection: r\nResearch Plan and Status: p\nFact Check: f\nThought: t\nAction: {action}\nAction Input: {input}"
    )
}

fn function(name: &str, parameter: &str, value: &str) -> String {
    format!("<function={name}>\n<parameter={parameter}>{value}</parameter>\n</function>")
}

const LOOPS: [Words; 2] = [
    Words {
        scaffold: "codeact-text",
        set: "session.soft_timeout=1h",
        cut: "the harness was stopped",
        run: |program| {
            vec![function(
                "execute_bash",
                "command",
                &format!("cat > a.py <<'EOF'\n{program}EOF\npython a.py"),
            )]
        },
        end: || function("finish", "message", "Enough."),
    },
    Words {
        scaffold: "mlab",
        set: "turn.steps_in_context=20",
        cut: "interruption of the harness",
        run: |program| {
            vec![
                turn("Write File", &json!({"file_name": "a.py", "content": program})),
                turn("Execute Script", &json!({"script_name": "a.py"})),
            ]
        },
        end: || turn("Final Answer", &json!({"final_answer": "Enough."})),
    },
];

fn last_read(held: &Held) -> String {
    held.body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

/// Times that the program began.
fn began(run: &Path) -> usize {
    std::fs::read_to_string(run.join("home/workspace/began")).unwrap_or_default().len()
}

#[test]
fn an_interrupt_while_a_program_runs_is_gentle_and_resumable() {
    let test = "an_interrupt_while_a_program_runs_is_gentle_and_resumable";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    in_parallel(&LOOPS, |words| {
        let service = HeldService::start();
        let runs = place.path().join("cases").join(words.scaffold);
        let running = Podium::new(&place)
            .arg("run")
            .toy()
            .args(["--scaffold", words.scaffold, "--competition", "toy", "--model", "openai/held", "--json"])
            .args(["--memory", "512MiB", "--cpus", "1", "--steps", "20", "--set", words.set, "--runs-dir"])
            .arg(&runs)
            .held(&service)
            .start();
        for answer in (words.run)(PROGRAM) {
            service.request().answer(&answer);
        }
        let run = wait::until("a run", || Run::all(&runs).pop());
        wait::until("the program to run", || (began(&run.path) == 1).then_some(()));
        running.signal(Signal::INT);
        let report = running.wait().expect(5).json();
        assert_eq!(report["stopped_by"], "interrupted", "{report}");
        assert_eq!(run.open_intents().len(), 1, "the act has no result yet");

        let resumed = Podium::resume(&place, &run.path).held(&service).start();
        let held = service.request();
        assert!(last_read(&held).contains(words.cut), "{}", last_read(&held));
        held.answer(&(words.end)());
        // Without a submission the end is sent back some times.
        let mut ended = None;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    service.request().answer(&(words.end)());
                }
            });
            ended = Some(resumed.wait().expect(0).json());
        });
        let report = ended.unwrap();
        assert_eq!(
            (&report["outcome"], &report["stopped_by"]),
            (&"no_submission".into(), &"finished".into())
        );
        assert_eq!(began(&run.path), 1, "it was not run again");
        let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
        assert_eq!(replay["agrees"], true, "{}", words.scaffold);
    });
}
