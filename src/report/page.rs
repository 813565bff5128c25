//! A run as one HTML file: it loads nothing, asks nothing of a network, and needs nothing but a browser.
//!
//! Its content security policy allows exactly its own script and style, by their hashes, so even text that broke out
//! of its place could not run. The tree and the plot are drawn from one small document; each node's details are a
//! document of their own, which the script reads when the node is opened: that keeps thousands of nodes quick.

use crate::embed;
use crate::story::Story;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// The script's parts, in the order of their use; each sees those before it.
const SCRIPT: [&str; 8] = [
    include_str!("page/dom.js"),
    include_str!("page/story.js"),
    include_str!("page/code.js"),
    include_str!("page/layout.js"),
    include_str!("page/tree.js"),
    include_str!("page/plot.js"),
    include_str!("page/detail.js"),
    include_str!("page/main.js"),
];

/// The page of a run.
///
/// # Errors
/// When the story has no JSON form, which no story is known to lack.
pub fn page(story: &Story) -> Result<String, serde_json::Error> {
    let script = format!("'use strict';(() => {{\n{}\n}})();", SCRIPT.join("\n"));
    let mut data = block("story", &embed::json(story)?);
    data.push_str(&block("items", &embed::json(&story.items)?));
    for item in &story.items {
        data.push_str(&block(&format!("item-{}", item.id), &embed::json(&item.detail)?));
    }
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        embed::allowed(&script),
        embed::allowed(STYLE)
    );
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

fn block(id: &str, json: &str) -> String {
    format!("<script type=\"application/json\" id=\"{id}\">{json}</script>\n")
}

/// Puts each part in its place, `{{name}}` of the template. What is put in is not looked through again.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len() + parts.iter().map(|(_, part)| part.len()).sum::<usize>());
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
