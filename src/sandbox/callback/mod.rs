//! What code in a jail can ask of the harness: whether a submission's format is right, what a job's service answers, and,
//! to no avail, for names.
//!
//! Nothing of ours is inside. Two ports of the jail's network namespace, in which nothing but the jail itself can be
//! reached, are bound by a short-lived helper and served by the harness from outside: 5000, where MLE-bench has its
//! check of submissions and a service has its requests, and 53, where the resolver asks for names and is refused. What
//! comes out is what the checker and the service of the job say of bytes that were sent; what comes in is counted. Everything ends with the execution.
//!
//! It must not know what a submission or a model is, nor open any path that it is told.

mod check;
mod connection;
mod form;
mod http;
mod names;
mod pace;
mod ports;
pub(crate) mod script;
mod server;
mod service;
mod upload;

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::process::Pid;
use tokio::{
    net::{TcpListener, UdpSocket},
    task::JoinSet,
};

pub use check::{Checker, SubmissionCheck};
pub use service::{Answering, Service, ServiceAnswer, ServiceRequest};

use crate::{Job, SandboxError};
use names::Asked;
use server::Server;

/// The name server that [`Callbacks`] are.
pub(crate) const NAME_SERVER: &str = "127.0.0.1";
/// The same, as a jail's `/etc/resolv.conf` names it.
pub(crate) const RESOLV: &str = "nameserver 127.0.0.1\noptions attempts:1 timeout:1\n";

/// What the port inside is for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offered {
    pub(crate) check: Option<SubmissionCheck>,
    pub(crate) service: Option<Service>,
}

impl Offered {
    /// To the program of a job.
    pub(crate) fn of(job: &Job) -> Self {
        Self { check: job.submission_check.clone(), service: job.service.clone() }
    }

    const fn is_nothing(&self) -> bool {
        self.check.is_none() && self.service.is_none()
    }
}

/// The callbacks of one execution or session, served until they are dropped.
#[derive(Debug)]
pub(crate) struct Callbacks {
    asked: Asked,
    names: std::net::UdpSocket,
    verdicts: Arc<AtomicU64>,
    /// Dropped with this, and then ended.
    _tasks: JoinSet<()>,
}

/// What was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Questions for names.
    pub(crate) questions: u64,
    /// The first few names that were asked for, and how often.
    pub(crate) names: BTreeMap<String, u64>,
    /// Verdicts given.
    pub(crate) verdicts: u64,
}

/// The ports of a jail, bound and not served yet: who asks meanwhile waits.
#[derive(Debug)]
pub(crate) struct Bound(ports::Ports);

impl Bound {
    /// Binds the ports in the network namespace of a process that is alive. Blocks for about a millisecond.
    pub(crate) fn new(process: Pid, offered: &Offered) -> Result<Self, SandboxError> {
        let ports = ports::open(process, !offered.is_nothing());
        ports.map(Self).map_err(|source| SandboxError::Ports { source })
    }

    /// Has the runtime serve them, in which this must be called.
    pub(crate) fn serve(self, offered: &Offered) -> Result<Callbacks, SandboxError> {
        let (ports, failed) = (self.0, |source| SandboxError::Ports { source });
        let (asked, verdicts) = (Asked::default(), Arc::new(AtomicU64::new(0)));
        let mut tasks = JoinSet::new();
        let names = ports.names.try_clone().map_err(failed)?;
        let socket = UdpSocket::from_std(ports.names).map_err(failed)?;
        tasks.spawn(names::serve(socket, asked.clone()));
        if let Some(listener) = ports.check {
            let listener = TcpListener::from_std(listener).map_err(failed)?;
            let server = Server::new(offered.clone(), Arc::clone(&verdicts));
            tasks.spawn(Arc::new(server).serve(listener));
        }
        Ok(Callbacks { asked, names, verdicts, _tasks: tasks })
    }
}

impl Callbacks {
    /// Binds the ports and has the runtime serve them, in which this must be called. Blocks for about a millisecond.
    pub(crate) fn start(process: Pid, offered: &Offered) -> Result<Self, SandboxError> {
        Bound::new(process, offered)?.serve(offered)
    }

    /// What was asked so far. At the end, when every process of the execution is dead, it is everything.
    pub(crate) fn told(&self) -> Told {
        names::drain(&self.names, &self.asked);
        let names::Questions { total, names } = self.asked.so_far();
        Told { questions: total, names, verdicts: self.verdicts.load(Ordering::Relaxed) }
    }
}
