//! MD5 sums of files, as MLE-bench recorded them. They tell another version of the data from the one that the
//! thresholds were made with; they protect from nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use md5::{Digest, Md5};

use crate::digest::hexadecimal;

/// The MD5 sum of a file, in lower-case hexadecimal.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Md5::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&hasher.finalize())),
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
