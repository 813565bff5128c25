//! The task of a session: reads what comes out, writes what goes in, and watches the limits, from the start to the
//! death of the last process.
//!
//! It goes on when nobody looks. When the session's owner is gone it kills everything; when the runtime is gone as
//! well, dropping it does.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use podium_types::{
    execution::{Ended, LimitHit},
    session::SessionState,
};
use tokio::{io::AsyncReadExt, net::unix::pipe, sync::mpsc, time::sleep_until};
use tokio_util::sync::CancellationToken;

use super::{
    SessionJob, background,
    channels::{Ends, Feed, Input},
    control::Control,
    language::{Language, as_ended},
    state::{Done, Shared},
};
use crate::{
    Limits, SandboxError, Settings,
    cgroup::Usage,
    finish::{Evidence, limit_of, millis},
    reader::Reader,
    spawn::readable,
    tree::{Fate, Live, STUCK, Tree, poll_failed, stuck},
    watchdog::Watchdog,
};

/// How long after an interrupt a shell is asked whether the command has ended.
const PROBE: Duration = Duration::from_millis(250);
/// Time that is far enough away.
const NEVER: Duration = Duration::from_hours(24 * 365);

/// What a session's caller asks for.
pub(super) enum Request {
    /// Send the greeting, or a call, under this number.
    Call { nonce: String, text: Option<String> },
    /// Give input to the command; with `end` it ends.
    Input { text: String, end: bool },
    /// Send SIGINT to what runs in front.
    Interrupt,
    /// Kill everything.
    Stop,
}

/// How everything ended.
pub(super) struct Close {
    pub(super) ended: Ended,
    pub(super) limit: Option<LimitHit>,
    pub(super) evidence: Option<Evidence>,
    pub(super) wall: Duration,
}

/// The task, with all that it works on.
pub(super) struct Pump<T: Tree> {
    live: Live<T>,
    watchdog: Watchdog,
    reader: Reader,
    control: pipe::Receiver,
    requests: mpsc::UnboundedReceiver<Request>,
    drain: Duration,
    course: Course,
}

/// Where a session stands.
struct Course {
    shared: Arc<Shared>,
    language: Language,
    calls: Feed,
    input: Option<Input>,
    claims: Control,
    limits: Limits,
    call_limit: Duration,
    lifetime: Duration,
    grace: Duration,
    cancel: CancellationToken,
    stage: Stage,
    /// When the session as a whole must end.
    last: Instant,
    call: Option<Call>,
    /// The limit that ends the session.
    limit: Option<LimitHit>,
    /// Counted before the last call.
    before: Usage,
}

/// The running call.
struct Call {
    nonce: String,
    deadline: Instant,
    probe: Option<Instant>,
    limit: Option<LimitHit>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// A limit was reached; the end comes then, unless the call ends first.
    Interrupted(Instant),
    Killed(Instant),
}

impl<T: Tree> Pump<T> {
    pub(super) fn new(
        job: &SessionJob,
        settings: &Settings,
        live: Live<T>,
        ends: Ends,
        language: Language,
        generation: u32,
        watchdog: Watchdog,
    ) -> Result<(Self, Arc<Shared>, mpsc::UnboundedSender<Request>), SandboxError> {
        let limits = job.job.limits.clone();
        let reader = Reader::new(ends.output, limits.output_head_bytes, limits.output_tail_bytes)?;
        let shared = Arc::new(Shared::new(job.kind, generation, reader.kept().clone()));
        let (sender, requests) = mpsc::unbounded_channel();
        let now = Instant::now();
        let course = Course {
            shared: Arc::clone(&shared),
            language,
            calls: Feed::new(ends.calls)?,
            input: ends.input.map(Input::new).transpose()?,
            claims: Control::default(),
            limits,
            call_limit: job.call_limit,
            lifetime: job.job.timeout,
            grace: settings.grace,
            cancel: job.job.cancel.clone(),
            stage: Stage::Open,
            last: now.checked_add(job.job.timeout).unwrap_or(now + NEVER),
            call: None,
            limit: None,
            before: Usage::default(),
        };
        let control = pipe::Receiver::from_owned_fd(ends.control).map_err(poll_failed)?;
        let pump = Self { live, watchdog, reader, control, requests, drain: settings.drain, course };
        Ok((pump, shared, sender))
    }

