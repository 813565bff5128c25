//! Rows in groups: those whose cells of a column are the same text. Groups are counted from 0 in the order in which they
//! first come.

use std::collections::HashMap;

use crate::prepare::error::PrepareError;
use crate::prepare::frame::Frame;

impl Frame {
    /// Which group each row belongs to, and how many groups there are.
    pub fn group_numbers(&self, name: &str) -> Result<(Vec<u32>, u32), PrepareError> {
        let view = self.column(name)?;
        let mut numbers = Vec::with_capacity(self.rows() as usize);
        if view.is_whole() {
            let mut known = Numbers::of(self.rows());
            // Rows of a group mostly stand together.
            let mut last = None;
            view.each_whole(|key| {
                let number = match last {
                    Some((before, number)) if before == key => number,
                    _ => known.number(key),
                };
                last = Some((key, number));
                numbers.push(number);
            });
            return Ok((numbers, known.count));
        }
        let next = |known: usize| u32::try_from(known).unwrap_or(u32::MAX);
        let mut known: HashMap<String, u32> = HashMap::new();
        view.each_text(|text| {
            let number = known.get(text).copied().unwrap_or_else(|| {
                let number = next(known.len());
                known.insert(text.to_owned(), number);
                number
            });
            numbers.push(number);
        });
        Ok((numbers, next(known.len())))
    }

    /// Places of the rows by the text of a column.
    pub fn groups(&self, name: &str) -> Result<Vec<(String, Vec<u32>)>, PrepareError> {
        let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut row = 0;
        self.column(name)?.each_text(|key| {
            let place = known.get(key).copied().unwrap_or_else(|| {
                known.insert(key.to_owned(), groups.len());
                groups.push((key.to_owned(), Vec::new()));
                groups.len() - 1
            });
            if let Some((_, rows)) = groups.get_mut(place) {
                rows.push(row);
            }
            row += 1;
        });
        Ok(groups)
    }
}

/// Groups by whole numbers. Those below the number of rows, as most ids are, have a place each.
struct Numbers {
    /// As many as there may be.
    most: usize,
    placed: Vec<u32>,
    others: HashMap<i64, u32>,
    count: u32,
}

impl Numbers {
    /// In the place of a number that no group has.
    const NONE: u32 = u32::MAX;

    fn of(rows: u32) -> Self {
        Self { most: rows as usize, placed: Vec::new(), others: HashMap::new(), count: 0 }
    }

    /// The group of a key; a new one where the key is new.
    fn number(&mut self, key: i64) -> u32 {
        let place = usize::try_from(key).ok().filter(|place| *place < self.most);
        let number = match place {
            Some(place) => {
                if self.placed.len() <= place {
                    self.placed.resize((2 * place + 1).min(self.most), Self::NONE);
                }
                let Some(number) = self.placed.get_mut(place) else { return Self::NONE };
                number
            }
            None => self.others.entry(key).or_insert(Self::NONE),
        };
        if *number == Self::NONE {
            *number = self.count;
            self.count += 1;
        }
        *number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::Column;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whole_numbers_are_grouped_as_texts_are(
            keys in prop::collection::vec(prop_oneof![-3_i64..3, 0_i64..40, any::<i64>()], 0..60)
        ) {
            let frame = Frame::of("key", Column::Integer(keys.clone()));
            let texts = Frame::default().with_texts("key", keys.iter().map(i64::to_string));
            let numbers = frame.group_numbers("key").unwrap();
            prop_assert_eq!(&numbers, &texts.group_numbers("key").unwrap());
            let groups = texts.groups("key").unwrap();
            prop_assert_eq!(groups.len(), numbers.1 as usize);
            for (number, (_, rows)) in (0..).zip(groups) {
                prop_assert!(rows.iter().all(|row| numbers.0[*row as usize] == number));
            }
        }
    }
}
