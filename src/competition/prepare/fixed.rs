//! The fixed variant of a competition whose public data are known to tell the answers: the same competition without what
//! tells them, under an id of its own (`ID-fixed`). So its data lie apart, and a run or report that names it cannot be
//! taken for one of the original. The original stays the default, for scores are published of that.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::catalog::Competition;
use crate::prepare::error::PrepareError;
use crate::prepare::raw::names;

/// What stands behind the original's id.
const END: &str = "-fixed";

/// What is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixed {
    /// In words.
    pub without: String,
    /// Files that are left out; what is inside of files is a native preparation's own to leave out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Telling>,
}

/// Files below a folder of the results whose names end in a certain way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telling {
    /// The folder.
    pub below: String,
    /// How their names end.
    pub end: String,
    /// How names end that are kept all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub but: Option<String>,
}

/// The id of the original of which `id` would be the fixed variant.
pub fn original(id: &str) -> Option<&str> {
    id.strip_suffix(END)
}

/// The fixed variant of a competition, where it has one. Recorded sums of public files are the original's.
pub(crate) fn variant(original: &Competition) -> Option<Competition> {
    let fixed = original.prepare.as_ref()?.fixed.as_ref()?;
    let mut variant = original.clone();
    variant.id = format!("{}{END}", original.id);
    variant.name = format!("{} (fixed)", original.name);
    variant.summary = format!("{}; without {}", original.summary, fixed.without);
    variant.splits = Vec::new();
    variant.known_issues = Vec::new();
    variant.variant_of = Some(original.id.clone());
    if let Some(sums) = &mut variant.data.md5 {
        sums.public.clear();
    }
    Some(variant)
}

impl Fixed {
    /// Removes the files from the results.
    pub(crate) fn clear(&self, out: &Path) -> Result<(), PrepareError> {
        self.files.iter().try_for_each(|files| files.clear(&out.join(&files.below)))
    }
}

impl Telling {
    fn clear(&self, folder: &Path) -> Result<(), PrepareError> {
        for name in names(folder)? {
            let path = folder.join(&name);
            if path.is_dir() {
                self.clear(&path)?;
            } else if name.ends_with(&self.end) && !self.but.as_ref().is_some_and(|but| name.ends_with(but)) {
                fs::remove_file(&path).map_err(PrepareError::io("remove", &path))?;
            }
        }
        Ok(())
    }
}
