//! The file editor: looks at files and folders, makes files, replaces exact text, inserts lines, and takes changes back.
//!
//! A file is read and written whole, and written only if it is still what was read. Paths are those inside: relative to
//! the working directory, or absolute where that stands there.

mod folder;
pub mod text;
pub(crate) mod undo;

use podium_types::files::{FileFault, FileText, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::sha256::Sha256;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use self::text::{EditFault, Edited, Lines, around, count, insert, line_end, numbered, range, replace};
use self::undo::Before;
use super::{Called, Hands, Outcome, Tool, names, outcome, read};
use crate::codeact::arguments::{ArgumentFault, Schema};
use crate::strategy::StrategyError;

/// The tool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Editor;

/// What it is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    View,
    Create,
    StrReplace,
    Insert,
    UndoEdit,
}

/// Its arguments.
#[derive(Debug, Deserialize)]
struct Arguments {
    command: Act,
    path: String,
    file_text: Option<String>,
    old_str: Option<String>,
    new_str: Option<String>,
    insert_line: Option<i64>,
    view_range: Option<Vec<i64>>,
}

/// Variables of the template of what came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EditorVariables {
    /// `viewed`, `listed`, `created`, `replaced`, `inserted`, `undone`, `removed` (a creation was undone), or a fault:
    /// `file` (see `file`), `edit` (see `edit`), `no_undo`, `lossy` (not all of it is text, so it is not edited),
    /// `folder_range` (a range of a folder).
    pub outcome: &'static str,
    /// The path as given.
    pub path: String,
    /// Numbered lines, or entries of a folder.
    pub shown: String,
    /// The first and last line that are shown.
    pub lines: Option<Lines>,
    /// Lines of the file.
    pub count: usize,
    /// Its lines end with a carriage return and a line feed.
    pub carriage_returns: bool,
    /// Its last line has no end.
    pub no_final_end: bool,
    /// Only the beginning of a large file was read; its whole size in bytes.
    pub beginning_of: Option<u64>,
    /// Bytes that are no text are shown as replacement characters.
    pub lossy: bool,
    /// Entries of a folder that are hidden, and not shown.
    pub hidden: usize,
    /// What keeps the file from being touched.
    pub file: Option<FileFault>,
    /// What keeps the change from being made.
    pub edit: Option<EditFault>,
}

/// Names in [`EditorVariables`].
pub const EDITOR: &[&str] = &[
    "outcome",
    "path",
    "shown",
    "lines",
    "count",
    "carriage_returns",
    "no_final_end",
    "beginning_of",
    "lossy",
    "hidden",
    "file",
    "edit",
];

/// What stands at the head of absolute paths inside.
const INSIDE: &str = "/workspace/";

/// Why nothing was done.
enum Fault {
    File(FileFault),
    Edit(EditFault),
    Other(&'static str),
    Argument(ArgumentFault),
}

impl From<FileFault> for Fault {
    fn from(fault: FileFault) -> Self {
        Self::File(fault)
    }
}

impl From<EditFault> for Fault {
    fn from(fault: EditFault) -> Self {
        Self::Edit(fault)
    }
}

/// What was done, or why nothing was.
type Done = Result<EditorVariables, Fault>;

impl Tool for Editor {
    fn name(&self) -> &str {
        names::EDITOR
    }

    fn schema(&self) -> Schema {
        Schema::of::<Arguments>()
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, hands: &'a Hands<'a>, arguments: Map<String, Value>) -> Called<'a> {
        Box::pin(async move {
            let arguments: Arguments = match read(arguments) {
                Ok(arguments) => arguments,
                Err(fault) => return outcome::fault(hands, &fault),
            };
            let path = inside(&arguments.path);
            let desk = Desk { hands, path: path.clone() };
            let (variables, failed) = match desk.act(arguments).await? {
                Ok(done) => (done, false),
                Err(Fault::Argument(fault)) => return outcome::fault(hands, &fault),
                Err(fault) => (refused(fault), true),
            };
            let variables = EditorVariables { path, ..variables };
            let text = hands.render(&hands.agent.spec.prompts.editor, &variables)?;
            Ok(Outcome { came_to: text.clone(), text, failed, ..Outcome::default() })
        })
    }
}

