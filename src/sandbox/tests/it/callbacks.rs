//! The submission check inside, and the names that code asks for: what an honest program gets, and what a hostile one
//! does not.

use std::{path::Path, sync::Arc, time::Duration};

use podium_sandbox::{
    Job, Sandbox, SandboxError, SandboxKind, Service, ServiceAnswer, ServiceRequest, SessionJob, Settings,
    SubmissionCheck, SubmissionRule, open,
};
use podium_types::{
    execution::{Collected, Execution, LimitHit},
    session::SessionKind,
};

use crate::common::{Place, environment, jail};

/// Helpers of the programs inside.
const CLIENT: &str = r#"
import json, os, socket, subprocess, sys, threading, time
def connect():
    return socket.create_connection(('localhost', 5000), 60)
def answer(s):
    f = s.makefile('rb')
    status = f.readline().split()
    if not status: return None
    length = 0
    while (line := f.readline().strip()):
        name, value = line.split(b':', 1)
        if name.lower() == b'content-length': length = int(value)
    return int(status[1]), json.loads(f.read(length))
def ask(raw):
    with connect() as s:
        s.sendall(raw)
        return answer(s)
def form(content, name='file', filename='s.csv', extra=''):
    body = (f'--B\r\nContent-Disposition: form-data; name="{name}"; filename="{filename}"\r\n\r\n').encode() + content + b'\r\n--B--\r\n'
    return (f'POST /validate HTTP/1.1\r\nHost: x\r\n{extra}Content-Type: multipart/form-data; boundary=B\r\n'
            f'Content-Length: {len(body)}\r\n\r\n').encode() + body
def script(path):
    done = subprocess.run(['validate_submission.sh', path], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).strip()
HEALTH = b'GET /health HTTP/1.1\r\n\r\n'
"#;

/// What the checker of these tests says of a file.
fn verdict(bytes: &[u8]) -> String {
    match bytes.strip_prefix(b"id,y\n") {
        Some(rows) => format!("Submission is valid. {} bytes", rows.len()),
        None => "Submission is invalid: the header is not `id,y`".to_owned(),
    }
}

fn with_check(place: &Place, code: &str) -> Job {
    let mut job = place.python(&format!("{CLIENT}{code}"));
    let scratch = place.folder.path().join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let checker = |file: &Path| {
        assert_eq!(file.extension().unwrap(), "csv");
        let bytes = std::fs::read(file).unwrap();
        (bytes != b"fault").then(|| verdict(&bytes))
    };
    let mut check = SubmissionCheck::new(Arc::new(checker), scratch, 1 << 20);
    check.per_minute = 1000;
    job.submission_check = Some(check);
    job
}

/// Runs a program that prints one line per attempt, and checks that it left nothing behind.
async fn ran(jail: &dyn Sandbox, place: &Place, job: &Job) -> (Execution, Vec<String>) {
    let execution = jail.execute(job).await.unwrap();
    let text = execution.output.text();
    assert!(execution.succeeded(), "{text}");
    assert_eq!(std::fs::read_dir(place.folder.path().join("scratch")).unwrap().count(), 0, "copies are gone");
    (execution, text.lines().map(str::to_owned).collect())
}

async fn lines(code: &str) -> Option<(Execution, Vec<String>)> {
    let jail = jail()?;
    let place = Place::new();
    let job = with_check(&place, code);
    Some(ran(&*jail, &place, &job).await)
}

