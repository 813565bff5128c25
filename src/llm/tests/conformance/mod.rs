//! The table of faults: what a server does, and what the client makes of it, over every protocol where it has a
//! meaning. The rows stand in `rows/` by theme, what a model says in each protocol in `speech/`, what must hold
//! whatever happens in `run`.

mod bounds;
mod connections;
mod memory;
mod mutations;
mod row;
mod rows;
mod run;
mod speech;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};

use speech::PROTOCOLS;

/// Rows under way at once.
const AT_ONCE: usize = 16;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fault_over_every_protocol() {
    let mut kinds = BTreeSet::new();
    let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for protocol in PROTOCOLS {
        for row in rows::all(protocol) {
            kinds.insert(row.name.clone());
            *ran.entry(protocol.name()).or_default() += 1;
            all.push((protocol, row));
        }
    }
    let total = all.len();
    let results = stream::iter(all).map(|(protocol, row)| async move {
        let name = row.name.clone();
        // A panic inside the client must fail its row by name.
        let problem = match tokio::spawn(run::run(protocol, row)).await {
            Ok(Ok(())) => return None,
            Ok(Err(problem)) => problem,
            Err(error) => format!("panicked: {error}"),
        };
        Some(format!("{}: {name}: {problem}", protocol.name()))
    });
    let wrong: Vec<String> = results.buffer_unordered(AT_ONCE).filter_map(std::future::ready).collect().await;
    println!("{} rows over {} protocols, {total} in all: {ran:?}", kinds.len(), ran.len());
    assert!(wrong.is_empty(), "{} of {total} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
