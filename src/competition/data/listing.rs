//! What a preparation leaves behind, as the catalog lists it: `train.csv`, `test/` (a folder with something in it),
//! `train/<species>/*.png` (at least one such file), `{a,b}.txt` (both). A pattern is satisfied by its first match, so
//! that a folder of a million images is not walked.

use std::path::Path;

/// The single entries that `entry` stands for: each alternative in braces is one.
pub(crate) fn expand(entry: &str) -> Vec<String> {
    let parts = entry.split_once('{').and_then(|(front, rest)| {
        let (inner, back) = rest.split_once('}')?;
        Some((front, inner, back))
    });
    match parts {
        Some((front, inner, back)) => inner
            .split(',')
            .flat_map(|one| expand(back).into_iter().map(move |back| format!("{front}{one}{back}")))
            .collect(),
        None => vec![entry.to_owned()],
    }
}

/// Whether there is something below `folder` that `entry` stands for.
pub(crate) fn is_there(folder: &Path, entry: &str) -> bool {
    match entry.split_once('/') {
        Some((first, "")) => named(folder, first, &|path| !is_empty(path)),
        Some((first, rest)) => named(folder, first, &|path| path.is_dir() && is_there(path, rest)),
        None => named(folder, entry, &Path::exists),
    }
}

/// Whether one of the things in `folder` that have this name is right.
fn named(folder: &Path, name: &str, right: &dyn Fn(&Path) -> bool) -> bool {
    let Some((front, back)) = wildcard(name) else { return right(&folder.join(name)) };
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let found = entry.file_name();
        let found = found.to_string_lossy();
        found.len() >= front.len() + back.len()
            && found.starts_with(front)
            && found.ends_with(back)
            && right(&entry.path())
    })
}

/// What stands before and behind the wildcard of a name: `*`, or a word in angle brackets.
fn wildcard(name: &str) -> Option<(&str, &str)> {
    name.split_once('*').or_else(|| {
        let (front, rest) = name.split_once('<')?;
        let (_, back) = rest.split_once('>')?;
        Some((front, back))
    })
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_as_they_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["a.csv", "x/cat/1.png", "one.txt", "two.txt"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::fs::create_dir(folder.path().join("empty")).unwrap();
        for (entry, there) in [
            ("a.csv", true),
            ("b.csv", false),
            ("x/", true),
            ("empty/", false),
            ("none/", false),
            ("a.csv/", false),
            ("x/<kind>/*.png", true),
            ("x/<kind>/*.jpg", false),
            ("x/*.png", false),
            ("*.csv", true),
            ("*a.csva.csv", false),
        ] {
            assert_eq!(is_there(folder.path(), entry), there, "{entry}");
        }
        assert_eq!(expand("{one,two}.txt"), ["one.txt", "two.txt"]);
        assert_eq!(expand("a/{b,c}/{d,e}").len(), 4);
        assert_eq!(expand("open{.txt"), ["open{.txt"]);
    }
}
