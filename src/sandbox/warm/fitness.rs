//! Which jobs may start warm.
//!
//! Read off the text of a script, roughly and on the safe side: a word too many in a comment costs a cold start, which
//! is always right. What matters is that a script for which a copy of a process could differ is not let through.

use std::time::Duration;

use podium_types::execution::Program;

use crate::Job;

/// The line by which a script asks for an interpreter of its own.
const COLD: &str = "# podium: cold";

/// A script that imports none of these gains nothing.
const HEAVY: [&str; 4] = ["numpy", "pandas", "sklearn", "scipy"];

/// Packages that keep threads or a device from their import on, or ask at their import how they were started.
const APART: [&str; 14] = [
    "torch",
    "tensorflow",
    "keras",
    "jax",
    "flax",
    "cupy",
    "cudf",
    "cuml",
    "numba",
    "pycuda",
    "mxnet",
    "paddle",
    "onnxruntime",
    "ray",
];

/// Variables that decide what an interpreter loads before it looks for the fork server, or how it finds it.
const LOADER: [&str; 5] = ["LD_", "PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH", "PYTHONPLATLIBDIR"];

/// Whether a job may start warm, where scripts with a time limit up to `longest` may.
pub(crate) fn fits(job: &Job, longest: Option<Duration>) -> bool {
    let Program::Python { code, .. } = &job.program else { return false };
    longest.is_some_and(|longest| job.timeout <= longest)
        && !job.env.keys().any(|name| LOADER.iter().any(|prefix| name.starts_with(prefix)))
        && is_worth(code)
}

/// The script imports a heavy package, and nothing speaks against it.
fn is_worth(code: &str) -> bool {
    let words = || code.split(|c: char| !c.is_alphanumeric() && c != '_');
    code.lines().any(imports_heavy)
        && !code.lines().any(|line| line.trim() == COLD)
        && !words().any(|word| APART.contains(&word))
}

fn imports_heavy(line: &str) -> bool {
    let line = line.trim_start();
    let Some(rest) = line.strip_prefix("import ").or_else(|| line.strip_prefix("from ")) else {
        return false;
    };
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| HEAVY.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts() {
        for (code, want) in [
            ("import pandas as pd", true),
            ("x = 1\nif x:\n    from sklearn.svm import SVC", true),
            ("import os, numpy", true),
            ("print('import pandas')", false),
            ("import csv", false),
            ("import numpy\nimport torch.nn as nn", false),
            ("import numpy\n# like torchvision", true),
            ("# podium: cold\nimport numpy", false),
            ("import numpy\n  # podium: cold", false),
            ("import numpy  # not podium: cold", true),
            ("import importlib, numpy\nimportlib.import_module('tensorflow')", false),
            ("", false),
        ] {
            assert_eq!(is_worth(code), want, "{code}");
        }
    }
}
