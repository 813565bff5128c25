//! What a job is granted: processors, graphics processors, folders by name; all seen from inside, and read back.

use podium_sandbox::granted::Holder;
use podium_sandbox::{
    CpuSet, GpuGrant, GpuRoot, SandboxError, SandboxKind, Settings, Strength, open, read_back,
};

use crate::common::{Place, jail};

/// Two graphics processors as their driver shows them, made of plain files.
fn fake_gpus(place: &Place) -> GpuRoot {
    let root = place.folder.path().join("gpus");
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    for (bus, minor) in [("0000:41:00.0", 0), ("0000:c1:00.0", 1)] {
        let text = format!("Model: \t\t NVIDIA A10\nGPU UUID: \t GPU-{minor}\nDevice Minor: \t {minor}\n");
        write(&format!("proc/driver/nvidia/gpus/{bus}/information"), &text);
        write(&format!("dev/nvidia{minor}"), "");
        write(&format!("sys/bus/pci/devices/{bus}/numa_node"), "0\n");
    }
    for node in ["nvidiactl", "nvidia-uvm", "nvidia-caps/nvidia-cap1", "nvidia-caps/nvidia-cap2"] {
        write(&format!("dev/{node}"), "");
    }
    write("proc/driver/nvidia/params", "ModifyDeviceFiles: 1\n");
    write("opt/driver/libcuda.so.1", "library");
    write("etc/ld.so.cache", "x\0/opt/driver/libcuda.so.1\0");
    GpuRoot::below(root)
}

#[tokio::test]
async fn every_count_of_processors_is_the_grant() {
    let Some(jail) = jail() else { return };
    let code = "
import multiprocessing, os, subprocess
names = ['OMP', 'MKL', 'OPENBLAS', 'NUMEXPR']
counts = [os.cpu_count(), multiprocessing.cpu_count(), len(os.sched_getaffinity(0)), os.sysconf('SC_NPROCESSORS_CONF'),
          int(subprocess.run(['nproc'], capture_output=True, text=True).stdout),
          int(os.environ['LOKY_MAX_CPU_COUNT']), int(os.environ['PYTHON_CPU_COUNT'])]
counts += [int(os.environ[name + '_NUM_THREADS']) for name in names]
try:
    import joblib
    counts.append(joblib.cpu_count())
except ImportError:
    pass
print(*sorted(set(counts)))
";
    let place = Place::new();
    for count in 1..=CpuSet::default().count().min(3) {
        let mut job = place.python(code);
        // The highest of them, so that the numbers are not those of an empty machine.
        let mut all = CpuSet::default().ids();
        all.reverse();
        job.limits.cpus = CpuSet::of(all.into_iter().take(count));
        assert_eq!(jail.execute(&job).await.unwrap().output.text(), format!("{count}\n"));
    }
}

#[tokio::test]
async fn a_grant_of_processors_cannot_be_widened() {
    let Some(jail) = jail() else { return };
    let controllers =
        jail.facts().cgroup.as_ref().map(|cgroup| cgroup.controllers.clone()).unwrap_or_default();
    if !controllers.iter().any(|name| name == "cpuset") {
        crate::common::skip(
            "no cpuset controller: processors are granted by affinity, and held by the quota alone",
        );
        return;
    }
    let code = "import os\ntry: os.sched_setaffinity(0, range(64))\nexcept OSError: pass\nprint(len(os.sched_getaffinity(0)))";
    let place = Place::new();
    let mut job = place.python(code);
    job.limits.cpus = CpuSet::first(1);
    assert_eq!(jail.execute(&job).await.unwrap().output.text(), "1\n");
}

#[tokio::test]
async fn what_is_in_force_is_read_back() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = place.python("");
    job.limits.memory_bytes = 300 << 20;
    job.limits.processes = 77;
    (job.limits.shm_bytes, job.limits.tmp_bytes) = (8 << 20, 16 << 20);
    job.limits.cpus = CpuSet::first(1);
    job.mounts.insert("models".to_owned(), place.folder.path().join("input"));
    let granted = read_back(&*jail, &job).await.unwrap();
    assert_eq!((granted.cpus, granted.cpu_count, granted.memory_bytes), (1, 1, 300 << 20));
    assert_eq!((granted.shm_bytes, granted.tmp_bytes), (Some(8 << 20), Some(16 << 20)));
    assert_eq!(granted.disk_bytes, job.limits.workspace_bytes);
    assert_eq!((granted.network, granted.gpus), (false, Vec::<String>::new()));
    assert_eq!(granted.mounts.get("models").map(String::as_str), Some("/mounts/models"));
    assert!(granted.python.starts_with("3."), "{}", granted.python);
    if jail.facts().strength == Strength::Full {
        assert_eq!((granted.memory_held_by, granted.processes), (Holder::ControlGroup, Some(77)));
    }
    // Asked for more than there is, the answer is what there is.
    job.limits.cpus = CpuSet::default();
    let all = u32::try_from(CpuSet::default().count()).unwrap();
    assert_eq!(read_back(&*jail, &job).await.unwrap().cpus, all);
    job.python = "/no/python".into();
    let refused = read_back(&*jail, &job).await.unwrap_err();
    assert!(matches!(refused, SandboxError::Start { .. } | SandboxError::NotReadBack { .. }), "{refused:?}");
}

