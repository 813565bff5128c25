//! A made-up task in the middle of a run: what prompts are rendered against before a scaffold is used, so that a template
//! that asks for what is not there is found before a model is paid.

use podium_types::range::Range;
use serde_json::Value as Json;

use crate::context::{Budget, Direction, Grants, Task};

/// Variables to try a template with.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The template, a path below `prompts/`.
    pub template: String,
    /// What is set.
    pub variables: Json,
}

/// A task. It is also what a strategy is tried with where no competition is needed.
pub fn sample_task() -> Task {
    Task {
        competition: "sample".to_owned(),
        description: "# Task\n\nPredict the class of each row.\n\n# Evaluation\n\nlog loss\n".to_owned(),
        metric: "log_loss".to_owned(),
        direction: Direction::Lower,
        metric_range: Range::NOT_NEGATIVE,
        submission_path: "./submission/submission.csv".to_owned(),
        grants: Grants {
            cpus: 2,
            memory_bytes: Some(4 << 30),
            gpus: vec!["a GPU".to_owned()],
            network: false,
            shm_bytes: Some(1 << 30),
            disk_bytes: Some(16 << 30),
            mounts: vec!["/mounts/models".to_owned()],
        },
        packages: vec!["numpy 2.0".to_owned(), "pandas 2.0".to_owned()],
        obfuscated: false,
        submission_check: true,
        validation: None,
    }
}

/// What is left in the middle of it.
pub(crate) const fn budget() -> Budget {
    Budget {
        steps: 3,
        step_limit: Some(8),
        run_ms: 60_000,
        run_limit_ms: Some(3_600_000),
        waiting_ms: 1_000,
        execution_limit_ms: 600_000,
        tokens: 10_000,
        token_limit: None,
        cost: None,
        cost_limit: None,
    }
}

/// An overview of the data.
pub(crate) const PREVIEW: &str = "train.csv: 100 rows, columns id, x, class\n";
