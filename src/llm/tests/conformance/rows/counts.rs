//! Token counts that are missing or cannot be true. A count that is not told is estimated from above, never zero;
//! one beyond all windows is not believed, or a single line would use up a budget.

use serde_json::{Value, json};

use super::super::row::{Given, Row, answered, fine, open, response};
use super::super::speech::{Protocol, Say, stream};

pub(super) fn rows(protocol: &dyn Protocol) -> Vec<Row> {
    let told = |input: u64, output: u64| Some((input, output));
    let table = [
        ("usage missing", None, None),
        ("usage of zero", Some((json!(0), json!(0))), None),
        ("no tokens of the answer", Some((json!(10), json!(0))), None),
        ("no tokens of the prompt", Some((json!(0), json!(5))), None),
        ("usage of null", Some((Value::Null, Value::Null)), None),
        ("negative usage", Some((json!(-10), json!(-5))), None),
        ("usage in words", Some((json!("ten"), json!("five"))), None),
        ("usage as an object", Some((json!({}), json!([5]))), None),
        (
            "absurd usage",
            Some((json!(1_000_000_000_000_000_000_u64), json!(1_000_000_000_000_000_000_u64))),
            None,
        ),
        ("the largest usage", Some((json!(u64::MAX), json!(u64::MAX))), None),
        ("an absurd prompt", Some((json!(u64::MAX), json!(5))), None),
        ("an absurd answer", Some((json!(10), json!(u64::MAX))), None),
        ("usage beyond all numbers", Some((json!(1e300), json!(1e300))), None),
        ("a large prompt", Some((json!(9_000_000), json!(5))), told(9_000_000, 5)),
    ];
    let mut rows = Vec::new();
    for (name, usage, expected) in table {
        let say = Say { usage, ..Say::fine() };
        let given = answered(Given { usage: expected, ..fine() });
        if let Some(events) = stream(protocol, &say) {
            rows.push(Row::new(name, open(&events), given.clone()));
        }
        if let Some(body) = protocol.whole(&say) {
            rows.push(Row::new(
                format!("{name}, in a whole body"),
                response(200, "", body.to_string()),
                given,
            ));
        }
    }
    rows
}
