//! What the harness says to the agent: values only. The sentences are the template's.

use serde::Serialize;

/// Variables of the template of words. `say` tells the case; what else is set is the case's.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Words<'a> {
    /// The case.
    pub(crate) say: &'a str,
    /// An action's name.
    pub(crate) action: &'a str,
    /// A path.
    pub(crate) path: &'a str,
    /// Another path.
    pub(crate) other: &'a str,
    /// A text that Podium did not write.
    pub(crate) text: &'a str,
    /// A reason, in a fragment.
    pub(crate) reason: &'a str,
    /// A number: lines, bytes.
    pub(crate) number: u64,
    /// Another one: a limit.
    pub(crate) limit: u64,
    /// Whether there is more than is shown, or whatever the case calls true.
    pub(crate) flag: bool,
    /// Names.
    pub(crate) names: &'a [String],
    /// How an execution ended.
    pub(crate) ended: &'a str,
    /// Milliseconds.
    pub(crate) ms: u64,
    /// Run time left; none: there is no limit.
    pub(crate) time_left_ms: Option<u64>,
    /// Steps left; none: there is no limit.
    pub(crate) steps_left: Option<u32>,
}

/// Cases in which an action did not do what was asked.
const FAILURES: &[&str] = &[
    "bad_input",
    "file_fault",
    "interrupted",
    "invalid",
    "lines_reversed",
    "llm_failed",
    "missing",
    "no_action",
    "no_log",
    "no_numbers",
    "no_submission_yet",
    "not_utf8",
    "submission_invalid",
    "too_many_lines",
    "would_empty",
];

impl Words<'_> {
    /// Whether an action did not do what was asked.
    pub(crate) fn tell_of_a_failure(&self) -> bool {
        FAILURES.contains(&self.say) || (self.say == "executed" && !self.flag)
    }
}

/// Names in [`Words`].
pub(crate) const WORDS: &[&str] = &[
    "say",
    "action",
    "path",
    "other",
    "text",
    "reason",
    "number",
    "limit",
    "flag",
    "names",
    "ended",
    "ms",
    "time_left_ms",
    "steps_left",
];

/// Variables of what the fast model is asked.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Question<'a> {
    /// What is asked: `understand`, `understand_all`, `summarise`, `summarise_all`, `step`, `condense`, `retrieve`,
    /// `reflect`.
    pub(crate) ask: &'a str,
    /// The competition's description.
    pub(crate) description: &'a str,
    /// The text to read.
    pub(crate) text: &'a str,
    /// What the reader wants of it.
    pub(crate) want: &'a str,
    /// Where it is from: a path, an action.
    pub(crate) source: &'a str,
    /// First line or character of the piece.
    pub(crate) from: u64,
    /// Last line or character of the piece.
    pub(crate) to: u64,
    /// The plan.
    pub(crate) plan: &'a str,
}

/// Names in [`Question`].
pub(crate) const QUESTION: &[&str] = &["ask", "description", "text", "want", "source", "from", "to", "plan"];

/// Variables of what the model is asked that rewrites files.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Edit<'a> {
    /// The competition's description.
    pub(crate) description: &'a str,
    /// The file.
    pub(crate) path: &'a str,
    /// Its content, or the lines to rewrite.
    pub(crate) code: &'a str,
    /// What is to be done.
    pub(crate) instruction: &'a str,
    /// First and last line, when it is a part of the file.
    pub(crate) lines: Option<(u64, u64)>,
}

/// Names in [`Edit`].
pub(crate) const EDIT: &[&str] = &["description", "path", "code", "instruction", "lines"];

/// Variables of a step's prompt.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Turn<'a> {
    /// The competition's description.
    pub(crate) description: &'a str,
    /// Overview of the data.
    pub(crate) preview: &'a str,
    /// Installed packages.
    pub(crate) packages: &'a [String],
    /// Name of the metric.
    pub(crate) metric: &'a str,
    /// `lower` or `higher`.
    pub(crate) direction: &'static str,
    /// The one path of the submission, without a leading `./`.
    pub(crate) submission_path: &'a str,
    /// Actions with their arguments and hints.
    pub(crate) actions: &'a [Told],
    /// Steps that are remembered and not shown.
    pub(crate) memory: &'a str,
    /// The plan as of the last step.
    pub(crate) plan: &'a str,
    /// Steps that are shown.
    pub(crate) steps: &'a [Shown],
    /// Steps before these.
    pub(crate) earlier: usize,
    /// Run time of the whole run.
    pub(crate) time_limit_ms: Option<u64>,
    /// Steps of the whole run.
    pub(crate) step_limit: Option<u32>,
    /// What an execution may take.
    pub(crate) execution_limit_ms: u64,
    /// What was wrong with the answers so far to this very prompt.
    pub(crate) faults: &'a [String],
}

/// Names in [`Turn`], and `action` and `name`, which its loops set for the partials that tell of actions and arguments.
pub(crate) const TURN: &[&str] = &[
    "description",
    "preview",
    "packages",
    "metric",
    "direction",
    "submission_path",
    "actions",
    "memory",
    "plan",
    "steps",
    "earlier",
    "time_limit_ms",
    "step_limit",
    "execution_limit_ms",
    "faults",
    "action",
    "name",
];

/// An action as the prompt tells it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Told {
    /// Its name.
    pub(crate) name: String,
    /// Its description where the action itself has one; else the template's.
    pub(crate) description: String,
    /// Its arguments: name and hint. Hints of shipped actions are the template's.
    pub(crate) arguments: Vec<(String, String)>,
    /// What it gives, where the action itself says it.
    pub(crate) observation: String,
}

/// A step as the prompt shows it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Shown {
    /// Its number.
    pub(crate) number: u32,
    /// The fields: name and text.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The observation; none: it is not shown any more.
    pub(crate) observation: Option<String>,
}
