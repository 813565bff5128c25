//! The two tables as columns of numbers and words, with the target beside them, as far as they fit into a fixed number of
//! cells.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::catalog::Competition;
use crate::csv::{float64, is_missing};
use crate::data::Folders;
use crate::own::OwnError;
use crate::own::dates::{self, Order};
use crate::own::rows;

use super::is_file;

/// Cells of one table that are held; 12 bytes each, and the words.
const MOST_CELLS: u64 = 4_000_000;

/// A column.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    pub(super) name: String,
    /// Numbers, the seconds of dates, or the number at the end of a word (`row12`); NaN where a cell has none.
    pub(super) numbers: Vec<f64>,
    /// Each cell as the number of its word; 0 where it is missing.
    pub(super) codes: Vec<u32>,
    /// How many words there are.
    pub(super) distinct: u32,
    pub(super) filled: u64,
    numeric: u64,
    dated: u64,
    whole: u64,
    characters: u64,
}

impl Column {
    /// Whether every filled cell is a number.
    pub(super) fn is_numeric(&self) -> bool {
        self.filled > 0 && self.numeric == self.filled
    }

    /// Whether every filled cell is a date.
    pub(super) fn is_dated(&self) -> bool {
        self.filled > 0 && self.dated == self.filled
    }

    /// Whether every filled cell is a whole number.
    pub(super) fn is_whole(&self) -> bool {
        self.filled > 0 && self.whole == self.filled
    }

    /// Whether it can be put in order.
    pub(super) fn has_order(&self) -> bool {
        self.is_numeric() || self.is_dated()
    }

    /// Mean length of a filled cell.
    pub(super) fn length(&self) -> f64 {
        self.characters as f64 / self.filled.max(1) as f64
    }

    fn take(&mut self, cell: &str, words: &mut HashMap<String, u32>) {
        let cell = cell.trim();
        if is_missing(cell.as_bytes()) {
            self.codes.push(0);
            self.numbers.push(f64::NAN);
            return;
        }
        self.filled += 1;
        self.characters += cell.chars().count() as u64;
        let next = u32::try_from(words.len()).unwrap_or(u32::MAX - 1) + 1;
        let code = match words.get(cell) {
            Some(code) => *code,
            None => {
                words.insert(cell.to_owned(), next);
                next
            }
        };
        self.codes.push(code);
        let number = float64(cell.as_bytes());
        self.numeric += u64::from(number.is_some());
        self.whole += u64::from(number.is_some_and(|number| number.fract() == 0.0));
        let date = if number.is_none() { dates::seconds(cell, Order::MonthFirst) } else { None };
        self.dated += u64::from(date.is_some());
        let digits = cell.trim_start_matches(|c: char| !c.is_ascii_digit());
        let counted = || digits.parse::<u64>().ok().map(|number| number as f64);
        self.numbers.push(number.or(date).or_else(counted).unwrap_or(f64::NAN));
    }
}

/// A table, or every n-th row of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
    pub(super) rows: usize,
    pub(super) all_rows: u64,
}

impl Table {
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

/// What is looked at.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) train: Table,
    pub(super) test: Table,
    /// Names of the key columns.
    pub(super) keys: Vec<String>,
    /// The target's column in the training table, under its name there.
    pub(super) target: Option<String>,
    /// The target of the test rows that are held, in the words of `train`'s target where they are words.
    pub(super) truth: Option<Column>,
    /// The columns of the training table that are targets.
    pub(super) targets: Vec<String>,
    /// How the split is said to be made.
    pub(super) split: String,
    pub(super) not_checked: Vec<String>,
}

/// Words of a column by their numbers, alike in both tables.
type Words = BTreeMap<String, HashMap<String, u32>>;

impl Tables {
    pub(super) fn read(
        competition: &Competition,
        folders: &Folders,
        train: &str,
        test: &str,
    ) -> Result<Self, OwnError> {
        let mut words = Words::new();
        let train = read(&folders.public.join(train), &mut words)?;
        let test_table = read(&folders.public.join(test), &mut words)?;
        let training = competition.training.as_ref();
        let answers = competition.answer_columns();
        let mut targets: Vec<String> = match training {
            Some(training) if training.one_hot.is_some() => training.one_hot.iter().cloned().collect(),
            Some(training) => answers.iter().map(|name| training.source(name).to_owned()).collect(),
            None => answers.to_vec(),
        };
        targets.retain(|name| train.column(name).is_some() && test_table.column(name).is_none());
        let target = targets.first().cloned();
        let one_hot = training.is_some_and(|training| training.one_hot.is_some());
        let mut tables = Self {
            train,
            test: test_table,
            keys: competition.submission.id.clone(),
            target,
            truth: None,
            targets,
            split: competition.split.clone().unwrap_or_default(),
            not_checked: Vec::new(),
        };
        if tables.target.is_none() {
            tables
                .not_checked
                .push("what tells the target: the training table has no column of it".to_owned());
        }
        let file = folders.answers(competition);
        if let Some(target) = tables.target.clone()
            && !competition.answers.absent
            && is_file(&file)
        {
            tables.truth =
                tables.join(competition, &file, &folders.public.join(test), one_hot, &target, &mut words)?;
        }
        Ok(tables)
    }

