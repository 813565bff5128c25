//! Tags: `<execute_bash>`, `<execute_ipython>`, `<execute_browse>` and `<finish>`, as the first CodeAct agents wrote them.
//!
//! Read as those agents' own parser reads them: `<finish>…</finish>` wins over everything, then the first bash block,
//! then the first Python block, then the first browse block; the thought is the answer without the block. A bash block
//! that says `exit` is a finish. Tags are case-sensitive. On purpose otherwise:
//! - blocks that are not run are listed; the original dropped them silently;
//! - a beginning of a closing tag at the very end (`</execute_ba`) is no part of the code;
//! - blank lines at the ends of a block, and the indentation of its first line, are part of the code;
//! - a tag whose `<` has a backslash behind it is text, so that every code can be written down.

use serde_json::{Map, Value};

use super::{Call, Dropped, Reading, between, escape, without_cut_closing};
use crate::codeact::tools::names;

/// A tag, the tool it calls, and the parameter that the block is.
struct Tag {
    open: &'static str,
    close: &'static str,
    tool: &'static str,
    parameter: &'static str,
}

/// The blocks, the first to win first.
const BLOCKS: [Tag; 3] = [
    Tag { open: "<execute_bash>", close: "</execute_bash>", tool: names::BASH, parameter: "command" },
    Tag { open: "<execute_ipython>", close: "</execute_ipython>", tool: names::IPYTHON, parameter: "code" },
    Tag { open: "<execute_browse>", close: "</execute_browse>", tool: names::BROWSE, parameter: "task" },
];
const FINISH: Tag = Tag { open: "<finish>", close: "</finish>", tool: names::FINISH, parameter: "message" };

/// What stands behind the `<` of each tag.
const MARKS: &[&str] = &[
    "execute_bash>",
    "/execute_bash>",
    "execute_ipython>",
    "/execute_ipython>",
    "execute_browse>",
    "/execute_browse>",
    "finish>",
    "/finish>",
];

/// Whether a tool has a tag.
pub fn has(tool: &str) -> bool {
    BLOCKS.iter().chain([&FINISH]).any(|tag| tag.tool == tool)
}

/// The opening tag of a tool.
pub fn opening(tool: &str) -> Option<&'static str> {
    BLOCKS.iter().chain([&FINISH]).find(|tag| tag.tool == tool).map(|tag| tag.open)
}

/// Texts that end an answer: one block is all.
pub fn stops() -> Vec<String> {
    BLOCKS.iter().map(|tag| tag.close.to_owned()).collect()
}

/// A block in an answer: the places of its first byte, of its content, and of the first byte behind it.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    content: (usize, usize),
    end: usize,
    open: bool,
}

impl Tag {
    /// The first block at or behind `from`.
    fn first(&self, text: &str, from: usize) -> Option<Block> {
        let start = from + text.get(from..)?.find(self.open)?;
        let begin = start + self.open.len();
        let rest = text.get(begin..)?;
        Some(match rest.find(self.close) {
            Some(length) => {
                let close = begin + length;
                Block { start, content: (begin, close), end: close + self.close.len(), open: false }
            }
            None => Block { start, content: (begin, text.len()), end: text.len(), open: true },
        })
    }

    fn content(&self, text: &str, block: Block) -> String {
        let raw = text.get(block.content.0..block.content.1).unwrap_or_default();
        let raw = if block.open { without_cut_closing(raw, self.close) } else { raw };
        escape::unescape(between(raw), MARKS)
    }

    fn call(&self, content: String) -> Call {
        let given = Some(content).filter(|content| !(self.tool == names::FINISH && content.is_empty()));
        let arguments = given.map(|content| (self.parameter.to_owned(), Value::from(content)));
        Call::text(self.tool, arguments.into_iter().collect::<Map<_, _>>())
    }
}

/// Reads an answer.
pub fn read(text: &str) -> Reading {
    if let Some(block) = finish(text) {
        return reading(text, block, FINISH.call(FINISH.content(text, block)));
    }
    let found = BLOCKS.iter().find_map(|tag| Some((tag, tag.first(text, 0)?)));
    let Some((tag, block)) = found else {
        return Reading { thought: escape::unescape(text, MARKS), ..Reading::default() };
    };
    let content = tag.content(text, block);
    let call = if tag.tool == names::BASH && content.trim() == "exit" {
        FINISH.call(String::new())
    } else {
        tag.call(content)
    };
    reading(text, block, call)
}

/// From the first `<finish>` to the last `</finish>` behind it. Without the latter it is text.
fn finish(text: &str) -> Option<Block> {
    let start = text.find(FINISH.open)?;
    let begin = start + FINISH.open.len();
    let close = begin + text.get(begin..)?.rfind(FINISH.close)?;
    Some(Block { start, content: (begin, close), end: close + FINISH.close.len(), open: false })
}

fn reading(text: &str, block: Block, call: Call) -> Reading {
    let before = text.get(..block.start).unwrap_or_default();
    let after = text.get(block.end..).unwrap_or_default();
    let mut dropped = others(before);
    dropped.extend(others(after));
    let thought = escape::unescape(&[before, after].concat(), MARKS).trim().to_owned();
    Reading { thought, calls: vec![call], dropped, open: block.open }
}

/// The blocks of a text, in their order. One that begins inside another is a part of it.
fn others(text: &str) -> Vec<Dropped> {
    let opening = |tag: &Tag, from: usize| Some(from + text.get(from..)?.find(tag.open)?);
    let mut found = Vec::new();
    let mut at = 0;
    let mut next: Vec<Option<usize>> = BLOCKS.iter().map(|tag| opening(tag, 0)).collect();
    loop {
        for (tag, start) in BLOCKS.iter().zip(&mut next) {
            if start.is_some_and(|start| start < at) {
                *start = opening(tag, at);
            }
        }
        let first = BLOCKS.iter().zip(&next).filter_map(|(tag, start)| Some((tag, (*start)?)));
        let first = first.min_by_key(|(_, start)| *start);
        let Some((tag, block)) = first.and_then(|(tag, start)| Some((tag, tag.first(text, start)?))) else {
            return found;
        };
        found.push(Dropped { name: Some(tag.tool.to_owned()), text: tag.content(text, block) });
        at = block.end;
    }
}

/// Writes a message and its call.
pub fn write(thought: &str, call: Option<&Call>) -> String {
    let thought = escape::escape(thought, MARKS);
    let Some(call) = call else { return thought };
    let Some(tag) = BLOCKS.iter().chain([&FINISH]).find(|tag| tag.tool == call.name) else { return thought };
    let arguments = call.arguments.as_ref().ok();
    let content = arguments.and_then(|arguments| arguments.get(tag.parameter)).and_then(Value::as_str);
    let separator = if thought.is_empty() { "" } else { "\n\n" };
    let block = match content {
        Some(content) => {
            format!("{}\n{}\n{}", tag.open, escape::escape(content, MARKS), tag.close)
        }
        None => format!("{}{}", tag.open, tag.close),
    };
    format!("{thought}{separator}{block}")
}
