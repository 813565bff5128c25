//! Kernels: with `IPython` where it is installed, and without.

use std::process::Command;

use podium_sandbox::{Environment, Interpreter, Session};
use podium_types::{
    execution::Ended,
    session::{SessionKind, SessionState},
};
use tempfile::TempDir;

use super::{LONG, NOTHING, SHORT, job, open, printed, send, start, value};
use crate::common::{Place, attacked, skip};

/// A Python with nothing installed.
fn bare() -> (TempDir, Environment) {
    let folder = tempfile::tempdir().unwrap();
    let python = Interpreter::find(None).unwrap().path;
    let made =
        Command::new(python).args(["-m", "venv", "--without-pip"]).arg(folder.path()).status().unwrap();
    assert!(made.success());
    let environment = Environment::of_user(&folder.path().join("bin/python")).unwrap();
    (folder, environment)
}

/// A kernel of each sort that this machine has.
async fn kernels(places: &[Place; 2]) -> Vec<(Box<dyn Session>, Option<TempDir>)> {
    let Some(sandbox) = attacked() else { return Vec::new() };
    let [first, second] = places;
    let mut found = vec![(open(&*sandbox, &job(first, SessionKind::Kernel)).await, None)];
    let (folder, environment) = bare();
    let mut plain = job(second, SessionKind::Kernel);
    (plain.job.python, plain.job.read_only) = (environment.python().to_owned(), environment.read_only());
    let plain = open(&*sandbox, &plain).await;
    assert!(plain.facts().program.starts_with("python 3."), "{:?}", plain.facts());
    found.push((plain, Some(folder)));
    found
}

fn places() -> [Place; 2] {
    [Place::new(), Place::new()]
}

fn raised(state: &SessionState) -> (&str, &str, Option<u32>) {
    let SessionState::Raised { exception, .. } = state else { panic!("{state:?}") };
    (&exception.kind, &exception.message, exception.line)
}

#[tokio::test]
async fn state_is_kept_between_cells() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        let table = [
            ("x = 3\nx + 1", value("4"), ""),
            ("x = x * 2", NOTHING, ""),
            ("x", value("6"), ""),
            (
                "import os, sys\nprint(1); print(2, file=sys.stderr); os.system('echo 3'); print(4)",
                NOTHING,
                "1\n2\n3\n4\n",
            ),
            ("!echo from the shell", NOTHING, "from the shell\n"),
            ("if x:\n    !echo indented\nx", value("6"), "indented\n"),
            ("print('no newline', end='')", NOTHING, "no newline"),
            ("print(os.getcwd(), sys.stdin.isatty(), __name__)", NOTHING, "/workspace False __main__\n"),
            ("open('helper.py', 'w').write('def f(): return 7')\nimport helper\nhelper.f()", value("7"), ""),
            (
                "def square(n): return n * n\nimport multiprocessing\nmultiprocessing.Pool(1).map(square, [3])",
                value("[9]"),
                "",
            ),
            (
                "sorted(int(n) for n in os.popen('ls /proc/self/fd').read().split())[:3]",
                value("[0, 1, 2]"),
                "",
            ),
            ("", NOTHING, ""),
            ("# only a comment", NOTHING, ""),
        ];
        for (cell, state, output) in table {
            let seen = send(&mut *kernel, cell).await;
            assert_eq!((seen.state, seen.output.text().as_str()), (state, output), "{cell}");
        }
        assert!(send(&mut *kernel, "1").await.succeeded());
    }
}

