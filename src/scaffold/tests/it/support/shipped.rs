//! The shipped scaffolds and templates, read from the repository: a new file is in every test that goes through them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_scaffold::Scaffold;

/// The files of a folder of the repository and below, by their paths from it.
#[expect(clippy::disallowed_methods, reason = "a test looks at the repository, not at a run")]
pub(crate) fn files(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// The shipped templates, by their paths below `prompts/`.
pub(crate) fn prompts() -> BTreeMap<String, String> {
    files("prompts", ".tera")
}

/// The shipped scaffolds that are tree searches, by their ids.
pub(crate) fn scaffolds() -> BTreeMap<String, Scaffold> {
    let load = |(name, text): (String, String)| {
        let scaffold =
            Scaffold::load(&text, prompts(), &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.trim_end_matches(".toml").to_owned(), scaffold)
    };
    let scaffolds: BTreeMap<String, Scaffold> = files("scaffolds", ".toml").into_iter().map(load).collect();
    scaffolds.into_iter().filter(|(_, scaffold)| scaffold.head().strategy == "tree_search").collect()
}
