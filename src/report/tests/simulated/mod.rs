//! Experiments drawn from a population in which the truth is known; for the tests and for the benchmark of coverage.

use podium_report::statistics::difference::difference;
use podium_report::statistics::exact::sign_flip;
use podium_report::statistics::{Pair, Pairs};
use podium_types::rng::Rng;

/// What many simulated experiments came to, as shares of them.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// The interval for competitions like these held the true difference.
    pub(crate) held: f64,
    /// The sign flip was below 0.05 where there is no difference.
    pub(crate) false_alarms: f64,
}

/// Simulates `experiments` of two arms: competitions are as hard as they come, differ in what they favour, and the mean
/// difference is 10 points, or none for the false alarms.
pub(crate) fn coverage(experiments: usize, competitions: usize, seeds: usize) -> Coverage {
    let mut rng = Rng::new(2026);
    let (mut held, mut false_alarms) = (0, 0);
    for _ in 0..experiments {
        held +=
            usize::from(experiment(&mut rng, competitions, seeds, 0.1).is_some_and(|pairs| {
                difference(&pairs).like_these.is_some_and(|interval| interval.holds(0.1))
            }));
        false_alarms += usize::from(
            experiment(&mut rng, competitions, seeds, 0.0).is_some_and(|pairs| sign_flip(&pairs, 1).p < 0.05),
        );
    }
    let share = |count: usize| count as f64 / experiments as f64;
    Coverage { held: share(held), false_alarms: share(false_alarms) }
}

fn experiment(rng: &mut Rng, competitions: usize, seeds: usize, shift: f64) -> Option<Pairs> {
    let mut pairs = Vec::new();
    for place in 0..competitions {
        let level = 0.2 + 0.5 * rng.uniform();
        let apart = shift + 0.2 * (rng.uniform() - 0.5);
        let mut runs =
            |chance: f64| (0..seeds).map(|_| f64::from(u8::from(rng.uniform() < chance))).collect();
        pairs.push(Pair { competition: place.to_string(), a: runs(level + apart), b: runs(level) });
    }
    Pairs::new(pairs)
}
