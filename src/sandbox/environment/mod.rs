//! The Python environment that agent code runs in.
//!
//! A profile (a pinned requirements file) is built once per machine into a cache folder whose name holds the hash of
//! the requirements and of the interpreter, and is mounted read-only at the same path inside a jail: virtual
//! environments cannot be moved. A user's own environment works as well. Where the harness runs as root, an
//! interpreter below a private home such as `/root` works, because the jail's user is the harness's user under
//! another number.
//!
//! Building takes minutes and blocks: call it from a blocking thread.

mod build;
mod interpreter;
mod syntax;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Sandbox, SandboxError, collect::hex, trial};

pub use interpreter::Interpreter;
use interpreter::Packages;
pub use syntax::SyntaxFault;

/// Written last: an environment without it was cut while it was built.
const MARKER: &str = "podium-environment.json";

/// A Python environment that is ready for use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    name: String,
    interpreter: Interpreter,
    packages: Packages,
    /// Whether it stands in an image: nothing is mounted for it, and it cannot be asked again from here.
    inside: bool,
}

/// What an environment holds; stored with a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The profile, or `user`, or `image`.
    pub name: String,
    /// The interpreter's path.
    pub python: PathBuf,
    /// Version of Python.
    pub version: String,
    /// Where the standard library lives.
    pub base_prefix: PathBuf,
    /// Installed packages with their versions.
    pub packages: Packages,
}

impl Environment {
    /// The folder that a profile is or will be built in.
    pub fn locate(cache: &Path, profile: &str, requirements: &str, interpreter: &Interpreter) -> PathBuf {
        let mut hasher = Sha256::new();
        for part in [requirements.trim(), &interpreter.version, &interpreter.base_prefix.to_string_lossy()] {
            hasher.update(part);
            hasher.update([0]);
        }
        let key: String = hex(&hasher.finalize()).chars().take(16).collect();
        cache.join("environments").join(format!("{profile}-{key}"))
    }

    /// The built profile, or `None` when it is not there, was cut, or has lost or changed a package since.
    pub fn find(cache: &Path, profile: &str, requirements: &str, interpreter: &Interpreter) -> Option<Self> {
        let folder = Self::locate(cache, profile, requirements, interpreter);
        let marker: Description = serde_json::from_slice(&std::fs::read(folder.join(MARKER)).ok()?).ok()?;
        let (interpreter, packages) = Interpreter::ask_all(&marker.python).ok()?;
        let whole = interpreter.version == marker.version && packages == marker.packages;
        whole.then(|| Self { name: profile.to_owned(), interpreter, packages, inside: false })
    }

    /// Finds the profile or builds it. Safe when several processes do so at once: one builds, the others wait.
    /// `progress` gets each line that the installer prints.
    pub fn build(
        cache: &Path,
        profile: &str,
        requirements: &str,
        interpreter: &Interpreter,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Self, SandboxError> {
        if let Some(found) = Self::find(cache, profile, requirements, interpreter) {
            return Ok(found);
        }
        let folder = Self::locate(cache, profile, requirements, interpreter);
        let _lock = build::lock(&folder)?;
        if let Some(found) = Self::find(cache, profile, requirements, interpreter) {
            return Ok(found);
        }
        let python = build::install(&folder, profile, requirements, interpreter, progress)?;
        let (interpreter, packages) = Interpreter::ask_all(&python)?;
        let built = Self { name: profile.to_owned(), interpreter, packages, inside: false };
        let marker = serde_json::to_vec_pretty(&built.describe()).map_err(|error| {
            SandboxError::Environment { name: profile.to_owned(), message: error.to_string() }
        })?;
        build::write_marker(&folder.join(MARKER), &marker)?;
        Ok(built)
    }

    /// A user's own environment: the path of its interpreter, a virtual environment or conda.
    pub fn of_user(python: &Path) -> Result<Self, SandboxError> {
        let (interpreter, packages) = Interpreter::ask_all(python)?;
        Ok(Self { name: "user".to_owned(), interpreter, packages, inside: false })
    }

    /// The environment of an image: the path of its interpreter, as it is inside. Nothing is mounted for it.
    pub async fn of_image(sandbox: &dyn Sandbox, python: &Path) -> Result<Self, SandboxError> {
        let (interpreter, packages) = Interpreter::ask_inside(sandbox, python).await?;
        Ok(Self { name: "image".to_owned(), interpreter, packages, inside: true })
    }

    /// As [`Self::of_image`], on a thread and runtime of its own, so that it can be called from anywhere.
    pub fn of_image_now(sandbox: &dyn Sandbox, python: &Path) -> Result<Self, SandboxError> {
        trial::apart(Self::of_image(sandbox, python))
    }

    /// The interpreter, at the path that is valid inside a jail as well.
    pub fn python(&self) -> &Path {
        &self.interpreter.path
    }

    /// The folders to mount read-only: the environment, and the installation it stands on.
    pub fn read_only(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        if self.inside {
            return folders;
        }
        for prefix in [&self.interpreter.prefix, &self.interpreter.base_prefix] {
            for folder in [Some(prefix.clone()), prefix.canonicalize().ok()].into_iter().flatten() {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }

    /// Runs the interpreter once more and compares its version: the environment is still whole enough to start.
    /// One in an image cannot change under a run: containers are made by the image's id.
    pub fn verify(&self) -> Result<(), SandboxError> {
        if self.inside {
            return Ok(());
        }
        let now = Interpreter::ask(&self.interpreter.path)?;
        if now == self.interpreter {
            Ok(())
        } else {
            Err(SandboxError::Environment {
                name: self.name.clone(),
                message: format!("its interpreter is now {} at {}", now.version, now.prefix.display()),
            })
        }
    }

    /// Versions and paths, as stored with a run: as they were when the environment was opened.
    pub fn describe(&self) -> Description {
        Description {
            name: self.name.clone(),
            python: self.interpreter.path.clone(),
            version: self.interpreter.version.clone(),
            base_prefix: self.interpreter.base_prefix.clone(),
            packages: self.packages.clone(),
        }
    }
}

/// `$XDG_CACHE_HOME/podium`, or `~/.cache/podium`.
pub fn default_cache() -> Option<PathBuf> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("podium"))
}
