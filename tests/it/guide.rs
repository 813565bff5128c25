//! `docs/guide.md`, followed word by word: its commands are run in their order in an empty folder, its changes are made,
//! and the Rust that it shows is that of the examples.

use std::path::Path;
use std::process::Command;

use crate::strategies;
use crate::support::place::cache;
use crate::support::{Place, need};

/// The fenced blocks of a page, with the word behind the fence.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(word) if !open => {
                found.push((word.to_owned(), String::new()));
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                let (_, text) = found.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
    }
    found
}

/// Makes the changes that a block shows, parted by `@@`: where the old lines stand, there are the new ones.
fn change(folder: &Path, block: &str) {
    let file = block.lines().find_map(|line| line.strip_prefix("+++ b/")).unwrap();
    let path = folder.join(file);
    let mut text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> =
        block.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++")).collect();
    for lines in lines.split(|line| line.starts_with("@@")) {
        let side = |gone: char| -> String {
            lines.iter().filter(|line| !line.starts_with(gone)).flat_map(|line| [&line[1..], "\n"]).collect()
        };
        let (old, new) = (side('+'), side('-'));
        assert_eq!(text.matches(&old).count(), 1, "{file} has these lines once:\n{old}");
        text = text.replace(&old, &new);
    }
    std::fs::write(path, text).unwrap();
}

#[test]
fn the_guide_is_followed_word_by_word() {
    if !need::jail("the_guide_is_followed_word_by_word") {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = Place::new();
    let folder = place.work();
    // The program may stand outside the clone (`CARGO_TARGET_DIR`): the built-in competitions lie here then.
    std::os::unix::fs::symlink(root.join("benchmark"), folder.join("benchmark")).unwrap();
    let examples = strategies::program().parent().unwrap().to_owned();
    let programs = [examples.parent().unwrap().to_owned(), examples];
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&path))).unwrap();
    let sources: String = ["main.rs", "policy.rs"]
        .map(|name| std::fs::read_to_string(root.join("examples/strategies").join(name)).unwrap())
        .concat();
    let mut printed = String::new();
    for (word, block) in blocks(&std::fs::read_to_string(root.join("docs/guide.md")).unwrap()) {
        match word.as_str() {
            "rust" => assert!(sources.contains(&block), "the examples do not have:\n{block}"),
            "diff" => change(&folder, &block),
            "sh" => {
                let told = Command::new("sh")
                    .args(["-ec", &block])
                    .current_dir(&folder)
                    .env_clear()
                    .env("PATH", &path)
                    .env("HOME", place.home())
                    .env("XDG_CACHE_HOME", cache())
                    .env("PODIUM_DATA_DIR", place.data())
                    .env("CLONE", root)
                    .output()
                    .unwrap();
                let (out, error) =
                    (String::from_utf8_lossy(&told.stdout), String::from_utf8_lossy(&told.stderr));
                assert!(told.status.success(), "{block}\n{out}\n{error}");
                printed.push_str(&out);
            }
            "text" | "toml" => {}
            other => panic!("nobody knows what to do with a block of `{other}`"),
        }
    }
    for words in [
        "scaffolds/curious.toml",
        "curious: nothing was found; the dry run on travel-mode ended",
        "aide − curious",
        "eager: nothing was found; no dry run was made",
        "policy: epsilon: drafts 2, epsilon 0.2",
        "wander: nothing was found; the dry run on travel-mode ended graded",
    ] {
        assert!(printed.contains(words), "no `{words}` in:\n{printed}");
    }
}

#[test]
fn the_pages_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in ["README.md", "docs/guide.md", "docs/concepts.md", "docs/protocol.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let path = root.join(page).parent().unwrap().join(link.split('#').next().unwrap());
            assert!(path.exists(), "{page} leads to {link}, which is not there");
        }
    }
}
