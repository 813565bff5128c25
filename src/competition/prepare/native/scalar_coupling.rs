//! champs-scalar-coupling: whole molecules are parted. The other tables are published for train molecules only, `structures`
//! too, which is a known fault of the official preparation and kept.

use std::collections::{BTreeSet, HashSet};

use crate::csv::MixedCell;
use crate::prepare::bench::Workbench;
use crate::prepare::error::{PrepareError, demand};
use crate::prepare::parts::{at, rows};
use crate::prepare::split::{Size, train_test_split};

const TABLES: [&str; 6] = [
    "structures",
    "dipole_moments",
    "magnetic_shielding_tensors",
    "mulliken_charges",
    "potential_energy",
    "scalar_coupling_contributions",
];
const TARGET: &str = "scalar_coupling_constant";

pub(crate) fn run(bench: &Workbench<'_>) -> Result<(), PrepareError> {
    let frame = bench.read("train.csv")?;
    let mut molecules = frame.groups("molecule_name")?;
    molecules.sort();
    let parts = train_test_split(rows(&molecules), Size::Test(0.1), 0);
    let (train, test) = (at(&molecules, &parts.train), at(&molecules, &parts.test));
    let joined = |groups: &[(String, Vec<u32>)]| {
        let places: Vec<u32> = groups.iter().flat_map(|(_, places)| places.iter().copied()).collect();
        frame.take(&places)
    };
    let answers = joined(&test);
    bench.write("private/answers.csv", &answers)?;
    bench.write("public/test.csv", &answers.without(&[TARGET])?)?;
    bench.write("public/train.csv", &joined(&train))?;
    let sample = answers.keep(&["id", TARGET])?.with_same(TARGET, MixedCell::Integer(0));
    bench.write("public/sample_submission.csv", &sample)?;
    let shown: HashSet<&String> = train.iter().map(|(name, _)| name).collect();
    for table in TABLES {
        let frame = bench.read(&format!("{table}.csv"))?;
        let names = frame.column("molecule_name")?.texts();
        let frame = frame.filter(|row| names.get(*row as usize).is_some_and(|name| shown.contains(name)));
        let found: BTreeSet<&String> = names.iter().filter(|name| shown.contains(name)).collect();
        demand(found.len() == shown.len(), || format!("{table}.csv lacks molecules of train"))?;
        bench.write(&format!("public/{table}.csv"), &frame)?;
    }
    bench.copy_each(train.iter().map(|(name, _)| {
        let path = format!("structures/{name}.xyz");
        (path.clone(), format!("public/{path}"))
    }))
}
