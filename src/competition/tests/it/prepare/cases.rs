//! Unpacks the cases of one competition, prepares them as the catalog says, and compares what comes of it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use podium_competition::prepare::number_text::{shortest, shortest32};
use podium_competition::prepare::parquet::{Kind, Reader};
use podium_competition::prepare::{Request, prepare};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::oracle::cases::competition;

pub(super) fn oracle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benchmark/prepare-oracle")
}

pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files below a folder by their path; folders without a file end in `/`.
pub(super) fn tree(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let name = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        let entries: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        if entries.is_empty() {
            found.insert(format!("{}/", name(&folder)), folder.clone());
        }
        for path in entries {
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(name(&path), path);
            }
        }
    }
    found
}

/// Files of an archive by their names; folder entries of a zip count too.
fn members(archive: &Path) -> BTreeMap<String, Vec<u8>> {
    let kind = archive.extension().and_then(std::ffi::OsStr::to_str);
    let mut found = BTreeMap::new();
    if kind == Some("zip") {
        let mut reader = zip::ZipArchive::new(File::open(archive).unwrap()).unwrap();
        for place in 0..reader.len() {
            let mut entry = reader.by_index(place).unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            found.insert(entry.name().unwrap().into_owned(), bytes);
        }
    } else if kind == Some("7z") {
        let file = File::open(archive).unwrap();
        let mut reader = sevenz_rust2::ArchiveReader::new(file, sevenz_rust2::Password::empty()).unwrap();
        reader
            .for_each_entries(|entry, content| {
                let mut bytes = Vec::new();
                content.read_to_end(&mut bytes)?;
                found.insert(entry.name().to_owned(), bytes);
                Ok(true)
            })
            .unwrap();
    } else {
        let mut reader = tar::Archive::new(File::open(archive).unwrap());
        for entry in reader.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            found.insert(entry.path().unwrap().to_str().unwrap().to_owned(), bytes);
        }
    }
    found
}

/// A parquet file as CSV, after a look at its columns.
fn parquet(path: &Path, columns: &Value) -> String {
    let mut reader = Reader::open(path).unwrap();
    let names: Vec<&str> =
        columns.as_array().unwrap().iter().map(|column| column["name"].as_str().unwrap()).collect();
    let types: Vec<&str> =
        columns.as_array().unwrap().iter().map(|column| column["parquet_type"].as_str().unwrap()).collect();
    let found: Vec<String> =
        reader.columns.iter().map(|(_, kind)| format!("{kind:?}").to_uppercase()).collect();
    assert_eq!(found, types);
    assert!(reader.columns.iter().map(|(name, _)| name.as_str()).eq(names.iter().copied()));
    let mut text = format!("{}\n", names.join(","));
    for group in 0..reader.groups() {
        let columns: Vec<_> = (0..names.len()).map(|column| reader.column(group, column).unwrap()).collect();
        for row in 0..columns[0].bits.len() {
            let cells = columns.iter().map(|column| match (column.kind, column.bits[row]) {
                _ if !column.is_known(row) => String::new(),
                (Kind::Float, bits) => shortest32(f32::from_bits(u32::try_from(bits).unwrap())),
                (Kind::Double, bits) => shortest(f64::from_bits(bits)),
                _ => column.integer(row).unwrap().to_string(),
            });
            text.push_str(&format!("{}\n", cells.collect::<Vec<_>>().join(",")));
        }
    }
    text
}