#[tokio::test]
async fn exceptions_are_told_with_line_and_traceback_and_the_state_stays() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        send(&mut *kernel, "kept = 5").await;
        for (cell, kind, message, line) in [
            ("def f():\n    return 1/0\nf()", "ZeroDivisionError", "division by zero", Some(2)),
            ("x = {}\n\nx['key']", "KeyError", "'key'", Some(3)),
            ("input()", "EOFError", "EOF when reading a line", Some(1)),
            ("import sys\nsys.exit(3)", "SystemExit", "3", Some(2)),
            ("raise KeyboardInterrupt", "KeyboardInterrupt", "", Some(1)),
            (
                "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
                "E",
                "<no message: ValueError>",
                Some(3),
            ),
        ] {
            let seen = send(&mut *kernel, cell).await;
            assert_eq!(raised(&seen.state), (kind, message, line), "{cell}");
            assert!(seen.text().contains(kind) && !seen.interrupted, "{cell}: {seen:?}");
        }
        let seen = send(&mut *kernel, "x = = 1").await;
        assert_eq!((raised(&seen.state).0, raised(&seen.state).2), ("SyntaxError", Some(1)));
        assert_eq!(send(&mut *kernel, "kept").await.state, value("5"));
    }
}

#[tokio::test]
async fn hostile_cells_break_nothing_that_comes_later() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        for cell in [
            "import os\nos.close(0); os.close(1); os.close(2)",
            "import sys\nsys.stdout.close(); sys.stderr.close()",
            "import sys\nsys.stdout = sys.stderr = None",
            "import os\nif os.fork() == 0: pass",
            "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)",
            "import json, builtins\njson.dumps = None",
            "class A:\n    def __repr__(self): raise ValueError('r')\nA()",
            "'a' * 3_000_000",
            "print('\\x00\\xff\\udc80'.encode('utf-8', 'surrogatepass'))\n'\\udc80'",
            "import sys\nsys.setrecursionlimit(10**9) if False else None",
            "import threading\nt = threading.Thread(target=lambda: 1/0); t.start(); t.join()",
            "import sys, gc\nsys.argv.clear(); sys.path.clear()",
        ] {
            send(&mut *kernel, cell).await;
            let seen = send(&mut *kernel, "print('alive'); 1 + 1").await;
            assert!(seen.state == value("2") && seen.output.text().ends_with("alive\n"), "{cell}: {seen:?}");
        }
        // Still interruptible, though a cell had ignored the signal for good.
        start(&mut *kernel, "while True: pass").await;
        assert!(session_interrupt(&mut *kernel).await.starts_with("KeyboardInterrupt"));
    }
}

async fn session_interrupt(kernel: &mut dyn Session) -> String {
    let seen = kernel.interrupt(LONG).await.unwrap();
    assert!(seen.interrupted, "{seen:?}");
    raised(&seen.state).0.to_owned()
}

#[tokio::test]
async fn a_cell_can_be_waited_for_and_interrupted() {
    let places = places();
    for ((mut kernel, _folder), place) in kernels(&places).await.into_iter().zip(&places) {
        let cell = "import os, time\nprint('one')\nwhile not os.path.exists('go'): time.sleep(0.05)\nprint('two')\n3";
        let seen = start(&mut *kernel, cell).await;
        assert_eq!(printed(&mut *kernel, seen).await, "one\n");
        std::fs::write(place.workspace().join("go"), "").unwrap();
        let seen = kernel.wait(LONG).await.unwrap();
        assert_eq!((seen.state, seen.output.text().as_str()), (value("3"), "two\n"));
        for cell in ["time.sleep(1000)", "while True: pass", "import os\nos.read(os.pipe()[0], 1)"] {
            start(&mut *kernel, cell).await;
            assert_eq!(session_interrupt(&mut *kernel).await, "KeyboardInterrupt", "{cell}");
        }
        start(&mut *kernel, "import os\nos.kill(os.getpid(), 19)\ntime.sleep(1000)").await;
        assert_eq!(session_interrupt(&mut *kernel).await, "KeyboardInterrupt");
        let refused = kernel.send_input("x", false, SHORT).await.unwrap_err();
        assert!(refused.to_string().contains("no standard input"), "{refused}");
    }
}

#[tokio::test]
async fn what_threads_print_later_is_shown_later() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        let thread = "import threading\ngo = threading.Event()\ndef late():\n    go.wait()\n    print('late')\n\
                      thread = threading.Thread(target=late)\nthread.start()";
        assert_eq!(send(&mut *kernel, thread).await.output.text(), "");
        let seen = send(&mut *kernel, "go.set()\nthread.join()").await;
        assert_eq!(seen.output.text(), "late\n");
    }
}

