//! A table of scripts, each run cold and warm.

use std::time::Duration;

use podium_sandbox::{CpuSet, Environment, Sandbox, SubmissionRule};
use podium_types::execution::{Collected, Ended, Execution, LimitHit, Output};

use super::{ahead, base, both, job, run};
use crate::common::Place;

/// Name and script. What a script prints, how it ends and which exception is read must be the same.
const SCRIPTS: &[(&str, &str)] = &[
    ("interpreter", concat!("if 0:\n    import numpy\n", include_str!("scripts/interpreter.py"))),
    ("process", concat!("if 0:\n    import numpy\n", include_str!("scripts/process.py"))),
    ("modules", include_str!("scripts/modules.py")),
    ("no import before", "import sys\nprint(sorted(sys.modules))\nif 0:\n    import numpy"),
    (
        "numpy alone",
        "import sys, warnings\nimport numpy\nprint(sorted(sys.modules))\nprint(warnings.filters)",
    ),
    (
        "pandas alone",
        "import sys, warnings\nimport pandas\nprint(sorted(sys.modules))\nprint(warnings.filters)",
    ),
    (
        "sklearn alone",
        "import sys, warnings\nimport sklearn\nprint(sorted(sys.modules))\nprint(warnings.filters)",
    ),
    (
        "sklearn.svm alone",
        "import sys, warnings, os\nfrom sklearn.svm import SVC\nprint(sorted(sys.modules))\nprint(warnings.filters)\nprint(sorted(os.environ.items()))",
    ),
    (
        "attributes come with their import",
        "import scipy, numpy, importlib\nprint(sorted(vars(scipy)), sorted(vars(numpy)), sorted(vars(importlib)))",
    ),
    (
        "filters before and after",
        "import warnings\nwarnings.filterwarnings('ignore')\nimport sklearn.ensemble\nwarnings.simplefilter('always', UserWarning)\n\
         print(warnings.filters)\nwarnings.warn('seen')\nwarnings.warn('not seen', DeprecationWarning)",
    ),
    (
        "specs",
        "import importlib.util\nfor name in ['pandas', 'numpy.random', 'json', 'nothing_like_it']:\n    \
         spec = importlib.util.find_spec(name)\n    print(name, spec and (spec.origin, spec.submodule_search_locations, spec.has_location))\n\
         import pandas, numpy.random\nprint(pandas.__spec__, numpy.random.__spec__, pandas.__loader__.__class__, importlib.reload(numpy.random).__name__)",
    ),
    ("a traceback", "import numpy\ndef f(x):\n    return g(x)\ndef g(x):\n    return 1 / x\nf(0)"),
    ("a traceback through a package", "import pandas as pd\npd.DataFrame({'a': [1]})['b']"),
    (
        "a chain",
        "import numpy\ntry:\n    numpy.zeros(2)[5]\nexcept IndexError as e:\n    raise ValueError('näh') from e",
    ),
    ("a syntax error", "import numpy\nx = = 1\n"),
    ("a null byte", "import numpy\nx = 1\0\n"),
    ("exit code", "import numpy, sys\nprint('a')\nsys.exit(3)"),
    ("exit message", "import numpy, sys\nsys.exit('so')"),
    ("exit at once", "import numpy, os\nprint('a', end='')\nos._exit(4)"),
    ("a code like a signal", "import numpy, sys\nsys.exit(137)"),
    ("killed", "import numpy, os\nos.kill(os.getpid(), 15)"),
    ("aborted", "import numpy, os\nprint('a')\nos.abort()"),
    ("a segmentation fault", "import numpy, ctypes\nprint('a')\nctypes.string_at(1)"),
    ("interrupted", "import numpy\nraise KeyboardInterrupt"),
    (
        "a thread fails",
        "import numpy, threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()",
    ),
    (
        "the end",
        "import numpy, atexit, weakref, threading\nclass D:\n    def __del__(self): print('del', numpy.zeros(1) if numpy else None)\nd = D()\n\
         atexit.register(print, 'exit 1')\natexit.register(print, 'exit 2')\nclass W: pass\nw = W()\nweakref.finalize(w, print, 'finalize')\n\
         threading.Timer(0.1, lambda: print('timer')).start()\nprint('main')",
    ),
    (
        "what is left at the end",
        "import numpy, pandas, warnings, os, sys, ctypes\nopen('mine.py', 'w').write('f = open(\"left.csv\", \"w\")\\nf.write(\"ab\")\\ndef g(*a): return f\\n\
         class D:\\n    def __del__(self): print(\"mine\")\\nd = D()')\nsys.path.insert(0, '.')\nimport mine, sqlite3\n\
         pandas.DataFrame.mine = warnings.showwarning = mine.g\ndef f(): return d\nclass D:\n    def __del__(self): print('del', sys, mine)\n\
         d = D(); d.self = d\nprint('main')\nctypes.CDLL(None).printf(b'from C')",
    ),
    (
        "the end after an exception",
        "import numpy\nclass D:\n    def __del__(self): print('del', numpy)\nd = D()\ndef f(): return d\nraise OSError",
    ),
    (
        "the end by an exit",
        "import numpy, sys, atexit\nclass D:\n    def __del__(self): print('del', numpy)\nd = D()\ndef f(): return d\natexit.register(print, 'x')\nsys.exit(5)",
    ),
    ("an exit at the end", "import numpy, sys, atexit\n@atexit.register\ndef f(): sys.exit(5)"),
    (
        "order of output",
        "import numpy, sys, os\nfor i in range(50):\n    print('out', i)\n    print('err', i, file=sys.stderr)\n    os.write(1, b'raw\\n')\n\
         os.system('echo shell')\nprint('é\\udcff'.encode('utf-8', 'surrogateescape'))",
    ),
    (
        "input",
        "import numpy, sys\nprint(repr(sys.stdin.read()))\ntry: input()\nexcept EOFError as e: print(e)",
    ),
    ("processes", include_str!("scripts/processes.py")),
    ("learning", include_str!("scripts/learning.py")),
    (
        "pools of threads",
        "import numpy, scipy.linalg, sklearn\nfrom threadpoolctl import threadpool_info\n\
         print(sorted((p['user_api'], p['internal_api'], p['num_threads']) for p in threadpool_info()))\n\
         from sklearn.utils._openmp_helpers import _openmp_effective_n_threads\nprint(_openmp_effective_n_threads())\n\
         import numpy as np\na = np.random.RandomState(0).rand(400, 400)\nprint((a @ a).sum(), np.linalg.svd(a)[1][:3])",
    ),
    (
        "a file of its own",
        "import numpy, sys\nopen('own.py', 'w').write('x = 5')\nimport own\nprint(own.x, own.__file__)",
    ),
    (
        "a module of its own with a name of the library's",
        "import numpy, sys\nopen('statistics.py', 'w').write('mine = 1')\nimport statistics\n\
         print(hasattr(statistics, 'mine'), statistics.__file__)\nimport pandas, sklearn\nprint(sys.modules['statistics'] is statistics)",
    ),
    (
        "a package in a folder that stands in front",
        "import numpy, sys, os\nos.makedirs('working/scipy')\nopen('working/scipy/__init__.py', 'w').write('mine = 1')\n\
         open('working/scipy/stats.py', 'w').write('mine = 2')\nsys.path.insert(0, 'working')\nimport scipy.stats\n\
         print(scipy.mine, scipy.stats.mine, sys.modules['scipy.stats'].__file__)",
    ),
    (
        "deep recursion",
        "import numpy\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n > 900\nprint(f(0))",
    ),
    ("memory errors", "import numpy\ntry: numpy.zeros(1 << 60)\nexcept MemoryError as e: print(e)"),
    (
        "pickles",
        "import pickle, numpy, pandas\ndef f(): pass\nclass C: pass\nprint(pickle.loads(pickle.dumps([C(), f, numpy.arange(3), pandas.Series([1])]))[2:])",
    ),
    (
        "types by name",
        "import dataclasses, typing, inspect, numpy\n@dataclasses.dataclass\nclass A:\n    x: 'int' = 1\n\
         print(A(), typing.get_type_hints(A), inspect.getmodule(A), inspect.getsource(A))\nimport pandas\nprint(inspect.getmodule(pandas.DataFrame))",
    ),
];

