//! How long the rest of an experiment may take, by how long its runs took so far: those of the same arm, where there
//! are any. Runs of different scaffolds differ by orders of magnitude, so a mean over all would swing with the order.

use std::collections::BTreeMap;

use crate::experiment::spec::Arm;

/// What runs took so far.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    arms: BTreeMap<Arm, Times>,
    all: Times,
}

#[derive(Clone, Copy, Debug, Default)]
struct Times {
    seconds: f64,
    runs: u32,
}

impl Times {
    fn add(&mut self, seconds: f64) {
        self.seconds += seconds;
        self.runs += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.runs > 0).then(|| self.seconds / f64::from(self.runs))
    }
}

impl Estimate {
    /// A run of this arm took so many seconds.
    pub fn took(&mut self, arm: &Arm, seconds: f64) {
        self.arms.entry(arm.clone()).or_default().add(seconds);
        self.all.add(seconds);
    }

    fn expected(&self, arm: &Arm) -> Option<f64> {
        self.arms.get(arm).copied().and_then(Times::mean).or_else(|| self.all.mean())
    }

    /// Seconds until all is done, with so many runs at a time; none before the first run has ended. `going` are runs
    /// with the seconds that they have taken so far.
    pub fn left<'a>(
        &self,
        waiting: impl Iterator<Item = &'a Arm>,
        going: impl Iterator<Item = (&'a Arm, f64)>,
        at_once: usize,
    ) -> Option<f64> {
        self.all.mean()?;
        let (mut sum, mut longest) = (0.0, 0.0_f64);
        for arm in waiting {
            sum += self.expected(arm)?;
        }
        for (arm, taken) in going {
            let rest = (self.expected(arm)? - taken).max(0.0);
            sum += rest;
            longest = longest.max(rest);
        }
        Some((sum / at_once.max(1) as f64).max(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_are_told_apart() {
        let arm = |name: &str| Arm::from([("scaffold".to_owned(), name.to_owned())]);
        let (slow, quick, new) = (arm("aide"), arm("dummy"), arm("mlab"));
        let mut estimate = Estimate::default();
        let none = || std::iter::empty::<(&Arm, f64)>();
        assert_eq!(estimate.left([&slow].into_iter(), none(), 1), None);
        for seconds in [90.0, 110.0] {
            estimate.took(&slow, seconds);
        }
        estimate.took(&quick, 1.0);
        assert_eq!(estimate.left([&slow, &quick, &quick].into_iter(), none(), 2), Some(51.0));
        assert_eq!(estimate.left([&new].into_iter(), none(), 1), Some(67.0), "the mean of all");
        let going = [(&slow, 30.0), (&quick, 9.0)];
        let waiting = std::iter::empty::<&Arm>();
        assert_eq!(estimate.left(waiting, going.into_iter(), 2), Some(70.0), "the longest rest");
    }
}
