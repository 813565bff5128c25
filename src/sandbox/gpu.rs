//! Graphics processors: which there are, and what of the host a program needs to use some of them.
//!
//! Found by the device nodes and by what NVIDIA's driver tells below `/proc/driver/nvidia`; nothing of the driver is
//! loaded or run. A program is granted a few of them by their device nodes alone: a node that is not there cannot be
//! opened, whatever `CUDA_VISIBLE_DEVICES` says. Everything is looked up below a root folder, which is `/` on a real
//! machine. Must not know: who else uses them (see [`lease`](crate::lease)).

use std::{
    collections::BTreeMap,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// One graphics processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// Its number on the machine, in the order of the bus: what `CUDA_VISIBLE_DEVICES` means with
    /// `CUDA_DEVICE_ORDER=PCI_BUS_ID`.
    pub index: usize,
    /// Minor number of its device node, `/dev/nvidia0` for 0.
    pub minor: u32,
    /// The model, for example `NVIDIA A10`.
    pub name: String,
    /// Its serial id, `GPU-...`, where the driver tells it.
    pub uuid: Option<String>,
    /// Its place on the bus, for example `0000:01:00.0`, where the driver tells it.
    pub bus: Option<String>,
}

/// Where graphics processors and the driver's files are looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuRoot(PathBuf);

/// The graphics processors a job may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuGrant {
    /// Where their files are.
    pub root: GpuRoot,
    /// Which they are.
    pub gpus: Vec<Gpu>,
}

/// A file or device node of the host and where it stands inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) source: PathBuf,
    pub(crate) target: PathBuf,
}

/// Nodes that all graphics processors share. `nvidia-modeset` belongs to displays and is left out.
const SHARED_NODES: [&str; 3] = ["dev/nvidiactl", "dev/nvidia-uvm", "dev/nvidia-uvm-tools"];
/// The capability node that may re-partition a processor; all others only tell.
const RECONFIGURE: &str = "nvidia-cap1";
/// Beginnings of the names of the driver's libraries.
const LIBRARIES: [&str; 4] = ["libcuda.so", "libcudadebugger.so", "libnvidia-", "libnvcuvid.so"];
/// What libraries read of a processor's place on the bus; values, not the processor's memory.
const BUS_FILES: [&str; 7] =
    ["class", "device", "numa_node", "subsystem_device", "subsystem_vendor", "vendor", "local_cpulist"];

impl Default for GpuRoot {
    fn default() -> Self {
        Self(PathBuf::from("/"))
    }
}

impl GpuRoot {
    /// A tree that stands for the machine's, for tests.
    pub fn below(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.0.join(relative)
    }

    /// The graphics processors there are, in the order of the bus; those without a device node do not count. `visible`
    /// is the harness's own `CUDA_VISIBLE_DEVICES`: a scheduler that gave it a few of them is obeyed.
    pub fn find(&self, visible: Option<&str>) -> Vec<Gpu> {
        let mut gpus = self.told();
        if gpus.is_empty() {
            gpus = self.nodes().into_iter().map(Gpu::nameless).collect();
        }
        gpus.retain(|gpu| self.path(format!("dev/nvidia{}", gpu.minor)).exists());
        gpus.sort_by(|one, other| (&one.bus, one.minor).cmp(&(&other.bus, other.minor)));
        for (index, gpu) in gpus.iter_mut().enumerate() {
            gpu.index = index;
        }
        match visible {
            Some(list) => chosen(&gpus, list),
            None => gpus,
        }
    }

    /// Version of the driver, as it tells it.
    pub fn driver(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.path("proc/driver/nvidia/version")).ok()?;
        // `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 ...`
        let mut words = text.lines().next()?.split_whitespace();
        words
            .find(|word| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
            .map(str::to_owned)
    }