#[tokio::test]
async fn the_script_tells_the_verdict() {
    let code = r"
open('good.csv', 'w').write('id,y\n1,2\n')
open('bad.csv', 'w').write('id\n')
open('empty.csv', 'w').close()
open('fault', 'w').write('fault')
os.mkfifo('fifo')
os.symlink('good.csv', 'link.csv')
os.truncate(os.open('huge', os.O_CREAT | os.O_RDWR), 1 << 30)
for path in ['good.csv', 'bad.csv', 'empty.csv', 'link.csv', 'fault', 'gone.csv', 'fifo', '.', '', 'huge']:
    print(*script(path))
print(subprocess.run(['bash', '/home/validate_submission.sh', 'good.csv'], capture_output=True, text=True).stdout.strip())
try: open('/home/validate_submission.sh', 'a')
except OSError: print('sealed')
";
    let Some((execution, lines)) = lines(code).await else { return };
    let want = [
        "0 Submission is valid. 4 bytes",
        "0 Submission is invalid: the header is not `id,y`",
        "0 Submission is invalid: the header is not `id,y`",
        "0 Submission is valid. 4 bytes",
        "1 The file was not checked: the file could not be checked: the fault is not with the file",
        "1 File gone.csv does not exist.",
        "1 File fifo does not exist.",
        "1 File . does not exist.",
        "1 Usage: /home/validate_submission.sh <submission_file>",
        "1 The file was not checked: the file is larger than 1048576 bytes, the largest that is checked",
        "Submission is valid. 4 bytes",
        "sealed",
    ];
    assert_eq!(lines, want);
    assert_eq!(execution.submission_checks, 5);
    assert_eq!(execution.blocked.len(), 0);
}

#[tokio::test]
async fn mle_benchs_instructions_work() {
    let code = r"
open('good.csv', 'w').write('id,y\n1,2\n')
os.truncate(os.open('large', os.O_CREAT | os.O_RDWR), 3 << 20)
os.truncate(os.open('fits', os.O_CREAT | os.O_RDWR), 1 << 20)
def curl(*arguments):
    print(subprocess.run(['curl', '-sS', '--noproxy', '*', *arguments], capture_output=True, text=True).stdout.strip())
curl('http://localhost:5000/health')
curl('-X', 'POST', '-F', 'file=@good.csv', 'http://localhost:5000/validate')
curl('-F', 'other=1', '-F', 'file=@good.csv', 'http://localhost:5000/validate?x=1')
curl('-F', 'file=@large', 'http://localhost:5000/validate')
curl('-F', 'file=@fits', 'http://localhost:5000/validate')
curl('-F', 'submission=@good.csv', 'http://localhost:5000/validate')
curl('--data-binary', '@good.csv', 'http://localhost:5000/validate')
curl('http://localhost:5000/validate')
curl('http://localhost:5000/')
";
    if !Path::new("/usr/bin/curl").exists() {
        crate::common::skip("there is no curl to try");
        return;
    }
    let Some((execution, lines)) = lines(code).await else { return };
    let want = [
        r#"{"status":"running"}"#,
        r#"{"result":"Submission is valid. 4 bytes"}"#,
        r#"{"result":"Submission is valid. 4 bytes"}"#,
        r#"{"error":"the file is larger than 1048576 bytes, the largest that is checked"}"#,
        r#"{"result":"Submission is invalid: the header is not `id,y`"}"#,
        r#"{"error":"the form has no part named `file`"}"#,
        r#"{"error":"send the file as a form's part named `file` (curl -F \"file=@FILE\"), or as text/csv"}"#,
        r#"{"error":"it is GET /health and POST /validate"}"#,
        r#"{"error":"there is only GET /health and POST /validate"}"#,
    ];
    assert_eq!(lines, want);
    assert_eq!(execution.submission_checks, 3);
}

#[tokio::test]
async fn checks_are_counted_and_limited() {
    let Some(jail) = jail() else { return };
    let code = r"
for _ in range(4):
    status, body = ask(form(b'id,y\n'))
    print(status, body.get('result') or body['error'])
";
    let refused = |lines: &[String], from: usize, why: &str| {
        lines.iter().skip(from).all(|line| line.starts_with(&format!("429 {why}")))
    };
    for (per_minute, per_execution) in [(3, 100), (100, 2)] {
        let place = Place::new();
        let mut job = with_check(&place, code);
        if let Some(check) = &mut job.submission_check {
            (check.per_minute, check.per_execution) = (per_minute, per_execution);
        }
        let (execution, lines) = ran(&*jail, &place, &job).await;
        if per_minute == 3 {
            assert_eq!(execution.submission_checks, 3);
            assert!(
                refused(&lines, 3, "at most 3 files are checked in a minute; try again in "),
                "{lines:?}"
            );
        } else {
            assert_eq!(execution.submission_checks, 2);
            assert!(refused(&lines, 2, "at most 2 files are checked in one execution"), "{lines:?}");
        }
    }
}

