//! The matrix on the command line: lists with commas, over a TOML file where one is named.

use std::path::PathBuf;

use clap::Args;

use crate::cli::failure::Failure;
use crate::cli::values;
use crate::experiment::error::ExperimentError;
use crate::experiment::settings;
use crate::experiment::spec::{ExperimentSpec, Seeds, Value, Values};

/// What an experiment is made of.
#[derive(Debug, Args)]
pub(crate) struct Matrix {
    /// A TOML file of the experiment; options add to its axes and replace its settings
    file: Option<PathBuf>,
    /// Name of the experiment and of its folder below --runs-dir
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Scaffolds
    #[arg(long, visible_alias = "scaffold", value_name = "A,B", value_delimiter = ',')]
    scaffolds: Vec<String>,
    /// Competitions
    #[arg(long, visible_alias = "competition", value_name = "X,Y", value_delimiter = ',')]
    competitions: Vec<String>,
    /// All competitions of a split: offline, low, medium, high, all, dev
    #[arg(long, value_name = "S")]
    split: Option<String>,
    /// Models, each for all roles
    #[arg(long, value_name = "M,N", value_delimiter = ',', value_parser = values::model)]
    model: Vec<String>,
    /// How many seeds, from 1; with a comma, which
    #[arg(long, value_name = "N | N,M", value_delimiter = ',')]
    seeds: Vec<u64>,
    /// Step limit of a run; with commas, an axis
    #[arg(long, value_name = "N")]
    steps: Option<String>,
    /// Run time limit of a run
    #[arg(long, value_name = "D")]
    time_limit: Option<String>,
    /// Limit of one execution
    #[arg(long, value_name = "D")]
    execution_limit: Option<String>,
    /// Dollar limit of a run
    #[arg(long, value_name = "USD")]
    max_cost: Option<String>,
    /// Token limit of a run
    #[arg(long, value_name = "N")]
    max_tokens: Option<String>,
    /// Memory of an execution
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    /// Processors of an execution: with fewer than the machine has, more runs go on at a time
    #[arg(long, value_name = "N")]
    cpus: Option<String>,
    /// Where agents' code runs
    #[arg(long, value_name = "KIND")]
    sandbox: Option<String>,
    /// Any other setting of `podium run` (gpus, machine, description, environment, workers, ...), a model of one role
    /// as role.NAME, a folder to be read as mount.NAME, or a value of the scaffold; with commas, an axis. May be
    /// repeated
    #[arg(long = "with", value_name = "KEY=V,W", value_parser = values::pair)]
    others: Vec<(String, String)>,
    /// Dollars of all runs together: each is reserved at its limit before it begins
    #[arg(long, value_name = "USD")]
    cap_cost: Option<String>,
    /// Tokens of all runs together
    #[arg(long, value_name = "N")]
    cap_tokens: Option<u64>,
}

impl Matrix {
    /// As the library takes it.
    pub(super) fn spec(&self) -> Result<ExperimentSpec, Failure> {
        let file = self.file.as_deref().map(ExperimentSpec::read).transpose()?.unwrap_or_default();
        let seeds = match self.seeds.as_slice() {
            [] => None,
            [number] => Some(Seeds::Number(*number)),
            list => Some(Seeds::List(list.to_vec())),
        };
        let mut spec = ExperimentSpec {
            name: self.name.clone().unwrap_or_else(|| file.name.clone()),
            models: file
                .models
                .iter()
                .map(|name| values::model(name))
                .collect::<Result<_, _>>()
                .map_err(Failure::usage)?,
            seeds: seeds.unwrap_or_else(|| file.seeds.clone()),
            ..file
        };
        spec.scaffolds.extend(self.scaffolds.clone());
        spec.models.extend(self.model.clone());
        spec.competitions.extend(self.competitions.clone());
        spec.split = self.split.clone().or(spec.split);
        let named = [
            ("steps", &self.steps),
            ("time_limit", &self.time_limit),
            ("execution_limit", &self.execution_limit),
            ("max_cost", &self.max_cost),
            ("max_tokens", &self.max_tokens),
            ("memory", &self.memory),
            ("cpus", &self.cpus),
            ("sandbox", &self.sandbox),
        ];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        for (name, value) in named.chain(self.others.clone()) {
            let values = value.split(',').map(|value| Value::Text(value.trim().to_owned())).collect();
            spec.settings.insert(name, Values::Many(values));
        }
        if let Some(cap) = &self.cap_cost {
            let wrong = |message| ExperimentError::Setting {
                name: "cap_cost".to_owned(),
                value: format!("`{cap}`"),
                message,
            };
            spec.cap_cost = Some(settings::dollars(cap).map_err(wrong)?.dollars());
        }
        spec.cap_tokens = self.cap_tokens.or(spec.cap_tokens);
        Ok(spec.absolute())
    }
}
