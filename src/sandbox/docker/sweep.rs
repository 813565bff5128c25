//! Removing containers: those of a living harness when they have ended, and those that a killed harness left.
//!
//! A container bears the name of its execution, which tells its owner (see [`label`]), and the machine's name, for an
//! engine may serve several. Only containers of this machine whose owner is dead are removed at the next start.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use bollard::{
    Docker as Client,
    query_parameters::{ListContainersOptions, RemoveContainerOptions},
};
use tokio::{sync::mpsc, task::JoinSet, time::timeout};

use super::engine::{self, refused};
use crate::{SandboxError, cgroup::label};

/// Names the execution and its owner.
const EXECUTION: &str = "podium.execution";
/// The machine of the owner.
const MACHINE: &str = "podium.machine";
/// How long an engine may take to remove one container.
const PATIENCE: Duration = Duration::from_secs(30);

/// The labels of a new container.
pub(super) fn labels() -> HashMap<String, String> {
    HashMap::from([(EXECUTION.to_owned(), label::fresh()), (MACHINE.to_owned(), machine())])
}

/// The name by which a machine knows itself.
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Removes what dead harnesses of this machine left; returns how many containers that were.
pub(super) async fn sweep(client: &Client) -> Result<usize, SandboxError> {
    let options = ListContainersOptions {
        all: true,
        filters: Some(HashMap::from([("label".to_owned(), vec![EXECUTION.to_owned()])])),
        ..ListContainersOptions::default()
    };
    let containers = client.list_containers(Some(options)).await.map_err(refused("listing containers"))?;
    let machine = machine();
    let mut removed = 0;
    for container in containers {
        let labels = container.labels.unwrap_or_default();
        let is_left = labels.get(MACHINE) == Some(&machine)
            && labels.get(EXECUTION).is_some_and(|name| label::owner_is_dead(name));
        if let Some(id) = container.id.filter(|_| is_left) {
            removed += usize::from(remove(client, &id).await);
        }
    }
    Ok(removed)
}

/// Kills and removes a container. One that is gone or on its way out is fine.
pub(super) async fn remove(client: &Client, id: &str) -> bool {
    let options = RemoveContainerOptions { force: true, v: true, link: false };
    match timeout(PATIENCE, client.remove_container(id, Some(options))).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) if matches!(engine::status(&error), Some(404 | 409)) => true,
        Ok(Err(error)) => {
            tracing::warn!(container = id, %error, "a container could not be removed");
            false
        }
        Err(_) => {
            tracing::warn!(container = id, "the engine did not remove a container in time");
            false
        }
    }
}

/// Removes containers whose execution was dropped, on a thread of its own: a future that is dropped cannot wait.
/// Dropping the remover waits for what it still has to do.
#[derive(Debug)]
pub(super) struct Remover {
    queue: Option<mpsc::UnboundedSender<String>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Remover {
    pub(super) fn start(client: Client) -> Result<Arc<Self>, SandboxError> {
        let failed = |source| SandboxError::System { call: "starting a thread", source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (queue, mut ids) = mpsc::unbounded_channel::<String>();
        let work = move || {
            runtime.block_on(async move {
                let mut removals = JoinSet::new();
                while let Some(id) = ids.recv().await {
                    let client = client.clone();
                    removals.spawn(async move { remove(&client, &id).await });
                    while removals.try_join_next().is_some() {}
                }
                removals.join_all().await;
            });
        };
        let thread =
            std::thread::Builder::new().name("podium-remover".to_owned()).spawn(work).map_err(failed)?;
        Ok(Arc::new(Self { queue: Some(queue), thread: Mutex::new(Some(thread)) }))
    }

    fn take(&self, id: String) {
        if let Some(queue) = &self.queue {
            // The thread lives as long as this does.
            let _ = queue.send(id);
        }
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        self.queue = None;
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// A container that is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: String,
    remover: Arc<Remover>,
    removed: bool,
}

impl Held {
    pub(super) fn new(id: String, remover: Arc<Remover>) -> Self {
        Self { id, remover, removed: false }
    }

    /// Removes the container now.
    pub(super) async fn remove(mut self, client: &Client) {
        self.removed = remove(client, &self.id).await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.removed {
            self.remover.take(std::mem::take(&mut self.id));
        }
    }
}
