//! A run as one HTML file: it loads nothing, asks nothing of a network, and needs nothing but a browser.
//!
//! Its content security policy allows exactly its own script and style, by their hashes, so even text that broke out
//! of its place could not run. The tree and the plot are drawn from one small document; each node's details are a
//! document of their own, which the script reads when the node is opened: that keeps thousands of nodes quick.

use crate::embed;
use crate::story::Story;

const TEMPLATE: &str = include_str!("page/page.html");
pub(crate) const STYLE: &str = include_str!("page/page.css");
/// Elements and texts: what every page of the program is drawn with.
pub(crate) const DOM: &str = include_str!("page/dom.js");
/// Axes.
pub(crate) const TICKS: &str = include_str!("page/ticks.js");

/// What draws a run, wherever it comes from; in the order of use, each part sees those before it.
pub(crate) const DRAWING: [&str; 8] = [
    include_str!("page/story.js"),
    include_str!("page/code.js"),
    include_str!("page/layout.js"),
    include_str!("page/tree.js"),
    include_str!("page/log.js"),
    include_str!("page/plot.js"),
    include_str!("page/detail.js"),
    include_str!("page/main.js"),
];

/// The page of a run.
///
/// # Errors
/// When the story has no JSON form, which no story is known to lack.
pub fn page(story: &Story) -> Result<String, serde_json::Error> {
    let parts = [DOM, TICKS, include_str!("page/embedded.js")];
    let script = wrapped(parts.into_iter().chain(DRAWING));
    let mut data = block("story", &embed::json(story)?);
    data.push_str(&block("items", &embed::json(&story.items)?));
    for item in &story.items {
        data.push_str(&block(&format!("item-{}", item.id), &embed::json(&item.detail)?));
    }
    let policy = only_own(&script, STYLE);
    let title = embed::text(&story.title);
    let parts = [
        ("policy", policy.as_str()),
        ("title", &title),
        ("style", STYLE),
        ("data", &data),
        ("script", &script),
    ];
    Ok(fill(TEMPLATE, &parts))
}

/// The content security policy of a page that is one file: its own script and style run, and nothing is loaded.
pub(crate) fn only_own(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        embed::allowed(script),
        embed::allowed(style)
    )
}

/// A script of these parts with names of its own.
pub(crate) fn wrapped(parts: impl IntoIterator<Item = &'static str>) -> String {
    let mut script = "'use strict';(async () => {\n".to_owned();
    for part in parts {
        script.push_str(part);
        script.push('\n');
    }
    script.push_str("})();");
    script
}

fn block(id: &str, json: &str) -> String {
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

/// Puts each part in its place, `{{name}}` of the template. What is put in is not looked through again.
pub(crate) fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out =
        String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(parts.iter().find(|(part, _)| *part == name).map_or("", |(_, text)| text));
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use podium_types::direction::Direction;

    use super::*;
    use crate::story::{Detail, Item, Unit};

    const HOSTILE: &str = "</script><script>alert(1)</script><!-- {{script}} \u{202e} & <b>";

    fn story() -> Story {
        let detail = Detail { plan: HOSTILE.to_owned(), code: HOSTILE.to_owned(), ..Detail::default() };
        let item = Item {
            id: 3,
            parents: vec![3, 9],
            operator: HOSTILE.to_owned(),
            metric: None,
            good: true,
            valid: false,
            at_ms: 1,
            spent: None,
            detail,
        };
        Story {
            title: HOSTILE.to_owned(),
            run: HOSTILE.to_owned(),
            unit: Unit::Node,
            metric: HOSTILE.to_owned(),
            direction: Direction::Higher,
            facts: Vec::new(),
            ending: None,
            grade: None,
            run_ms: 1,
            cost: None,
            selected: None,
            warnings: vec![HOSTILE.to_owned()],
            notes: Vec::new(),
            left_out: None,
            items: vec![item],
        }
    }

    /// The contents of the elements that begin with `open`.
    fn between<'a>(page: &'a str, open: &str, close: &str) -> Vec<&'a str> {
        let parts = page.split(open).skip(1);
        parts.map(|part| part.split(close).next().unwrap()).collect()
    }

    #[test]
    fn the_page_allows_its_own_script_and_style_and_nothing_else() {
        let page = page(&story()).unwrap();
        let scripts = between(&page, "<script>", "</script>");
        let styles = between(&page, "<style>", "</style>");
        assert_eq!((scripts.len(), styles.len()), (1, 1));
        let policy = between(&page, "content=\"default-src", "\"");
        assert_eq!(
            policy,
            [format!(
                " 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                embed::allowed(scripts[0]),
                embed::allowed(styles[0])
            )]
        );
        for word in ["http-equiv=\"refresh", " src=", "@import", "url("] {
            assert!(!page.contains(word), "{word} would load something");
        }
    }

    #[test]
    fn what_stands_in_the_page_reads_back_and_is_never_markup() {
        let story = story();
        let page = page(&story).unwrap();
        let blocks = between(&page, "<script type=\"application/json\" id=\"", "</script>");
        let names: Vec<&str> = blocks.iter().map(|block| block.split('"').next().unwrap()).collect();
        assert_eq!(names, ["story", "items", "item-3"]);
        for (block, written) in blocks.iter().zip([
            serde_json::to_value(&story).unwrap(),
            serde_json::to_value(&story.items).unwrap(),
            serde_json::to_value(&story.items[0].detail).unwrap(),
        ]) {
            let json = block.split_once('>').unwrap().1;
            assert_eq!(serde_json::from_str::<serde_json::Value>(json).unwrap(), written);
        }
        assert!(!page.contains("alert(1)</") && !page.contains('\u{202e}'));
        assert_eq!(page.matches("<script").count(), 4, "three documents and the script");
    }

    #[test]
    fn texts_that_are_too_many_are_left_out_and_it_is_said() {
        let mut story = story();
        let call = crate::story::Call { answer: Some("x".repeat(900)), ..Default::default() };
        story.items[0].detail.calls = vec![call];
        let whole = story.clone();
        story.leave_out_above(900);
        assert_eq!(story, whole);
        story.leave_out_above(899);
        assert_eq!(story.items[0].detail.calls[0].answer, None);
        assert!(story.left_out.unwrap().contains("journal"));
    }
}
