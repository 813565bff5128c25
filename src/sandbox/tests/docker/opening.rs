//! Opening: what is found is said, and what is missing is never papered over.

use podium_sandbox::{DockerSettings, SandboxError, SandboxKind, Settings, Strength, open};

use crate::common::{docker, settings};

fn refused(settings: &Settings) -> SandboxError {
    open(SandboxKind::Docker, settings).err().unwrap()
}

#[test]
fn the_facts_are_printable_and_can_be_stored() {
    let Some(docker) = docker() else { return };
    let facts = docker.facts();
    let line = facts.describe();
    eprintln!("{line}");
    assert!(line.starts_with(&format!("docker ({}), engine ", facts.strength)), "{line}");
    let json = serde_json::to_string(facts).unwrap();
    assert_eq!(&serde_json::from_str::<podium_sandbox::Facts>(&json).unwrap(), facts);
}

#[test]
fn no_engine_is_an_error_that_says_how_to_mend_it() {
    let folder = tempfile::tempdir().unwrap();
    let dead = folder.path().join("dead");
    drop(std::os::unix::net::UnixListener::bind(&dead).unwrap());
    for (host, why) in [
        ("unix:///no/socket".to_owned(), "no such socket"),
        (format!("unix://{}", dead.display()), "refused"),
        ("tcp://127.0.0.1:1".to_owned(), "refused"),
        ("nonsense".to_owned(), "not supported"),
    ] {
        let docker = DockerSettings { host: Some(host.clone()), ..DockerSettings::default() };
        let error = refused(&Settings { docker, ..Settings::default() });
        assert!(matches!(error, SandboxError::NoEngine { .. }), "{host}: {error:?}");
        assert!(error.to_string().contains(why), "{host}: {error}");
        assert!(error.hint().unwrap().contains("apt install docker.io"));
    }
}

#[test]
fn an_engine_that_talks_nonsense_is_no_engine() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"220 mail.example.org ready\r\n").unwrap();
    });
    let host = Some(format!("unix://{}", socket.display()));
    let error = refused(&Settings {
        docker: DockerSettings { host, ..DockerSettings::default() },
        ..Settings::default()
    });
    server.join().unwrap();
    assert!(matches!(error, SandboxError::NoEngine { .. }), "{error:?}");
}

#[test]
fn an_image_is_never_pulled_and_a_runtime_must_be_known() {
    let Some(mut settings) = settings() else { return };
    settings.docker.image = Some("podium.invalid/no/such/image:1".to_owned());
    let error = refused(&settings);
    assert!(
        matches!(error, SandboxError::NoImage { .. }) && error.hint().unwrap().contains("never pulled"),
        "{error:?}"
    );
    settings.docker.image = None;
    settings.docker.runtime = Some("no-such-runtime".to_owned());
    let error = refused(&settings);
    assert!(
        error.to_string().contains("no runtime `no-such-runtime`, but ")
            && error.to_string().contains("runc"),
        "{error}"
    );
}

#[test]
fn a_named_runtime_and_what_is_required_are_obeyed() {
    let Some(mut settings) = settings() else { return };
    settings.docker.runtime = Some("runc".to_owned());
    settings.require = Some(Strength::Namespaces);
    let docker = open(SandboxKind::Docker, &settings).unwrap();
    assert_eq!(docker.facts().engine.as_ref().unwrap().runtime, "runc");
}
