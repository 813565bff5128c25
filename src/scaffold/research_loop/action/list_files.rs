//! List Files: the entries of a folder.

use podium_types::files::{FilesAnswer, FilesRequest};

use super::{Action, ActionFuture, Outcome, path, seen};
use crate::research_loop::answer::Input;
use crate::research_loop::bench::Bench;
use crate::research_loop::words::Words;

#[derive(Debug)]
pub(super) struct ListFiles;

impl Action for ListFiles {
    fn name(&self) -> &'static str {
        "List Files"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["dir_path"]
    }

    fn act<'a>(&'a self, bench: &'a Bench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let path = Some(path(input, "dir_path")).filter(|path| !path.is_empty());
            let path = path.unwrap_or_else(|| ".".to_owned());
            let request = FilesRequest::List { path: path.clone() };
            let (entries, more) = match bench.files("list", request).await? {
                Ok(FilesAnswer::Listed { entries, more }) => (entries, more),
                Ok(_) => (Vec::new(), false),
                Err(fault) => return bench.fault(self.name(), &fault).map(Outcome::Observation),
            };
            let line = |entry: &podium_types::files::FileEntry| {
                if entry.is_folder {
                    format!("{}/\n", entry.name)
                } else {
                    format!("{} ({} bytes)\n", entry.name, entry.bytes)
                }
            };
            let text: String =
                entries.iter().filter(|entry| !entry.name.starts_with('.')).map(line).collect();
            seen(bench, &Words { say: "listed", path: &path, text: &text, flag: more, ..Words::default() })
        })
    }
}
