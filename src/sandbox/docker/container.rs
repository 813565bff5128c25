//! One container: what it may have, and nothing else.
//!
//! No network, a read-only root, sized memory file systems, no capabilities, no new privileges, the system call
//! filter, limits of memory, processes and processors, and mounts by name. What the image says of its environment
//! holds where ours says nothing; its entry point, volumes, health check and user do not.
//!
//! A shell waits for a line on its standard input, so that the harness can take hold of the container before anything
//! runs. It then starts the program, with both outputs in one pipe, in order, says on its own second output with which
//! code the program ended, and waits again, so that the counters can be read before the engine removes them. The program
//! can say so as well, or kill the shell: then it has ended for us, with the code that it chose.

use std::{
    collections::HashMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use bollard::models::{
    ContainerCreateBody, DeviceRequest, HealthConfig, HostConfig, HostConfigLogConfig, Mount,
    MountBindOptions, MountBindOptionsPropagationEnum, MountTmpfsOptions, MountType, ResourcesUlimits,
};

use super::{Docker, sweep};
use crate::{
    Gpu, Job, SandboxError,
    callback::{self, script},
    finish,
    jail::root,
    job::MOUNTS,
    program, workspace,
};

/// What the shell does.
const GATE: &str = "read -r _ || exit 125; trap : INT; unset HOSTNAME TINI_KILL_PROCESS_GROUP; \
    (exec \"$@\") 2>&1 </dev/null; echo $? >&2; read -r _";
/// Processes in a container that are not the program's: the init process and the shell.
pub(super) const OURS: u64 = 2;
/// Without a name server of ours, an address that no network has (RFC 5737), so that looking up a name fails at once
/// and no address of the machine's is told.
const NOWHERE: &str = "192.0.2.1";
/// Parts of `/proc` and `/sys` that tell of the machine, besides the jail's list: the engine's own.
const MASKED: [&str; 7] = [
    "/proc/acpi",
    "/proc/asound",
    "/proc/scsi",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/devices/virtual/dmi",
    "/sys/firmware",
];
/// A folder that in most images only root may enter; what is mounted below it must be reached all the same.
const PRIVATE: &str = "/root";
/// For what an image declares as a volume.
const SMALL: i64 = 1 << 20;

/// The container of a job, as the engine takes it.
pub(super) fn body(
    docker: &Docker,
    job: &Job,
    argv: &[OsString],
) -> Result<ContainerCreateBody, SandboxError> {
    let mut entrypoint: Vec<String> = ["/bin/sh", "-c", GATE, "sh"].map(str::to_owned).into();
    entrypoint.extend(argv.iter().map(text).collect::<Result<Vec<_>, _>>()?);
    Ok(ContainerCreateBody {
        image: Some(docker.image.id.clone()),
        hostname: Some("podium".to_owned()),
        user: Some(docker.owner.text()),
        working_dir: Some(root::WORKSPACE.to_owned()),
        entrypoint: Some(entrypoint),
        cmd: Some(Vec::new()),
        env: Some(environment(job)?),
        tty: Some(false),
        open_stdin: Some(true),
        stdin_once: Some(true),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        healthcheck: Some(HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }),
        labels: Some(sweep::labels()),
        host_config: Some(host(docker, job)?),
        ..ContainerCreateBody::default()
    })
}

/// The environment. What makes a runtime hand out GPUs is not the job's to say.
fn environment(job: &Job) -> Result<Vec<String>, SandboxError> {
    let mut variables = program::environment(job, Path::new(root::WORKSPACE));
    let ids = gpu_ids(job);
    let visible = if ids.is_empty() { "void".to_owned() } else { ids.join(",") };
    variables.insert("NVIDIA_VISIBLE_DEVICES".to_owned(), visible.into());
    // The init process then hands SIGINT to the program's whole group.
    variables.insert("TINI_KILL_PROCESS_GROUP".to_owned(), "1".into());
    variables.iter().map(|(name, value)| Ok(format!("{name}={}", text(value)?))).collect()
}

