//! The rows, by theme.

mod answers;
mod calls;
mod complaints;
mod counts;
mod cuts;
mod framing;
mod http;
mod statuses;
mod transport;
mod waits;

use super::row::Row;
use super::speech::Protocol;

/// All rows that have a meaning in `protocol`.
pub(super) fn all(protocol: &dyn Protocol) -> Vec<Row> {
    let themes: [fn(&dyn Protocol) -> Vec<Row>; 10] = [
        answers::rows,
        calls::rows,
        complaints::rows,
        counts::rows,
        cuts::rows,
        framing::rows,
        http::rows,
        statuses::rows,
        transport::rows,
        waits::rows,
    ];
    themes.iter().flat_map(|theme| theme(protocol)).collect()
}
