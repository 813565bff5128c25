//! `AI4Code`: notebooks with one ancestor stay together; groups go to test in a shuffled order as long as they fit.

use std::collections::HashSet;

use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::frame::Frame;
use crate::prepare::json::Json;
use crate::prepare::native::categories::member;
use crate::prepare::random::RandomState;

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let most = bench.count("test_notebooks")? as usize;
    let ancestors = bench.read("train_ancestors.csv")?;
    let shuffled = ancestors.take(&RandomState::new(0).permutation(ancestors.rows()));
    let ids = shuffled.column("id")?.texts();
    let (mut hidden, mut shown): (HashSet<&String>, HashSet<&String>) = (HashSet::new(), HashSet::new());
    let mut taken = 0;
    for (_, places) in shuffled.groups("ancestor_id")? {
        let fits = taken + places.len() <= most;
        taken += if fits { places.len() } else { 0 };
        let part = if fits { &mut hidden } else { &mut shown };
        part.extend(places.iter().filter_map(|place| ids.get(*place as usize)));
    }
    demand(taken == most, || format!("{taken} notebooks are test, not {most}"))?;
    // A notebook without an ancestor belongs to neither part.
    let kept = |frame: &Frame, wanted: &dyn Fn(&String) -> bool| -> Result<Frame, PrepareError> {
        let ids = frame.column("id")?.texts();
        Ok(frame.filter(|row| ids.get(*row as usize).is_some_and(wanted)))
    };
    bench.copy_each(ids.iter().map(|id| {
        let folder = if hidden.contains(id) { "test" } else { "train" };
        (format!("train/{id}.json"), format!("public/{folder}/{id}.json"))
    }))?;
    let orders = bench.read("train_orders.csv")?;
    bench.write("public/train_orders.csv", &kept(&orders, &|id| shown.contains(id))?)?;
    let answers = kept(&orders, &|id| hidden.contains(id))?;
    bench.write("private/test_orders.csv", &answers)?;
    bench.write("public/train_ancestors.csv", &kept(&shuffled, &|id| !hidden.contains(id))?)?;
    let mut cells = Vec::new();
    for id in answers.column("id")?.texts() {
        let notebook = bench.json(&format!("train/{id}.json"))?;
        let names = member(&notebook, "cell_type")?.members().iter();
        let names: Vec<String> = names.map(|(key, _)| Json::Text(key.clone()).label()).collect();
        cells.push(names.join(" "));
    }
    bench.write("public/sample_submission.csv", &answers.with_texts("cell_order", cells))
}
