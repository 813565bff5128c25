//! A competition's description cut to a number of tokens: not at its middle, where the rules of the hand-in tend to
//! stand, but section by section. Its beginning and the sections on submission, evaluation and files are kept longest.

use podium_types::tokens::{LeftOut, estimate_text};

use crate::prompts::budget::{Part, shares};
use crate::prompts::cut::Cutter;
use crate::strategy::StrategyError;

/// A section with one of these in its heading tells what must be handed in and how it is scored.
const WANTED: &[&str] = &["submission", "submit", "evaluation", "metric", "scor", "format"];

/// One with these in its heading describes the data: kept before others where there is room.
const USEFUL: &[&str] = &["data", "file", "column", "task", "goal"];

/// Room for a remark between sections.
const REMARK_TOKENS: u64 = 60;

/// `text` in at most so many tokens.
pub fn description(text: &str, max_tokens: u64, cutter: Cutter<'_>) -> Result<String, StrategyError> {
    if estimate_text(text) <= max_tokens {
        return Ok(text.to_owned());
    }
    let sections = split(text);
    for remarks in [2, 6, 20] {
        let shown = by_section(&sections, max_tokens.saturating_sub(REMARK_TOKENS * remarks), cutter)?;
        if estimate_text(&shown) <= max_tokens && !shown.is_empty() {
            return Ok(shown);
        }
    }
    cutter.middle(Part::Description, text, max_tokens)
}

/// The sections in their order, each whole, cut at its end or left out; remarks come on top of `tokens`.
fn by_section(sections: &[&str], tokens: u64, cutter: Cutter<'_>) -> Result<String, StrategyError> {
    let sizes: Vec<u64> = sections.iter().map(|section| estimate_text(section)).collect();
    let mut shown = String::new();
    let mut missing = LeftOut { lines: 0, characters: 0 };
    for ((section, size), limit) in sections.iter().zip(&sizes).zip(limits(sections, &sizes, tokens)) {
        let kept = if *size <= limit {
            (*section).to_owned()
        } else if limit > REMARK_TOKENS * 2 {
            cutter.end(Part::Description, section, limit)?
        } else {
            String::new()
        };
        if kept.is_empty() {
            missing.lines += section.lines().count();
            missing.characters += section.chars().count();
            continue;
        }
        if missing.characters > 0 {
            shown.push_str(&cutter.left_out(Part::Description, missing)?);
            missing = LeftOut { lines: 0, characters: 0 };
        }
        shown.push_str(&kept);
    }
    if missing.characters > 0 {
        shown.push_str(&cutter.left_out(Part::Description, missing)?);
    }
    Ok(shown)
}

/// Room for each section: those of a better rank share first.
fn limits(sections: &[&str], sizes: &[u64], tokens: u64) -> Vec<u64> {
    let mut limits = vec![0; sections.len()];
    let mut left = tokens;
    for rank in 0..=2 {
        let of_rank = |place: &usize| ranked(sections, *place) == rank;
        let places: Vec<usize> = (0..sections.len()).filter(of_rank).collect();
        let wanted: Vec<u64> = places.iter().filter_map(|place| sizes.get(*place).copied()).collect();
        for (place, share) in places.iter().zip(shares(left, &wanted)) {
            if let Some(limit) = limits.get_mut(*place) {
                *limit = share;
            }
        }
        left = left.saturating_sub(wanted.iter().sum());
    }
    limits
}

/// 0: kept longest; 2: given up first.
fn ranked(sections: &[&str], place: usize) -> usize {
    let heading = sections.get(place).and_then(|section| section.lines().next()).unwrap_or_default();
    let heading = heading.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    match place {
        0 => 0,
        _ if has(WANTED) => 0,
        _ if has(USEFUL) => 1,
        _ => 2,
    }
}

/// The text in pieces, each but the first begun by a heading in Markdown; one inside a fenced block is none.
fn split(text: &str) -> Vec<&str> {
    let mut sections = Vec::new();
    let (mut start, mut at, mut fenced) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = !fenced && line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
        if heading && at > start {
            sections.push(text.get(start..at).unwrap_or_default());
            start = at;
        }
        at += line.len();
    }
    sections.push(text.get(start..).unwrap_or_default());
    sections
}
