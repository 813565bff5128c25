//! What a fork server imports before it makes copies: as much as the scripts that begin in them have use for.

/// The kinds of fork server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Modules of the standard library that most scripts use. Costs some 50 ms of one processor and 10 MB.
    Light,
    /// The packages of numbers and tables as well. Costs about a second and a half, and some 100 MB.
    Heavy,
}

/// What nearly every script imports, by itself or by another module.
const LIGHT: [&str; 21] = [
    "argparse",
    "collections",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "functools",
    "glob",
    "itertools",
    "json",
    "math",
    "pathlib",
    "pickle",
    "random",
    "re",
    "shutil",
    "statistics",
    "subprocess",
    "tempfile",
    "time",
    "typing",
];

/// What those import that learn.
const HEAVY: [&str; 26] = [
    "numpy",
    // Before those that import them: what both change is noted as done by the first.
    "threadpoolctl",
    "joblib",
    "scipy",
    "pandas",
    "scipy.sparse",
    "scipy.stats",
    "scipy.optimize",
    "sklearn",
    "sklearn.cluster",
    "sklearn.compose",
    "sklearn.decomposition",
    "sklearn.dummy",
    "sklearn.ensemble",
    "sklearn.feature_extraction.text",
    "sklearn.feature_selection",
    "sklearn.impute",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.naive_bayes",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.svm",
    "sklearn.tree",
];

impl Profile {
    /// What a server of this kind imports, where it is installed.
    pub(super) const fn imports(self) -> &'static [&'static str] {
        match self {
            Self::Light => &LIGHT,
            Self::Heavy => &HEAVY,
        }
    }
}
