//! The handle that all clients of a process share, and what one chat has of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podium_types::usage::Usage;

use super::lane::{Allowance, Lane, TooLong};
use super::limits::{Limits, ToldLimits};
use super::place::{Need, Place};
use crate::endpoint::Endpoint;
use crate::observer::WaitReason;
use crate::secret::Secret;

/// Pacing of all calls of a process. Cheap to clone; clones share their lanes. There is no global one: whoever makes
/// several clients hands the same to all of them.
#[derive(Clone, Default)]
pub struct Pacing(Arc<Mutex<Known>>);

/// Lanes so far. They are few: one for each service and key.
type Known = Vec<(Identity, Arc<Lane>)>;

impl std::fmt::Debug for Pacing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pacing")
    }
}

/// Whose limits they are.
#[derive(Clone, PartialEq, Eq)]
struct Identity {
    provider: String,
    base_url: Option<String>,
    key: Option<Secret>,
    model: Option<String>,
}

/// The lanes of one chat: its model's own, where that declares limits, and its provider's.
pub(crate) struct Lanes {
    lanes: Vec<(Arc<Lane>, Limits)>,
    model: Arc<str>,
}

/// The places of one try.
pub(crate) struct Lodging(Vec<Place>);

impl Pacing {
    /// The lanes of a chat with `model` of `provider`.
    pub(crate) fn lanes(&self, provider: &str, endpoint: &Endpoint, model: &str, own: Limits) -> Lanes {
        let identity = |model: Option<&str>| Identity {
            provider: provider.to_owned(),
            base_url: endpoint.base_url.clone(),
            key: endpoint.key.clone(),
            model: model.map(str::to_owned),
        };
        let mut lanes = Vec::new();
        if !own.is_none() {
            lanes.push((self.lane(identity(Some(model))), own));
        }
        lanes.push((self.lane(identity(None)), endpoint.limits));
        Lanes { lanes, model: model.into() }
    }

    fn lane(&self, identity: Identity) -> Arc<Lane> {
        let mut lanes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, lane)) = lanes.iter().find(|(known, _)| *known == identity) {
            return Arc::clone(lane);
        }
        let lane = Arc::new(Lane::default());
        lanes.push((identity, Arc::clone(&lane)));
        lane
    }
}

impl Lanes {
    /// What a try of this chat needs.
    pub(crate) fn need(&self, estimate: u64, output_limit: u32) -> Need {
        Need { model: Arc::clone(&self.model), estimate, output_limit }
    }

    /// Waits for a place in each lane; see [`Lane::pass`].
    pub(crate) async fn pass(
        &self,
        need: &Need,
        allowance: Allowance,
        mut on_wait: impl FnMut(WaitReason, Option<Duration>) + Send,
    ) -> Result<(Lodging, Duration), TooLong> {
        let (mut places, mut paused) = (Vec::new(), Duration::ZERO);
        for (lane, declared) in &self.lanes {
            let left = allowance.left.saturating_sub(paused);
            let (place, pause) =
                lane.pass(need, *declared, Allowance { left, ..allowance }, &mut on_wait).await?;
            places.push(place);
            paused += pause;
        }
        Ok((Lodging(places), paused))
    }

    /// What the service told of its limits. They are the model's, or the provider's where it has no lane of its own.
    pub(crate) fn tell(&self, told: &ToldLimits) {
        if let Some((lane, _)) = self.lanes.first() {
            lane.tell(&self.model, told);
        }
    }

    /// The service wants nothing for `pause`.
    pub(crate) fn hold(&self, pause: Duration) {
        if let Some((lane, _)) = self.lanes.first() {
            lane.hold(pause);
        }
    }
}

impl Lodging {
    /// The try's bytes leave now.
    pub(crate) fn sent(&mut self) {
        self.0.iter_mut().for_each(Place::sent);
    }

    /// The try was turned away.
    pub(crate) fn refused(&self) {
        self.0.iter().for_each(Place::refused);
    }

    /// The try was answered.
    pub(crate) fn answered(&self, usage: &Usage) {
        self.0.iter().for_each(|place| place.answered(usage));
    }
}
