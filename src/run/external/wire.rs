//! Lines in, lines out: the task between a program's pipes and the strategy.
//!
//! It keeps no more than one line of what the program says, and reads on only when that was taken, so a program that
//! floods its pipe waits there. When the strategy is gone the program's input ends, and after a moment it is killed. The
//! task ends when every process is dead.

use std::time::Duration;

use podium_sandbox::{Dialogue, SandboxError};
use podium_types::execution::Execution;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

/// Lines that wait for the strategy.
const LINES: usize = 1;
/// Answers that wait for the pipe.
const ANSWERS: usize = 16;
/// How long a program may take to end by itself when its input has ended.
const GRACE: Duration = Duration::from_millis(300);
/// How long a program may live on without its standard output, so that its exit code can be told.
const MUTE: Duration = Duration::from_secs(2);
/// How long what is left in the pipe is read when every process is dead.
const DRAIN: Duration = Duration::from_secs(1);

/// What is heard of a program.
#[derive(Debug)]
pub(super) enum Heard {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line that is too long; nothing more is read.
    TooLong,
    /// It has closed its standard output and lives on.
    Mute,
    /// Every process is dead.
    Ended(Box<Result<Execution, SandboxError>>),
}

/// The strategy's ends.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) heard: mpsc::Receiver<Heard>,
    pub(super) answers: mpsc::Sender<Vec<u8>>,
}

/// The strategy's ends, and the task between them and `dialogue`. It returns what was told of the program's end. Lines
/// have `longest` bytes at most.
pub(super) fn connect(
    dialogue: Dialogue,
    longest: usize,
) -> (Link, impl Future<Output = Option<Execution>> + Send) {
    let (said, heard) = mpsc::channel(LINES);
    let (answers, told) = mpsc::channel(ANSWERS);
    (Link { heard, answers }, carry(dialogue, said, told, longest))
}

async fn carry(
    dialogue: Dialogue,
    said: mpsc::Sender<Heard>,
    told: mpsc::Receiver<Vec<u8>>,
    longest: usize,
) -> Option<Execution> {
    let Dialogue { input, output, kill, mut end } = dialogue;
    let reading = read(output, &said, longest);
    let writing = write(input, told);
    tokio::pin!(reading, writing);
    let (mut is_read, mut is_gone) = (false, false);
    let mut next: Option<Instant> = None;
    let ended = loop {
        tokio::select! {
            ended = &mut end => break ended,
            () = &mut reading, if !is_read => {
                is_read = true;
                next = next.or_else(|| Some(Instant::now() + MUTE));
            }
            () = &mut writing, if !is_gone => {
                is_gone = true;
                next = Some(Instant::now() + GRACE);
            }
            () = until(next) => {
                next = None;
                if is_gone {
                    kill();
                } else {
                    // What it said before is heard first.
                    let told = said.try_send(Heard::Mute).is_ok();
                    next = (!told).then(|| Instant::now() + MUTE);
                }
            }
        }
    };
    if !is_read && !is_gone {
        // In a container the pipe does not end with its program.
        let _ = timeout(DRAIN, reading).await;
    }
    let copy = ended.as_ref().ok().cloned();
    if !is_gone {
        let _ = said.send(Heard::Ended(Box::new(ended))).await;
    }
    copy
}

async fn until(then: Option<Instant>) {
    match then {
        Some(then) => sleep_until(then).await,
        None => std::future::pending().await,
    }
}

/// Reads to the end of the pipe, to a line that is too long, or until nobody listens.
async fn read(mut output: pipe::Receiver, said: &mpsc::Sender<Heard>, longest: usize) {
    let mut buffer = vec![0; 64 << 10];
    let mut line = Vec::new();
    loop {
        let Ok(count @ 1..) = output.read(&mut buffer).await else { return };
        let mut rest = buffer.get(..count).unwrap_or_default();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (piece, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            if line.len().saturating_add(piece.len()) > longest {
                let _ = said.send(Heard::TooLong).await;
                return;
            }
            line.extend_from_slice(piece);
            if said.send(Heard::Line(std::mem::take(&mut line))).await.is_err() {
                return;
            }
        }
        if line.len().saturating_add(rest.len()) > longest {
            let _ = said.send(Heard::TooLong).await;
            return;
        }
        line.extend_from_slice(rest);
    }
}

/// Writes what is told until the strategy is gone. A pipe that nobody reads any more swallows everything.
async fn write(input: pipe::Sender, mut told: mpsc::Receiver<Vec<u8>>) {
    let mut input = Some(input);
    while let Some(line) = told.recv().await {
        if let Some(pipe) = &mut input
            && pipe.write_all(&line).await.is_err()
        {
            input = None;
        }
    }
}