fn refused(fault: Fault) -> EditorVariables {
    match fault {
        Fault::File(file) => {
            EditorVariables { outcome: "file", file: Some(file), ..EditorVariables::default() }
        }
        Fault::Edit(edit) => {
            EditorVariables { outcome: "edit", edit: Some(edit), ..EditorVariables::default() }
        }
        Fault::Other(outcome) => EditorVariables { outcome, ..EditorVariables::default() },
        Fault::Argument(_) => EditorVariables::default(),
    }
}

/// A path as effects have it: relative to the working directory.
fn inside(path: &str) -> String {
    let path = path.trim();
    let relative = path.strip_prefix(INSIDE).unwrap_or(path).trim_start_matches("./");
    let is_root = path == INSIDE.trim_end_matches('/') || relative.is_empty() && !path.is_empty();
    if is_root { ".".to_owned() } else { relative.trim_end_matches('/').to_owned() }
}

/// One call's file.
struct Desk<'a> {
    hands: &'a Hands<'a>,
    path: String,
}

impl Desk<'_> {
    async fn act(&self, arguments: Arguments) -> Result<Done, StrategyError> {
        let Arguments { command, file_text, old_str, new_str, insert_line, view_range, .. } = arguments;
        let needed = |parameter: &str| {
            Ok(Err(Fault::Argument(ArgumentFault::Missing { parameter: parameter.to_owned() })))
        };
        match command {
            Act::View => self.view(view_range.as_deref()).await,
            Act::UndoEdit => self.undo().await,
            Act::Create => match file_text {
                Some(text) => self.create(text).await,
                None => needed("file_text"),
            },
            Act::StrReplace => match old_str {
                Some(old) => {
                    let new = new_str.unwrap_or_default();
                    self.edit("replaced", |text| replace(text, &old, &new)).await
                }
                None => needed("old_str"),
            },
            Act::Insert => match (insert_line, new_str) {
                (Some(line), Some(new)) => self.edit("inserted", |text| insert(text, line, &new)).await,
                (None, _) => needed("insert_line"),
                (_, None) => needed("new_str"),
            },
        }
    }

    async fn files(
        &self,
        what: &str,
        request: FilesRequest,
    ) -> Result<Result<FilesAnswer, FileFault>, StrategyError> {
        Ok(self.hands.context.files(self.hands.key(what), request).await?)
    }

    async fn read(&self, beginning: bool) -> Result<Result<FileText, FileFault>, StrategyError> {
        let max_bytes = self.hands.agent.spec.editor.max_bytes;
        let request = FilesRequest::Read { path: self.path.clone(), max_bytes, beginning };
        Ok(match self.files("read", request).await? {
            Ok(FilesAnswer::Read(text)) => Ok(text),
            Ok(_) => Err(FileFault::Failed { message: "no text came back".to_owned() }),
            Err(fault) => Err(fault),
        })
    }

    async fn write(&self, content: String, when: WriteWhen) -> Result<Result<(), FileFault>, StrategyError> {
        let request = FilesRequest::Write { path: self.path.clone(), content, when };
        Ok(self.files("write", request).await?.map(|_| ()))
    }

    async fn view(&self, asked: Option<&[i64]>) -> Result<Done, StrategyError> {
        if self.path == "." {
            return self.folder(asked).await;
        }
        let file = match self.read(true).await? {
            Ok(file) => file,
            Err(FileFault::Folder { .. }) => return self.folder(asked).await,
            Err(fault) => return Ok(Err(fault.into())),
        };
        let lines = match asked
            .map_or(Ok(Lines { first: 1, last: count(&file.text) }), |asked| range(&file.text, asked))
        {
            Ok(lines) => lines,
            Err(fault) => return Ok(Err(fault.into())),
        };
        Ok(Ok(EditorVariables {
            beginning_of: file.is_beginning().then_some(file.bytes),
            lossy: file.lossy,
            ..self.shown("viewed", &file.text, lines)?
        }))
    }

    async fn folder(&self, asked: Option<&[i64]>) -> Result<Done, StrategyError> {
        if asked.is_some() {
            return Ok(Err(Fault::Other("folder_range")));
        }
        Ok(match folder::list(self.hands, &self.path).await? {
            Ok(folder::Listed { text, hidden }) => {
                let shown = self.hands.shortened(&text)?;
                Ok(EditorVariables { outcome: "listed", shown, hidden, ..EditorVariables::default() })
            }
            Err(fault) => Err(fault.into()),
        })
    }

    async fn create(&self, text: String) -> Result<Done, StrategyError> {
        let left = Sha256::of(text.as_bytes());
        let lines = count(&text);
        if let Err(fault) = self.write(text, WriteWhen::Absent).await? {
            return Ok(Err(fault.into()));
        }
        self.note(None, left);
        Ok(Ok(EditorVariables { outcome: "created", count: lines, ..EditorVariables::default() }))
    }

    async fn edit(
        &self,
        outcome: &'static str,
        change: impl Fn(&str) -> Result<Edited, EditFault>,
    ) -> Result<Done, StrategyError> {
        let file = match self.read(false).await? {
            Ok(FileText { lossy: true, .. }) => return Ok(Err(Fault::Other("lossy"))),
            Ok(file) => file,
            Err(fault) => return Ok(Err(fault.into())),
        };
        let Edited { text, lines } = match change(&file.text) {
            Ok(edited) => edited,
            Err(fault) => return Ok(Err(fault.into())),
        };
        let when = file.sha256.map_or(WriteWhen::Always, |sha256| WriteWhen::Unchanged { sha256 });
        if let Err(fault) = self.write(text.clone(), when).await? {
            return Ok(Err(fault.into()));
        }
        self.note(Some(file.text), Sha256::of(text.as_bytes()));
        Ok(Ok(self.shown(outcome, &text, around(&text, lines))?))
    }

    async fn undo(&self) -> Result<Done, StrategyError> {
        let last = self.hands.memory.borrow().undo.last(&self.path).cloned();
        let Some(Before { text, left }) = last else { return Ok(Err(Fault::Other("no_undo"))) };
        let now = self.read(false).await?;
        if !now.is_ok_and(|now| now.sha256 == Some(left.clone())) {
            return Ok(Err(FileFault::Changed { path: self.path.clone() }.into()));
        }
        let done = match &text {
            Some(text) => self.write(text.clone(), WriteWhen::Unchanged { sha256: left }).await?,
            None => self.files("remove", FilesRequest::Remove { path: self.path.clone() }).await?.map(|_| ()),
        };
        if let Err(fault) = done {
            return Ok(Err(fault.into()));
        }
        self.hands.memory.borrow_mut().undo.pop(&self.path);
        Ok(Ok(match &text {
            Some(text) => self.shown("undone", text, Lines { first: 1, last: count(text) })?,
            None => EditorVariables { outcome: "removed", ..EditorVariables::default() },
        }))
    }

    fn note(&self, text: Option<String>, left: Sha256) {
        let most = self.hands.agent.spec.editor.undo;
        self.hands.memory.borrow_mut().undo.push(&self.path, Before { text, left }, most);
    }

    /// Numbered lines of a text. What is too long loses its middle after it was numbered, so that numbers are right.
    fn shown(
        &self,
        outcome: &'static str,
        text: &str,
        lines: Lines,
    ) -> Result<EditorVariables, StrategyError> {
        Ok(EditorVariables {
            outcome,
            shown: self.hands.shortened(&numbered(text, lines))?,
            lines: Some(lines),
            count: count(text),
            carriage_returns: line_end(text) == "\r\n",
            no_final_end: !text.is_empty() && !text.ends_with('\n'),
            ..EditorVariables::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_inside() {
        for (given, path) in [
            ("solve.py", "solve.py"),
            ("./a/b.py", "a/b.py"),
            ("/workspace/a/b.py", "a/b.py"),
            ("/workspace", "."),
            ("/workspace/", "."),
            (".", "."),
            ("./", "."),
            ("input/", "input"),
            ("/etc/passwd", "/etc/passwd"),
            ("../x", "../x"),
            ("", ""),
        ] {
            assert_eq!(inside(given), path, "{given}");
        }
    }
}
