//! Tokens without a tokenizer: a cheap estimate from above, and trimming by any counter.
//!
//! The estimate must not be too low, for budgets are reserved by it. So it splits a text as tokenizers do (words,
//! digits, signs, blanks) and counts each piece generously: English comes out at about twice its true count,
//! columns of numbers close to it. It knows no vocabulary; `llm::tokens` counts exactly and holds this against it.

use crate::chat::{ChatRequest, Message};

/// Tokens that a message's frame costs, whatever the provider's template.
const FRAME: u64 = 8;

/// Upper estimate of the prompt tokens of `request`.
pub fn estimate(request: &ChatRequest) -> u64 {
    count(request, estimate_text)
}

/// Prompt tokens of `request` by a counter of texts, frames estimated.
pub fn count(request: &ChatRequest, text: fn(&str) -> u64) -> u64 {
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| FRAME + text(&tool.name) + text(&tool.description) + text(&tool.parameters.to_string()))
        .sum();
    let schema = request.output.as_ref().map_or(0, |output| FRAME + text(&output.schema.to_string()));
    request.messages.iter().map(|message| message_tokens(message, text)).sum::<u64>() + tools + schema
}

fn message_tokens(message: &Message, text: fn(&str) -> u64) -> u64 {
    let calls: u64 =
        message.tool_calls.iter().map(|call| FRAME + text(&call.name) + text(&call.arguments)).sum();
    let state = message.provider_state.as_ref().map_or(0, |state| text(&state.to_string()));
    FRAME + text(&message.content) + calls + state
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    Upper,
    Lower,
    Digit,
    Blank,
    Line,
    Sign(char),
    Wide,
    Rare,
}

fn class(c: char) -> Class {
    match c {
        'A'..='Z' => Class::Upper,
        'a'..='z' => Class::Lower,
        '0'..='9' => Class::Digit,
        ' ' | '\t' => Class::Blank,
        '\r' | '\n' => Class::Line,
        c if c.is_ascii() => Class::Sign(c),
        c if common(c) => Class::Wide,
        _ => Class::Rare,
    }
}

/// Characters of scripts and signs that vocabularies have words or at least whole characters of.
fn common(c: char) -> bool {
    matches!(u32::from(c),
        ..0x700 | 0x900..=0x10FF | 0x1200..=0x12FF | 0x1E00..=0x22FF | 0x2400..=0x27FF | 0x3000..=0x30FF
        | 0x4E00..=0x9FFF | 0xAC00..=0xD7FF | 0xFE00..=0xFFFF | 0x1_D000..=0x1_DFFF | 0x1_F000..=0x1_FFFF)
}

/// Characters of one class in a row.
struct Run {
    class: Class,
    bytes: u64,
    /// It follows letters or digits without a gap, as runs do in base64, hashes and names of several words.
    joined: bool,
    /// Vowels among its letters: few of them make no word.
    vowels: u64,
}

/// Upper estimate of the tokens of `text`.
pub fn estimate_text(text: &str) -> u64 {
    let mut tokens = 0;
    let mut run = Run { class: Class::Line, bytes: 0, joined: false, vowels: 0 };
    for c in text.chars() {
        let next = class(c);
        let bytes = c.len_utf8() as u64;
        let vowels = u64::from(matches!(c, 'a' | 'e' | 'i' | 'o' | 'u' | 'y'));
        if next == run.class {
            run.bytes += bytes;
            run.vowels += vowels;
        } else if next == Class::Lower && run.class == Class::Upper && run.bytes == 1 {
            // A capital at the head of a word belongs to it.
            run = Run { class: next, bytes: 1 + bytes, vowels, ..run };
        } else {
            tokens += run.tokens();
            let joined = matches!(run.class, Class::Upper | Class::Lower | Class::Digit);
            run = Run { class: next, bytes, joined, vowels };
        }
    }
    tokens + run.tokens()
}

/// More letters than this in a row are no word.
const LONGEST_WORD: u64 = 24;

impl Run {
    fn tokens(&self) -> u64 {
        match self.class {
            _ if self.bytes == 0 => 0,
            // Capitals in a row are rare in words and many in base64. No byte takes more than one token.
            Class::Upper | Class::Rare => self.bytes,
            Class::Lower | Class::Digit if self.joined => (2 * self.bytes).div_ceil(3),
            Class::Lower if self.bytes > LONGEST_WORD => (2 * self.bytes).div_ceil(3),
            Class::Lower if self.vowels * 5 < self.bytes => (2 * self.bytes).div_ceil(3),
            Class::Lower | Class::Digit => self.bytes.div_ceil(3),
            Class::Sign(_) => self.bytes.div_ceil(2),
            // One blank joins the word behind it.
            Class::Blank if self.bytes == 1 => 0,
            Class::Blank | Class::Line => 1 + self.bytes / 8,
            Class::Wide => self.bytes * 3 / 4 + 1,
        }
    }
}