/// What is wrong with one file; `values` holds what is in parquet files.
fn judge(file: &Value, found: &Path, values: &Path) -> Result<(), String> {
    match file["compare"].as_str().unwrap() {
        "bytes" => {
            let bytes = std::fs::read(found).unwrap();
            if digest(&bytes) == file["sha256"].as_str().unwrap() {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let head: String = text.chars().take(400).collect();
            Err(format!("{} bytes, not {}: {head}", bytes.len(), file["size"]))
        }
        "members" => {
            let found = members(found);
            let listed = file["members"].as_array().unwrap();
            // The official archives of one competition hold nothing but a folder by a defect; ours hold the images.
            if listed.iter().any(|member| {
                member["dir"] == true && member["name"].as_str().unwrap().starts_with("public/")
            }) {
                return if found.is_empty() { Err("no image".to_owned()) } else { Ok(()) };
            }
            let expected: BTreeMap<&str, &str> = listed
                .iter()
                .map(|member| {
                    (member["name"].as_str().unwrap(), member["sha256"].as_str().unwrap_or_default())
                })
                .collect();
            let ours: BTreeMap<&str, String> = found
                .iter()
                .map(|(name, bytes)| {
                    (name.as_str(), if name.ends_with('/') { String::new() } else { digest(bytes) })
                })
                .collect();
            let same = ours
                .iter()
                .map(|(name, sum)| (*name, sum.as_str()))
                .eq(expected.iter().map(|(a, b)| (*a, *b)));
            if same { Ok(()) } else { Err(format!("{:?}, not {:?}", ours.keys(), expected.keys())) }
        }
        "parquet" => {
            let expected =
                std::fs::read_to_string(values.join(format!("{}.csv", file["path"].as_str().unwrap())))
                    .unwrap();
            let found = parquet(found, &file["content"]["columns"]);
            if found == expected { Ok(()) } else { Err(format!("{found}\nnot\n{expected}")) }
        }
        other => Err(format!("compared as {other}")),
    }
}

/// Constants of a case by the name that the catalog gives them: those whose real value is the same.
pub(super) fn constants(known: &BTreeMap<String, i64>, case: &Value) -> BTreeMap<String, i64> {
    let listed = case["constants"].as_array().into_iter().flatten();
    listed
        .map(|pair| {
            let real = pair["real"].as_i64().unwrap();
            let (name, _) = known.iter().find(|(_, value)| **value == real).unwrap();
            (name.clone(), pair["oracle"].as_i64().unwrap())
        })
        .collect()
}

/// Prepares all cases of a competition.
pub(super) fn check(id: &str) {
    let place = tempfile::tempdir().unwrap();
    let archive = oracle().join(format!("{id}.tar.gz"));
    tar::Archive::new(GzDecoder::new(File::open(archive).unwrap())).unpack(place.path()).unwrap();
    let competition = competition(id);
    let Some(preparation) = &competition.prepare else {
        let line = format!("{id}: no native preparation yet\n");
        return skip(&line);
    };
    let (mut faults, mut files, mut cases) = (Vec::new(), 0, 0);
    for case in ["case1", "case2"] {
        let folder = place.path().join(case);
        if !folder.exists() {
            continue;
        }
        let expected: Value =
            serde_json::from_slice(&std::fs::read(folder.join("expected.json")).unwrap()).unwrap();
        let constants = constants(&preparation.constants, &expected);
        cases += 1;
        // The download is a folder, or its archive as it was fetched: both give the same.
        let raw = folder.join("raw");
        let archive = folder.join("download.zip");
        pack(&raw, &archive);
        for raw in [raw, archive] {
            let data_dir = raw.with_extension("data");
            let request = Request { raw: &raw, data_dir: &data_dir, constants: &constants };
            let begins = format!("{case} of {}", raw.file_name().unwrap().display());
            if let Err(error) = prepare(&competition, &request) {
                faults.push(format!("{begins}: {error}: {:?}", std::error::Error::source(&error)));
                continue;
            }
            let prepared = data_dir.join(id).join("prepared");
            let found = compare(&expected, &prepared, &folder.join("values"));
            faults.extend(found.iter().map(|fault| format!("{begins}: {fault}")));
        }
        files += expected["files"].as_array().unwrap().len();
    }
    assert!(faults.is_empty(), "{id}: {} faults\n{}", faults.len(), faults.join("\n"));
    println!("{id}: {files} files of {cases} cases");
}

/// What is wrong with what was prepared.
fn compare(expected: &Value, prepared: &Path, values: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let mut found = tree(prepared);
    for file in expected["files"].as_array().unwrap() {
        let path = file["path"].as_str().unwrap();
        match found.remove(path) {
            None => faults.push(format!("{path} is missing")),
            Some(found) => {
                faults.extend(judge(file, &found, values).err().map(|fault| format!("{path}: {fault}")));
            }
        }
    }
    for empty in expected["empty_dirs"].as_array().into_iter().flatten() {
        let path = format!("{}/", empty.as_str().unwrap().trim_end_matches('/'));
        if found.remove(&path).is_none() {
            faults.push(format!("the empty folder {path} is missing"));
        }
    }
    faults.extend(found.keys().map(|path| format!("{path} is too much")));
    faults
}

/// A download as Kaggle packs it; every other file is stored, so that both ways of reading one are tried.
fn pack(raw: &Path, archive: &Path) {
    let mut writer = zip::ZipWriter::new(std::io::BufWriter::new(File::create(archive).unwrap()));
    for (number, (name, path)) in tree(raw).into_iter().enumerate() {
        let method = [zip::CompressionMethod::Deflated, zip::CompressionMethod::Stored][number % 2];
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        if name.ends_with('/') {
            writer.add_directory(name, options).unwrap();
        } else {
            writer.start_file(name, options).unwrap();
            std::io::copy(&mut File::open(path).unwrap(), &mut writer).unwrap();
        }
    }
    writer.finish().unwrap();
}

fn skip(line: &str) {
    use std::io::Write;
    println!("{line}");
    if let Some(path) = std::env::var_os("PODIUM_SKIPS") {
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

/// Every archive of the oracle has a test.
pub(super) fn check_list(ids: &[&str]) {
    let mut archives: Vec<String> = std::fs::read_dir(oracle())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".tar.gz").map(str::to_owned))
        .filter(|name| name != "blocks")
        .collect();
    archives.sort();
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    assert_eq!(archives, ids);
}
