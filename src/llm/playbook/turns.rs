//! The stand-in in a research loop: prompts that ask for six fields and one action get just that.
//!
//! What it does next follows from the last step that the prompt shows: look at the files, have a script written, run it,
//! have it mended or improved, check the submission, end. The scripts themselves come from where a prompt asks for one:
//! the model that rewrites files is the stand-in, too.

use podium_types::rng::Rng;
use serde_json::{Value, json};

/// The script that it works on.
const SCRIPT: &str = "train.py";
/// How often it goes on after a script has run well.
const GOES_ON: f64 = 0.55;
/// How often it says something that is not in form.
const MUMBLES: f64 = 0.05;

/// Whether a prompt asks for an answer in this form.
pub(super) fn asked(text: &str) -> bool {
    text.contains("\nResearch Plan and Status: [") && text.contains("\nAction Input: [")
}

/// Whether a prompt asks for a reading or a summary of what it shows, in a sentence.
pub(super) fn summary(text: &str) -> Option<String> {
    let asks = [
        "Sum the step up in this form",
        "Make one summary of them",
        "Sum it up in the form",
        "Put them together in the form",
        "Say what they hold of the following",
        "Put it together into one short",
        "Say what of it helps with this plan",
        "answer it in a short paragraph",
    ];
    asks.iter().any(|ask| text.contains(ask)).then(|| {
        let last = text.lines().rev().map(str::trim).find(|line| line.len() > 3 && !line.starts_with("```"));
        format!("[Observation]: {}", last.unwrap_or("nothing"))
    })
}

/// The answer to a prompt of a research loop.
pub(super) fn answer(text: &str, rng: &mut Rng) -> String {
    if rng.uniform() < MUMBLES {
        return "I think that we should look at the data first.".to_owned();
    }
    let last = last_step(text);
    let (thought, action, input) = next(last, rng);
    let plan = "1. Look at the data. 2. Write a baseline. 3. Improve it. 4. Validate and hand in.";
    format!(
        "Reflection: {}\nResearch Plan and Status: {plan}\nFact Check: All of it is confirmed by what was printed.\n\
         Thought: {thought}\nAction: {action}\nAction Input: {input:#}\n",
        if last.is_some() { "The last observation is as it is." } else { "Nothing was seen yet." },
    )
}

/// The last step that a prompt shows: its action, and what came of it.
#[derive(Clone, Copy)]
struct Step<'a> {
    action: &'a str,
    observation: &'a str,
}

fn last_step(text: &str) -> Option<Step<'_>> {
    let shown = text.rsplit_once("\nThe last step").map(|(_, shown)| shown)?;
    let (_, last) = shown.rsplit_once("\nAction: ")?;
    let (action, rest) = last.split_once('\n')?;
    let observation = rest.split_once("\nObservation:").map_or("", |(_, observation)| observation);
    Some(Step { action: action.trim(), observation })
}

fn next(last: Option<Step<'_>>, rng: &mut Rng) -> (&'static str, &'static str, Value) {
    let write = |instruction: String| {
        (
            "A script is needed.",
            "Edit Script (AI)",
            json!({
                "script_name": SCRIPT, "edit_instruction": instruction, "save_name": SCRIPT,
            }),
        )
    };
    let look = || ("What is there?", "List Files", json!({"dir_path": "./input"}));
    let run = || ("Now it can run.", "Execute Script", json!({"script_name": SCRIPT}));
    let check = || {
        (
            "Is the file in form?",
            "Validate Submission",
            json!({"submission_path": "submission/submission.csv"}),
        )
    };
    let Some(Step { action, observation }) = last else { return look() };
    let failed = super::prompt::failure(observation);
    match action {
        "Edit Script (AI)" if observation.contains("The edit was made") => run(),
        "Execute Script" if failed.is_some() || observation.contains("failed") => {
            let failure = failed.unwrap_or_else(|| "it failed".to_owned());
            write(format!("Mend the script. When it ran last:\n{failure}\nexit code 1"))
        }
        "Execute Script" if observation.contains("interruption of the harness") => run(),
        "Execute Script" if rng.uniform() < GOES_ON => {
            write("The script ran well. Improve its score by a better model.".to_owned())
        }
        "Execute Script" => check(),
        "Validate Submission" if observation.contains("submission is valid") => (
            "Nothing is left to try.",
            "Final Answer",
            json!({"final_answer": "The script was written, run and validated."}),
        ),
        "Validate Submission" => write("Write a script that writes a valid submission.".to_owned()),
        _ => write(
            "Write a whole script that trains a model, validates it and writes the submission.".to_owned(),
        ),
    }
}
