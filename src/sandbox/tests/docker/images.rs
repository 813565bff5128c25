//! Images of the user's: made here from the machine's own files, for no registry can be asked.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use podium_sandbox::{
    Environment, Interpreter, Sandbox, SandboxError, SandboxKind, SessionJob, Settings, Strength, open,
};
use podium_types::{execution::Ended, session::SessionKind};

use crate::{
    common::{Place, engine_says, settings, skip},
    session::{open as open_session, send},
};

/// Programs that the image has, and the probe needs, under the name by which they are called.
const PROGRAMS: [(&str, &str); 7] = [
    ("/bin/sh", "bin/sh"),
    ("/bin/ls", "bin/ls"),
    ("/bin/true", "bin/true"),
    ("/bin/grep", "bin/grep"),
    ("/usr/bin/id", "usr/bin/id"),
    ("/usr/bin/unshare", "usr/bin/unshare"),
    ("/usr/bin/env", "usr/bin/env"),
];
/// Where the image has a Python that the machine has not.
const PYTHON: &str = "/opt/own/bin/python3";
const TAG: &str = "podium-test:own-python";

/// Copies a file and the libraries that it is linked with.
fn take(root: &Path, source: &Path, target: &str) {
    let target = root.join(target);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::copy(source, target).unwrap();
    take_libraries(root, source);
}

fn take_libraries(root: &Path, source: &Path) {
    let linked = Command::new("ldd").arg(source).output().unwrap();
    for path in
        String::from_utf8_lossy(&linked.stdout).split_whitespace().filter(|word| word.starts_with('/'))
    {
        let target = root.join(path.trim_start_matches('/'));
        if !target.exists() {
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(path, target).unwrap();
        }
    }
}

/// The image, removed at the end.
struct Image<'a>(&'a Settings);

impl Drop for Image<'_> {
    fn drop(&mut self) {
        engine_says(self.0, &["rmi", TAG]);
    }
}

/// Makes the image. Its configuration asks for all that must not be granted.
fn image(settings: &Settings) -> Option<Image<'_>> {
    let mut docker = Command::new("docker");
    if let Some(host) = &settings.docker.host {
        docker.args(["--host", host]);
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    for (source, target) in PROGRAMS {
        take(&root, &Path::new(source).canonicalize().unwrap(), target);
    }
    let python = Interpreter::find(None).unwrap();
    let real = python.path.canonicalize().unwrap();
    take(&root, &real, PYTHON.trim_start_matches('/'));
    let place = "import os, sys; print(os.path.dirname(os.__file__), 'python%d.%d' % sys.version_info[:2])";
    let place = Command::new(&real).args(["-I", "-c", place]).output().unwrap();
    let place = String::from_utf8(place.stdout).unwrap();
    let (library, name) = place.trim().rsplit_once(' ').unwrap();
    let target = root.join("opt/own/lib");
    std::fs::create_dir_all(&target).unwrap();
    let pipe = "tar -C \"$1\" --exclude=site-packages --exclude=dist-packages --exclude=test --exclude=idlelib \
                --exclude=tkinter --exclude=ensurepip --exclude=__pycache__ -cf - \"$2\" | tar -C \"$3\" -xf -";
    let parent = Path::new(library).parent()?;
    let copied =
        Command::new("sh").args(["-c", pipe, "sh"]).args([parent, Path::new(name), &target]).status();
    assert!(copied.unwrap().success());
    for module in std::fs::read_dir(Path::new(library).join("lib-dynload")).unwrap().flatten() {
        take_libraries(&root, &module.path());
    }
    std::fs::create_dir_all(root.join("usr/local/bin")).unwrap();
    std::os::unix::fs::symlink(PYTHON, root.join("usr/local/bin/python3")).unwrap();
    for folder in ["tmp", "root", "etc", "data"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let archive = folder.path().join("archive.tar");
    let archived = Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&archive).arg(".").status();
    assert!(archived.unwrap().success());
    docker.arg("import");
    for change in [
        "VOLUME /data",
        "USER root",
        "ENTRYPOINT [\"/bin/false\"]",
        "CMD [\"never\"]",
        "ENV FROM_IMAGE=yes HOME=/root OMP_NUM_THREADS=64 NVIDIA_VISIBLE_DEVICES=all",
        "HEALTHCHECK --interval=1s CMD /bin/true",
        "WORKDIR /data",
    ] {
        docker.args(["--change", change]);
    }
    let imported = docker.arg(archive).arg(TAG).stdout(Stdio::null()).status();
    match imported {
        Ok(status) => assert!(status.success()),
        Err(_) => {
            skip("the engine has no command line to import an image with");
            return None;
        }
    }
    Some(Image(settings))
}

