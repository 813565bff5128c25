//! A scripted home workspace: files in memory, for strategies that live in one. What programs and sessions do with them
//! is up to the test.

use std::cell::RefCell;
use std::collections::BTreeMap;

use podium_scaffold::{Effect, EffectResult};
use podium_types::execution::Collected;
use podium_types::files::{FileEntry, FileFault, FileText, FilesAnswer, FilesRequest, WriteWhen};
use podium_types::sha256::Sha256;

/// Files by their paths, without a leading `./`. What begins with `input/` can be read only.
#[derive(Debug, Default)]
pub(crate) struct Home(pub(crate) RefCell<BTreeMap<String, String>>);

impl Home {
    /// With these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
        Self(RefCell::new(files.collect()))
    }

    /// Answers acts on files and collections; `None` for every other effect.
    pub(crate) fn answer(&self, effect: &Effect) -> Option<EffectResult> {
        match effect {
            Effect::Files(request) => Some(EffectResult::Files(self.act(request))),
            Effect::Collect { path } => {
                let path = path.trim_start_matches("./");
                Some(EffectResult::Collected(match self.0.borrow().get(path) {
                    Some(text) => {
                        Collected::File { sha256: Sha256::of(text.as_bytes()), bytes: text.len() as u64 }
                    }
                    None => Collected::Missing { found: "nothing".into() },
                }))
            }
            _ => None,
        }
    }

    fn act(&self, request: &FilesRequest) -> Result<FilesAnswer, FileFault> {
        match request {
            FilesRequest::List { path } => self.list(path),
            FilesRequest::Read { path, max_bytes, beginning } => {
                let text = self.read(path)?;
                let (bytes, most) = (text.len() as u64, usize::try_from(*max_bytes).unwrap());
                if text.contains('\0') {
                    return Err(FileFault::Binary { path: path.clone(), bytes });
                }
                if bytes <= *max_bytes {
                    let sha256 = Some(Sha256::of(text.as_bytes()));
                    return Ok(FilesAnswer::Read(FileText { text, bytes, sha256, lossy: false }));
                }
                if !beginning {
                    return Err(FileFault::TooLarge { path: path.clone(), max_bytes: *max_bytes });
                }
                let text = text[..most].to_owned();
                Ok(FilesAnswer::Read(FileText { text, bytes, sha256: None, lossy: false }))
            }
            FilesRequest::Write { path, content, when } => {
                let old = self.read(path).ok();
                match when {
                    _ if old.as_ref() == Some(content) => {}
                    WriteWhen::Absent if old.is_some() => {
                        return Err(FileFault::Exists { path: path.clone() });
                    }
                    WriteWhen::Unchanged { sha256 }
                        if old.as_ref().is_none_or(|old| Sha256::of(old.as_bytes()) != *sha256) =>
                    {
                        return Err(FileFault::Changed { path: path.clone() });
                    }
                    _ => {}
                }
                self.write(path, content.clone())?;
                let sha256 = Some(Sha256::of(content.as_bytes()));
                Ok(FilesAnswer::Written { bytes: content.len() as u64, sha256 })
            }
            FilesRequest::Copy { from, to } => {
                let text = self.read(from)?;
                let bytes = text.len() as u64;
                self.write(to, text)?;
                Ok(FilesAnswer::Written { bytes, sha256: None })
            }
            FilesRequest::Remove { path } => {
                let existed = self.0.borrow_mut().remove(inside(path)?).is_some();
                Ok(FilesAnswer::Removed { existed })
            }
        }
    }

    fn list(&self, path: &str) -> Result<FilesAnswer, FileFault> {
        let folder = if path == "." { "" } else { inside(path)?.trim_end_matches('/') };
        let mut entries: BTreeMap<String, FileEntry> = BTreeMap::new();
        for (path, text) in self.0.borrow().iter() {
            let below = if folder.is_empty() {
                Some(path.as_str())
            } else {
                path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'))
            };
            let Some(below) = below else { continue };
            let (name, is_folder) = below.split_once('/').map_or((below, false), |(name, _)| (name, true));
            let bytes = if is_folder { 0 } else { text.len() as u64 };
            entries.insert(name.to_owned(), FileEntry { name: name.to_owned(), is_folder, bytes });
        }
        if entries.is_empty() && !folder.is_empty() {
            return Err(FileFault::Missing { path: path.to_owned() });
        }
        Ok(FilesAnswer::Listed { entries: entries.into_values().collect(), more: false })
    }

    fn read(&self, path: &str) -> Result<String, FileFault> {
        let found = self.0.borrow().get(inside(path)?).cloned();
        found.ok_or_else(|| FileFault::Missing { path: path.to_owned() })
    }

    fn write(&self, path: &str, content: String) -> Result<(), FileFault> {
        let name = inside(path)?;
        if name.starts_with("input/") {
            return Err(FileFault::ReadOnly { path: path.to_owned() });
        }
        self.0.borrow_mut().insert(name.to_owned(), content);
        Ok(())
    }
}

fn inside(path: &str) -> Result<&str, FileFault> {
    let name = path.trim_start_matches("./");
    if name.is_empty() || name.starts_with('/') || name.split('/').any(|part| part == "..") {
        return Err(FileFault::Outside { path: path.to_owned() });
    }
    Ok(name)
}
