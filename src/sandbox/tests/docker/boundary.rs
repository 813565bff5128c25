//! What a program inside can see and do. Each test is a small attack.

use podium_sandbox::{SandboxError, Strength, SubmissionRule};
use podium_types::execution::{Collected, Ended};

use crate::common::{Place, docker, run, skip};

#[tokio::test]
async fn nothing_of_the_host_is_there() {
    let Some(docker) = docker() else { return };
    let code = "
import os
for path in ['/home', '/etc/shadow', '/var', '/run', '/proc/1/root/home', '/workspace/../home', '/mnt', '/srv',
             '/var/run/docker.sock', '/run/docker.sock']:
    print(path, os.path.lexists(path))
print(os.uname().nodename, os.getcwd(), os.getuid() != 0, os.environ['HOME'], os.path.expanduser('~'))
print(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:4], len([p for p in os.listdir('/proc') if p.isdigit()]))
print([name for name in os.environ if name in ('HOSTNAME', 'TINI_KILL_PROCESS_GROUP', 'CARGO', 'SSH_AUTH_SOCK')])
import pwd; print(pwd.getpwuid(os.getuid()).pw_name)
";
    let execution = run(&*docker, code).await;
    let text = execution.output.text();
    assert_eq!(execution.ended, Ended::Exit(0), "{text}");
    assert_eq!(text.matches(" True").count(), 1, "{text}");
    assert!(
        text.contains("podium /workspace True /workspace/.home /workspace/.home\n[0, 1, 2, 3] 3\n"),
        "{text}"
    );
    assert!(text.ends_with("[]\nagent\n"), "{text}");
}

#[tokio::test]
async fn only_the_workspace_and_the_memory_folders_can_be_written() {
    let Some(docker) = docker() else { return };
    let code = "
import os, sys
def attempt(path):
    try:
        with open(path, 'w') as f: f.write('x')
        return 'written'
    except OSError as error:
        return 'refused'
for path in ['input/train.csv', 'input/new', '/usr/new', '/new', '/dev/new', '/etc/passwd', '/etc/hosts', '/sys/new', '/opt', '/root/x',
             os.path.join(sys.prefix, 'new'), os.path.join(os.path.dirname(os.__file__), 'new.py'), '/sys/fs/cgroup/memory/x',
             '/proc/sys/kernel/core_pattern', '/proc/sys/vm/drop_caches', '/proc/sysrq-trigger', '/sys/devices/system/cpu/online']:
    print(path, attempt(path))
for path in ['own', 'submission/s.csv', 'working/x', '/tmp/x', '/dev/shm/x', os.path.expanduser('~/x'), '/dev/null']:
    print(path, attempt(path))
try:
    os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000'); print('lowered')
except OSError: print('kept')
print(open('input/train.csv').read().split())
";
    let text = run(&*docker, code).await.output.text();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().take(17).all(|line| line.ends_with("refused")), "{text}");
    assert_eq!(lines.iter().filter(|line| line.ends_with("written")).count(), 7, "{text}");
    assert!(text.contains("kept\n['id,x', '1,2']"), "{text}");
}

#[tokio::test]
async fn the_network_is_not_there_and_attempts_are_counted() {
    let Some(docker) = docker() else { return };
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
print('local works', time.time() - start < 5, socket.gethostbyname('podium'))
";
    let execution = run(&*docker, code).await;
    let text = execution.output.text();
    assert!(!text.contains("REACHED") && text.contains("local works True 127.0.0.1"), "{text}");
    let counted = execution.blocked.get("network").copied().unwrap_or(0);
    assert!((3..=20).contains(&counted), "{counted} counted: {text}");
}

