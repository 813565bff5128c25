//! Loops with a small real model, which says what it likes: steps without a crash, whatever that is; and an agent that
//! others wrote, as it comes from its registry.
//!
//! `tests/services/with.sh` runs them with llama.cpp's server and a model of 135 million parameters; without it they say
//! that they are skipped. The window of that server is small, so the prompts of a few steps do not fit it any more.

use std::time::Duration;

use serde_json::json;

use crate::command;
use crate::service::{Service, toy_script};
use crate::support::{Place, Podium, Run, need, place};

/// A processor that others use too reads some twenty tokens of a prompt a second.
const MOST: Duration = Duration::from_mins(9);

/// Runs steps of a scaffold with a model that says a few words at a time: as many as `PODIUM_REAL_STEPS` says, or ten.
fn real_steps(test: &str, scaffold: &str, set: &[&str]) {
    let Ok(url) = std::env::var("PODIUM_LLAMA_URL") else {
        let why = std::env::var("PODIUM_LLAMA_MISSING");
        need::skip(test, &why.unwrap_or_else(|_| "run it under tests/services/with.sh".to_owned()));
        return;
    };
    if !need::jail(test) {
        return;
    }
    let count = std::env::var("PODIUM_REAL_STEPS").unwrap_or_else(|_| "10".to_owned());
    let place = Place::new();
    let report = Podium::new(&place)
        .arg("run")
        .toy()
        .args(["--scaffold", scaffold, "--competition", "toy", "--model", "openai/smollm2", "--json"])
        .args(["--steps", &count, "--memory", "512MiB", "--cpus", "1"])
        .args(
            ["models.code.max_output_tokens=16", "models.fast.max_output_tokens=16"]
                .map(|set| ["--set", set])
                .concat(),
        )
        .args(set.iter().flat_map(|set| ["--set", *set]))
        .arg("--runs-dir")
        .arg(place.runs())
        .env("OPENAI_BASE_URL", url)
        .env("OPENAI_API_KEY", "none")
        .start()
        .killed_after(MOST)
        .expect(0)
        .json();
    let stopped = report["stopped_by"].as_str().unwrap();
    assert!(["steps", "finished"].contains(&stopped), "{report}");
    let run = Run::only(&place.runs());
    let shown = run.show(&place);
    let steps = shown["steps"].as_array().unwrap();
    eprintln!("{scaffold}: {} steps, {stopped}, {}, {}", steps.len(), report["detail"], report["usage"]);
    assert!(stopped == "finished" || steps.len().to_string() == count, "{report}");
    assert!(steps.iter().all(|step| !step["log"].as_array().unwrap().is_empty()), "{steps:#?}");
    let replay = Podium::new(&place).arg("replay").arg(&run.path).arg("--json").output().expect(0).json();
    assert_eq!(replay["agrees"], true);
}

#[test]
fn steps_of_mlab() {
    real_steps("steps_of_mlab", "mlab", &["turn.tries=1", "models.edit.max_output_tokens=16"]);
}

#[test]
fn steps_of_codeact() {
    // One that only talks is stuck after a few answers; here it may go on.
    let never = ["stuck.messages=0", "stuck.same=0", "stuck.errors=0", "stuck.alternating=0"];
    real_steps("steps_of_codeact", "codeact-mlebench", &never);
}

/// An agent that others wrote, unmodified, in the words of the guide: it looks at the data, writes a solution, has it
/// checked, and ends. It has never heard of Podium, and gets no key.
#[test]
fn mini_swe_agent_is_graded() {
    let test = "mini_swe_agent_is_graded";
    let Ok(python) = std::env::var("PODIUM_MINI_PYTHON") else {
        let why = std::env::var("PODIUM_MINI_MISSING");
        need::skip(test, &why.unwrap_or_else(|_| "run it under tests/services/with.sh".to_owned()));
        return;
    };
    if !need::jail(test) {
        return;
    }
    let place = Place::new();
    let script = std::fs::read_to_string(toy_script("nearest.py")).unwrap();
    let service = Service::start(&json!({"commands": [
        "ls input; env | grep -c sk-test",
        format!("cat > solution.py <<'END'\n{script}\nEND\npython3 solution.py"),
        "validate_submission.sh submission/submission.csv",
        "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT",
    ]}));
    let line = command::words(&command::documented("sh", 1)).into_iter();
    // After the installation, which with.sh has done.
    let line = line.skip_while(|word| word != "run").map(|word| match word.as_str() {
        "segment" => "toy".to_owned(),
        "mini/bin/python" => python.clone(),
        _ => word,
    });
    let report = service
        .podium(&place)
        .args(line)
        .arg("--assets")
        .arg(place::toy_assets())
        .args(["--json", "--memory", "1GiB", "--cpus", "1", "--time-limit", "9m", "--runs-dir"])
        .arg(place.runs())
        .output()
        .expect(0)
        .json();
    let output = std::fs::read_to_string(Run::only(&place.runs()).path.join("nodes/0/output.txt"));
    let stopped = (&report["stopped_by"], &report["outcome"], &report["usage"]["calls"]);
    assert_eq!(stopped, (&json!("finished"), &json!("graded"), &json!(4)), "{report}\n{output:?}");
    assert_eq!(report["saw"]["verdicts_inside"], 1);
    // What it was told of its first command: no key anywhere in its environment.
    let requests = service.requests();
    let told = requests[1].body()["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(told.contains("train.csv") && told.contains("\\\\n0\\\\n"), "{told}");
}