    /// Runs to the end of everything.
    pub(super) async fn run(mut self) -> Result<Close, SandboxError> {
        // Whatever becomes of this task, nobody waits for it in vain.
        let _last_word = LastWord(Arc::clone(&self.course.shared));
        let start = Instant::now();
        self.follow().await?;
        let wall = start.elapsed();
        let killed = matches!(self.course.stage, Stage::Killed(_));
        let reaped = self.live.bury(&mut self.reader, self.drain).await?;
        let output = self.reader.kept().copy();
        let evidence = self.live.tree.evidence(&Fate { reaped, killed, output: &output }).ok();
        let ended = evidence.as_ref().map_or(Ended::Signal(libc::SIGKILL), |evidence| evidence.ended);
        let usage = evidence.as_ref().map(|evidence| evidence.usage).unwrap_or_default();
        let course = &mut self.course;
        let limit = course.limit.take().or_else(|| course.call.take().and_then(|call| call.limit));
        let limit = limit
            .or_else(|| limit_of(&course.limits, ended, None, difference(usage, course.before), usage.cpu));
        course.shared.end(ended, limit.clone());
        Ok(Close { ended, limit, evidence, wall })
    }

    /// Runs to the end of the direct child.
    async fn follow(&mut self) -> Result<(), SandboxError> {
        let Self { live, watchdog, reader, control, requests, course, .. } = self;
        let tree = &live.tree;
        let exited = readable(live.child().ok_or_else(stuck)?.pidfd()).map_err(poll_failed)?;
        let mut buffer = vec![0; 64 << 10];
        let (mut told, mut asked) = (true, true);
        loop {
            let Course { calls, input, cancel, stage, last, call, .. } = &mut *course;
            let killed = matches!(stage, Stage::Killed(_));
            let (writes, inputs) = (calls.is_pending(), input.as_ref().is_some_and(Input::is_pending));
            let next = deadline(*stage, *last, call.as_ref());
            tokio::select! {
                () = reader.read(), if reader.is_open() => {}
                count = control.read(&mut buffer), if told => match count {
                    Ok(count @ 1..) => {
                        course.claims.push(buffer.get(..count).unwrap_or_default());
                        course.listen(tree, reader);
                    }
                    _ => told = false,
                },
                () = calls.flush(), if writes => {}
                () = flush(input), if inputs => {}
                request = requests.recv(), if asked => match request {
                    Some(request) => course.answer(request, tree)?,
                    None => {
                        asked = false;
                        course.kill(tree);
                    }
                },
                _ = exited.readable() => return Ok(()),
                () = sleep_until(next.into()) => course.on_time(tree)?,
                () = cancel.cancelled(), if !killed => course.kill(tree),
                hit = watchdog.breach(), if !killed => {
                    course.limit = Some(hit);
                    course.kill(tree);
                }
            }
        }
    }
}

/// Writes input once.
async fn flush(input: &mut Option<Input>) {
    if let Some(input) = input {
        input.flush().await;
    }
}

/// When something has to be done next.
fn deadline(stage: Stage, last: Instant, call: Option<&Call>) -> Instant {
    match stage {
        Stage::Interrupted(then) | Stage::Killed(then) => then,
        Stage::Open => {
            let calls = call.into_iter().flat_map(|call| [Some(call.deadline), call.probe]);
            calls.flatten().min().map_or(last, |then| then.min(last))
        }
    }
}

impl Course {
    /// Does what the caller asks for.
    fn answer(&mut self, request: Request, tree: &impl Tree) -> Result<(), SandboxError> {
        match request {
            Request::Call { nonce, text } => {
                if let Some(input) = &mut self.input {
                    input.renew()?;
                }
                self.claims.clear();
                self.before = tree.usage();
                let (bytes, limit) = match text {
                    Some(text) => (self.language.call(&nonce, &text), self.call_limit),
                    None => (self.language.hello(&nonce), NEVER),
                };
                self.calls.push(bytes.as_bytes());
                let now = Instant::now();
                let deadline = now.checked_add(limit).unwrap_or(now + NEVER);
                self.call = Some(Call { nonce, deadline, probe: None, limit: None });
            }
            Request::Input { text, end } => {
                if let Some(input) = &mut self.input {
                    input.push(text.as_bytes(), end);
                }
            }
            Request::Interrupt => self.interrupt(tree),
            Request::Stop => self.kill(tree),
        }
        Ok(())
    }