#[tokio::test]
async fn a_flood_is_served_and_costs_nothing_else() {
    let code = r"
def flood(counts, at):
    with connect() as s:
        for _ in range(1250):
            s.sendall(HEALTH)
            counts[at] += answer(s)[0] == 200
counts = [0] * 8
threads = [threading.Thread(target=flood, args=(counts, at)) for at in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sum(counts))
print(ask(form(b'id,y\n1,2\n')))
";
    let Some((_, lines)) = lines(code).await else { return };
    assert_eq!(lines, ["10000", "(200, {'result': 'Submission is valid. 4 bytes'})"]);
}

#[tokio::test]
async fn hostile_clients_hold_up_nobody() {
    let code = r"
# Slow loris: heads and bodies that never end, more than are served at one time. Kept open to the end.
held = []
for number in range(40):
    s = connect(); held.append(s)
    s.sendall([b'', b'POST /vali'][number % 2] if number > 2 else form(b'x' * 100)[:-50])
print(ask(form(b'id,y\n1,2\n')))
# One that sends and never reads.
deaf = connect(); deaf.settimeout(1)
try:
    for _ in range(10000): deaf.sendall(HEALTH * 10)
except OSError: pass
print(ask(form(b'id,y\n1,2\n')))
# Garbage, and requests that end in the middle.
import random
random.seed(1)
for number in range(200):
    with connect() as s:
        raw = random.randbytes(random.randrange(1, 40000))
        if number % 2: raw = form(raw, extra=random.choice(['', 'A: b\r\n' * 70, 'Transfer-Encoding: chunked\r\n', '\0: x\r\n']))[:random.randrange(1, 2000)]
        try: s.sendall(raw)
        except OSError: pass
print(ask(form(b'id,y\n1,2\n')))
";
    let Some((execution, lines)) = lines(code).await else { return };
    assert_eq!(lines, ["(200, {'result': 'Submission is valid. 4 bytes'})"; 3]);
    assert_eq!(execution.blocked.len(), 0);
}

#[tokio::test]
async fn a_connection_is_kept_and_requests_are_kept_apart() {
    let code = r"
good, bad = form(b'id,y\n1,2\n'), form(b'id\n')
with connect() as s:
    for raw in [good, bad, HEALTH, good]:
        s.sendall(raw)
        print(answer(s))
# Sent at once, and torn.
with connect() as s:
    f = s.makefile('rb')
    for byte in range(0, len(good * 2), 7): s.sendall((good * 2)[byte:byte + 7])
    s.shutdown(socket.SHUT_WR)
    print(f.read().count(b'Submission is valid. 4 bytes'))
results = []
threads = [threading.Thread(target=lambda: results.append(ask(good)[0])) for _ in range(6)]
[t.start() for t in threads]; [t.join() for t in threads]
print(results)
";
    let Some((execution, lines)) = lines(code).await else { return };
    let good = "(200, {'result': 'Submission is valid. 4 bytes'})";
    let bad = "(200, {'result': 'Submission is invalid: the header is not `id,y`'})";
    let want = [good, bad, "(200, {'status': 'running'})", good, "2", "[200, 200, 200, 200, 200, 200]"];
    assert_eq!(lines, want);
    assert_eq!(execution.submission_checks, 11);
}

#[tokio::test]
async fn what_a_client_claims_opens_no_file() {
    let code = r"
def told(raw): print(ask(raw))
for name in ['../../../../etc/passwd', '/etc/shadow', '/proc/self/environ', 'a' * 5000]:
    told(form(b'id,y\n1,2\n', filename=name, extra='X-Forwarded-For: 127.0.0.1\r\nX-Original-URL: /etc/passwd\r\nHost: file:///etc/passwd\r\n'))
told(b'GET /../../etc/passwd HTTP/1.1\r\n\r\n')
told(b'GET http://localhost:22/ HTTP/1.1\r\n\r\n')
told(b'CONNECT example.org:443 HTTP/1.1\r\n\r\n')
told(form(b'id,y\n', extra='Content-Length: 4\r\n'))
told(form(b'id,y\n', extra='Transfer-Encoding: chunked\r\n'))
told(b'POST /validate HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Type: text/csv\r\n\r\n0\r\n\r\n')
told(b'POST /validate HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: 9999999999999\r\n\r\n')
told(b'POST /validate HTTP/1.1\r\nContent-Type: text/csv\r\nContent-Length: 5\r\n\r\nid,y\nGET /health HTTP/1.1\r\n\r\n')
";
    let Some((_, lines)) = lines(code).await else { return };
    assert_eq!(lines[..4], vec!["(200, {'result': 'Submission is valid. 4 bytes'})"; 4]);
    let statuses: Vec<&str> = lines[4..].iter().map(|line| &line[1..4]).collect();
    assert_eq!(statuses, ["404", "404", "404", "400", "400", "411", "413", "200"], "{lines:?}");
}