/// The same for scripts that begin in copies of a light server.
const LIGHT: &[(&str, &str)] = &[
    ("nothing", "import sys\nprint(sorted(sys.modules), sys.path, sys.meta_path[-3:], sys.flags)"),
    ("interpreter", include_str!("scripts/interpreter.py")),
    ("process", include_str!("scripts/process.py")),
    ("json alone", "import sys, json\nprint(sorted(sys.modules))"),
    (
        "random alone",
        "import sys, random\nprint(sorted(sys.modules))\nrandom.seed(3)\nprint(random.random())",
    ),
    ("csv and glob", "import sys, csv, glob\nprint(sorted(sys.modules), glob.glob('./input/*'))"),
    ("statistics alone", "import sys, statistics\nprint(sorted(sys.modules), statistics.mean([1, 2]))"),
    (
        "subprocess alone",
        "import sys, subprocess\nprint(sorted(sys.modules), subprocess.run(['echo', 'a'], capture_output=True))",
    ),
    ("tempfile alone", "import sys, tempfile\nprint(sorted(sys.modules), tempfile.gettempdir())"),
    (
        "all of it",
        "import sys, argparse, dataclasses, logging, multiprocessing, pickle, shutil, typing, warnings\n\
      print(sorted(sys.modules), warnings.filters, sorted(vars(logging)))",
    ),
    ("nothing like it", "import no_such_module"),
    ("a traceback", "import json\njson.loads('{')"),
    ("a syntax error", "import json\nx = = 1\n"),
    ("exit code", "import json, sys\nprint('a')\nsys.exit(3)"),
    ("a code like a signal", "import sys\nsys.exit(137)"),
    ("killed", "import os\nos.kill(os.getpid(), 15)"),
    ("aborted", "import os\nprint('a')\nos.abort()"),
    (
        "the end",
        "import atexit, json, weakref, threading\nclass D:\n    def __del__(self): print('del', json)\nd = D()\n\
      atexit.register(print, 'exit 1')\natexit.register(print, 'exit 2')\nclass W: pass\nw = W()\nweakref.finalize(w, print, 'finalize')\n\
      threading.Timer(0.1, lambda: print('timer')).start()\nprint('main')",
    ),
    (
        "a thread fails",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()\nt.join()",
    ),
    ("input", "import sys\nprint(repr(sys.stdin.read()))"),
    (
        "specs",
        "import importlib.util\nfor name in ['json', 'csv', 'xml.dom', 'nothing_like_it']:\n    \
      spec = importlib.util.find_spec(name)\n    print(name, spec and (spec.origin, spec.submodule_search_locations, spec.has_location))\n\
      import json, json.decoder\nprint(json.__spec__, json.__loader__.__class__, importlib.reload(json).__name__)",
    ),
    (
        "logging",
        "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.info('said')\nlogging.getLogger('a').warning('said')",
    ),
    (
        "pools",
        "import concurrent.futures, multiprocessing, os\nif __name__ == '__main__':\n    with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n    \
      with concurrent.futures.ProcessPoolExecutor(2) as pool: print(list(pool.map(abs, [-3])))",
    ),
    (
        "a module of its own with a name of the library's",
        "open('statistics.py', 'w').write('mine = 1')\nimport statistics\nprint(statistics.mine, statistics.__file__)",
    ),
];

