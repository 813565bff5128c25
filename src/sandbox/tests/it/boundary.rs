//! What a program inside can see and do. Each test is a small attack.

use std::path::Path;

use podium_sandbox::{SandboxError, SubmissionRule};
use podium_types::execution::{Collected, Ended};

use crate::common::{Place, jail, run};

#[tokio::test]
async fn nothing_of_the_host_is_there() {
    let Some(jail) = jail() else { return };
    let code = "
import os
print(sorted(os.listdir('/')))
print(sorted(os.listdir('/etc')))
for path in ['/home', '/etc/shadow', '/var', '/run', '/proc/1/root/home', '/proc/self/root/var', '/workspace/../home', '/mnt', '/srv']:
    print(path, os.path.lexists(path))
print(os.getuid(), os.getgid(), os.uname().nodename, os.getcwd())
print(open('/proc/1/cmdline').read().split('\\0')[:1], '--bind' in open('/proc/1/cmdline').read())
print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4], [p for p in os.listdir('/proc') if p.isdigit()])
";
    let execution = run(&*jail, code).await;
    let text = execution.output.text();
    assert_eq!(execution.ended, Ended::Exit(0), "{text}");
    assert!(!text.contains("True"), "{text}");
    assert!(text.contains("1000 1000 podium /workspace"), "{text}");
    assert!(text.contains("[0, 1, 2, 3]") && text.contains("['1', '2']"), "{text}");
}

#[tokio::test]
async fn ordinary_parallel_python_works() {
    let Some(jail) = jail() else { return };
    let code = "
import multiprocessing, threading, concurrent.futures, subprocess, tempfile, os
def square(x): return x * x
if __name__ == '__main__':
    with multiprocessing.Pool(2) as pool: print(pool.map(square, range(4)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(square, range(4))))
    print(multiprocessing.get_context('spawn').Pool(1).apply(square, (3,)))
    threads = [threading.Thread(target=square, args=(i,)) for i in range(8)]
    [t.start() for t in threads]; [t.join() for t in threads]
    print(subprocess.check_output(['sh', '-c', 'echo sub']).decode().strip())
    with tempfile.NamedTemporaryFile() as f: f.write(b'x')
    print(os.cpu_count(), len(os.sched_getaffinity(0)), subprocess.check_output('nproc').decode().strip())
";
    let execution = run(&*jail, code).await;
    assert_eq!(execution.output.text(), "[0, 1, 4, 9]\n[0, 1, 4, 9]\n9\nsub\n1 1 1\n");
    assert_eq!(execution.ended, Ended::Exit(0));
}

#[tokio::test]
async fn a_mount_that_shows_what_is_hidden_is_refused() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    // A clone of the harness inside an environment's prefix, as when both lie in one project's folder.
    let prefix = place.folder.path().join("prefix");
    let clone = prefix.join("src/podium");
    std::fs::create_dir_all(clone.join("benchmark")).unwrap();
    std::fs::create_dir(prefix.join("bin")).unwrap();
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink(&prefix, &link).unwrap();
    let job = |mount: &Path, hidden: &Path| {
        let mut job = place.python("open('submission/ran', 'w').close()");
        job.read_only.push(mount.to_owned());
        job.hidden = vec![place.store(), hidden.to_owned()];
        job
    };
    let input = place.folder.path().join("input");
    let through_link = link.join("src/podium");
    let shown = [
        (prefix.as_path(), clone.as_path()),
        (clone.as_path(), clone.as_path()),
        (link.as_path(), clone.as_path()),
        (prefix.as_path(), through_link.as_path()),
        (prefix.as_path(), &clone.join("runs/that/will/be/made")),
        (&prefix.join("bin"), Path::new("/usr/lib/podium/data")),
        (&prefix.join("bin"), &input),
    ];
    for (mount, hidden) in shown {
        let job = job(mount, hidden);
        for error in [jail.check(&job).unwrap_err(), jail.execute(&job).await.unwrap_err()] {
            assert!(matches!(error, SandboxError::Exposed { .. }) && error.hint().is_some(), "{error:?}");
        }
    }
    assert!(!place.workspace().join("submission/ran").exists(), "nothing was run");

    // Beside a mount, or around one, is no harm: a virtual environment in a clone.
    for (mount, hidden) in [(prefix.join("bin"), clone), (prefix.join("bin"), prefix.clone())] {
        let job = job(&mount, &hidden);
        jail.check(&job).unwrap();
        assert!(jail.execute(&job).await.unwrap().succeeded());
    }
}

