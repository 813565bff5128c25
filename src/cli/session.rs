//! `podium sandbox session`: a shell or a kernel in the sandbox, by hand or by another program.
//!
//! Commands come as lines, cells as paragraphs. A line that begins with a colon is for the session itself. With
//! `--json` each line in is a request and each line out an observation.

use std::io::{BufRead as _, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use podium_sandbox::{Job, Sandbox, SandboxError, Session, SessionJob};
use podium_types::session::{Observation, SessionKind, SessionState};
use serde::Deserialize;
use serde_json::json;

use crate::cli::failure::Failure;
use crate::cli::job::JobArguments;
use crate::cli::sandbox::signals_failed;
use crate::cli::signals::{Signals, Told};
use crate::cli::terminal::{Terminal, escape};
use crate::cli::{exit, runtime, values};
use crate::run::error::RunError;
use crate::run::site::Site;

/// Of a session, where no limit is given.
const TIMEOUT: Duration = Duration::from_hours(24);

/// Printed where somebody types.
const HELP: &str = "one command a line; :wait [D], :input TEXT, :end, :interrupt, :restart, :close";
const KERNEL_HELP: &str = "one cell a paragraph; :wait [D], :interrupt, :restart, :close";

#[derive(Debug, Args)]
pub(crate) struct SessionArguments {
    /// A Python kernel instead of a shell
    #[arg(long)]
    kernel: bool,
    #[command(flatten)]
    job: JobArguments,
    /// How long an observation waits for the end of a call, which then goes on
    #[arg(long, default_value = "10s", value_name = "D", value_parser = values::duration)]
    soft_timeout: u64,
    /// Hard limit of one call
    #[arg(long, default_value = "1h", value_name = "D", value_parser = values::duration)]
    call_limit: u64,
    /// Read requests and print observations as JSON, one a line: {"send": "ls"}, {"wait": 5000}, {"input": "yes\n"}, "end",
    /// "interrupt", "restart", "close"
    #[arg(long)]
    json: bool,
}

/// What is asked of a session.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// A command or a cell.
    Send(String),
    /// For so many milliseconds; as usual when not given.
    Wait(Option<u64>),
    /// Text for the command's standard input.
    Input(String),
    /// The end of its input.
    End,
    Interrupt,
    Restart,
    Close,
}

/// Opens a session and serves it to the end of standard input.
pub(crate) fn main(
    arguments: &SessionArguments,
    site: &mut Site,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let runtime = runtime()?;
    let inside = runtime.enter();
    let ready = arguments.job.ready(site, TIMEOUT, terminal)?;
    if !arguments.json {
        ready.tell(terminal);
    }
    let ended = runtime.block_on(run(&*ready.sandbox, ready.job.clone(), arguments, terminal));
    drop(inside);
    // A line of standard input may still be waited for.
    runtime.shutdown_background();
    ended
}

