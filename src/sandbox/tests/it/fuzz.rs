//! Trees that a hostile program may leave, made at random from a seed: collecting from one never blocks, never leaves
//! the workspace and never takes anything but a plain file; removing it leaves nothing of it and touches nothing else,
//! also while somebody goes on writing.

use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Write as _,
    os::unix::{ffi::OsStrExt, fs::symlink, net::UnixListener},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use podium_sandbox::{collect, workspace};
use podium_types::execution::Collected;
use podium_types::sha256::Sha256;
use rustix::fs::{AtFlags, CWD, FileType, Mode};

const TREES: u64 = 80;

/// Numbers from a seed (xorshift): a failure can be told by its seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A workspace, and beside it what must stay as it is.
struct Yard {
    folder: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        workspace::create(&folder.path().join("workspace")).unwrap();
        fs::create_dir_all(folder.path().join("outside/inner")).unwrap();
        fs::write(folder.path().join("outside/answers.csv"), "SECRET\n").unwrap();
        fs::write(folder.path().join("outside/inner/file"), "x").unwrap();
        let shut = std::os::unix::fs::PermissionsExt::from_mode(0o750);
        fs::set_permissions(folder.path().join("outside/inner"), shut).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What was beside the workspace is there, with its content and its modes.
    fn check(&self, what: &str) {
        assert_eq!(fs::read_to_string(self.path("outside/answers.csv")).unwrap(), "SECRET\n", "{what}");
        assert_eq!(fs::read_to_string(self.path("outside/inner/file")).unwrap(), "x", "{what}");
        let mode = rustix::fs::stat(self.path("outside/inner")).unwrap().st_mode & 0o7777;
        assert_eq!(mode, 0o750, "{what}: a mode outside was changed");
    }
}

/// A name: ordinary, long, of odd bytes, or one that the code itself uses.
fn name(random: &mut Random) -> OsString {
    let odd: [&[u8]; 12] = [
        b"submission",
        b"submission.csv",
        b"input",
        b".home",
        b"working",
        b".podium-removing-1",
        b".podium-removing-2",
        b"\xff\xfe\x01",
        b"new\nline",
        b" ",
        b"-rf",
        b"...",
    ];
    match random.below(3) {
        0 => OsStr::from_bytes(odd.get(usize::try_from(random.below(12)).unwrap()).unwrap()).to_owned(),
        1 => OsString::from(format!("n{}", random.below(6))),
        _ => OsString::from("l".repeat(usize::try_from(random.below(255)).unwrap() + 1)),
    }
}

/// Makes one thing in a folder; what cannot be made is left out.
fn make(random: &mut Random, yard: &Yard, folder: &Path) -> Option<PathBuf> {
    let path = folder.join(name(random));
    match random.below(11) {
        0..=2 => return fs::create_dir(&path).ok().map(|()| path),
        3 => drop(fresh_file(&path, random.below(9000))),
        4 => drop(symlink(yard.path("outside"), &path)),
        5 => drop(symlink(yard.path("outside/answers.csv"), &path)),
        6 => drop(symlink("../../outside/answers.csv", &path)),
        7 => drop(rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).ok()),
        8 => drop(UnixListener::bind(&path)),
        9 => drop(fs::hard_link(yard.path("outside/inner/file"), &path)),
        _ => drop(symlink("submission.csv", &path)),
    }
    None
}

/// A file of this size. Not through a link: what lies outside must stay as it is.
fn fresh_file(path: &Path, size: u64) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(&vec![b'x'; usize::try_from(size).unwrap()])
}

/// A tree of some hundred things, with modes taken away at the end.
fn grow(random: &mut Random, yard: &Yard) {
    let top = yard.path("workspace");
    let mut folders = vec![top.clone(), top.join("submission"), top.join("working")];
    if random.below(4) == 0 {
        drop(fs::remove_dir(top.join("submission")));
    }
    for _ in 0..random.below(200) {
        let at = usize::try_from(random.below(folders.len() as u64)).unwrap();
        let folder = folders.get(at).unwrap().clone();
        if let Some(made) = make(random, yard, &folder) {
            folders.push(made);
        }
    }
    if random.below(3) == 0 {
        drop(fresh_file(&top.join("submission/submission.csv"), random.below(5000)));
    }
    for folder in folders.iter().rev() {
        if random.below(3) > 0 {
            continue;
        }
        let mode = Mode::from_raw_mode(u32::try_from(random.below(0o1000)).unwrap());
        let _ = rustix::fs::chmodat(CWD, folder, mode, AtFlags::empty());
    }
}

