//! What the sandbox costs, as a table: `cargo bench -p podium-sandbox`, or some of its parts: `-- start python`. Figures
//! and no verdict: a busy machine is no fault of the code. Each comparison alternates its sides in one run, so that both
//! meet the same machine.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, and may panic"
)]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

use podium_sandbox::{
    CpuSet, Environment, Interpreter, Job, Sandbox, SandboxKind, Settings, WARM, open, workspace,
};
use podium_types::execution::Program;

/// Executions of a small comparison.
const ROUNDS: usize = 100;
/// The kernel takes down the network of the one before, on its own time, with a lock that the next one needs.
const SETTLE: Duration = Duration::from_millis(30);
/// Executions at one time.
const PARALLEL: usize = 64;
const MB: u64 = 1_000_000;

/// A job's surroundings.
struct Place {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new() -> Self {
        let python = std::env::var_os("PODIUM_BENCH_PYTHON").map(PathBuf::from);
        let interpreter = Interpreter::find(python.as_deref()).unwrap();
        let environment = Environment::of_user(&interpreter.path).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), environment }
    }

    /// A command in a workspace of this name.
    fn job(&self, name: &str, argv: &[&str]) -> Job {
        let path = self.folder.path().join(name);
        if !path.exists() {
            workspace::create(&path).unwrap();
        }
        let argv = argv.iter().map(|word| (*word).to_owned()).collect();
        Job::new(Program::Command { argv }, path, &self.environment)
    }

    fn shell(&self, name: &str, script: &str) -> Job {
        self.job(name, &["/bin/sh", "-c", script])
    }
}

#[tokio::main]
async fn main() {
    // `cargo test --benches` runs this as well, and means no measurement.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let place = Place::new();
    let jail = open(SandboxKind::Jail, &Settings::default()).unwrap();
    println!("{}; {} processors\n", jail.facts().describe(), CpuSet::default().count());
    println!("| what | measured | bar |\n|---|---|---|");
    let parts: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|name| name == part);
    if wanted("start") {
        start(&*jail, &place).await;
    }
    if wanted("python") {
        python(&*jail, &place).await;
    }
    if wanted("script") {
        script(&*jail, &place).await;
    }
    if wanted("docker") {
        docker(&place).await;
    }
    if wanted("output") {
        output(&*jail, &place).await;
    }
    if wanted("parallel") {
        parallel(&*jail, &place).await;
    }
    if wanted("neighbour") {
        neighbour(&*jail, &place).await;
    }
    if wanted("grant") {
        grant(&*jail, &place).await;
    }
}

fn row(what: &str, measured: &str, bar: &str) {
    println!("| {what} | {measured} | {bar} |");
}

/// A jail against bare bubblewrap and a plain spawn.
async fn start(jail: &dyn Sandbox, place: &Place) {
    let bare = ["--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "/bin/true"];
    let mut job = place.job("start", &["/bin/true"]);
    // As many processors as the bare one has.
    job.limits.cpus = CpuSet::default();
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        times[0].push(timed(|| plain(Path::new("/bin/true"), &[])));
        tokio::time::sleep(SETTLE).await;
        times[1].push(timed(|| plain(Path::new("bwrap"), &bare)));
        tokio::time::sleep(SETTLE).await;
        let begun = Instant::now();
        jail.execute(&job).await.unwrap();
        times[2].push(begun.elapsed());
    }
    let [spawn, bubblewrap, ours] = times.map(Spread::of);
    row("plain spawn of `/bin/true`", &spawn.text(), "");
    row("bare bubblewrap, all namespaces", &bubblewrap.text(), "");
    let times = ours.median.as_secs_f64() / bubblewrap.median.as_secs_f64();
    row("jail", &format!("{}: {times:.2} times bare bubblewrap", ours.text()), "at most 2 times");
}