/// Serves a session with the job's workspace, mounts and limits.
async fn run(
    sandbox: &dyn Sandbox,
    job: Job,
    arguments: &SessionArguments,
    terminal: &Terminal,
) -> Result<ExitCode, Failure> {
    let kind = if arguments.kernel { SessionKind::Kernel } else { SessionKind::Shell };
    let call_limit = Duration::from_millis(arguments.call_limit);
    let job = SessionJob { kind, job, call_limit, shell: None };
    let mut signals = Signals::watch().map_err(|error| signals_failed(&error))?;
    let mut stopped = false;
    let mut session = tokio::select! {
        opened = sandbox.open_session(&job) => opened.map_err(RunError::from)?,
        _ = signals.any() => return Err(RunError::from(SandboxError::Cancelled).into()),
    };
    let typed = std::io::stdin().is_terminal() && !arguments.json;
    greet(&*session, arguments, terminal);
    if typed {
        terminal.error_line(if arguments.kernel { KERNEL_HELP } else { HELP });
    }
    loop {
        if typed {
            terminal.error_line(&terminal.bold(&format!("{kind}:")));
        }
        let read = tokio::select! {
            read = read(arguments) => read,
            _ = signals.any() => {
                stopped = true;
                break;
            }
        };
        let request = match read {
            None | Some(Ok(Request::Close)) => break,
            Some(Ok(request)) => request,
            Some(Err(message)) => {
                refuse(&message, arguments, terminal);
                continue;
            }
        };
        let served = serve(&mut *session, request, arguments, &mut signals).await;
        // One that came for the call is not for the session; one that comes when its end can be seen is.
        signals.forget_interrupts();
        match served {
            Ok(Served::Seen(seen)) => print(&seen, arguments, terminal),
            Ok(Served::Restarted) => greet(&*session, arguments, terminal),
            Ok(Served::Stopped) => {
                stopped = true;
                break;
            }
            Err(error) => {
                let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
                refuse(&format!("{error}{hint}"), arguments, terminal);
            }
        }
    }
    let end = session.close().await.map_err(RunError::from)?;
    if arguments.json {
        terminal.json_line(&json!({ "closed": end }));
    }
    Ok(if stopped { ExitCode::from(exit::RESUMABLE) } else { ExitCode::SUCCESS })
}

/// What came of a request.
enum Served {
    Seen(Observation),
    Restarted,
    /// The command was told to end meanwhile.
    Stopped,
}

/// Does what is asked. Ctrl-C interrupts the call.
async fn serve(
    session: &mut dyn Session,
    request: Request,
    arguments: &SessionArguments,
    signals: &mut Signals,
) -> Result<Served, SandboxError> {
    let soft = Duration::from_millis(arguments.soft_timeout);
    let looked = {
        let look = match &request {
            Request::Send(text) => session.send(text, soft),
            Request::Wait(time) => session.wait(time.map_or(soft, Duration::from_millis)),
            Request::Input(text) => session.send_input(text, false, soft),
            Request::End => session.send_input("", true, soft),
            Request::Interrupt => session.interrupt(soft),
            Request::Restart | Request::Close => {
                session.restart().await?;
                return Ok(Served::Restarted);
            }
        };
        tokio::select! {
            seen = look => Ok(seen?),
            told = signals.any() => Err(told),
        }
    };
    match looked {
        Ok(seen) => Ok(Served::Seen(seen)),
        Err(Told::Interrupt) => session.interrupt(soft).await.map(Served::Seen),
        Err(Told::End) => Ok(Served::Stopped),
    }
}

/// The next request, `None` at the end of standard input.
async fn read(arguments: &SessionArguments) -> Option<Result<Request, String>> {
    let (json, kernel) = (arguments.json, arguments.kernel);
    tokio::task::spawn_blocking(move || next(json, kernel)).await.ok()?
}

fn next(json: bool, kernel: bool) -> Option<Result<Request, String>> {
    // A byte that is no text is no end of the input.
    let text = |line: Vec<u8>| {
        let line = String::from_utf8_lossy(&line);
        line.strip_suffix('\r').unwrap_or(&line).to_owned()
    };
    let mut lines = std::io::stdin().lock().split(b'\n').map_while(Result::ok).map(text);
    if json {
        let line = lines.find(|line| !line.trim().is_empty())?;
        return Some(serde_json::from_str(&line).map_err(|error| format!("no request: {error}")));
    }
    if !kernel {
        return lines.find(|line| !line.trim().is_empty()).map(|line| parse(&line, false));
    }
    let first = lines.find(|line| !line.trim().is_empty())?;
    if first.starts_with(':') {
        return Some(parse(&first, true));
    }
    let rest = lines.take_while(|line| !line.is_empty());
    Some(Ok(Request::Send(std::iter::once(first).chain(rest).collect::<Vec<_>>().join("\n"))))
}

