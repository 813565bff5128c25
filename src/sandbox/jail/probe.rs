//! Finding out what this machine can enforce, by running jails.
//!
//! A probe jail runs a small shell script that tries what must fail and tells what happened. First everything is asked
//! for; what is refused is left out one by one, and each thing left out is named in the facts.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use podium_types::execution::Ended;

use super::{Jail, ahead::Ahead, etc::Etc, nodes::Nodes, seccomp};
use crate::{Facts, SandboxError, SandboxKind, Settings, Strength, cgroup::Groups, trial, warm::Servers};

/// Each line tries what must be refused and prints its name when it was. Nothing is started for it: the shell reads by
/// itself, which takes a tenth of the time.
const SCRIPT: &str = "
while read -r name value rest; do
  case \"$name $value\" in
    'Uid: 0') ;;
    'Uid: '*) echo user ;;
    'Seccomp: 2') echo seccomp ;;
    'NoNewPrivs: 1') echo privileges ;;
    'CapEff: '*[1-9a-f]*) ;;
    'CapEff: 0'*) echo capabilities ;;
  esac
done < /proc/self/status
test -e /etc/shadow || echo root
( : > /usr/podium-probe ) 2>/dev/null || echo system
( : > /proc/sys/kernel/domainname ) 2>/dev/null || echo settings
: > probe && echo workspace
";
/// What the script prints in a sound jail.
const WANTED: [&str; 8] =
    ["user", "seccomp", "privileges", "capabilities", "root", "system", "settings", "workspace"];

/// Probes, weakening step by step what is not essential.
pub(super) fn open(settings: &Settings) -> Result<Jail, SandboxError> {
    let bubblewrap = find(settings)?;
    let version = version(&bubblewrap)?;
    let filters = seccomp::programs().map_err(|error| SandboxError::Probe { message: error.to_string() })?;
    let groups = if settings.cgroups { Groups::detect() } else { None };
    let facts = Facts {
        kind: SandboxKind::Jail,
        strength: Strength::Full,
        bubblewrap: Some(version),
        engine: None,
        cgroup: None,
        seccomp: true,
        nested_namespaces_refused: true,
        callbacks: true,
        missing: Vec::new(),
    };
    let (nodes, nodeless) = match Nodes::new() {
        Ok(nodes) => (nodes, None),
        Err(missing) => (Nodes::default(), Some(missing.to_owned())),
    };
    let settings = settings.clone();
    let mut jail = Jail {
        bubblewrap,
        filters,
        groups,
        settings,
        facts,
        nodes,
        etc: Etc::default(),
        warm: Servers::default(),
        ahead: Ahead::default(),
    };

    let (mut first, mut portless) = (None, None);
    for (nested_namespaces_refused, with_groups) in
        [(true, true), (false, true), (true, false), (false, false)]
    {
        if !with_groups && jail.groups.take().is_some() {
            jail.facts.missing.push("the control groups that can be made cannot be joined".to_owned());
        }
        jail.facts.nested_namespaces_refused = nested_namespaces_refused;
        let mut checked = check(&jail);
        if let Err(SandboxError::Ports { source }) = &checked {
            jail.facts.callbacks = false;
            portless = Some(format!("no port can be bound in the network of a jail ({source})"));
            checked = check(&jail);
        }
        match checked {
            Ok(()) => {
                conclude(&mut jail);
                jail.facts.missing.extend(portless.into_iter().chain(nodeless));
                return Ok(jail);
            }
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first.unwrap_or_else(|| SandboxError::Probe { message: "nothing was tried".to_owned() }))
}

/// Writes down the strength that the probe has shown.
fn conclude(jail: &mut Jail) {
    jail.facts.cgroup = jail.groups.as_ref().map(Groups::facts);
    let full = jail.groups.as_ref().is_some_and(Groups::is_full);
    if !full {
        jail.facts.strength = Strength::Namespaces;
        if !jail.settings.cgroups {
            jail.facts.missing.push("control groups are switched off".to_owned());
        } else if jail.facts.missing.is_empty() {
            jail.facts.missing.push("no writable control group with memory and pids controllers".to_owned());
        }
        if rustix::process::getuid().is_root() {
            jail.facts
                .missing
                .push("without a pids controller nothing limits the processes of root".to_owned());
        }
    }
}

/// Runs the script in a jail of the present settings.
fn check(jail: &Jail) -> Result<(), SandboxError> {
    let execution = trial::run(jail, &["/bin/sh", "-c", SCRIPT]).map_err(explain)?;
    let seen = execution.output.text();
    let missing: Vec<&str> =
        WANTED.into_iter().filter(|name| !seen.lines().any(|line| line == *name)).collect();
    if execution.ended == Ended::Exit(0) && missing.is_empty() {
        Ok(())
    } else {
        let message =
            format!("not as it must be: {} ({:?}, {})", missing.join(", "), execution.ended, seen.trim());
        Err(SandboxError::Probe { message })
    }
}

/// Tells a policy against user namespaces from other failures, by what bubblewrap says.
fn explain(error: SandboxError) -> SandboxError {
    let SandboxError::Start { message } = error else { return error };
    let refused =
        ["No permissions to creat", "setting up uid map", "Creating new namespace failed", "unshare"];
    if refused.iter().any(|text| message.contains(text)) {
        SandboxError::UserNamespaces { message }
    } else {
        SandboxError::Probe { message }
    }
}

/// The bubblewrap program, as an absolute path.
fn find(settings: &Settings) -> Result<PathBuf, SandboxError> {
    let candidates = match &settings.bubblewrap {
        Some(path) => vec![path.clone()],
        None => std::env::var_os("PATH")
            .map(|path| std::env::split_paths(&path).map(|folder| folder.join("bwrap")).collect())
            .unwrap_or_default(),
    };
    candidates.into_iter().find(|path| is_program(path)).ok_or(SandboxError::NoBubblewrap)
}

fn is_program(path: &Path) -> bool {
    path.is_absolute() && path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// `bubblewrap 0.8.0` → `0.8.0`.
fn version(bubblewrap: &Path) -> Result<String, SandboxError> {
    let output = Command::new(bubblewrap).arg("--version").output();
    let output = output.map_err(SandboxError::io("running", bubblewrap))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().last().unwrap_or("of unknown version").to_owned())
}