/// What a trimmed text lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Whole lines, and parts of lines that were cut.
    pub lines: usize,
    /// Characters.
    pub characters: usize,
}

/// Of a kept end, at most one part in this many is given up to end at a line's end.
const LINE_LOSS: usize = 4;

/// `text` as it is when `count` finds at most `max_tokens` in it, else its beginning and its end with `gap` between
/// them, which says how much is left out. The ends are whole lines where lines are short enough. The result never
/// counts more than `max_tokens`; where not even the gap fits it is empty.
pub fn trim_middle(
    text: &str,
    max_tokens: u64,
    count: impl Fn(&str) -> u64,
    gap: impl Fn(LeftOut) -> String,
) -> String {
    if count(text) <= max_tokens {
        return text.to_owned();
    }
    let mut best = None;
    let (mut fits, mut exceeds) = (0, text.len());
    loop {
        let kept = fits + (exceeds - fits) / 2;
        let trimmed = without_middle(text, kept, &gap);
        if count(&trimmed) <= max_tokens {
            best = Some(trimmed);
            fits = kept;
        } else {
            exceeds = kept;
        }
        // A closer fit is not worth another count.
        if exceeds - fits <= 1 + fits / 64 {
            break;
        }
    }
    best.or_else(|| Some(without_middle(text, 0, &gap)).filter(|gap| count(gap) <= max_tokens))
        .unwrap_or_default()
}

/// About `kept` bytes of `text`, half of them from each end, and the gap.
fn without_middle(text: &str, kept: usize, gap: impl Fn(LeftOut) -> String) -> String {
    let (head, rest) = text.split_at(text.floor_char_boundary(kept / 2));
    let (middle, tail) = rest.split_at(rest.ceil_char_boundary(rest.len().saturating_sub(kept / 2)));
    let line_end = head.rfind('\n').map(|at| at + 1).filter(|at| (head.len() - at) * LINE_LOSS <= head.len());
    let (head, head_loss) = head.split_at(line_end.unwrap_or(head.len()));
    let starts_line = middle.is_empty() || middle.ends_with('\n');
    let line_start =
        tail.find('\n').map(|at| at + 1).filter(|at| !starts_line && at * LINE_LOSS <= tail.len());
    let (tail_loss, tail) = tail.split_at(line_start.unwrap_or_default());
    let lost = [head_loss, middle, tail_loss];
    let breaks: usize = lost.iter().map(|part| part.matches('\n').count()).sum();
    let ends_line = lost.concat().ends_with('\n');
    let left_out = LeftOut {
        lines: breaks + usize::from(!ends_line),
        characters: lost.iter().map(|part| part.chars().count()).sum(),
    };
    [head, &gap(left_out), tail].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(left_out: LeftOut) -> String {
        format!("[{} lines, {} characters]\n", left_out.lines, left_out.characters)
    }

    fn characters(text: &str) -> u64 {
        text.chars().count() as u64
    }

    #[test]
    fn both_ends_are_kept_on_whole_lines() {
        let lines: Vec<String> = (0..100).map(|line| format!("line {line:02}\n")).collect();
        let text = lines.concat();
        let trimmed = trim_middle(&text, 100, characters, told);
        assert_eq!(
            trimmed,
            "line 00\nline 01\nline 02\nline 03\n[92 lines, 736 characters]\nline 96\nline 97\nline 98\nline 99\n"
        );
        assert_eq!(trim_middle("short", 5, characters, told), "short");
        assert_eq!(trim_middle(&text, 3, characters, told), "", "the gap alone is longer");
        let line = "é".repeat(1_000);
        let trimmed = trim_middle(&line, 100, characters, told);
        assert!(
            trimmed.starts_with("éé") && trimmed.ends_with("éé") && trimmed.contains("[1 lines, 9"),
            "{trimmed}"
        );
    }

    proptest! {
        #[test]
        fn no_text_comes_out_above_the_limit(text in "[a-c é\n🦀]{0,400}", max in 0_u64..200) {
            for count in [characters, estimate_text] {
                let trimmed = trim_middle(&text, max, count, told);
                prop_assert!(count(&trimmed) <= max);
                let ends = trimmed.split_once('[').map(|(head, rest)| {
                    let (numbers, tail) = rest.split_once("characters]\n").unwrap();
                    let lost: usize = numbers.split_whitespace().nth(2).unwrap().parse().unwrap();
                    (head, lost, tail)
                });
                match ends {
                    Some((head, lost, tail)) => {
                        prop_assert!(text.starts_with(head) && text.ends_with(tail));
                        prop_assert_eq!(head.chars().count() + lost + tail.chars().count(), text.chars().count());
                    }
                    None => prop_assert!(trimmed.is_empty() || trimmed == text),
                }
            }
        }
    }
}
