//! The references in `docs/reference/` are made from the code; these tests say when they have fallen behind, and
//! `UPDATE=1` writes them.

mod cli;
mod scaffold_toml;

use std::path::Path;

/// Compares a page with what the code says now.
fn compare(page: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference").join(page);
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
        return;
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = stands.lines().zip(made.lines()).position(|(stands, made)| stands != made);
    let line = differs.unwrap_or_else(|| stands.lines().count().min(made.lines().count()));
    assert!(
        stands == made,
        "{} is behind the code from line {} on: UPDATE=1 cargo test --test it reference::\nnow: {}\nmade: {}",
        path.display(),
        line + 1,
        stands.lines().nth(line).unwrap_or_default(),
        made.lines().nth(line).unwrap_or_default(),
    );
}
