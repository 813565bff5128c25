//! One archive to one file: cut, throttled, killed and damaged transfers go on until the file is whole and its sum is
//! right, or nothing comes any more however often it is asked for.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::DownloadError;
use crate::part::{self, Origin, Part};
use crate::patience::Patience;
use crate::service::{Offer, Service, Settings, Told, causes};

/// What is to be fetched.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The competition.
    pub competition: &'a str,
    /// Where the archive goes.
    pub to: &'a Path,
    /// The recorded MD5 sum; any version will do where there is none.
    pub md5: Option<&'a str>,
}

/// What came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Size of the archive.
    pub bytes: u64,
    /// Its MD5 sum.
    pub md5: String,
}

/// Who looks on while an archive comes.
pub trait Watch: Sync {
    /// So many bytes are there from before.
    fn there(&self, _bytes: u64) {}
    /// A connection brings the rest: the archive has so many bytes, of which so many are there already.
    fn begun(&self, _there: u64, _bytes: Option<u64>) {}
    /// So many bytes more have come and are on the disk.
    fn came(&self, _bytes: u64) {}
    /// So many bytes that had come are of no use.
    fn lost(&self, _bytes: u64) {}
    /// It did not work, and is tried again after a while.
    fn again(&self, _why: &DownloadError, _after: Duration) {}
}

/// Nobody looks on.
impl Watch for () {}

impl Service {
    /// Asks whether this account may have the archive, and how large it is.
    pub async fn look(&self, competition: &str, watch: &dyn Watch) -> Result<Offer, DownloadError> {
        let mut patience = Patience::new(self.settings.tries);
        loop {
            match self.open(competition, Some("bytes=0-0".to_owned())).await {
                Ok(response) => return Ok(Offer { bytes: Told::by(&response).bytes }),
                Err(error) => wait(error, &mut patience, watch).await?,
            }
        }
    }

    /// Fetches the archive, or the rest of it.
    pub async fn fetch(&self, wanted: &Wanted<'_>, watch: &dyn Watch) -> Result<Fetched, DownloadError> {
        let mut part = Part::open(wanted.to)?;
        let mut patience = Patience::new(self.settings.tries);
        let mut farthest = part.bytes;
        let mut sums: Vec<String> = Vec::new();
        watch.there(part.bytes);
        loop {
            match self.go_on(wanted.competition, &mut part, watch).await {
                Ok(()) => match judge(wanted, &part, &mut sums) {
                    Ok(fetched) => return part.finish().map(|()| fetched),
                    Err(other @ DownloadError::OtherVersion { .. }) => {
                        part.finish()?;
                        return Err(other);
                    }
                    Err(error) => {
                        watch.lost(part.bytes);
                        part.restart()?;
                        wait(error, &mut patience, watch).await?;
                    }
                },
                Err(error) => {
                    if part.bytes > farthest {
                        farthest = part.bytes;
                        // A service that trickles for ever makes no progress that is worth waiting for.
                        if !matches!(error, DownloadError::Slow { .. }) {
                            patience.renew();
                        }
                    }
                    wait(error, &mut patience, watch).await?;
                }
            }
        }
    }

