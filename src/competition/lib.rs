//! Podium: competition.