#[test]
fn random_trees_are_collected_from_and_removed() {
    let mut files = 0;
    for seed in 0..TREES {
        let what = format!("seed {seed}");
        let (mut random, yard) = (Random::new(seed), Yard::new());
        grow(&mut random, &yard);
        let start = Instant::now();
        for path in
            ["submission/submission.csv", "submission.csv", "submission", "n1/n2", "../outside/answers.csv"]
        {
            // A folder that shuts its owner out is no file either.
            match collect(&yard.path("workspace"), path, &yard.path("store"), 4096) {
                Ok(Collected::File { sha256, bytes }) => {
                    let stored = fs::read(yard.path("store").join(sha256.as_str())).unwrap();
                    assert_eq!((Sha256::of(&stored), stored.len() as u64), (sha256, bytes), "{what}");
                    assert!(bytes <= 4096 && !stored.starts_with(b"SECRET"), "{what}: {path}");
                    files += 1;
                }
                Ok(Collected::Missing { found }) => assert!(!found.is_empty(), "{what}"),
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{what}: {error}");
                }
            }
        }
        workspace::prepare(&yard.path("workspace"), Some("submission/submission.csv")).unwrap();
        assert_eq!(fs::read_dir(yard.path("workspace/submission")).unwrap().count(), 0, "{what}");
        workspace::remove(&yard.path("workspace")).unwrap();
        assert!(fs::symlink_metadata(yard.path("workspace")).is_err(), "{what}");
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        yard.check(&what);
    }
    assert!(files > 5, "only {files} files were collected: the trees are too wild to show anything");
}

#[test]
fn deep_and_wide_trees_are_removed() {
    let yard = Yard::new();
    let top = yard.path("workspace");
    for number in 0..3000 {
        fs::write(top.join(format!("f{number}")), "").unwrap();
        fs::create_dir(top.join(format!("d{number}"))).unwrap();
    }
    let mut folder =
        rustix::fs::open(top.join("working"), rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
    let long = "d".repeat(255);
    for _ in 0..2000 {
        rustix::fs::mkdirat(&folder, &long, Mode::RWXU).unwrap();
        rustix::fs::mkdirat(&folder, "beside", Mode::empty()).unwrap();
        let next = rustix::fs::openat(&folder, &long, rustix::fs::OFlags::DIRECTORY, Mode::empty()).unwrap();
        rustix::fs::fchmod(&folder, Mode::RUSR | Mode::XUSR).unwrap();
        folder = next;
    }
    let before = fs::read_dir("/proc/self/fd").unwrap().count();
    workspace::remove(&top).unwrap();
    assert!(fs::symlink_metadata(&top).is_err());
    assert!(fs::read_dir("/proc/self/fd").unwrap().count() <= before);
    yard.check("deep");
}

/// Exchanges folders and links under the nose of whoever walks there, until told to stop.
fn write_on(yard: &Yard, stop: &AtomicBool, seed: u64) {
    let mut random = Random::new(seed);
    let (top, outside) = (yard.path("workspace"), yard.path("outside"));
    while !stop.load(Ordering::Relaxed) {
        for place in ["swap", "submission", "working/swap", "swap/deep"] {
            let path = top.join(place);
            match random.below(5) {
                0 => drop(fs::create_dir_all(path.join("inner/file"))),
                1 => drop(fs::remove_dir_all(&path)),
                2 => drop(fs::remove_file(&path)),
                3 => drop(symlink(&outside, &path)),
                _ => drop(fs::write(path.join("submission.csv"), "id\n1\n")),
            }
        }
        drop(fs::rename(top.join("swap"), top.join("working/swap")));
    }
}

#[test]
fn a_writer_that_goes_on_leads_nobody_out() {
    for seed in 0..6 {
        let yard = Yard::new();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for number in 0..2 {
                let (yard, stop) = (&yard, &stop);
                scope.spawn(move || write_on(yard, stop, seed * 2 + number));
            }
            let end = Instant::now() + Duration::from_millis(700);
            while Instant::now() < end {
                // Either may fail while somebody writes; neither may follow him out.
                if let Ok(Collected::File { sha256, .. }) =
                    collect(&yard.path("workspace"), "submission/submission.csv", &yard.path("store"), 4096)
                {
                    let stored = fs::read_to_string(yard.path("store").join(sha256.as_str())).unwrap();
                    assert!("id\n1\n".starts_with(&stored), "{stored}");
                }
                drop(workspace::prepare(&yard.path("workspace"), Some("submission/submission.csv")));
                drop(workspace::remove(&yard.path("workspace/swap")));
                yard.check(&format!("seed {seed}"));
            }
            stop.store(true, Ordering::Relaxed);
        });
        workspace::remove(&yard.path("workspace")).unwrap();
        assert!(fs::symlink_metadata(yard.path("workspace")).is_err());
        yard.check(&format!("seed {seed}, at the end"));
    }
}
