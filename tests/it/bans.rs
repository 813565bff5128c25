//! The bans of `src/scaffold/clippy.toml`: none may be loosened, and clippy really reports each kind of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What a strategy must not name. `clippy.toml` may ban more, never less.
const TYPES: [&str; 18] = [
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::thread::LocalKey",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::fs::DirBuilder",
    "std::process::Command",
    "std::process::Child",
    "std::net::TcpStream",
    "std::net::TcpListener",
    "std::net::UdpSocket",
    "std::os::unix::net::UnixStream",
    "std::os::unix::net::UnixListener",
    "std::os::unix::net::UnixDatagram",
    "std::thread::JoinHandle",
    "std::thread::Builder",
];
const METHODS: [&str; 41] = [
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::read_dir",
    "std::fs::read_link",
    "std::fs::write",
    "std::fs::copy",
    "std::fs::rename",
    "std::fs::remove_file",
    "std::fs::remove_dir",
    "std::fs::remove_dir_all",
    "std::fs::create_dir",
    "std::fs::create_dir_all",
    "std::fs::hard_link",
    "std::fs::metadata",
    "std::fs::symlink_metadata",
    "std::fs::canonicalize",
    "std::fs::exists",
    "std::path::Path::exists",
    "std::path::Path::is_file",
    "std::path::Path::is_dir",
    "std::path::Path::metadata",
    "std::path::Path::read_dir",
    "std::path::Path::canonicalize",
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::vars_os",
    "std::env::args",
    "std::env::args_os",
    "std::env::current_dir",
    "std::env::temp_dir",
    "std::process::exit",
    "std::process::abort",
    "std::process::id",
    "std::thread::spawn",
    "std::thread::scope",
    "std::thread::sleep",
    "std::thread::current",
    "std::time::Instant::now",
    "std::time::SystemTime::now",
    "std::net::TcpStream::connect",
];
const MACROS: [&str; 1] = ["std::thread_local"];

/// One use of each kind of ban, as a strategy might try it: the line, and what clippy must call it.
const TRIES: [(&str, &str); 11] = [
    ("pub fn file() { let _ = std::fs::read(\"answers.csv\"); }", "std::fs::read"),
    ("pub fn opened(_: std::fs::File) {}", "std::fs::File"),
    ("pub fn exists(path: &std::path::Path) -> bool { path.exists() }", "std::path::Path::exists"),
    ("pub fn variable() { let _ = std::env::var(\"OPENAI_API_KEY\"); }", "std::env::var"),
    ("pub fn order(_: std::collections::HashMap<u8, u8>) {}", "std::collections::HashMap"),
    ("pub fn clock() { let _ = std::time::Instant::now(); }", "std::time::Instant::now"),
    ("pub fn thread() { let _ = std::thread::spawn(|| ()); }", "std::thread::spawn"),
    ("pub fn socket(_: std::net::TcpStream) {}", "std::net::TcpStream"),
    ("pub fn connect() { let _ = std::net::TcpStream::connect(\"a:1\"); }", "std::net::TcpStream::connect"),
    ("pub fn process() { let _ = std::process::Command::new(\"sh\"); }", "std::process::Command"),
    ("thread_local! { static STATE: u8 = const { 0 }; }", "std::thread_local"),
];

fn configuration() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scaffold/clippy.toml")
}

#[test]
fn no_ban_is_loosened() {
    let text = std::fs::read_to_string(configuration()).unwrap();
    let table: toml::Table = text.parse().unwrap();
    for (key, expected) in [
        ("disallowed-types", &TYPES[..]),
        ("disallowed-methods", &METHODS[..]),
        ("disallowed-macros", &MACROS[..]),
    ] {
        let banned: BTreeSet<&str> = table[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|ban| {
                // `replacement` and `reason` are help; `allow-invalid` would hide a ban that names nothing.
                let keys: Vec<&str> = ban.as_table().unwrap().keys().map(String::as_str).collect();
                assert_eq!(keys, ["path", "reason"], "{ban}");
                ban["path"].as_str().unwrap()
            })
            .collect();
        let missing: Vec<&&str> = expected.iter().filter(|path| !banned.contains(**path)).collect();
        assert!(missing.is_empty(), "{key} has lost {missing:?}");
    }
}

#[test]
fn clippy_reports_each_kind_of_ban() {
    let cargo = env!("CARGO");
    let there = Command::new(cargo).args(["clippy", "--version"]).output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("SKIP: no `cargo clippy` here, so whether the bans fire is not shown");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let manifest = "[workspace]\n[package]\nname = \"smuggler\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                    [lib]\npath = \"lib.rs\"\n";
    write("Cargo.toml", manifest);
    write("clippy.toml", &std::fs::read_to_string(configuration()).unwrap());
    write("lib.rs", &TRIES.map(|(code, _)| code).join("\n"));
    let checked = Command::new(cargo)
        .args(["clippy", "--offline", "--quiet", "--message-format", "short"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        .env_remove("RUSTFLAGS")
        .env_remove("CLIPPY_CONF_DIR")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&checked.stderr);
    for (index, (code, path)) in TRIES.iter().enumerate() {
        let (place, name) = (format!("lib.rs:{}:", index + 1), format!("`{path}`"));
        let reported = said.lines().any(|line| line.contains(&place) && line.contains(&name));
        assert!(reported, "clippy says nothing of {path} in {code:?}:\n{said}");
    }
    // A path in the list that names nothing would be a ban that cannot fire.
    assert!(!said.contains("does not refer to"), "{said}");
}
