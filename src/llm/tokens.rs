//! Token counts: the cheap estimate for every call, an exact count only where it decides something.
//!
//! The exact count loads a vocabulary of 46 MB when first asked for, and takes the text in small pieces: one piece of a
//! million blanks would bring the tokenizer's regular expression down.

use podium_types::chat::ChatRequest;
use podium_types::tokens::count;
pub use podium_types::tokens::{LeftOut, estimate, estimate_text, trim_middle};

/// Prompt tokens of `request` by the `o200k` vocabulary, frames estimated.
pub fn exact(request: &ChatRequest) -> u64 {
    count(request, exact_text)
}

/// [`trim_middle`] by the exact count.
pub fn trim_middle_exact(text: &str, max_tokens: u64, gap: impl Fn(LeftOut) -> String) -> String {
    trim_middle(text, max_tokens, exact_text, gap)
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
            include_str!("../types/tokens.rs"),
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
    fn a_text_trimmed_by_the_exact_count_keeps_to_it() {
        let text = "an ordinary line of a log, number 17\n".repeat(3_000);
        let trimmed = trim_middle_exact(&text, 500, |left_out| format!("[{} lines]\n", left_out.lines));
        let tokens = exact_text(&trimmed);
        assert!((450..=500).contains(&tokens), "{tokens}");
    }

    #[test]
    fn pieces_cut_at_character_boundaries() {
        let wide = "é".repeat(5_000);
        assert!(exact_text(&wide) > 0);
    }
}
