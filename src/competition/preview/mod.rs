//! The data overview that an agent is shown: what files there are, and what is in the tables.
//!
//! It follows AIDE's preview in kind and mends it: reading is bounded (the head of each file, a fixed number of bytes
//! for line counts), any bytes will do, long listings are cut, the order is fixed, and the text never exceeds its
//! limit. It reads the public folder and knows nothing of the private one.

mod head;
mod json;
mod table;
mod tree;
mod zip;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use table::Detail;
use tree::{Kind, Tree};

/// What a preview shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewOptions {
    /// The text is cut after this many characters.
    pub max_chars: usize,
    /// Names and types only, no values.
    pub schema_only: bool,
}

/// An overview of the folder `public`, at most `max_chars` characters long.
pub fn preview(public: &Path, max_chars: usize) -> String {
    preview_with(public, PreviewOptions { max_chars, schema_only: false })
}

/// [`preview`] with all options.
pub fn preview_with(public: &Path, options: PreviewOptions) -> String {
    overview(public, options, &BTreeMap::new())
}

/// [`preview`] with files of the folder, by name, as others are: those that an agent sees in their place.
pub fn preview_instead(
    public: &Path,
    options: PreviewOptions,
    instead: &BTreeMap<String, PathBuf>,
) -> String {
    overview(public, options, instead)
}

fn overview(public: &Path, options: PreviewOptions, instead: &BTreeMap<String, PathBuf>) -> String {
    let tree = tree::tree(public, instead, head::COUNTING);
    let detail = if options.schema_only { Detail::Schema } else { Detail::Values };
    let text = assemble(&tree, detail, options.schema_only);
    if text.chars().count() <= options.max_chars {
        return text;
    }
    cut(assemble(&tree, Detail::Names, options.schema_only), options.max_chars)
}

fn assemble(tree: &Tree, detail: Detail, schema_only: bool) -> String {
    let mut text = format!("```\n{}```\n", tree.text);
    for (name, path) in &tree.files {
        if let Some(block) = block(name, path, detail, schema_only) {
            text.extend(["\n", &tree::escape(name), ": ", &block]);
        }
    }
    text
}

fn block(name: &str, path: &Path, detail: Detail, schema_only: bool) -> Option<String> {
    let kind = tree::kind(path);
    // The description is in the prompt already.
    if matches!(kind, Kind::Zip | Kind::Other) || name == "description.md" {
        return None;
    }
    let head = head::head(path)?;
    if head.binary && kind != (Kind::Table { delimiter: b',' }) {
        return Some("not text\n".to_owned());
    }
    match kind {
        Kind::Table { delimiter } => Some(table::describe(&head, delimiter, detail)),
        Kind::Json | Kind::JsonLines => Some(json::describe(&head)),
        _ => {
            let short = head.whole && head.text.lines().count() < 30 && head.text.len() < 2000;
            (short && !schema_only && !head.text.trim().is_empty()).then(|| fenced(&head.text))
        }
    }
}

/// Text between fences that are longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}\n{}\n{fence}\n", text.trim_end())
}

/// The first `max_chars` characters, the last of them saying that there was more.
fn cut(text: String, max_chars: usize) -> String {
    let length = text.chars().count();
    if length <= max_chars {
        return text;
    }
    let note = format!("\n... ({length} characters of overview, cut at {max_chars})\n");
    let kept = max_chars.saturating_sub(note.chars().count());
    text.chars().take(kept).chain(note.chars()).take(max_chars).collect()
}
