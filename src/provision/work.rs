//! One competition, step by step. Beside `prepared` there may stand, until it is ready: the archive (or a part of it), and
//! `.raw.from`, which says that something is still to be done. The archive is read where it lies; only where the raw data
//! are to stay there is `.raw` with what it unpacks to, of the archive that `.raw.from` names. Each is whole as soon as it
//! has its name. A step that was done is found done.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use podium_competition::prepare::{
    self, Hold, PrepareError, Request, prepare_held, remove_tree, unpacked_bytes,
};
use podium_competition::{Folders, Status, folders, md5_of_file, status};
use podium_download::{DownloadError, Service, Wanted, recorded_sum, transfer};
use tokio::runtime::Handle;

use crate::provision::error::ProvisionError;
use crate::provision::event::{Event, Stage, Tell, Telling, instant};
use crate::provision::plan::{Item, Order};
use crate::provision::source::Source;
use crate::provision::space::Promised;

/// Says of which archive `.raw` is.
const FROM: &str = ".raw.from";

/// What all competitions of a batch share.
pub(super) struct Means<'a> {
    pub(super) order: &'a Order<'a>,
    pub(super) service: Option<&'a Service>,
    pub(super) runtime: &'a Handle,
    pub(super) promised: &'a Promised<'a>,
    pub(super) tell: Tell<'a>,
}

/// Does what is still to be done for one competition.
pub(super) fn provide(item: &Item<'_>, means: &Means<'_>) -> Result<Folders, ProvisionError> {
    let (competition, order) = (item.competition, means.order);
    let ready = || folders(order.data_dir, &competition.id);
    if item.source == Source::Ready && !order.data_dir.join(&competition.id).join(FROM).exists() {
        return Ok(ready());
    }
    let hold = Hold::take(order.data_dir, &competition.id)?;
    let place = Place { home: hold.home().to_owned() };
    // It may have become ready while this one waited, or before it was killed.
    if status(order.data_dir, competition) != Status::Prepared {
        let _share = means.promised.take(item.room);
        let (archive, version) = match &item.source {
            Source::Archive(path) => (path.clone(), at_hand(path, item, means)?),
            Source::Remote(path) => (path.clone(), fetch(path, item, means)?),
            Source::Ready => return Ok(ready()),
        };
        instant();
        let raw = if order.keep_raw {
            unpack(&archive, &version, &place, item, means)?;
            place.raw()
        } else {
            place.begin()?;
            has_room(&archive, &place, means)?;
            archive
        };
        instant();
        (means.tell)(Event::Stage { id: &competition.id, stage: Stage::Preparing });
        instant();
        let request = Request { raw: &raw, data_dir: order.data_dir, constants: &BTreeMap::new() };
        prepare_held(competition, &request, &hold)?;
        instant();
    }
    place.tidy(&format!("{}.zip", competition.official_id()), order.keep_raw)?;
    instant();
    Ok(ready())
}

/// Fetches the archive; what its sum is.
fn fetch(to: &Path, item: &Item<'_>, means: &Means<'_>) -> Result<String, ProvisionError> {
    let Some(service) = means.service else { return Err(DownloadError::NoCredentials.into()) };
    let wanted = Wanted { competition: item.competition.official_id(), to, md5: recorded(item, means) };
    let telling = Telling { id: &item.competition.id, tell: means.tell };
    Ok(means.runtime.block_on(service.fetch(&wanted, &telling))?.md5)
}

/// Which version an archive is that is there: by its sum, which was taken when it was fetched or is taken now; or, where any
/// version will do, by its size and time.
fn at_hand(archive: &Path, item: &Item<'_>, means: &Means<'_>) -> Result<String, ProvisionError> {
    let known = recorded_sum(archive);
    let Some(expected) = recorded(item, means) else {
        return known.map_or_else(|| Ok(size_and_time(archive)?), Ok);
    };
    let found = match known {
        Some(sum) => sum,
        None => {
            (means.tell)(Event::Stage { id: &item.competition.id, stage: Stage::Checking });
            md5_of_file(archive).map_err(io_error("read", archive))?
        }
    };
    if found == expected {
        return Ok(found);
    }
    Err(ProvisionError::OtherArchive { archive: archive.to_owned(), found, expected: expected.to_owned() })
}

/// The sum that an archive must have.
fn recorded<'a>(item: &Item<'a>, means: &Means<'_>) -> Option<&'a str> {
    let sums = item.competition.data.md5.as_ref().filter(|_| !means.order.skip_verification)?;
    sums.zip.as_deref()
}

fn size_and_time(path: &Path) -> Result<String, PrepareError> {
    let facts = path.metadata().map_err(io_error("read", path))?;
    let time =
        facts.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Ok(format!("{} bytes of {}", facts.len(), time.as_nanos()))
}

/// Unpacks the archive, unless that was done.
fn unpack(
    archive: &Path,
    version: &str,
    place: &Place,
    item: &Item<'_>,
    means: &Means<'_>,
) -> Result<(), ProvisionError> {
    let (raw, from) = (place.raw(), place.home.join(FROM));
    // What was unpacked is not synced: a machine that went down may have lost some of it.
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let version = format!("{version} {boot}");
    if raw.is_dir() && fs::read_to_string(&from).is_ok_and(|text| text == version) {
        return Ok(());
    }
    (means.tell)(Event::Stage { id: &item.competition.id, stage: Stage::Unpacking });
    let half = place.home.join(".raw.half");
    remove_tree(&raw)?;
    remove_tree(&half)?;
    has_room(archive, place, means)?;
    prepare::unpack(archive, &half)?;
    instant();
    fs::write(&from, version).map_err(io_error("write", &from))?;
    fs::rename(&half, &raw).map_err(io_error("create", &raw))?;
    instant();
    Ok(())
}

/// Refuses an archive whose files there is no room for.
fn has_room(archive: &Path, place: &Place, means: &Means<'_>) -> Result<(), ProvisionError> {
    let (needed, free) = (unpacked_bytes(archive).unwrap_or(0), means.promised.free());
    if needed > free {
        return Err(ProvisionError::NoRoom { needed, free, folder: place.home.clone() });
    }
    Ok(())
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> PrepareError {
    let path = path.to_owned();
    move |source| PrepareError::Io { action, path, source }
}

/// The folder of one competition.
struct Place {
    home: PathBuf,
}

impl Place {
    fn raw(&self) -> PathBuf {
        self.home.join(".raw")
    }

    /// Says that something is to be done here, of an archive that is not unpacked.
    fn begin(&self) -> Result<(), ProvisionError> {
        let from = self.home.join(FROM);
        Ok(fs::write(&from, "read where it lies").map_err(io_error("write", &from))?)
    }

    /// Removes what is not needed any more, or gives it the name under which it stays.
    fn tidy(&self, archive: &str, keep_raw: bool) -> Result<(), ProvisionError> {
        let (raw, kept) = (self.raw(), self.home.join("raw"));
        if keep_raw && raw.is_dir() && !kept.exists() {
            fs::rename(&raw, &kept).map_err(io_error("create", &kept))?;
        }
        remove_tree(&raw)?;
        remove_tree(&self.home.join(".raw.half"))?;
        let archive = self.home.join(archive);
        // One that somebody else put there is theirs. Of one that is gone a kill may have left what belongs to it.
        if !keep_raw && (recorded_sum(&archive).is_some() || !archive.exists()) {
            transfer::remove(&archive)?;
        }
        // The last of it: as long as it is there this is not done.
        let from = self.home.join(FROM);
        match fs::remove_file(&from) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io_error("remove", &from)(error).into())
            }
            _ => Ok(()),
        }
    }
}
