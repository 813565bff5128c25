//! Edit distance of two texts that are nearly the same: no more edits are looked at than there are, and equal stretches
//! are passed over eight bytes at a time.
//!
//! For each diagonal of the distance table it is kept how far down it the edits so far lead. Source: Ukkonen 1985, Landau
//! and Vishkin 1989.

/// More edits than this are not looked for; it bounds the memory, which is on the stack.
const MOST: usize = 15;
/// The diagonal of no offset; beside the outermost ones is one more on each side, which nothing reaches.
const MIDDLE: usize = MOST + 1;

/// The edit distance of two byte strings where it is at most `most` and at most 15, else none.
///
/// Takes about `(d + 1)²` comparisons of equal stretches, where `d` is the distance or `most`.
pub(crate) fn few_edits(left: &[u8], right: &[u8], most: usize) -> Option<usize> {
    let most = most.min(MOST);
    if left.len().abs_diff(right.len()) > most {
        return None;
    }
    let goal = MIDDLE + right.len() - left.len();
    // One more than the row of `left` that is reached on each diagonal; 0 where none is.
    let mut reached = [0; 2 * MIDDLE + 1];
    let mut edits = 0;
    loop {
        // From a diagonal that is further away than edits are left, the goal is out of reach.
        let lowest = (MIDDLE - edits).max((goal + edits).saturating_sub(most));
        let highest = (MIDDLE + edits).min(goal + most - edits);
        let mut before = reached.get(lowest - 1).copied()?;
        for diagonal in lowest..=highest {
            let (here, behind) = (reached.get(diagonal).copied()?, reached.get(diagonal + 1).copied()?);
            let step = |rows: usize| rows + usize::from(rows > 0);
            // A byte more in `right`, one replaced, one more in `left`; at the beginning nothing.
            let best = if edits == 0 { 1 } else { before.max(step(here)).max(step(behind)) };
            before = here;
            // Past the end of a text the cell before it is as near.
            let Some(longest) = (right.len() + MIDDLE).checked_sub(diagonal) else { continue };
            let Some(row) = best.checked_sub(1) else { continue };
            let row = row.min(longest).min(left.len());
            let Some(column) = (row + diagonal).checked_sub(MIDDLE) else { continue };
            let row = row + shared(left.get(row..)?, right.get(column..)?);
            if diagonal == goal && row == left.len() {
                return Some(edits);
            }
            *reached.get_mut(diagonal)? = row + 1;
        }
        edits += 1;
        if edits > most {
            return None;
        }
    }
}

/// How many bytes both begin with.
pub(crate) fn shared(left: &[u8], right: &[u8]) -> usize {
    let ((words, _), (others, _)) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    let mut same = 0;
    for (word, other) in words.iter().zip(others) {
        let difference = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if difference != 0 {
            return same + (difference.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    let rest = left.iter().zip(right).skip(same);
    same + rest.take_while(|(left, right)| left == right).count()
}

/// How many bytes both end with.
pub(crate) fn shared_end(left: &[u8], right: &[u8]) -> usize {
    let ((_, words), (_, others)) = (left.as_rchunks::<8>(), right.as_rchunks::<8>());
    let mut same = 0;
    for (word, other) in words.iter().rev().zip(others.iter().rev()) {
        let difference = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if difference != 0 {
            return same + (difference.leading_zeros() / 8) as usize;
        }
        same += 8;
    }
    let rest = left.iter().rev().zip(right.iter().rev()).skip(same);
    same + rest.take_while(|(left, right)| left == right).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn few_edits_are_counted_and_more_are_not(
            left in prop::collection::vec(0u8..3, 0..40),
            right in prop::collection::vec(0u8..3, 0..40),
            most in 0usize..20,
        ) {
            let distance = crate::levenshtein(&left, &right);
            let expected = Some(distance).filter(|distance| *distance <= most.min(MOST));
            prop_assert_eq!(few_edits(&left, &right, most), expected);
        }

        #[test]
        fn ends_are_compared_as_bytes_are(
            left in prop::collection::vec(0u8..2, 0..30),
            right in prop::collection::vec(0u8..2, 0..30),
            ends in prop::collection::vec(0u8..2, 0..30),
        ) {
            let same = |(left, right): &(&u8, &u8)| left == right;
            let (front, back) = ([&ends[..], &left].concat(), [&left[..], &ends].concat());
            let (other_front, other_back) = ([&ends[..], &right].concat(), [&right[..], &ends].concat());
            let slow = front.iter().zip(&other_front).take_while(same).count();
            prop_assert_eq!(shared(&front, &other_front), slow);
            let slow = back.iter().rev().zip(other_back.iter().rev()).take_while(same).count();
            prop_assert_eq!(shared_end(&back, &other_back), slow);
        }
    }
}
