//! What a report and a comparison are asked for by: how arms are told apart, what is set beforehand, and whose published
//! runs stand beside one's own.

use std::path::PathBuf;

use clap::Args;
use podium_report::experiment::{Run, Terms};
use podium_report::statistics::Missing;

use crate::cli::failure::{Failure, with_causes};
use crate::experiment::outcomes::{Known, axes, runs, told_apart};
use crate::experiment::published::{self, PublishedError};
use crate::experiment::stored::Experiment;

/// How arms are told apart, and what is set beforehand.
#[derive(Debug, Args)]
pub(crate) struct TermArguments {
    /// As MLE-bench's own aggregation: cut to the smallest number of seeds, refuse a competition without runs
    #[arg(long)]
    strict: bool,
    /// Differences within so many points are practically none; set it before you look
    #[arg(long, value_name = "POINTS", default_value_t = 3.0, value_parser = points)]
    equal_within: f64,
    /// Tell how many seeds a difference of so many points takes; declare it, do not take the one that was seen
    #[arg(long, value_name = "POINTS", default_value_t = 5.0, value_parser = points)]
    declare: f64,
    /// Published runs beside one's own: a grading report of MLE-bench, a folder of them, or its folder of runs with
    /// their list. May be repeated
    #[arg(long, value_name = "PATH")]
    beside: Vec<PathBuf>,
}

/// Points of a percentage, above 0.
fn points(text: &str) -> Result<f64, String> {
    let points: f64 = text.parse().map_err(|_| "not a number of points, such as 3".to_owned())?;
    if points > 0.0 && points <= 100.0 { Ok(points) } else { Err("more than 0 and at most 100".to_owned()) }
}

/// An experiment ready to be reported.
pub(crate) struct Asked {
    /// The axes that arms are told apart by.
    pub(crate) axes: Vec<String>,
    /// Its runs, published ones at the end.
    pub(crate) runs: Vec<Run>,
    /// The terms.
    pub(crate) terms: Terms,
}

impl TermArguments {
    /// The terms in shares.
    pub(crate) fn terms(&self, known: &Known) -> Terms {
        Terms {
            strict: self.strict,
            equal_within: self.equal_within / 100.0,
            declared: self.declare / 100.0,
            ..known.terms()
        }
    }

    /// The published runs.
    pub(crate) fn published(&self, known: &Known) -> Result<Vec<Run>, Failure> {
        let mut all = Vec::new();
        for path in &self.beside {
            all.extend(published::read(path, known)?);
        }
        Ok(all)
    }

    /// The runs of an experiment with its arms told apart by one axis, or by all in which they differ.
    pub(crate) fn read(
        &self,
        experiment: &Experiment,
        by: Option<&str>,
        known: &Known,
    ) -> Result<Asked, Failure> {
        let all = axes(experiment);
        if let Some(unknown) = by.filter(|axis| !all.contains_key(*axis)) {
            let names = all.into_keys().collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(format!("the experiment has no axis `{unknown}`"))
                .hint(format!("its axes: {names}")));
        }
        let axes = told_apart(&all, by);
        let mut runs = runs(experiment, &axes, known);
        runs.extend(self.published(known)?);
        Ok(Asked { axes, runs, terms: self.terms(known) })
    }
}

/// A report that cannot be made: only the strict aggregation refuses.
impl From<Missing> for Failure {
    fn from(error: Missing) -> Self {
        Self::usage(error.to_string()).hint("leave out --strict to count it as failed")
    }
}

impl From<PublishedError> for Failure {
    fn from(error: PublishedError) -> Self {
        Self::usage(with_causes(&error))
            .hint("name a grading_report.json of MLE-bench, a folder of them, or its folder `runs`")
    }
}
