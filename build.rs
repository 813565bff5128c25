//! Names the commit of a release build, for the provenance of runs. Development builds have none: they would be built anew
//! with every commit.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PODIUM_COMMIT");
    if std::env::var_os("PODIUM_COMMIT").is_some() || std::env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name]) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        let changed =
            git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
        println!("cargo:rustc-env=PODIUM_COMMIT={commit}{}", if changed { " with changes" } else { "" });
    }
}

/// What git prints; none where there is no git, or no repository.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
