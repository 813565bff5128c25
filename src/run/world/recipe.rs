//! How to run a solution without Podium: its packages, and a small shell script. Both lie beside it in `best/`.
//!
//! They follow from the run's configuration alone, so that they can be written again at any time. The script sets what
//! decides results (processors, the seed of Python's hashes); it draws no boundary, and says so.

use std::fmt::Write as _;

use crate::run::config::RunConfig;
use crate::run::validation;

/// The files that tell how to run any solution of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// For `pip install -r`: the packages of the run's Python environment, with their versions.
    pub requirements: String,
    /// For `sh`.
    pub script: String,
}

impl Recipe {
    /// The recipe of a run.
    pub fn of(config: &RunConfig) -> Self {
        Self { requirements: requirements(config), script: script(config) }
    }
}

/// The pinned profile as it stands; of a user's own environment what it held when the run was made.
fn requirements(config: &RunConfig) -> String {
    let pinned = &config.sandbox.requirements;
    if !pinned.trim().is_empty() {
        return pinned.clone();
    }
    let mut text = String::from("# The packages of the user's own environment when the run was made.\n");
    for package in &config.task.packages {
        let _ = writeln!(text, "{}", package.replace(' ', "=="));
    }
    text
}

fn script(config: &RunConfig) -> String {
    let submission = config.task.submission_path.trim_start_matches("./");
    let folder = submission.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let cpus = config.sandbox.cpus.max(1);
    SCRIPT
        .replace("{competition}", &one_line(&config.task.competition))
        .replace("{plain}", &one_line(submission))
        .replace("{submission}", &quoted(submission))
        .replace("{folder}", &quoted(folder))
        .replace("{cpus}", &cpus.to_string())
        .replace("{kept}\n", &kept(config))
}

/// What a solution saw of a run that keeps training labels: the other rows, and the rows it is to predict.
fn kept(config: &RunConfig) -> String {
    let Some(validation) = &config.task.validation else { return String::new() };
    KEPT.replace("{table}", &quoted(&format!("input/{}", validation.training_table)))
        .replace("{shown}", validation::FOLDER)
}

/// For a comment.
fn one_line(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

/// As one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

const SCRIPT: &str = r#"#!/bin/sh
# Runs solution.py without Podium, and without a sandbox: read it first, a language model wrote it.
# Competition: {competition}
#
#   python3 -m venv venv && venv/bin/pip install -r requirements.txt
#   PYTHON=venv/bin/python sh run.sh DATA [FOLDER]
#
# DATA is the folder of the competition's public data; the solution reads them at ./input.
# FOLDER, ./again without one, is where it runs; it must be new. The submission is then FOLDER/{plain}.
set -eu
[ $# -ge 1 ] && [ -d "$1" ] || { echo "usage: sh run.sh DATA [FOLDER]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$1" && pwd)
python=${PYTHON:-python3}
case $python in */*) python=$(cd "$(dirname "$python")" && pwd)/$(basename "$python") ;; esac
folder=${2:-again}
mkdir "$folder"
cd "$folder"
mkdir -p {folder} working
mkdir input
for entry in "$data"/*; do ln -s "$entry" input/; done
{kept}
cp "$here/solution.py" .
# As in the run: results may depend on them.
cpus={cpus}
for name in OMP OPENBLAS MKL NUMEXPR BLIS VECLIB_MAXIMUM; do export "${name}_NUM_THREADS=$cpus"; done
export LOKY_MAX_CPU_COUNT=$cpus POLARS_MAX_THREADS=$cpus RAYON_NUM_THREADS=$cpus PYTHON_CPU_COUNT=$cpus
export PYTHONHASHSEED=0 PYTHONNOUSERSITE=1 LANG=C.UTF-8 TZ=UTC MPLBACKEND=Agg
"$python" solution.py
[ -f {submission} ] || { echo "it wrote no "{submission} >&2; exit 1; }
echo "$PWD/"{submission}
"#;

const KEPT: &str = r#"# The run kept some of the training labels: its solutions saw the other rows.
kept=$here/../holdout
[ -d "$kept/shown" ] || { echo "the run folder's holdout/ is not beside best/" >&2; exit 2; }
rm {table}
ln -s "$kept/train.csv" {table}
ln -s "$kept/shown" {shown}
"#;
