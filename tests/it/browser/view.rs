//! The viewer in a real browser: from the list to a call's prompt, a report with its plots, runs beside each other, a loop
//! as a log, a search, a window of 400 pixels, five thousand nodes. The runs are real, and all that their model says, all
//! that its code holds and prints is hostile.

use std::time::Instant;

use serde_json::{Value, json};

use super::chromium::{Browser, Tab};
use super::{artefacts, click, heading, shows};
use crate::service::{Service, toy_script};
use crate::support::grown::{HOSTILE, Kind, grow};
use crate::support::viewer::Viewer;
use crate::support::{Place, Podium, Run, need};
use crate::view::copy;

fn headline(tab: &mut Tab, expected: &str) {
    shows(tab, "document.querySelector('h1')?.textContent", &json!(expected));
}

/// Clicks a link that leads to another page, wherever it stands.
fn follow(tab: &mut Tab, selector: &str) {
    shows(tab, &format!("document.querySelector({}) !== null", json!(selector)), &json!(true));
    tab.evaluate(&format!(
        "document.querySelector({}).scrollIntoView({{ block: 'center' }})",
        json!(selector)
    ));
    click(tab, selector);
}

/// No page is wider than its window.
fn fits(tab: &mut Tab) {
    assert_eq!(tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
}

#[test]
fn the_viewer_leads_from_the_list_to_a_call() {
    let test = "the_viewer_leads_from_the_list_to_a_call";
    let Some(browser) = Browser::find(test).filter(|_| need::jail(test)) else { return };
    let place = Place::new();
    let service = Service::start(&json!({ "answers": [answer("one_cut.py"), answer("centres.py")] }));
    service
        .podium(&place)
        .args(["experiment", "run", "--name", "ab", "--scaffolds", "aide,codeact-text,dummy"])
        .args(["--competitions", "toy", "--model", "openai/hostile", "--steps", "4", "--seeds", "2"])
        .args(["--memory", "512MiB", "--cpus", "1", "--json"])
        .toy()
        .arg("--runs-dir")
        .arg(place.runs())
        .output()
        .expect(0);
    let runs: Vec<Run> = Run::all(&place.runs().join("ab"))
        .into_iter()
        .filter(|run| run.path.join("run.json").exists())
        .collect();
    assert_eq!(runs.len(), 6);
    let name = |run: &Run| run.path.file_name().unwrap().to_str().unwrap().to_owned();
    let aide = runs.iter().find(|run| name(run).starts_with("aide")).unwrap();
    let codeact = runs.iter().find(|run| name(run).starts_with("codeact")).unwrap();
    let viewer = Viewer::start(&place, &place.runs());

    let mut tab = browser.open_at(&viewer.url("/"), (1400, 900));
    headline(&mut tab, "Runs");
    shows(&mut tab, "document.querySelectorAll('table.rows tbody tr[data-at]').length", &json!(1));
    tab.screenshot(&artefacts().join("view-list.png"));
    follow(&mut tab, "table.rows a[href*='/experiment?']");
    headline(&mut tab, "ab");
    shows(&mut tab, "document.querySelectorAll('table.grid .mark').length", &json!(6));
    shows(&mut tab, "document.querySelectorAll('.report .numbers tbody tr').length > 2", &json!(true));
    shows(&mut tab, "document.querySelectorAll('.report svg').length > 2", &json!(true));
    fits(&mut tab);
    let reported = tab.evaluate(TABLES);
    tab.screenshot(&artefacts().join("view-experiment.png"));

    // Two runs beside each other.
    for run in runs.iter().filter(|run| name(run).starts_with("aide")) {
        follow(&mut tab, &format!("tr[data-at='ab/{}'] input", name(run)));
    }
    follow(&mut tab, ".tool.go");
    headline(&mut tab, "Runs beside each other");
    shows(&mut tab, "document.querySelectorAll('.chart .course').length", &json!(2));
    shows(&mut tab, "document.querySelectorAll('.beside .differs').length > 0", &json!(true));
    tab.screenshot(&artefacts().join("view-compare.png"));

    // One run, its nodes, its calls.
    tab.go(&viewer.url(&format!("/run?at=ab/{}#node=0", name(aide))));
    heading(&mut tab, "Node 0");
    click(&mut tab, "[data-node='1']");
    heading(&mut tab, "Node 1");
    for key in ["1", "2", "3", "4"] {
        tab.key(key);
        shows(&mut tab, "document.querySelector('#detail .body') !== null", &json!(true));
    }
    follow(&mut tab, "#detail summary");
    shows(&mut tab, "document.querySelectorAll('#detail details[open] pre').length > 1", &json!(true));
    is_text(&mut tab, "#detail details[open]");
    for key in ["1", "2", "3"] {
        tab.key(key);
        shows(
            &mut tab,
            "document.querySelectorAll('#detail .body .hidden-character').length > 0",
            &json!(true),
        );
        is_text(&mut tab, "#detail .body");
    }
    tab.screenshot(&artefacts().join("view-call.png"));
    a_loop_is_a_log(&mut tab, &viewer.url(&format!("/run?at=ab/{}", name(codeact))));
    tab.lights("dark");
    tab.resize(400, 1500);
    tab.go("about:blank");
    tab.go(&viewer.url(&format!("/run?at=ab/{}#node=1", name(aide))));
    heading(&mut tab, "Node 1");
    fits(&mut tab);
    tab.screenshot(&artefacts().join("view-narrow.png"));
    let log = format!("/run?at=ab/{}", name(codeact));
    for page in ["/", "/experiment?at=ab", &log, "/search?q=onerror"] {
        tab.go(&viewer.url(page));
        shows(&mut tab, "document.querySelector('main') !== null", &json!(true));
        fits(&mut tab);
    }
    shows(&mut tab, "document.querySelectorAll('.hits mark').length > 1", &json!(true));
    tab.screenshot(&artefacts().join("view-search.png"));
    // What does not read is said, and nothing more happens.
    tab.no_faults();
    nothing_runs_or_is_loaded(&mut tab);
    the_report_is_one_page(&browser, &place, &reported);
}

/// Titles and cells of a report.
const TABLES: &str = "[...document.querySelectorAll('.report h2, .report .numbers td')].map((one) => one.textContent).join(' | ')";

/// What a hostile model says: a plan with a script for a search, and a call of the same for a loop.
fn answer(script: &str) -> String {
    let code = std::fs::read_to_string(toy_script(script)).unwrap();
    let code = format!("# {HOSTILE}\nprint(\"\"\"{HOSTILE}\"\"\")\n{code}");
    format!(
        "{HOSTILE}\n\n```python\n{code}```\n\n<function=execute_ipython_cell>\n<parameter=code>\n{code}</parameter>\n</function>"
    )
}

/// Hostile text is there, and all of it is text.
#[track_caller]
fn is_text(tab: &mut Tab, place: &str) {
    let seen = tab.evaluate(&format!(
        "[window.hit ?? null, document.querySelectorAll('img, iframe, object, b:not(.badge, .notice b), [onerror], \
         a[href^=\"javascript\"], script:not([src])').length, \
         document.querySelectorAll('{place} .hidden-character').length > 0, \
         /[\\u202e\\u200b\\u2028\\u0007\\u001b]/.test(document.body.innerText + document.title)]"
    ));
    assert_eq!(seen, json!([null, 0, true, false]), "{place}");
}

/// A loop is read from top to bottom: steps with their numbers, what was thought, done and seen, long texts folded.
fn a_loop_is_a_log(tab: &mut Tab, url: &str) {
    tab.go(url);
    heading(tab, "Step 0");
    shows(tab, "document.querySelectorAll('#tree .step').length", &json!(4));
    shows(tab, "document.querySelectorAll('#tree .step .line.act').length > 0", &json!(true));
    shows(tab, "document.querySelectorAll('#tree .step .line.seen').length > 0", &json!(true));
    is_text(tab, "#tree");
    let folded = "document.querySelector('#tree .fold').getAttribute('aria-expanded')";
    shows(tab, folded, &json!("false"));
    follow(tab, "#tree .fold");
    shows(tab, folded, &json!("true"));
    tab.screenshot(&artefacts().join("view-log.png"));
    tab.key("j");
    heading(tab, "Step 1");
    tab.key("e");
    shows(tab, "document.querySelectorAll('#tree .step')[3].querySelector('.line') !== null", &json!(true));
    is_text(tab, "#tree");
}

/// `report --html`: the viewer's tables; light, dark and narrow; nothing is loaded.
fn the_report_is_one_page(browser: &Browser, place: &Place, reported: &Value) {
    let page = artefacts().join("report.html");
    let report = Podium::new(place).args(["experiment", "report", "ab", "--over-time", "--html"]).arg(&page);
    report.toy().arg("--runs-dir").arg(place.runs()).output().expect(0);
    let mut tab = browser.open(&page, (1300, 1700));
    headline(&mut tab, "ab");
    shows(&mut tab, TABLES, reported);
    // Medals, differences, pass@k, over time, validation beside test.
    shows(&mut tab, "document.querySelectorAll('.report figure svg').length > 4", &json!(true));
    shows(&mut tab, "document.querySelectorAll('.report svg .point').length", &json!(2));
    assert_eq!(
        tab.evaluate("document.querySelectorAll('[src], link[href]:not([href^=\"data:\"])').length"),
        0
    );
    tab.screenshot(&artefacts().join("report.png"));
    tab.key("t");
    shows(&mut tab, "document.documentElement.classList.contains('dark')", &json!(true));
    tab.lights("dark");
    tab.resize(400, 1700);
    fits(&mut tab);
    tab.reload("narrow");
    headline(&mut tab, "ab");
    fits(&mut tab);
    tab.screenshot(&artefacts().join("report-narrow.png"));
    // Whatever is wider than the window can be reached by key.
    let held = "[...document.querySelectorAll('.scroll, .chart')].every((one) => one.tabIndex === 0)";
    assert_eq!(tab.evaluate(held), true);
    tab.no_faults();
    super::nothing_can_be_loaded(&mut tab);
}

/// The policy holds whatever gets into a page.
fn nothing_runs_or_is_loaded(tab: &mut Tab) {
    let tried = tab.evaluate(
        "(async () => { const out = []; \
         out.push(await fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')); \
         try { document.body.innerHTML = '<img src=x onerror=\"window.hit=1\">'; out.push('parsed'); } catch { out.push('refused'); } \
         try { const s = document.createElement('script'); s.textContent = 'window.hit = 1'; document.body.append(s); } catch { } \
         try { const b = document.createElement('button'); b.setAttribute('onclick', 'window.hit = 1'); document.body.append(b); b.click(); } catch { } \
         out.push(window.hit ?? null); return out; })()",
    );
    assert_eq!(tried, json!(["refused", "refused", Value::Null]));
}

#[test]
fn five_thousand_nodes_open() {
    let test = "five_thousand_nodes_open";
    let Some(browser) = Browser::find(test).filter(|_| need::jail(test)) else { return };
    let place = Place::new();
    Podium::toy_run(&place, 1, 7).output().expect(0);
    let run = Run::only(&place.runs());
    let name = run.path.file_name().unwrap().to_str().unwrap().to_owned();
    let steps = place.runs().join("steps");
    copy(&run.path, &steps);
    std::fs::remove_file(steps.join("run.json")).unwrap();
    let viewer = Viewer::start(&place, &place.runs());
    grow(&steps, 5000, Kind::Steps, 0);
    grow(&run.path, 5000, Kind::Nodes, 0);
    let begun = Instant::now();
    let mut tab = browser.open_at(&viewer.url(&format!("/run?at={name}#node=4321")), (1500, 950));
    heading(&mut tab, "Node 4321");
    eprintln!("5,000 nodes opened in {:.2} s", begun.elapsed().as_secs_f64());
    tab.key("f");
    shows(&mut tab, "document.querySelectorAll('[data-node]').length > 1000", &json!(true));
    tab.screenshot(&artefacts().join("view-large.png"));
    // The same as a loop: a log of as many steps.
    let begun = Instant::now();
    tab.go(&viewer.url("/run?at=steps#step=4321"));
    heading(&mut tab, "Step 4321");
    let drawn = "document.querySelector(\"#tree [data-node='4321'] .line\") !== null";
    shows(&mut tab, drawn, &json!(true));
    eprintln!("5,000 steps opened in {:.2} s", begun.elapsed().as_secs_f64());
    tab.key("e");
    shows(&mut tab, &drawn.replace("4321", "4999"), &json!(true));
    // Nearly all of it was never read.
    let read = "document.querySelectorAll('#tree .line').length < 2000";
    shows(&mut tab, read, &json!(true));
    tab.no_faults();
}
