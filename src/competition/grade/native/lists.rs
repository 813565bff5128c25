//! Ranked lists and orders: mean average precision of lists that blanks separate, and the order of notebook cells.
//!
//! Cells are compared as Python spells them. An item is what stands between single blanks, so that a doubled blank
//! makes an empty item which takes a rank.

use std::collections::{HashMap, HashSet};

use podium_metric as metric;
use podium_metric::literal::words;

use crate::csv::{Cell, Column, Texts};
use crate::grade::align::{Known, Pairing, truth_column};
use crate::grade::hash::FastHash;
use crate::grade::input::{Fault, Input, Score};
use crate::grade::native::single::{Single, only_columns};
use crate::grade::order::sorted_rows;
use crate::grade::python::text_of;
use crate::grade::reason::quote;
use crate::parallel::map_rows;

/// MAP@k; sets of keys must agree, other columns are ignored: `hotel-id-2021-fgvc8`.
pub(crate) fn ranked_lists(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted_sets()?;
    mean_average_precision(input, &sides, &pairing)
}

/// [`ranked_lists`] of a file without other columns: `whale-categorization-playground`.
pub(crate) fn ranked_lists_only(input: &Input<'_>) -> Result<Score, Fault> {
    only_columns(input)?;
    ranked_lists(input)
}

/// MAP@k over the rows whose key is in the answers, which must all be there; paired by rank of the key:
/// `h-and-m-personalized-fashion-recommendations`.
pub(crate) fn ranked_lists_among(input: &Input<'_>) -> Result<Score, Fault> {
    only_columns(input)?;
    let sides = Single::of(input)?;
    let true_keys = truth_column(sides.answers, sides.key)?;
    let known = Known::of(true_keys);
    // A missing key among texts is a key like another; among numbers it equals nothing, not even itself.
    let missing = true_keys.cells().any(|cell| cell == Cell::Missing);
    if missing && (true_keys.is_numeric() || sides.keys.is_numeric()) {
        return Err(Fault::answers("a key is missing"));
    }
    // Nearly all of the time goes into these look-ups, and most find nothing.
    let found = map_rows(sides.keys.len(), |rows| {
        let code = |row: usize| match sides.keys.cell(row) {
            Cell::Missing => Some(known.len()),
            cell => known.code(cell),
        };
        Ok::<_, Fault>(rows.filter_map(|row| Some((row, code(row)?))).collect())
    })?;
    let mut hit = vec![false; known.len() + usize::from(missing)];
    let mut kept = Vec::with_capacity(found.len());
    for (row, code) in found {
        if let Some(hit) = hit.get_mut(code) {
            *hit = true;
            kept.push(row);
        }
    }
    let absent = hit.iter().filter(|hit| !**hit).count();
    if absent > 0 {
        return Err(Fault::Submission(format!(
            "{absent} of the {} keys to predict are missing in column {}",
            hit.len(),
            quote(sides.key)
        )));
    }
    let pairing = pair_kept(&sides, &kept)?;
    let repeated = pairing.submission.len().saturating_sub(hit.len());
    let score = mean_average_precision(input, &sides, &pairing)?;
    if repeated > 0 {
        return Ok(score.note(format!(
            "{repeated} rows repeat a key: the official grader pairs rows by rank, so that they shift those behind"
        )));
    }
    Ok(score)
}

/// Pairs the n-th smallest kept row with the n-th smallest of the answers.
fn pair_kept(sides: &Single<'_>, kept: &[usize]) -> Result<Pairing, Fault> {
    let unsortable = |_| Fault::answers("the keys have no order");
    let answers = sorted_rows(truth_column(sides.answers, sides.key)?).map_err(unsortable)?;
    let order = if let Column::Text(texts) = sides.keys {
        let mut few = Texts::default();
        for row in kept {
            few.push(texts.get(*row));
        }
        sorted_rows(&Column::Text(few)).map_err(unsortable)?
    } else {
        let position: HashMap<usize, usize> =
            kept.iter().enumerate().map(|(position, row)| (*row, position)).collect();
        let rows = sorted_rows(sides.keys).map_err(unsortable)?;
        rows.iter().filter_map(|row| position.get(&row).copied()).collect()
    };
    let submission = order.iter().filter_map(|position| kept.get(position).copied()).collect();
    Ok(Pairing { answers, submission, ..Pairing::default() })
}

