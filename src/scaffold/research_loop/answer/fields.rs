//! The six fields of an answer: each `Name:` and what stands behind it up to the next.
//!
//! As the original's one greedy expression finds them: the first `Reflection:`, and of every other name the last place
//! from which all that follow can still be found. So of two turns in one answer the last action counts, a name inside
//! another field is harmless, and what stands before the first field is ignored.

/// Names of the fields, in their order.
pub const FIELDS: [&str; 6] =
    ["Reflection", "Research Plan and Status", "Fact Check", "Thought", "Action", "Action Input"];

/// What stands in the fields, with all blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'a> {
    /// What the observation means.
    pub reflection: &'a str,
    /// The plan and how far it is carried out.
    pub plan: &'a str,
    /// What is guessed and what is confirmed.
    pub fact_check: &'a str,
    /// What now, and why.
    pub thought: &'a str,
    /// The name of the action.
    pub action: &'a str,
    /// Its arguments.
    pub action_input: &'a str,
}

/// Why the fields cannot be cut out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldFault {
    /// There is no text.
    #[error("the answer is empty")]
    Empty,
    /// Fields that occur nowhere.
    #[error("the fields are not all there; missing: {}", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// All are there, but not in their order.
    #[error("the fields are not in their order: {} comes too late or {} too early", .0, .1)]
    Order(&'static str, &'static str),
}

/// Cuts the fields out.
pub fn cut(text: &str) -> Result<Fields<'_>, FieldFault> {
    if text.trim().is_empty() {
        return Err(FieldFault::Empty);
    }
    // Where each name begins, from the last to the second; then the first name, from the front.
    let mut ends = text.len();
    let mut starts = [0_usize; 6];
    for (place, name) in FIELDS.iter().enumerate().skip(1).rev() {
        let mark = mark(name);
        let found = text.get(..ends).and_then(|before| before.rfind(&mark));
        let Some(found) = found else { return Err(fault(text, place)) };
        if let Some(start) = starts.get_mut(place) {
            *start = found;
        }
        ends = found;
    }
    let first = text.get(..ends).and_then(|before| before.find(&mark(FIELDS[0])));
    let Some(first) = first else { return Err(fault(text, 0)) };
    starts[0] = first;
    let field = |place: usize| {
        let from = starts.get(place).zip(FIELDS.get(place)).map(|(start, name)| start + name.len() + 1);
        let to = starts.get(place + 1).copied().unwrap_or(text.len());
        from.and_then(|from| text.get(from..to)).unwrap_or_default()
    };
    Ok(Fields {
        reflection: field(0),
        plan: field(1),
        fact_check: field(2),
        thought: field(3),
        action: field(4),
        action_input: field(5),
    })
}

fn mark(name: &str) -> String {
    format!("{name}:")
}

/// Why the field at `place` was not found where it should be.
fn fault(text: &str, place: usize) -> FieldFault {
    let missing: Vec<&'static str> = FIELDS.into_iter().filter(|name| !text.contains(&mark(name))).collect();
    if !missing.is_empty() {
        return FieldFault::Missing(missing);
    }
    let name = FIELDS.get(place).copied().unwrap_or_default();
    let next = FIELDS.get(place + 1).copied().unwrap_or(name);
    FieldFault::Order(name, next)
}