/// A line as people write it.
fn parse(line: &str, kernel: bool) -> Result<Request, String> {
    let Some(order) = line.strip_prefix(':') else { return Ok(Request::Send(line.to_owned())) };
    let (word, rest) = order.split_once(' ').unwrap_or((order, ""));
    match word {
        "wait" if rest.is_empty() => Ok(Request::Wait(None)),
        "wait" => values::duration(rest.trim()).map(|millis| Request::Wait(Some(millis))),
        "input" => Ok(Request::Input(format!("{rest}\n"))),
        "end" => Ok(Request::End),
        "interrupt" => Ok(Request::Interrupt),
        "restart" => Ok(Request::Restart),
        "close" => Ok(Request::Close),
        // The shell's own command of that name does nothing.
        "" => Ok(Request::Send(line.to_owned())),
        _ => Err(format!("unknown order `:{word}`; {}", if kernel { KERNEL_HELP } else { HELP })),
    }
}

fn greet(session: &dyn Session, arguments: &SessionArguments, terminal: &Terminal) {
    let facts = session.facts();
    if arguments.json {
        terminal.json_line(&json!({ "opened": facts }));
    } else {
        let program = escape(&facts.program);
        terminal.error_line(&format!("{} {program}, start {}", terminal.cyan("new:"), facts.generation));
    }
}

fn refuse(message: &str, arguments: &SessionArguments, terminal: &Terminal) {
    if arguments.json {
        terminal.json_line(&json!({ "error": message }));
    } else {
        terminal.error_line(&format!("{} {}", terminal.bold_red("error:"), escape(message)));
    }
}

fn print(seen: &Observation, arguments: &SessionArguments, terminal: &Terminal) {
    if arguments.json {
        terminal.json_line(seen);
        return;
    }
    let text = seen.text();
    if !text.is_empty() {
        terminal.line(escape(&text).trim_end_matches('\n'));
    }
    if let Some(limit) = &seen.limit {
        terminal.error_line(&format!("{} {limit}", terminal.yellow("limit:")));
    }
    let state = match &seen.state {
        SessionState::Idle => "nothing is running".to_owned(),
        SessionState::Running => format!("still running after {:.1} s", seen.wall_ms as f64 / 1e3),
        SessionState::Exited { code: 0 } | SessionState::Completed { .. } | SessionState::Raised { .. } => {
            String::new()
        }
        SessionState::Exited { code } => format!("exit code {code}"),
        SessionState::Ended { ended } => format!("the session has ended with {ended}; :restart it"),
        SessionState::Lost => "the session is lost".to_owned(),
    };
    let interrupted = if seen.interrupted { "; interrupted, effects may be partial" } else { "" };
    let background = match seen.background.len() {
        0 => String::new(),
        count => format!("; {count} in the background"),
    };
    let note = format!("{state}{interrupted}{background}");
    if !note.is_empty() {
        terminal.error_line(&format!("{} {}", terminal.yellow("note:"), note.trim_start_matches("; ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commands_or_orders() {
        let send = |text: &str| Ok(Request::Send(text.to_owned()));
        for (line, want) in [
            ("ls -l", send("ls -l")),
            (": nothing", send(": nothing")),
            (":wait", Ok(Request::Wait(None))),
            (":wait 2s", Ok(Request::Wait(Some(2000)))),
            (":input a b", Ok(Request::Input("a b\n".to_owned()))),
            (":interrupt", Ok(Request::Interrupt)),
        ] {
            assert_eq!(parse(line, false), want, "{line}");
        }
        assert!(parse(":nosuch", false).is_err() && parse(":wait long", true).is_err());
        assert_eq!(serde_json::from_str::<Request>(r#"{"wait": null}"#).unwrap(), Request::Wait(None));
        assert_eq!(serde_json::from_str::<Request>(r#""restart""#).unwrap(), Request::Restart);
        assert!(serde_json::from_str::<Request>(r#"{"nosuch": 1}"#).is_err());
    }
}