    /// What the driver tells of each.
    fn told(&self) -> Vec<Gpu> {
        let folders = std::fs::read_dir(self.path("proc/driver/nvidia/gpus")).into_iter().flatten().flatten();
        let read = |folder: std::fs::DirEntry| {
            let text = std::fs::read_to_string(folder.path().join("information")).ok()?;
            let facts: BTreeMap<&str, &str> = text
                .lines()
                .filter_map(|line| line.split_once(':').map(|(name, value)| (name.trim(), value.trim())))
                .collect();
            Some(Gpu {
                index: 0,
                minor: facts.get("Device Minor")?.parse().ok()?,
                name: facts.get("Model").copied().unwrap_or("NVIDIA GPU").to_owned(),
                uuid: facts
                    .get("GPU UUID")
                    .filter(|uuid| uuid.starts_with("GPU-"))
                    .map(|uuid| (*uuid).to_owned()),
                bus: folder.file_name().into_string().ok(),
            })
        };
        folders.filter_map(read).collect()
    }

    /// Minor numbers by the device nodes alone.
    fn nodes(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(self.path("dev")).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("nvidia")?.parse().ok()).collect()
    }
}

impl Gpu {
    fn nameless(minor: u32) -> Self {
        Self { index: 0, minor, name: "NVIDIA GPU".to_owned(), uuid: None, bus: None }
    }
}

/// Those that a list as `CUDA_VISIBLE_DEVICES` takes it names: numbers or beginnings of ids, up to the first that is
/// neither, as CUDA reads it.
fn chosen(gpus: &[Gpu], list: &str) -> Vec<Gpu> {
    let mut found: Vec<Gpu> = Vec::new();
    for word in list.split(',').map(str::trim) {
        let by_id =
            |gpu: &&Gpu| word.starts_with("GPU-") && gpu.uuid.as_ref().is_some_and(|id| id.starts_with(word));
        let named = match word.parse::<usize>() {
            Ok(index) => gpus.get(index),
            Err(_) => gpus.iter().find(by_id),
        };
        match named {
            Some(gpu) if !found.contains(gpu) => found.push(gpu.clone()),
            _ => break,
        }
    }
    found
}

impl GpuGrant {
    /// What `CUDA_VISIBLE_DEVICES` says inside. Where the nodes of all others are missing, CUDA counts what is left from
    /// zero; a plain process sees them all and is told the machine's numbers.
    pub(crate) fn visible(&self, others_hidden: bool) -> String {
        let numbers = self.gpus.iter().enumerate();
        let numbers = numbers.map(|(place, gpu)| if others_hidden { place } else { gpu.index }.to_string());
        numbers.collect::<Vec<_>>().join(",")
    }

    /// The machine has a driver, or what passes for one.
    pub(crate) fn is_driver_there(&self) -> bool {
        !self.gpus.is_empty() || self.root.path("proc/driver/nvidia").exists()
    }

    /// Device nodes: the granted processors' own, and what they share.
    pub(crate) fn nodes(&self) -> Vec<Shown> {
        if self.gpus.is_empty() {
            return Vec::new();
        }
        let own = self.gpus.iter().map(|gpu| format!("dev/nvidia{}", gpu.minor));
        let capabilities = names(&self.root.path("dev/nvidia-caps"));
        let capabilities =
            capabilities.into_iter().filter(|name| name.starts_with("nvidia-cap") && name != RECONFIGURE);
        own.chain(SHARED_NODES.map(str::to_owned))
            .chain(capabilities.map(|name| format!("dev/nvidia-caps/{name}")))
            .map(|path| self.shown(&path))
            .filter(|shown| shown.source.exists())
            .collect()
    }

    /// What the driver tells of itself and of the granted processors.
    pub(crate) fn told(&self) -> Vec<Shown> {
        let buses = self.gpus.iter().filter_map(|gpu| gpu.bus.as_ref());
        let gpus = buses.map(|bus| format!("proc/driver/nvidia/gpus/{bus}"));
        gpus.chain((!self.gpus.is_empty()).then(|| "proc/driver/nvidia/version".to_owned()))
            .map(|path| self.shown(&path))
            .filter(|shown| shown.source.exists())
            .collect()
    }

