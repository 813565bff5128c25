//! The environment, and beneath it the lines of `./.env`, as shells and other tools read such files.
//!
//! A line is `NAME=VALUE`, with or without `export`. A value in single quotes stands for itself; in double quotes a
//! backslash keeps the next character from its meaning; without quotes a ` #` begins a comment. A byte order mark and
//! carriage returns do not count. A value is never part of a message: it may be a key.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use crate::cli::terminal::Terminal;

const FILE: &str = ".env";

/// The environment, and what `./.env` adds to it. What of that file cannot be used is told and left out: it may hold
/// more than our variables, and a command may need none of them.
pub(crate) fn read(terminal: &Terminal) -> BTreeMap<String, String> {
    let (mut variables, wrong) = match std::fs::read(FILE) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => parse(&text),
            Err(_) => (BTreeMap::new(), Some("it is not UTF-8 text, and was left out".to_owned())),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Default::default(),
        Err(error) => (BTreeMap::new(), Some(format!("could not read it: {error}"))),
    };
    if let Some(wrong) = wrong {
        terminal.error_line(&format!("{} {FILE} in this folder: {wrong}", terminal.yellow("warning:")));
    }
    variables.extend(
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
    );
    variables
}

/// The variables of a file, and which of its lines hold none.
fn parse(text: &str) -> (BTreeMap<String, String>, Option<String>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut variables, mut wrong) = (BTreeMap::new(), Vec::new());
    for (line, number) in text.lines().map(str::trim).zip(1..) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match variable(line) {
            Some((name, value)) => drop(variables.insert(name, value)),
            None => wrong.push(i32::to_string(&number)),
        }
    }
    let told = match wrong.as_slice() {
        [] => None,
        [line] => Some(format!("line {line} is not of the form NAME=VALUE, and was left out")),
        lines => {
            Some(format!("lines {} are not of the form NAME=VALUE, and were left out", lines.join(", ")))
        }
    };
    (variables, told)
}

fn variable(line: &str) -> Option<(String, String)> {
    let bare = line.strip_prefix("export").filter(|rest| rest.starts_with(char::is_whitespace));
    let (name, value) = bare.unwrap_or(line).split_once('=')?;
    let name = name.trim();
    let plain = |c: char| !c.is_whitespace() && c != '"' && c != '\'';
    (!name.is_empty() && name.chars().all(plain)).then_some(())?;
    Some((name.to_owned(), value_of(value.trim())?))
}

/// What `text` behind an equals sign means; `None` where a quote does not end, or something follows it.
fn value_of(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\'') {
        let (value, behind) = rest.split_once('\'')?;
        return is_over(behind).then(|| value.to_owned());
    }
    let Some(rest) = text.strip_prefix('"') else {
        let comment =
            if text.starts_with('#') { Some(0) } else { text.find(" #").or_else(|| text.find("\t#")) };
        return Some(text.get(..comment.unwrap_or(text.len()))?.trim_end().to_owned());
    };
    let mut value = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return is_over(characters.as_str()).then_some(value),
            '\\' => value.push(match characters.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other => other,
            }),
            other => value.push(other),
        }
    }
}

fn is_over(behind: &str) -> bool {
    let behind = behind.trim();
    behind.is_empty() || behind.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_other_tools_read_them() {
        for (line, value) in [
            ("K=v", "v"),
            ("  K = v  ", "v"),
            ("export K=v", "v"),
            ("export\tK=\"v\"", "v"),
            ("\u{feff}K=v", "v"),
            ("K=v\r", "v"),
            ("K='v'\r", "v"),
            ("K=v # mine", "v"),
            ("K=v#1", "v#1"),
            ("K='v' # mine", "v"),
            ("K=\"v # not mine\"", "v # not mine"),
            (r#"K="a\"b\\c\nd""#, "a\"b\\c\nd"),
            (r"K='a\nb'", r"a\nb"),
            ("K=", ""),
            ("K= # nothing", ""),
            ("K=a=b==", "a=b=="),
            ("# comment\n\nK=v\n", "v"),
            ("K=first\nK=v", "v"),
        ] {
            assert_eq!(parse(line), (BTreeMap::from([("K".to_owned(), value.to_owned())]), None), "{line:?}");
        }
        assert_eq!(parse("exported=1").0, BTreeMap::from([("exported".to_owned(), "1".to_owned())]));
    }

    #[test]
    fn a_line_that_is_none_is_told_by_its_number_and_left_out() {
        for (line, number) in [
            ("K", 1),
            ("A=b\nsk-hunter2", 2),
            ("=v", 1),
            ("K=\"v", 1),
            ("K='v' x", 1),
            ("K=\"v\\", 1),
            ("A B=c", 1),
        ] {
            let told = format!("line {number} is not of the form NAME=VALUE, and was left out");
            assert_eq!(parse(&format!("{line}\nZ=1")).1, Some(told), "{line:?}");
            assert_eq!(parse(&format!("{line}\nZ=1")).0["Z"], "1");
        }
        let told = "lines 1, 3 are not of the form NAME=VALUE, and were left out".to_owned();
        assert_eq!(parse("a\nB=c\nd").1, Some(told));
    }
}
