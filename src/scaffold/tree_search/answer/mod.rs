//! Reading a model's answer: a plan in words, then one program in a fenced block.
//!
//! The rules, and where they part from the original's on purpose:
//! - thinking (`<think>…</think>`, also without its opening or its closing tag) is no part of the answer;
//! - the plan is the text before the first fence; without one the answer is invalid, as in the original;
//! - blocks tagged `python`, `py`, `python3` (any case) are the program, joined by blank lines; blocks in other
//!   languages are not (the original ran them where they happened to compile); an untagged block counts when nothing
//!   is tagged, or when it plainly is Python;
//! - a fence ends at a line of backticks only, and not inside a triple-quoted string, if the string ends later at all;
//! - a block that never ends was cut: the answer is invalid, whatever it holds (the original saw nothing there);
//! - a program with open brackets or quotes is invalid: it cannot run (the original asked Python itself). Strings that
//!   hold code are read as Python 3.12 reads them before anything is refused.
//!
//! Reading takes linear time and never fails: any text gives an answer or the reason why there is none.

mod blocks;
mod nested;
mod python;
mod thinking;

use blocks::{Block, Language};

use crate::answer::{AnswerStatus, ParsedAnswer};

/// What keeps an answer from being used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The program's block never ends.
    Cut,
    /// There is no program.
    NoCode,
    /// There is no plan.
    NoPlan,
    /// The program cannot be Python; why.
    BrokenCode(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cut => f.write_str("the code block is never closed: the answer was cut"),
            Self::NoCode => f.write_str("there is no Python code block"),
            Self::NoPlan => f.write_str("there is no plan before the code"),
            Self::BrokenCode(why) => write!(f, "the code cannot run: {why}"),
        }
    }
}

/// An answer taken apart, as far as it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The plan; empty when there is none.
    pub(crate) plan: String,
    /// The program, or what there is of it.
    pub(crate) code: String,
    /// Why it cannot be used; none: it can.
    pub(crate) fault: Option<Fault>,
}

/// Reads an answer for the command line.
pub fn parse(text: &str) -> ParsedAnswer {
    let reading = read(text);
    let usable = reading.fault.is_none();
    ParsedAnswer {
        status: if usable { AnswerStatus::Ok } else { AnswerStatus::Invalid },
        why: reading.fault.as_ref().map(ToString::to_string),
        plan: Some(reading.plan).filter(|plan| !plan.is_empty()),
        code: Some(reading.code).filter(|_| usable),
        actions: Vec::new(),
        dropped: Vec::new(),
    }
}

/// Reads an answer.
pub(crate) fn read(text: &str) -> Reading {
    let text = thinking::strip(text);
    let (plan, blocks) = blocks::split(&text);
    if blocks.is_empty() && python::looks_like(&text) {
        return Reading { plan: String::new(), code: text.trim().to_owned(), fault: Some(Fault::NoPlan) };
    }
    let chosen = choose(&blocks);
    let cut = chosen.iter().any(|block| !block.closed);
    let (code, broken) = join(&chosen);
    let fault = if cut {
        Some(Fault::Cut)
    } else if let Some(why) = broken {
        Some(Fault::BrokenCode(why))
    } else if code.is_empty() {
        Some(Fault::NoCode)
    } else if plan.is_empty() {
        Some(Fault::NoPlan)
    } else {
        None
    };
    Reading { plan, code, fault }
}

/// An answer without its thinking: what models that think say before they answer.
pub(crate) fn without_thinking(text: &str) -> std::borrow::Cow<'_, str> {
    thinking::strip(text)
}

/// The blocks that make up the program.
fn choose(blocks: &[Block]) -> Vec<&Block> {
    let written = || blocks.iter().filter(|block| !block.code.trim().is_empty());
    let plain = |block: &Block| python::looks_like(&block.code) && python::check(&block.code).is_ok();
    if written().any(|block| block.language == Language::Python) {
        return written()
            .filter(|block| match block.language {
                Language::Python => true,
                Language::Unnamed => plain(block),
                Language::Other => false,
            })
            .collect();
    }
    let unnamed: Vec<&Block> = written().filter(|block| block.language == Language::Unnamed).collect();
    if unnamed.len() > 1 && unnamed.iter().any(|block| plain(block)) {
        return unnamed.into_iter().filter(|block| plain(block) || !block.closed).collect();
    }
    unnamed
}

/// The program, and what is wrong with it. A broken block is left out where another is whole, as in the original.
fn join(blocks: &[&Block]) -> (String, Option<String>) {
    let verdicts: Vec<(&str, Result<(), String>)> =
        blocks.iter().map(|block| (block.code.as_str(), python::check(&block.code))).collect();
    let whole: Vec<&str> =
        verdicts.iter().filter(|(_, check)| check.is_ok()).map(|(code, _)| *code).collect();
    if whole.is_empty() {
        let code = blocks.iter().map(|block| block.code.as_str()).collect::<Vec<_>>().join("\n\n");
        return (code, verdicts.into_iter().find_map(|(_, check)| check.err()));
    }
    (whole.join("\n\n"), None)
}
