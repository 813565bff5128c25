//! A folder as the editor shows it: its entries and those of its folders, hidden ones counted.

use podium_types::files::{FileEntry, FileFault, FilesAnswer, FilesRequest};

use crate::codeact::tools::Hands;
use crate::strategy::StrategyError;

/// What a folder holds.
pub(super) struct Listed {
    /// One line for each entry.
    pub(super) text: String,
    /// Hidden entries that have none.
    pub(super) hidden: usize,
}

/// Lists a folder, two levels deep.
pub(super) async fn list(hands: &Hands<'_>, path: &str) -> Result<Result<Listed, FileFault>, StrategyError> {
    let top = match entries(hands, path).await? {
        Ok(found) => found,
        Err(fault) => return Ok(Err(fault)),
    };
    let mut listed = Listed { text: String::new(), hidden: 0 };
    let mut folders = hands.agent.spec.editor.max_folders;
    for entry in &top.entries {
        if !listed.line("", entry) || !entry.is_folder || folders == 0 {
            continue;
        }
        folders -= 1;
        let name = if path == "." { entry.name.clone() } else { format!("{path}/{}", entry.name) };
        // A folder that cannot be read is shown by its name alone.
        if let Ok(below) = entries(hands, &name).await? {
            for inner in &below.entries {
                listed.line(&format!("{}/", entry.name), inner);
            }
            listed.more(&format!("{}/", entry.name), below.more);
        }
    }
    listed.more("", top.more);
    Ok(Ok(listed))
}

struct Entries {
    entries: Vec<FileEntry>,
    more: bool,
}

async fn entries(hands: &Hands<'_>, path: &str) -> Result<Result<Entries, FileFault>, StrategyError> {
    let request = FilesRequest::List { path: path.to_owned() };
    Ok(match hands.context.files(hands.key("list"), request).await? {
        Ok(FilesAnswer::Listed { entries, more }) => Ok(Entries { entries, more }),
        Ok(_) => Err(FileFault::Failed { message: "no list came back".to_owned() }),
        Err(fault) => Err(fault),
    })
}

impl Listed {
    /// Adds a line; `false` for a hidden entry, which has none.
    fn line(&mut self, folder: &str, entry: &FileEntry) -> bool {
        if entry.name.starts_with('.') {
            self.hidden += 1;
            return false;
        }
        let tail = if entry.is_folder { "/".to_owned() } else { format!("  ({} bytes)", entry.bytes) };
        self.text.extend([folder, &entry.name, &tail, "\n"]);
        true
    }

    fn more(&mut self, folder: &str, more: bool) {
        if more {
            self.text.extend([folder, "…\n"]);
        }
    }
}
