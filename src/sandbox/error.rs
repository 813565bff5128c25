//! What can go wrong outside the program that is run, and what to do about it.
//!
//! A program that fails, runs out of memory or is killed is an ordinary [`Execution`](podium_types::execution::Execution)
//! and never an error of this module. Every error that a user can mend has a hint; a machine without what the jail
//! needs is told so at [`open`](crate::open), before anything was run.

use std::path::PathBuf;

use podium_types::session::SessionKind;

use crate::{scratch::MAKING, strength::Strength};

/// An error of the sandbox itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// There is no `bwrap` program.
    #[error("bubblewrap (`bwrap`) was not found on PATH")]
    NoBubblewrap,
    /// The kernel or its policy refuses unprivileged user namespaces.
    #[error("this machine does not allow user namespaces: {message}")]
    UserNamespaces {
        /// What bubblewrap said.
        message: String,
    },
    /// The probe jail did not come up for another reason.
    #[error("the probe jail failed: {message}")]
    Probe {
        /// What bubblewrap said, or what the probe saw.
        message: String,
    },
    /// No container engine answers.
    #[error("no container engine answers at `{address}`: {message}")]
    NoEngine {
        /// Where it was looked for.
        address: String,
        /// Why it did not answer.
        message: String,
    },
    /// The engine's socket is not this user's to open.
    #[error("this user may not talk to the container engine at `{address}`")]
    EngineRefused {
        /// Where it listens.
        address: String,
    },
    /// The engine refused a request, or hung.
    #[error("{action} failed")]
    Engine {
        /// What was asked of it.
        action: &'static str,
        /// Its answer.
        #[source]
        source: Box<bollard::errors::Error>,
    },
    /// The image is not there.
    #[error("the container engine has no image `{image}`")]
    NoImage {
        /// As it was named.
        image: String,
    },
    /// The engine does not know the runtime.
    #[error("the container engine has no runtime `{runtime}`, but {known}")]
    NoRuntime {
        /// As it was named.
        runtime: String,
        /// What it has.
        known: String,
    },
    /// The probe container came up, but does not hold what it must.
    #[error("the probe container of image `{image}` failed: {message}")]
    ContainerProbe {
        /// The image.
        image: String,
        /// What the probe saw.
        message: String,
    },
    /// The interpreter cannot be started in the image.
    #[error("`{}` cannot be started in the image `{image}`", python.display())]
    NoPythonInImage {
        /// The image.
        image: String,
        /// The interpreter.
        python: PathBuf,
    },
    /// A folder that is mounted cannot be read by the program's user.
    #[error("`{}` can be read by its owner only, and in a container code runs as user {uid}", folder.display())]
    Unreadable {
        /// The host folder.
        folder: PathBuf,
        /// The user's number.
        uid: u32,
    },
    /// The sandbox is weaker than what was required.
    #[error("the sandbox in force is `{found}`, but `{required}` is required: {missing}")]
    TooWeak {
        /// What was required.
        required: Strength,
        /// What the probe found.
        found: Strength,
        /// What is missing.
        missing: String,
    },
    /// No interpreter.
    #[error("no usable Python was found: {message}")]
    NoPython {
        /// What was tried.
        message: String,
    },
    /// The pinned environment could not be built.
    #[error("building the Python environment `{name}` failed: {message}")]
    Environment {
        /// The profile.
        name: String,
        /// The last lines of the installer.
        message: String,
    },
    /// The job asks for something that cannot be granted.
    #[error("the job cannot be run: {message}")]
    Job {
        /// Why.
        message: String,
    },
    /// A mount of the job would show what must stay hidden.
    #[error("`{}` is mounted for the code that is run and would show it `{}`", mount.display(), hidden.display())]
    Exposed {
        /// The host folder that is mounted.
        mount: PathBuf,
        /// What it is or contains.
        hidden: PathBuf,
    },
    /// There are not enough graphics processors.
    #[error("{asked} GPUs were asked for, and {}", few(*found, busy))]
    Gpus {
        /// How many were asked for.
        asked: usize,
        /// How many the machine has.
        found: usize,
        /// Those that others hold, a fragment each.
        busy: Vec<String>,
    },
    /// What is in force could not be read back.
    #[error("what the sandbox grants could not be read back: {message}")]
    NotReadBack {
        /// The last that the look said.
        message: String,
    },
    /// The jail came up at the probe but not for this job.
    #[error("the sandbox could not be started: {message}")]
    Start {
        /// What bubblewrap or the kernel said.
        message: String,
    },
    /// Processes that survived SIGKILL for a long time, as when a device hangs.
    #[error("processes of the execution did not end within {seconds} s of being killed")]
    Stuck {
        /// How long was waited.
        seconds: u64,
    },
    /// Something was asked of a session while a call is running in it.
    #[error("a call is still running in the {kind}")]
    SessionBusy {
        /// Shell or kernel.
        kind: SessionKind,
    },
    /// Something was asked of a session whose program has ended.
    #[error("the {kind} has ended, and its state is lost")]
    SessionOver {
        /// Shell or kernel.
        kind: SessionKind,
    },
    /// The cancellation token fired; every process is dead.
    #[error("the execution was cancelled")]
    Cancelled,
    /// The network namespace of a jail could not be joined.
    #[error("no port could be bound in the network of the jail")]
    Ports {
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file or system call failed.
    #[error("{action} `{}` failed", path.display())]
    Io {
        /// What was being done, for example `writing`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A system call without a path failed.
    #[error("{call} failed")]
    System {
        /// The call.
        call: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
}

/// Why there are too few of something.
fn few(found: usize, busy: &[String]) -> String {
    match (found, busy.is_empty()) {
        (0, _) => "this machine has none".to_owned(),
        (found, true) => format!("this machine has {found}"),
        (found, false) => format!("of the {found} of this machine {}", busy.join(", ")),
    }
}

impl SandboxError {
    /// What the user can do, in one or two sentences.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoBubblewrap => Some(
                "install it (Debian and Ubuntu: `apt install bubblewrap`; Fedora: `dnf install bubblewrap`), \
                 or choose a weaker kind by name",
            ),
            Self::UserNamespaces { .. } => Some(
                "on Ubuntu 23.10 and later give bwrap an AppArmor profile with `userns,` or set \
                 `sysctl kernel.apparmor_restrict_unprivileged_userns=0`; elsewhere check \
                 `kernel.unprivileged_userns_clone=1` and `user.max_user_namespaces` > 0; \
                 inside a container its seccomp profile must allow `unshare` and `mount`",
            ),
            Self::Probe { .. } => Some(
                "run `bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true` by hand: it names what is refused; \
                 inside a container a masked /proc or a seccomp profile is the usual cause",
            ),
            Self::TooWeak { .. } => Some(
                "memory and process limits need a writable cgroup: start inside a delegated one \
                 (`systemd-run --user --scope -p Delegate=yes ...`) or as root, or require less",
            ),
            Self::NoPython { .. } => Some(
                "install Python 3.11 or later with its venv module, or name an interpreter with `--python PATH`",
            ),
            Self::Environment { .. } => Some(
                "check the network and the package index, then try again; an environment of your own works with `--python PATH`",
            ),
            Self::Exposed { .. } => Some(
                "code sees all of `/usr` and of the Python environment's folders: keep competitions' data, runs and a \
                 clone of Podium elsewhere (--data-dir, --runs-dir or --into, --assets), or choose another --python",
            ),
            Self::Gpus { busy, .. } if busy.is_empty() => Some(
                "`nvidia-smi` must list them and /dev/nvidia0 must be there (inside a container it must have been given them); \
                 ask for fewer with --gpus",
            ),
            Self::Gpus { .. } => Some("wait until the other run has ended, or ask for fewer with --gpus"),
            Self::NotReadBack { .. } => Some(
                "the environment's Python must start in the sandbox: `podium sandbox exec -- python -V` tells more",
            ),
            Self::SessionBusy { .. } => Some("wait for its end, interrupt it, or restart the session"),
            Self::SessionOver { .. } => Some("restart the session"),
            Self::NoEngine { .. } => Some(
                "start it (`systemctl start docker`, or `systemctl --user start docker` for a rootless one), install it \
                 (Debian and Ubuntu: `apt install docker.io`), or name its address in DOCKER_HOST; \
                 `--sandbox jail` needs no engine",
            ),
            Self::EngineRefused { .. } => Some(
                "join the group `docker` (`sudo usermod -aG docker $USER`, then log in anew), which is as good as root, \
                 or set up a rootless engine and name its socket in DOCKER_HOST; `--sandbox jail` needs neither",
            ),
            Self::NoImage { .. } => Some(
                "images are never pulled unasked: `docker pull` or `docker build` it first, or name none for Podium's own, \
                 which needs no registry",
            ),
            Self::NoRuntime { .. } => Some(
                "install the runtime and name it in the engine's /etc/docker/daemon.json, then restart the engine",
            ),
            Self::ContainerProbe { .. } => Some(
                "the image must have /bin/sh, grep and id, and the runtime must support read-only roots and no-new-privileges",
            ),
            Self::NoPythonInImage { .. } => Some(
                "the environment is mounted from this machine, but the Python it stands on is the image's: take an image \
                 with the same Python at the same path, or name no image to use this machine's",
            ),
            Self::Unreadable { .. } => {
                Some("let others read it (`chmod -R o+rX FOLDER`), or run as the user that it belongs to")
            }
            Self::Engine { .. } => Some(
                "the engine must see this machine's files at the same paths: one that is a snap or runs in a virtual machine \
                 may not see the temporary folder, which TMPDIR names",
            ),
            Self::Io { action: MAKING, .. } => {
                Some("the temporary folder must be there and writable; TMPDIR names another one")
            }
            Self::Job { .. }
            | Self::Start { .. }
            | Self::Stuck { .. }
            | Self::Cancelled
            | Self::Ports { .. }
            | Self::Io { .. }
            | Self::System { .. } => None,
        }
    }

    /// For `map_err`: an I/O error with what was done to which path.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err`: a failed system call.
    pub(crate) fn system(call: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| Self::System { call, source: errno.into() }
    }
}
