//! What a warm start saves: `import pandas, sklearn` in a fresh jail, cold and warm by turns. Needs the environment
//! `base`, or another interpreter with these packages as the argument.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "an example prints, and may panic"
)]

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use podium_sandbox::{
    Environment, Interpreter, Job, SandboxKind, Settings, WARM, environment::default_cache, open, workspace,
};
use podium_types::execution::Program;

const ROUNDS: usize = 15;
const BASE: &str = include_str!("../../../benchmark/environments/base.txt");

#[tokio::main]
async fn main() {
    let environment = match std::env::args_os().nth(1) {
        Some(python) => Environment::of_user(&PathBuf::from(python)).unwrap(),
        None => {
            let python = Interpreter::find(None).unwrap();
            Environment::find(&default_cache().unwrap(), "base", BASE, &python).unwrap()
        }
    };
    let cold = open(SandboxKind::Jail, &Settings::default()).unwrap();
    let warm = open(SandboxKind::Jail, &Settings { warm: Some(WARM), ..Settings::default() }).unwrap();
    println!("{}", warm.facts().describe());
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("workspace");
    let program =
        Program::Python { file: "solution.py".to_owned(), code: "import pandas, sklearn".to_owned() };
    let mut job = Job::new(program, &place, &environment);
    job.timeout = Duration::from_mins(5);

    let start = Instant::now();
    workspace::create(&place).unwrap();
    assert!(warm.execute(&job).await.unwrap().warm);
    println!("first, with the start of the server: {:.0} ms", ms(start.elapsed()));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for (sandbox, times) in [&cold, &warm].into_iter().zip(&mut times) {
            workspace::create(&place).unwrap();
            let start = Instant::now();
            assert!(sandbox.execute(&job).await.unwrap().succeeded());
            times.push(start.elapsed());
        }
    }
    let [cold, warm] = times.map(|mut times| {
        times.sort_unstable();
        (times[ROUNDS / 2], times[0], times[ROUNDS * 9 / 10])
    });
    for (name, (median, least, most)) in [("cold", cold), ("warm", warm)] {
        println!("{name} p50 {:7.1} ms   least {:7.1} ms   p90 {:7.1} ms", ms(median), ms(least), ms(most));
    }
    println!("warm is {:.1} times faster", ms(cold.0) / ms(warm.0));
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
