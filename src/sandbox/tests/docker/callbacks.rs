//! The submission check and the name server in a container, which are the jail's; what is tried here is that they are
//! there. What a hostile client can do to them is tried in a jail.

use std::{path::Path, sync::Arc};

use podium_sandbox::{Service, ServiceAnswer, ServiceRequest, SubmissionCheck};

use crate::common::{Place, docker};

#[tokio::test]
async fn a_submission_can_be_checked_inside() {
    let Some(docker) = docker() else { return };
    assert!(docker.facts().callbacks, "{:?}", docker.facts());
    let place = Place::new();
    let code = r"
import os, socket, subprocess, time
open('good.csv', 'w').write('id,y\n1,2\n')
open('bad.csv', 'w').write('id\n')
for path in ['good.csv', 'bad.csv', 'gone.csv']:
    done = subprocess.run(['validate_submission.sh', path], capture_output=True, text=True)
    print(done.returncode, (done.stdout + done.stderr).strip())
print(socket.gethostbyname('localhost'))
start = time.time()
try: socket.getaddrinfo('huggingface.co', 443); print('FOUND')
except socket.gaierror: print(time.time() - start < 2)
try: socket.create_connection(('127.0.0.1', 5001), 5); print('REACHED')
except ConnectionRefusedError: print('refused')
import urllib.request
print(urllib.request.urlopen('http://127.0.0.1:5000/v1/x', b'asked').read().decode().strip())
";
    let mut job = place.python(code);
    let scratch = place.folder.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let checker = |file: &Path| {
        let is_valid = std::fs::read(file).unwrap().starts_with(b"id,y\n");
        Some(if is_valid { "Submission is valid." } else { "Submission is invalid: no `y`" }.to_owned())
    };
    job.submission_check = Some(SubmissionCheck::new(Arc::new(checker), &scratch, 1 << 20));
    let says = |status, body: &str| ServiceAnswer {
        status,
        kind: "text/plain",
        header: None,
        body: body.to_owned(),
    };
    job.service = Some(Service {
        prefix: "/v1/",
        answering: Arc::new(move |request: ServiceRequest| {
            Box::pin(async move { says(200, &String::from_utf8(request.body).unwrap()) })
        }),
        refusing: says,
        max_bytes: 1 << 10,
        max_bytes_at_work: 1 << 20,
    });
    let execution = docker.execute(&job).await.unwrap();
    let want = "0 Submission is valid.\n0 Submission is invalid: no `y`\n1 File gone.csv does not exist.\n\
                127.0.0.1\nTrue\nrefused\nasked\n";
    assert_eq!(execution.output.text(), want);
    assert_eq!(execution.submission_checks, 2);
    assert!(execution.names_asked.contains_key("huggingface.co"), "{:?}", execution.names_asked);
    assert!(execution.blocked.contains_key("network"), "{:?}", execution.blocked);
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "copies are gone");
}
