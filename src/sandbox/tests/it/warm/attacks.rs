//! What a program that started warm could try, besides all that it could try after a cold start.

use podium_sandbox::{Environment, Sandbox};
use podium_types::execution::Ended;

use super::{ahead, base, both, run};

/// Prints what it reached. Each line must say `refused`, or what is the same after a cold start.
const REACH: &str = "
import os, sys, gc, glob, ctypes, stat
import numpy
def attempt(name, call):
    try: result = call(); print(name, 'DONE', result)
    except (OSError, PermissionError, ProcessLookupError) as error: print(name, 'refused')
exe = '/proc/self/exe'
mode = stat.S_IMODE(os.stat(exe).st_mode)
attempt('chmod of the interpreter', lambda: os.chmod(exe, mode))
attempt('times of the interpreter', lambda: os.utime(exe, (1, 1)))
attempt('attribute of the interpreter', lambda: os.setxattr(exe, 'user.podium', b'1'))
attempt('writing the interpreter', lambda: open(exe, 'r+b'))
handle = os.open(exe, os.O_PATH)
attempt('writing the interpreter by a handle', lambda: open(f'/proc/self/fd/{handle}', 'r+b'))
attempt('chmod of the interpreter by a handle', lambda: os.chmod(f'/proc/self/fd/{handle}', mode))
attempt('truncating the interpreter', lambda: os.truncate(exe, os.path.getsize(exe)))
for folder in ['..', '../..', '../../etc']:
    attempt('beside the interpreter', lambda: os.listdir(f'/proc/self/exe/{folder}'))
attempt('mapped files', lambda: [os.open(path, os.O_RDWR) for path in glob.glob('/proc/self/map_files/*')] and 1 / len(glob.glob('/proc/self/map_files/*')))
";

#[tokio::test]
async fn the_interpreter_of_the_host_cannot_be_touched() {
    let Some(environment) = base() else { return };
    let (Some((cold, warm)), Some(ahead)) = (both(), ahead()) else { return };
    for sandbox in [&*cold, &*warm, &ahead] {
        let execution = run(sandbox, &environment, REACH).await;
        let text = execution.output.text();
        assert_eq!(execution.ended, Ended::Exit(0), "{text}");
        assert!(!text.contains("DONE"), "warm {}: {text}", execution.warm);
    }
}

/// Whatever a process can hold of the server: descriptors, processes, sockets, namespaces, text.
const REMAINS: &str = "
import os, sys, gc, ctypes
import numpy
print('descriptors', sorted(os.listdir('/proc/self/fd'))[:-1])
print('processes', sorted(int(p) for p in os.listdir('/proc') if p.isdigit())[-1] - os.getpid())
names = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup']
first = os.fork()
if first == 0:
    import time; time.sleep(60)
print('namespaces', all(os.readlink(f'/proc/self/ns/{n}') == os.readlink(f'/proc/{first}/ns/{n}') for n in names))
print('sockets', [line.split() for line in open('/proc/net/unix')][1:])
print('root', os.stat('/').st_ino == os.stat('/proc/1/root').st_ino if os.access('/proc/1/root', os.R_OK) else True)
print('maps', [line.split()[-1] for line in open('/proc/self/maps') if '/memfd' in line or '(deleted)' in line])
libc = ctypes.CDLL(None, use_errno=True)
for name, number in dict(ptrace=101, unshare=272, setns=308, mount=165, process_vm_readv=310, pidfd_getfd=438, bpf=321).items():
    print(name, libc.syscall(number, 0x10000000, 0, 0, 0, 0, 0), ctypes.get_errno())
print('secrets', [k for k in os.environ if 'KEY' in k or 'TOKEN' in k])
os.kill(first, 9)
";

#[tokio::test]
async fn nothing_of_the_server_remains() {
    let Some(environment) = base() else { return };
    let (Some((cold, warm)), Some(ahead)) = (both(), ahead()) else { return };
    let want = run(&*cold, &environment, REMAINS).await;
    // The holder is there, and its socket.
    let sockets = |text: &str| {
        text.lines().filter(|line| !line.starts_with("sockets")).map(str::to_owned).collect::<Vec<_>>()
    };
    for sandbox in [&*warm, &ahead] {
        let got = run(sandbox, &environment, REMAINS).await;
        assert!(!want.warm && got.warm);
        assert_eq!(sockets(&want.output.text()), sockets(&got.output.text()));
    }
}

#[tokio::test]
async fn a_program_cannot_end_or_stop_what_holds_its_jail() {
    let Some(environment) = base() else { return };
    let (Some((_, warm)), Some(ahead)) = (both(), ahead()) else { return };
    for sandbox in [&*warm, &ahead] {
        check_holder(sandbox, &environment).await;
    }
}

async fn check_holder(warm: &dyn Sandbox, environment: &Environment) {
    let code = "import numpy, os\nfor n in (9, 15, 19): os.kill(1, n)\n\
                for n in range(3):\n\
                \x20   try: os.write(os.open(f'/proc/1/fd/{n}', os.O_WRONLY | os.O_NONBLOCK), b'x' * 65536)\n\
                \x20   except OSError: pass\n\
                try: os.kill(-1, 9)\nexcept ProcessLookupError: print('on', os.getpid())";
    let ended = run(warm, environment, code).await;
    assert_eq!((ended.ended, ended.limit, ended.output.text().as_str()), (Ended::Exit(0), None, "on 2\n"));
    // What has been left to it does not pile up.
    let code = "
import numpy, os, time
for _ in range(50):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
    os.wait()
deadline = time.monotonic() + 20
while len([p for p in os.listdir('/proc') if p.isdigit()]) > 2 and time.monotonic() < deadline: time.sleep(0.01)
print(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))
";
    assert_eq!(run(warm, environment, code).await.output.text(), "[1, 2]\n");
    // A daemon that has its descriptors keeps nothing alive.
    let code = "
import numpy, os
if os.fork() == 0:
    os.setsid()
    import time; time.sleep(100)
print('end')
";
    let ended = run(warm, environment, code).await;
    assert_eq!((ended.ended, ended.output.text().as_str()), (Ended::Exit(0), "end\n"));
    assert!(ended.wall_ms < 30_000, "{ended:?}");
    assert!(run(warm, environment, "import numpy; print(1)").await.warm);
}
