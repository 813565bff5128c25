//! The arguments of bubblewrap, handed over through a descriptor.
//!
//! On the command line they would be readable inside, as `/proc/1/cmdline`, with the host's paths in them. The content
//! of small files, the filters and the arguments themselves are anonymous memory files: nothing is left on a disk.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{Seek, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
};

use rustix::fs::MemfdFlags;

use crate::SandboxError;

/// Arguments in order, and the descriptors that they name.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    words: Vec<OsString>,
    descriptors: Vec<OwnedFd>,
}

/// What bubblewrap is started with.
pub(crate) struct Finished {
    /// What goes on the command line.
    pub(crate) line: [OsString; 2],
    /// Descriptors to inherit.
    pub(crate) inherit: Vec<OwnedFd>,
}

impl Arguments {
    /// An option with its values.
    pub(super) fn add<S: AsRef<OsStr>>(&mut self, option: &str, values: impl IntoIterator<Item = S>) {
        self.words.push(option.into());
        self.words.extend(values.into_iter().map(|value| value.as_ref().to_owned()));
    }

    /// An option without values.
    pub(super) fn flag(&mut self, option: &str) {
        self.words.push(option.into());
    }

    /// An option whose value is a descriptor.
    pub(super) fn descriptor(&mut self, option: &str, descriptor: OwnedFd) {
        self.add(option, [descriptor.as_raw_fd().to_string()]);
        self.descriptors.push(descriptor);
    }

    /// An option whose value is a descriptor from which this content can be read.
    pub(super) fn content(&mut self, option: &str, content: &[u8]) -> Result<(), SandboxError> {
        self.descriptor(option, memory_file(content)?);
        Ok(())
    }

    /// A small read-only file of the jail.
    pub(super) fn file(&mut self, path: &str, content: &str) -> Result<(), SandboxError> {
        self.file_with("0444", path, content)
    }

    /// A small program of the jail, read-only.
    pub(super) fn program(&mut self, path: &str, content: &str) -> Result<(), SandboxError> {
        self.file_with("0555", path, content)
    }

    fn file_with(&mut self, mode: &str, path: &str, content: &str) -> Result<(), SandboxError> {
        self.add("--perms", [mode]);
        self.content("--file", content.as_bytes())?;
        self.words.push(path.into());
        Ok(())
    }

    /// All words so far, as text for people.
    pub(super) fn told(&self) -> Vec<String> {
        self.words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// All of it, ready for a start.
    pub(super) fn finish(mut self) -> Result<Finished, SandboxError> {
        let mut text = Vec::new();
        for word in &self.words {
            text.extend_from_slice(word.as_bytes());
            text.push(0);
        }
        let list = memory_file(&text)?;
        let line = ["--args".into(), list.as_raw_fd().to_string().into()];
        self.descriptors.push(list);
        Ok(Finished { line, inherit: self.descriptors })
    }
}

/// An anonymous file with this content, at its beginning.
fn memory_file(content: &[u8]) -> Result<OwnedFd, SandboxError> {
    let memory = rustix::fs::memfd_create(c"podium", MemfdFlags::CLOEXEC);
    let mut file = File::from(memory.map_err(SandboxError::system("memfd_create"))?);
    file.write_all(content)
        .and_then(|()| file.rewind())
        .map_err(|source| SandboxError::System { call: "write", source })?;
    Ok(file.into())
}