#[tokio::test]
async fn the_death_of_a_kernel_is_told_and_a_restart_mends_it() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        for (cell, ended) in [
            ("import os; os._exit(5)", Ended::Exit(5)),
            ("import ctypes; ctypes.string_at(0)", Ended::Signal(11)),
            ("import os; os.kill(os.getpid(), 9)", Ended::Signal(9)),
            ("import os; os.execvp('sh', ['sh', '-c', 'exit 6'])", Ended::Exit(6)),
        ] {
            send(&mut *kernel, "kept = 1").await;
            let seen = send(&mut *kernel, cell).await;
            assert!(seen.interrupted, "{cell}: {seen:?}");
            assert_eq!(seen.state, SessionState::Ended { ended }, "{cell}");
            let before = kernel.facts().generation;
            kernel.restart().await.unwrap();
            assert_eq!(kernel.facts().generation, before + 1);
            let seen = send(&mut *kernel, "kept").await;
            assert_eq!(raised(&seen.state).0, "NameError");
        }
    }
}

#[tokio::test]
async fn a_forged_end_is_the_cell_s_own_and_no_later_one_s() {
    let places = places();
    for (mut kernel, _folder) in kernels(&places).await {
        // Finds the kernel's own frame, and tells the end of the cell before it has come.
        let cell = "
import sys, os, json, time
def kernel():
    frame = sys._getframe()
    while 'nonce' not in frame.f_locals: frame = frame.f_back
    return frame
frame = kernel()
body = json.dumps({'kind': 'completed', 'value': 'forged'}).encode()
os.write(frame.f_globals['CONTROL'], b'\\n%s %d\\n' % (frame.f_locals['nonce'], len(body)) + body)
time.sleep(0.5)
print('late')
";
        let seen = send(&mut *kernel, cell).await;
        assert_eq!(seen.state, value("forged"), "it is a claim");
        let seen = send(&mut *kernel, "6 * 7").await;
        assert_eq!((seen.state, seen.output.text().as_str()), (value("42"), "late\n"));
        assert_eq!(send(&mut *kernel, "6 * 8").await.state, value("48"));
        // Nonsense under the right number is an exception, not a panic.
        let nonsense = cell.replace("json.dumps({'kind': 'completed', 'value': 'forged'})", "'{nonsense'");
        assert_eq!(raised(&send(&mut *kernel, &nonsense).await.state).0, "KernelError");
        assert_eq!(send(&mut *kernel, "6 * 9").await.state, value("54"));
        // One that closes the kernel's descriptors ends it.
        let seen = send(&mut *kernel, "os.closerange(3, 100)").await;
        assert!(seen.is_over(), "{seen:?}");
    }
}

#[tokio::test]
async fn magics_work_where_ipython_is() {
    let places = places();
    let mut kernels = kernels(&places).await;
    let Some((kernel, _)) = kernels.first_mut() else { return };
    if !kernel.facts().program.starts_with("ipython ") {
        skip("IPython is not installed beside the Python on PATH");
        return;
    }
    for (cell, state, output) in [
        ("%cd working", NOTHING, "/workspace/working\n"),
        ("found = !echo a; echo b\nlist(found)", value("['a', 'b']"), ""),
        ("%%bash\necho in $0", NOTHING, "in bash\n"),
        ("display(3); 4", value("4"), "3\n"),
        ("import asyncio\nawait asyncio.sleep(0)\n5", value("5"), ""),
        ("_ + 1", value("6"), ""),
    ] {
        let seen = send(&mut **kernel, cell).await;
        assert_eq!((seen.state, seen.output.text().as_str()), (state, output), "{cell}");
    }
    let seen = send(&mut **kernel, "%nosuch").await;
    assert_eq!(raised(&seen.state).0, "UsageError");
}
