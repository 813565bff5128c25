//! The borders between the layers, read from the manifests and the sources: which package may use which, which module
//! may use which, what a strategy may name, who prints, who grades. The compiler holds most of this; these tests hold
//! the manifests and the lists that make the compiler do it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Of our packages, what each may use: all of it, so an arrow that is not here is an error.
const ARROWS: [(&str, &[&str]); 9] = [
    ("types", &[]),
    ("metric", &["types"]),
    ("competition", &["metric", "types"]),
    ("download", &[]),
    ("llm", &["types"]),
    ("sandbox", &["types"]),
    ("scaffold", &["types"]),
    ("report", &["types"]),
    ("", &["types", "metric", "competition", "download", "llm", "sandbox", "scaffold", "report"]),
];

/// Of the modules of the program's own package, what each may not use.
const CLOSED: [(&str, &[&str]); 5] = [
    ("assets", &["cli", "view", "experiment", "run"]),
    ("provision", &["cli", "view", "experiment"]),
    ("run", &["cli", "view", "experiment", "provision"]),
    ("experiment", &["cli", "view"]),
    ("view", &["cli"]),
];

/// What would let a strategy reach the world, or chance.
const WORLDLY: [&str; 9] =
    ["tokio", "reqwest", "rusqlite", "rand", "hyper", "mio", "getrandom", "bollard", "async-openai"];

/// No file is longer.
const MOST_LINES: usize = 600;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Rust files under `folder`, as paths from the repository's root.
fn sources(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).unwrap().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources under {folder}");
    found
}

/// The lines of a file that are product code: comments, and unit tests at its end, left out.
fn code_lines(path: &Path) -> Vec<(usize, String)> {
    let text = read(&root().join(path));
    let product = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = product.lines().enumerate().map(|(number, line)| (number + 1, line));
    lines
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number, line.to_owned()))
        .collect()
}

/// Product sources: no files that are tests, examples or benchmarks as a whole.
fn product() -> Vec<PathBuf> {
    let mut files = sources("src");
    files.retain(|path| {
        let test_file = path.file_name().is_some_and(|name| name == "tests.rs" || name == "build.rs");
        !test_file
            && !path
                .components()
                .any(|part| ["tests", "examples", "benches"].iter().any(|name| part.as_os_str() == *name))
    });
    files
}

/// Fails with the place of each line of product code for which `wrong` holds.
fn none_of(files: impl IntoIterator<Item = PathBuf>, what: &str, wrong: impl Fn(&str) -> bool) {
    let mut places = Vec::new();
    for path in files {
        for (number, line) in code_lines(&path) {
            if wrong(&line) {
                places.push(format!("{}:{number}: {}", path.display(), line.trim()));
            }
        }
    }
    assert!(places.is_empty(), "{what}:\n{}", places.join("\n"));
}

/// Whether `line` has `word` with no letter, digit or underscore before it.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_')
    })
}

fn is_under(path: &Path, folders: &[&str]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

#[test]
fn packages_use_only_what_lies_below_them() {
    let arrows: BTreeMap<&str, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(package, below)| (*package, below.iter().map(|name| format!("podium-{name}")).collect()))
        .collect();
    let workspace: toml::Table = read(&root().join("Cargo.toml")).parse().unwrap();
    let members: BTreeSet<&str> = workspace["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member.as_str().unwrap().strip_prefix("src/").unwrap())
        .collect();
    let expected: BTreeSet<&str> = arrows.keys().copied().filter(|name| !name.is_empty()).collect();
    assert_eq!(members, expected, "a new package needs its arrows here");

    for (package, below) in arrows {
        let folder = if package.is_empty() { root().to_owned() } else { root().join("src").join(package) };
        let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().unwrap();
        for (kind, table) in [("dependencies", &manifest), ("dev-dependencies", &manifest)] {
            let Some(table) = table.get(kind).and_then(toml::Value::as_table) else { continue };
            let ours: BTreeSet<String> =
                table.keys().filter(|name| name.starts_with("podium-")).cloned().collect();
            assert!(ours.is_subset(&below), "{package}: {kind} has {ours:?}, may have {below:?}");
        }
        assert!(
            !manifest.contains_key("build-dependencies") && !manifest.contains_key("target"),
            "{package}"
        );
    }
}

#[test]
fn modules_use_only_what_lies_below_them() {
    for (module, forbidden) in CLOSED {
        for name in forbidden {
            let paths =
                [format!("crate::{name}"), format!("podium::{name}"), format!("super::super::{name}")];
            none_of(sources(&format!("src/{module}")), &format!("{module} uses {name}"), |line| {
                paths.iter().any(|path| has_word(line, path))
            });
        }
    }
}

#[test]
fn nothing_a_strategy_links_reaches_the_world() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "podium-scaffold", "--edges", "normal,build", "--target", "all"])
        .args(["--prefix", "none", "--format", "{p}", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    let linked: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(linked.contains("podium-types") && linked.contains("tera"), "{linked:?}");
    let found: Vec<&&str> = WORLDLY.iter().filter(|name| linked.contains(**name)).collect();
    assert!(found.is_empty(), "a strategy could use {found:?}");
}

#[test]
fn a_strategy_switches_no_ban_off() {
    none_of(
        product().into_iter().filter(|path| is_under(path, &["src/scaffold"])),
        "a ban switched off",
        |line| {
            line.contains("clippy::disallowed")
                || line.contains("clippy::style")
                || line.contains("clippy::all")
        },
    );
    let manifest: toml::Table = read(&root().join("src/scaffold/Cargo.toml")).parse().unwrap();
    assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true));
    let workspace = read(&root().join("Cargo.toml"));
    assert!(!workspace.contains("disallowed_"), "the workspace's lints must not touch the bans");
}

#[test]
fn only_the_command_line_prints() {
    let files = product().into_iter().filter(|path| !is_under(path, &["src/cli"]));
    none_of(files, "prints", |line| {
        ["println!", "print!", "eprintln!", "eprint!", "dbg!", "io::stdout", "io::stderr"]
            .iter()
            .any(|word| has_word(line, word))
    });
}

#[test]
fn only_the_sandbox_is_unsafe() {
    let files = product().into_iter().filter(|path| !is_under(path, &["src/sandbox"]));
    none_of(files, "unsafe", |line| {
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait", "unsafe_code"]
            .iter()
            .any(|word| has_word(line, word))
    });
}

#[test]
fn texts_for_models_are_templates() {
    // A heuristic: how such texts begin.
    none_of(product(), "a text for a model belongs under prompts/", |line| {
        ["\"You are ", "\"Your task", "\"You have ", "\"You must", "\"Please ", "\"As an expert"]
            .iter()
            .any(|beginning| line.contains(beginning))
    });
}

#[test]
fn only_run_and_the_command_line_grade() {
    let files =
        product().into_iter().filter(|path| !is_under(path, &["src/run", "src/cli", "src/competition"]));
    none_of(files, "grades", |line| has_word(line, "grade("));
}

#[test]
fn each_file_says_what_it_is_and_is_short() {
    for path in sources("src").into_iter().chain(sources("tests")) {
        let text = read(&root().join(&path));
        assert!(text.starts_with("//! "), "{} begins with no doc comment", path.display());
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines", path.display());
    }
}
