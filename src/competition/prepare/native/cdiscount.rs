//! cdiscount-image-classification-challenge: products are documents of one long BSON file, which is streamed twice; a test
//! document loses its category and is otherwise the bytes that it was.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;
use crate::prepare::split::{Size, train_test_split};

/// A longer document is none; BSON itself allows 16 MB.
const MOST: usize = 1 << 26;
/// Documents of the example.
const EXAMPLES: u32 = 100;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let path = bench.find("train.bson")?;
    let mut products: Vec<(i64, i64)> = Vec::new();
    each_document(&path, |document| {
        let number = |name: &[u8]| {
            let element = elements(document).find(|element| element.name == name);
            element.and_then(|element| element.integer()).ok_or_else(|| broken(&path))
        };
        products.push((number(b"_id")?, number(b"category_id")?));
        Ok(())
    })?;
    let parts = train_test_split(u32::try_from(products.len()).unwrap_or(u32::MAX), Size::Test(0.1), 0);
    let mut test: Vec<(i64, i64)> =
        parts.test.iter().filter_map(|row| products.get(*row as usize)).copied().collect();
    test.sort_by_key(|(id, _)| *id);
    let answers = Frame::default()
        .with_integers("_id", test.iter().map(|(id, _)| *id))
        .with_integers("category_id", test.iter().map(|(_, category)| *category));
    bench.write("private/answers.csv", &answers)?;
    let sample = answers.with_same("category_id", MixedCell::Integer(1_000_010_653));
    bench.write("public/sample_submission.csv", &sample)?;
    let hidden: HashSet<u32> = parts.test.into_iter().collect();
    let mut outputs =
        ["train", "test", "train_example"].map(|name| bench.create(&format!("public/{name}.bson")));
    let [Ok(train), Ok(test), Ok(example)] = &mut outputs else {
        return outputs.into_iter().find_map(Result::err).map_or(Ok(()), Err);
    };
    let (mut row, mut shown) = (0, 0);
    each_document(&path, |document| {
        let written = if hidden.contains(&row) {
            test.write_all(&without_category(document))
        } else {
            shown += 1;
            let example = if shown <= EXAMPLES { example.write_all(document) } else { Ok(()) };
            example.and_then(|()| train.write_all(document))
        };
        row += 1;
        written.map_err(PrepareError::io("write", &path))
    })?;
    for output in [train, test, example] {
        output.flush().map_err(PrepareError::io("write", &path))?;
    }
    bench.copy("category_names.csv", "public/category_names.csv")
}

fn broken(path: &Path) -> PrepareError {
    PrepareError::unfit(format!("{} is no BSON of products", path.display()))
}

/// Calls `each` with every document, its length in front and its zero at the end.
fn each_document(
    path: &Path,
    mut each: impl FnMut(&[u8]) -> Result<(), PrepareError>,
) -> Result<(), PrepareError> {
    let mut input = BufReader::new(File::open(path).map_err(PrepareError::io("open", path))?);
    let mut document = Vec::new();
    loop {
        document.clear();
        let read =
            input.by_ref().take(4).read_to_end(&mut document).map_err(PrepareError::io("read", path))?;
        if read == 0 {
            return Ok(());
        }
        let length = document.first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
        let length = usize::try_from(length).ok().filter(|length| (5..=MOST).contains(length));
        let length = length.ok_or_else(|| broken(path))?;
        let rest = length as u64 - 4;
        input.by_ref().take(rest).read_to_end(&mut document).map_err(PrepareError::io("read", path))?;
        if document.len() != length || document.last() != Some(&0) {
            return Err(broken(path));
        }
        each(&document)?;
    }
}

/// An element at the top of a document.
struct Element<'a> {
    kind: u8,
    name: &'a [u8],
    value: &'a [u8],
    /// Where it stands in the document, its kind and name included.
    start: usize,
    end: usize,
}

impl Element<'_> {
    fn integer(&self) -> Option<i64> {
        match self.kind {
            0x10 => self.value.first_chunk().map(|bytes| i32::from_le_bytes(*bytes).into()),
            0x12 => self.value.first_chunk().map(|bytes| i64::from_le_bytes(*bytes)),
            _ => None,
        }
    }
}

/// The elements of a document; they end where it is broken.
fn elements(document: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let mut start = 4;
    std::iter::from_fn(move || {
        let rest = document.get(start..)?;
        let (kind, after) = rest.split_first()?;
        let length = after.iter().position(|byte| *byte == 0)?;
        let (name, value) = (after.get(..length)?, after.get(length + 1..)?);
        let counted =
            || value.first_chunk().and_then(|bytes| usize::try_from(i32::from_le_bytes(*bytes)).ok());
        let size = match kind {
            0x01 | 0x09 | 0x11 | 0x12 => 8,
            0x02 => counted()?.checked_add(4)?,
            0x03 | 0x04 => counted()?,
            0x05 => counted()?.checked_add(5)?,
            0x07 => 12,
            0x08 => 1,
            0x0a => 0,
            0x10 => 4,
            _ => return None,
        };
        let end = start.checked_add(length + 2)?.checked_add(size)?;
        let element = Element { kind: *kind, name, value: value.get(..size)?, start, end };
        start = end;
        Some(element)
    })
}

fn without_category(document: &[u8]) -> Vec<u8> {
    let Some(element) = elements(document).find(|element| element.name == b"category_id") else {
        return document.to_vec();
    };
    let length = document.len() - (element.end - element.start);
    let mut shorter = i32::try_from(length).unwrap_or_default().to_le_bytes().to_vec();
    shorter.extend_from_slice(document.get(4..element.start).unwrap_or_default());
    shorter.extend_from_slice(document.get(element.end..).unwrap_or_default());
    shorter
}