#[tokio::test]
async fn the_same_comes_out_cold_warm_and_ahead() {
    let Some(environment) = base() else { return };
    let (Some((cold, warm)), Some(ahead)) = (both(), ahead()) else { return };
    let others = [("warm", &*warm), ("ahead", &ahead)];
    assert_eq!(differences(&*cold, &others, &environment, SCRIPTS).await, "");
}

#[tokio::test]
async fn the_same_comes_out_of_a_light_server() {
    let (Some((cold, warm)), Some(ahead)) = (both(), ahead()) else { return };
    let environment = crate::common::environment();
    // A server that is there serves those for which nothing was made as well.
    let place = Place::new();
    let mut job = job(&place, &environment, "");
    job.limits.cpus = CpuSet::first(2);
    assert!(warm.expect(&job).is_made().await);
    warm.rest();
    let others = [("warm", &*warm), ("ahead", &ahead)];
    assert_eq!(differences(&*cold, &others, &environment, LIGHT).await, "");
}

/// In what the others differ from a cold start, as text.
async fn differences(
    cold: &dyn Sandbox,
    others: &[(&str, &dyn Sandbox)],
    environment: &Environment,
    scripts: &[(&str, &str)],
) -> String {
    let mut differences = Vec::new();
    for (name, code) in scripts {
        let place = Place::new();
        let mut job = job(&place, environment, code);
        job.limits.cpus = CpuSet::first(2);
        job.limits.output_head_bytes = 1 << 20;
        let want = cold.execute(&job).await.unwrap();
        assert!(!want.warm, "{name}");
        for (way, other) in others {
            podium_sandbox::workspace::create(&place.workspace()).unwrap();
            let got = other.execute(&job).await.unwrap();
            if !got.warm {
                differences.push(format!("{name}, {way}: started cold"));
            }
            differences.extend(difference(&want, &got).map(|text| format!("{name}, {way}: {text}")));
        }
    }
    differences.join("\n")
}

