//! Text that looks like a mark of a format, written so that it is none: a backslash behind its `<`. Backslashes that
//! stand there already become one more, so that nothing is lost.

/// `text` with each mark made harmless. A mark is `<` and one of these words.
pub(super) fn escape(text: &str, words: &[&str]) -> String {
    changed(text, words, |backslashes| backslashes + 1)
}

/// The text that was escaped.
pub(super) fn unescape(text: &str, words: &[&str]) -> String {
    changed(text, words, |backslashes| backslashes.saturating_sub(1))
}

fn changed(text: &str, words: &[&str], change: impl Fn(usize) -> usize) -> String {
    let mut parts = text.split('<');
    let mut made = String::with_capacity(text.len() + 8);
    made.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let bare = part.trim_start_matches('\\');
        let backslashes = part.len() - bare.len();
        let is_mark = words.iter().any(|word| bare.starts_with(word));
        let backslashes = if is_mark { change(backslashes) } else { backslashes };
        made.push('<');
        made.extend(std::iter::repeat_n('\\', backslashes));
        made.push_str(bare);
    }
    made
}