#[tokio::test]
async fn without_control_groups_the_holder_is_named() {
    let Ok(jail) = open(SandboxKind::Jail, &Settings { cgroups: false, ..Settings::default() }) else {
        crate::common::skip("no jail on this machine");
        return;
    };
    let granted = read_back(&*jail, &Place::new().python("")).await.unwrap();
    assert_eq!((granted.memory_held_by, granted.processes), (Holder::Watchdog, None));
}

#[tokio::test]
async fn only_granted_gpus_are_there() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let root = fake_gpus(&place);
    let code = "
import os, resource
def names(path):
    try: return sorted(os.listdir(path))
    except OSError: return None
print([name for name in names('/dev') if 'nvidia' in name], names('/dev/nvidia-caps'))
print(names('/proc/driver/nvidia'), names('/proc/driver/nvidia/gpus'))
print(names('/sys/bus/pci/devices'), os.path.exists('/opt/driver/libcuda.so.1'))
print(repr(os.environ['CUDA_VISIBLE_DEVICES']), resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY)
for path in ['/dev/nvidia9', '/proc/driver/nvidia/new', '/proc/driver/new']:
    try: open(path, 'w'); print('written', path)
    except OSError: pass
";
    let mut job = place.python(code);
    let none = "[] None\nNone None\nNone False\n'' True\n";
    assert_eq!(jail.execute(&job).await.unwrap().output.text(), none);
    // With a driver on the machine and nothing granted it is the same.
    job.gpus.root = root.clone();
    assert_eq!(jail.execute(&job).await.unwrap().output.text(), none);
    let gpus = root.find(Some("1"));
    job.gpus = GpuGrant { root, gpus };
    let granted = "['nvidia-caps', 'nvidia-uvm', 'nvidia1', 'nvidiactl'] ['nvidia-cap2']\n\
                   ['gpus', 'params'] ['0000:c1:00.0']\n['0000:c1:00.0'] True\n'0' True\n";
    assert_eq!(jail.execute(&job).await.unwrap().output.text(), granted);
    assert_eq!(read_back(&*jail, &job).await.unwrap().gpus, ["NVIDIA A10"]);
}

#[tokio::test]
async fn folders_by_name_are_read_only_and_known_to_libraries() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let models = place.folder.path().join("models");
    std::fs::create_dir(&models).unwrap();
    std::fs::write(models.join("weights"), "1").unwrap();
    let code = "
import os
print(sorted(os.listdir('/mounts')), open('/mounts/hf/weights').read())
print(os.environ['HF_HOME'], os.environ['HF_HUB_OFFLINE'], os.environ['TORCH_HOME'])
for path in ['/mounts/hf/weights', '/mounts/hf/new', '/mounts/new']:
    try: open(path, 'w'); print('written', path)
    except OSError: pass
";
    let mut job = place.python(code);
    for name in ["hf", "torch", "my-data.v2"] {
        job.mounts.insert(name.to_owned(), models.clone());
    }
    let seen = jail.execute(&job).await.unwrap().output.text();
    assert_eq!(seen, "['hf', 'my-data.v2', 'torch'] 1\n/mounts/hf 1 /mounts/torch\n");
    // The user's own variables win.
    job.env.insert("HF_HOME".to_owned(), "/workspace".to_owned());
    let seen = jail.execute(&job).await.unwrap().output.text();
    assert!(seen.contains("\n/workspace 1 "), "{seen}");
}

#[tokio::test]
async fn a_mount_never_shows_what_is_hidden() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let data = place.folder.path().join("data");
    let private = data.join("toy/private");
    std::fs::create_dir_all(private.join("more")).unwrap();
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink(private.join("more"), &link).unwrap();
    for path in [&data, &private, &private.join("more"), &link] {
        let mut job = place.python("");
        job.hidden.push(private.clone());
        job.mounts.insert("x".to_owned(), path.clone());
        let refused = jail.check(&job).unwrap_err();
        assert!(matches!(refused, SandboxError::Exposed { .. }), "{}: {refused}", path.display());
    }
    for (name, path) in
        [("../x", &data), ("", &data), (".x", &data), ("a/b", &data), ("x", &place.workspace())]
    {
        let mut job = place.python("");
        job.mounts.insert(name.to_owned(), path.clone());
        assert!(matches!(jail.check(&job), Err(SandboxError::Job { .. })), "`{name}`");
    }
    let mut job = place.python("");
    job.mounts.insert("x".to_owned(), data.join("none"));
    assert!(matches!(jail.check(&job), Err(SandboxError::Io { .. })));
}
