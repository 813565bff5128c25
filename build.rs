//! Names the commit of a release build, for the provenance of runs, and lays its functions beside each other that are
//! executed together. Development builds have neither: they would be built anew with every commit, and linked longer.

use std::env;
use std::process::Command;

/// The linker script with the functions; made by `benchmark/layout/layout.py`.
const LAYOUT: &str = "benchmark/layout/program.ld";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PODIUM_COMMIT");
    println!("cargo:rerun-if-env-changed=PODIUM_LAYOUT");
    if env::var("PROFILE").as_deref() != Ok("release") {
        return;
    }
    if takes_layout() {
        let root = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rerun-if-changed={LAYOUT}");
        println!("cargo:rustc-link-arg-bins=-T{root}/{LAYOUT}");
        if packs_relocations() {
            println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
    if env::var_os("PODIUM_COMMIT").is_none() {
        commit();
    }
}

/// Whether the linker is the one that Rust brings along, or GNU's: a script that adds to their own layout is known to
/// work with these. `PODIUM_LAYOUT=off` links without it.
fn takes_layout() -> bool {
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    let platform = is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let own_linker = env::var_os("RUSTC_LINKER").is_some() || flags.contains("link");
    platform && !own_linker && !is("PODIUM_LAYOUT", "off")
}

/// Whether the C library of this machine, on which the program is to run, knows the short form of the list of addresses
/// that a start has to mend: some 20 KB, all of which are read, instead of 1.4 MB.
fn packs_relocations() -> bool {
    const SINCE: (u32, u32) = (2, 36);
    let native = env::var("HOST") == env::var("TARGET");
    let version = printed("getconf", &["GNU_LIBC_VERSION"]).and_then(|text| {
        let (major, minor) = text.strip_prefix("glibc ")?.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    native && version.is_some_and(|version| version >= SINCE)
}

/// Names the commit that is built.
fn commit() {
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
    printed("git", arguments)
}

/// What a program prints, if it ends well.
fn printed(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
