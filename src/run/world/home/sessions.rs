//! Shells and kernels of the home workspace, by name, for as long as the sitting lasts.
//!
//! A call that outlasts its caller's patience goes on while a model is asked; the next act shows what came of it. One
//! that has died is opened again at the next act, and the answer says that all its state is new.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use podium_sandbox::{SandboxError, Session, SessionJob};
use podium_scaffold::EffectResult;
use podium_types::execution::Program;
use podium_types::key::EffectKey;
use podium_types::session::{
    Observation, SessionAct, SessionAnswer, SessionFault, SessionKind, SessionRequest,
};
use tokio::sync::Mutex as AsyncMutex;

use super::super::Inner;
use super::super::leases::Lease;
use super::super::local::Refused;
use crate::run::driver::{Performed, Report};
use crate::run::journal::Record;

/// A session lives as long as its sitting, which the run's own limits end.
const LIFE: Duration = Duration::from_hours(24 * 365);

/// One session; none before it was opened, and after it has died.
type Place = Arc<AsyncMutex<Option<Box<dyn Session>>>>;

/// The sessions of a sitting.
#[derive(Default)]
pub(super) struct Sessions(Mutex<BTreeMap<String, (SessionKind, Place)>>);

impl Sessions {
    /// The place of a name; refused where the name is one of another kind.
    fn place(&self, name: &str, kind: SessionKind) -> Result<Place, SessionFault> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, place) = places.entry(name.to_owned()).or_insert_with(|| (kind, Place::default()));
        if *known == kind {
            return Ok(Arc::clone(place));
        }
        Err(SessionFault::Refused { message: format!("the session `{name}` is a {known}, and no {kind}") })
    }

    fn all(&self) -> BTreeMap<String, (SessionKind, Place)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Inner {
    pub(in crate::run::world) async fn act_on_session(
        self: &Arc<Self>,
        key: &EffectKey,
        request: SessionRequest,
        hash: String,
    ) -> Performed {
        let _in_flight = self.clock.in_flight();
        let place = match self.home.sessions.place(&request.name, request.kind) {
            Ok(place) => place,
            Err(fault) => return super::super::local::done(EffectResult::Session(Err(fault))),
        };
        let mut session = place.lock().await;
        let answer = match self.look_at_session(&mut session, key, &request, hash).await {
            Ok(answer) => Ok(Box::new(answer)),
            Err(error) => match fault(request.kind, error) {
                Ok(fault) => Err(fault),
                Err(refused) => return refused.into(),
            },
        };
        if answer.as_ref().is_ok_and(|answer| answer.observation.is_over()) {
            self.take_leave(&mut session, &request.name, request.kind).await;
        }
        self.changed(key, EffectResult::Session(answer)).await
    }

    async fn look_at_session(
        self: &Arc<Self>,
        session: &mut Option<Box<dyn Session>>,
        key: &EffectKey,
        request: &SessionRequest,
        hash: String,
    ) -> Result<SessionAnswer, Refused> {
        self.at_home().await?;
        let mut before = None;
        if request.act == SessionAct::Restart {
            self.take_leave(session, &request.name, request.kind).await;
        } else if request.act != SessionAct::Wait {
            before = self.bury(session, request).await?;
        }
        let mut opened = session.is_none();
        if opened {
            *session = Some(self.open_session(request.kind).await?);
        }
        if request.act.is_at_most_once() {
            self.begin_act(key, hash).await?;
        }
        loop {
            let Some(open) = session.as_deref_mut() else {
                opened = true;
                *session = Some(self.open_session(request.kind).await?);
                continue;
            };
            match act(open, request).await {
                // It died this very moment, so nothing was sent.
                Err(SandboxError::SessionOver { .. }) => before = self.bury(session, request).await?,
                seen => return Ok(SessionAnswer { observation: seen?, opened, before }),
            }
        }
    }

    /// Takes leave of a session that has died since it was looked at, and returns what it said last.
    async fn bury(
        &self,
        session: &mut Option<Box<dyn Session>>,
        request: &SessionRequest,
    ) -> Result<Option<Observation>, Refused> {
        let Some(dead) = session.as_deref_mut().filter(|session| session.is_over()) else { return Ok(None) };
        let last = dead.wait(Duration::ZERO).await?;
        self.take_leave(session, &request.name, request.kind).await;
        Ok(Some(last))
    }

    async fn open_session(self: &Arc<Self>, kind: SessionKind) -> Result<Box<dyn Session>, Refused> {
        let nothing = Program::Command { argv: Vec::new() };
        let mut job =
            self.job(nothing, &self.folder.home_path(), self.home.lease().map(Lease::share), self.room()?);
        job.timeout = LIFE;
        job.submission_check = self.submission_check();
        let call_limit = Duration::from_millis(self.limits.execution_ms);
        let job = SessionJob { kind, job, call_limit, shell: None };
        Ok(self.equipment.sandbox.open_session(&job).await?)
    }

    /// Ends a session for good, and journals what can be known of it only then.
    async fn take_leave(&self, session: &mut Option<Box<dyn Session>>, name: &str, kind: SessionKind) {
        if let Some(record) = ended(session.take(), name, kind).await {
            let _ = self.reporter.send(Report::Record(Box::new(record)));
        }
    }

    /// Ends all sessions: the sitting is over.
    pub(in crate::run::world) async fn close_sessions(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (name, (kind, place)) in self.home.sessions.all() {
            let session = place.lock().await.take();
            records.extend(ended(session, &name, kind).await);
        }
        records
    }
}

async fn ended(session: Option<Box<dyn Session>>, name: &str, kind: SessionKind) -> Option<Record> {
    match session?.close().await {
        Ok(end) => Some(Record::SessionEnded { name: name.to_owned(), session: kind, end: Box::new(end) }),
        // It is dead all the same: dropping it has killed it.
        Err(error) => {
            tracing::warn!(%error, name, "a session could not be closed in order");
            None
        }
    }
}

async fn act(session: &mut dyn Session, request: &SessionRequest) -> Result<Observation, SandboxError> {
    let soft = Duration::from_millis(request.soft_ms);
    match &request.act {
        SessionAct::Send { input } => session.send(input, soft).await,
        SessionAct::Wait => session.wait(soft).await,
        SessionAct::Input { text, end } => session.send_input(text, *end, soft).await,
        SessionAct::Interrupt => session.interrupt(soft).await,
        SessionAct::Restart => session.wait(Duration::ZERO).await,
    }
}

/// What of an error is the strategy's to hear, and what stops the run.
fn fault(kind: SessionKind, error: Refused) -> Result<SessionFault, Refused> {
    match error {
        Refused::Sandbox(SandboxError::SessionBusy { kind }) => Ok(SessionFault::Busy { kind }),
        Refused::Sandbox(SandboxError::Job { message }) => Ok(SessionFault::Refused { message }),
        Refused::Sandbox(SandboxError::Start { message }) => Ok(SessionFault::NotStarted { kind, message }),
        error => Err(error),
    }
}
