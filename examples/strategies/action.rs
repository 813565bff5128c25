//! An action of a research loop: it stands in the place of the shipped `List Files` and tells sizes in kilobytes. One of
//! a new name is told to the model by its `description`, `hint` and `observation`, and switched on by its name in
//! `actions.on`.
//!
//! Any scaffold made from `mlab` has it:
//!
//! ```toml
//! ```

use podium_scaffold::prelude::*;

/// The action.
#[derive(Debug)]
pub(crate) struct ListSizes;

impl Action for ListSizes {
    fn name(&self) -> &'static str {
        "List Files"
    }

    fn arguments(&self) -> Vec<&str> {
        vec!["dir_path"]
    }

    fn description(&self) -> Option<&str> {
        Some("Lists the entries of a folder, the largest first. `.` is the workspace, `./input` the data.")
    }

    fn act<'a>(&'a self, bench: &'a ActionBench<'a>, input: &'a Input) -> ActionFuture<'a> {
        Box::pin(async move {
            let request = FilesRequest::List { path: text_of(input, "dir_path") };
            let text = match bench.files("list", request).await? {
                Ok(FilesAnswer::Listed { mut entries, .. }) => {
                    entries.sort_by(|one, other| other.bytes.cmp(&one.bytes).then(one.name.cmp(&other.name)));
                    let line = |entry: &FileEntry| format!("{:>9} KB  {}\n", entry.bytes / 1_000, entry.name);
                    entries.iter().map(line).collect()
                }
                Ok(_) => String::new(),
                Err(fault) => format!("That is no folder to be listed: {fault}"),
            };
            Ok(ActionOutcome::Observation(text))
        })
    }
}
