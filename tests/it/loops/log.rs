//! `podium show` of a loop: the log of its steps on the terminal, as JSON and in the page, with everything that an agent
//! wrote made harmless.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use serde_json::{Value, json};

use crate::page::documents;
use crate::support::held::HeldService;
use crate::support::place::{python, toy_assets};
use crate::support::{Place, Podium, Run, need};

/// What a hostile model says: a command to the terminal, an end of the page's script, a turned direction.
const HOSTILE: &str = "\u{1b}[31mred</script><script>alert(1)</script>\u{202e}";

/// The toy competition, and both loops with a tool and an action that a file declares.
fn assets(place: &Place) -> PathBuf {
    let assets = place.path().join("assets");
    if !assets.exists() {
        let copied = Command::new("cp").arg("-r").arg(toy_assets()).arg(&assets).status().unwrap();
        assert!(copied.success());
        let argv = "argv = [\"wc\", \"-l\", \"{path}\"]";
        let codeact =
            include_str!("../../../scaffolds/codeact-text.toml").replace("codeact-text", "own-codeact");
        let tool = format!(
            "\n[[tool]]\nname = \"count_lines\"\nprompt = \"own/count.md.tera\"\n[tool.command]\n{argv}\n\
             [tool.command.parameters.path]\nkind = \"text\"\nrequired = true\n"
        );
        let mlab = include_str!("../../../scaffolds/mlab.toml").replace("id = \"mlab\"", "id = \"own-mlab\"");
        let action = format!(
            "\n[[command]]\nname = \"Count Lines\"\ndescription = \"Counts lines.\"\n{argv}\n\
             observation = \"A number.\"\n[command.arguments]\npath = \"the file\"\n"
        );
        place.write("assets/scaffolds/own-codeact.toml", codeact + &tool);
        place.write("assets/scaffolds/own-mlab.toml", mlab + &action);
        place
            .write("assets/prompts/own/count.md.tera", "Counts lines.\n\nParameters:\n- `path`: The file.\n");
    }
    assets
}

/// Runs a scaffold with these answers, one after another; whatever is to be summed up is summed up in hostile words.
fn play(place: &Place, scaffold: &str, set: &[&str], answers: &[String]) -> (Run, Value) {
    let service = HeldService::start();
    let runs = place.path().join("cases").join(scaffold);
    let running = Podium::new(place)
        .arg("run")
        .arg("--assets")
        .arg(assets(place))
        .arg("--python")
        .arg(python())
        .args(["--scaffold", scaffold, "--competition", "toy", "--model", "openai/held", "--json"])
        .args(["--memory", "512MiB", "--cpus", "1", "--steps", "20", "--runs-dir"])
        .arg(&runs)
        .args(set.iter().flat_map(|set| ["--set", *set]))
        .held(&service)
        .start();
    let answers = answers.to_vec();
    let model = thread::spawn(move || {
        let mut answers = answers.iter();
        let mut next = answers.next();
        while let Some(answer) = next {
            let held = service.request();
            let asked = held.body["messages"].to_string();
            if ["Sum the step up", "will be left out"].iter().any(|ask| asked.contains(ask)) {
                held.answer(&format!("It was summed up. {HOSTILE}"));
            } else {
                held.answer(answer);
                next = answers.next();
            }
        }
    });
    let ended = running.wait().expect(0).json();
    model.join().unwrap();
    assert_eq!((&ended["outcome"], &ended["stopped_by"]), (&"graded".into(), &"finished".into()), "{ended}");
    (Run::only(&runs), ended)
}

fn codeact() -> Vec<String> {
    let bash = |command: &str| {
        format!("On I go.\n\n<function=execute_bash>\n<parameter=command>{command}</parameter>\n</function>")
    };
    vec![
        format!("I think about it. {HOSTILE}"),
        bash("printf '\\033[1mloud</script>\\033[0m\\n'; false"),
        "<function=fly>\n<parameter=to>the moon</parameter>\n</function>".to_owned(),
        bash("cp input/sample_submission.csv submission/submission.csv"),
        bash(
            "seq 1 40; python3 -c 'import socket; socket.create_connection((\"198.51.100.1\", 9))' 2>&1 | tail -n 1",
        ),
        "<function=count_lines>\n<parameter=path>a; $(rm -r .)</parameter>\n</function>".to_owned(),
        "<function=finish>\n<parameter=message>All done.</parameter>\n</function>".to_owned(),
    ]
}

