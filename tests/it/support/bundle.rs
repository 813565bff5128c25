//! The bundle of an experiment, taken apart, changed, and packed again as the program packs.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};

/// The files of a bundle, in its order.
#[derive(Clone)]
pub(crate) struct Files(pub(crate) Vec<(String, Vec<u8>)>);

impl Files {
    /// All of them, one after the other.
    pub(crate) fn concat_all(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// Changes the first file whose name ends so; returns its name.
    pub(crate) fn change(&mut self, end: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
        let (name, bytes) = self.0.iter_mut().find(|(name, _)| name.ends_with(end)).unwrap();
        change(bytes);
        name.clone()
    }

    /// A manifest that fits the files, as a forger would write it.
    pub(crate) fn relist(&mut self) {
        let files: Vec<Value> = self.0[1..]
            .iter()
            .map(|(path, bytes)| json!({"path": path, "bytes": bytes.len(), "sha256": hash(bytes)}))
            .collect();
        // In the order of the fields, as the program writes them.
        let files: Vec<String> = files
            .iter()
            .map(|file| {
                format!(
                    "    {{\n      \"path\": {},\n      \"bytes\": {},\n      \"sha256\": {}\n    }}",
                    file["path"], file["bytes"], file["sha256"]
                )
            })
            .collect();
        self.0[0].1 =
            format!("{{\n  \"format\": 1,\n  \"files\": [\n{}\n  ]\n}}", files.join(",\n")).into_bytes();
    }

    /// As the program packs them.
    pub(crate) fn packed(&self) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        for (name, bytes) in &self.0 {
            add(&mut archive, name, tar::EntryType::Regular, bytes);
        }
        compressed(&archive.into_inner().unwrap())
    }
}

/// One entry of an archive, whatever its name and kind.
pub(crate) fn add(archive: &mut tar::Builder<Vec<u8>>, name: &str, kind: tar::EntryType, bytes: &[u8]) {
    let mut header = tar::Header::new_ustar();
    // A short name as it is: the library would not write every one.
    match header.as_ustar_mut().unwrap().name.get_mut(..name.len()) {
        Some(field) => field.copy_from_slice(name.as_bytes()),
        None => header.set_path(name).unwrap(),
    }
    if kind != tar::EntryType::Regular {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_entry_type(kind);
    header.set_size(bytes.len() as u64);
    for set in [tar::Header::set_uid, tar::Header::set_gid, tar::Header::set_mtime] {
        set(&mut header, 0);
    }
    header.set_mode(0o644);
    header.set_cksum();
    archive.append(&header, bytes).unwrap();
}

/// As the program compresses.
pub(crate) fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::GzBuilder::new().mtime(0).write(Vec::new(), flate2::Compression::default());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// The archive itself.
pub(crate) fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

/// The files of a bundle.
pub(crate) fn unpacked(bytes: &[u8]) -> Files {
    let plain = decompressed(bytes);
    let mut archive = tar::Archive::new(plain.as_slice());
    let read = |entry: std::io::Result<tar::Entry<'_, &[u8]>>| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    };
    Files(archive.entries().unwrap().map(read).collect())
}

/// A SHA-256, as the program writes it.
pub(crate) fn hash(bytes: &[u8]) -> String {
    podium_types::sha256::Sha256::of(bytes).to_string()
}
