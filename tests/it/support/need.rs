//! What a machine must have for a test. Where it is missing the test says so loudly and ends.

use std::io::Write as _;
use std::sync::OnceLock;

use super::{Place, Podium};

/// Says that a test is skipped, and why: on standard error, and in the file that the test command prints at its end,
/// since a runner hides the output of tests that pass.
pub(crate) fn skip(test: &str, missing: &str) {
    let line = format!("SKIP {test}: {missing}\n");
    eprint!("{line}");
    if let Some(file) = std::env::var_os("PODIUM_SKIPS") {
        let open = std::fs::OpenOptions::new().create(true).append(true).open(file);
        open.and_then(|mut file| file.write_all(line.as_bytes())).unwrap();
    }
}

/// Whether the jail works here; says what is missing when it does not.
pub(crate) fn jail(test: &str) -> bool {
    static MISSING: OnceLock<Option<String>> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        let place = Place::new();
        let tried = Podium::new(&place).args(["sandbox", "exec", "--kind", "jail", "--", "true"]).output();
        (tried.code != Some(0)).then(|| format!("the jail does not work here: {}", tried.stderr.trim()))
    });
    if let Some(missing) = missing {
        skip(test, missing);
    }
    missing.is_none()
}

/// Whether the program dies where a test tells it to.
pub(crate) fn failpoints(test: &str) -> bool {
    if !cfg!(feature = "failpoints") {
        skip(test, "the program was built without its failpoints: run with --features failpoints");
    }
    cfg!(feature = "failpoints")
}

/// Whether this process may mount file systems.
pub(crate) fn mounts(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        skip(test, "mounting a small file system needs root");
        return false;
    }
    true
}
