//! Which row goes where: a function of the plan, the seed and the order of the file, and of nothing else.
//!
//! Units (rows of one key, or of one group) are never parted. Within a stratum they are shuffled, and the strata are laid
//! end to end; every so-and-so-many-th unit is taken (systematic sampling), so that a part has its share of each stratum
//! to within one unit, and of the whole as well. At most half of a stratum is held out: no class vanishes from training.

use std::collections::BTreeMap;

use podium_types::rng::Rng;

use crate::holdout::Plan;

/// Where a unit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// In training, in this fold.
    Fold(u32),
    /// In training, and in no fold: it has no label, or there are no folds.
    Training,
    /// Held out for the search.
    Search,
    /// Held out for the final choice.
    Final,
}

impl Part {
    /// Whether it is taken out of the training table.
    pub(super) const fn is_held_out(self) -> bool {
        matches!(self, Self::Search | Self::Final)
    }
}

/// One unit: its stratum, and whether all its rows have labels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) stratum: u32,
    pub(super) labelled: bool,
}

/// The part of each unit.
pub(super) fn assign(units: &[Unit], plan: &Plan) -> Vec<Part> {
    let mut strata: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, unit) in units.iter().enumerate().filter(|(_, unit)| unit.labelled) {
        strata.entry(unit.stratum).or_default().push(place);
    }
    let mut rng = Rng::new(plan.seed);
    let held = plan.search + plan.last;
    let (mut taken, mut chosen) = (Taking::new(held, &mut rng), Taking::new(plan.search / held, &mut rng));
    let mut fold = rng.below(plan.folds as usize);
    let mut parts = vec![Part::Training; units.len()];
    for mut members in strata.into_values() {
        shuffle(&mut members, &mut rng);
        let mut room = members.len() / 2;
        for unit in members {
            let part = if taken.next() && room > 0 {
                room -= 1;
                if chosen.next() { Part::Search } else { Part::Final }
            } else if plan.folds > 0 {
                fold = (fold + 1) % plan.folds as usize;
                Part::Fold(u32::try_from(fold).unwrap_or_default())
            } else {
                Part::Training
            };
            if let Some(place) = parts.get_mut(unit) {
                *place = part;
            }
        }
    }
    parts
}

/// Takes a share of what passes by, as evenly as can be.
struct Taking {
    share: f64,
    passed: f64,
}

impl Taking {
    fn new(share: f64, rng: &mut Rng) -> Self {
        Self { share: if share.is_finite() { share } else { 0.0 }, passed: rng.uniform() }
    }

    fn next(&mut self) -> bool {
        self.passed += self.share;
        let take = self.passed >= 1.0;
        if take {
            self.passed -= 1.0;
        }
        take
    }
}

/// Fisher and Yates.
pub(super) fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(parts: &[Part], is: impl Fn(&Part) -> bool) -> usize {
        parts.iter().filter(|part| is(part)).count()
    }

    proptest! {
        #[test]
        fn parts_have_their_shares_and_no_class_vanishes(
            strata in prop::collection::vec(0_u32..4, 1..300),
            (search, last) in (0.0_f64..0.3, 0.0_f64..0.2),
            folds in 0_u32..6,
            seed: u64,
        ) {
            let units: Vec<Unit> =
                strata.iter().map(|stratum| Unit { stratum: *stratum, labelled: true }).collect();
            let plan = Plan { search, last, folds, seed };
            let parts = assign(&units, &plan);
            prop_assert_eq!(&parts, &assign(&units, &plan));
            prop_assert_eq!(parts.len(), units.len());
            for stratum in 0..4 {
                let of: Vec<Part> = parts.iter().zip(&units)
                    .filter(|(_, unit)| unit.stratum == stratum).map(|(part, _)| *part).collect();
                let held = count(&of, |part| part.is_held_out());
                prop_assert!(held <= of.len() / 2);
                prop_assert!((held as f64) < of.len() as f64 * (search + last) + 1.0);
            }
            let held = count(&parts, |part| part.is_held_out());
            let searched = count(&parts, |part| *part == Part::Search);
            if search + last > 0.0 {
                let expected = held as f64 * search / (search + last);
                prop_assert!((searched as f64 - expected).abs() <= 1.0);
            } else {
                prop_assert_eq!(held, 0);
            }
            let sizes: Vec<usize> =
                (0..folds).map(|fold| count(&parts, |part| *part == Part::Fold(fold))).collect();
            if let (Some(least), Some(most)) = (sizes.iter().min(), sizes.iter().max()) {
                prop_assert!(most - least <= 1, "{:?}", sizes);
                prop_assert_eq!(sizes.iter().sum::<usize>() + held, units.len());
            }
        }
    }

    #[test]
    fn what_has_no_label_stays_and_another_seed_is_another_split() {
        let unit = |place: usize| Unit { stratum: 0, labelled: !place.is_multiple_of(3) };
        let units: Vec<Unit> = (0..300).map(unit).collect();
        let plan = Plan { search: 0.2, last: 0.2, folds: 3, seed: 1 };
        let parts = assign(&units, &plan);
        assert!(parts.iter().zip(&units).all(|(part, unit)| unit.labelled || *part == Part::Training));
        assert_eq!(count(&parts, |part| part.is_held_out()), 80);
        assert_ne!(parts, assign(&units, &Plan { seed: 2, ..plan }));
    }
}
