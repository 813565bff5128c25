//! Git LFS pointers: the three lines that stand where a large file should be when a checkout was made without
//! `git lfs pull`. Read as data, one looks like a small broken CSV, so it is told apart before anything is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A pointer is shorter than this, by its specification.
const LONGEST: u64 = 1024;

/// Whether the file at `path` is a Git LFS pointer; a file that cannot be read is none.
pub fn is_pointer(path: &Path) -> bool {
    let small = path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() < LONGEST);
    let mut text = String::new();
    small
        && File::open(path).is_ok_and(|file| file.take(LONGEST).read_to_string(&mut text).is_ok())
        && text.starts_with("version https://git-lfs.")
        && text.lines().any(|line| line.starts_with("oid sha256:"))
        && text.lines().any(|line| line.starts_with("size "))
}
