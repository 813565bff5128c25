//! Checks of values that are well formed but cannot be: the head's, and the building blocks for a strategy's own.

use std::collections::BTreeMap;

use podium_types::nearest::nearest;

use crate::spec::{Head, SpecError};

/// The head's own values.
pub(super) fn head(head: &Head) -> Result<(), SpecError> {
    at_least_one("limits.steps", u64::from(head.limits.steps))?;
    at_least_one("limits.time_limit", head.limits.time_limit.millis())?;
    at_least_one("limits.execution_timeout", head.limits.execution_timeout.millis())?;
    for (role, model) in &head.models {
        not_negative(&format!("models.{role}.temperature"), model.temperature.unwrap_or_default())?;
        at_least_one(
            &format!("models.{role}.max_output_tokens"),
            u64::from(model.max_output_tokens.unwrap_or(1)),
        )?;
    }
    head.validation.check()?;
    if head.output.head_chars.saturating_add(head.output.tail_chars) > head.output.max_chars {
        return Err(invalid("output.max_chars", "is less than head_chars and tail_chars together"));
    }
    Ok(())
}

/// A number that may not be 0.
pub fn at_least_one(path: &str, number: u64) -> Result<(), SpecError> {
    if number == 0 { Err(invalid(path, "must be at least 1")) } else { Ok(()) }
}

/// A number of things that are made at once, or one after another without a look at a limit.
pub fn at_most(path: &str, number: u64, most: u64) -> Result<(), SpecError> {
    if number > most { Err(invalid(path, &format!("must be at most {most}"))) } else { Ok(()) }
}

/// Answers to ask for in a row: somebody who needs more than these has another problem, and pays for each.
pub fn tries(path: &str, number: u32) -> Result<(), SpecError> {
    at_least_one(path, u64::from(number))?;
    at_most(path, u64::from(number), 100)
}

/// A finite number from 0.
pub fn not_negative(path: &str, number: f64) -> Result<(), SpecError> {
    if number.is_finite() && number >= 0.0 { Ok(()) } else { Err(invalid(path, "must be a number from 0")) }
}

/// A finite number above 0.
pub fn above_zero(path: &str, number: f64) -> Result<(), SpecError> {
    if number.is_finite() && number > 0.0 { Ok(()) } else { Err(invalid(path, "must be a number above 0")) }
}

/// A share or a chance.
pub fn share(path: &str, number: f64) -> Result<(), SpecError> {
    if (0.0..=1.0).contains(&number) { Ok(()) } else { Err(invalid(path, "must be between 0 and 1")) }
}

/// A field that must be there exactly when another says so.
pub fn belongs(wanted: bool, given: bool, path: &str, owner: &str) -> Result<(), SpecError> {
    match (wanted, given) {
        (true, false) => Err(invalid(path, &format!("is needed with {owner}"))),
        (false, true) => Err(invalid(path, &format!("has no meaning without {owner}"))),
        _ => Ok(()),
    }
}

/// A name that must be a key of `known`. `what` says what kind of thing it names.
pub fn refers_to<T>(
    path: &str,
    what: &'static str,
    name: &str,
    known: &BTreeMap<String, T>,
) -> Result<(), SpecError> {
    if known.contains_key(name) {
        return Ok(());
    }
    let nearest = nearest(name, known.keys().map(String::as_str));
    Err(SpecError::Missing { path: path.to_owned(), what, name: name.to_owned(), nearest })
}

/// The error of a value that cannot be.
pub fn invalid(path: &str, message: &str) -> SpecError {
    SpecError::Invalid { path: path.to_owned(), message: message.to_owned() }
}
