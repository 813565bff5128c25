//! A loop that is looked at while it runs: what it does stands in the open page soon after, and the page is never loaded
//! anew.

use serde_json::json;

use super::chromium::Browser;
use super::{artefacts, shows};
use crate::support::held::HeldService;
use crate::support::viewer::Viewer;
use crate::support::{Place, Podium, Run, need};

/// A cell that prints a word of its own: the word itself stands in no code.
fn cell(word: &str) -> String {
    let (head, tail) = word.split_at(2);
    let code = format!(
        "import shutil\nshutil.copy('input/sample_submission.csv', 'submission/submission.csv')\nprint('{head}' + '{tail}')"
    );
    format!("<function=execute_ipython_cell>\n<parameter=code>\n{code}\n</parameter>\n</function>")
}

#[test]
fn a_loop_is_followed_while_it_runs() {
    let test = "a_loop_is_followed_while_it_runs";
    let Some(browser) = Browser::find(test).filter(|_| need::jail(test)) else { return };
    let place = Place::new();
    let service = HeldService::start();
    let running = Podium::new(&place)
        .arg("run")
        .toy()
        .args(["--scaffold", "codeact-text", "--competition", "toy", "--model", "openai/held", "--json"])
        .args(["--steps", "2", "--memory", "512MiB", "--cpus", "1", "--runs-dir"])
        .arg(place.runs())
        .held(&service)
        .start();
    let first = service.request();
    let name = Run::only(&place.runs()).path.file_name().unwrap().to_str().unwrap().to_owned();
    let viewer = Viewer::start(&place, &place.runs());
    let mut tab = browser.open_at(&viewer.url(&format!("/run?at={name}")), (1300, 900));
    shows(&mut tab, "document.querySelector('#pulse').textContent.startsWith('◐ going on')", &json!(true));
    tab.evaluate("window.kept = true");
    let seen = |word: &str| {
        let lines = "[...document.querySelectorAll('#tree .line.seen')]";
        format!("{lines}.filter((line) => line.textContent.includes('{word}')).length")
    };
    // The next request is there, so the first act has been done; nobody touches the page.
    first.answer(&cell("marmalade"));
    let second = service.request();
    shows(&mut tab, &seen("marmalade"), &json!(1));
    shows(&mut tab, &seen("quince"), &json!(0));
    shows(&mut tab, "document.querySelector('#pulse').textContent.startsWith('◐ going on')", &json!(true));
    tab.screenshot(&artefacts().join("view-live.png"));
    second.answer(&cell("quince"));
    running.wait().expect(0);
    shows(&mut tab, &seen("quince"), &json!(1));
    shows(&mut tab, &seen("marmalade"), &json!(1));
    shows(&mut tab, "document.querySelectorAll('#tree .step').length", &json!(2));
    // It has ended, and the page says so.
    shows(&mut tab, "document.querySelector('#pulse').hidden", &json!(true));
    shows(&mut tab, "document.querySelector('#figures').textContent.includes('ended')", &json!(true));
    assert_eq!(tab.evaluate("window.kept"), true, "the page was loaded anew");
    tab.no_faults();
}
