//! The machine's Python without the packages that are installed beside it: what they run at each start of an interpreter
//! costs more than all that a test's own script does. Two test binaries of other packages include it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Its path: a virtual environment with nothing in it, made once and kept beside what cargo builds.
pub(crate) fn bare_python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let ask = "import sys; print(sys._base_executable)";
        let told = Command::new("python3").args(["-I", "-S", "-c", ask]).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        let base = Path::new(told.trim());
        // Another one has a folder of its own.
        let number = told.bytes().fold(17, |sum: u32, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let place = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let folder = place.join(format!("bare-python-{number}"));
        let python = folder.join("bin/python3");
        if !python.exists() {
            let making = tempfile::Builder::new().prefix("bare-python-").tempdir_in(place).unwrap();
            let home = base.parent().unwrap().display();
            let facts = format!("home = {home}\ninclude-system-site-packages = false\n");
            std::fs::write(making.path().join("pyvenv.cfg"), facts).unwrap();
            std::fs::create_dir(making.path().join("bin")).unwrap();
            for name in ["python", "python3"] {
                std::os::unix::fs::symlink(base, making.path().join("bin").join(name)).unwrap();
            }
            // Another test may have been faster: then there is one, and this one goes away.
            let _ = std::fs::rename(making.path(), &folder);
        }
        python
    })
}
