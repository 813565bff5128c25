//! The page of a run, and the viewer, in a real browser: nodes open by pointer and key, nothing fails, nothing is loaded, and text that an
//! agent wrote is text. The screenshots stay under `target/tmp/browser/`.
//!
//! These tests need Chromium and have a nextest profile of their own, `browser`.

mod chromium;
mod live;
mod synthetic;
mod view;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Place, Podium, Run, need, wait};
use chromium::{Browser, Tab};

/// Where screenshots and pages stay.
fn artefacts() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Waits until an expression is what it should be.
#[track_caller]
fn shows(tab: &mut Tab, expression: &str, expected: &Value) {
    wait::until(&format!("{expression} to be {expected}"), || {
        let seen = tab.evaluate(expression);
        (seen == *expected).then_some(()).or_else(|| {
            tab.no_faults();
            None
        })
    });
}

fn heading(tab: &mut Tab, expected: &str) {
    shows(tab, "document.querySelector('#detail h2')?.textContent", &json!(expected));
}

/// The middle of what a selector finds, in the window.
fn middle(tab: &mut Tab, selector: &str) -> (f64, f64) {
    let expression = format!(
        "(() => {{ const box = document.querySelector({}).getBoundingClientRect(); \
         return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
        json!(selector)
    );
    let at = tab.evaluate(&expression);
    (at[0].as_f64().unwrap(), at[1].as_f64().unwrap())
}

fn click(tab: &mut Tab, selector: &str) {
    let (x, y) = middle(tab, selector);
    tab.click(x, y);
}

/// The page lets nothing be loaded, whoever asks.
fn nothing_can_be_loaded(tab: &mut Tab) {
    let asked = tab.evaluate("fetch('http://127.0.0.1:9/').then(() => 'reached', () => 'refused')");
    assert_eq!(asked, "refused");
    assert_eq!(
        tab.evaluate(
            "(() => { const s = document.createElement('script'); s.textContent = 'window.hit = 1'; \
             document.body.append(s); return window.hit ?? null; })()"
        ),
        Value::Null,
        "a script that is not the page's own ran"
    );
}

#[test]
fn a_real_run_is_opened_node_by_node() {
    let test = "a_real_run_is_opened_node_by_node";
    let Some(browser) = Browser::find(test).filter(|_| need::jail(test)) else { return };
    let place = Place::new();
    Podium::toy_run(&place, 8, 7).output().expect(0);
    let run = Run::only(&place.runs());
    let page = artefacts().join("real.html");
    let told = Podium::new(&place).arg("show").arg(&run.path).arg("--html").arg(&page).output().expect(0);
    assert_eq!(told.stdout.trim(), page.to_str().unwrap());
    let shown = run.show(&place);
    let nodes = shown["nodes"].as_array().unwrap();
    let selected = shown["report"]["nodes"]["selected"].as_u64().unwrap();

    let mut tab = browser.open(&page, (1500, 950));
    heading(&mut tab, &format!("Node {selected}"));
    shows(&mut tab, "document.querySelectorAll('[data-node]').length", &json!(nodes.len()));
    tab.screenshot(&artefacts().join("real.png"));
    for node in nodes {
        click(&mut tab, &format!("[data-node='{}']", node["id"]));
        heading(&mut tab, &format!("Node {}", node["id"]));
        let text = tab.evaluate("document.querySelector('#detail').innerText");
        let plan = node["plan"].as_str().unwrap().split_whitespace().next().unwrap();
        assert!(text.as_str().unwrap().contains(plan), "{plan}: {text}");
        shows(&mut tab, "location.hash", &json!(format!("#node={}", node["id"])));
    }
    let child = nodes.iter().find(|node| !node["parents"].as_array().unwrap().is_empty()).unwrap();
    click(&mut tab, &format!("[data-node='{}']", child["id"]));
    tab.key("2");
    shows(
        &mut tab,
        "document.querySelector('#detail .switch button[aria-pressed=true][data-value=diff]') !== null",
        &json!(true),
    );
    tab.screenshot(&artefacts().join("real-diff.png"));
    tab.key("d");
    shows(
        &mut tab,
        "[...document.querySelectorAll('#detail .code tr td:last-child')].map((cell) => cell.textContent).join('\\n')",
        &child["code"],
    );
    tab.key("ArrowLeft");
    heading(&mut tab, &format!("Node {}", child["parents"][0]));
    tab.key("3");
    shows(&mut tab, "document.querySelectorAll('#detail pre').length", &json!(1));
    tab.key("4");
    click(&mut tab, "#detail summary");
    shows(&mut tab, "document.querySelectorAll('#detail details[open] pre').length > 1", &json!(true));
    for axis in ["order", "time"] {
        click(&mut tab, &format!("#plot-bar [data-value={axis}]"));
        shows(
            &mut tab,
            "document.querySelectorAll('#plot .point, #plot .fault').length",
            &json!(nodes.len()),
        );
    }
    tab.lights("dark");
    tab.reload(&format!("node={}", child["id"]));
    heading(&mut tab, &format!("Node {}", child["id"]));
    tab.screenshot(&artefacts().join("real-dark.png"));
    tab.no_faults();
    nothing_can_be_loaded(&mut tab);
}

