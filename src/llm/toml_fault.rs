//! What is wrong with a TOML file, as one sentence: file, line, key, and the key that was meant.

use podium_types::nearest::nearest;
use serde::de::DeserializeOwned;

/// A TOML file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{file}`, line {line}: {problem}{}", meant(.nearest.as_deref()))]
pub struct TomlFault {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
    /// The known key or value nearest to an unknown one.
    pub nearest: Option<String>,
}

/// The end of a sentence about an unknown name.
pub(crate) fn meant(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// Reads `text`, which stands in `file`.
pub(crate) fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, TomlFault> {
    toml::from_str(text).map_err(|error| {
        let line = line_at(text, error.span().map_or(0, |span| span.start));
        let (problem, nearest) = told(error.message());
        TomlFault { file: file.to_owned(), line, problem, nearest }
    })
}

/// The line of the byte `start`, from 1.
pub(crate) fn line_at(text: &str, start: usize) -> usize {
    text.get(..start).unwrap_or_default().matches('\n').count() + 1
}

/// serde's words on one line, and the nearest of the names it would have liked. With that, the others only get in
/// the way: "unknown field `x`, expected one of `a`, `b`" is cut short.
fn told(message: &str) -> (String, Option<String>) {
    let message =
        message.split_whitespace().collect::<Vec<_>>().join(" ").replace("unknown field", "unknown key");
    let mut quoted = message.split('`').skip(1).step_by(2);
    let nearest = match quoted.next() {
        Some(unknown) if message.starts_with("unknown ") => nearest(unknown, quoted),
        _ => None,
    };
    match (nearest, message.split_once(", expected ")) {
        (Some(nearest), Some((problem, _))) => (problem.to_owned(), Some(nearest)),
        (nearest, _) => (message, nearest),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Shape {
        window: u32,
        limit: u32,
    }

    #[test]
    fn faults_are_one_sentence() {
        for (text, told) in [
            ("window = 1\nlimt = 2\n", "`a.toml`, line 2: unknown key `limt`; did you mean `limit`?"),
            ("\n\nzzz = 2\n", "`a.toml`, line 3: unknown key `zzz`, expected `window` or `limit`"),
            ("window = \"x\"\nlimit = 1", "`a.toml`, line 1: invalid type: string \"x\", expected u32"),
            ("window = 1", "`a.toml`, line 1: missing field `limit`"),
            ("window = 1\nwindow = 2", "`a.toml`, line 2: duplicate key"),
        ] {
            assert_eq!(read::<Shape>("a.toml", text).unwrap_err().to_string(), told);
        }
    }
}