fn host(docker: &Docker, job: &Job) -> Result<HostConfig, SandboxError> {
    let limits = &job.limits;
    let memory = signed(limits.memory_bytes);
    let count = limits.cpus.count();
    let pinned = docker.engine.info.cpu_set == Some(true);
    let processors: Vec<String> = limits.cpus.ids().iter().map(ToString::to_string).collect();
    Ok(HostConfig {
        network_mode: Some("none".to_owned()),
        ipc_mode: Some("private".to_owned()),
        readonly_rootfs: Some(true),
        init: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(security(docker)),
        masked_paths: Some(masked()),
        userns_mode: docker.engine.has("userns").then(|| "host".to_owned()),
        runtime: docker.settings.docker.runtime.clone(),
        oom_score_adj: Some(1000),
        memory: Some(memory),
        // Memory and swap together: no swap.
        memory_swap: (docker.engine.info.swap_limit == Some(true)).then_some(memory),
        pids_limit: Some(signed(limits.processes.saturating_add(OURS))),
        cpuset_cpus: pinned.then(|| processors.join(",")),
        nano_cpus: (!pinned).then(|| signed(count as u64 * 1_000_000_000)),
        ulimits: Some(
            finish::rlimits(limits).into_iter().filter_map(|(kind, limit)| ulimit(kind, limit)).collect(),
        ),
        shm_size: Some(signed(limits.shm_bytes.max(4096))),
        tmpfs: Some(tmpfs(job)),
        device_requests: gpus(job),
        mounts: Some(mounts(docker, job)?),
        // Output is taken from the attached stream; a log would fill the engine's disk.
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        dns: Some(vec![if docker.facts.callbacks { callback::NAME_SERVER } else { NOWHERE }.to_owned()]),
        dns_options: Some(vec!["attempts:1".to_owned(), "timeout:1".to_owned()]),
        extra_hosts: Some(vec!["podium:127.0.0.1".to_owned()]),
        ..HostConfig::default()
    })
}

fn masked() -> Vec<String> {
    let of_the_jail = root::MASKED.iter().map(|name| format!("/proc/{name}"));
    MASKED.iter().map(|path| (*path).to_owned()).chain(of_the_jail).collect()
}

fn security(docker: &Docker) -> Vec<String> {
    let mut options = vec!["no-new-privileges:true".to_owned(), format!("seccomp={}", docker.profile)];
    if docker.engine.has("selinux") {
        // Labels would keep the program from the mounted folders, which bear the user's.
        options.push("label=disable".to_owned());
    }
    options
}

/// The granted GPUs and the driver, which the engine's own hook brings in.
fn gpus(job: &Job) -> Option<Vec<DeviceRequest>> {
    let ids = gpu_ids(job);
    (!ids.is_empty()).then(|| {
        vec![DeviceRequest {
            driver: Some("nvidia".to_owned()),
            device_ids: Some(ids),
            capabilities: Some(vec![vec!["gpu".to_owned(), "compute".to_owned(), "utility".to_owned()]]),
            ..DeviceRequest::default()
        }]
    })
}

/// The names of the granted GPUs, as the engine's hook knows them.
fn gpu_ids(job: &Job) -> Vec<String> {
    let id = |gpu: &Gpu| gpu.uuid.clone().unwrap_or_else(|| gpu.index.to_string());
    job.gpus.gpus.iter().map(id).collect()
}

fn tmpfs(job: &Job) -> HashMap<String, String> {
    let size = job.limits.tmp_bytes.max(4096);
    HashMap::from([("/tmp".to_owned(), format!("rw,exec,nosuid,nodev,mode=1777,size={size}"))])
}

