//! Token counts: a cheap estimate from above for every call, an exact count only where it decides something.
//!
//! The estimate must not be too low, for budgets are reserved by it. So it splits a text as tokenizers do (words,
//! digits, signs, blanks) and counts each piece generously: English comes out at about twice its true count,
//! columns of numbers close to it. The exact count loads a vocabulary of 46 MB when first asked for, and takes the
//! text in small pieces: one piece of a million blanks would bring the tokenizer's regular expression down.

use podium_types::chat::{ChatRequest, Message};

/// Tokens that a message's frame costs, whatever the provider's template.
const FRAME: u64 = 8;

/// Upper estimate of the prompt tokens of `request`.
pub fn estimate(request: &ChatRequest) -> u64 {
    count(request, estimate_text)
}

/// Prompt tokens of `request` by the `o200k` vocabulary, frames estimated.
pub fn exact(request: &ChatRequest) -> u64 {
    count(request, exact_text)
}

fn count(request: &ChatRequest, text: fn(&str) -> u64) -> u64 {
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

/// The longest piece given to the tokenizer at once.
const PIECE: usize = 2048;

/// Tokens of `text` by the `o200k` vocabulary; at most one too many per piece of two thousand bytes.
pub fn exact_text(text: &str) -> u64 {
    let vocabulary = tiktoken_rs::o200k_base_singleton();
    let mut rest = text;
    let mut tokens = 0;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(cut(rest));
        tokens += vocabulary.encode_ordinary(piece).len() as u64;
        rest = behind;
    }
    tokens
}

/// Where to cut the first piece off: at the last line end or blank in its second half, else anywhere.
fn cut(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let end = text.floor_char_boundary(PIECE);
    let head = text.get(..end).unwrap_or(text);
    let at = head.rfind('\n').or_else(|| head.rfind(' ')).filter(|at| *at >= PIECE / 2);
    at.unwrap_or(end).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_is_never_below_the_count() {
        let samples = [
            include_str!("tokens.rs"),
            include_str!("../../benchmark/models.toml"),
            "It was the best of times, it was the worst of times, it was the age of wisdom.",
            "0.123456,17,-3.5e-07,nan\n12,0.5,0.25,0.125\n1.0,2.0,3.0,4.0\n",
            "id,f_00,f_01\n900000,-2.442517,1.309687,-0.80682\n",
            "VGhpcyBpcyBhIHRlc3Qgb2YgYmFzZTY0IGVuY29kaW5nIHdpdGggbm8gc3BhY2Vz/+A9f3Qz==",
            "d41d8cd98f00b204e9800998ecf8427e",
            "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHw",
            "用机器学习预测森林覆盖类型。训练集包含一万五千行。",
            "Быстрая коричневая лиса прыгает через ленивую собаку",
            "🦀🚀👩‍👩‍👧‍👦 ✓ ✗ ≈ ∞",
            "====================\n--------------------\n\n\n\n        return x\n",
            "HTTPServerError XMLParser CNN LSTM XGBClassifier ABCDEFGHIJKLMNOP QZXJKVW",
            "zqxjkvbpw fghjkl qwrtpsdfg xcvbnm",
        ];
        for sample in samples {
            let (estimate, exact) = (estimate_text(sample), exact_text(sample));
            let head: String = sample.chars().take(40).collect();
            assert!(estimate >= exact, "{head:?}: estimated {estimate}, counted {exact}");
            assert!(estimate <= exact * 4 + 2, "{head:?}: estimated {estimate}, counted {exact}");
        }
    }

    #[test]
    fn a_million_blanks_are_counted() {
        let blanks = " ".repeat(1_000_000);
        assert!(exact_text(&blanks) > 100);
        assert!(estimate_text(&blanks) >= exact_text(&blanks));
        assert_eq!(exact_text(""), 0);
    }

    /// Texts that bring tokenizers to their knees, and estimates below the count.
    #[test]
    fn a_prompt_of_dense_unicode_is_counted_and_not_underestimated() {
        let mut rng = podium_types::rng::Rng::new(7);
        let mut random = |characters: usize, from: u32, range: usize| -> String {
            let next = || char::from_u32(from + u32::try_from(rng.below(range)).unwrap());
            std::iter::repeat_with(next).flatten().take(characters).collect()
        };
        let table = [
            ("any", random(62_000, 0, 0x11_0000)),
            ("supplementary planes", random(62_000, 0x1_0000, 0x1_0000)),
            ("private use", random(83_000, 0xE000, 0x1900)),
            ("ideographs", random(83_000, 0x4E00, 0x51A5)),
            ("emoji", "👩‍👩‍👧‍👦".repeat(10_000)),
            ("stacked accents", "e\u{301}\u{302}\u{323}".repeat(35_000)),
            ("blanks", " \t\u{3000}".repeat(50_000)),
            ("letters", random(250_000, u32::from('a'), 26)),
            ("ASCII", random(250_000, u32::from(' '), 95)),
        ];
        for (name, text) in table {
            let (estimate, exact) = (estimate_text(&text), exact_text(&text));
            assert!(estimate >= exact && exact > 0, "{name}: estimated {estimate}, counted {exact}");
        }
    }

    #[test]
    fn pieces_cut_at_character_boundaries() {
        let wide = "é".repeat(5_000);
        assert!(exact_text(&wide) > 0);
    }
}
