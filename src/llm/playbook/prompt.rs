//! What a prompt shows: which scripts of the library, and what came of the last one.

use podium_types::chat::ChatRequest;

use super::library::{Library, Script};

/// All messages as one text, white space at line ends removed.
pub(super) fn rendered(request: &ChatRequest) -> String {
    let lines = request.messages.iter().flat_map(|message| message.content.lines());
    lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// What a prompt shows of the library.
pub(super) struct Seen<'a> {
    /// The script that the prompt is about: the one that stands last in it.
    pub(super) current: Option<&'a Script>,
    /// Scripts whose code occurs anywhere, in the order of the library.
    pub(super) programs: Vec<&'a Script>,
    /// Scripts whose code or plan occurs anywhere.
    pub(super) known: Vec<&'a Script>,
    /// The text behind the current script tells of a failure.
    pub(super) failed: bool,
}

impl<'a> Seen<'a> {
    pub(super) fn read(library: &'a Library, text: &str) -> Self {
        let last = last_script(library, text);
        let shown = |script: &&Script| text.contains(normal(&script.code).as_str());
        let programs = library.scripts.iter().filter(shown).collect();
        let known =
            library.scripts.iter().filter(|script| shown(script) || text.contains(script.plan.trim()));
        let failed = last.is_some_and(|(_, end)| failure(text.get(end..).unwrap_or_default()).is_some());
        Self { current: last.map(|(script, _)| script), programs, known: known.collect(), failed }
    }
}

/// The part of `text` behind the last library script; all of it when there is none.
pub(super) fn behind_script<'t>(library: &Library, text: &'t str) -> &'t str {
    let end = last_script(library, text).map_or(0, |(_, end)| end);
    text.get(end..).unwrap_or_default()
}

fn last_script<'a>(library: &'a Library, text: &str) -> Option<(&'a Script, usize)> {
    let ends = library.scripts.iter().filter_map(|script| {
        let code = normal(&script.code);
        (!code.is_empty()).then_some(())?;
        Some((script, text.rfind(&code)? + code.len()))
    });
    ends.max_by_key(|(_, end)| *end)
}

fn normal(code: &str) -> String {
    code.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// What tells of a failed execution: a limit that fired, the exception of a traceback, or how the process ended.
pub(super) fn failure(output: &str) -> Option<String> {
    let limit = output.lines().rfind(|line| is_limit(line));
    let traceback = output.rfind("Traceback (most recent call last)").map(|at| {
        let report = output.get(at..).unwrap_or_default();
        let named = report.lines().skip(1).find(|line| is_exception(line));
        named.unwrap_or("an exception without a name")
    });
    let ending = output.lines().find(|line| ended_badly(line));
    limit.or(traceback).or(ending).map(|line| line.trim().trim_end_matches('.').to_owned())
}

/// A limit that says it fired; rules that only tell of limits do not count.
fn is_limit(line: &str) -> bool {
    let named = ["limit (", "limit of"].iter().any(|word| line.contains(word));
    let fired = [") reached", "was reached", "exceeded"].iter().any(|word| line.contains(word));
    (named && fired) || line.contains("timed out") || line.contains("TimeoutError")
}

fn ended_badly(line: &str) -> bool {
    let code = line.split_once("exit code ").map(|(_, code)| code.trim_start());
    let code = code
        .and_then(|code| code.split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse::<i32>().ok());
    code.is_some_and(|code| code != 0) || line.contains("killed by signal")
}

/// `ValueError: ...`, `KeyError`, `sklearn.exceptions.NotFittedError: ...` at the head of a line.
fn is_exception(line: &str) -> bool {
    let name = line.split_once(':').map_or(line, |(name, _)| name);
    let kind = name.rsplit('.').next().unwrap_or(name);
    let known = ["Error", "Exception", "Interrupt", "Exit", "Warning"].iter().any(|end| kind.ends_with(end));
    known && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_'))
}

/// The last `validation <name>: <number>` line: its name and a finite number.
pub(super) fn validation(output: &str) -> Option<(String, f64)> {
    let read = |line: &str| {
        let (head, number) = line.trim().rsplit_once(':')?;
        let name = head.strip_prefix("validation ").or_else(|| head.strip_prefix("Validation "))?.trim();
        let number: f64 = number.trim().parse().ok()?;
        (number.is_finite() && !name.is_empty()).then(|| (name.to_owned(), number))
    };
    output.lines().rev().find_map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_validation_line_counts() {
        let output = "validation log_loss: 0.5\nfold 3\n  validation log_loss: 0.25\ndone";
        assert_eq!(validation(output), Some(("log_loss".into(), 0.25)));
        for none in
            ["validation log_loss: nan", "print(f\"validation log_loss: {score:.5f}\")", "log_loss: 0.3", ""]
        {
            assert_eq!(validation(none), None, "{none}");
        }
    }

    #[test]
    fn failures_are_told_from_rules() {
        let traceback = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    x: int = f()\n\
                         KeyError: 'class'\nmore";
        assert_eq!(failure(traceback).as_deref(), Some("KeyError: 'class'"));
        assert_eq!(
            failure("fold 1\nexecution limit (30 s) reached").as_deref(),
            Some("execution limit (30 s) reached")
        );
        assert_eq!(
            failure("memory limit (2048 MiB) reached\n").as_deref(),
            Some("memory limit (2048 MiB) reached")
        );
        assert_eq!(
            failure("Each execution has a time limit of 600 s. Handle errors.\nvalidation a: 1"),
            None
        );
    }
}
