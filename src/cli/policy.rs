//! What a sandbox would allow, as a page for people.

use podium_sandbox::Policy;

use crate::cli::terminal::{Terminal, escape};

/// The policy for people.
pub(crate) fn print(policy: &Policy, terminal: &Terminal) {
    let say = |name: &str, text: &str| terminal.line(&escape(&format!("{name:<14}{text}")));
    let limits = &policy.limits;
    say("sandbox", &policy.sandbox.describe());
    let none = if policy.mounts.is_empty() { "none: it sees what you see" } else { "none" };
    say(
        "namespaces",
        &if policy.namespaces.is_empty() { none.to_owned() } else { policy.namespaces.join(" ") },
    );
    for (name, value) in &policy.identity {
        say("", &format!("{name} {value}"));
    }
    terminal.line("\nfiles, in order");
    for mount in &policy.mounts {
        let from = mount.from.as_ref().filter(|from| **from != mount.at);
        let from = from.map(|from| format!("  from {from}")).unwrap_or_default();
        let size = mount.bytes.map(|bytes| format!("  {bytes} bytes")).unwrap_or_default();
        say(&format!("  {}", mount.kind.word()), &format!("{}{from}{size}", mount.at));
    }
    terminal.line("\nenvironment");
    for (name, value) in &policy.environment {
        terminal.line(&escape(&format!("  {name}={value}")));
    }
    terminal.line("\nlimits");
    let cpus: Vec<String> = limits.cpus.ids().iter().map(usize::to_string).collect();
    let cpu_time =
        limits.cpu_time.map_or_else(|| "none".to_owned(), |limit| format!("{} s", limit.as_secs_f64()));
    for (name, value) in [
        ("wall clock", format!("{} s", policy.timeout_seconds)),
        ("CPU time", cpu_time),
        ("processors", cpus.join(" ")),
        ("memory", format!("{} MiB", limits.memory_bytes >> 20)),
        ("processes", limits.processes.to_string()),
        ("open files", limits.open_files.to_string()),
        ("one file", format!("{} MiB", limits.file_bytes >> 20)),
        ("workspace", format!("{} MiB in {} files", limits.workspace_bytes >> 20, limits.workspace_files)),
        ("output", format!("{} + {} bytes kept", limits.output_head_bytes, limits.output_tail_bytes)),
    ] {
        say(&format!("  {name}"), &value);
    }
    if !policy.refused_calls.is_empty() {
        terminal.line("\nrefused system calls");
        for line in policy.refused_calls.chunks(6) {
            terminal.line(&format!("  {}", line.join(" ")));
        }
        for line in &policy.refused_otherwise {
            terminal.line(&format!("  {line}"));
        }
    }
}
