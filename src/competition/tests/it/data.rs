//! Preparing data: whole or not at all, whoever else does it at the same time, and never outside its folder.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::{competition, toml};
use flate2::Compression;
use flate2::write::GzEncoder;
use podium_competition::{DataError, Status, folders, prepare_offline, status};
use tar::{EntryType, Header};

struct Entry<'a>(&'a str, EntryType, &'a [u8]);

fn archive(path: &Path, entries: &[Entry<'_>]) {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for Entry(name, kind, content) in entries {
        let mut header = Header::new_gnu();
        // The name is set as bytes: the library would refuse the hostile ones.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o4777);
        if *kind == EntryType::Symlink {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    let bytes = builder.into_inner().unwrap().finish().unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn good(folder: &Path) {
    let file = |name, content| Entry(name, EntryType::Regular, content);
    archive(
        &folder.join("public.tar.gz"),
        &[
            file("sample_submission.csv", b"id,y\n1,0\n"),
            Entry("images/", EntryType::Directory, b""),
            file("./images/1.png", b"png"),
        ],
    );
    archive(&folder.join("private.tar.gz"), &[file("answers.csv", b"id,y\n1,2\n")]);
}

#[test]
fn prepares_whole_folders_once() {
    let (archives, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    good(archives.path());
    let made_up = competition(&toml("mae", "lower", "number", &["y"], ""));
    assert_eq!(status(data.path(), &made_up), Status::NotPrepared);
    let first = prepare_offline(archives.path(), data.path(), "made-up", "# Old").unwrap();
    assert!(first.fresh && status(data.path(), &made_up) == Status::Prepared);
    let folders = folders(data.path(), "made-up");
    assert_eq!(first.folders, folders);
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&folders.private), mode(&folders.public.join("images/1.png"))), (0o700, 0o644));

    assert!(!prepare_offline(archives.path(), data.path(), "made-up", "# New").unwrap().fresh);
    assert_eq!(std::fs::read_to_string(folders.public.join("description.md")).unwrap(), "# New");

    let file = |name, content| Entry(name, EntryType::Regular, content);
    archive(&archives.path().join("private.tar.gz"), &[file("answers.csv", b"id,y\n1,3\n")]);
    let error = prepare_offline(archives.path(), data.path(), "made-up", "# New").unwrap_err();
    assert!(matches!(error, DataError::OtherVersion { .. }) && error.hint().is_some(), "{error}");

    std::fs::remove_file(folders.private.join("answers.csv")).unwrap();
    let missing = vec![folders.private.join("answers.csv")];
    assert_eq!(status(data.path(), &made_up), Status::Partly { missing });
}

#[test]
fn many_may_prepare_at_once() {
    let (archives, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    good(archives.path());
    let fresh: usize = std::thread::scope(|scope| {
        let prepare = || prepare_offline(archives.path(), data.path(), "made-up", "# D").unwrap().fresh;
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(prepare)).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(fresh, 1);
    let names: Vec<_> = std::fs::read_dir(data.path().join("made-up"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["prepared"], "temporary folders are gone");
}

#[test]
fn hostile_archives_leave_nothing_behind() {
    let hostile = [
        Entry("../escaped", EntryType::Regular, b"x"),
        Entry("a/../../escaped", EntryType::Regular, b"x"),
        Entry("/escaped", EntryType::Regular, b"x"),
        Entry("link", EntryType::Symlink, b""),
        Entry("link", EntryType::Link, b""),
        Entry("pipe", EntryType::Fifo, b""),
        Entry("device", EntryType::Char, b""),
        Entry(".", EntryType::Regular, b"x"),
    ];
    for entry in hostile {
        let (archives, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        good(archives.path());
        let name = entry.0.to_owned();
        archive(&archives.path().join("public.tar.gz"), &[entry]);
        let error = prepare_offline(archives.path(), data.path(), "made-up", "").unwrap_err();
        assert!(matches!(error, DataError::UnsafeEntry { .. }), "{name}: {error}");
        let left = std::fs::read_dir(data.path().join("made-up")).unwrap().count();
        assert_eq!((left, data.path().join("escaped").exists()), (0, false), "{name}");
    }
}

#[test]
fn a_cut_archive_is_an_error() {
    let (archives, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    good(archives.path());
    let path = archives.path().join("public.tar.gz");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::File::create(&path).unwrap().write_all(&bytes[..bytes.len() / 2]).unwrap();
    let error = prepare_offline(archives.path(), data.path(), "made-up", "").unwrap_err();
    assert!(matches!(error, DataError::Io { .. }), "{error}");
    assert!(!data.path().join("made-up/prepared").exists());
}
