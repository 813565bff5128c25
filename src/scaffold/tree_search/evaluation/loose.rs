//! JSON as models write it: Python's words and quotes, a comma too many, a line break inside of quotes, a number that no
//! double holds. Each object is written anew as strict JSON and then read as such, so nothing is guessed: what is cut, or
//! is no object at all, is not found.
//!
//! Reading takes time in proportion to the text, a bounded number of times.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

/// Most openings tried: a text of braces alone must not take quadratic time.
const OPENINGS: usize = 50;

/// The objects in a text, none inside of another, in their order.
pub(super) fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..OPENINGS {
        let Some(start) = rest.find('{') else { break };
        let tail = rest.get(start..).unwrap_or_default();
        let used = match object(tail) {
            Some((object, used)) => {
                found.push(object);
                used
            }
            None => 1,
        };
        rest = tail.get(used..).unwrap_or_default();
    }
    found
}

/// The object that `text` begins with, and its length in bytes.
fn object(text: &str) -> Option<(Value, usize)> {
    let mut writer = Writer { rest: text.chars().peekable(), strict: String::with_capacity(text.len()) };
    writer.write()?;
    let used = text.len() - writer.rest.map(char::len_utf8).sum::<usize>();
    Some((serde_json::from_str(&writer.strict).ok()?, used))
}

struct Writer<'a> {
    rest: Peekable<Chars<'a>>,
    strict: String,
}

impl Writer<'_> {
    /// Writes up to the end of the object; `None`: there is something that no dialect has, or no end.
    fn write(&mut self) -> Option<()> {
        let (mut depth, mut comma) = (0_usize, false);
        loop {
            let character = self.rest.next()?;
            if character.is_whitespace() {
                continue;
            }
            let closes = matches!(character, '}' | ']');
            if std::mem::take(&mut comma) && !closes {
                self.strict.push(',');
            }
            match character {
                ',' => comma = true,
                ':' => self.strict.push(':'),
                '{' | '[' => {
                    depth += 1;
                    self.strict.push(character);
                }
                '}' | ']' => {
                    depth = depth.checked_sub(1)?;
                    self.strict.push(character);
                    if depth == 0 {
                        return Some(());
                    }
                }
                '"' | '\'' => self.string(character)?,
                _ => self.word(character)?,
            }
        }
    }

    fn string(&mut self, quote: char) -> Option<()> {
        self.strict.push('"');
        loop {
            match self.rest.next()? {
                '\\' => match self.rest.next()? {
                    '\'' => self.strict.push('\''),
                    other => self.strict.extend(['\\', other]),
                },
                end if end == quote => break,
                '"' => self.strict.push_str("\\\""),
                '\n' => self.strict.push_str("\\n"),
                '\t' => self.strict.push_str("\\t"),
                control if control < ' ' => self.strict.push(' '),
                other => self.strict.push(other),
            }
        }
        self.strict.push('"');
        Some(())
    }

    /// A number or a word. What is no finite number is null: it says that there is none.
    fn word(&mut self, first: char) -> Option<()> {
        let mut word = String::from(first);
        let belongs = |next: &char| next.is_ascii_alphanumeric() || matches!(next, '+' | '-' | '.');
        while let Some(next) = self.rest.next_if(belongs) {
            word.push(next);
        }
        match word.as_str() {
            "true" | "True" => self.strict.push_str("true"),
            "false" | "False" => self.strict.push_str("false"),
            "null" | "None" => self.strict.push_str("null"),
            _ => {
                let number: f64 = word.parse().ok()?;
                self.strict.push_str(
                    &serde_json::Number::from_f64(number)
                        .map_or("null".to_owned(), |number| number.to_string()),
                );
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_read_in_any_dress() {
        let cases = [
            (r#"{"a": 1}"#, vec![json!({"a": 1.0})]),
            (r#"Sure: {"a": [1, 2,], "b": {},} Done."#, vec![json!({"a": [1.0, 2.0], "b": {}})]),
            ("{'a': True, 'b': None, 'c': False}", vec![json!({"a": true, "b": null, "c": false})]),
            (r#"{'it\'s': 'a "b" \n'}"#, vec![json!({"it's": "a \"b\" \n"})]),
            (r#"{"a": "the \"x\" is True", "b": True}"#, vec![json!({"a": "the \"x\" is True", "b": true})]),
            (r#"{"a": "one \"quote, True", "b": NaN}"#, vec![json!({"a": "one \"quote, True", "b": null})]),
            ("{\"a\": \"two\nlines\t\u{7}\"}", vec![json!({"a": "two\nlines\t "})]),
            (
                r#"{"a": Infinity, "b": -Infinity, "c": 1e400, "d": inf, "e": nan, "f": +0.5, "g": .5}"#,
                vec![json!({"a": null, "b": null, "c": null, "d": null, "e": null, "f": 0.5, "g": 0.5})],
            ),
            (
                r#"{"a": 1}{"a": 2} {it is} {"a": {"b": 3}}"#,
                vec![json!({"a": 1.0}), json!({"a": 2.0}), json!({"a": {"b": 3.0}})],
            ),
            (r#"{ {"a": 1} "#, vec![json!({"a": 1.0})]),
            (r#"{"a": 1, "b": "cut"#, vec![]),
            (r#"{"a": 1, "b": tru}"#, vec![]),
            (r#"{"a" 1}"#, vec![]),
            ("{,}", vec![json!({})]),
            (r#"{"a": 1]"#, vec![]),
            ("} {", vec![]),
            ("", vec![]),
        ];
        for (text, expected) in cases {
            assert_eq!(objects(text), expected, "{text}");
        }
        assert_eq!(objects(&"{".repeat(100_000)), Vec::<Value>::new());
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(objects(&deep), Vec::<Value>::new());
    }

    proptest! {
        /// Any text ends in some list of objects, and strict JSON is read as it is.
        #[test]
        fn reading_is_total_and_strict_json_is_kept(text in "[{}\\[\\]\"'\\\\,:a-fA-F0-9.+ é\n-]{0,200}", words in any::<Vec<String>>()) {
            let _ = objects(&text);
            let document = json!({"words": words, "more": {"yes": true, "none": null}});
            prop_assert_eq!(objects(&document.to_string()), vec![document]);
        }
    }
}
