//! Jails made ahead: who gets one, and what becomes of the others.

use std::{fs, path::PathBuf};

use podium_sandbox::{Job, Sandbox};
use podium_types::execution::{Ended, Program};

use super::both;
use crate::common::{Place, eventually, processes_with};

/// A job of a script whose name nothing else on this machine has.
fn job(place: &Place, name: &str, code: &str) -> Job {
    let mut job = place.python(code);
    job.program = Program::Python { file: script(name), code: code.to_owned() };
    job
}

fn script(name: &str) -> String {
    format!("ahead-{name}-{}.py", std::process::id())
}

/// A place for workspaces in which there is none yet.
fn place() -> Place {
    let place = Place::new();
    podium_sandbox::workspace::remove(&place.workspace()).unwrap();
    place
}

/// PID namespaces of the copies that wait or run: all processes of the script that are in another than this one.
fn namespaces(name: &str) -> Vec<String> {
    let link = |process: &str| fs::read_link(format!("/proc/{process}/ns/pid"));
    let own = link("self").unwrap();
    let copies = processes_with(&script(name)).into_iter();
    let inside = copies.filter_map(|copy| link(&copy.to_string()).ok()).filter(|link| *link != own);
    let mut found: Vec<String> = inside.map(|link| link.to_string_lossy().into_owned()).collect();
    found.sort();
    found
}

/// Folders beside the workspaces that were made ahead.
fn folders(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("ahead-")).collect()
}

/// Has one made, and tells its namespace.
async fn made(sandbox: &dyn Sandbox, job: &Job, name: &str) -> String {
    assert!(sandbox.expect(job).is_made().await);
    let [namespace] = namespaces(name).try_into().unwrap();
    namespace
}

const WHERE: &str = "import os\nprint(os.readlink('/proc/self/ns/pid'), os.getcwd(), sorted(os.listdir()))";

#[tokio::test]
async fn a_script_begins_in_the_jail_that_waits_for_it() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let job = job(&place, "begins", WHERE);
    let namespace = made(&*warm, &job, "begins").await;
    assert_eq!(folders(&place).len(), 1);
    assert!(warm.make_workspace(&job).unwrap());
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
    fs::write(place.workspace().join("given"), "").unwrap();
    let execution = warm.execute(&job).await.unwrap();
    let want = format!(
        "{namespace} /workspace ['.home', '{}', 'given', 'input', 'submission', 'working']\n",
        script("begins")
    );
    assert_eq!((execution.warm, execution.output.text()), (true, want));
    assert_eq!(namespaces("begins"), Vec::<String>::new());
    drop(warm);
    eventually("the server is gone", || processes_with(&script("begins")).is_empty());
}

#[tokio::test]
async fn one_that_follows_is_made_while_one_runs() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let mut job = job(&place, "follows", WHERE);
    job.more_follow = true;
    for step in 0..6 {
        // The first one comes before any other has been made.
        eventually("the next one waits", || {
            podium_sandbox::workspace::remove(&place.workspace()).unwrap();
            warm.make_workspace(&job).unwrap() || step == 0
        });
        let waiting = namespaces("follows");
        let execution = warm.execute(&job).await.unwrap();
        let began = waiting.iter().any(|namespace| execution.output.text().starts_with(namespace));
        assert_eq!((began, execution.warm), (step > 0, step > 0), "{waiting:?}: {execution:?}");
        assert_eq!(waiting.len(), usize::from(step > 0));
    }
    warm.rest();
    assert_eq!(namespaces("follows"), Vec::<String>::new());
    assert_eq!(folders(&place), Vec::<PathBuf>::new());
}

/// What is another way with a job, or with what it stands on.
type Change = fn(&mut Job, &Place);

#[tokio::test]
async fn a_job_that_is_another_gets_a_jail_of_its_own() {
    let Some((_, warm)) = both() else { return };
    let others: [(&str, Change); 6] = [
        ("memory", |job, _| job.limits.memory_bytes -= 4096),
        ("environment", |job, _| drop(job.env.insert("A".to_owned(), "b".to_owned()))),
        ("file size", |job, _| job.limits.file_bytes = 1 << 20),
        ("another input", |job, place| job.input = Some(place.folder.path().to_owned())),
        ("an input that was exchanged", |_, place| {
            let input = place.folder.path().join("input");
            fs::rename(&input, place.folder.path().join("before")).unwrap();
            fs::create_dir(&input).unwrap();
            fs::write(input.join("train.csv"), "new").unwrap();
        }),
        ("a hidden folder", |job, place| job.hidden.push(place.store())),
    ];
    for (name, change) in others {
        let place = place();
        let mut job = job(&place, "other", WHERE);
        let namespace = made(&*warm, &job, "other").await;
        change(&mut job, &place);
        assert!(!warm.make_workspace(&job).unwrap(), "{name}");
        eventually("the one that does not fit is gone", || {
            namespaces("other").is_empty() && folders(&place).is_empty()
        });
        let execution = warm.execute(&job).await.unwrap();
        assert!(execution.succeeded(), "{name}: {execution:?}");
        assert!(!execution.output.text().starts_with(&namespace), "{name}");
    }
}

#[tokio::test]
async fn a_workspace_that_was_exchanged_is_no_place_for_the_copy() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let job = job(&place, "exchanged", "import os\nprint(os.path.exists('mine'))");
    made(&*warm, &job, "exchanged").await;
    assert!(warm.make_workspace(&job).unwrap());
    podium_sandbox::workspace::create(&place.workspace()).unwrap();
    fs::write(place.workspace().join("mine"), "").unwrap();
    let execution = warm.execute(&job).await.unwrap();
    assert_eq!(execution.output.text(), "True\n");
    assert_eq!(namespaces("exchanged"), Vec::<String>::new());
}

