//! The policy of `deny.toml`: what every crate in the program may be licensed under, which crates may not be in it, and
//! where they come from. `cargo deny` reads the same file; this needs nothing but cargo.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Whether a licence expression allows a use under the licences of a list: one of those parted by `OR` (or, in old
/// manifests, by a slash) has to, and all of those parted by `AND`.
fn allows(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allows = any(&mut rest, allowed);
    assert!(rest.is_empty(), "what is `{expression}`?");
    allows
}

fn any(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    let mut found = all(words, allowed);
    while let ["OR", rest @ ..] = *words {
        *words = rest;
        found |= all(words, allowed);
    }
    found
}

fn all(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    let mut found = one(words, allowed);
    while let ["AND", rest @ ..] = *words {
        *words = rest;
        found &= one(words, allowed);
    }
    found
}

fn one(words: &mut &[&str], allowed: &BTreeSet<&str>) -> bool {
    match *words {
        ["(", rest @ ..] => {
            *words = rest;
            let found = any(words, allowed);
            let [")", rest @ ..] = *words else { panic!("a bracket is not closed") };
            *words = rest;
            found
        }
        [licence, "WITH", exception, rest @ ..] => {
            *words = rest;
            allowed.contains(format!("{licence} WITH {exception}").as_str())
        }
        [licence, rest @ ..] => {
            *words = rest;
            allowed.contains(licence)
        }
        [] => panic!("a licence is missing"),
    }
}

#[test]
fn every_crate_is_licensed_as_the_policy_allows_and_none_is_banned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let policy: toml::Table = std::fs::read_to_string(root.join("deny.toml")).unwrap().parse().unwrap();
    let allowed = policy["licenses"]["allow"].as_array().unwrap();
    let allowed: BTreeSet<&str> = allowed.iter().map(|licence| licence.as_str().unwrap()).collect();
    let banned = policy["bans"]["deny"].as_array().unwrap();
    let banned: BTreeSet<&str> = banned.iter().map(|one| one["name"].as_str().unwrap()).collect();
    let platform = policy["graph"]["targets"][0].as_str().unwrap();
    let listed = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", platform])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let (mut faults, mut sources) = (Vec::new(), BTreeSet::new());
    for package in listed["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        // What is in the workspace is our own.
        let Some(source) = package["source"].as_str() else { continue };
        sources.insert(source);
        let licence = package["license"].as_str().unwrap_or("none");
        if !allows(licence, &allowed) {
            faults.push(format!("{name} is licensed under {licence}"));
        }
        if banned.contains(name) {
            faults.push(format!("{name} is banned"));
        }
    }
    assert!(faults.is_empty(), "against deny.toml:\n{}", faults.join("\n"));
    assert!(
        sources.len() == 1 && sources.iter().all(|source| source.starts_with("registry+")),
        "{sources:?}"
    );
}

#[test]
fn an_expression_is_read_as_it_is_meant() {
    let allowed = ["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("MIT OR GPL-3.0 AND ISC", true),
        ("(MIT OR GPL-3.0) AND ISC", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(allows(expression, &allowed), expected, "{expression}");
    }
}
