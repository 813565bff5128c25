//! Just enough of Python's lexical grammar: where strings and comments are, and whether brackets pair up.
//! It is a gate, not a parser: what it refuses cannot run; what it passes may still be wrong.

use super::nested;

/// Reads Python line by line. Strings end at the first quote of their kind, also those that hold code; [`check`] asks
/// [`nested`] before it refuses.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    string: Option<Quote>,
    brackets: Vec<(char, usize)>,
    fault: Option<String>,
    line: usize,
}

#[derive(Clone, Copy, Debug)]
struct Quote {
    mark: char,
    long: bool,
    line: usize,
}

impl Lexer {
    /// Whether a triple-quoted string is open after the lines so far.
    pub(super) fn in_long_string(&self) -> bool {
        self.string.is_some_and(|quote| quote.long)
    }

    /// Reads the next line, given without its line feed.
    pub(super) fn feed(&mut self, line: &str) {
        self.line += 1;
        let mut rest = line;
        loop {
            rest = match self.string {
                Some(quote) => match in_string(rest, quote) {
                    StringEnd::Closed(after) => {
                        self.string = None;
                        after
                    }
                    StringEnd::NextLine => return,
                    StringEnd::Broken => {
                        self.string = None;
                        self.fault(format!("the string in line {} is not closed", quote.line));
                        return;
                    }
                },
                None => match self.in_code(rest) {
                    Some(after) => after,
                    None => return,
                },
            };
        }
    }

    /// Reads code up to the next string; `None` at the end of the line.
    fn in_code<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let place = rest.find(['#', '"', '\'', '(', '[', '{', ')', ']', '}'])?;
        let found = rest.get(place..)?;
        let character = found.chars().next()?;
        let after = found.get(1..)?;
        match character {
            '#' => return None,
            '"' | '\'' => {
                let long = found.get(..3).is_some_and(|three| three.chars().all(|mark| mark == character));
                self.string = Some(Quote { mark: character, long, line: self.line });
                return if long { found.get(3..) } else { Some(after) };
            }
            '(' | '[' | '{' => self.brackets.push((character, self.line)),
            closing => self.close(closing),
        }
        Some(after)
    }

    fn close(&mut self, closing: char) {
        let matching = match closing {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        match self.brackets.pop() {
            Some((opening, _)) if opening == matching => {}
            _ => self.fault(format!("`{closing}` in line {} closes nothing", self.line)),
        }
    }

    fn fault(&mut self, why: String) {
        self.fault.get_or_insert(why);
    }

    fn finish(mut self) -> Result<(), String> {
        if let Some(why) = self.fault.take() {
            return Err(why);
        }
        if let Some(quote) = self.string {
            return Err(format!("the string that begins in line {} is never closed", quote.line));
        }
        match self.brackets.last() {
            Some((opening, line)) => Err(format!("`{opening}` in line {line} is never closed")),
            None => Ok(()),
        }
    }
}

enum StringEnd<'a> {
    Closed(&'a str),
    NextLine,
    Broken,
}

fn in_string(rest: &str, quote: Quote) -> StringEnd<'_> {
    let mut characters = rest.char_indices();
    while let Some((place, character)) = characters.next() {
        if character == '\\' {
            if characters.next().is_none() {
                return StringEnd::NextLine;
            }
        } else if character == quote.mark {
            let found = rest.get(place..).unwrap_or_default();
            let length = if quote.long { 3 } else { 1 };
            let closes = found.chars().take(length).filter(|mark| *mark == quote.mark).count() == length;
            if closes {
                return StringEnd::Closed(found.get(length..).unwrap_or_default());
            }
        }
    }
    if quote.long { StringEnd::NextLine } else { StringEnd::Broken }
}

/// Fails with a reason when `code` cannot be a Python program.
pub(super) fn check(code: &str) -> Result<(), String> {
    let mut lexer = Lexer::default();
    code.lines().for_each(|line| lexer.feed(line));
    lexer.finish().or_else(|why| if nested::pairs_up(code) { Ok(()) } else { Err(why) })
}

/// Whether `text` plainly is Python: its first line that is not blank and no comment is one that no prose begins
/// with.
pub(super) fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return false };
    if first.starts_with("#!") {
        return true;
    }
    let line = if first.starts_with('#') { lines.find(|line| !line.starts_with('#')) } else { Some(first) };
    let Some(line) = line else { return false };
    let mut words = line.split_whitespace();
    match words.next() {
        Some("import") => is_import(line),
        Some("from") => words.nth(1) == Some("import"),
        Some("def" | "class") => line.ends_with([':', '(', ',']),
        _ => false,
    }
}

fn is_import(line: &str) -> bool {
    let line = line.split('#').next().unwrap_or_default();
    let modules = line.trim().strip_prefix("import ").unwrap_or_default();
    modules.split([',', ';']).all(|module| {
        let words: Vec<&str> = module.split_whitespace().collect();
        matches!(words.as_slice(), [_] | [_, "as", _] | ["import", _] | ["import", _, "as", _])
    })
}