fn difference(want: &Execution, got: &Execution) -> Option<String> {
    let (want_text, got_text) = (without_addresses(&want.output), without_addresses(&got.output));
    if (&want_text, want.ended, &want.exception) == (&got_text, got.ended, &got.exception) {
        return None;
    }
    let lines = want_text.lines().zip(got_text.lines()).filter(|(a, b)| a != b);
    let lines: Vec<String> = lines.take(8).map(|(a, b)| first_difference(a, b)).collect();
    let (before, after) = (want_text.len(), got_text.len());
    Some(format!("{:?} {:?}, {before} and {after} bytes\n{}", want.ended, got.ended, lines.join("\n")))
}

/// Addresses are never the same twice.
fn without_addresses(output: &Output) -> String {
    let text = output.text();
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "0x" + part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
}

/// What stands around the first place where two lines differ.
fn first_difference(cold: &str, warm: &str) -> String {
    let at = cold.bytes().zip(warm.bytes()).take_while(|(a, b)| a == b).count().saturating_sub(40);
    let part = |text: &str| text.chars().skip(at).take(300).collect::<String>();
    format!("  cold {}\n  warm {}", part(cold), part(warm))
}

#[tokio::test]
async fn a_file_that_is_left_open_is_whole() {
    let Some(environment) = base() else { return };
    let (Some((cold, warm)), Some(ahead)) = (both(), ahead()) else { return };
    // The function keeps the namespace alive, so that only the collector ends it.
    let open = "import numpy, os, pandas\nf = open('submission/submission.csv', 'w')\nf.write('id,y\\n1,2\\n')\ndef g(*a): return f\n";
    for more in ["", "pandas.DataFrame.mine = g", "import sys\nsys.exit(1)", "1 / 0"] {
        for sandbox in [&*cold, &*warm, &ahead] {
            let place = Place::new();
            let mut job = job(&place, &environment, &format!("{open}{more}"));
            job.submission = Some(SubmissionRule {
                path: "submission/submission.csv".to_owned(),
                store: place.store(),
                max_bytes: 1 << 20,
            });
            let execution = sandbox.execute(&job).await.unwrap();
            let Collected::File { bytes, .. } = execution.submission else { panic!("{execution:?}") };
            assert_eq!(bytes, 9, "{more}: {execution:?}");
        }
    }
}

#[tokio::test]
async fn each_has_its_own_randomness() {
    let Some(environment) = base() else { return };
    let (Some((_, warm)), Some(ahead)) = (both(), ahead()) else { return };
    for sandbox in [&*warm, &ahead] {
        check_randomness(sandbox, &environment).await;
    }
}

async fn check_randomness(warm: &dyn Sandbox, environment: &Environment) {
    let code = "import numpy, random, uuid, tempfile, secrets, multiprocessing\nfrom sklearn.utils import check_random_state\n\
                print(numpy.random.rand(2), numpy.random.standard_normal(), numpy.random.default_rng().random(), random.random())\n\
                print(check_random_state(None).rand(), uuid.uuid4(), secrets.token_hex(4), tempfile.mktemp())\n\
                print(bytes(multiprocessing.current_process().authkey))";
    let first = run(warm, environment, code).await;
    let second = run(warm, environment, code).await;
    assert!(first.warm && second.warm && first.succeeded() && second.succeeded(), "{first:?}");
    let (first, second) = (first.output.text(), second.output.text());
    for (a, b) in first.split_whitespace().zip(second.split_whitespace()) {
        assert_ne!(a, b, "{first}{second}");
    }
}

#[tokio::test]
async fn nothing_leaks_from_one_to_the_next() {
    let Some(environment) = base() else { return };
    let (Some((_, warm)), Some(ahead)) = (both(), ahead()) else { return };
    for sandbox in [&*warm, &ahead] {
        check_leaks(sandbox, &environment).await;
    }
}

