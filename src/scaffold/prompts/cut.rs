//! Cutting texts to a number of tokens, with a remark where something is missing. The remark is a template's, so that
//! a model reads the same words everywhere.

use std::cell::RefCell;

use podium_types::tokens::{LeftOut, estimate_text, trim_middle};
use serde::Serialize;

use crate::prompts::Prompts;
use crate::prompts::budget::Part;
use crate::prompts::variables::RunVariables;
use crate::strategy::StrategyError;

/// Variables of the remark's template.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RemarkVariables {
    /// The part: `description`, `preview`, `memory`, `packages`, `plan`, `code`, `output` or `summary`.
    pub part: &'static str,
    /// Lines left out; 0 where whole designs are.
    pub lines: usize,
    /// Characters left out; 0 where whole designs are.
    pub characters: usize,
    /// Whole designs left out of a memory.
    pub designs: usize,
}

/// Names in [`RemarkVariables`].
pub const REMARK: &[&str] = &["part", "lines", "characters", "designs"];

/// Cuts texts with one remark.
#[derive(Clone, Copy, Debug)]
pub struct Cutter<'a> {
    prompts: &'a Prompts,
    remark: &'a str,
}

impl<'a> Cutter<'a> {
    /// With the template `remark`.
    pub const fn new(prompts: &'a Prompts, remark: &'a str) -> Self {
        Self { prompts, remark }
    }

    /// The beginning and the end of a text.
    pub fn middle(&self, part: Part, text: &str, max_tokens: u64) -> Result<String, StrategyError> {
        let failed = RefCell::new(None);
        let remark = |left_out: LeftOut| match self.left_out(part, left_out) {
            Ok(remark) => format!("\n{remark}"),
            Err(error) => {
                failed.replace(Some(error));
                String::new()
            }
        };
        let text = trim_middle(text, max_tokens, estimate_text, remark);
        failed.into_inner().map_or(Ok(text), Err)
    }

    /// The beginning of a text, in whole lines where they are short enough.
    pub fn end(&self, part: Part, text: &str, max_tokens: u64) -> Result<String, StrategyError> {
        if estimate_text(text) <= max_tokens {
            return Ok(text.to_owned());
        }
        let (mut fits, mut exceeds) = (0, text.len());
        let mut best = String::new();
        while exceeds - fits > 1 + fits / 64 {
            let at = text.floor_char_boundary(fits + (exceeds - fits) / 2);
            let line = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |feed| feed + 1);
            let (head, tail) = text.split_at(if line * 4 >= at * 3 { line } else { at });
            let left_out = LeftOut { lines: tail.lines().count(), characters: tail.chars().count() };
            let feed = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
            let shown = format!("{head}{feed}{}", self.left_out(part, left_out)?);
            if estimate_text(&shown) <= max_tokens {
                best = shown;
                fits += (exceeds - fits) / 2;
            } else {
                exceeds = fits + (exceeds - fits) / 2;
            }
        }
        Ok(best)
    }

    /// The remark on designs that a memory does not show.
    pub fn designs(&self, designs: usize) -> Result<String, StrategyError> {
        let part = Part::Memory.word();
        self.render(RemarkVariables { part, lines: 0, characters: 0, designs })
    }

    /// The remark on a piece of text.
    pub fn left_out(&self, part: Part, left_out: LeftOut) -> Result<String, StrategyError> {
        let LeftOut { lines, characters } = left_out;
        self.render(RemarkVariables { part: part.word(), lines, characters, designs: 0 })
    }

    fn render(&self, variables: RemarkVariables) -> Result<String, StrategyError> {
        self.prompts.render(self.remark, &variables)
    }
}

/// Tokens of a run's output as prompts show it.
pub fn output_tokens(run: &RunVariables) -> u64 {
    estimate_text(&run.output_head) + estimate_text(&run.output_tail)
}

/// A character that no readable output has.
const GAP: char = '\0';

/// A run whose output takes no more than so many tokens: its two ends, and the count of what is missing.
pub fn run(run: &RunVariables, max_tokens: u64) -> RunVariables {
    if output_tokens(run) <= max_tokens {
        return run.clone();
    }
    let whole = if run.output_tail.is_empty() {
        run.output_head.clone()
    } else {
        format!("{}\n{}", run.output_head, run.output_tail)
    };
    let kept = trim_middle(&whole, max_tokens, estimate_text, |_| GAP.to_string());
    let (head, tail) = kept.split_once(GAP).unwrap_or_default();
    let kept = head.chars().count() + tail.chars().count();
    RunVariables {
        output_head: head.to_owned(),
        output_tail: tail.to_owned(),
        dropped_chars: run.dropped_chars + whole.chars().count() - kept,
        ..run.clone()
    }
}