/// Python's own start beside the jail's, and heavy imports.
async fn python(jail: &dyn Sandbox, place: &Place) {
    let program = place.environment.python().to_owned();
    let name = program.to_string_lossy().into_owned();
    let empty = place.job("python", &[&name, "-I", "-c", "pass"]);
    let (mut outside, mut inside) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        outside.push(timed(|| plain(&program, &["-I", "-c", "pass"])));
        inside.push(taken(jail, &empty).await);
    }
    row("`python -I -c pass`, plain", &Spread::of(outside).text(), "");
    row("the same in the jail", &Spread::of(inside).text(), "");
    let mut heavy = place.job("python", &[]);
    heavy.program =
        Program::Python { file: "solution.py".to_owned(), code: "import pandas, sklearn".to_owned() };
    heavy.timeout = Duration::from_mins(5);
    if !jail.execute(&heavy).await.unwrap().succeeded() {
        row(
            "`import pandas, sklearn`",
            "not installed; name a Python that has them in PODIUM_BENCH_PYTHON",
            "",
        );
        return;
    }
    let settings = Settings { warm: Some(WARM), ..Settings::default() };
    let copying = open(SandboxKind::Jail, &settings).unwrap();
    // The first starts the server of copies.
    let is_warm = copying.execute(&heavy).await.unwrap().warm;
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        cold.push(taken(jail, &heavy).await);
        warm.push(taken(&*copying, &heavy).await);
    }
    let (cold, warm) = (Spread::of(cold), Spread::of(warm));
    row("`import pandas, sklearn` in the jail, cold", &cold.text(), "");
    let times = cold.median.as_secs_f64() / warm.median.as_secs_f64();
    let measured = format!("{}: {times:.0} times faster", warm.text());
    row("the same, warm", if is_warm { &measured } else { "not warm here" }, "at least 20 times faster");
}

/// A script that imports little, begun in each of the three ways.
async fn script(jail: &dyn Sandbox, place: &Place) {
    let code = "import time\nprint(time.time())\nimport csv, json, random";
    let mut job = place.job("script", &[]);
    job.program = Program::Python { file: "solution.py".to_owned(), code: code.to_owned() };
    let settings = Settings { warm: Some(WARM), ..Settings::default() };
    let copying = open(SandboxKind::Jail, &settings).unwrap();
    for (what, sandbox, is_ahead) in [
        ("a small script, cold", jail, false),
        ("the same, in a copy of a light server", &*copying, false),
        ("the same, in a jail made ahead", &*copying, true),
    ] {
        let (mut begun, mut ended) = (Vec::new(), Vec::new());
        let used = used_now();
        for _ in 0..ROUNDS {
            workspace::remove(&job.workspace).unwrap();
            let is_placed = is_ahead && copying.expect(&job).is_made().await;
            assert_eq!(copying.make_workspace(&job).unwrap(), is_placed);
            let (now, start) = (SystemTime::now(), Instant::now());
            let execution = sandbox.execute(&job).await.unwrap();
            ended.push(start.elapsed());
            let told = Duration::from_secs_f64(execution.output.text().trim().parse().unwrap());
            begun.push(told.saturating_sub(now.duration_since(SystemTime::UNIX_EPOCH).unwrap()));
        }
        let used = (used_now() - used) * 1e3 / ROUNDS as f64;
        let measured = format!(
            "first line after {}; result after {}; {used:.1} ms of processor time",
            Spread::of(begun).text(),
            Spread::of(ended).text()
        );
        row(what, &measured, "");
        if !is_ahead {
            // The light server, which is started in the background only.
            assert!(copying.expect(&job).is_made().await);
            copying.rest();
        }
    }
}

/// Processor seconds that the whole machine has used so far.
fn used_now() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let ticks =
        text.lines().next().unwrap().split_whitespace().skip(1).map(|word| word.parse::<u64>().unwrap());
    // User, nice and system; a hundredth of a second each.
    ticks.take(3).sum::<u64>() as f64 / 100.0
}

async fn docker(place: &Place) {
    let docker = match open(SandboxKind::Docker, &Settings::default()) {
        Ok(docker) => docker,
        Err(error) => return row("docker", &format!("skipped: {error}"), ""),
    };
    // Containers run as an ordinary user, who could not read a private environment.
    let mut job = place.job("docker", &["/bin/true"]);
    job.read_only.clear();
    let mut times = Vec::new();
    for _ in 0..10 {
        let begun = Instant::now();
        docker.execute(&job).await.unwrap();
        times.push(begun.elapsed());
    }
    row("container by docker", &Spread::of(times).text(), "");
}