/// The mounts; the engine orders them from the root down.
fn mounts(docker: &Docker, job: &Job) -> Result<Vec<Mount>, SandboxError> {
    let mut mounts = vec![
        bind(docker, &job.workspace, root::WORKSPACE, true)?,
        bind(docker, &docker.files.passwd(), "/etc/passwd", false)?,
        bind(docker, &docker.files.group(), "/etc/group", false)?,
    ];
    if job.submission_check.is_some() {
        mounts.push(bind(docker, &docker.files.script(&job.python)?, script::PATH, false)?);
    }
    if !docker.engine.has_own_kernel() {
        let processors = docker.files.processors(job.limits.cpus.count())?;
        for name in ["online", "possible", "present"] {
            let path = format!("/sys/devices/system/cpu/{name}");
            mounts.push(bind(docker, &processors, &path, false)?);
        }
    }
    let system = docker.image.mounts();
    for folder in &system {
        mounts.push(bind(docker, folder, folder, false)?);
    }
    let read_only = root::read_only(job)?;
    let private: Vec<&Path> =
        read_only.iter().filter_map(|folder| folder.strip_prefix(PRIVATE).ok()).collect();
    if !private.is_empty() {
        mounts.push(bind(docker, &docker.files.mount_points(&private)?, PRIVATE, false)?);
    }
    for folder in read_only {
        readable(docker, &folder)?;
        mounts.push(bind(docker, &folder, &folder, false)?);
    }
    for (name, path) in &job.mounts {
        readable(docker, path)?;
        mounts.push(bind(docker, path, Path::new(MOUNTS).join(name), false)?);
    }
    if let Some(input) = &job.input {
        readable(docker, input)?;
        let inside = Path::new(root::WORKSPACE).join(workspace::INPUT);
        mounts.push(bind(docker, input, &inside, false)?);
        for (name, file) in root::replaced(job, input) {
            mounts.push(bind(docker, file, inside.join(name), false)?);
        }
    }
    for (name, folder) in &job.beside {
        readable(docker, folder)?;
        mounts.push(bind(docker, folder, Path::new(root::WORKSPACE).join(name), false)?);
    }
    // What an image declares as a volume would be a folder of the engine's without a size.
    mounts.extend(docker.image.volumes.iter().map(|path| Mount {
        target: Some(path.clone()),
        typ: Some(MountType::TMPFS),
        read_only: Some(true),
        tmpfs_options: Some(MountTmpfsOptions { size_bytes: Some(SMALL), mode: Some(0o755), options: None }),
        ..Mount::default()
    }));
    Ok(mounts)
}

/// Mounts `source` at `target`. What is mounted below a read-only folder must be read-only as well: engines that
/// cannot do that leave it out.
fn bind(
    docker: &Docker,
    source: &Path,
    target: impl AsRef<Path>,
    writable: bool,
) -> Result<Mount, SandboxError> {
    let source: PathBuf = source.canonicalize().map_err(SandboxError::io("mounting", source))?;
    let recursive = docker.engine.speaks(44);
    Ok(Mount {
        typ: Some(MountType::BIND),
        source: Some(text(source)?),
        target: Some(text(target.as_ref())?),
        read_only: Some(!writable),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            non_recursive: Some(writable || !recursive),
            read_only_force_recursive: (recursive && !writable).then_some(true),
            ..MountBindOptions::default()
        }),
        ..Mount::default()
    })
}

/// Refuses a folder that the program's user could not read, with a word on why.
fn readable(docker: &Docker, folder: &Path) -> Result<(), SandboxError> {
    if docker.owner.can_read(folder) {
        return Ok(());
    }
    Err(SandboxError::Unreadable { folder: folder.to_owned(), uid: docker.owner.uid })
}

fn ulimit(kind: rustix::process::Resource, limit: u64) -> Option<ResourcesUlimits> {
    let name = match kind {
        rustix::process::Resource::Core => "core",
        rustix::process::Resource::Fsize => "fsize",
        rustix::process::Resource::Nofile => "nofile",
        rustix::process::Resource::Cpu => "cpu",
        rustix::process::Resource::Nice => "nice",
        rustix::process::Resource::Rtprio => "rtprio",
        _ => return None,
    };
    Some(ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(signed(limit)),
        hard: Some(signed(limit)),
    })
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The engine's interface is JSON, which holds text only.
fn text(word: impl Into<OsString>) -> Result<String, SandboxError> {
    word.into().into_string().map_err(|word| SandboxError::Job {
        message: format!("`{}` is not UTF-8, and an engine takes nothing else", word.display()),
    })
}
