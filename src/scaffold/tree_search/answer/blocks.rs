//! Fenced blocks of a text in Markdown, read line by line.
//!
//! A fence may be indented (its indentation is taken off the block's lines) and may stand at the end of a line of
//! prose if it is tagged as Python. It ends at a line of at least as many backticks and nothing else. While a
//! triple-quoted string is open such a line is taken for part of the string, unless the string never ends: then the
//! first such line counts after all. That second look happens once per text, which keeps reading linear.

use super::python::Lexer;

/// The language of a block, by its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    Unnamed,
    Other,
}

/// One fenced block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) language: Language,
    pub(super) code: String,
    pub(super) closed: bool,
}

struct Opening<'a> {
    prose: &'a str,
    indent: usize,
    ticks: usize,
    language: Language,
}

struct End {
    /// First line after the block's code.
    code: usize,
    /// Line to go on from.
    next: usize,
    closed: bool,
}

/// The text before the first fence, and all fenced blocks.
pub(super) fn split(text: &str) -> (String, Vec<Block>) {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut plan: Vec<&str> = Vec::new();
    let mut second_look = true;
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let Some(opening) = opening(line) else {
            if blocks.is_empty() {
                plan.push(line);
            }
            at += 1;
            continue;
        };
        if blocks.is_empty() {
            plan.push(opening.prose);
        }
        let body = lines.get(at + 1..).unwrap_or_default();
        let end = find_end(body, &opening, &mut second_look);
        blocks.push(block(body.get(..end.code).unwrap_or_default(), &opening, end.closed));
        at += 1 + end.next;
    }
    (plan.join("\n").trim().to_owned(), blocks)
}

fn opening(line: &str) -> Option<Opening<'_>> {
    let start = line.find("```")?;
    let (prose, fence) = line.split_at(start);
    let info = fence.trim_start_matches('`');
    let ticks = fence.len() - info.len();
    if info.contains('`') {
        return None;
    }
    let tag = info.split_whitespace().next().unwrap_or_default().trim_matches(['{', '}', '.']);
    let language = match tag.to_ascii_lowercase().as_str() {
        "python" | "py" | "python3" => Language::Python,
        "" => Language::Unnamed,
        _ => Language::Other,
    };
    let alone = prose.trim().is_empty();
    if !alone && language != Language::Python {
        return None;
    }
    Some(Opening { prose, indent: if alone { prose.len() } else { 0 }, ticks, language })
}

fn closes(line: &str, ticks: usize) -> bool {
    let line = line.trim();
    line.len() >= ticks && line.bytes().all(|byte| byte == b'`')
}

fn find_end(body: &[&str], fence: &Opening<'_>, second_look: &mut bool) -> End {
    let mut lexer = Lexer::default();
    let mut inside_string = None;
    for (place, line) in body.iter().enumerate() {
        let in_string = fence.language != Language::Other && lexer.in_long_string();
        if closes(line, fence.ticks) {
            if !in_string || !*second_look {
                return End { code: place, next: place + 1, closed: true };
            }
            inside_string = inside_string.or(Some(place));
        } else if fence.language == Language::Python && !in_string && opens_python(line) {
            // The model forgot to close: no Python line looks like this.
            return End { code: place, next: place, closed: true };
        }
        lexer.feed(line);
    }
    if let Some(place) = inside_string {
        *second_look = false;
        return End { code: place, next: place + 1, closed: true };
    }
    let last = body.iter().rposition(|line| !line.trim().is_empty());
    let glued = last.is_some_and(|place| body.get(place).is_some_and(|line| ends_glued(line, fence.ticks)));
    End { code: body.len(), next: body.len(), closed: glued }
}

fn opens_python(line: &str) -> bool {
    opening(line).is_some_and(|fence| fence.language == Language::Python && fence.prose.trim().is_empty())
}

/// `print(1)` with the closing fence at its end, as the very last line of an answer.
fn ends_glued(line: &str, ticks: usize) -> bool {
    let line = line.trim_end();
    line.len() - line.trim_end_matches('`').len() >= ticks
}

fn block(lines: &[&str], fence: &Opening<'_>, closed: bool) -> Block {
    let mut code = String::new();
    for (place, line) in lines.iter().enumerate() {
        if place > 0 {
            code.push('\n');
        }
        let blank = line.bytes().take(fence.indent).take_while(u8::is_ascii_whitespace).count();
        code.push_str(line.get(blank..).unwrap_or_default());
    }
    let mut code = code.trim_matches('\n');
    let tail = code.trim_end();
    if closed && ends_glued(tail, fence.ticks) {
        code = tail.trim_end_matches('`');
    }
    Block { language: fence.language, code: code.to_owned(), closed }
}
