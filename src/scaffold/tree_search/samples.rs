//! What the templates of a tree search are tried with: a first draft, children of a good and of a broken program, and
//! all that stands beside them.

use podium_types::execution::{Collected, Ended, Execution, LimitHit, Output};
use podium_types::verdict::Verdict;
use serde::Serialize;

use crate::prompts::cut::RemarkVariables;
use crate::prompts::variables::{RunVariables, submission_path, word};
use crate::samples::{PREVIEW, Sample, budget, sample_task};
use crate::spec::OutputSpec;
use crate::tree_search::operators::{Asks, Operator};
use crate::tree_search::spec::TreeSearchSpec;
use crate::tree_search::variables::{
    DesignVariables, OperatorVariables, ParentVariables, ReviewVariables, StudyVariables,
};

/// Variables for each template of these tables.
pub(crate) fn of(spec: &TreeSearchSpec) -> Vec<Sample> {
    let policy = spec.policy.operators();
    let mut samples = Vec::new();
    for (name, operator) in &spec.operators {
        let only_drafts = policy.iter().any(|used| used.name == name && used.path.ends_with("draft"));
        for ask in operator.asks() {
            operator_samples(spec, &**operator, &ask, only_drafts, &mut samples);
        }
    }
    let remark = RemarkVariables { part: "preview", lines: 3, characters: 120, designs: 0 };
    push(&mut samples, &spec.prompt_budget.remark, &remark);
    if let Some(review) = &spec.evaluation.review {
        let task = sample_task();
        for (run, retry) in [(good(), false), (broken(), true)] {
            let variables = ReviewVariables {
                description: &task.description,
                metric: &task.metric,
                direction: word(task.direction),
                submission_path: submission_path(&task),
                plan: "A plan.",
                code: "print(1)",
                run: &run,
                retry,
            };
            push(&mut samples, &review.prompt, &variables);
        }
    }
    samples
}

fn push<V: Serialize>(samples: &mut Vec<Sample>, template: &str, variables: &V) {
    let variables = serde_json::to_value(variables).unwrap_or_default();
    samples.push(Sample { template: template.to_owned(), variables });
}

fn operator_samples(
    spec: &TreeSearchSpec,
    operator: &dyn Operator,
    ask: &Asks<'_>,
    only_drafts: bool,
    samples: &mut Vec<Sample>,
) {
    let (task, budget) = (sample_task(), budget());
    let (good, broken) = (good(), broken());
    let parent = |id, run, metric: Option<&str>, code| ParentVariables {
        id,
        plan: "A plan.",
        code,
        summary: "A remark.",
        metric: metric.map(str::to_owned),
        run,
    };
    let both = [
        [parent(1, Some(&good), Some("0.25"), "print(1)"), parent(2, Some(&good), Some("0.5"), "print(2)")],
        [parent(1, Some(&broken), None, "print("), parent(2, Some(&broken), None, "print(")],
        [parent(1, None, None, ""), parent(2, None, None, "")],
    ];
    let drafts: [&[ParentVariables<'_>]; 1] = [&[]];
    let children = both.iter().map(<[_; 2]>::as_slice);
    let families: Vec<&[ParentVariables<'_>]> =
        if only_drafts { drafts.into_iter().collect() } else { children.collect() };
    // Only the last of several prompts is told what the earlier ones found out.
    let is_last = operator.asks().last().is_some_and(|last| last.table == ask.table);
    let studied = is_last && operator.asks().len() > 1;
    let study = StudyVariables { plan: "A study.".to_owned(), run: Some(good.clone()) };
    for (parents, retry) in families.into_iter().zip(["none", "cut", "broken_code"]) {
        let variables = OperatorVariables {
            description: &task.description,
            metric: &task.metric,
            direction: word(task.direction),
            submission_path: submission_path(&task),
            preview: PREVIEW,
            packages: &task.packages,
            memory: "An earlier design.\n",
            parents,
            k_fold: spec.evaluation.k_fold,
            siblings: 2,
            complexity_cue: ask.write.complexity_cue,
            study: studied.then_some(&study),
            steps_left: budget.steps_left(),
            time_left_ms: budget.run_ms_left(),
            execution_limit_ms: budget.next_execution_ms(),
            retry,
        };
        push(samples, &ask.write.prompt, &variables);
    }
    if let Some(memory) = &ask.write.memory {
        for (metric, failure) in [(Some("0.25".to_owned()), None), (None, Some("exit code 1"))] {
            let design = DesignVariables {
                id: 1,
                plan: "A plan.",
                summary: "A remark.",
                metric_name: &task.metric,
                metric,
                failure,
            };
            push(samples, &memory.prompt, &design);
        }
    }
}

/// A run that ended well.
fn good() -> RunVariables {
    run(
        Ended::Exit(0),
        None,
        "validation log_loss: 0.25\n",
        &Verdict::Missing { found: "nothing".to_owned() },
    )
}

/// One that a limit stopped.
fn broken() -> RunVariables {
    let verdict = Verdict::Invalid { reason: "a column is missing".to_owned() };
    let told = run(Ended::Signal(9), Some(LimitHit::WallClock { limit_ms: 1_000 }), "fold 1\n", &verdict);
    RunVariables { remarks: vec!["a remark".to_owned()], ..told }
}

fn run(ended: Ended, limit: Option<LimitHit>, printed: &str, verdict: &Verdict) -> RunVariables {
    let execution = Execution {
        ended,
        limit,
        output: Output { head: printed.to_owned(), ..Output::default() },
        exception: None,
        submission: Collected::Missing { found: "nothing".to_owned() },
        collected: std::collections::BTreeMap::new(),
        wall_ms: 1_000,
        cpu_ms: None,
        peak_memory_bytes: None,
        blocked: std::collections::BTreeMap::new(),
        names_asked: std::collections::BTreeMap::new(),
        requests_refused: std::collections::BTreeMap::new(),
        submission_checks: 0,
        interrupted: false,
        warm: false,
    };
    let all = OutputSpec { max_chars: 1_000, head_chars: 500, tail_chars: 500 };
    RunVariables::new(&execution, verdict, &all)
}
