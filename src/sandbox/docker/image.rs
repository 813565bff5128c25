//! The image: one of the user's, or Podium's own, made from nothing.
//!
//! Podium's own image holds no program: links as the machine has them in its root, and a name service file. The
//! machine's `/usr` is mounted into it read-only, so that the Python environment works in it as it does in a jail, and
//! no registry is needed. An image is never pulled: that would be a download nobody asked for.

use std::path::{Path, PathBuf};

use bollard::{body_full, models::ImageInspect, query_parameters::CreateImageOptions};
use bytes::Bytes;
use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};

use super::{
    engine::{Engine, refused, status},
    settings::DockerSettings,
};
use crate::{SandboxError, collect::hex, jail::root};

/// Name of Podium's own image; the tag tells its content.
const NAME: &str = "podium-root";
const NSSWITCH: &str = "passwd: files\ngroup: files\nhosts: files dns\n";
/// Folders that are mount points, or empty.
const FOLDERS: [&str; 9] = ["usr", "etc", "proc", "sys", "dev", "tmp", "sbin", "root", "workspace"];

/// An image that is there.
#[derive(Clone, Debug)]
pub(super) struct Image {
    /// As it was named.
    pub(super) name: String,
    /// The id by which containers are made, so that a tag that moves changes nothing.
    pub(super) id: String,
    /// Podium's own: it needs the machine's `/usr`.
    pub(super) own: bool,
    /// Paths that the image declares as volumes.
    pub(super) volumes: Vec<String>,
}

impl Image {
    /// Finds the image, or makes Podium's own.
    pub(super) async fn find(engine: &Engine, settings: &DockerSettings) -> Result<Self, SandboxError> {
        let Some(name) = &settings.image else { return Self::own(engine).await };
        match engine.client.inspect_image(name).await {
            Ok(found) => Ok(Self::from(name, false, found)),
            Err(error) if status(&error) == Some(404) => Err(SandboxError::NoImage { image: name.clone() }),
            Err(error) => Err(refused("looking for an image")(error)),
        }
    }

    async fn own(engine: &Engine) -> Result<Self, SandboxError> {
        let archive = archive().map_err(|source| SandboxError::System { call: "making an image", source })?;
        let tag: String = hex(&Sha256::digest(&archive)).chars().take(12).collect();
        let name = format!("{NAME}:{tag}");
        match engine.client.inspect_image(&name).await {
            Ok(found) => return Ok(Self::from(&name, true, found)),
            Err(error) if status(&error) == Some(404) => {}
            Err(error) => return Err(refused("looking for an image")(error)),
        }
        let options = CreateImageOptions {
            from_src: Some("-".to_owned()),
            repo: Some(NAME.to_owned()),
            tag: Some(tag),
            message: Some("an empty root for Podium's sandbox".to_owned()),
            ..CreateImageOptions::default()
        };
        let steps = engine.client.create_image(Some(options), Some(body_full(Bytes::from(archive))), None);
        steps.try_for_each(|_| async { Ok(()) }).await.map_err(refused("importing an image"))?;
        let found = engine.client.inspect_image(&name).await.map_err(refused("looking for an image"))?;
        Ok(Self::from(&name, true, found))
    }

    fn from(name: &str, own: bool, found: ImageInspect) -> Self {
        let volumes = found.config.and_then(|config| config.volumes).unwrap_or_default();
        Self { name: name.to_owned(), id: found.id.unwrap_or_else(|| name.to_owned()), own, volumes }
    }

    /// Host folders that the image needs, at the same path.
    pub(super) fn mounts(&self) -> Vec<PathBuf> {
        if !self.own {
            return Vec::new();
        }
        let plain = |folder: &&str| Path::new(folder).is_dir() && std::fs::read_link(folder).is_err();
        // The engine's init process stands in `/sbin`, which therefore is the image's own.
        let folders = root::LINKED.into_iter().filter(|folder| *folder != "/sbin").filter(plain);
        let etc = root::ETC.into_iter().filter(|path| Path::new(path).exists());
        ["/usr"].into_iter().chain(folders).chain(etc).map(PathBuf::from).collect()
    }
}

/// The root as an archive, the same bytes for the same machine.
fn archive() -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for folder in FOLDERS {
        // A runtime gives what is mounted over a folder that folder's own mode.
        let mode = if folder == "tmp" { 0o1777 } else { 0o755 };
        archive.append_data(&mut header(tar::EntryType::Directory, mode, 0), folder, std::io::empty())?;
    }
    for path in root::LINKED.into_iter().filter(|path| *path != "/sbin") {
        let name = path.trim_start_matches('/');
        match std::fs::read_link(path) {
            Ok(target) => {
                archive.append_link(&mut header(tar::EntryType::Symlink, 0o777, 0), name, target)?;
            }
            Err(_) if Path::new(path).is_dir() => {
                archive.append_data(
                    &mut header(tar::EntryType::Directory, 0o755, 0),
                    name,
                    std::io::empty(),
                )?;
            }
            Err(_) => {}
        }
    }
    // Python's `ctypes.util` looks for it there.
    archive.append_link(
        &mut header(tar::EntryType::Symlink, 0o777, 0),
        "sbin/ldconfig",
        "../usr/sbin/ldconfig",
    )?;
    let size = NSSWITCH.len() as u64;
    archive.append_data(
        &mut header(tar::EntryType::Regular, 0o444, size),
        "etc/nsswitch.conf",
        NSSWITCH.as_bytes(),
    )?;
    archive.into_inner()
}

fn header(kind: tar::EntryType, mode: u32, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header
}
