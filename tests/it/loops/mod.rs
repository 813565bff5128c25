//! Loops from outside, whichever strategy is behind them: what kills leave of one, and how one is shown.

pub(crate) mod kills;
mod log;
mod offline;
mod stops;
