//! The files of an external strategy's program. They are texts, they are a part of the run's configuration and so of its
//! identity, and each start of the program gets its own copy of them: nobody can change a run by editing a file.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// All of a program's files together are no longer.
const MOST_BYTES: u64 = 4 << 20;

/// A file of a program that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("could not read `{file}`, which `external.files` names, in {}", folder.display())]
pub struct FilesError {
    /// The file, as the scaffold names it.
    pub file: String,
    /// Where it was looked for.
    pub folder: PathBuf,
    /// The system's words.
    #[source]
    pub source: io::Error,
}

/// Reads `files` below `folder`.
///
/// # Errors
/// When one is missing, is no text, or they are too long together.
pub fn read(folder: &Path, files: &[String]) -> Result<BTreeMap<String, String>, FilesError> {
    let mut left = MOST_BYTES;
    let read = |file: &String| {
        let text = read_text(&folder.join(file), &mut left);
        let text =
            text.map_err(|source| FilesError { file: file.clone(), folder: folder.to_owned(), source })?;
        Ok((file.clone(), text))
    };
    files.iter().map(read).collect()
}

fn read_text(path: &Path, left: &mut u64) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(*left + 1).read_to_string(&mut text)?;
    *left = left.checked_sub(text.len() as u64).ok_or_else(|| {
        io::Error::other(format!("the files are longer than {} MiB together", MOST_BYTES >> 20))
    })?;
    Ok(text)
}

/// Writes the files below `folder`, for everybody to read.
///
/// # Errors
/// When one cannot be written.
pub(super) fn lay(folder: &Path, files: &BTreeMap<String, String>) -> io::Result<()> {
    open_folder(folder)?;
    for (file, text) in files {
        let mut place = folder.to_owned();
        for part in Path::new(file).parent().into_iter().flat_map(Path::components) {
            place.push(part);
            open_folder(&place)?;
        }
        let path = folder.join(file);
        std::fs::write(&path, text)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// Makes a folder that everybody may look into.
fn open_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o755))
}