    /// The driver's parameters. Its tools read there that the device nodes are not theirs to make.
    pub(crate) fn parameters(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.root.path("proc/driver/nvidia/params")).ok()?;
        let line = |line: &str| match line.split_once(':') {
            Some(("ModifyDeviceFiles", _)) => "ModifyDeviceFiles: 0\n".to_owned(),
            _ => format!("{line}\n"),
        };
        (!self.gpus.is_empty()).then(|| text.lines().map(line).collect())
    }

    /// Small files of the bus, by their path inside: copies, for the real ones stand beside the processor's memory.
    pub(crate) fn bus(&self) -> Vec<(String, String)> {
        let buses = self.gpus.iter().filter_map(|gpu| gpu.bus.as_ref());
        let files = buses.flat_map(|bus| BUS_FILES.map(|file| format!("sys/bus/pci/devices/{bus}/{file}")));
        files
            .filter_map(|path| {
                Some((format!("/{path}"), std::fs::read_to_string(self.root.path(&path)).ok()?))
            })
            .collect()
    }

    /// The driver's libraries that do not lie in `/usr`, which is shown anyway: those that the loader's cache names.
    pub(crate) fn libraries(&self) -> Vec<Shown> {
        if self.gpus.is_empty() {
            return Vec::new();
        }
        let cache = std::fs::read(self.root.path("etc/ld.so.cache")).unwrap_or_default();
        let mut paths: Vec<&Path> = cache
            .split(|byte| *byte == 0)
            .filter(|text| text.starts_with(b"/"))
            .map(|text| Path::new(std::ffi::OsStr::from_bytes(text)))
            .filter(|path| is_library(path) && !is_shown_anyway(path))
            .collect();
        paths.sort_unstable();
        paths.dedup();
        let relative = paths.into_iter().filter_map(|path| path.strip_prefix("/").ok());
        relative.map(|path| self.shown(path)).filter(|shown| shown.source.is_file()).collect()
    }

    fn shown(&self, path: impl AsRef<Path>) -> Shown {
        Shown { source: self.root.path(&path), target: Path::new("/").join(&path) }
    }
}

/// A library of the driver by its name, and a clean path: the cache is the host's own, but is only scanned here.
fn is_library(path: &Path) -> bool {
    let named = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
        name.contains(".so") && LIBRARIES.iter().any(|library| name.starts_with(library))
    });
    named && path.components().all(|part| !matches!(part, std::path::Component::ParentDir))
}