    /// The target of each test row that is held, by its key.
    fn join(
        &self,
        competition: &Competition,
        answers: &Path,
        test: &Path,
        one_hot: bool,
        target: &str,
        words: &mut Words,
    ) -> Result<Option<Column>, OwnError> {
        let truth = competition.answer_columns();
        let mut by_key: HashMap<String, String> = HashMap::new();
        let mut places = (Vec::new(), Vec::new());
        rows::each(answers, &rows::plain(), |number, row| {
            if number == 0 {
                let names: Vec<&str> = row.cells().collect();
                let find = |name: &String| names.iter().position(|known| known == name);
                places =
                    (self.keys.iter().filter_map(find).collect(), truth.iter().filter_map(find).collect());
                return Ok(());
            }
            let key: Vec<&str> = places.0.iter().map(|place: &usize| row.cell(*place)).collect();
            let label = if one_hot {
                let at =
                    places.1.iter().position(|place: &usize| matches!(row.cell(*place).trim(), "1" | "1.0"));
                at.and_then(|at| truth.get(at)).cloned().unwrap_or_default()
            } else {
                places.1.first().map_or("", |place| row.cell(*place)).to_owned()
            };
            by_key.insert(key.join("\u{1f}"), label);
            Ok(())
        })?;
        let known = words.entry(target.to_owned()).or_default();
        let (mut column, mut places, stride) = (Column::default(), Vec::new(), self.test.stride());
        rows::each(test, &rows::plain(), |number, row| {
            if number == 0 {
                let names: Vec<&str> = row.cells().collect();
                places =
                    self.keys.iter().filter_map(|key| names.iter().position(|name| name == key)).collect();
            } else if (number - 1).is_multiple_of(stride) {
                let key: Vec<&str> = places.iter().map(|place: &usize| row.cell(*place)).collect();
                column.take(by_key.get(&key.join("\u{1f}")).map_or("", String::as_str), known);
            }
            Ok(())
        })?;
        column.distinct = u32::try_from(known.len()).unwrap_or(u32::MAX);
        target.clone_into(&mut column.name);
        Ok((column.filled > 0).then_some(column))
    }

    /// The columns that both tables have and that are no keys.
    pub(super) fn features(&self) -> impl Iterator<Item = (&Column, &Column)> {
        let pairs = self.train.columns.iter();
        let pairs = pairs.filter_map(|column| Some((column, self.test.column(&column.name)?)));
        pairs.filter(|(column, _)| !self.keys.contains(&column.name) && !self.targets.contains(&column.name))
    }

    /// The target in the training table.
    pub(super) fn label(&self) -> Option<&Column> {
        self.train.column(self.target.as_deref()?)
    }
}

impl Table {
    /// Every so many rows one is held.
    pub(super) fn stride(&self) -> u64 {
        stride(self.all_rows, self.columns.len())
    }
}

fn stride(rows: u64, columns: usize) -> u64 {
    let cells = rows.saturating_mul(columns.max(1) as u64);
    cells.div_ceil(MOST_CELLS).max(1)
}

fn read(path: &Path, words: &mut Words) -> Result<Table, OwnError> {
    let (mut rows, mut names) = (0, Vec::new());
    rows::each(path, &rows::plain(), |number, row| {
        if number == 0 {
            names = row.cells().map(str::to_owned).collect();
        } else {
            rows += 1;
        }
        Ok(())
    })?;
    let stride = stride(rows, names.len());
    let column = |name: &String| Column { name: name.clone(), ..Column::default() };
    let mut table = Table { columns: names.iter().map(column).collect(), rows: 0, all_rows: rows };
    let mut known: Vec<HashMap<String, u32>> =
        names.iter().map(|name| words.remove(name).unwrap_or_default()).collect();
    rows::each(path, &rows::plain(), |number, row| {
        if number > 0 && (number - 1).is_multiple_of(stride) {
            table.rows += 1;
            for ((place, column), words) in table.columns.iter_mut().enumerate().zip(&mut known) {
                column.take(row.cell(place), words);
            }
        }
        Ok(())
    })?;
    for ((column, name), known) in table.columns.iter_mut().zip(&names).zip(known) {
        let mut codes: Vec<u32> = column.codes.iter().copied().filter(|code| *code > 0).collect();
        codes.sort_unstable();
        codes.dedup();
        column.distinct = u32::try_from(codes.len()).unwrap_or(u32::MAX);
        words.insert(name.clone(), known);
    }
    Ok(table)
}
