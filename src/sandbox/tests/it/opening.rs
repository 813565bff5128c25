//! Opening a sandbox: what is found is said, and what is missing is never papered over.

use podium_sandbox::{SandboxError, SandboxKind, Settings, Strength, open};

use crate::common::jail;

fn error(kind: SandboxKind, settings: &Settings) -> SandboxError {
    open(kind, settings).err().unwrap()
}

#[test]
fn the_facts_are_printable_and_can_be_stored() {
    let Some(jail) = jail() else { return };
    let facts = jail.facts();
    let line = facts.describe();
    eprintln!("{line}");
    assert!(line.starts_with(&format!("jail ({})", facts.strength)), "{line}");
    let json = serde_json::to_string(facts).unwrap();
    assert_eq!(&serde_json::from_str::<podium_sandbox::Facts>(&json).unwrap(), facts);
}

#[test]
fn a_missing_bubblewrap_is_an_error_with_a_hint() {
    let settings = Settings { bubblewrap: Some("/no/bwrap".into()), ..Settings::default() };
    let error = error(SandboxKind::Jail, &settings);
    assert!(matches!(error, SandboxError::NoBubblewrap), "{error:?}");
    assert!(error.hint().unwrap().contains("apt install bubblewrap"));
}

#[test]
fn a_bubblewrap_that_is_refused_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let fake = folder.path().join("bwrap");
    let say = "#!/bin/sh\ntest \"$1\" = --version && echo bubblewrap 9.9 && exit\n\
               echo 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n";
    std::fs::write(&fake, say).unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings = Settings { bubblewrap: Some(fake), ..Settings::default() };
    let error = error(SandboxKind::Jail, &settings);
    assert!(matches!(error, SandboxError::UserNamespaces { .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("apparmor"), "{error}");
}

#[test]
fn less_than_required_is_refused() {
    let settings = Settings { require: Some(Strength::Namespaces), ..Settings::default() };
    let refused = error(SandboxKind::Process, &settings);
    assert!(matches!(refused, SandboxError::TooWeak { found: Strength::Limits, .. }), "{refused:?}");
    if jail().is_some() {
        let settings = Settings { require: Some(Strength::Full), cgroups: false, ..Settings::default() };
        let refused = error(SandboxKind::Jail, &settings);
        assert!(matches!(refused, SandboxError::TooWeak { found: Strength::Namespaces, .. }), "{refused:?}");
        assert!(refused.to_string().contains("`full` is required") && refused.hint().is_some(), "{refused}");
        let enough = Settings { require: Some(Strength::Namespaces), cgroups: false, ..Settings::default() };
        assert!(open(SandboxKind::Jail, &enough).is_ok());
    }
}