fn mlab() -> Vec<String> {
    let turn = |plan: &str, action: &str, input: &Value| {
        format!(
            "Reflection: Well.\nResearch Plan and Status: {plan}\nFact Check: Confirmed.\nThought: I do it.\n\
             Action: {action}\nAction Input: {input}"
        )
    };
    let script = "import shutil\nprint('\\033[1mloud</script>\\033[0m')\n\
                  shutil.copy('input/sample_submission.csv', 'submission/submission.csv')\n";
    vec![
        format!("In no form at all. {HOSTILE}"),
        turn(&format!("1. look {HOSTILE}"), "List Files", &json!({"dir_path": "."})),
        turn("1. look\n2. write", "Write File", &json!({"file_name": "make.py", "content": script})),
        turn("1. look\n2. write", "Execute Script", &json!({"script_name": "make.py"})),
        turn("1. look\n2. write", "Count Lines", &json!({"path": "make.py"})),
        turn("1. look\n2. write", "Read File", &json!({"file_name": "../secret"})),
        turn("1. look\n2. write", "Final Answer", &json!({"final_answer": "All done."})),
    ]
}

/// Kinds of lines, a word for each step.
fn kinds(steps: &[Value]) -> Vec<String> {
    let kind = |line: &Value| {
        let failed = if line["failed"] == true { "!" } else { "" };
        format!("{}{failed}", line["kind"].as_str().unwrap())
    };
    steps
        .iter()
        .map(|step| step["log"].as_array().unwrap().iter().map(kind).collect::<Vec<_>>().join(" "))
        .collect()
}

/// A scaffold, what is changed in it, what its model answers; the kinds of lines of each step, and what must be read.
type Case<'a> = (&'a str, &'a [&'a str], Vec<String>, &'a [&'a str], &'a [&'a str]);

#[test]
fn a_loop_is_shown_as_a_log_on_the_terminal_as_json_and_in_the_page() {
    let test = "a_loop_is_shown_as_a_log_on_the_terminal_as_json_and_in_the_page";
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let condense = ["condensation.max_turns=4", "condensation.keep_first=1"];
    let of_codeact = [
        "said told",
        "said act seen! told",
        "act seen! told",
        "said act seen told checked",
        "said act seen told",
        "condensed act seen! told",
        "act harness harness",
    ];
    let of_mlab = [
        "said refused! said said said plan act seen",
        "said said said plan act seen",
        "condensed said said said act seen checked",
        "condensed said said said act seen checked",
        "condensed said said said act seen!",
        "condensed said said said act checked harness",
    ];
    let cases: [Case<'_>; 2] = [
        (
            "own-codeact",
            &condense,
            codeact(),
            &of_codeact,
            &["On I go.", "--full shows them", "wc: 'a; $(rm -r .)'"],
        ),
        (
            "own-mlab",
            &["turn.steps_in_context=1"],
            mlab(),
            &of_mlab,
            &["+2. write", "3 make.py", "../secret"],
        ),
    ];
    for (scaffold, set, answers, expected, said) in cases {
        let (run, report) = play(&place, scaffold, set, &answers);
        let shown = run.show(&place);
        let steps = shown["steps"].as_array().unwrap();
        assert_eq!(kinds(steps), expected, "{scaffold}: {steps:#?}");

        if scaffold == "own-codeact" {
            let sessions = &report["sessions"];
            assert_eq!((&sessions["shells"], &sessions["calls"]), (&json!(1), &json!(3)), "{report}");
            assert!(report["blocked"]["network"].as_u64() > Some(0), "{report}");
            assert_eq!(report["network_attempts"][0]["number"], 4, "{report}");
            assert!(report["time"]["session_s"].as_f64() > Some(0.0), "{report}");
        } else {
            assert_eq!(report["sessions"], Value::Null, "{report}");
        }
        let show = || Podium::new(&place).arg("show").arg(&run.path);
        let text = show().output().expect(0).stdout;
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{scaffold}: {text}");
        for told in
            said.iter().chain(&["step 0", "loud</script>", "\\u{1b}", "\\u{202e}", "It was summed up."])
        {
            assert!(text.contains(told), "{scaffold}, {told}: {text}");
        }
        let full = show().arg("--full").output().expect(0).stdout;
        assert!(!full.contains("--full shows them") && full.len() >= text.len(), "{scaffold}: {full}");

        show().arg("--html").output().expect(0);
        let documents = documents(&std::fs::read_to_string(run.path.join("page.html")).unwrap());
        assert_eq!(documents["story"]["unit"], "step");
        for step in steps {
            assert_eq!(documents[&format!("item-{}", step["id"])]["log"], step["log"], "{scaffold}");
        }
        assert_eq!(
            documents["story"]["selected"],
            steps.iter().find(|step| step["valid"] == true).unwrap()["id"]
        );
    }
}
