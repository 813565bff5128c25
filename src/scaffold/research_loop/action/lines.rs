//! A range of lines, as two arguments tell it.

use super::editing::Found;
use super::{number, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

/// The argument with the first line, from 1.
pub(super) const FROM: &str = "start_line_number";
/// The argument with the last line.
pub(super) const TO: &str = "end_line_number";

/// First and last line: at least 1, and in their order.
pub(super) fn range(bench: &Bench<'_>, input: &Input) -> Found<(u64, u64)> {
    let (Some(from), Some(to)) = (number(input, FROM), number(input, TO)) else {
        return Ok(Err(seen(bench, &Words { say: "no_numbers", ..Words::default() })?));
    };
    let from = from.max(1);
    if to < from {
        let words = Words { say: "lines_reversed", number: from, limit: to, ..Words::default() };
        return Ok(Err(seen(bench, &words)?));
    }
    Ok(Ok((from, to)))
}
