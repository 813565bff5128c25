//! The variables of this strategy's templates. A template may use the fields of its struct and nothing else.

use serde::Serialize;

/// Variables of the task, which stands behind the benchmark's rules in a file of the workspace.
#[derive(Clone, Debug, Serialize)]
pub struct TaskVariables<'a> {
    /// The competition's description.
    pub description: &'a str,
    /// An overview of the public data.
    pub preview: &'a str,
    /// Packages of the Python environment, the most useful first.
    pub packages: &'a [String],
    /// Where the submission must be, without a leading `./`.
    pub submission_path: &'a str,
    /// Name of the metric.
    pub metric: &'a str,
    /// `lower` or `higher`: which is better.
    pub direction: &'static str,
    /// The models that may be asked, by their names.
    pub models: &'a [String],
}

/// Names in [`TaskVariables`].
pub const TASK: &[&str] =
    &["description", "preview", "packages", "submission_path", "metric", "direction", "models"];