#[tokio::test]
async fn dangerous_system_calls_are_refused() {
    let Some(docker) = docker() else { return };
    if std::env::consts::ARCH != "x86_64" {
        skip("the numbers in this test are those of x86_64");
        return;
    }
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
print('family', libc.syscall(41, ctypes.c_long(1 << 32 | 16), 3, 0), ctypes.get_errno())
print('clone3', libc.syscall(435, 0, 0), ctypes.get_errno())
open('own', 'w').close()
for mode in (0o4755, 0o2755):
    print('chmod', libc.syscall(90, b'own', mode), ctypes.get_errno())
    print('fchmodat2', libc.syscall(452, -100, b'own', mode, 0), ctypes.get_errno())
    print('create', libc.syscall(2, b'set-id', os.O_CREAT, mode), ctypes.get_errno())
import fcntl
try: fcntl.ioctl(0, 0x5412, b'x'); print('tiocsti 0 0')
except OSError as error: print('tiocsti -1', error.errno)
try: os.setuid(0); print('setuid 0 0')
except OSError as error: print('setuid -1', error.errno)
";
    let text = run(&*docker, code).await.output.text();
    assert_eq!(text.lines().count(), 29, "{text}");
    for line in text.lines() {
        let errno = if line.starts_with("clone3") { "38" } else { "1" };
        assert!(line.ends_with(&format!("-1 {errno}")), "{line}\n{text}");
    }
    let killed =
        run(&*docker, "import ctypes\nctypes.CDLL(None).syscall(0x40000000 | 39)\nprint('x32')").await;
    assert_ne!(killed.output.text(), "x32\n", "the x32 numbers name the same calls");
}

#[tokio::test]
async fn a_mount_that_would_show_what_is_hidden_is_refused() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let hidden = place.folder.path().join("input/private");
    std::fs::create_dir(&hidden).unwrap();
    let mut job = place.python("pass");
    job.hidden.push(hidden);
    assert!(matches!(docker.check(&job), Err(SandboxError::Exposed { .. })));
    let error = docker.execute(&job).await.unwrap_err();
    assert!(matches!(error, SandboxError::Exposed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_folder_that_the_program_could_not_read_is_named() {
    let Some(docker) = docker() else { return };
    if !rustix::process::getuid().is_root() {
        skip("only where the harness is root does the program run as another user");
        return;
    }
    let place = Place::new();
    let input = place.folder.path().join("input");
    std::fs::set_permissions(&input, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let error = docker.execute(&place.python("pass")).await.unwrap_err();
    assert!(matches!(&error, SandboxError::Unreadable { folder, .. } if *folder == input), "{error:?}");
    assert!(error.hint().unwrap().contains("chmod"));
}

#[test]
fn the_strength_is_full_where_the_engine_limits_memory_and_processes() {
    let Some(docker) = docker() else { return };
    let facts = docker.facts();
    assert!(facts.seccomp && facts.nested_namespaces_refused, "{facts:?}");
    let limits = facts.cgroup.as_ref().is_some_and(|cgroup| {
        ["memory", "pids"].iter().all(|name| cgroup.controllers.iter().any(|known| known == name))
    });
    assert_eq!(facts.strength == Strength::Full, limits, "{facts:?}");
}

#[tokio::test]
async fn a_folder_beside_the_input_is_read_only_and_more_files_are_collected() {
    let Some(docker) = docker() else { return };
    let place = Place::new();
    let rows = place.folder.path().join("shown");
    std::fs::create_dir_all(&rows).unwrap();
    std::fs::write(rows.join("rows.csv"), "id").unwrap();
    let code = "
print(open('validation/rows.csv').read())
try:
    open('validation/rows.csv', 'a')
except OSError:
    print('refused')
open('submission/rows.csv', 'w').write('id')
";
    let mut job = place.python(code);
    job.beside.push(("validation".to_owned(), rows));
    let rule = job.submission.clone().unwrap();
    job.collect.push(SubmissionRule { path: "submission/rows.csv".to_owned(), ..rule });
    let ended = docker.execute(&job).await.unwrap();
    assert_eq!(ended.output.text(), "id\nrefused\n");
    assert!(matches!(ended.collected["submission/rows.csv"], Collected::File { bytes: 2, .. }), "{ended:?}");
}
