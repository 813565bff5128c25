//! Submissions are taken from a hostile workspace, or refused by name.

use podium_sandbox::collect;
use podium_types::execution::Collected;

use crate::common::{Place, jail};

fn missing(found: &str) -> Collected {
    Collected::Missing { found: found.to_owned() }
}

#[tokio::test]
async fn a_submission_is_copied_and_named_by_its_hash() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let job = place.python("open('submission/submission.csv', 'w').write('id,y\\n1,2\\n')");
    let Collected::File { sha256: found, bytes } = jail.execute(&job).await.unwrap().submission else {
        panic!("not collected")
    };
    assert_eq!(
        (found.as_str(), bytes),
        ("3a2be4cfde7dba7ababd196a58341572ffb0011e1beb18d922fd4bbcd886863d", 9)
    );
    assert_eq!(std::fs::read_to_string(place.store().join(found.as_str())).unwrap(), "id,y\n1,2\n");
    assert_eq!(std::fs::read_dir(place.store()).unwrap().count(), 1);

    // The next execution writes none, so the old one must not count.
    let job = place.python("import os\nprint(os.listdir('submission'))");
    let execution = jail.execute(&job).await.unwrap();
    assert_eq!((execution.submission, execution.output.text().as_str()), (missing("nothing"), "[]\n"));
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let place = Place::new();
    std::fs::write(place.folder.path().join("answers.csv"), "secret").unwrap();
    for path in ["../answers.csv", "submission/../../answers.csv", "/etc/passwd"] {
        let collected = collect(&place.workspace(), path, &place.store(), 1 << 20).unwrap();
        assert_eq!(collected, missing("a path that leaves the workspace"), "{path}");
    }
}

#[tokio::test]
async fn a_hostile_workspace_is_prepared_and_removed() {
    let Some(jail) = jail() else { return };
    let place = Place::new();
    let outside = place.folder.path().join("input");
    let code = "
import os
os.symlink('/usr', 'submission/out')
os.makedirs('locked/inner'); open('locked/inner/f', 'w').close(); os.chmod('locked/inner', 0); os.chmod('locked', 0o500)
os.mkfifo('fifo')
for name in ('working', '.home'):
    os.rmdir(name); os.symlink('/workspace/input', name)
for _ in range(3000):
    os.mkdir('d'); os.chdir('d')
open('bottom', 'w').close()
";
    let execution = jail.execute(&place.python(code)).await.unwrap();
    assert!(execution.succeeded(), "{}", execution.output.text());
    std::os::unix::fs::symlink(&outside, place.workspace().join("outlink")).unwrap();

    let text = jail
        .execute(&place.python("import os\nprint(os.path.islink('working'), os.listdir('submission'))"))
        .await;
    assert_eq!(text.unwrap().output.text(), "False []\n");
    podium_sandbox::workspace::remove(&place.workspace()).unwrap();
    assert!(!place.workspace().exists());
    assert!(outside.join("train.csv").exists());
}
