//! A scaffold of the user's own, made from another: its file and its prompts under a new name, to be changed. One whose
//! strategy is a program gets a program to begin with.
//!
//! Templates below `prompts/common/` stay where they are: all scaffolds tell the rules in the same words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::run::error::RunError;
use crate::run::own_program::{self, CLIENT, COMMAND, EXTERNAL};
use crate::run::scaffold_file;
use crate::run::site::Site;

/// Templates that all scaffolds share.
const COMMON: &str = "common/";

/// Why it was not made.
#[derive(Debug, thiserror::Error)]
pub enum OwnScaffoldError {
    /// A name that no file should have.
    #[error("`{0}` is no name for a scaffold: small letters, digits, `-` and `_`, a letter first")]
    Name(String),
    /// There is one already.
    #[error("there is a scaffold `{0}` already")]
    Taken(String),
    /// A file or folder of that name is in the way.
    #[error("{} is there already", .0.display())]
    InTheWay(PathBuf),
    /// It could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: std::io::Error,
    },
    /// The scaffold it is made from.
    #[error(transparent)]
    From(#[from] RunError),
}

/// The files of scaffold `from` as those of `name`, by their paths in an assets folder.
///
/// # Errors
/// When the name will not do, or `from` cannot be used.
pub fn copy(site: &Site, from: &str, name: &str) -> Result<BTreeMap<String, String>, OwnScaffoldError> {
    let is_small = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_small) || name == "common"
    {
        return Err(OwnScaffoldError::Name(name.to_owned()));
    }
    if site.scaffold_names().iter().any(|known| known == name) {
        return Err(OwnScaffoldError::Taken(name.to_owned()));
    }
    if is_program(site, from) {
        let (mut files, text) = own_program::strategy(name);
        files.insert(format!("scaffolds/{name}.toml"), head(&text, EXTERNAL, name));
        return Ok(files);
    }
    // One that cannot be used makes no useful beginning, and this says what is wrong with it.
    let scaffold = site.scaffold(from, &[])?;
    let text = site.scaffold_text(from)?;
    let prompts = site.prompts_of(from)?;
    let names = renamed(&used(&text, &prompts), name);
    // The files of its own program keep their names: the scaffold's file and the program say them.
    let program = site.program_files(from, &scaffold)?;
    let mut files: BTreeMap<String, String> =
        program.into_iter().map(|(file, text)| (format!("scaffolds/{file}"), text)).collect();
    if from == COMMAND {
        files.extend([own_program::agent(name)]);
    }
    let id = scaffold_file::id(from);
    files.insert(format!("scaffolds/{name}.toml"), head(&with_names(&text, &names), &id, name));
    for (old, new) in &names {
        if let Some(template) = prompts.get(old) {
            files.insert(format!("prompts/{new}"), with_names(template, &names));
        }
    }
    Ok(files)
}

/// Whether `--from` names no scaffold but a program to begin from.
fn is_program(site: &Site, from: &str) -> bool {
    from == EXTERNAL && !site.scaffold_names().iter().any(|known| known == from)
}

