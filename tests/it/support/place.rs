//! A place of a test's own: home, data and runs in a temporary folder that goes away with it.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::bare::bare_python;

/// The folders of one test.
#[derive(Debug)]
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// An empty place.
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("podium-test-").tempdir().unwrap();
        for part in ["home", "runs", "data", "work"] {
            std::fs::create_dir(folder.path().join(part)).unwrap();
        }
        Self { folder }
    }

    /// The place itself.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// `HOME` of the commands.
    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// `--runs-dir` of the commands.
    pub(crate) fn runs(&self) -> PathBuf {
        self.path().join("runs")
    }

    /// `--data-dir` of the commands.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    /// The working directory of the commands.
    pub(crate) fn work(&self) -> PathBuf {
        self.path().join("work")
    }

    /// Writes a file below the place and returns its path.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }
}

/// The assets folder with the toy competition.
pub(crate) fn toy_assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/assets")
}

/// The user's own cache: the pinned environment is built once per machine.
pub(crate) fn cache() -> PathBuf {
    let home = || std::env::home_dir().unwrap().join(".cache");
    std::env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from)
}

/// The Python that runs the toy competition's scripts: they need nothing but the standard library.
pub(crate) fn python() -> &'static Path {
    bare_python()
}
