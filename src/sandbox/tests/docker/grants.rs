//! What a job is granted in a container: folders by name, and all of it read back.

use podium_sandbox::{CpuSet, granted::Holder, read_back};

use crate::common::{Place, docker};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_force_is_read_back() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let mut job = place.python("");
    job.limits.memory_bytes = 300 << 20;
    job.limits.processes = 77;
    (job.limits.shm_bytes, job.limits.tmp_bytes) = (8 << 20, 16 << 20);
    job.limits.cpus = CpuSet::first(1);
    job.mounts.insert("models".to_owned(), place.folder.path().join("input"));
    let granted = read_back(&*docker, &job).await.unwrap();
    assert_eq!((granted.cpus, granted.memory_bytes, granted.processes), (1, 300 << 20, Some(77)));
    assert_eq!((granted.shm_bytes, granted.tmp_bytes), (Some(8 << 20), Some(16 << 20)));
    assert_eq!((granted.memory_held_by, granted.network), (Holder::ControlGroup, false));
    assert_eq!(granted.mounts.get("models").map(String::as_str), Some("/mounts/models"));
}

#[tokio::test(flavor = "multi_thread")]
async fn folders_by_name_are_read_only_and_known_to_libraries() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let code = "import os\nprint(os.environ['HF_HOME'], open('/mounts/hf/train.csv').readline().strip())\n\
                try: open('/mounts/hf/new', 'w'); print('written')\nexcept OSError: pass\n";
    let mut job = place.python(code);
    job.mounts.insert("hf".to_owned(), place.folder.path().join("input"));
    assert_eq!(docker.execute(&job).await.unwrap().output.text(), "/mounts/hf id,x\n");
}
