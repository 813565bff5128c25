//! Long texts read by the fast model, block by block, and put together at the end.

use super::bench::Bench;
use super::words::Question;
use crate::strategy::StrategyError;

/// A piece of a text.
pub(crate) struct Piece<'a> {
    pub(crate) text: &'a str,
    /// First and last line.
    pub(crate) lines: (u64, u64),
}

/// Cuts a text into pieces of whole lines of at most `most_chars`; a longer line is cut, too.
pub(crate) fn pieces(text: &str, most_chars: usize) -> Vec<Piece<'_>> {
    let most = most_chars.max(1);
    let mut found: Vec<Piece<'_>> = Vec::new();
    let (mut start, mut end, mut chars) = (0, 0, 0);
    let (mut first, mut line) = (1_u64, 0_u64);
    let piece = |from: usize, to: usize, lines: (u64, u64)| {
        text.get(from..to).filter(|text| !text.is_empty()).map(|text| Piece { text, lines })
    };
    for content in text.split_inclusive('\n') {
        line += 1;
        let count = content.chars().count();
        if chars + count > most {
            found.extend(piece(start, end, (first, line - 1)));
            (start, first, chars) = (end, line, 0);
        }
        let mut left = content;
        // A line that is longer than a piece.
        while left.chars().count() > most {
            let at = left.char_indices().nth(most).map_or(left.len(), |(at, _)| at);
            found.extend(piece(start, start + at, (line, line)));
            (start, left) = (start + at, left.get(at..).unwrap_or_default());
        }
        end += content.len();
        chars = if left.len() == content.len() { chars + count } else { left.chars().count() };
    }
    found.extend(piece(start, end, (first, line.max(1))));
    found
}

/// What the fast model finds in a text: an answer for each of the first `most` pieces, and one of them all. Returns it
/// with whether all pieces were read.
pub(crate) async fn digest(
    bench: &Bench<'_>,
    asks: (&str, &str),
    question: &Question<'_>,
    most: usize,
) -> Result<(String, bool), StrategyError> {
    let pieces = pieces(question.text, bench.agent.spec.actions.block_chars);
    let mut answers = Vec::new();
    for piece in pieces.iter().take(most) {
        let (from, to) = piece.lines;
        answers.push(
            bench.ask(&Question { ask: asks.0, text: piece.text, from, to, ..question.clone() }).await?,
        );
    }
    let whole = pieces.len() <= most;
    let Some(last) = answers.pop_if(|_| pieces.len() == 1) else {
        let text = answers.join("\n\n");
        return Ok((bench.ask(&Question { ask: asks.1, text: &text, ..question.clone() }).await?, whole));
    };
    Ok((last, whole))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_the_text_and_none_is_too_long(text in "[aé\n]{0,200}", most in 1_usize..20) {
            let pieces = pieces(&text, most);
            prop_assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text.as_str());
            prop_assert!(pieces.iter().all(|piece| piece.text.chars().count() <= most));
            prop_assert!(pieces.iter().all(|piece| piece.lines.0 <= piece.lines.1));
        }
    }
}
