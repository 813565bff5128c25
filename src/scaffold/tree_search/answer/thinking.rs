//! Taking the thinking out of an answer. Reasoning models put it between tags at the beginning; servers often eat
//! the opening tag, and a cut answer has no closing one.

use std::borrow::Cow;

const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];

/// `text` without its thinking. Tags inside a program (in a string, say) are left alone: only those before the
/// first fence count, or a closing tag alone on its line.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    // ASCII case folding keeps every byte position.
    let folded = text.to_ascii_lowercase();
    let start = after_orphan(&folded);
    let mut kept = String::new();
    let mut at = start;
    while let Some((open, closing)) = next_opening(&folded, at) {
        kept.push_str(text.get(at..open).unwrap_or_default());
        let close = folded.get(open..).and_then(|rest| rest.find(closing));
        at = close.map_or(text.len(), |close| open + close + closing.len());
    }
    let rest = text.get(at..).unwrap_or_default();
    if kept.is_empty() {
        return Cow::Borrowed(rest);
    }
    kept.push_str(rest);
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

/// The next opening tag that begins a line before any fence.
fn next_opening<'a>(folded: &str, from: usize) -> Option<(usize, &'a str)> {
    let rest = folded.get(from..)?;
    let prose = rest.find("```").map_or(rest, |fence| rest.get(..fence).unwrap_or_default());
    TAGS.iter()
        .filter_map(|(opening, closing)| {
            let place = prose.find(opening)?;
            let line = prose.get(..place)?.rsplit('\n').next()?;
            line.trim().is_empty().then_some((from + place, *closing))
        })
        .min()
}
