//! What differs between two requests of a strategy under one key, so that whoever wrote it need not guess.
//!
//! Pure, and bounded: a few fields, each shown around the first place where the two part, with control characters written
//! out.

use podium_scaffold::Effect;
use serde_json::Value;

/// Fields that are told.
const MOST: usize = 2;
/// Characters of a text that are shown.
const SHOWN: usize = 60;
/// Of these, those before the first that differs.
const BEFORE: usize = 20;

/// The fields in which `asked` is another than `recorded`, with both values; empty: in none that can be seen.
pub(crate) fn told(recorded: &Effect, asked: &Effect) -> String {
    let (Ok(before), Ok(now)) = (serde_json::to_value(recorded), serde_json::to_value(asked)) else {
        return String::new();
    };
    let mut found = Vec::new();
    differ("", &before, &now, &mut found);
    let more = found.len().saturating_sub(MOST);
    let mut words: Vec<String> = found.into_iter().take(MOST).collect();
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    words.join("; ")
}

fn differ(path: &str, before: &Value, now: &Value, found: &mut Vec<String>) {
    match (before, now) {
        (before, now) if before == now => {}
        (Value::Object(one), Value::Object(other)) => {
            let new = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(new) {
                // What all requests of a kind have around them is no field of the protocol.
                let inner = match (path, key.as_str()) {
                    ("", "request") => String::new(),
                    ("", key) => key.to_owned(),
                    (path, key) => format!("{path}.{key}"),
                };
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                differ(&inner, &of(one), &of(other), found);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            let known = found.len();
            for (place, (before, now)) in one.iter().zip(other).enumerate() {
                differ(&format!("{path}[{place}]"), before, now, found);
            }
            if found.len() == known {
                found.push(format!("`{path}` had {} elements, and has {} now", one.len(), other.len()));
            }
        }
        (Value::String(one), Value::String(other)) => {
            let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
            let (before, now) = (around(one, same), around(other, same));
            found.push(format!("`{path}` was {before}, and is {now} now"));
        }
        (before, now) => {
            let (before, now) = (before.to_string(), now.to_string());
            found.push(format!("`{path}` was {}, and is {} now", around_plain(&before), around_plain(&now)));
        }
    }
}

/// A text in quotes, cut to what stands around one of its characters.
fn around(text: &str, place: usize) -> String {
    let start = if text.chars().nth(SHOWN).is_none() { 0 } else { place.saturating_sub(BEFORE) };
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let (before, behind) =
        (if start > 0 { "…" } else { "" }, if text.chars().nth(start + SHOWN).is_some() { "…" } else { "" });
    // A text in JSON has its control characters written out.
    format!("{before}{}{behind}", Value::String(part))
}

fn around_plain(text: &str) -> String {
    let part: String = text.chars().take(SHOWN).collect();
    if part.len() < text.len() { format!("{part}…") } else { part }
}

#[cfg(test)]
mod tests {
    use podium_types::chat::{ChatRequest, Message, Speaker};

    use super::*;

    fn chat(texts: &[&str], temperature: Option<f64>) -> Effect {
        let messages = texts.iter().map(|text| Message::text(Speaker::User, (*text).to_owned())).collect();
        let request = ChatRequest { messages, temperature, ..ChatRequest::default() };
        Effect::Chat { role: "code".to_owned(), request: Box::new(request), hears_failures: false }
    }

    #[test]
    fn a_few_fields_with_both_values_around_the_first_difference() {
        let note = |text: &str| Effect::Note { text: text.to_owned() };
        let long = |end: &str| format!("{}it is {end} o'clock{}", "x".repeat(500), "y".repeat(500));
        let (noon, later) = (long("12"), long("13"));
        let cases = [
            (note("a\u{1b}[31m"), note("b"), r#"`text` was "a\u001b[31m", and is "b" now"#.to_owned()),
            (
                chat(&["a", &noon], Some(0.5)),
                chat(&["a", &later], None),
                format!(
                    "`messages[1].content` was …\"{x}it is 12 o'clock{y}\"…, and is …\"{x}it is 13 o'clock{y}\"… now; \
                     `temperature` was 0.5, and is null now",
                    x = "x".repeat(13),
                    y = "y".repeat(31)
                ),
            ),
            (
                chat(&["a"], None),
                chat(&["a", "b"], None),
                "`messages` had 1 elements, and has 2 now".to_owned(),
            ),
            (
                note("a"),
                Effect::BeginStep,
                r#"`effect` was "note", and is "begin_step" now; `text` was "a", and is null now"#.to_owned(),
            ),
            (note("a"), note("a"), String::new()),
        ];
        for (before, now, expected) in cases {
            assert_eq!(told(&before, &now), expected);
        }
    }
}
