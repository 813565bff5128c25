//! `podium experiment plan`: the runs that are left as commands for other machines, or as a Slurm array. Each begins its
//! run or goes on with it, so a task that was killed is put back as it stands.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::cli::experiment::runs_dir;
use crate::cli::failure::Failure;
use crate::cli::terminal::Terminal;
use crate::experiment::plan::PlannedRun;
use crate::experiment::settings;
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
    /// Under a cap: print also what was printed before and has no report yet
    #[arg(long)]
    again: bool,
}

/// What is printed.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Commands,
    Sbatch,
}

pub(super) fn main(arguments: &Arguments, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let experiment = Experiment::find(&arguments.experiment, &runs_dir(arguments.runs_dir.as_ref()))?;
    let dealt = experiment.allotments(arguments.again);
    experiment.note_dealt(&dealt)?;
    match arguments.format {
        Format::Commands => {
            for run in &dealt.runs {
                terminal.line(&command(&experiment, run, ""));
            }
        }
        Format::Sbatch if dealt.runs.is_empty() => {}
        Format::Sbatch => terminal.line(&script(&experiment, &dealt.runs)),
    }
    if dealt.out > 0 {
        terminal.error_line(&format!(
            "{} runs were printed before and have no report yet; --again prints them anew",
            dealt.out
        ));
    }
    if dealt.runs.is_empty() && dealt.kept_back == 0 && dealt.out == 0 {
        terminal.error_line("nothing is left to run");
    }
    if dealt.kept_back > 0 {
        terminal.error_line(&format!(
            "{} more runs are kept back: the cap pays these {} at their limits and no more; plan again when these have ended",
            dealt.kept_back,
            dealt.runs.len() + dealt.out
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// One run as a shell command; `before` stands before the program.
fn command(experiment: &Experiment, run: &PlannedRun, before: &str) -> String {
    let folder = experiment.path(run);
    let folder = std::path::absolute(&folder).unwrap_or(folder);
    let into = quoted(&folder.display().to_string());
    let place = placed(&experiment.stored.place);
    let mut words = vec!["podium".to_owned(), "run".to_owned()];
    let cell = [("competition", run.competition.clone()), ("seed", run.seed.to_string())];
    let arm = run.arm.iter().map(|(name, value)| (name.as_str(), value.clone()));
    for (name, value) in cell.into_iter().chain(arm) {
        let (option, value) = settings::option(name, &value);
        words.extend([option, quoted(&value)]);
    }
    let run = words.join(" ");
    let go_on = format!("{before}podium resume {into}{place}");
    format!("if [ -e {into}/config.json ]; then {go_on}; else {before}{run} --into {into}{place}; fi")
}

/// The options that say where things are.
fn placed(place: &Place) -> String {
    let mut text = format!(" --data-dir {}", quoted(&place.data_dir.display().to_string()));
    for (name, path) in [("assets", &place.assets), ("python", &place.python), ("models", &place.models)] {
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

/// An array script. Slurm tells a task two minutes before it ends it; then the run stops, and the task is put back into
/// the queue. So is one whose program was killed, a few times.
fn script(experiment: &Experiment, runs: &[&PlannedRun]) -> String {
    let most = |of: fn(&PlannedRun) -> u64| runs.iter().map(|run| of(run)).max().unwrap_or(0);
    let memory = (most(|run| run.needs.memory_bytes) >> 20) + HARNESS_MIB;
    let mut lines = vec!["#!/bin/bash".to_owned()];
    let gpus = most(|run| run.needs.gpus as u64);
    let asked = [
        Some(format!("--job-name={}", quoted(&experiment.stored.spec.name))),
        Some(format!("--array=0-{}", runs.len().saturating_sub(1))),
        Some(format!("--cpus-per-task={}", most(|run| run.needs.cpus as u64).max(1))),
        Some(format!("--mem={memory}M")),
        (gpus > 0).then(|| format!("--gres=gpu:{gpus}")),
        Some("--requeue".to_owned()),
        Some("--open-mode=append".to_owned()),
        Some("--signal=B:TERM@120".to_owned()),
    ];
    lines.extend(asked.into_iter().flatten().map(|asked| format!("#SBATCH {asked}")));
    lines.push("work() {\n  case $SLURM_ARRAY_TASK_ID in".to_owned());
    for (task, run) in runs.iter().enumerate() {
        lines.push(format!("  {task}) {} ;;", command(experiment, run, "exec ")));
    }
    lines.push(format!("  esac\n}}\n{TASK}"));
    lines.join("\n")
}

/// Memory of the program itself, beside that of the executions.
const HARNESS_MIB: u64 = 1024;

/// The end of the script: `work` becomes the program, so a signal reaches it.
const TASK: &str = r#"work & pid=$!
trap 'kill -TERM $pid' TERM
wait $pid; code=$?
while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done
if [ $code -eq 5 ] || [ $code -gt 128 ]; then # stopped and resumable, or killed
  [ "${SLURM_RESTART_COUNT:-0}" -lt 10 ] && scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit $code"#;
