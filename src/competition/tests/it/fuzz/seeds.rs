//! The oracle's files as seeds, unpacked one competition at a time when it is first asked for.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use podium_competition::{Catalog, Competition};
use serde_json::Value;

use crate::fuzz::mutate::Random;

/// A submission with its answers.
pub(crate) struct Case {
    pub(crate) competition: String,
    pub(crate) submission: Vec<u8>,
    pub(crate) answers: Vec<u8>,
}

/// All competitions, and the cases of those that were asked for.
pub(crate) struct Seeds {
    ids: Vec<String>,
    catalog: Catalog,
    cases: BTreeMap<String, Vec<Rc<Case>>>,
}

fn benchmark() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark")
}

impl Default for Seeds {
    fn default() -> Self {
        let entries = std::fs::read_dir(benchmark().join("competitions")).unwrap().flatten();
        let texts: BTreeMap<String, String> = entries
            .map(|entry| {
                let name = format!("competitions/{}", entry.file_name().to_string_lossy());
                (name, std::fs::read_to_string(entry.path()).unwrap())
            })
            .collect();
        let catalog = Catalog::from_texts(texts).unwrap();
        let ids = catalog.list().map(|competition| competition.id.clone()).collect();
        Self { ids, catalog, cases: BTreeMap::new() }
    }
}

impl Seeds {
    pub(crate) fn competition(&self, id: &str) -> &Competition {
        self.catalog.get(id).unwrap()
    }

    /// Any case of any competition; a valid one three times out of four.
    pub(crate) fn pick(&mut self, random: &mut Random) -> Rc<Case> {
        let id = self.ids[random.below(self.ids.len())].clone();
        let cases = self.cases.entry(id).or_insert_with_key(|id| unpack(id));
        Rc::clone(&cases[random.below(cases.len())])
    }
}

/// The cases of a competition; those with a score stand three times.
fn unpack(id: &str) -> Vec<Rc<Case>> {
    let archive = std::fs::File::open(benchmark().join(format!("oracle/{id}.tar.gz"))).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(name, bytes);
    }
    let listed: Vec<Value> = serde_json::from_slice(&files["cases.json"]).unwrap();
    let mut cases = Vec::new();
    for case in listed {
        let file = |key: &str| files[case[key].as_str().unwrap()].clone();
        let whole =
            Case { competition: id.to_owned(), submission: file("submission"), answers: file("answers") };
        let whole = Rc::new(whole);
        let times = if case["valid"] == true { 3 } else { 1 };
        cases.extend(std::iter::repeat_n(whole, times));
    }
    cases
}