#[test]
fn two_thousand_nodes_stay_usable() {
    let Some(browser) = Browser::find("two_thousand_nodes_stay_usable") else { return };
    let page = artefacts().join("large.html");
    std::fs::write(&page, podium_report::page(&synthetic::tree(2000)).unwrap()).unwrap();
    let begun = Instant::now();
    let mut tab = browser.open(&page, (1500, 950));
    shows(&mut tab, "document.querySelectorAll('[data-node]').length > 0", &json!(true));
    eprintln!(
        "2000 nodes, {} MB, in {:.2} s",
        std::fs::metadata(&page).unwrap().len() / 1_000_000,
        begun.elapsed().as_secs_f64()
    );
    tab.screenshot(&artefacts().join("large.png"));
    // Near the middle of the window, so that nothing lies over it.
    let near = "(() => { const tree = document.querySelector('#tree').getBoundingClientRect(); \
        const far = (node) => { const box = node.getBoundingClientRect(); \
        return Math.hypot(box.x - tree.x - tree.width / 3, box.y - tree.y - tree.height / 2); }; \
        return [...document.querySelectorAll('[data-node]')].sort((a, b) => far(a) - far(b))[0].dataset.node; })()";
    let node = tab.evaluate(near);
    let node = node.as_str().unwrap();
    click(&mut tab, &format!("[data-node='{node}']"));
    heading(&mut tab, &format!("Node {node}"));
    tab.reload("node=1234");
    heading(&mut tab, "Node 1234");
    shows(&mut tab, "document.querySelectorAll('.node.open').length", &json!(1));
    tab.key("f");
    shows(&mut tab, "document.querySelectorAll('[data-node]').length", &json!(2000));
    tab.screenshot(&artefacts().join("large-whole.png"));
    click(&mut tab, "#plot-bar [data-value=dollars]");
    // Points that have a shape of their own, and those that are drawn together.
    let points = "document.querySelectorAll('#plot .point:not(.raised), #plot .fault:not(.raised)').length + \
        [...document.querySelectorAll('#plot .points, #plot .faults')].reduce((sum, path) => \
        sum + path.getAttribute('d').split('M').length - 1, 0)";
    shows(&mut tab, points, &json!(2000));
    shows(&mut tab, "document.querySelectorAll('#plot .points').length > 0", &json!(true));
    tab.no_faults();
}

#[test]
fn a_loop_without_nodes_and_a_run_without_anything_have_a_page() {
    let Some(browser) = Browser::find("a_loop_without_nodes_and_a_run_without_anything_have_a_page") else {
        return;
    };
    let page = artefacts().join("steps.html");
    std::fs::write(&page, podium_report::page(&synthetic::steps(30)).unwrap()).unwrap();
    let mut tab = browser.open(&page, (1000, 1300));
    heading(&mut tab, "Step 0");
    tab.reload("step=17");
    heading(&mut tab, "Step 17");
    // Its log is hostile: all of it is text.
    let step = "#tree [data-node='17']";
    shows(&mut tab, &format!("document.querySelectorAll(\"{step} .line.failed\").length"), &json!(9));
    let seen = tab.evaluate(
        "[window.hit ?? null, document.querySelectorAll('img, iframe, object, script:not([type])').length, \
         document.querySelectorAll('#tree b').length, document.querySelectorAll('#tree h3 .hidden-character').length > 9, \
         /[\\u202e\\u200b\\u0007]/.test(document.body.innerText)]",
    );
    assert_eq!(seen, json!([null, 1, 0, true, false]));
    tab.screenshot(&artefacts().join("steps-hostile.png"));
    tab.key("j");
    shows(
        &mut tab,
        "[...document.querySelectorAll(\"#tree [data-node='18'] .line\")].map((line) => line.dataset.kind).join(' ')",
        &json!("condensed said plan refused act seen told checked harness"),
    );
    tab.screenshot(&artefacts().join("steps-log.png"));
    tab.key("3");
    shows(&mut tab, "document.querySelectorAll('#detail pre').length", &json!(1));
    tab.screenshot(&artefacts().join("steps.png"));
    tab.no_faults();

    std::fs::write(&page, podium_report::page(&synthetic::steps(0)).unwrap()).unwrap();
    let mut tab = browser.open(&page, (1000, 800));
    shows(&mut tab, "document.querySelector('#detail .empty') !== null", &json!(true));
    tab.no_faults();
}

#[test]
fn hostile_text_stays_text() {
    let Some(browser) = Browser::find("hostile_text_stays_text") else { return };
    let page = artefacts().join("hostile.html");
    std::fs::write(&page, podium_report::page(&synthetic::hostile()).unwrap()).unwrap();
    let mut tab = browser.open(&page, (1400, 1800));
    heading(&mut tab, "Node 1");
    for key in ["1", "2", "d", "3", "4"] {
        tab.key(key);
        shows(
            &mut tab,
            "document.querySelectorAll('#detail .body .hidden-character').length > 0",
            &json!(true),
        );
    }
    click(&mut tab, "#detail summary");
    shows(&mut tab, "document.querySelectorAll('#detail details[open] pre').length", &json!(3));
    tab.screenshot(&artefacts().join("hostile.png"));
    let seen = tab.evaluate(
        "[window.hit ?? null, document.querySelectorAll('img, iframe, object, script:not([type])').length, \
         document.querySelectorAll('#detail b').length, \
         /[\\u202e\\u200b\\u0007]/.test(document.body.innerText + document.title)]",
    );
    // One script: the page's own.
    assert_eq!(seen, json!([null, 1, 0, false]));
    tab.no_faults();
}