#[tokio::test]
async fn only_the_jail_has_the_port_and_only_this_one() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let code = r"
print(ask(HEALTH)[0])
for port in [1, 22, 80, 2375, 4999, 5001, 8080]:
    try: socket.create_connection(('127.0.0.1', port), 5); print('REACHED', port)
    except ConnectionRefusedError: pass
open('ready', 'w').close()
while not os.path.exists('go'): time.sleep(0.01)
";
    let job = with_check(&place, code);
    let looks = async {
        while !place.workspace().join("ready").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let listens = listening_of_this_process(5000);
        std::fs::write(place.workspace().join("go"), "").unwrap();
        listens
    };
    let (execution, listens) = tokio::join!(jail.execute(&job), looks);
    assert_eq!(execution.unwrap().output.text(), "200\n");
    assert!(!listens, "the port is not the host's");
    // Without a check there is no port and no script.
    let text = jail
        .execute(&place.python(&format!(
            "{CLIENT}
try: connect()
except ConnectionRefusedError: print('refused')
print(os.path.lexists('/home'), os.environ['PATH'].endswith('/home'))"
        )))
        .await
        .unwrap();
    assert_eq!(text.output.text(), "refused\nFalse False\n");
}

/// A listening socket of this process in this process's own network namespace.
fn listening_of_this_process(port: u16) -> bool {
    let own: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned()))
        .collect();
    ["tcp", "tcp6"].iter().any(|table| {
        let table = std::fs::read_to_string(format!("/proc/self/net/{table}")).unwrap_or_default();
        table.lines().skip(1).any(|line| {
            let field = |at| line.split_whitespace().nth(at).unwrap_or_default();
            field(1).ends_with(&format!(":{port:04X}"))
                && field(3) == "0A"
                && own.contains(&format!("socket:[{}]", field(9)))
        })
    })
}

#[tokio::test]
async fn names_asked_for_are_told() {
    let code = r"
start = time.time()
def look(name):
    try: socket.getaddrinfo(name, 443); print('FOUND', name)
    except socket.gaierror: pass
for name in ['huggingface.co', 'HuggingFace.co', 'api.example.com', 'secret-in-a-name.' + 'x' * 60 + '.org']: look(name)
for number in range(200): look(f'{number}.flood.example')
print(time.time() - start < 10)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for junk in [b'', b'x', b'\xff' * 1400, bytes(1400)]: s.sendto(junk, ('127.0.0.1', 53))
    # The last word of a program that does not wait.
    s.sendto(b'\0\1\1\0\0\1\0\0\0\0\0\0\4last\4word\0\0\1\0\1', ('127.0.0.1', 53))
";
    let Some((execution, lines)) = lines(code).await else { return };
    assert_eq!(lines, ["True"]);
    let names = &execution.names_asked;
    assert!(names["huggingface.co"] >= 2 && names["api.example.com"] >= 1, "{names:?}");
    assert!(names.len() == 64 && names.contains_key("0.flood.example"), "{names:?}");
    assert!(execution.blocked["network"] >= 205, "{:?}", execution.blocked);
    let Some(jail) = jail() else { return };
    let last = "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)\
                .sendto(b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\4last\\4word\\0\\0\\1\\0\\1', ('127.0.0.1', 53))";
    let execution = crate::common::run(&*jail, last).await;
    assert_eq!(execution.names_asked.get("last.word"), Some(&1));
}

