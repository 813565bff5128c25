//! What a job's program becomes: files in the workspace, a command line with its descriptors, and an environment.

use std::{collections::BTreeMap, ffi::OsString, os::fd::OwnedFd, path::Path, process::Stdio};

use podium_types::execution::Program;
use rustix::pipe::PipeFlags;

use crate::{
    Facts, Job, SandboxError,
    callback::script,
    job::{MOUNTS, mount_variables},
    workspace,
};

/// A command line, and the descriptors that it starts with: nothing else is inherited.
#[derive(Debug)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) argv: Vec<OsString>,
    /// Standard input; empty when not given.
    pub(crate) stdin: Option<OwnedFd>,
    /// Standard output, where it is apart from standard error.
    pub(crate) spoken: Option<OwnedFd>,
    /// The writing end of the pipe that is standard output and standard error.
    pub(crate) output: OwnedFd,
    /// Kept under their numbers.
    pub(crate) inherit: Vec<OwnedFd>,
}

impl Launch {
    /// Of a program that gets no input, and the reading end of its output.
    pub(crate) fn new(argv: Vec<OsString>) -> Result<(Self, OwnedFd), SandboxError> {
        let (read, output) = pipe_pair()?;
        Ok((Self { argv, stdin: None, spoken: None, output, inherit: Vec::new() }, read))
    }

    /// Standard input, output and error.
    pub(crate) fn streams(&mut self) -> Result<[Stdio; 3], SandboxError> {
        let failed = |source| SandboxError::System { call: "dup", source };
        let output = match self.spoken.take() {
            Some(spoken) => spoken,
            None => self.output.try_clone().map_err(failed)?,
        };
        let error = self.output.try_clone().map_err(failed)?;
        // Without an input of its own it gets an empty pipe: the host's `/dev/null` would be open with its rights.
        let input = match self.stdin.take() {
            Some(input) => input,
            None => pipe_pair()?.0,
        };
        Ok([input.into(), output.into(), error.into()])
    }
}

/// A reading and a writing end that no child inherits by itself.
pub(crate) fn pipe_pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(SandboxError::system("pipe2"))
}

/// Writes a script into the workspace and returns the command line. The workspace is the working folder.
pub(crate) fn command_line(job: &Job) -> Result<Vec<OsString>, SandboxError> {
    match &job.program {
        Program::Python { file, code } => {
            workspace::write_file(&job.workspace, file, code.as_bytes())
                .map_err(SandboxError::io("writing the script in", &job.workspace))?;
            Ok(vec![job.python.clone().into(), OsString::from(file)])
        }
        Program::Command { argv } if argv.is_empty() => {
            Err(SandboxError::Job { message: "the command is empty".to_owned() })
        }
        Program::Command { argv } => Ok(argv.iter().map(OsString::from).collect()),
    }
}

/// The script's name, for reading tracebacks.
pub(crate) fn script(job: &Job) -> Option<&str> {
    match &job.program {
        Program::Python { file, .. } => Some(file),
        Program::Command { .. } => None,
    }
}

/// The whole environment of a program; nothing of the harness's own is passed on. `workspace` is its path as the
/// program sees it.
pub(crate) fn environment(job: &Job, workspace: &Path) -> BTreeMap<String, OsString> {
    let mut path = OsString::new();
    if let Some(folder) = job.python.parent().filter(|folder| folder.is_absolute()) {
        path.push(folder);
        path.push(":");
    }
    path.push("/usr/local/bin:/usr/bin:/bin");
    if job.submission_check.is_some() {
        path.push(":");
        path.push(script::FOLDER);
    }
    let cpus = job.limits.cpus.count().to_string();
    let home = workspace.join(".home").into_os_string();
    let mut environment: BTreeMap<String, OsString> = [
        ("PATH", path),
        ("HOME", home.clone()),
        ("USER", "agent".into()),
        ("LANG", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("TMPDIR", "/tmp".into()),
        ("MPLBACKEND", "Agg".into()),
        ("MPLCONFIGDIR", home),
        ("PYTHONUNBUFFERED", "1".into()),
        ("PYTHONDONTWRITEBYTECODE", "1".into()),
        ("PYTHONNOUSERSITE", "1".into()),
        ("PYTHONHASHSEED", "0".into()),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    // Numeric libraries start a thread per processor of the host otherwise.
    for name in ["OMP", "OPENBLAS", "MKL", "NUMEXPR", "BLIS", "VECLIB_MAXIMUM"] {
        environment.insert(format!("{name}_NUM_THREADS"), cpus.clone().into());
    }
    for name in ["LOKY_MAX_CPU_COUNT", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "PYTHON_CPU_COUNT"] {
        environment.insert(name.to_owned(), cpus.clone().into());
    }
    // OpenMP's threads spin while they wait, by default for good: where they are more than the processors that are free
    // at the time (other runs, other users), they take the time from each other, and scikit-learn's gradient boosting
    // was ten times slower. Sleeping costs microseconds. GNU and LLVM read the first, Intel's and LLVM the second.
    environment.insert("OMP_WAIT_POLICY".to_owned(), "PASSIVE".into());
    environment.insert("KMP_BLOCKTIME".to_owned(), "0".into());
    // A program that sees its workspace at the host's own path sees all of the host: no mounts, every device.
    let is_apart = workspace != job.workspace;
    environment.insert("CUDA_VISIBLE_DEVICES".to_owned(), job.gpus.visible(is_apart).into());
    environment.insert("CUDA_DEVICE_ORDER".to_owned(), "PCI_BUS_ID".into());
    let place =
        |name: &str, path: &Path| if is_apart { Path::new(MOUNTS).join(name) } else { path.to_owned() };
    for (name, value) in mount_variables(&job.mounts, place) {
        environment.insert(name.to_owned(), value);
    }
    environment.extend(job.env.iter().map(|(name, value)| (name.clone(), OsString::from(value))));
    environment
}

/// The environment as text, for people.
pub(crate) fn told_environment(job: &Job, workspace: &Path) -> BTreeMap<String, String> {
    let environment = environment(job, workspace).into_iter();
    environment.map(|(name, value)| (name, value.to_string_lossy().into_owned())).collect()
}

/// Refuses a job that wants to ask the harness where that cannot be.
pub(crate) fn refuse_check(job: &Job, facts: &Facts) -> Result<(), SandboxError> {
    if job.submission_check.is_some() && !facts.callbacks {
        let message = format!("a {} here has no check of submissions inside", facts.kind);
        return Err(SandboxError::Job { message });
    }
    if job.service.is_some() && !facts.callbacks {
        let message = format!("a {} here has no port at which the harness answers inside", facts.kind);
        return Err(SandboxError::Job { message });
    }
    Ok(())
}

/// Refuses names and values that no environment can hold.
pub(crate) fn check_environment(job: &Job) -> Result<(), SandboxError> {
    for (name, value) in &job.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(SandboxError::Job { message: format!("`{name}` cannot be an environment variable") });
        }
    }
    Ok(())
}