/// Below a folder that every jail shows, or has of its own.
fn is_shown_anyway(path: &Path) -> bool {
    ["/usr", "/lib", "/lib64", "/lib32", "/proc", "/dev", "/sys", "/etc", "/tmp", "/workspace"]
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// Names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two processors as a driver of 2024 tells them, the first on the bus with the higher node.
    fn machine() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (bus, minor, id) in [("0000:41:00.0", 1, "GPU-aaaa-1"), ("0000:c1:00.0", 0, "GPU-bbbb-2")] {
            let text = format!(
                "Model: \t\t NVIDIA A10\nIRQ:   \t\t 90\nGPU UUID: \t {id}\nBus Location: \t {bus}\nDevice Minor: \t {minor}\n"
            );
            write(&format!("proc/driver/nvidia/gpus/{bus}/information"), &text);
            write(&format!("dev/nvidia{minor}"), "");
            write(&format!("sys/bus/pci/devices/{bus}/numa_node"), "0\n");
            write(&format!("sys/bus/pci/devices/{bus}/resource0"), "memory");
        }
        for node in [
            "nvidiactl",
            "nvidia-uvm",
            "nvidia-modeset",
            "nvidia-caps/nvidia-cap1",
            "nvidia-caps/nvidia-cap2",
        ] {
            write(&format!("dev/{node}"), "");
        }
        write("proc/driver/nvidia/params", "EnableMSI: 1\nModifyDeviceFiles: 1\n");
        write(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 19:39:15 UTC 2024\n",
        );
        for library in ["opt/driver/libcuda.so.1", "opt/driver/libother.so", "usr/lib/libnvidia-ml.so.1"] {
            write(library, "");
        }
        write(
            "etc/ld.so.cache",
            "glibc-ld.so.cache1.1\0libcuda.so.1\0/opt/driver/libcuda.so.1\0/opt/driver/libother.so\0\
             /usr/lib/libnvidia-ml.so.1\0/opt/../etc/libcuda.so.9\0",
        );
        root
    }

    #[test]
    fn they_are_numbered_by_the_bus() {
        let machine = machine();
        let root = GpuRoot::below(machine.path());
        let found = root.find(None);
        let seen: Vec<_> =
            found.iter().map(|gpu| (gpu.index, gpu.minor, gpu.uuid.as_deref().unwrap())).collect();
        assert_eq!(seen, [(0, 1, "GPU-aaaa-1"), (1, 0, "GPU-bbbb-2")]);
        assert_eq!(found.first().unwrap().name, "NVIDIA A10");
        assert_eq!(root.driver().as_deref(), Some("535.183.01"));
        let minors = |list| root.find(Some(list)).iter().map(|gpu| gpu.minor).collect::<Vec<_>>();
        assert_eq!(minors("1"), [0]);
        assert_eq!(minors("GPU-bbbb,0"), [0, 1]);
        assert_eq!(minors("0,7,1"), [1], "CUDA stops at the first that is not there");
        assert_eq!(minors(""), Vec::<u32>::new());
    }

    #[test]
    fn nodes_alone_are_enough_and_a_node_must_be_there() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(GpuRoot::below(root.path()).find(None), []);
        std::fs::create_dir(root.path().join("dev")).unwrap();
        for node in ["nvidia0", "nvidia3", "nvidiactl"] {
            std::fs::write(root.path().join("dev").join(node), "").unwrap();
        }
        let minors: Vec<u32> = GpuRoot::below(root.path()).find(None).iter().map(|gpu| gpu.minor).collect();
        assert_eq!(minors, [0, 3]);
        let machine = machine();
        std::fs::remove_file(machine.path().join("dev/nvidia0")).unwrap();
        assert_eq!(GpuRoot::below(machine.path()).find(None).len(), 1);
    }

    #[test]
    fn a_grant_shows_its_own_and_nothing_else() {
        let machine = machine();
        let root = GpuRoot::below(machine.path());
        let gpus = root.find(Some("1"));
        let grant = GpuGrant { root: root.clone(), gpus };
        let targets = |shown: Vec<Shown>| -> Vec<String> {
            shown.into_iter().map(|shown| shown.target.display().to_string()).collect()
        };
        assert_eq!(
            targets(grant.nodes()),
            ["/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap2"]
        );
        assert_eq!(
            targets(grant.told()),
            ["/proc/driver/nvidia/gpus/0000:c1:00.0", "/proc/driver/nvidia/version"]
        );
        assert_eq!(grant.parameters().as_deref(), Some("EnableMSI: 1\nModifyDeviceFiles: 0\n"));
        assert_eq!(targets(grant.libraries()), ["/opt/driver/libcuda.so.1"]);
        let bus = [("/sys/bus/pci/devices/0000:c1:00.0/numa_node".to_owned(), "0\n".to_owned())];
        assert_eq!(grant.bus(), bus);
        assert_eq!((grant.visible(true).as_str(), grant.visible(false).as_str()), ("0", "1"));
        let none = GpuGrant { root, gpus: Vec::new() };
        assert!(none.nodes().is_empty() && none.told().is_empty() && none.libraries().is_empty());
        assert_eq!((none.parameters(), none.bus(), none.visible(true).as_str()), (None, Vec::new(), ""));
    }
}
