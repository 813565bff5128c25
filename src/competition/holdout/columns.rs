//! The columns of a training table by their places: keys, labels, group, stratum, and what a row without its label
//! shows. Everything that the catalog declares is looked up here once, and what is not there is refused by name.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::catalog::{Competition, Training};
use crate::csv::{RawRow, each_row};
use crate::holdout::error::HoldoutError;

/// How the label of a row becomes the cells of an answer.
#[derive(Clone, Debug)]
pub(super) enum Truth {
    /// Cells as they stand, by place.
    Cells(Vec<usize>),
    /// A one for the class in the cell at this place, a zero for each other of these.
    OneHot(usize, Vec<Vec<u8>>),
}

/// Places of columns in the training table.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) width: usize,
    pub(super) keys: Vec<usize>,
    pub(super) truth: Truth,
    /// Place and cell of the rows that say what is true.
    pub(super) filter: Option<(usize, Vec<u8>)>,
    /// Names and places of what held-out rows show.
    pub(super) shown: Vec<(Vec<u8>, usize)>,
    pub(super) group: Option<usize>,
    pub(super) stratum: Option<usize>,
}

impl Columns {
    /// Looks up what `training` names in the header of its table.
    pub(super) fn find(
        competition: &Competition,
        training: &Training,
        public: &Path,
    ) -> Result<Self, HoldoutError> {
        let header = header(&public.join(&training.file))?;
        let unsuitable = |problem| HoldoutError::Unsuitable { file: training.file.clone(), problem };
        let place = |name: &str| {
            let mut places = header.iter().enumerate().filter(|(_, cell)| **cell == name.as_bytes());
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (None, _) => Err(unsuitable(format!("it has no column `{name}`"))),
                (Some(_), Some(_)) => Err(unsuitable(format!("it has two columns `{name}`"))),
            }
        };
        let keys: Vec<usize> = training
            .id
            .as_ref()
            .unwrap_or(&competition.submission.id)
            .iter()
            .map(|name| place(name))
            .collect::<Result<_, _>>()?;
        let truth = match &training.one_hot {
            Some(column) => {
                let classes = competition.answer_columns().iter().map(|name| name.clone().into_bytes());
                Truth::OneHot(place(column)?, classes.collect())
            }
            None => Truth::Cells(
                competition
                    .answer_columns()
                    .iter()
                    .map(|column| place(training.source(column)))
                    .collect::<Result<_, _>>()?,
            ),
        };
        let filter = match &training.rows {
            Some(filter) => Some((place(&filter.column)?, filter.equals.clone().into_bytes())),
            None => None,
        };
        let columns = Self {
            width: header.len(),
            shown: shown(competition, training, public, &header, &keys)?,
            keys,
            truth,
            filter,
            group: training.group.as_ref().map(|group| place(&group.column)).transpose()?,
            stratum: training.stratify.as_ref().map(|column| place(column)).transpose()?,
        };
        match columns.revealed() {
            Some(name) => Err(unsuitable(format!("held-out rows would show their label in `{name}`"))),
            None => Ok(columns),
        }
    }

    /// The cells that tell a row's label.
    fn telling(&self) -> Vec<usize> {
        match (&self.filter, &self.truth) {
            (Some((place, _)), _) | (None, Truth::OneHot(place, _)) => vec![*place],
            (None, Truth::Cells(places)) => places.clone(),
        }
    }

    fn revealed(&self) -> Option<String> {
        let telling = self.telling();
        let found = self.shown.iter().find(|(_, place)| telling.contains(place))?;
        Some(String::from_utf8_lossy(&found.0).into_owned())
    }

    /// Whether `row` says what is true of its key.
    pub(super) fn tells(&self, row: &RawRow) -> bool {
        self.filter.as_ref().is_none_or(|(place, cell)| row.cell(*place) == cell.as_slice())
    }

    /// The answer's cells; none where the row has no label.
    pub(super) fn answer(&self, row: &RawRow) -> Result<Option<Vec<Vec<u8>>>, String> {
        match &self.truth {
            Truth::Cells(places) => {
                let cells: Vec<Vec<u8>> = places.iter().map(|place| row.cell(*place).to_vec()).collect();
                Ok((!cells.iter().all(Vec::is_empty)).then_some(cells))
            }
            Truth::OneHot(place, classes) => {
                let class = row.cell(*place);
                if class.is_empty() {
                    return Ok(None);
                }
                if !classes.iter().any(|name| name == class) {
                    return Err("a class of it is no column of the answers".to_owned());
                }
                let bit = |name: &Vec<u8>| if name == class { b"1".to_vec() } else { b"0".to_vec() };
                Ok(Some(classes.iter().map(bit).collect()))
            }
        }
    }

    /// The cells of a row's key.
    pub(super) fn key<'r>(&self, row: &'r RawRow) -> Vec<&'r [u8]> {
        self.keys.iter().map(|place| row.cell(*place)).collect()
    }
}

/// What held-out rows show: the columns of the table they are to look like, in its order, the keys under the names of
/// the submission. Keys alone where there is no such table.
fn shown(
    competition: &Competition,
    training: &Training,
    public: &Path,
    header: &[Vec<u8>],
    keys: &[usize],
) -> Result<Vec<(Vec<u8>, usize)>, HoldoutError> {
    let names = competition.submission.id.iter().map(|name| name.clone().into_bytes());
    let mut shown: Vec<(Vec<u8>, usize)> = names.zip(keys.iter().copied()).collect();
    let Some(like) = training.like.as_ref().or(competition.data.test.as_ref()) else { return Ok(shown) };
    for name in self::header(&public.join(like))? {
        let place = header.iter().position(|cell| *cell == name).filter(|place| !keys.contains(place));
        if let Some(place) = place
            && !shown.iter().any(|(other, _)| *other == name)
        {
            shown.push((name, place));
        }
    }
    Ok(shown)
}

/// The names in the first row of a table.
fn header(path: &Path) -> Result<Vec<Vec<u8>>, HoldoutError> {
    enum End {
        Found(Vec<Vec<u8>>),
        Fault(crate::csv::CsvError),
    }
    impl From<crate::csv::CsvError> for End {
        fn from(error: crate::csv::CsvError) -> Self {
            Self::Fault(error)
        }
    }
    let file = open(path)?;
    match each_row::<End>(file, |_, row| Err(End::Found(row.cells.clone()))) {
        Err(End::Found(cells)) => Ok(cells),
        Err(End::Fault(error)) => Err(HoldoutError::read(path)(error)),
        Ok(()) => Ok(Vec::new()),
    }
}

/// A table, to be read row by row.
pub(super) fn open(path: &Path) -> Result<BufReader<File>, HoldoutError> {
    let fail = |source: std::io::Error| HoldoutError::read(path)(source.into());
    // A pipe in its place would be waited on for ever.
    if !std::fs::metadata(path).map_err(fail)?.is_file() {
        return Err(fail(std::io::Error::other("it is no regular file")));
    }
    Ok(BufReader::with_capacity(1 << 16, File::open(path).map_err(fail)?))
}
