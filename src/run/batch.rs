//! Many submissions at once, from the list that `mlebench grade` takes: a JSON object a line, `competition_id` and
//! `submission_path`; blank lines and those that begin with `#` or `//` say nothing.
//!
//! Each line stands for itself: one that is broken, or whose competition cannot be graded here, is named in the
//! aggregate and stops no other. Paths are relative to the working directory, as there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use podium_competition::parallel::in_parallel;
use podium_competition::{Aggregate, Catalog, Competition, GradingReport, NotGraded};
use serde_json::Value;

use crate::run::error::RunError;
use crate::run::site::Site;
use crate::run::summary::grading_report;

/// One line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchLine {
    /// Its number, from 1.
    pub line: usize,
    /// The competition.
    pub competition: String,
    /// The submission; a run without one is listed as `null`, which MLE-bench reads as the path `None`.
    pub submission: PathBuf,
}

/// Reads a list: what can be graded, and what is wrong with the other lines.
pub fn read_list(text: &[u8]) -> (Vec<BatchLine>, Vec<NotGraded>) {
    let (mut lines, mut broken) = (Vec::new(), Vec::new());
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//") {
            continue;
        }
        match read_line(line) {
            Ok((competition, submission)) => {
                lines.push(BatchLine { line: number + 1, competition, submission });
            }
            Err(problem) => broken.push(NotGraded {
                line: number + 1,
                competition_id: None,
                submission_path: None,
                broken_line: true,
                problem,
            }),
        }
    }
    (lines, broken)
}

fn read_line(line: &[u8]) -> Result<(String, PathBuf), String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("the line is no JSON: {error}"))?;
    let field = |name: &str| value.get(name).ok_or_else(|| format!("the line is no object with `{name}`"));
    let Value::String(competition) = field("competition_id")? else {
        return Err("`competition_id` is no text".to_owned());
    };
    let submission = match field("submission_path")? {
        Value::String(path) => path.as_str(),
        Value::Null => "None",
        _ => return Err("`submission_path` is no text".to_owned()),
    };
    Ok((competition.clone(), PathBuf::from(submission)))
}

impl Site {
    /// The answers of a competition, for grading alone: nothing else of its data need be there.
    ///
    /// # Errors
    /// When they are not there and cannot be made ready.
    pub fn answers(&self, competition: &Competition) -> Result<PathBuf, RunError> {
        if competition.answers.absent {
            return Err(RunError::NoAnswers(competition.id.clone()));
        }
        let answers = podium_competition::folders(&self.data_dir, &competition.id).answers(competition);
        if podium_competition::is_pointer(&answers) {
            return Err(RunError::Pointer { path: answers });
        }
        if answers.is_file() { Ok(answers) } else { Ok(self.prepared(competition)?.answers(competition)) }
    }

    /// Grades all submissions of a list.
    pub fn grade_list(&self, catalog: &Catalog, text: &[u8]) -> Aggregate {
        let (lines, mut not_graded) = read_list(text);
        // Data are made ready once for each competition, before the work is shared out.
        let mut answers: BTreeMap<&str, Result<(&Competition, PathBuf), String>> = BTreeMap::new();
        for line in &lines {
            answers.entry(&line.competition).or_insert_with(|| {
                let found = catalog.get(&line.competition).map_err(RunError::from);
                found.and_then(|found| Ok((found, self.answers(found)?))).map_err(|error| error.in_full())
            });
        }
        let graded = in_parallel(&lines, |line| {
            let (competition, answers) = match answers.get(line.competition.as_str()) {
                Some(Ok((competition, answers))) => (*competition, answers),
                Some(Err(problem)) => return Err(problem.clone()),
                None => return Err("no data".to_owned()),
            };
            grade_one(competition, &line.submission, answers)
        });
        let mut reports = Vec::new();
        for (line, graded) in lines.iter().zip(graded) {
            match graded.unwrap_or_else(|panicked| Err(panicked.to_string())) {
                Ok(report) => reports.push(report),
                Err(problem) => not_graded.push(NotGraded {
                    line: line.line,
                    competition_id: Some(line.competition.clone()),
                    submission_path: Some(line.submission.display().to_string()),
                    broken_line: false,
                    problem,
                }),
            }
        }
        not_graded.sort_by_key(|one| one.line);
        Aggregate::of(reports, not_graded)
    }
}

fn grade_one(competition: &Competition, submission: &Path, answers: &Path) -> Result<GradingReport, String> {
    match podium_competition::grade(competition, submission, answers) {
        Ok(graded) => Ok(grading_report(competition, &graded.outcome, submission)),
        Err(error) => Err(RunError::from(error).in_full()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_line_by_line() {
        let text = concat!(
            "\u{feff}{\"competition_id\": \"a\", \"submission_path\": \"x/s.csv\", \"more\": 1}\r\n",
            "\n# a word\n  // another\n",
            "{\"competition_id\": \"b\", \"submission_path\": null}\n",
            "{\"competition_id\": \"b\"}\n{\"competition_id\": 3, \"submission_path\": \"s\"}\n",
            "[1]\n{\"competition_id\"\n{\"competition_id\": \"c\", \"submission_path\": 1}",
        );
        let (lines, broken) = read_list(text.as_bytes());
        let line = |line, competition: &str, submission: &str| BatchLine {
            line,
            competition: competition.to_owned(),
            submission: submission.into(),
        };
        assert_eq!(lines, [line(1, "a", "x/s.csv"), line(5, "b", "None")]);
        assert_eq!(broken.iter().map(|one| one.line).collect::<Vec<_>>(), [6, 7, 8, 9, 10]);
        assert_eq!(read_list(b"\xff\xfe\n").1.len(), 1);
        assert_eq!(read_list(b""), (Vec::new(), Vec::new()));
    }
}
