//! The difference between two arms over the competitions that both ran, with two intervals that answer two questions.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use podium_types::rng::Rng;

use super::{mean, variance};

/// The outcomes of two arms on one competition, one per seed; the numbers of seeds may differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The competition.
    pub competition: String,
    /// Outcomes of the first arm.
    pub a: Vec<f64>,
    /// Outcomes of the second.
    pub b: Vec<f64>,
}

impl Pair {
    /// Mean of the first less mean of the second.
    pub fn difference(&self) -> f64 {
        mean(&self.a) - mean(&self.b)
    }

    /// Whether both arms have a run, and no outcome is something else than a number.
    fn is_usable(&self) -> bool {
        let usable =
            |outcomes: &[f64]| !outcomes.is_empty() && outcomes.iter().all(|value| value.is_finite());
        usable(&self.a) && usable(&self.b)
    }
}

/// Competitions that both arms ran, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairs(Vec<Pair>);

impl Pairs {
    /// Those of `pairs` that can be compared: at least one run on either side, and finite outcomes. `None`: there is
    /// none.
    pub fn new(pairs: impl IntoIterator<Item = Pair>) -> Option<Self> {
        let pairs: Vec<Pair> = pairs.into_iter().filter(Pair::is_usable).collect();
        (!pairs.is_empty()).then_some(Self(pairs))
    }

    /// The competitions.
    pub fn iter(&self) -> impl Iterator<Item = &Pair> {
        self.0.iter()
    }

    /// How many they are.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The difference on each, in their order.
    pub fn differences(&self) -> Vec<f64> {
        self.iter().map(Pair::difference).collect()
    }
}

/// From here to there.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// `half` to either side of `centre`.
    pub const fn around(centre: f64, half: f64) -> Self {
        Self { low: centre - half, high: centre + half }
    }

    /// Whether a value is inside, ends included.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

/// How two arms differ, in shares (1 = 100 points), first less second.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Mean over competitions of the difference of their means.
    pub mean: f64,
    /// Standard error for competitions like these: sd of the differences / √competitions.
    pub se: f64,
    /// 95 % interval for competitions like these: mean ± t(0.975, C − 1) · se. None with one competition.
    pub like_these: Option<Interval>,
    /// Standard error for exactly these competitions, from the seeds alone: √(Σ (s²a/na + s²b/nb)) / C. None where no
    /// competition has two runs on either side, so that nothing is known of it.
    pub fixed_se: Option<f64>,
    /// 95 % interval for exactly these competitions: mean ± 1.96 · `fixed_se`.
    pub exactly_these: Option<Interval>,
    /// Competitions on which the first is ahead.
    pub wins: usize,
    /// On which they are level.
    pub ties: usize,
    /// On which the second is ahead.
    pub losses: usize,
}

/// Differences of means below this are rounding.
const LEVEL: f64 = 1e-12;

/// Compares two arms.
pub fn difference(pairs: &Pairs) -> Difference {
    let differences = pairs.differences();
    let count = differences.len();
    let centre = mean(&differences);
    let se = (variance(&differences) / count as f64).sqrt();
    let replicated = pairs.iter().any(|pair| pair.a.len() > 1 || pair.b.len() > 1);
    let fixed_se = replicated.then(|| {
        let of = |outcomes: &[f64]| variance(outcomes) / outcomes.len() as f64;
        pairs.iter().map(|pair| of(&pair.a) + of(&pair.b)).sum::<f64>().sqrt() / count as f64
    });
    let wins = differences.iter().filter(|difference| **difference > LEVEL).count();
    let losses = differences.iter().filter(|difference| **difference < -LEVEL).count();
    Difference {
        mean: centre,
        se,
        like_these: t_quantile(count).map(|t| Interval::around(centre, t * se)),
        fixed_se,
        exactly_these: fixed_se.map(|se| Interval::around(centre, 1.96 * se)),
        wins,
        ties: count - wins - losses,
        losses,
    }
}

/// The 97.5 % point of Student's t for the mean of `count` values; none below two.
pub fn t_quantile(count: usize) -> Option<f64> {
    let freedom = count.checked_sub(1).filter(|freedom| *freedom > 0)?;
    Some(StudentsT::new(0.0, 1.0, freedom as f64).ok()?.inverse_cdf(0.975))
}

/// A 95 % percentile interval by resampling competitions, each with all its seeds (resampling seeds inside as well would
/// count their noise twice). For fewer than ten competitions [`Difference::like_these`] is better. None with one.
pub fn bootstrap(pairs: &Pairs, draws: usize, seed: u64) -> Option<Interval> {
    let differences = pairs.differences();
    if differences.len() < 2 || draws == 0 {
        return None;
    }
    let mut rng = Rng::new(seed);
    let mut means: Vec<f64> = (0..draws)
        .map(|_| {
            let drawn = differences.iter().filter_map(|_| rng.pick(&differences));
            drawn.sum::<f64>() / differences.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    Some(Interval { low: quantile(&means, 0.025)?, high: quantile(&means, 0.975)? })
}

/// A quantile of sorted values, linear between neighbours.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a slice")]
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * (sorted.len().checked_sub(1)? as f64);
    let (below, above) = (place.floor() as usize, place.ceil() as usize);
    let (low, high) = (sorted.get(below)?, sorted.get(above)?);
    Some(low + (high - low) * place.fract())
}
