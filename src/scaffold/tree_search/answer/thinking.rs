//! Taking the thinking out of an answer. Reasoning models put it between tags at the beginning; servers often eat
//! the opening tag, and a cut answer has no closing one.

use std::borrow::Cow;

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// `text` without its thinking. Tags inside a program (in a string, say) are left alone: only those that begin a
/// line before the first fence count, or a closing tag alone on its line.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    // ASCII case folding keeps every byte position.
    let folded = text.to_ascii_lowercase();
    let start = after_orphan(&folded);
    let mut kept = String::new();
    let mut at = start;
    while let Some(rest) = folded.get(at..).filter(|rest| !rest.is_empty()) {
        let line_end = rest.find('\n').map_or(rest.len(), |feed| feed + 1);
        let line = rest.get(..line_end).unwrap_or_default();
        let tag = TAGS.iter().find(|(opening, _)| line.trim_start().starts_with(opening));
        match tag {
            Some((_, closing)) => at += rest.find(closing).map_or(rest.len(), |close| close + closing.len()),
            None if line.contains("```") => break,
            None => {
                kept.push_str(text.get(at..at + line_end).unwrap_or_default());
                at += line_end;
            }
        }
    }
    if at == start {
        return Cow::Borrowed(text.get(start..).unwrap_or_default());
    }
    kept.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(kept)
}

/// Where the answer begins when the thinking before it has lost its opening tag.
fn after_orphan(folded: &str) -> usize {
    for (opening, closing) in TAGS {
        let Some(close) = folded.find(closing) else { continue };
        let end = close + closing.len();
        let before = folded.get(..close).unwrap_or_default();
        let line_rest = folded.get(end..).unwrap_or_default().lines().next().unwrap_or_default();
        let alone = line_rest.trim().is_empty()
            && before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty());
        if !before.contains(opening) && (alone || !before.contains("```")) {
            return end;
        }
    }
    0
}
