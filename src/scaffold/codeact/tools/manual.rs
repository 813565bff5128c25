//! A tool's manual: the template that describes it, taken apart into what it does and what each parameter means.
//!
//! The text before a line `Parameters:` is the description; behind it each line `- name: text` is a parameter, and lines
//! that are indented go on with it.

use std::collections::BTreeMap;

/// What a model is told of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manual {
    /// What it does.
    pub(crate) description: String,
    /// What each parameter means.
    pub(crate) parameters: BTreeMap<String, String>,
}

/// The line between the two.
const HEADING: &str = "Parameters:";

impl Manual {
    /// Reads a rendered template.
    pub(crate) fn read(text: &str) -> Self {
        let mut lines = text.lines();
        let description: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != HEADING).collect();
        let mut parameters: BTreeMap<String, String> = BTreeMap::new();
        let mut last = None;
        for line in lines {
            if let Some((name, text)) = line.strip_prefix("- ").and_then(|line| line.split_once(':')) {
                let name = name.trim().trim_matches('`').to_owned();
                parameters.insert(name.clone(), text.trim().to_owned());
                last = Some(name);
            } else if let Some(text) = last.as_ref().and_then(|name| parameters.get_mut(name))
                && !line.trim().is_empty()
            {
                text.push(' ');
                text.push_str(line.trim());
            }
        }
        Self { description: description.join("\n").trim().to_owned(), parameters }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_and_parameters_come_apart() {
        let manual = Manual::read(
            "Runs it.\n\nTwice.\n\nParameters:\n- `command`: What to run:\n  all of it.\n- `x`: Y.\n",
        );
        assert_eq!(manual.description, "Runs it.\n\nTwice.");
        let expected = [("command", "What to run: all of it."), ("x", "Y.")];
        assert_eq!(manual.parameters, expected.map(|(name, text)| (name.into(), text.into())).into());
        assert_eq!(Manual::read("No more.\n").parameters, BTreeMap::new());
    }
}
