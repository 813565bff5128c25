//! Paths made from the cells of a row: `train/{id}.jpg`, or `train/{id[0]}/{id}.npy` with the first character of a cell.

use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;

/// A path with holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Plain(String),
    Cell { column: String, character: Option<usize> },
}

impl Pattern {
    /// Reads a pattern.
    pub(crate) fn new(text: &str) -> Result<Self, PrepareError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((plain, after)) = rest.split_once('{') {
            let Some((hole, after)) = after.split_once('}') else {
                return Err(PrepareError::Step { problem: format!("`{text}` has an open brace") });
            };
            parts.push(Part::Plain(plain.to_owned()));
            let place = hole.strip_suffix(']').and_then(|hole| hole.split_once('['));
            parts.push(match place.and_then(|(column, place)| Some((column, place.parse().ok()?))) {
                Some((column, place)) => Part::Cell { column: column.to_owned(), character: Some(place) },
                None => Part::Cell { column: hole.to_owned(), character: None },
            });
            rest = after;
        }
        parts.push(Part::Plain(rest.to_owned()));
        Ok(Self(parts))
    }

    /// The paths of all rows.
    pub(crate) fn fill(&self, frame: &Frame) -> Result<Vec<String>, PrepareError> {
        let mut paths = vec![String::new(); frame.rows() as usize];
        for part in &self.0 {
            match part {
                Part::Plain(text) => paths.iter_mut().for_each(|path| path.push_str(text)),
                Part::Cell { column, character } => {
                    for (path, cell) in paths.iter_mut().zip(frame.column(column)?.texts()) {
                        match character {
                            None => path.push_str(&cell),
                            Some(place) => path.extend(cell.chars().nth(*place)),
                        }
                    }
                }
            }
        }
        Ok(paths)
    }
}