/// Much output, and the harness's memory meanwhile.
async fn output(jail: &dyn Sandbox, place: &Place) {
    for (what, bytes, bar) in [
        ("100 MB of output", 100 * MB, ""),
        ("10 GB of output", 10_000 * MB, "under 50 MB of harness memory"),
    ] {
        forget_peak();
        let begun = Instant::now();
        let execution =
            jail.execute(&place.shell("output", &format!("head -c {bytes} /dev/zero"))).await.unwrap();
        let took = begun.elapsed().as_secs_f64();
        let kept = bytes - execution.output.dropped_bytes;
        let measured =
            format!("{took:.1} s, {kept} bytes kept, harness peak {:.1} MB", peak() as f64 / MB as f64);
        row(what, &measured, bar);
    }
}

/// Many at one time, each in a workspace of its own.
async fn parallel(jail: &dyn Sandbox, place: &Place) {
    let jobs: Vec<Job> =
        (0..PARALLEL).map(|number| place.shell(&format!("parallel-{number}"), "echo hello")).collect();
    let begun = Instant::now();
    let done = futures_util::future::join_all(jobs.iter().map(|job| async {
        let begun = Instant::now();
        assert!(jail.execute(job).await.unwrap().succeeded());
        begun.elapsed()
    }))
    .await;
    let all = begun.elapsed();
    let each = Spread::of(done);
    row(
        &format!("{PARALLEL} executions at one time"),
        &format!("{} ms for all; each {}", ms(all), each.text()),
        "",
    );
}

/// An execution's latency beside a fork bomb that is held by its limit, on other processors where there are some.
async fn neighbour(jail: &dyn Sandbox, place: &Place) {
    let ids = CpuSet::default().ids();
    let mut quiet = place.job("neighbour", &["/bin/true"]);
    let code = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass";
    let mut bomb = place.job("bomb", &[&place.environment.python().to_string_lossy(), "-c", code]);
    quiet.limits.cpus = CpuSet::of(ids.last().copied());
    bomb.limits.cpus = CpuSet::of(ids.first().copied());
    bomb.limits.processes = 200;
    bomb.timeout = Duration::from_secs(8);
    let alone = latencies(jail, &quiet, Duration::from_secs(2)).await;
    let (bombed, beside) = tokio::join!(jail.execute(&bomb), latencies(jail, &quiet, Duration::from_secs(6)));
    let refused = bombed.unwrap().blocked.get("processes").copied().unwrap_or(0);
    row("a neighbour alone", &alone.text(), "");
    row("a neighbour beside a fork bomb", &format!("{} ({refused} forks refused)", beside.text()), "");
}

async fn latencies(jail: &dyn Sandbox, job: &Job, time: Duration) -> Spread {
    let (end, mut times) = (Instant::now() + time, Vec::new());
    while Instant::now() < end {
        let begun = Instant::now();
        jail.execute(job).await.unwrap();
        times.push(begun.elapsed());
    }
    Spread::of(times)
}

/// CPU time that 64 busy processes get under a grant of one processor.
async fn grant(jail: &dyn Sandbox, place: &Place) {
    let mut job = place.shell("grant", "for i in $(seq 64); do (while :; do :; done) & done; wait");
    job.limits.cpus = CpuSet::of(CpuSet::default().ids().first().copied());
    job.timeout = Duration::from_secs(4);
    let execution = jail.execute(&job).await.unwrap();
    let share = execution.cpu_ms.map(|cpu| cpu as f64 / execution.wall_ms as f64);
    let measured = share.map_or_else(|| "not measured".to_owned(), |share| format!("{share:.3} processors"));
    row("64 busy processes under a grant of 1 processor", &measured, "at most 1");
}

/// Median and 95th percentile.
struct Spread {
    median: Duration,
    high: Duration,
    count: usize,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let count = times.len();
        Self { median: times[count / 2], high: times[(count * 95 / 100).min(count - 1)], count }
    }

    fn text(&self) -> String {
        format!("p50 {} ms, p95 {} ms (n = {})", ms(self.median), ms(self.high), self.count)
    }
}

fn ms(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

/// The time of one execution, the jail's own part included.
async fn taken(jail: &dyn Sandbox, job: &Job) -> Duration {
    let begun = Instant::now();
    let execution = jail.execute(job).await.unwrap();
    assert!(execution.succeeded(), "{execution:?}");
    begun.elapsed()
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn plain(program: &Path, arguments: &[&str]) {
    assert!(Command::new(program).args(arguments).stdin(Stdio::null()).status().unwrap().success());
}

/// Sets this process's peak of resident memory back to what it is now.
fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Peak of this process's resident memory in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
