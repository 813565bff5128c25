//! What is to be done, known before anything is done: where each competition comes from, whether the account may have it,
//! how large it is, whether there is room for all.

use std::path::Path;

use futures_util::StreamExt as _;
use podium_competition::Competition;
use podium_download::{DownloadError, Offer, Service};

use crate::provision::error::ProvisionError;
use crate::provision::event::{Tell, Telling};
use crate::provision::source::Source;
use crate::provision::space::{Promised, Room};

/// Questions to the service that are under way at a time.
const QUESTIONS: usize = 8;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Order<'a> {
    /// The competitions, in the order in which they are prepared.
    pub competitions: Vec<&'a Competition>,
    /// Where they go.
    pub data_dir: &'a Path,
    /// A folder of archives that are at hand, `ID.zip` or `ID/ID.zip`.
    pub archives: Option<&'a Path>,
    /// How many at a time.
    pub jobs: usize,
    /// The archive and the raw data stay.
    pub keep_raw: bool,
    /// Another version of an archive than the recorded one will do.
    pub skip_verification: bool,
    /// Bytes of the disk that are left free.
    pub leave_free: u64,
}

/// One competition of a plan.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The competition.
    pub competition: &'a Competition,
    /// Where it comes from.
    pub source: Source,
    /// Size of its archive, where that is known.
    pub bytes: Option<u64>,
    /// What it takes.
    pub room: Room,
}

/// A plan that can be carried out.
#[derive(Debug)]
pub struct Plan<'a> {
    /// In the order of preparation.
    pub items: Vec<Item<'a>>,
    /// The service, where something has to be fetched.
    pub service: Option<Service>,
    /// Bytes that all of them take at most.
    pub needed: u64,
}

/// Plans. `service` is asked for only where something has to be fetched.
///
/// # Errors
/// When the account may not have one of them, or there is too little room: nothing was done then.
pub fn plan<'a>(
    order: &Order<'a>,
    service: impl FnOnce() -> Result<Service, DownloadError>,
    runtime: &tokio::runtime::Handle,
    tell: Tell<'_>,
) -> Result<Plan<'a>, ProvisionError> {
    let sources: Vec<(&Competition, Source)> = order
        .competitions
        .iter()
        .map(|competition| (*competition, Source::find(competition, order.data_dir, order.archives)))
        .collect();
    let is_remote = |source: &Source| matches!(source, Source::Remote(_));
    let service = if sources.iter().any(|(_, source)| is_remote(source)) { Some(service()?) } else { None };
    let mut offers = match &service {
        Some(service) => {
            let remote = sources.iter().filter(|(_, source)| is_remote(source));
            let ids: Vec<&str> = remote.map(|(competition, _)| competition.official_id()).collect();
            runtime.block_on(ask(service, &ids, tell))?
        }
        None => Vec::new(),
    }
    .into_iter();
    let mut items = Vec::new();
    for (competition, source) in sources {
        let bytes = match &source {
            Source::Ready => None,
            Source::Archive(path) => path.metadata().ok().map(|metadata| metadata.len()),
            Source::Remote(_) => offers.next().and_then(|offer| offer.bytes),
        };
        let elsewhere = matches!(&source, Source::Archive(path) if !path.starts_with(order.data_dir));
        let room = match source {
            Source::Ready => Room::default(),
            _ => Room::of(competition, bytes, elsewhere, order.keep_raw),
        };
        items.push(Item { competition, source, bytes, room });
    }
    let needed = Room::of_all(items.iter().map(|item| item.room), order.jobs);
    let free = Promised::new(order.data_dir, order.leave_free).free();
    if needed > free {
        return Err(ProvisionError::NoRoom { needed, free, folder: order.data_dir.to_owned() });
    }
    Ok(Plan { items, service, needed })
}

/// Asks for all of them, and tells all refusals at once; the answers stand in the order of the ids.
async fn ask(service: &Service, ids: &[&str], tell: Tell<'_>) -> Result<Vec<Offer>, ProvisionError> {
    let asked = ids.iter().map(|id| async move { service.look(id, &Telling { id, tell }).await });
    let answers: Vec<Result<Offer, DownloadError>> =
        futures_util::stream::iter(asked).buffered(QUESTIONS).collect().await;
    let (mut offers, mut refused) = (Vec::new(), Vec::new());
    for (id, answer) in ids.iter().zip(answers) {
        match answer {
            Ok(offer) => offers.push(offer),
            // This is of the account, not of a competition.
            Err(error @ (DownloadError::Unauthorized { .. } | DownloadError::NoCredentials)) => {
                return Err(error.into());
            }
            Err(error) => refused.push(((*id).to_owned(), error)),
        }
    }
    if refused.is_empty() { Ok(offers) } else { Err(ProvisionError::Refused(refused)) }
}
