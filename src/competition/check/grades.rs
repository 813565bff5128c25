//! Does the competition grade itself? The sample submission must be valid, and the answers handed in as a submission must
//! be valid too and score at least as well.

use std::fmt::Write as _;
use std::path::Path;

use crate::catalog::Competition;
use crate::check::{Checked, Fault, Finding, is_file};
use crate::csv::cell;
use crate::data::Folders;
use crate::grade::{Outcome, grade};
use crate::own::OwnError;
use crate::own::rows;

pub(super) fn look(competition: &Competition, folders: &Folders, checked: &mut Checked) {
    let answers = folders.answers(competition);
    if competition.answers.absent {
        checked.not_checked.push("grading: the competition has no answers".to_owned());
        return;
    }
    let sample = folders.sample_submission(competition);
    if !is_file(&answers) || !is_file(&sample) {
        checked.not_checked.push("grading: the answers or the sample submission are not there".to_owned());
        return;
    }
    checked.sample_score = one(competition, &sample, &answers, "the sample submission", checked);
    if answers.extension().is_none_or(|end| end != "csv") || competition.submission.columns.is_empty() {
        return;
    }
    let place = tempfile::Builder::new().prefix("podium-check-").tempdir();
    let Ok(place) = place else { return };
    let perfect = place.path().join("answers.csv");
    match as_submission(competition, &answers, &perfect) {
        Ok(true) => {}
        Ok(false) | Err(_) => {
            checked
                .not_checked
                .push("grading of the answers: they have another form than a submission".to_owned());
            return;
        }
    }
    checked.answers_score = one(competition, &perfect, &answers, "the answers, handed in,", checked);
    if let (Some(sample), Some(best)) = (checked.sample_score, checked.answers_score)
        && !competition.direction().better(best, sample)
    {
        checked.findings.push(Finding::new(
            Fault::SelfGrade,
            &[],
            format!("the answers score {best}, which is no better than the sample submission's {sample}"),
            "see that metric, direction and answers in competition.toml belong together",
        ));
    }
}

fn one(
    competition: &Competition,
    submission: &Path,
    answers: &Path,
    whose: &str,
    checked: &mut Checked,
) -> Option<f64> {
    let problem = match grade(competition, submission, answers) {
        Ok(graded) => match &graded.outcome {
            Outcome::Scored { .. } => return graded.outcome.rounded_score(),
            outcome => format!("{whose} would be refused: {}", outcome.reason().unwrap_or_default()),
        },
        Err(error) => {
            let mut text = format!("{whose} cannot be graded: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                let _ = write!(text, ": {cause}");
                source = cause.source();
            }
            text
        }
    };
    checked.findings.push(Finding::new(
        Fault::SelfGrade,
        &[],
        problem,
        "see that competition.toml, the sample submission and the answers belong together",
    ));
    None
}

/// Writes the answers in the form of a submission; false where their form does not allow it.
fn as_submission(competition: &Competition, answers: &Path, into: &Path) -> Result<bool, OwnError> {
    let format = &competition.submission;
    let truth = competition.answer_columns();
    let classes = truth.len() == 1 && format.columns.len() > 1;
    if truth.len() != format.columns.len() && !classes {
        return Ok(false);
    }
    let mut text = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    let line = |cells: Vec<&str>, text: &mut Vec<u8>| {
        let cells: Vec<Vec<u8>> = cells.into_iter().map(|text| cell(text.as_bytes())).collect();
        text.extend(cells.join(&b','));
        text.push(b'\n');
    };
    line(format.id.iter().chain(&format.columns).map(String::as_str).collect(), &mut text);
    rows::each(answers, &rows::plain(), |number, row| {
        if number == 0 {
            let names: Vec<&str> = row.cells().collect();
            let find = |name: &String| names.iter().position(|known| known == name);
            places = format.id.iter().chain(truth).filter_map(find).collect();
            return Ok(());
        }
        let mut cells: Vec<&str> = places.iter().map(|place| row.cell(*place)).collect();
        if classes && let Some(label) = cells.pop() {
            cells.extend(format.columns.iter().map(|name| if name == label { "1" } else { "0" }));
        }
        // A Poisson deviance takes no prediction of 0, though a count may be.
        if competition.metric.name == "mean_poisson_deviance"
            && let Some(count) = cells.last_mut()
            && count.trim().parse::<f64>().is_ok_and(|count| count <= 0.0)
        {
            *count = "1e-9";
        }
        line(cells, &mut text);
        Ok(())
    })?;
    std::fs::write(into, text).map_err(OwnError::io("write", into))?;
    Ok(places.len() == format.id.len() + truth.len())
}
