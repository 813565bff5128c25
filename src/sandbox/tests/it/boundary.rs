//! What a program inside can see and do. Each test is a small attack.

use std::path::Path;

use podium_sandbox::SandboxError;
use podium_types::execution::Ended;

use crate::common::{Place, jail, run};

#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = place.python("import os\nprint(*sorted(os.environ))");
    job.env.insert("EXTRA".to_owned(), "1".to_owned());
    let execution = jail.execute(&job).await.unwrap();
    let want = "BLIS_NUM_THREADS EXTRA HOME KMP_BLOCKTIME LANG LOKY_MAX_CPU_COUNT MKL_NUM_THREADS MPLBACKEND MPLCONFIGDIR \
                NUMEXPR_NUM_THREADS OMP_NUM_THREADS OMP_WAIT_POLICY OPENBLAS_NUM_THREADS PATH POLARS_MAX_THREADS PWD \
                PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONNOUSERSITE PYTHONUNBUFFERED RAYON_NUM_THREADS TMPDIR TZ \
                USER VECLIB_MAXIMUM_NUM_THREADS\n";
    assert_eq!(execution.output.text(), want);
}

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
async fn only_the_workspace_and_the_memory_folders_can_be_written() {
    let Some(jail) = jail() else { return };
    let code = "
import os, sys
def attempt(path):
    try:
        with open(path, 'w') as f: f.write('x')
        return 'written'
    except OSError as error:
        return 'refused'
for path in ['input/train.csv', 'input/new', '/usr/new', '/new', '/dev/new', '/etc/passwd', '/sys/new', '/opt',
             os.path.join(sys.prefix, 'new'), os.path.join(os.path.dirname(os.__file__), 'new.py'),
             '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', '/proc/self/oom_score_adj']:
    print(path, attempt(path))
for path in ['own', 'submission/s.csv', 'working/x', '/tmp/x', '/dev/shm/x', os.path.expanduser('~/x'), '/dev/null']:
    print(path, attempt(path))
print(open('input/train.csv').read().split())
";
    let text = run(&*jail, code).await.output.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.iter().filter(|line| line.ends_with("refused")).count(), 14, "{text}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("written")).count(), 7, "{text}");
    assert!(lines.iter().take(14).all(|line| line.ends_with("refused")), "{text}");
    assert!(text.contains("['id,x', '1,2']"), "{text}");
}

#[tokio::test]
async fn the_network_is_not_there_and_attempts_are_counted() {
    let Some(jail) = jail() else { return };
    let code = "
import socket, time
start = time.time()
def attempt(name, call):
    try: call(); print(name, 'REACHED')
    except OSError as error: print(name, error)
attempt('tcp', lambda: socket.create_connection(('1.1.1.1', 443), 5))
attempt('tcp6', lambda: socket.create_connection(('2606:4700::1111', 443), 5))
attempt('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53)))
attempt('name', lambda: socket.getaddrinfo('example.org', 80))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt('vsock', lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))
attempt('alg', lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET))
attempt('mptcp', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))
server = socket.create_server(('localhost', 0))
socket.create_connection(server.getsockname()[:2]).close()
a, b = socket.socketpair()
print('local works', time.time() - start < 2)
";
    let execution = run(&*jail, code).await;
    let text = execution.output.text();
    assert!(!text.contains("REACHED") && text.contains("local works True"), "{text}");
    let counted = execution.blocked.get("network").copied().unwrap_or(0);
    assert!((4..=20).contains(&counted), "{counted} counted: {text}");
    assert_eq!(run(&*jail, "print(1)").await.blocked.len(), 0);
}

#[tokio::test]
async fn host_sockets_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt;
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let name = format!("podium-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let _abstract = std::os::unix::net::UnixListener::bind_addr(&address).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let code = format!(
        "import socket\nfor family, address in [(socket.AF_UNIX, '\\0{name}'), (socket.AF_INET, ('127.0.0.1', {}))]:\n    \
         try: socket.socket(family).connect(address); print('REACHED')\n    except OSError as e: print(e)",
        port.local_addr().unwrap().port()
    );
    let text = jail.execute(&place.python(&code)).await.unwrap().output.text();
    assert_eq!(text.lines().filter(|line| line.contains("refused")).count(), 2, "{text}");
}

#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    let Some(jail) = jail() else { return };
    let code = "
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
calls = dict(ptrace=101, unshare=272, setns=308, mount=165, chroot=161, keyctl=250, add_key=248, bpf=321,
             userfaultfd=323, perf_event_open=298, io_uring_setup=425, process_vm_readv=310, kexec_load=246,
             init_module=175, open_by_handle_at=304, pidfd_getfd=438, open_tree=428, fsopen=430)
for name, number in calls.items():
    result = libc.syscall(number, 0x10000000, 0, 0, 0, 0, 0)
    print(name, result, ctypes.get_errno())
print('clone', libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0), ctypes.get_errno())
print('clone3', libc.syscall(435, 0, 0), ctypes.get_errno())
print('x32', libc.syscall(0x40000000 | 39), ctypes.get_errno())
import fcntl
try: fcntl.ioctl(0, 0x5412, b'x'); print('tiocsti 0 0')
except OSError as error: print('tiocsti -1', error.errno)
try: os.setuid(0); print('setuid 0 0')
except OSError as error: print('setuid -1', error.errno)
";
    if std::env::consts::ARCH != "x86_64" {
        crate::common::skip("the numbers in this test are those of x86_64");
        return;
    }
    let text = run(&*jail, code).await.output.text();
    assert_eq!(text.lines().count(), 23, "{text}");
    for line in text.lines() {
        let want = match line.split(' ').next().unwrap() {
            "clone3" => "-1 38",
            "setuid" => "-1 22",
            _ => "-1 1",
        };
        assert!(line.ends_with(want), "{line}");
    }
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
    let text = jail.execute(&job).await.unwrap().output.text();
    let files = "['description.md', 'link.csv', 'train.csv']";
    assert_eq!(text, format!("{files}\nanother\nid\nid\nRead-only file system\n"));
    assert_eq!(
        std::fs::read_to_string(place.folder.path().join("input/description.md")).unwrap(),
        "the original"
    );
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