#[tokio::test]
async fn an_image_of_the_user_s_gives_its_python_and_nothing_that_it_asks_for() {
    let Some(plain) = settings() else { return };
    let Some(_image) = image(&plain) else { return };
    let mut settings = plain.clone();
    settings.docker.image = Some(TAG.to_owned());
    let docker = open(SandboxKind::Docker, &settings).unwrap();
    assert_eq!(docker.facts().strength, Strength::Full, "{:?}", docker.facts());

    let inside = Environment::of_image(&*docker, Path::new(PYTHON)).await.unwrap();
    let description = inside.describe();
    assert_eq!((description.name.as_str(), description.python.as_path()), ("image", Path::new(PYTHON)));
    assert_eq!((inside.read_only(), description.base_prefix), (Vec::new(), PathBuf::from("/opt/own")));
    inside.verify().unwrap();

    let place = Place::new();
    let mut job = place.python(
        "import os, sys\nprint(sys.prefix, os.getcwd(), os.getuid() != 0)\n\
         print(*(os.environ.get(name) for name in ('FROM_IMAGE', 'HOME', 'OMP_NUM_THREADS', 'NVIDIA_VISIBLE_DEVICES')))\n\
         for path in ('/data/x', '/opt/own/x', '/root/x'):\n    try: open(path, 'w'); print('written', path)\n    \
         except OSError: pass\nprint(os.path.exists('/usr/bin/dpkg'))",
    );
    (job.python, job.read_only) = (PYTHON.into(), inside.read_only());
    let execution = docker.execute(&job).await.unwrap();
    let want = "/opt/own /workspace True\nyes /workspace/.home 1 void\nFalse\n";
    assert_eq!((execution.output.text().as_str(), execution.ended), (want, Ended::Exit(0)));

    // An environment of the machine's stands on a Python that this image has not.
    let job = place.python("print('never')");
    match docker.execute(&job).await {
        Err(error) => assert!(matches!(error, SandboxError::NoPythonInImage { .. }), "{error:?}"),
        // Unless all that it stands on is mounted.
        Ok(execution) => assert_eq!(execution.output.text(), "never\n"),
    }
    sessions_are_the_image_s_own(&*docker).await;
    let error = Environment::of_image(&*docker, Path::new("/no/python")).await.unwrap_err();
    assert!(
        matches!(error, SandboxError::NoPython { .. }) && error.to_string().contains("/no/python"),
        "{error:?}"
    );
}

/// The image's Python by its plain name, its kernel, and its shell: it has no bash.
async fn sessions_are_the_image_s_own(docker: &dyn Sandbox) {
    let named = Environment::of_image_now(docker, Path::new("python3")).unwrap();
    assert_eq!(named.python(), Path::new("/usr/local/bin/python3"));
    let described = named.describe();
    assert!(
        described.version.starts_with("3.") && described.base_prefix == Path::new("/opt/own"),
        "{described:?}"
    );
    let place = Place::new();
    let mut kernel =
        open_session(docker, &SessionJob::new(SessionKind::Kernel, place.workspace(), &named)).await;
    assert_eq!(kernel.facts().program, format!("python {}", described.version));
    let seen = send(&mut *kernel, "import sys\nprint(sys.prefix)").await;
    assert_eq!(seen.output.text(), "/opt/own\n");
    drop(kernel);
    let mut shell =
        open_session(docker, &SessionJob::new(SessionKind::Shell, place.workspace(), &named)).await;
    assert_eq!(shell.facts().program, "sh");
    send(&mut *shell, "A=1").await;
    assert_eq!(send(&mut *shell, "echo $A $FROM_IMAGE").await.output.text(), "1 yes\n");
}
