//! The stand-in model's library: solutions of one competition and misbehaviour common to all, as data.

use std::collections::BTreeMap;

use podium_types::nearest::nearest;
use serde::Deserialize;

use crate::toml_fault::{self, TomlFault, meant};

/// A library that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// A table of contents is not TOML, or has a key that does not belong.
    #[error(transparent)]
    Toml(#[from] TomlFault),
    /// An entry names a script that is not there.
    #[error("`{path}` names the script `{file}`, which is not in the library{}", meant(.nearest.as_deref()))]
    NoScript {
        /// The table of contents.
        path: String,
        /// The missing script.
        file: String,
        /// The script nearest in name.
        nearest: Option<String>,
    },
    /// An entry points at a solution that is not there.
    #[error(
        "`{path}`: `{name}` points at `{target}`, which is no solution of this library{}",
        meant(.nearest.as_deref())
    )]
    NoTarget {
        /// The table of contents.
        path: String,
        /// The entry.
        name: String,
        /// Where it points.
        target: String,
        /// The solution nearest in name.
        nearest: Option<String>,
    },
    /// Several competitions at once: the stand-in could not tell which one a prompt is about.
    #[error("the library holds several competitions: {}", .names.join(", "))]
    SeveralCompetitions {
        /// Their folders.
        names: Vec<String>,
    },
    /// Nothing to answer with.
    #[error("the library has no solution that can be drafted")]
    NoDraft,
}

/// One script and what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Script {
    /// The table of contents that names it.
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) plan: String,
    pub(crate) code: String,
    pub(crate) draft: u32,
    pub(crate) improved_by: Vec<String>,
    pub(crate) fixed_by: Option<String>,
    pub(crate) buggy: bool,
    pub(crate) misbehaviour: bool,
}

impl Script {
    /// A solution that works.
    pub(crate) const fn sound(&self) -> bool {
        !self.buggy && !self.misbehaviour
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    solution: Vec<SolutionEntry>,
    #[serde(default)]
    misbehaviour: Vec<MisbehaviourEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SolutionEntry {
    name: String,
    file: String,
    plan: String,
    #[serde(default = "one")]
    draft: u32,
    #[serde(default)]
    improved_by: Vec<String>,
    #[serde(default)]
    fixed_by: String,
    #[serde(default)]
    buggy: bool,
    #[expect(dead_code, reason = "told for the reader: a leaky script answers like a sound one")]
    #[serde(default)]
    leaky: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MisbehaviourEntry {
    name: String,
    file: String,
    plan: String,
    #[expect(dead_code, reason = "told for the reader: which promise the script puts to the test")]
    kind: String,
    #[serde(default = "one")]
    draft: u32,
    #[serde(default)]
    fixed_by: String,
}

const fn one() -> u32 {
    1
}

/// All scripts of one competition and the common misbehaviour, in the order of their tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    pub(crate) scripts: Vec<Script>,
    /// A script around a solution that also predicts the rows of `./validation`; where it is missing none does.
    pub(crate) validated: Option<String>,
}

const CONTENTS: &str = "playbook.toml";
const COMMON: &str = "common";
const VALIDATED: &str = "common/validated.py";
/// Where the solution goes in it.
const SOLUTION: &str = "{{SOLUTION}}";
/// What would end the quotes there.
const QUOTES: &str = "'''";

impl Library {
    /// Reads a library from `relative path → text`, for example `segment/playbook.toml`, `segment/boosting.py`,
    /// `common/playbook.toml`, `common/crash.py`. It holds one competition and, if present, `common`.
    pub fn from_files(files: &BTreeMap<String, String>) -> Result<Self, LibraryError> {
        let folders: Vec<&str> =
            files.keys().filter_map(|path| path.strip_suffix(CONTENTS)?.strip_suffix('/')).collect();
        let own: Vec<&str> = folders.iter().copied().filter(|folder| *folder != COMMON).collect();
        if own.len() > 1 {
            return Err(LibraryError::SeveralCompetitions {
                names: own.into_iter().map(String::from).collect(),
            });
        }
        let mut scripts = Vec::new();
        for folder in folders {
            scripts.extend(read_folder(files, folder)?);
        }
        let validated = files.get(VALIDATED).cloned();
        let library = Self { scripts, validated };
        library.check()?;
        Ok(library)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Script> {
        self.scripts.iter().find(|script| script.name == name)
    }

    /// The code of `script` for a prompt that asks for predictions of the rows in `./validation`, or for one that does not.
    pub(crate) fn code(&self, script: &Script, validated: bool) -> String {
        match &self.validated {
            Some(around) if validated && !script.code.contains(QUOTES) => {
                around.replacen(SOLUTION, script.code.trim(), 1)
            }
            _ => script.code.clone(),
        }
    }

    fn check(&self) -> Result<(), LibraryError> {
        if !self.scripts.iter().any(|script| script.sound() && script.draft > 0) {
            return Err(LibraryError::NoDraft);
        }
        let targets = |script: &Script| {
            let mut targets = script.improved_by.iter().chain(script.fixed_by.iter());
            targets.find(|target| self.get(target).is_none()).cloned()
        };
        match self.scripts.iter().find_map(|script| Some((script, targets(script)?))) {
            None => Ok(()),
            Some((script, target)) => Err(LibraryError::NoTarget {
                path: script.path.clone(),
                name: script.name.clone(),
                nearest: nearest(&target, self.scripts.iter().map(|script| script.name.as_str())),
                target,
            }),
        }
    }
}

fn read_folder(files: &BTreeMap<String, String>, folder: &str) -> Result<Vec<Script>, LibraryError> {
    let path = format!("{folder}/{CONTENTS}");
    let text = files.get(&path).map(String::as_str).unwrap_or_default();
    let contents: Contents = toml_fault::read(&path, text)?;
    let code = |file: &str| {
        files.get(&format!("{folder}/{file}")).cloned().ok_or_else(|| LibraryError::NoScript {
            path: path.clone(),
            file: file.to_owned(),
            nearest: nearest(
                file,
                files.keys().filter_map(|name| name.strip_prefix(folder)?.strip_prefix('/')),
            ),
        })
    };
    let named = |name: String| Some(name).filter(|name| !name.is_empty());
    let mut scripts = Vec::new();
    for entry in contents.solution {
        scripts.push(Script {
            path: path.clone(),
            code: code(&entry.file)?,
            name: entry.name,
            plan: entry.plan,
            draft: entry.draft,
            improved_by: entry.improved_by,
            fixed_by: named(entry.fixed_by),
            buggy: entry.buggy,
            misbehaviour: false,
        });
    }
    for entry in contents.misbehaviour {
        scripts.push(Script {
            path: path.clone(),
            code: code(&entry.file)?,
            name: entry.name,
            plan: entry.plan,
            draft: entry.draft,
            improved_by: Vec::new(),
            fixed_by: named(entry.fixed_by),
            buggy: false,
            misbehaviour: true,
        });
    }
    Ok(scripts)
}
