//! Runs the steps that a competition's TOML declares.

use std::collections::{BTreeMap, HashSet};

use crate::csv::{Decimals, MixedCell, ReadOptions};
use crate::prepare::archive::Packing;
use crate::prepare::bench::Workbench;
use crate::prepare::declared::{Amount, Cell, Number, Select, Split, Step, Write};
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::parts::{groups_parted, one_hot, rows_parted};
use crate::prepare::pattern::Pattern;
use crate::prepare::split::Size;
use crate::prepare::writer::Style;

/// The tables that the steps have made.
struct Tables(BTreeMap<String, Frame>);

impl Tables {
    fn get(&self, name: &str) -> Result<&Frame, PrepareError> {
        self.0.get(name).ok_or_else(|| PrepareError::Step { problem: format!("there is no table `{name}`") })
    }

    fn put(&mut self, name: &str, frame: Frame) {
        self.0.insert(name.to_owned(), frame);
    }
}

/// Runs all steps.
pub(crate) fn run(steps: &[Step], bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut tables = Tables(BTreeMap::new());
    steps.iter().try_for_each(|step| run_one(step, &mut tables, bench))
}

fn run_one(step: &Step, tables: &mut Tables, bench: &Workbench<'_>) -> Result<(), PrepareError> {
    match step {
        Step::Unpack(archives) => archives.iter().try_for_each(|archive| bench.unpack(archive, "")),
        Step::Read(read) => {
            let options = ReadOptions {
                delimiter: delimiter(read.tabs),
                decimals: if read.quick_decimals { Decimals::Quick } else { Decimals::Exact },
                ..ReadOptions::default()
            };
            let texts: Vec<&str> = read.texts.iter().map(String::as_str).collect();
            tables.put(&read.rows, bench.read_with(&read.file, options, &texts)?);
            Ok(())
        }
        Step::Split(split) => part(split, tables, bench),
        Step::Select(select) => {
            let selected = selected(select, tables)?;
            tables.put(&select.name, selected);
            Ok(())
        }
        Step::Sort { rows, by } => {
            let sorted = tables.get(rows)?.sorted_by_text(by)?;
            tables.put(rows, sorted);
            Ok(())
        }
        Step::Number(number) => {
            let numbered = numbered(number, tables)?;
            tables.put(&number.rows, numbered);
            Ok(())
        }
        Step::Write(write) => write_table(write, tables, bench),
        Step::Copy(files) => files.iter().try_for_each(|file| bench.copy(file, &format!("public/{file}"))),
        Step::CopyTo { from, to } => bench.copy(from, to),
        Step::CopyEach { rows, from, to } => {
            let frame = tables.get(rows)?;
            let (from, to) = (Pattern::new(from)?.fill(frame)?, Pattern::new(to)?.fill(frame)?);
            // Rows of one group name one file.
            let mut known = HashSet::new();
            bench.copy_each(from.into_iter().zip(to).filter(|pair| known.insert(pair.clone())))
        }
        Step::PackEach { rows, from, name, to, packing } => {
            let frame = tables.get(rows)?;
            let from = Pattern::new(from)?.fill(frame)?;
            bench.pack_raw(to, *packing, Pattern::new(name)?.fill(frame)?.into_iter().zip(from))
        }
        Step::Folder(folder) => bench.folder(folder),
    }
}

const fn delimiter(tabs: bool) -> u8 {
    if tabs { b'\t' } else { b',' }
}

fn part(split: &Split, tables: &mut Tables, bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let size = match (&split.test, split.train) {
        (Some(Amount::Fraction(share)), None) => Size::Test(*share),
        (Some(Amount::Constant(name)), None) => Size::TestRows(bench.count(name)?),
        (None, Some(share)) => Size::Train(share),
        _ => return Err(PrepareError::Step { problem: "a split has one size".to_owned() }),
    };
    let frame = tables.get(&split.rows)?;
    let (train, test) = match &split.by {
        None => rows_parted(frame, size, split.seed),
        Some(column) => groups_parted(frame, column, size, split.seed)?,
    };
    demand(train.rows() > 0 && test.rows() > 0, || "a part of the split is empty".to_owned())?;
    tables.put("train", train);
    tables.put("test", test);
    Ok(())
}

fn selected(select: &Select, tables: &Tables) -> Result<Frame, PrepareError> {
    let frame = tables.get(&select.rows)?;
    let mut wanted: Option<HashSet<String>> = None;
    if let Some(other) = &select.other {
        let known = wanted.insert(HashSet::new());
        tables.get(other)?.column(&select.column)?.each_text(|text| {
            if !known.contains(text) {
                known.insert(text.to_owned());
            }
        });
    }
    let (mut rows, mut row) = (Vec::new(), 0);
    frame.column(&select.column)?.each_text(|text| {
        if wanted.as_ref().is_none_or(|wanted| wanted.contains(text))
            && select.unequal.as_ref().is_none_or(|unequal| unequal != text)
        {
            rows.push(row);
        }
        row += 1;
    });
    Ok(frame.take_all(rows))
}

fn numbered(number: &Number, tables: &Tables) -> Result<Frame, PrepareError> {
    let mut frame = tables.get(&number.rows)?.clone();
    if let Some(old) = &number.old {
        frame = frame.clone().with_text_of(old, &number.column)?;
    }
    let after = match &number.after {
        Some(table) => tables.get(table)?.rows(),
        None => 0,
    };
    let first = number.from + after;
    let numbers = first..first + frame.rows();
    Ok(match &number.prefix {
        None => frame.with_integers(&number.column, numbers.map(i64::from)),
        Some(prefix) => frame.with_texts(&number.column, numbers.map(|number| format!("{prefix}{number}"))),
    })
}

fn write_table(write: &Write, tables: &Tables, bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let mut frame = tables.get(&write.rows)?.clone();
    if let Some(keep) = &write.keep {
        frame = frame.keep(keep)?;
    }
    frame = frame.without(&write.without)?;
    for (from, to) in &write.rename {
        frame = frame.rename(from, to)?;
    }
    if let Some(column) = &write.one_hot {
        frame = one_hot(&frame, column, bench.predicted)?;
    }
    for (name, cell) in &write.set {
        frame = frame.with_same(name, mixed(cell));
    }
    if let Some(cell) = &write.predicted {
        for name in bench.predicted {
            frame = frame.with_same(name, mixed(cell));
        }
    }
    let style = Style { delimiter: delimiter(write.tabs), floats: write.floats, ..Style::default() };
    match &write.pack {
        None => bench.write_styled(&write.to, &frame, style),
        Some(archive) => bench.pack_table(archive, Packing::default(), &write.to, &frame, style),
    }
}

fn mixed(cell: &Cell) -> MixedCell {
    match cell {
        Cell::Boolean(value) => MixedCell::Boolean(*value),
        Cell::Integer(value) => MixedCell::Integer(*value),
        Cell::Float(value) => MixedCell::Float(*value),
        Cell::Text(text) if text.is_empty() => MixedCell::Missing,
        Cell::Text(text) => MixedCell::Text(text.as_str().into()),
    }
}
