//! What edits have in common: the text to edit, the model that rewrites it, what is written, and the diff that is shown.

use podium_types::files::FileText;

use super::{Outcome, seen};
use crate::research_loop::bench::{Bench, plain};
use crate::research_loop::diff::unified;
use crate::research_loop::words::{Edit, Words};
use crate::strategy::StrategyError;

/// What was found, or the observation that tells why there is nothing to go on with.
pub(super) type Found<T> = Result<Result<T, Outcome>, StrategyError>;

/// The file to edit; none where there is none. One that is no text is refused.
pub(super) async fn text_of(bench: &Bench<'_>, action: &str, path: &str) -> Found<Option<FileText>> {
    Ok(match bench.before(path).await? {
        Ok(Some(old)) if old.lossy => Err(seen(bench, &Words { say: "not_utf8", path, ..Words::default() })?),
        Ok(old) => Ok(old),
        Err(fault) => Err(Outcome::Observation(bench.fault(action, &fault)?)),
    })
}

/// What the model that rewrites files makes of a text.
pub(super) async fn rewritten(bench: &Bench<'_>, action: &str, edit: &Edit<'_>) -> Found<String> {
    Ok(match bench.edit(edit).await? {
        Ok(answer) => Ok(code_of(&answer)),
        Err(reason) => {
            Err(seen(bench, &Words { say: "llm_failed", action, reason: &reason, ..Words::default() })?)
        }
    })
}

/// Writes what an edit came to, and shows what changed.
pub(super) async fn save(
    bench: &Bench<'_>,
    action: &str,
    (script, save): (&str, &str),
    old: Option<&FileText>,
    code: &str,
    new: String,
) -> Result<Outcome, StrategyError> {
    if new.trim().is_empty() {
        return seen(bench, &Words { say: "would_empty", path: script, ..Words::default() });
    }
    let diff = unified(code, &new, script, save);
    let elsewhere = plain(script) != plain(save);
    if diff.is_empty() && !elsewhere {
        return seen(bench, &Words { say: "edit_changed_nothing", path: script, ..Words::default() });
    }
    let written = if elsewhere {
        match bench.before(save).await? {
            Ok(there) => bench.write(save, there.as_ref(), new).await?,
            Err(fault) => Err(fault),
        }
    } else {
        bench.write(save, old, new).await?
    };
    match written {
        Ok(()) => seen(
            bench,
            &Words {
                say: "edited",
                path: script,
                other: save,
                text: &diff,
                flag: elsewhere,
                ..Words::default()
            },
        ),
        Err(fault) => bench.fault(action, &fault).map(Outcome::Observation),
    }
}

/// The code of an answer: what stands between its first fence and the last one that closes it, so that fences inside
/// the code are part of it; all of it where there is no fence.
fn code_of(answer: &str) -> String {
    let lines: Vec<&str> = answer.lines().collect();
    let fence = |line: &&str| line.trim_start().starts_with("```");
    let Some(first) = lines.iter().position(fence) else {
        return ended(answer.trim_matches('\n'));
    };
    let close = |line: &&str| {
        line.trim() == "```" || (line.trim().len() > 3 && line.trim().chars().all(|c| c == '`'))
    };
    let last = lines.iter().rposition(close).filter(|last| *last > first).unwrap_or(lines.len());
    ended(&lines.get(first + 1..last).unwrap_or_default().join("\n"))
}

/// With a line feed at its end.
fn ended(code: &str) -> String {
    if code.trim().is_empty() { String::new() } else { format!("{}\n", code.trim_end_matches('\n')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_of_an_answer_is_found_in_each_of_its_forms() {
        for (answer, code) in [
            ("```python\nx = 1\n```\n", "x = 1\n"),
            ("A plan.\n\n```py\nx = 1\n\n```\nDone.", "x = 1\n"),
            ("x = 1\n", "x = 1\n"),
            ("```python\nd = '''\n```\n'''\n```", "d = '''\n```\n'''\n"),
            ("```python\nx = 1", "x = 1\n"),
            ("    x = 1\n", "    x = 1\n"),
            ("```\n```", ""),
            ("", ""),
        ] {
            assert_eq!(code_of(answer), code, "{answer}");
        }
    }
}