#[tokio::test]
async fn a_module_of_the_workspace_stands_before_one_of_the_same_name() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let job = job(&place, "shadow", "import random\nprint(random.mine)");
    made(&*warm, &job, "shadow").await;
    assert!(warm.make_workspace(&job).unwrap());
    fs::write(place.workspace().join("random.py"), "mine = 1").unwrap();
    let execution = warm.execute(&job).await.unwrap();
    assert_eq!((execution.warm, execution.output.text().as_str()), (false, "1\n"));
    // Others do not suffer.
    podium_sandbox::workspace::remove(&place.workspace()).unwrap();
    made(&*warm, &job, "shadow").await;
}

#[tokio::test]
async fn one_that_has_died_is_no_harm() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let job = job(&place, "died", "print('fine')");
    for is_server in [false, true] {
        let namespace = made(&*warm, &job, "died").await;
        let of_copy = |process: &u32| {
            fs::read_link(format!("/proc/{process}/ns/pid"))
                .is_ok_and(|link| link.to_string_lossy() == namespace)
        };
        for process in processes_with(&script("died")) {
            if is_server || of_copy(&process) {
                let process = rustix::process::Pid::from_raw(process.try_into().unwrap()).unwrap();
                // One may have gone with another.
                let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
            }
        }
        assert!(warm.make_workspace(&job).unwrap());
        let execution = warm.execute(&job).await.unwrap();
        assert_eq!((execution.ended, execution.output.text().as_str()), (Ended::Exit(0), "fine\n"));
        assert_eq!(namespaces("died"), Vec::<String>::new());
        podium_sandbox::workspace::remove(&place.workspace()).unwrap();
    }
    made(&*warm, &job, "died").await;
}

/// What a script could reach of the one that waits.
const REACH: &str = "
import os, glob, signal
print('processes', sorted(int(p) for p in os.listdir('/proc') if p.isdigit()))
print('sockets', [line.split()[7:] for line in open('/proc/net/unix')][1:])
print('beside', os.listdir('..') == os.listdir('/'), [m for m in open('/proc/self/mountinfo').read().split() if 'ahead-' in m])
print('folders', sorted(os.listdir('.')), sorted(os.listdir('/tmp')), sorted(os.listdir('/dev/shm')))
for number in range(1, 40000):
    if number not in (1, os.getpid()):
        for sign in (9, 19):
            try: os.kill(number, sign)
            except ProcessLookupError: continue
            print('reached', number)
try: os.kill(-1, 9)
except ProcessLookupError: pass
for name in ('/tmp/left', '/dev/shm/left', '.home/usercustomize.py', 'sitecustomize.py', 'json.py'):
    open(name, 'w').write('print(1 / 0)')
print('end')
";

#[tokio::test]
async fn a_hostile_script_does_not_reach_the_one_that_waits() {
    let Some((_, warm)) = both() else { return };
    let place = place();
    let mut job = job(&place, "hostile", REACH);
    job.more_follow = true;
    made(&*warm, &job, "hostile").await;
    assert!(warm.make_workspace(&job).unwrap());
    // So that the next one is there while it runs.
    assert!(warm.expect(&job).is_made().await);
    job.more_follow = false;
    let execution = warm.execute(&job).await.unwrap();
    let files =
        "['.home', 'FILE', 'input', 'submission', 'working'] [] []".replace("FILE", &script("hostile"));
    let want = format!("processes [1, 2]\nsockets []\nbeside True []\nfolders {files}\nend\n");
    assert_eq!(execution.output.text(), want);
    podium_sandbox::workspace::remove(&place.workspace()).unwrap();
    let [next] = namespaces("hostile").try_into().unwrap();
    assert!(warm.make_workspace(&job).unwrap());
    let Program::Python { code, .. } = &mut job.program else { unreachable!() };
    code.clear();
    code.push_str(WHERE);
    code.push_str("\nimport json\nprint(os.listdir('/tmp'), os.listdir('/dev/shm'))");
    let execution = warm.execute(&job).await.unwrap();
    let text = execution.output.text();
    assert!(text.starts_with(&next) && text.ends_with("[] []\n") && execution.warm, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_one_time_leave_nothing() {
    let Some((_, warm)) = both() else { return };
    let warm: std::sync::Arc<dyn Sandbox> = std::sync::Arc::from(warm);
    let places = std::sync::Arc::new(place());
    let worker = |number: usize| {
        let (warm, places) = (std::sync::Arc::clone(&warm), std::sync::Arc::clone(&places));
        async move {
            let mut began = 0;
            for step in 0..10 {
                let code = format!(
                    "print({number}, {step})\nopen('submission/submission.csv', 'w').write('{step}')"
                );
                let mut job = job(&places, "many", &code);
                job.more_follow = true;
                job.workspace = places.folder.path().join(format!("workspace-{number}-{step}"));
                began += u32::from(warm.make_workspace(&job).unwrap());
                let execution = warm.execute(&job).await.unwrap();
                assert_eq!(execution.output.text(), format!("{number} {step}\n"));
                podium_sandbox::workspace::remove(&job.workspace).unwrap();
            }
            began
        }
    };
    let began = tokio::join!(worker(0), worker(1), worker(2), worker(3));
    assert!(began.0 + began.1 + began.2 + began.3 > 0, "{began:?}");
    tokio::task::block_in_place(|| warm.rest());
    assert_eq!((namespaces("many"), folders(&places)), (Vec::new(), Vec::new()));
}
