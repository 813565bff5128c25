//! The engine that the tests use: the machine's, or one of their own.
//!
//! Two test binaries include it. Each test may be a process of its own, so an engine of their own is kept by a script that stops it when no test
//! holds the lock any more, however the tests ended.

use std::{
    fs::{self, File},
    os::unix::{net::UnixStream, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Runs it, and stops it.
const KEEPER: &str = include_str!("engine.sh");
/// How long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// The address of an engine, `None` for the machine's own, or why there is none. The lock is held until this process
/// ends.
pub(crate) fn address() -> Result<Option<String>, String> {
    static LOCK: OnceLock<File> = OnceLock::new();
    static ENGINE: OnceLock<Result<Option<String>, String>> = OnceLock::new();
    ENGINE
        .get_or_init(|| {
            if std::env::var_os("DOCKER_HOST").is_some() || answers(Path::new("/var/run/docker.sock")) {
                return Ok(None);
            }
            if !rustix::process::getuid().is_root() {
                return Err("no container engine answers, and only root can start one".to_owned());
            }
            if Command::new("dockerd").arg("--version").output().is_err() {
                return Err("no container engine answers, and `dockerd` is not installed".to_owned());
            }
            let (address, lock) = own();
            LOCK.get_or_init(|| lock);
            Ok(Some(address))
        })
        .clone()
}

/// Starts an engine, or joins the one that another test has started.
fn own() -> (String, File) {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let lock_path = place.join("engine.lock");
    let lock = File::create(&lock_path).unwrap();
    lock.lock_shared().unwrap();
    let start = File::create(place.join("engine.start")).unwrap();
    start.lock().unwrap();
    // A socket's path must be short.
    let folder = std::env::temp_dir().join(format!("podium-test-engine-{}", short(place)));
    let socket = folder.join("sock");
    if !answers(&socket) {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let mut keeper = Command::new("sh");
        keeper.args(["-c", KEEPER, "engine.sh"]).arg(&folder).arg(&lock_path);
        // In a group of its own, so that what ends the tests does not end it.
        keeper.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        drop(keeper.spawn().unwrap());
        let deadline = Instant::now() + PATIENCE;
        while !answers(&socket) {
            assert!(Instant::now() < deadline, "the engine does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    (format!("unix://{}", socket.display()), lock)
}

/// Somebody listens there.
fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

/// A number for a path.
fn short(path: &Path) -> u32 {
    path.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(17, |sum: u32, byte| sum.wrapping_mul(31) + u32::from(*byte))
}