    /// One connection: what is missing, as far as it comes.
    async fn go_on(
        &self,
        competition: &str,
        part: &mut Part,
        watch: &dyn Watch,
    ) -> Result<(), DownloadError> {
        if part.is_whole() {
            return Ok(());
        }
        let range = (part.bytes > 0).then(|| format!("bytes={}-", part.bytes));
        let mut response = match self.open(competition, range).await {
            // There is no such byte: the archive is another, or its size was not told before.
            Err(error @ DownloadError::Status { status: 416, .. }) => {
                watch.lost(part.bytes);
                part.restart()?;
                return Err(error);
            }
            opened => opened?,
        };
        let told = Told::by(&response);
        let begins = told.from.unwrap_or(0);
        let now = Origin { bytes: told.bytes, version: told.version, md5: told.md5 };
        let same = begins == part.bytes && is_same(&part.origin, &now);
        if part.bytes > 0 && !same {
            watch.lost(part.bytes);
            part.restart()?;
            if begins > 0 {
                return Err(DownloadError::Changed);
            }
        }
        if part.bytes == 0 {
            part.is_of(now)?;
        }
        watch.begun(part.bytes, part.origin.bytes);
        let mut pace = Pace::new(&self.settings);
        loop {
            let piece = tokio::time::timeout(self.settings.silence, response.chunk()).await;
            let piece = piece.map_err(|_| DownloadError::Silent(self.settings.silence))?;
            let piece = match piece {
                Ok(piece) => piece,
                Err(error) => return Err(broken(part, &error)),
            };
            let Some(piece) = piece else { break };
            // The disk is faster than the network: nothing else waits for this thread.
            part.add(&piece)?;
            watch.came(piece.len() as u64);
            pace.came(piece.len() as u64)?;
        }
        match part.origin.bytes {
            Some(expected) if part.bytes < expected => {
                Err(DownloadError::Cut { received: part.bytes, expected })
            }
            Some(expected) if part.bytes > expected => {
                watch.lost(part.bytes);
                part.restart()?;
                Err(DownloadError::Changed)
            }
            _ => Ok(()),
        }
    }
}

/// How fast a connection brings something, looked at once in a while.
struct Pace {
    within: Duration,
    least: u64,
    since: Instant,
    bytes: u64,
}

impl Pace {
    fn new(settings: &Settings) -> Self {
        let within = settings.silence;
        let least = within.as_secs().saturating_mul(settings.least_rate);
        Self { within, least, since: Instant::now(), bytes: 0 }
    }

    fn came(&mut self, bytes: u64) -> Result<(), DownloadError> {
        self.bytes = self.bytes.saturating_add(bytes);
        let within = self.since.elapsed();
        if within < self.within {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        self.since = Instant::now();
        if bytes < self.least { Err(DownloadError::Slow { bytes, within }) } else { Ok(()) }
    }
}

/// Whether two answers are of the same archive, by what both tell.
fn is_same(before: &Origin, now: &Origin) -> bool {
    fn agree<T: PartialEq>(before: Option<&T>, now: Option<&T>) -> bool {
        before.is_none() || now.is_none() || before == now
    }
    agree(before.bytes.as_ref(), now.bytes.as_ref())
        && agree(before.version.as_ref(), now.version.as_ref())
        && agree(before.md5.as_ref(), now.md5.as_ref())
}

/// A connection that broke in the middle.
fn broken(part: &Part, error: &reqwest::Error) -> DownloadError {
    match part.origin.bytes {
        Some(expected) => DownloadError::Cut { received: part.bytes, expected },
        None => DownloadError::Connection(causes(error)),
    }
}

/// Whether the sum is right, damaged on its way, or that of another version: what the storage says, or the same sum twice,
/// is proof of that.
fn judge(wanted: &Wanted<'_>, part: &Part, sums: &mut Vec<String>) -> Result<Fetched, DownloadError> {
    let found = part.sum();
    let sent = part.origin.md5.as_deref();
    if let Some(expected) = sent.filter(|sent| *sent != found) {
        return Err(DownloadError::Damaged { found, expected: expected.to_owned() });
    }
    match wanted.md5 {
        Some(expected) if expected != found => {
            let expected = expected.to_owned();
            if sent.is_some() || sums.contains(&found) {
                let competition = wanted.competition.to_owned();
                return Err(DownloadError::OtherVersion { competition, found, expected });
            }
            sums.push(found.clone());
            Err(DownloadError::Damaged { found, expected })
        }
        _ => Ok(Fetched { bytes: part.bytes, md5: found }),
    }
}

/// Waits, where it is of use.
async fn wait(error: DownloadError, patience: &mut Patience, watch: &dyn Watch) -> Result<(), DownloadError> {
    if !error.is_passing() {
        return Err(error);
    }
    let Some(after) = patience.next(error.wait()) else { return Err(error) };
    watch.again(&error, after);
    tokio::time::sleep(after).await;
    Ok(())
}

/// Removes an archive that was fetched here, and every trace of it.
pub fn remove(archive: &Path) -> Result<(), DownloadError> {
    part::remove(archive).map_err(DownloadError::io("remove", archive))
}
