//! How long to wait before the next try: longer after each failure, with jitter, at least as long as the service asks.
//! Progress makes patience new, so that a transfer of a terabyte may be cut any number of times.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// A service that asks for a longer wait is not waited for.
const LONGEST: Duration = Duration::from_mins(15);

/// The waits of one piece of work.
#[derive(Debug)]
pub(crate) struct Patience {
    builder: ExponentialBuilder,
    waits: ExponentialBackoff,
}

impl Patience {
    /// `tries` in all, at first half a second apart.
    pub(crate) fn new(tries: usize) -> Self {
        let builder = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(500))
            .with_max_delay(Duration::from_mins(1))
            .with_max_times(tries.saturating_sub(1))
            .with_jitter();
        Self { builder, waits: builder.build() }
    }

    /// The next wait, where there is a next try. A wait that is asked for is kept to the letter, zero included.
    pub(crate) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let usual = self.waits.next()?;
        match asked {
            Some(asked) => (asked <= LONGEST).then_some(asked),
            None => Some(usual),
        }
    }

    /// Begins anew.
    pub(crate) fn renew(&mut self) {
        self.waits = self.builder.build();
    }
}
