//! The pages of the viewer: frames without any data, and the scripts and styles that ask the viewer's server for it.
//!
//! They are the same for every folder of runs, so nothing that a run holds is ever part of a document that a browser
//! reads as markup or script.

use std::sync::LazyLock;

use crate::page::{DOM, DRAWING, STYLE, TICKS, fill, wrapped};

const FRAME: &str = include_str!("view/frame.html");
/// What a run is drawn in.
const STAGE: &str = include_str!("view/stage.html");
/// Colours, asking, tables: what all pages share.
const COMMON: [&str; 2] = [include_str!("view/frame.js"), include_str!("view/table.js")];

/// An experiment's report: its tables and plots.
pub(crate) const REPORT: &str = include_str!("view/report.js");

/// The pages: name, title, and what stands in the frame before the script draws.
const PAGES: [(&str, &str, &str); 5] = [
    ("list", "Runs", ""),
    ("experiment", "Experiment", ""),
    ("run", "Run", STAGE),
    ("compare", "Compare runs", ""),
    ("search", "Search", ""),
];

static SCRIPTS: LazyLock<[(&str, String); 5]> = LazyLock::new(|| {
    let of =
        |parts: &[&'static str]| wrapped([DOM, TICKS].into_iter().chain(COMMON).chain(parts.iter().copied()));
    let run: Vec<&'static str> = [include_str!("view/remote.js")].into_iter().chain(DRAWING).collect();
    [
        ("list.js", of(&[include_str!("view/list.js")])),
        ("experiment.js", of(&[REPORT, include_str!("view/experiment.js")])),
        ("run.js", of(&run)),
        ("compare.js", of(&[include_str!("view/compare.js")])),
        ("search.js", of(&[include_str!("view/search.js")])),
    ]
});

static STYLES: LazyLock<String> = LazyLock::new(|| format!("{STYLE}\n{}", include_str!("view/view.css")));

/// The document of a page; `None`: there is no such page.
pub fn shell(page: &str) -> Option<String> {
    let (name, title, inside) = PAGES.iter().find(|(name, ..)| *name == page)?;
    Some(fill(FRAME, &[("page", name), ("title", title), ("inside", inside)]))
}

/// A script or the style by its name, with its media type.
pub fn asset(name: &str) -> Option<(&'static str, &'static str)> {
    if name == "view.css" {
        return Some(("text/css; charset=utf-8", STYLES.as_str()));
    }
    let (_, script) = SCRIPTS.iter().find(|(known, _)| *known == name)?;
    Some(("text/javascript; charset=utf-8", script.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_script_and_loads_nothing_else() {
        for (page, title, _) in PAGES {
            let shell = shell(page).unwrap();
            assert!(shell.contains(&format!("<title>{title} · podium</title>")) && !shell.contains("{{"));
            let script = asset(&format!("{page}.js")).unwrap();
            assert_eq!(script.0, "text/javascript; charset=utf-8");
            let loads: Vec<&str> = shell
                .split(" src=\"")
                .chain(shell.split("<link"))
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap())
                .collect();
            assert!(loads.contains(&format!("/assets/{page}.js").as_str()), "{loads:?}");
            for word in ["http://", "https://", "url(", "@import", "style=", "onclick="] {
                assert!(!shell.contains(word), "{word} in {page}");
            }
        }
        for word in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"]
        {
            assert!(SCRIPTS.iter().all(|(_, script)| !script.contains(word)), "{word}");
        }
        assert!(asset("view.css").is_some() && asset("nothing.js").is_none() && shell("nothing").is_none());
    }
}