/// Writes them below `folder`, whole or not at all; what is there already is not touched.
///
/// # Errors
/// When something is in the way, or cannot be written.
pub fn write(folder: &Path, name: &str, files: &BTreeMap<String, String>) -> Result<(), OwnScaffoldError> {
    let prompts = folder.join("prompts").join(name);
    let file = folder.join("scaffolds").join(format!("{name}.toml"));
    if let Some(there) = [&prompts, &file].into_iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(OwnScaffoldError::InTheWay(there.clone()));
    }
    // A program may share files with another: those that are the same already are left.
    let own = format!("scaffolds/{name}.toml");
    let program = files.keys().filter(|file| !file.starts_with("prompts/") && **file != own);
    let program: Vec<(&String, PathBuf)> = program
        .map(|file| (file, folder.join(file)))
        .filter(|(file, path)| std::fs::read_to_string(path).ok().as_ref() != files.get(*file))
        // A client that is there serves another strategy, perhaps changed by its author.
        .filter(|(file, path)| *file != CLIENT || !path.exists())
        .collect();
    if let Some((_, there)) = program.iter().find(|(_, path)| path.symlink_metadata().is_ok()) {
        return Err(OwnScaffoldError::InTheWay(there.clone()));
    }
    // Made aside and put in its place at once: others may be reading the folder.
    let aside = tempfile::Builder::new().prefix(".podium-new-").tempdir_in(folder).map_err(failed(folder))?;
    files.iter().try_for_each(|(name, text)| put(&aside.path().join(name), text))?;
    let mut moves = vec![(format!("prompts/{name}"), &prompts)];
    moves.extend(program.iter().map(|(file, path)| ((*file).clone(), path)));
    moves.push((own, &file));
    for (made, place) in moves.iter().filter(|(made, _)| aside.path().join(made).exists()) {
        let moved = place.parent().map_or(Ok(()), std::fs::create_dir_all);
        let moved = moved.and_then(|()| std::fs::rename(aside.path().join(made), place));
        if let Err(source) = moved {
            // Nothing of it was there before.
            let _ = std::fs::remove_dir_all(&prompts);
            return Err(failed(place)(source));
        }
    }
    Ok(())
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> OwnScaffoldError {
    move |source| OwnScaffoldError::Write { path: path.to_owned(), source }
}

fn put(path: &Path, text: &str) -> Result<(), OwnScaffoldError> {
    let written =
        path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
    written.map_err(failed(path))
}

/// The templates that a text names in quotes, and those that they name, without the common ones.
fn used(text: &str, prompts: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    let mut texts = vec![text];
    while let Some(text) = texts.pop() {
        for (name, template) in prompts {
            if !name.starts_with(COMMON) && quoted(name).iter().any(|name| text.contains(name)) {
                let is_new = used.insert(name.clone());
                texts.extend(is_new.then_some(template.as_str()));
            }
        }
    }
    used
}

fn quoted(name: &str) -> [String; 2] {
    [format!("\"{name}\""), format!("'{name}'")]
}

/// The new name of each template: below the scaffold's own folder, with the old folder's name before it where two
/// would meet.
fn renamed(used: &BTreeSet<String>, name: &str) -> BTreeMap<String, String> {
    let file = |old: &str| old.split_once('/').map_or(old.to_owned(), |(_, file)| file.to_owned());
    let meets = |old: &String| used.iter().filter(|other| file(other) == file(old)).count() > 1;
    let new = |old: &String| match old.split_once('/') {
        Some((folder, file)) if meets(old) => match file.rsplit_once('/') {
            Some((below, file)) => format!("{name}/{below}/{folder}-{file}"),
            None => format!("{name}/{folder}-{file}"),
        },
        _ => format!("{name}/{}", file(old)),
    };
    used.iter().map(|old| (old.clone(), new(old))).collect()
}

fn with_names(text: &str, names: &BTreeMap<String, String>) -> String {
    names.iter().fold(text.to_owned(), |text, (old, new)| {
        let pairs = quoted(old).into_iter().zip(quoted(new));
        pairs.fold(text, |text, (old, new)| text.replace(&old, &new))
    })
}

/// The file with its own id and name, and a word on where it came from.
fn head(text: &str, from: &str, name: &str) -> String {
    let mut left = [("id", true), ("name", true), ("version", true)];
    let mut lines = vec![format!("# Made from {from} by `podium scaffolds new`: yours to change.")];
    for line in text.lines() {
        let key = line.split_once(" = ").map(|(key, _)| key.trim());
        let known = left.iter_mut().find(|(word, first)| *first && key == Some(word));
        lines.push(match known {
            Some(slot) => {
                slot.1 = false;
                if slot.0 == "version" {
                    "version = 1".to_owned()
                } else {
                    format!("{} = \"{name}\"", slot.0)
                }
            }
            None => line.to_owned(),
        });
    }
    lines.join("\n") + "\n"
}
