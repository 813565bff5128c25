//! What a user asks for: axes and settings, as a TOML file or made from the command line. A setting with a list of
//! values is an axis like scaffolds, models, competitions and seeds.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::experiment::error::ExperimentError;
use crate::experiment::settings;
use crate::run::scaffold_file;

/// An experiment as it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentSpec {
    /// Its name, also its folder's.
    #[serde(default)]
    pub name: String,
    /// Scaffolds: ids, or paths of their files.
    #[serde(default)]
    pub scaffolds: Vec<String>,
    /// Models, each for all roles that `settings` names no other for.
    #[serde(default)]
    pub models: Vec<String>,
    /// Ids of competitions.
    #[serde(default)]
    pub competitions: Vec<String>,
    /// A split, whose competitions are added to those.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// How many seeds, from 1, or which.
    #[serde(default)]
    pub seeds: Seeds,
    /// Settings of all runs, by the names of `podium run`'s options. In a file a table stands for a dot.
    #[serde(default, deserialize_with = "flat")]
    pub settings: BTreeMap<String, Values>,
    /// Dollars that all runs together may spend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_cost: Option<f64>,
    /// Tokens that all runs together may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_tokens: Option<u64>,
}

/// Seeds: a number of them, from 1, or a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Seeds {
    /// So many, from 1.
    Number(u64),
    /// These.
    List(Vec<u64>),
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Number(1)
    }
}

impl Seeds {
    /// All of them.
    pub fn all(&self) -> Vec<u64> {
        match self {
            Self::Number(number) => (1..=*number).collect(),
            Self::List(list) => list.clone(),
        }
    }
}

/// One value of a setting, or several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Values {
    /// Several: an axis.
    Many(Vec<Value>),
    /// One.
    One(Value),
}

/// Settings as a file has them: `[settings.search] workers = 3` is `search.workers`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Nested {
    Values(Values),
    Table(BTreeMap<String, Nested>),
}

fn flat<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Values>, D::Error> {
    fn add(to: &mut BTreeMap<String, Values>, before: &str, table: BTreeMap<String, Nested>) {
        for (name, nested) in table {
            let name = if before.is_empty() { name } else { format!("{before}.{name}") };
            match nested {
                Nested::Values(values) => {
                    to.insert(name, values);
                }
                Nested::Table(table) => add(to, &name, table),
            }
        }
    }
    let mut settings = BTreeMap::new();
    add(&mut settings, "", BTreeMap::deserialize(from)?);
    Ok(settings)
}

/// A value as TOML has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A switch.
    Switch(bool),
    /// A whole number.
    Number(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Switch(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

impl Values {
    /// As settings take them.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::Many(values) => values.iter().map(Value::to_string).collect(),
            Self::One(value) => vec![value.to_string()],
        }
    }

    fn each_text(&mut self, change: &dyn Fn(&str) -> String) {
        let values = match self {
            Self::Many(values) => values.as_mut_slice(),
            Self::One(value) => std::slice::from_mut(value),
        };
        for value in values {
            if let Value::Text(text) = value {
                *text = change(text);
            }
        }
    }
}

/// One arm of the matrix: scaffold, model and settings. Its axes by name, those of one value too.
pub type Arm = BTreeMap<String, String>;

/// Names of the two axes that every experiment has besides competitions and seeds.
pub const SCAFFOLD: &str = "scaffold";
/// The models of all roles that no setting names.
pub const MODEL: &str = "model";