fn mean_average_precision(input: &Input<'_>, sides: &Single<'_>, pairing: &Pairing) -> Result<Score, Fault> {
    let k = input.competition.metric.options.k.filter(|k| *k > 0);
    let k = k.ok_or_else(|| Fault::answers("the catalog says no k"))?;
    let values = map_rows(pairing.answers.len(), |rows| {
        let values = sides.cells_of(pairing, rows).map(|(_, guess, truth)| {
            let (guess, truth) = (text_of(guess), text_of(truth));
            let truth: Vec<&str> = truth.split(' ').collect();
            let ranking: Vec<&str> = guess.split(' ').take(k).collect();
            metric::average_precision_at_k(&truth, &ranking, k)
        });
        Ok::<_, Fault>(values.collect())
    })?;
    let score = Score::numpy(metric::mean(&values)).noting(pairing.repeats);
    Ok(match sides.guess {
        Column::Float(_) => {
            score.note("the predicted column was read as decimal numbers, which match no item")
        }
        Column::Integer(_) | Column::Unsigned(_) if !sides.guess.is_empty() => {
            score.note("the predicted column was read as whole numbers, so that leading zeros are lost")
        }
        _ => score,
    })
}

/// Kendall's tau over the cell orders of notebooks: `AI4Code`.
pub(crate) fn cell_orders(input: &Input<'_>) -> Result<Score, Fault> {
    let sides = Single::of(input)?;
    let pairing = sides.sorted_sets()?;
    let mut lists = Vec::with_capacity(pairing.answers.len());
    for (row, guess, truth) in sides.cells(&pairing) {
        lists.push(positions(&sides, row, guess, truth)?);
    }
    if lists.iter().all(|list| list.len() < 2) {
        return Err(Fault::answers("no list has two items to put in order"));
    }
    let tau = metric::pooled_kendall_tau(&lists).map_err(|_| Fault::answers("there are no rows"))?;
    Ok(Score::python(tau).noting(pairing.repeats))
}

/// For each item of the true order its first place in the predicted one.
fn positions(sides: &Single<'_>, row: usize, guess: Cell<'_>, truth: Cell<'_>) -> Result<Vec<usize>, Fault> {
    let (guess, truth) = (text_of(guess), text_of(truth));
    let truth: Vec<&str> = words(&truth).collect();
    let mut places: HashMap<&str, Option<usize>, FastHash> =
        HashMap::with_capacity_and_hasher(truth.len(), FastHash::default());
    places.extend(truth.iter().map(|item| (*item, None)));
    let mut items = 0;
    for (place, item) in words(&guess).enumerate() {
        items += 1;
        if let Some(first) = places.get_mut(item) {
            first.get_or_insert(place);
        }
    }
    let refuse = |problem: String| {
        let (column, row) = (quote(sides.target), sides.row_name(row));
        Fault::Submission(format!("column {column}, {row}: {problem}"))
    };
    if items != truth.len() {
        return Err(refuse(format!("found {items} items, expected another number of them")));
    }
    let place = |item: &&str| places.get(item).copied().flatten();
    let list: Option<Vec<usize>> = truth.iter().map(place).collect();
    list.ok_or_else(|| {
        let known: HashSet<&str> = truth.iter().copied().collect();
        let stranger = words(&guess).find(|item| !known.contains(item)).map(quote);
        let found =
            stranger.map_or("an item stands twice".to_owned(), |item| format!("{item} is none of the items"));
        refuse(format!("{found}, expected each item of the list once"))
    })
}
