//! Finding out what an engine enforces, by running a container.
//!
//! A container with the same settings as a job's runs a small shell script that tries what must fail and tells what
//! happened. What the engine says of itself is believed only where nothing can be tried.

use std::path::PathBuf;

use podium_types::execution::Ended;

use super::{Docker, engine::Engine, image::Image, owner::Owner};
use crate::{EngineFacts, Facts, SandboxError, SandboxKind, Strength, trial};

/// Each line tries what must be refused and prints its name when it was.
const SCRIPT: &str = "
test \"$(id -u)\" != 0 && echo user
grep -q '^Seccomp:.2' /proc/self/status && echo seccomp
grep -q '^NoNewPrivs:.1' /proc/self/status && echo privileges
grep -q '^CapBnd:.0*$' /proc/self/status && echo capabilities
( : > /podium-probe ) 2>/dev/null || echo root
( : > /usr/podium-probe ) 2>/dev/null || echo system
( : > /proc/sys/kernel/domainname ) 2>/dev/null || echo settings
test \"$(ls /sys/class/net)\" = lo && echo network
: > probe && echo workspace
test -x /bin/bash && echo bash
command -v unshare >/dev/null && ! unshare -U true 2>/dev/null && echo namespaces
true
";
/// What must be printed; the others are facts.
const NEEDED: [&str; 7] =
    ["privileges", "capabilities", "root", "system", "settings", "network", "workspace"];

/// Facts before anything was tried.
pub(super) fn blank(engine: &Engine, image: &Image, owner: Owner) -> Facts {
    Facts {
        kind: SandboxKind::Docker,
        strength: Strength::Namespaces,
        bubblewrap: None,
        engine: Some(EngineFacts {
            version: engine.info.server_version.clone().unwrap_or_default(),
            api: engine.api.clone(),
            runtime: engine.runtime.clone().unwrap_or_default(),
            image: image.name.clone(),
            image_id: image.id.clone(),
            rootless: engine.is_rootless(),
            user: owner.text(),
        }),
        cgroup: engine.cgroup(),
        seccomp: false,
        nested_namespaces_refused: false,
        // A runtime with a kernel of its own has a network of its own as well.
        callbacks: !engine.has_own_kernel(),
        missing: Vec::new(),
    }
}

/// What was found out.
pub(super) struct Probed {
    pub(super) facts: Facts,
    /// The shell of sessions.
    pub(super) shell: PathBuf,
}

/// Runs the script and returns what it found.
pub(super) fn probe(docker: &Docker) -> Result<Probed, SandboxError> {
    let execution = trial::run(docker, &["/bin/sh", "-c", SCRIPT])?;
    let output = execution.output.text();
    let seen = |name: &str| output.lines().any(|line| line == name);
    let absent: Vec<&str> = NEEDED.into_iter().filter(|name| !seen(name)).collect();
    if execution.ended != Ended::Exit(0) || !absent.is_empty() {
        let said = format!("{:?}, {}", execution.ended, output.trim());
        let image = docker.image.name.clone();
        return Err(SandboxError::ContainerProbe {
            image,
            message: format!("not as it must be: {} ({said})", absent.join(", ")),
        });
    }
    let mut facts = blank(&docker.engine, &docker.image, docker.owner);
    facts.callbacks = docker.facts.callbacks;
    facts.seccomp = seen("seccomp");
    facts.nested_namespaces_refused = seen("namespaces");
    let own_kernel = docker.engine.has_own_kernel();
    if !facts.seccomp && !own_kernel {
        facts.missing.push("the engine does not apply a system call filter".to_owned());
    }
    if !seen("user") && !docker.engine.is_rootless() {
        facts.missing.push("the program runs as root".to_owned());
    }
    let has = |name: &str| {
        facts.cgroup.as_ref().is_some_and(|cgroup| cgroup.controllers.iter().any(|known| known == name))
    };
    let lacking: Vec<&str> = ["memory", "pids"].into_iter().filter(|name| !has(name)).collect();
    if !lacking.is_empty() {
        facts.missing.push(format!("the engine has no limits of {}", lacking.join(" and ")));
    }
    if facts.missing.is_empty() {
        facts.strength = Strength::Full;
    }
    let shell = PathBuf::from(if seen("bash") { "/bin/bash" } else { "/bin/sh" });
    Ok(Probed { facts, shell })
}
