//! `podium experiment plan`: the runs that are left as commands for other machines, or as a Slurm array. Each begins its
//! run or goes on with it, so a task that was killed is put back as it stands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cli::experiment::runs_dir;
use crate::cli::failure::Failure;
use crate::cli::terminal::Terminal;
use crate::experiment::plan::PlannedRun;
use crate::experiment::spec::{MODEL, SCAFFOLD};
use crate::experiment::stored::Experiment;
use crate::run::config::Place;

/// Print the commands of the runs that are left, for other machines, or a Slurm array script
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  podium experiment plan ab | parallel -j 8\n  podium experiment plan ab --format sbatch | sbatch"
)]
pub(crate) struct Arguments {
    /// Its name, or its folder
    experiment: String,
    /// A line for each run, or one script with a task for each
    #[arg(long, value_enum, default_value_t = Format::Commands)]
    format: Format,
    /// Where it is looked for by its name [default: runs]
    #[arg(long, value_name = "DIR")]
    runs_dir: Option<PathBuf>,
}

/// What is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Commands,
    Sbatch,
}

pub(super) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let left: Vec<&PlannedRun> =
        experiment.stored.plan.runs.iter().filter(|run| !experiment.state(run).is_ended()).collect();
    let commands: Vec<String> = left.iter().map(|run| command(&experiment, run)).collect();
    match arguments.format {
        Format::Commands => commands.iter().for_each(|command| terminal.line(command)),
        Format::Sbatch if commands.is_empty() => terminal.error_line("nothing is left to run"),
        Format::Sbatch => sbatch(&experiment, &left, &commands, terminal),
    }
    Ok(ExitCode::SUCCESS)
}

/// One run as a shell command.
fn command(experiment: &Experiment, run: &PlannedRun) -> String {
    let folder = experiment.path(run);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let into = quoted(&folder.display().to_string());
    let place = placed(&experiment.stored.place);
    let mut words = vec!["podium".to_owned(), "run".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([format!("--{name}"), quoted(value)]);
    option("competition", &run.competition);
    option("seed", &run.seed.to_string());
    for (name, value) in &run.arm {
        match name.strip_prefix("role.") {
            Some(role) => option("role", &format!("{role}={value}")),
            None if name == SCAFFOLD || name == MODEL => option(name, value),
            None if name.contains('.') => option("set", &format!("{name}={value}")),
            None => option(&name.replace('_', "-"), value),
        }
    }
    let run = words.join(" ");
    format!(
        "if [ -e {into}/config.json ]; then podium resume {into}{place}; else {run} --into {into}{place}; fi"
    )
}

/// The options that say where things are.
fn placed(place: &Place) -> String {
    let mut text = format!(" --data-dir {}", quoted(&place.data_dir.display().to_string()));
    for (name, path) in [("assets", &place.assets), ("python", &place.python)] {
        if let Some(path) = path {
            text.push_str(&[" --", name, " ", &quoted(&path.display().to_string())].concat());
        }
    }
    text
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// An array script. A task that is stopped in time, or by a service, is put back into the queue.
fn sbatch(experiment: &Experiment, runs: &[&PlannedRun], commands: &[String], terminal: &Terminal) {
    let most = |of: fn(&PlannedRun) -> u64| runs.iter().map(|run| of(run)).max().unwrap_or(0);
    let memory = (most(|run| run.needs.memory_bytes) >> 20) + 1024;
    terminal.line("#!/bin/bash");
    for line in [
        format!("--job-name={}", quoted(&experiment.stored.spec.name)),
        format!("--array=0-{}", commands.len().saturating_sub(1)),
        format!("--cpus-per-task={}", most(|run| run.needs.cpus as u64).max(1)),
        format!("--mem={memory}M"),
        "--requeue".to_owned(),
        "--signal=B:TERM@120".to_owned(),
    ] {
        terminal.line(&format!("#SBATCH {line}"));
    }
    let gpus = most(|run| run.needs.gpus as u64);
    if gpus > 0 {
        terminal.line(&format!("#SBATCH --gres=gpu:{gpus}"));
    }
    terminal.line("run() {\ncase \"$SLURM_ARRAY_TASK_ID\" in");
    for (task, command) in commands.iter().enumerate() {
        terminal.line(&format!("{task}) {command} ;;"));
    }
    terminal.line("esac\n}");
    terminal.line("run & work=$!\ntrap 'pkill -TERM -P $work' TERM\nwait $work; code=$?");
    terminal.line("while kill -0 $work 2>/dev/null; do wait $work; code=$?; done");
    terminal.line(
        "[ $code -eq 5 ] && scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\"\nexit $code",
    );
}