async fn check_leaks(warm: &dyn Sandbox, environment: &Environment) {
    let look = "
import os, sys, random, warnings, threading, numpy, pandas, builtins, signal, locale, decimal, gc, glob
print(dict(os.environ), os.getcwd(), sys.path, warnings.filters, threading.enumerate(), numpy.geterr(), hasattr(numpy, 'mark'),
      hasattr(builtins, 'mark'), pandas.get_option('display.max_rows'), signal.getsignal(2), os.umask(0o22), decimal.getcontext(),
      sys.getrecursionlimit(), gc.get_threshold(), sorted(os.listdir('/tmp')), sorted(os.listdir('/dev/shm')), sorted(os.listdir('.')),
      os.getpriority(0, 0), sorted(os.sched_getaffinity(0)), sys.flags, sorted(os.listdir('/proc/self/fd')))
";
    let change = "
import os, sys, random, warnings, threading, numpy, pandas, builtins, signal, decimal, gc
os.environ['MARK'] = '1'; os.chdir('/tmp'); sys.path.insert(0, '/mark'); warnings.simplefilter('error'); numpy.seterr(all='ignore')
numpy.mark = builtins.mark = 1; pandas.set_option('display.max_rows', 3); signal.signal(2, signal.SIG_IGN); os.umask(0)
decimal.getcontext().prec = 3; sys.setrecursionlimit(77777); gc.disable(); gc.set_threshold(1); open('/tmp/x', 'w'); open('/dev/shm/x', 'w')
os.setpriority(0, 0, 5); os.open('/', os.O_RDONLY); numpy.random.seed(1); random.seed(1)
threading.Thread(target=threading.Event().wait, daemon=True).start()
if os.fork() == 0:
    import time; time.sleep(60)
";
    let before = run(warm, environment, look).await;
    let changed = run(warm, environment, change).await;
    let after = run(warm, environment, look).await;
    assert!(before.warm && changed.warm && after.warm && changed.succeeded(), "{changed:?}");
    assert!(before.succeeded(), "{before:?}");
    assert_eq!(before.output, after.output);
}

#[tokio::test]
async fn limits_hold_and_are_named() {
    let Some(environment) = base() else { return };
    let (Some((_, warm)), Some(ahead)) = (both(), ahead()) else { return };
    for sandbox in [&*warm, &ahead] {
        check_limits(sandbox, &environment).await;
    }
}

async fn check_limits(warm: &dyn Sandbox, environment: &Environment) {
    let limited = async |code: &str, change: &dyn Fn(&mut podium_sandbox::Job)| {
        let place = Place::new();
        let mut job = job(&place, environment, code);
        change(&mut job);
        let execution = warm.execute(&job).await.unwrap();
        assert!(execution.warm, "{code}");
        execution
    };
    let interrupted = limited(
        "import numpy, time\nprint('on')\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('saved'); raise",
        &|job| job.timeout = Duration::from_secs(2),
    )
    .await;
    assert_eq!(interrupted.limit, Some(LimitHit::WallClock { limit_ms: 2000 }));
    assert_eq!(interrupted.ended, Ended::Signal(2));
    assert!(interrupted.output.text().starts_with("on\nsaved\nTraceback"), "{interrupted:?}");
    assert_eq!(interrupted.exception.unwrap().kind, "KeyboardInterrupt");

    let ignored = "import numpy, signal, os\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\nos.kill(1, signal.SIGSTOP)\nprint('on')\nwhile True: pass";
    let killed = limited(ignored, &|job| job.timeout = Duration::from_secs(2)).await;
    assert_eq!((killed.ended, killed.output.text().as_str()), (Ended::Signal(9), "on\n"));

    let memory =
        limited("import numpy\nheld = []\nwhile True: held.append(bytearray(b'x') * (8 << 20))", &|job| {
            job.limits.memory_bytes = 200 << 20;
        })
        .await;
    assert_eq!(memory.limit, Some(LimitHit::Memory { limit_bytes: 200 << 20 }));
    assert_eq!(memory.ended, Ended::Signal(9));
    assert!(memory.peak_memory_bytes.unwrap() > 150 << 20, "{memory:?}");
    assert!(memory.cpu_ms.is_some());

    let bomb = limited("import numpy, os\nwhile True: os.fork()", &|job| {
        job.limits.processes = 40;
        job.timeout = Duration::from_secs(30);
    })
    .await;
    assert_eq!(bomb.limit, Some(LimitHit::Processes { limit: 40 }), "{bomb:?}");

    let file = limited(
        "import numpy\nwith open('big', 'wb') as f:\n    while True: f.write(b'x' * 65536)",
        &|job| {
            job.limits.file_bytes = 1 << 20;
        },
    )
    .await;
    assert_eq!(file.limit, Some(LimitHit::FileSize { limit_bytes: 1 << 20 }));
}
