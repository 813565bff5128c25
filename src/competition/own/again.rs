//! New rows for a solution that was made for other ones: laid down as the test table and its sample submission were, so that
//! the solution finds in `./input` what it expects. What it writes is checked against them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::catalog::Competition;
use crate::csv::{ReadOptions, is_missing};
use crate::data::Folders;
use crate::grade::read_any;
use crate::own::dialect::Dialect;
use crate::own::error::OwnError;
use crate::own::lay::Out;
use crate::own::rows;

/// New rows as they were laid down.
#[derive(Clone, Debug)]
pub struct NewRows {
    /// How many.
    pub rows: u64,
    /// Files of the input, by name, and what stands in for them.
    pub instead: Vec<(String, PathBuf)>,
    /// What was noticed, each in a sentence without its period.
    pub notes: Vec<String>,
}

/// Lays the rows of `table` down below `into`, in the form of the test table of `competition`.
///
/// # Errors
/// When the table cannot be read, or lacks a column.
pub fn lay_new_rows(
    competition: &Competition,
    folders: &Folders,
    table: &Path,
    into: &Path,
) -> Result<NewRows, OwnError> {
    let [key] = competition.submission.id.as_slice() else {
        return Err(OwnError::asked(
            format!("rows of `{}` have no single column that names them", competition.id),
            "run the script of the best solution by hand: best/run.sh",
        ));
    };
    let test_name = competition
        .data
        .test
        .clone()
        .filter(|name| Path::new(name).extension().is_some_and(|end| end == "csv"));
    let Some(test_name) = test_name else {
        return Err(OwnError::asked(
            format!("`{}` has no test table", competition.id),
            "run the script of the best solution by hand: best/run.sh",
        ));
    };
    let (header, _) = head(&folders.public.join(&test_name))?;
    let (columns, constants) = head(&folders.sample_submission(competition))?;
    let dialect = Dialect::sniff(table)?;
    let mut notes = dialect.notes();
    let mut places = Vec::new();
    for name in &header {
        let place = dialect.names.iter().position(|known| known == name);
        if place.is_none() && name != key {
            let near = podium_types::nearest::nearest(name, dialect.names.iter().map(String::as_str));
            let near = near.map(|near| format!("; it has `{near}`")).unwrap_or_default();
            return Err(OwnError::unfit(
                table,
                format!("it has no column `{name}`{near}"),
                format!("the solution was made for the columns {}", header.join(", ")),
            ));
        }
        places.push(place);
    }
    let extra: Vec<&str> = dialect
        .names
        .iter()
        .filter(|name| !header.contains(name) && !name.is_empty())
        .map(String::as_str)
        .collect();
    if !extra.is_empty() {
        notes.push(format!("columns that the solution does not know are left out: {}", extra.join(", ")));
    }
    if !dialect.names.contains(key) {
        notes.push(format!("rows are named by their numbers in `{key}`, from 0"));
    }
    let (test_path, sample_path) = (into.join("new-test.csv"), into.join("new-sample.csv"));
    let (mut test, mut sample) = (Out::create(test_path.clone())?, Out::create(sample_path.clone())?);
    test.line(header.iter())?;
    sample.line(columns.iter())?;
    let mut count = 0_u64;
    rows::each(table, &dialect, |number, row| {
        if number == 0 {
            return Ok(());
        }
        let name = dialect.names.iter().position(|known| known == key);
        let name = name.map(|place| row.cell(place).to_owned()).filter(|cell| !is_missing(cell.as_bytes()));
        let name = name.unwrap_or_else(|| count.to_string());
        let cells = header.iter().zip(&places).map(|(column, place)| match place {
            _ if column == key => name.clone().into(),
            Some(place) => dialect.cell(*place, row.cell(*place)),
            None => "".into(),
        });
        test.line(cells)?;
        let cells = columns.iter().zip(&constants);
        sample.line(cells.map(|(column, constant)| if column == key { &name } else { constant }))?;
        count += 1;
        Ok(())
    })?;
    test.finish()?;
    sample.finish()?;
    let sample_name = competition.data.sample_submission.clone();
    Ok(NewRows { rows: count, instead: vec![(test_name, test_path), (sample_name, sample_path)], notes })
}

/// Whether `submission` predicts the rows of `sample`, each once.
///
/// # Errors
/// Why it does not, in words; [`OwnError`] where the sample cannot be read.
pub fn check_predictions(
    competition: &Competition,
    submission: &Path,
    sample: &Path,
) -> Result<Result<(), String>, OwnError> {
    let format = &competition.submission;
    let keys = |path: &Path| {
        let options = ReadOptions { as_text: format.id.clone(), ..ReadOptions::default() };
        let table = read_any(path, &options)?;
        if let Some(missing) =
            format.id.iter().chain(&format.columns).find(|name| table.column(name).is_none())
        {
            return Err(format!("it has no column `{missing}`"));
        }
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for column in format.id.iter().filter_map(|name| table.column(name)) {
            for cell in column.cells() {
                *counts.entry(cell.to_string()).or_default() += 1;
            }
        }
        Ok(counts)
    };
    let wanted = keys(sample).map_err(|problem| OwnError::unfit(sample, problem, "prepare the data anew"))?;
    Ok(keys(submission).and_then(|found| {
        if found == wanted {
            return Ok(());
        }
        let (got, expected): (i64, i64) = (found.values().sum(), wanted.values().sum());
        let missing = wanted.keys().find(|key| !found.contains_key(*key));
        Err(match missing {
            Some(key) => format!("{got} rows for {expected}; the row `{key}` is missing"),
            None => format!("{got} rows for {expected}"),
        })
    }))
}

/// The first two lines of a table of ours.
fn head(path: &Path) -> Result<(Vec<String>, Vec<String>), OwnError> {
    let mut lines = Vec::new();
    let mut stopped = false;
    let read = rows::each(path, &rows::plain(), |number, row| {
        lines.push(row.cells().map(str::to_owned).collect::<Vec<String>>());
        stopped = number == 1;
        // Enough was read: the error is not told.
        if stopped { Err(OwnError::Share(0.0)) } else { Ok(()) }
    });
    if !stopped {
        read?;
    }
    let mut lines = lines.into_iter();
    Ok((lines.next().unwrap_or_default(), lines.next().unwrap_or_default()))
}
