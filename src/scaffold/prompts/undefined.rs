//! Variables that a template asks for and nobody sets: which, where they stand, and what there is instead. The engine
//! tells the names; the place is looked up in the sources, in the template itself or in one that it includes.

use std::collections::BTreeMap;

use podium_types::nearest::nearest;

/// What to say of a variable that nobody sets.
pub(super) fn told(sources: &BTreeMap<String, String>, template: &str, name: &str, known: &[&str]) -> String {
    let near =
        nearest(name, known.iter().copied()).map_or_else(String::new, |name| format!("; nearest: `{name}`"));
    let mut all = known.to_vec();
    all.sort_unstable();
    let there =
        if all.is_empty() { "there are none".to_owned() } else { format!("there are: {}", all.join(", ")) };
    let what = format!("nothing sets the variable `{name}`{near}; {there}");
    match place(sources, template, name) {
        Some((inner, line)) if inner == template => format!("line {line}: {what}"),
        Some((inner, line)) => format!("in `{inner}`, line {line}: {what}"),
        None => what,
    }
}

/// The template and the line, from 1, of the first place where a name stands inside a tag.
fn place<'a>(
    sources: &'a BTreeMap<String, String>,
    template: &'a str,
    name: &str,
) -> Option<(&'a str, usize)> {
    reached(sources, template)
        .into_iter()
        .find_map(|found| Some((found, line_of(sources.get(found)?, name)?)))
}

/// A template and all that it includes or extends, by itself or through others, in the order in which they are met.
pub(super) fn reached<'a>(sources: &'a BTreeMap<String, String>, template: &'a str) -> Vec<&'a str> {
    let mut seen: Vec<&str> = vec![template];
    let mut next = 0;
    while let Some(template) = seen.get(next).copied() {
        next += 1;
        let Some(text) = sources.get(template) else { continue };
        for included in quoted_after(text, "include").chain(quoted_after(text, "extends")) {
            if !seen.contains(&included) {
                seen.push(included);
            }
        }
    }
    seen
}

fn line_of(text: &str, name: &str) -> Option<usize> {
    let mut inside = false;
    for (place, line) in text.lines().enumerate() {
        let mut rest = line;
        loop {
            let mark = if inside { find(rest, &["}}", "%}"]) } else { find(rest, &["{{", "{%"]) };
            let (part, behind) = match mark {
                Some(at) => (rest.get(..at).unwrap_or_default(), rest.get(at + 2..).unwrap_or_default()),
                None => (rest, ""),
            };
            if inside && has_word(part, name) {
                return Some(place + 1);
            }
            if mark.is_none() {
                break;
            }
            inside = !inside;
            rest = behind;
        }
    }
    None
}

fn find(text: &str, marks: &[&str]) -> Option<usize> {
    marks.iter().filter_map(|mark| text.find(mark)).min()
}

/// Whether a name stands there as a variable: not as a part of a longer name, nor as a field of another.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(|c| is_part(c) || c == '.' || c == '"') && !after.is_some_and(is_part)
    })
}

/// The texts in quotes behind each place of `word`.
fn quoted_after<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(word).skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| *c == '"' || *c == '\'')?;
        rest.get(1..)?.split(quote).next()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_the_first_inside_a_tag() {
        let sources: BTreeMap<String, String> = [
            ("a", "metrc\n{# metrc #}\n{{ run.metrc }} {{ \"metrc\" }}\n{% include \"b\" %}"),
            ("b", "x\n{% include 'a' %}{% if y and\n  metrc %}"),
        ]
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into();
        let said = told(&sources, "a", "metrc", &["run", "metric"]);
        assert_eq!(
            said,
            "in `b`, line 3: nothing sets the variable `metrc`; nearest: `metric`; there are: metric, run"
        );
        assert_eq!(told(&sources, "b", "other", &[]), "nothing sets the variable `other`; there are none");
    }
}
