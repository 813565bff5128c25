//! What a jail costs: start-up against bare bubblewrap and a plain spawn, and ten gigabytes of output.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "an example prints, and may panic"
)]

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use podium_sandbox::{Environment, Interpreter, Job, SandboxKind, Settings, open, workspace};
use podium_types::execution::Program;

const ROUNDS: usize = 100;

#[tokio::main]
async fn main() {
    let jail = open(SandboxKind::Jail, &Settings::default()).unwrap();
    println!("{}", jail.facts().describe());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("workspace");
    workspace::create(&place).unwrap();
    let environment = Environment::of_user(&Interpreter::find(None).unwrap().path).unwrap();
    let command = |argv: &[&str]| {
        Job::new(
            Program::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect() },
            &place,
            &environment,
        )
    };

    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    let job = command(&["/bin/true"]);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        run("/bin/true", &[]);
        times[0].push(start.elapsed());
        let start = Instant::now();
        run(
            "bwrap",
            &["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "/bin/true"],
        );
        times[1].push(start.elapsed());
        let start = Instant::now();
        jail.execute(&job).await.unwrap();
        times[2].push(start.elapsed());
    }
    for (name, times) in ["plain spawn", "bare bubblewrap", "jail"].into_iter().zip(&mut times) {
        times.sort_unstable();
        println!(
            "{name:16} p50 {:6.2} ms   p95 {:6.2} ms",
            ms(times[ROUNDS / 2]),
            ms(times[ROUNDS * 95 / 100])
        );
    }

    let start = Instant::now();
    let execution = jail.execute(&command(&["/bin/sh", "-c", "head -c 10G /dev/zero"])).await.unwrap();
    println!(
        "10 GiB of output: {:.1} s, {} bytes dropped",
        start.elapsed().as_secs_f64(),
        execution.output.dropped_bytes
    );
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
}

fn run(program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    assert!(command.args(arguments).stdin(Stdio::null()).status().unwrap().success());
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
