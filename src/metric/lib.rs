//! Podium: metric.
