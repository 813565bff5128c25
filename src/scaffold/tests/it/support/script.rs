//! A scripted world: what models answer and what comes of programs, without either.

use std::collections::BTreeMap;

use podium_scaffold::{Effect, EffectResult};
use podium_types::chat::{ChatAnswer, ChatRequest, FinishReason};
use podium_types::evaluation::Evaluation;
use podium_types::execution::{Collected, Ended, Exception, Execution, Output, Program};
use podium_types::sha256::Sha256;
use podium_types::usage::Usage;
use podium_types::verdict::Verdict;
use serde_json::{Value, json};

use super::context::World;

pub(crate) fn chat(content: &str, document: Option<Value>, finish: FinishReason) -> EffectResult {
    EffectResult::Chat(Ok(ChatAnswer {
        logprobs: Vec::new(),
        content: content.to_owned(),
        reasoning: None,
        tool_calls: vec![],
        document,
        finish,
        usage: Usage::NOTHING,
        model: "script".into(),
        provider_state: None,
    }))
}

pub(crate) fn program(metric: &str) -> EffectResult {
    chat(&format!("A plan.\n\n```python\nprint('{metric}')\n```\n"), None, FinishReason::Stop)
}

/// Runs a "program": what it prints decides what happens.
pub(crate) fn execute(code: &str) -> Execution {
    let printed = code.trim().trim_start_matches("print('").trim_end_matches("')").to_owned();
    let crash = printed == "crash";
    let submission = match printed.as_str() {
        "no file" => Collected::Missing { found: "nothing".into() },
        _ => Collected::File { sha256: Sha256::of(format!("file-{printed}").as_bytes()), bytes: 9 },
    };
    Execution {
        ended: Ended::Exit(i32::from(crash)),
        limit: None,
        output: Output { head: format!("validation log loss: {printed}\n"), ..Output::default() },
        exception: crash.then(|| Exception {
            kind: "KeyError".into(),
            message: "'centroid'".into(),
            line: Some(31),
        }),
        submission,
        collected: BTreeMap::new(),
        wall_ms: 1_500,
        cpu_ms: None,
        peak_memory_bytes: None,
        blocked: BTreeMap::new(),
        names_asked: BTreeMap::new(),
        requests_refused: BTreeMap::new(),
        submission_checks: 0,
        interrupted: false,
        warm: false,
    }
}

/// The reviewer of the script: believes what was printed.
fn review(request: &ChatRequest) -> EffectResult {
    let prompt = &request.messages.last().unwrap().content;
    let printed = prompt.split("\nvalidation log loss: ").nth(1).unwrap().lines().next().unwrap();
    let metric = printed.parse::<f64>().ok();
    let document =
        json!({"is_bug": metric.is_none(), "summary": format!("It printed {printed}."), "metric": metric});
    chat("", Some(document), FinishReason::Stop)
}

/// A world in which `script` overrides single effects by key.
pub(crate) fn world(script: impl Fn(&str) -> Option<EffectResult> + 'static) -> World {
    Box::new(move |key, effect| {
        if let Some(result) = script(key) {
            return result;
        }
        match effect {
            Effect::BeginStep => EffectResult::Granted,
            Effect::Chat { request, .. } if request.output.is_some() => review(request),
            Effect::Chat { .. } => program("0.9"),
            Effect::Execute(request) => match &request.program {
                Program::Python { code, file } => {
                    assert!(["solution.py", "study.py"].contains(&file.as_str()), "{file}");
                    EffectResult::Execution(Box::new(execute(code)))
                }
                Program::Command { .. } => panic!("AIDE runs scripts"),
            },
            Effect::Validate { sha256 } if *sha256 == Sha256::of(b"file-bad file") => {
                EffectResult::Verdict(Verdict::Invalid { reason: "column `EAP` is missing".into() })
            }
            Effect::Evaluate { .. } => {
                EffectResult::Evaluation(Evaluation::Refused { reason: "nothing is held out".into() })
            }
            Effect::Validate { sha256 } => {
                EffectResult::Verdict(Verdict::Valid { sha256: sha256.clone(), copies_sample: false })
            }
            Effect::Preview(_) => EffectResult::Preview("input/\n  train.csv (90 rows)".into()),
            Effect::Files(_)
            | Effect::Session(_)
            | Effect::Collect { .. }
            | Effect::Hear
            | Effect::Reply { .. } => {
                panic!("a tree search has no home workspace, and no agent")
            }
            Effect::Node(_) | Effect::Step(_) | Effect::Note { .. } | Effect::SelectFinal { .. } => {
                EffectResult::Recorded
            }
        }
    })
}
