//! Podium.