#[tokio::test]
async fn where_there_can_be_no_check_the_job_is_refused() {
    let process = open(SandboxKind::Process, &Settings::default()).unwrap();
    let place = Place::new();
    let error = process.execute(&with_check(&place, "")).await.unwrap_err();
    assert!(matches!(error, SandboxError::Job { .. }), "{error:?}");
    assert!(!process.facts().callbacks && jail().is_none_or(|jail| jail.facts().callbacks));
}

#[tokio::test]
async fn a_session_has_it_from_call_to_call() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let mut job = SessionJob::new(SessionKind::Shell, place.workspace(), &environment());
    job.job.submission_check = with_check(&place, "").submission_check;
    let mut session = jail.open_session(&job).await.unwrap();
    let mut told = Vec::new();
    for call in [
        "printf 'id,y\\n1,2\\n' > s.csv; validate_submission.sh s.csv",
        "getent hosts huggingface.co || validate_submission.sh s.csv",
    ] {
        let seen = session.send(call, Duration::from_secs(50)).await.unwrap();
        told.push(seen.output.text().trim().to_owned());
    }
    assert_eq!(told, ["Submission is valid. 4 bytes"; 2]);
    let end = session.close().await.unwrap();
    assert_eq!((end.submission_checks, end.names_asked.contains_key("huggingface.co")), (2, true), "{end:?}");
}

/// A service that gives back what it is sent, and stops the program when it is asked to.
fn echo(job: &mut Job) {
    let says = |status, body: &str| ServiceAnswer {
        status,
        kind: "text/plain",
        header: Some(("x-own", "1")),
        body: body.to_owned(),
    };
    let stop = job.stop.clone();
    job.service = Some(Service {
        prefix: "/v1/",
        answering: Arc::new(move |ServiceRequest { method, path, body }| {
            if path == "/v1/stop" {
                stop.cancel();
            }
            Box::pin(async move { says(201, &format!("{method} {path} {}", body.len())) })
        }),
        refusing: says,
        max_bytes: 1 << 20,
        max_bytes_at_work: 1 << 20,
    });
}

#[tokio::test]
async fn a_service_answers_beside_the_check_and_a_program_can_be_stopped() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let code = r"
import http.client, threading, time
def ask(method, path, body=None, timeout=60):
    connection = http.client.HTTPConnection('localhost', 5000, timeout=timeout)
    connection.request(method, path, body)
    answer = connection.getresponse()
    return answer.status, answer.headers.get('x-own'), answer.read().decode().strip()
print(*ask('GET', '/v1/x?y=z'))
print(*ask('POST', '/v1/x', b'x' * (1 << 20)))
print(*ask('POST', '/v1/x', b'x' * ((1 << 20) + 1)))
print(*ask('POST', '/v1/x', iter([b'x'])))
print(*ask('GET', '/v2/x'))
print(*ask('GET', '/health'))
# Bodies wait for each other where they are too much together.
threads = [threading.Thread(target=ask, args=('POST', '/v1/x', b'x' * 900000)) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
open('kept.csv', 'w').write('kept')
try:
    # It may be interrupted before it has its answer: in Python just before it begins to wait for it, and then it waits on.
    while True:
        try: ask('POST', '/v1/stop', b'', 1)
        except OSError: pass
        time.sleep(0.1)
except KeyboardInterrupt: print('interrupted')
";
    let mut job = with_check(&place, code);
    echo(&mut job);
    job.submission = Some(SubmissionRule {
        path: "kept.csv".to_owned(),
        store: place.folder.path().join("store"),
        max_bytes: 1 << 10,
    });
    let execution = jail.execute(&job).await.unwrap();
    let text = execution.output.text();
    let want = [
        "201 1 GET /v1/x 0",
        "201 1 POST /v1/x 1048576",
        "413 1 the request is larger than 1048576 bytes, the largest that is read",
        "411 1 the request must tell its length (Content-Length)",
        "404 None {\"error\":\"there is only GET /health and POST /validate\"}",
        "200 None {\"status\":\"running\"}",
        "interrupted",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), want, "{text}");
    assert!(matches!(execution.limit, Some(LimitHit::WallClock { limit_ms }) if limit_ms < 600_000));
    assert!(matches!(execution.submission, Collected::File { bytes: 4, .. }), "{:?}", execution.submission);
}