#[tokio::test]
async fn a_file_of_the_input_is_seen_as_another() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let put = |name: &str, text: &str| {
        let path = place.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    put("input/description.md", "the original");
    put("input/train.csv", "id");
    let instead = put("instead.md", "another");
    std::os::unix::fs::symlink("train.csv", place.folder.path().join("input/link.csv")).unwrap();
    let code = r"
import os
print(sorted(os.listdir('input')))
for name in ['description.md', 'train.csv', 'link.csv']:
    print(open('input/' + name).read())
try:
    open('input/description.md', 'w')
except OSError as error:
    print(error.strerror)
";
    let mut job = place.python(code);
    for name in ["description.md", "absent.md", "link.csv"] {
        job.input_instead.push((name.to_owned(), instead.clone()));
    }
    let files = podium_sandbox::workspace::Files::of(&job);
    assert_eq!(files.read("input/description.md").unwrap(), b"another", "as programs see it");
    assert_eq!(files.read("input/train.csv").unwrap(), b"id");
    let text = jail.execute(&job).await.unwrap().output.text();
    let listed = "['description.md', 'link.csv', 'train.csv']";
    assert_eq!(text, format!("{listed}\nanother\nid\nid\nRead-only file system\n"));
    assert_eq!(
        std::fs::read_to_string(place.folder.path().join("input/description.md")).unwrap(),
        "the original"
    );
}

/// What a folder beside the input and files to collect besides the submission come to, in any kind with a boundary.
const BESIDE: &str = "
import os
print(sorted(os.listdir('validation')), open('validation/rows.csv').read())
for attempt in [lambda: open('validation/rows.csv', 'a'), lambda: open('validation/new', 'w'),
                lambda: os.rename('validation', 'elsewhere'), lambda: os.unlink('validation/rows.csv')]:
    try:
        attempt()
        print('changed')
    except OSError:
        print('refused')
open('submission/rows.csv', 'w').write('id')
os.symlink('rows.csv', 'submission/link.csv')
";

#[tokio::test]
async fn a_folder_beside_the_input_is_read_only_and_more_files_are_collected() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let rows = place.folder.path().join("hidden/shown");
    std::fs::create_dir_all(&rows).unwrap();
    std::fs::write(rows.join("rows.csv"), "id").unwrap();
    let mut job = place.python(BESIDE);
    job.hidden.push(place.folder.path().join("hidden"));
    job.beside.push(("validation".to_owned(), rows.clone()));
    let rule = job.submission.clone().unwrap();
    for name in ["rows", "link", "none"] {
        job.collect.push(SubmissionRule { path: format!("submission/{name}.csv"), ..rule.clone() });
    }
    for _ in 0..2 {
        let ended = jail.execute(&job).await.unwrap();
        let text = ended.output.text();
        assert_eq!(text, "['rows.csv'] id\nrefused\nrefused\nrefused\nrefused\n");
        let found: Vec<String> = ended
            .collected
            .iter()
            .map(|(path, found)| match found {
                Collected::File { bytes, .. } => format!("{path} {bytes}"),
                Collected::Missing { found } => format!("{path} {found}"),
            })
            .collect();
        let expected =
            ["submission/link.csv a symbolic link", "submission/none.csv nothing", "submission/rows.csv 2"];
        assert_eq!(found, expected);
        // What a program left in its place does not lead the next one's mount elsewhere.
        let mount_point = place.workspace().join("validation");
        std::fs::remove_dir(&mount_point).unwrap();
        std::os::unix::fs::symlink(place.folder.path(), &mount_point).unwrap();
    }
    assert_eq!(std::fs::read_to_string(rows.join("rows.csv")).unwrap(), "id");
    // A folder that holds what must stay hidden is refused here as anywhere.
    job.beside = vec![("validation".to_owned(), place.folder.path().to_owned())];
    assert!(matches!(jail.execute(&job).await, Err(SandboxError::Exposed { .. })));
}

#[tokio::test]
async fn waiting_threads_sleep() {
    let Some(jail) = jail() else { return };
    let ended =
        run(&*jail, "import os\nprint(os.environ['OMP_WAIT_POLICY'], os.environ['KMP_BLOCKTIME'])").await;
    assert_eq!(ended.output.text(), "PASSIVE 0\n");
}

/// A superuser's jail sees the nodes of `/dev` as its own: their mode could be changed for the whole host. The mode that
/// is asked for here is the one that they have, so that a hole would do no harm; a changed inode tells of it.
#[tokio::test]
async fn the_device_nodes_of_the_host_cannot_be_changed() {
    use std::os::unix::fs::MetadataExt;
    let Some(jail) = jail() else { return };
    let nodes = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
    let changed =
        || nodes.map(|node| std::fs::metadata(node).map(|facts| (facts.ctime(), facts.ctime_nsec())).ok());
    let before = changed();
    let place = Place::new();
    let code = "
import os
for name in ['null', 'zero', 'full', 'random', 'urandom', 'tty']:
    try: os.chmod('/dev/' + name, 0o666)
    except OSError: pass
for number in (0, 1, 2):
    try: os.fchmod(number, 0o666)
    except OSError: pass
open('/dev/null', 'w').write('x')
print(len(os.urandom(4)), len(open('/dev/zero', 'rb').read(3)), os.read(0, 1))
";
    let execution = jail.execute(&place.python(code)).await.unwrap();
    assert_eq!(execution.output.text(), "4 3 b''\n");
    assert_eq!(changed(), before, "a node of the host was changed");
}
