//! Podium: sandbox.