impl ExperimentSpec {
    /// Reads a TOML file.
    ///
    /// # Errors
    /// When it does not read, or has an unknown key.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let wrong = |message: String| ExperimentError::File { path: path.to_owned(), message };
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        toml::from_str(&text).map_err(|error| wrong(error.message().to_owned()))
    }

    /// With all paths absolute.
    #[must_use]
    pub fn absolute(mut self) -> Self {
        for name in &mut self.scaffolds {
            if let Some(path) = scaffold_file::path(name).and_then(|path| std::path::absolute(path).ok()) {
                *name = path.display().to_string();
            }
        }
        for (name, values) in &mut self.settings {
            let absolute = |value: &str| settings::absolute(name, value);
            values.each_text(&absolute);
        }
        self
    }

    /// Refuses what cannot be planned.
    ///
    /// # Errors
    /// Axes without values, a name that is no folder's.
    pub fn check(&self) -> Result<(), ExperimentError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(plain) {
            return Err(ExperimentError::Name(self.name.clone()));
        }
        let empty = |what, is_empty: bool| if is_empty { Err(ExperimentError::Empty(what)) } else { Ok(()) };
        empty("scaffolds", self.scaffolds.is_empty())?;
        empty("competitions", self.competitions.is_empty() && self.split.is_none())?;
        empty("seeds", self.seeds.all().is_empty())?;
        for (name, values) in &self.settings {
            if values.texts().is_empty() {
                return Err(ExperimentError::Setting {
                    name: name.clone(),
                    value: "empty".to_owned(),
                    message: "an axis has values".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// All arms, in the order in which they are named; each once.
    pub fn arms(&self) -> Vec<Arm> {
        let mut axes = vec![(SCAFFOLD, self.scaffolds.clone())];
        if !self.models.is_empty() {
            axes.push((MODEL, self.models.clone()));
        }
        axes.extend(self.settings.iter().map(|(name, values)| (name.as_str(), values.texts())));
        let mut arms = vec![Arm::new()];
        for (name, values) in axes {
            arms = arms
                .iter()
                .flat_map(|arm| {
                    values.iter().map(|value| {
                        let mut arm = arm.clone();
                        arm.insert(name.to_owned(), value.clone());
                        arm
                    })
                })
                .collect();
        }
        let mut seen = std::collections::BTreeSet::new();
        arms.retain(|arm| seen.insert(arm.clone()));
        arms
    }

    /// The axes that have more than one value, by which arms are told apart.
    pub fn varied(&self) -> Vec<String> {
        let mut names = Vec::new();
        if self.scaffolds.len() > 1
            || (self.models.len() < 2 && self.settings.values().all(|v| v.texts().len() < 2))
        {
            names.push(SCAFFOLD.to_owned());
        }
        if self.models.len() > 1 {
            names.push(MODEL.to_owned());
        }
        names.extend(self.settings.iter().filter(|(_, v)| v.texts().len() > 1).map(|(name, _)| name.clone()));
        names
    }

    /// Adds the values of `other` to the axes of this: what is there stays, and settings are replaced.
    #[must_use]
    pub fn extended(mut self, other: &Self) -> Self {
        let add = |to: &mut Vec<String>, from: &[String]| {
            let new: Vec<String> = from.iter().filter(|name| !to.contains(name)).cloned().collect();
            to.extend(new);
        };
        add(&mut self.scaffolds, &other.scaffolds);
        add(&mut self.models, &other.models);
        add(&mut self.competitions, &other.competitions);
        self.split = other.split.clone().or(self.split);
        let mut seeds = self.seeds.all();
        let new: Vec<u64> = other.seeds.all().into_iter().filter(|seed| !seeds.contains(seed)).collect();
        seeds.extend(new);
        self.seeds = Seeds::List(seeds);
        self.settings.extend(other.settings.clone());
        self.cap_cost = other.cap_cost.or(self.cap_cost);
        self.cap_tokens = other.cap_tokens.or(self.cap_tokens);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_may_be_an_axis() {
        let text = "name = 'x'\nscaffolds = ['a', 'b', 'a']\nseeds = 2\n[settings]\nsteps = [5, 10]\n\
                    \"policy.exploration\" = 0.5\n[settings.search]\nworkers = 3";
        let spec: ExperimentSpec = toml::from_str(text).unwrap();
        let arms = spec.arms();
        assert_eq!(arms.len(), 4);
        assert_eq!(arms[1]["steps"], "10");
        assert!(arms.iter().all(|arm| arm["search.workers"] == "3" && arm["policy.exploration"] == "0.5"));
        assert_eq!(spec.varied(), ["scaffold", "steps"]);
        assert!(toml::from_str::<ExperimentSpec>("nosuch = 1").is_err());
        let more = ExperimentSpec { seeds: Seeds::Number(3), ..ExperimentSpec::default() };
        assert_eq!(spec.extended(&more).seeds.all(), [1, 2, 3]);
        let paths =
            ExperimentSpec { scaffolds: vec!["aide".into(), "./a.toml".into()], ..ExperimentSpec::default() };
        let scaffolds = paths.absolute().scaffolds;
        assert!(scaffolds[0] == "aide" && scaffolds[1].starts_with('/') && !scaffolds[1].contains("/./"));
    }
}
