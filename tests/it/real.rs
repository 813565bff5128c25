//! Loops with a small real model, which says what it likes: steps without a crash, whatever that is.
//!
//! `tests/services/with.sh` runs them with llama.cpp's server and a model of 135 million parameters; without it they say
//! that they are skipped. The window of that server is small, so the prompts of a few steps do not fit it any more.

use std::time::Duration;

use crate::support::{Place, Podium, Run, need};

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