    /// Looks for the end of the running call in what was told.
    fn listen(&mut self, tree: &impl Tree, reader: &mut Reader) {
        let Some(call) = &self.call else {
            self.claims.clear();
            return;
        };
        let Some(state) = self.language.claim(&mut self.claims, &call.nonce) else { return };
        // What the call has printed is in the pipe by now.
        reader.catch_up();
        let counted = difference(tree.usage(), self.before);
        let exception = match &state {
            SessionState::Raised { exception, .. } => Some(exception),
            _ => None,
        };
        let limit = limit_of(&self.limits, as_ended(&state), exception, counted, counted.cpu);
        let limit = self.call.take().and_then(|call| call.limit).or_else(|| self.limit.clone()).or(limit);
        self.shared.finish(Done { state, limit, background: background::list(tree.first(), &tree.own()) });
        if matches!(self.stage, Stage::Interrupted(_)) {
            if self.limit.is_some() {
                self.kill(tree);
            } else {
                self.stage = Stage::Open;
            }
        }
    }

    /// A deadline has passed.
    fn on_time(&mut self, tree: &impl Tree) -> Result<(), SandboxError> {
        let now = Instant::now();
        match self.stage {
            Stage::Killed(then) if now >= then => return Err(stuck()),
            Stage::Interrupted(then) if now >= then => self.kill(tree),
            Stage::Killed(_) | Stage::Interrupted(_) => {}
            Stage::Open if now >= self.last => {
                self.limit = Some(LimitHit::WallClock { limit_ms: millis(self.lifetime) });
                self.cut(tree);
            }
            Stage::Open => {
                let limit_ms = millis(self.call_limit);
                let Some(call) = &mut self.call else { return Ok(()) };
                if now >= call.deadline {
                    call.limit = Some(LimitHit::WallClock { limit_ms });
                    self.cut(tree);
                } else if call.probe.is_some_and(|then| now >= then) {
                    call.probe = None;
                    if let Some(line) = self.language.probe(&call.nonce) {
                        self.calls.push(line.as_bytes());
                    }
                }
            }
        }
        Ok(())
    }

    /// Interrupts what runs in front, or kills a session in which nothing does; after the grace everything dies.
    fn cut(&mut self, tree: &impl Tree) {
        if self.call.is_none() {
            self.kill(tree);
            return;
        }
        self.interrupt(tree);
        self.stage = Stage::Interrupted(Instant::now() + self.grace);
        // The shell may have dropped the line that would have told the end; then it is told now or never.
        if let Some(line) = self.call.as_ref().and_then(|call| self.language.probe(&call.nonce)) {
            self.calls.push(line.as_bytes());
        }
    }

    fn interrupt(&mut self, tree: &impl Tree) {
        let Some(call) = &mut self.call else { return };
        self.shared.interrupted();
        tree.interrupt();
        tree.resume();
        call.probe = Some(Instant::now() + PROBE);
    }

    fn kill(&mut self, tree: &impl Tree) {
        if !matches!(self.stage, Stage::Killed(_)) {
            tree.kill();
            self.stage = Stage::Killed(Instant::now() + STUCK);
        }
    }
}

/// What was counted in between.
fn difference(now: Usage, before: Usage) -> Usage {
    Usage {
        oom_kills: now.oom_kills.saturating_sub(before.oom_kills),
        forks_refused: now.forks_refused.saturating_sub(before.forks_refused),
        ..now
    }
}

/// Says that all is over when nobody else has.
struct LastWord(Arc<Shared>);

impl Drop for LastWord {
    fn drop(&mut self) {
        self.0.end(Ended::Signal(libc::SIGKILL), None);
    }
}
