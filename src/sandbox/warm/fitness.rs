//! Which jobs may start warm.
//!
//! Read off the text of a script, roughly and on the safe side: a word too many in a comment costs a cold start, which
//! is always right. What matters is that a script for which a copy of a process could differ is not let through.

use std::time::Duration;

use podium_types::execution::Program;

use super::Profile;
use crate::Job;

/// The line by which a script asks for an interpreter of its own.
const COLD: &str = "# podium: cold";

/// A script that imports none of these begins in a copy of a light server.
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

/// The kind of server that a job may begin in a copy of, where scripts with a time limit up to `longest` may; `None`
/// for one that has to start cold.
pub(crate) fn fitting(job: &Job, longest: Option<Duration>) -> Option<Profile> {
    let Program::Python { code, .. } = &job.program else { return None };
    let fits = longest.is_some_and(|longest| job.timeout <= longest)
        && !job.env.keys().any(|name| LOADER.iter().any(|prefix| name.starts_with(prefix)));
    if fits { profile(code) } else { None }
}

/// By what the script imports; `None` where something speaks against a copy.
fn profile(code: &str) -> Option<Profile> {
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    if code.lines().any(|line| line.trim() == COLD) || words.any(|word| APART.contains(&word)) {
        return None;
    }
    Some(if code.lines().any(imports_heavy) { Profile::Heavy } else { Profile::Light })
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
        let (light, heavy) = (Some(Profile::Light), Some(Profile::Heavy));
        for (code, want) in [
            ("import pandas as pd", heavy),
            ("x = 1\nif x:\n    from sklearn.svm import SVC", heavy),
            ("import os, numpy", heavy),
            ("print('import pandas')", light),
            ("import csv", light),
            ("import csv\n# podium: cold", None),
            ("import csv, torch", None),
            ("import numpy\nimport torch.nn as nn", None),
            ("import numpy\n# like torchvision", heavy),
            ("# podium: cold\nimport numpy", None),
            ("import numpy\n  # podium: cold", None),
            ("import numpy  # not podium: cold", heavy),
            ("import importlib, numpy\nimportlib.import_module('tensorflow')", None),
            ("", light),
        ] {
            assert_eq!(profile(code), want, "{code}");
        }
    }
}
