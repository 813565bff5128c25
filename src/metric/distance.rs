//! Errors of directions and of places on a sphere. Angles are radians unless a function says degrees.

use crate::error::{MetricError, same_length};
use crate::sum::mean;

/// A direction in space: the azimuth around the pole and the zenith angle from it, in radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Direction3 {
    /// Around the pole.
    pub azimuth: f64,
    /// From the pole.
    pub zenith: f64,
}

/// Angle between two directions: `arccos(u · v)` of their unit vectors.
///
/// Near 0 and π the arc cosine magnifies rounding to about 1e-8. Range 0 to π.
pub fn angle_between(left: Direction3, right: Direction3) -> f64 {
    let (left_azimuth, right_azimuth) = (left.azimuth.sin_cos(), right.azimuth.sin_cos());
    let (left_zenith, right_zenith) = (left.zenith.sin_cos(), right.zenith.sin_cos());
    let around = left_azimuth.1 * right_azimuth.1 + left_azimuth.0 * right_azimuth.0;
    let product = left_zenith.0 * right_zenith.0 * around + left_zenith.1 * right_zenith.1;
    product.clamp(-1.0, 1.0).acos().abs()
}

/// Mean [`angle_between`] true and predicted directions, in radians.
///
/// Range 0 to π, lower is better. Source: Kaggle's `mean-angular-error` of `IceCube`.
pub fn mean_angular_error(truth: &[Direction3], predicted: &[Direction3]) -> Result<f64, MetricError> {
    same_length(truth.len(), predicted.len())?;
    let angles: Vec<f64> =
        truth.iter().zip(predicted).map(|(truth, guess)| angle_between(*truth, *guess)).collect();
    Ok(mean(&angles))
}

/// A place on a sphere, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// North of the equator.
    pub latitude: f64,
    /// East of the meridian.
    pub longitude: f64,
}

/// Mean radius of the earth in metres, as the decimeter challenges round it.
pub const EARTH_RADIUS: f64 = 6_371_000.0;

/// A place on a sphere in radians, with the cosine of its latitude as it was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Angles {
    /// North of the equator.
    pub latitude: f64,
    /// Cosine of the latitude.
    pub cosine: f64,
    /// East of the meridian.
    pub longitude: f64,
}

impl From<Place> for Angles {
    fn from(place: Place) -> Self {
        let latitude = place.latitude.to_radians();
        Self { latitude, cosine: latitude.cos(), longitude: place.longitude.to_radians() }
    }
}

/// Distance along the sphere: `2r·arcsin √(sin²(Δφ/2) + cos φ₁·cos φ₂·sin²(Δλ/2))`, in the unit of the radius.
///
/// NaN where a coordinate is none or infinite, and where a latitude beyond the pole takes the root out of 0 to 1.
/// Range 0 to π·r. Source: the haversine formula.
pub fn haversine(left: impl Into<Angles>, right: impl Into<Angles>, radius: f64) -> f64 {
    let (left, right) = (left.into(), right.into());
    let latitudes = ((left.latitude - right.latitude) / 2.0).sin();
    let longitudes = ((left.longitude - right.longitude) / 2.0).sin();
    let share = latitudes * latitudes + left.cosine * right.cosine * (longitudes * longitudes);
    2.0 * radius * share.sqrt().asin()
}

/// The `q`-quantile, linear between order statistics: position `q·(n − 1)`.
///
/// NaN of nothing and where a value is NaN. `q` is cut to 0 … 1. Source: `numpy.quantile`.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    if values.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let position = q.clamp(0.0, 1.0) * (sorted.len().max(1) - 1) as f64;
    let share = position.fract();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to the length of a slice"
    )]
    let below = position as usize;
    let Some(low) = sorted.get(below).copied() else { return f64::NAN };
    let high = sorted.get(below + 1).copied().unwrap_or(low);
    // As NumPy interpolates: from the nearer end.
    if share >= 0.5 { high - (high - low) * (1.0 - share) } else { low + (high - low) * share }
}
