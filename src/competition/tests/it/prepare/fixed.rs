//! The fixed variants: the same data as the original's without what tells the answers, stored apart; and the raw data are as
//! they were, also where the result may share its files with them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;

use flate2::read::GzDecoder;
use podium_competition::prepare::{Request, prepare};
use podium_competition::{Catalog, Competition};

use super::cases::{digest, oracle, tree};

pub(super) fn catalog(id: &str) -> Catalog {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark/competitions");
    let text = std::fs::read_to_string(folder.join(format!("{id}.toml"))).unwrap();
    Catalog::from_texts([(format!("competitions/{id}.toml"), text)].into()).unwrap()
}

fn digests(root: &Path) -> BTreeMap<String, String> {
    let digested =
        |path: &Path| if path.is_dir() { String::new() } else { digest(&std::fs::read(path).unwrap()) };
    tree(root).into_iter().map(|(name, path)| (name, digested(&path))).collect()
}

/// Unpacks the first case of a competition.
fn unpacked(id: &str, place: &Path) -> std::path::PathBuf {
    let archive = File::open(oracle().join(format!("{id}.tar.gz"))).unwrap();
    tar::Archive::new(GzDecoder::new(archive)).unpack(place.join(id)).unwrap();
    place.join(id).join("case1/raw")
}

#[test]
fn a_fixed_variant_lacks_what_tells_the_answers_and_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let data_dir = place.path().join("data");
    for (id, gone, changed) in [
        ("hubmap-kidney-segmentation", ".json", &[][..]),
        ("smartphone-decimeter-2022", "/span_log.nmea", &[]),
        (
            "random-acts-of-pizza",
            "",
            &["public/test.json", "public/test.zip", "public/train.json", "public/train.zip"],
        ),
        ("multi-modal-gesture-recognition", "", &["public/test.tar.gz"]),
    ] {
        let raw = unpacked(id, place.path());
        if id.starts_with("smartphone") {
            for entry in tree(&raw).into_values().filter(|path| path.ends_with("ground_truth.csv")) {
                let log = entry.with_file_name("supplemental").join("span_log.nmea");
                std::fs::create_dir_all(log.parent().unwrap()).unwrap();
                std::fs::write(log, "$GPGGA").unwrap();
            }
        }
        let before = digests(&raw);
        let catalog = catalog(id);
        let (original, variant) = (catalog.get(id).unwrap(), catalog.fixed(id).unwrap());
        let constants: BTreeMap<String, i64> = constants(place.path(), original);
        let made = [original, variant].map(|competition| {
            let request =
                Request { raw: &raw, data_dir: &data_dir, raw_is_ours: true, constants: &constants };
            prepare(competition, &request).unwrap();
            digests(&data_dir.join(&competition.id).join("prepared"))
        });
        assert_eq!(digests(&raw), before, "{id}: the raw data were changed");
        let [whole, fixed] = made;
        let lacking: BTreeSet<&String> = whole.keys().filter(|name| !fixed.contains_key(*name)).collect();
        assert_eq!(lacking.is_empty(), gone.is_empty(), "{id}: {lacking:?}");
        for name in &lacking {
            assert!(name.starts_with("public/test/") && name.ends_with(gone), "{id}: {name}");
            assert!(!name.ends_with("-anatomical-structure.json"), "{name}");
        }
        assert!(fixed.keys().all(|name| whole.contains_key(name)), "{id}");
        let other: Vec<&str> =
            fixed.iter().filter(|(name, sum)| whole[*name] != **sum).map(|(name, _)| name.as_str()).collect();
        assert_eq!(other, changed, "{id}");
        assert!(variant.splits.is_empty() && variant.known_issues.is_empty(), "{id}");
        assert_eq!(variant.official_id(), id);
        assert!(!catalog.list().any(|listed| listed.id == variant.id), "{id}");
    }
    // What the archive of samples holds now.
    let packed =
        File::open(data_dir.join("multi-modal-gesture-recognition-fixed/prepared/public/test.tar.gz"));
    for entry in tar::Archive::new(packed.unwrap()).entries().unwrap() {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry.unwrap(), &mut bytes).unwrap();
        let sample = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
        assert!(sample.file_names().all(|name| !name.unwrap().ends_with(".mat")));
    }
}

/// The case's own numbers.
fn constants(place: &Path, competition: &Competition) -> BTreeMap<String, i64> {
    let text = std::fs::read(place.join(&competition.id).join("case1/expected.json")).unwrap();
    super::cases::constants(
        &competition.prepare.as_ref().unwrap().constants,
        &serde_json::from_slice(&text).unwrap(),
    )
}
