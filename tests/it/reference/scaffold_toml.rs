//! The reference of scaffold files, from the structs that read them: their fields, types and doc comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A struct or an enum as it stands in the sources.
#[derive(Debug, Default)]
struct Item {
    /// Folder below `src/scaffold`, then the file: the nearest of several of one name is meant.
    place: String,
    is_enum: bool,
    doc: String,
    /// An enum whose variants are written in snake case.
    snake: bool,
    fields: Vec<Field>,
}

#[derive(Debug, Default)]
struct Field {
    name: String,
    doc: String,
    /// Its type; of an enum's variant what it holds, if anything.
    kind: String,
    has_default: bool,
}

fn snake(name: &str) -> String {
    let mut text = String::new();
    for (place, letter) in name.chars().enumerate() {
        if letter.is_uppercase() && place > 0 {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

/// All public structs and enums of a file.
fn items(place: &str, text: &str, found: &mut BTreeMap<String, Vec<Item>>) {
    let (mut doc, mut attributes) = (String::new(), String::new());
    let mut open: Option<(String, Item)> = None;
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("/// ") {
            doc.push_str(words);
            doc.push(' ');
        } else if line.starts_with("#[") {
            attributes.push_str(line);
        } else if let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))
        {
            let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
            let item = Item {
                place: place.to_owned(),
                is_enum: line.starts_with("pub enum"),
                doc: std::mem::take(&mut doc),
                snake: attributes.contains("snake_case"),
                fields: Vec::new(),
            };
            attributes.clear();
            open = line.ends_with('{').then(|| (rest[..end].to_owned(), item));
        } else if line == "}" {
            if let Some((name, item)) = open.take() {
                found.entry(name).or_default().push(item);
            }
            doc.clear();
        } else if let Some((_, item)) = &mut open {
            let (docs, marks) = (std::mem::take(&mut doc), std::mem::take(&mut attributes));
            let renamed = marks.split("rename = \"").nth(1).and_then(|rest| rest.split('"').next());
            let (name, kind) = if item.is_enum {
                let line = line.trim_end_matches(',');
                let (name, held) = line.split_once('(').unwrap_or((line, ""));
                (if item.snake { snake(name) } else { name.to_owned() }, held.trim_end_matches(')'))
            } else {
                let Some((name, kind)) = line.strip_prefix("pub ").and_then(|line| line.split_once(": "))
                else {
                    continue;
                };
                (name.to_owned(), kind.trim_end_matches(','))
            };
            if !marks.contains("serde(skip)") && !name.starts_with("//") {
                item.fields.push(Field {
                    name: renamed.map_or(name, str::to_owned),
                    doc: docs.trim().to_owned(),
                    kind: kind.to_owned(),
                    has_default: marks.contains("serde(default") || kind.starts_with("Option<"),
                });
            }
        } else {
            doc.clear();
            attributes.clear();
        }
    }
}

fn read_all() -> BTreeMap<String, Vec<Item>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scaffold");
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() && !name.starts_with("tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !name.starts_with("tests") {
                items(&name, &std::fs::read_to_string(&path).unwrap(), &mut found);
            }
        }
    }
    // The one strategy whose tables are read elsewhere.
    let external = root.join("../run/external/spec.rs");
    items("external/spec.rs", &std::fs::read_to_string(external).unwrap(), &mut found);
    found
}

/// The page as it grows.
struct Page {
    text: String,
    /// There for as long as the test.
    items: &'static BTreeMap<String, Vec<Item>>,
    /// Sections that stand already, by path and type.
    told: BTreeSet<(String, String)>,
}

/// Words of a doc comment without links to other code.
fn plain(doc: &str) -> String {
    let mut text = String::new();
    for (place, part) in doc.trim().split("[`").enumerate() {
        match part.split_once("`]") {
            Some((name, rest)) if place > 0 => {
                let rest = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
                    Some((_, behind)) => behind,
                    None => rest,
                };
                let _ = write!(text, "`{name}`{rest}");
            }
            _ => text.push_str(part),
        }
    }
    text
}

/// What a table is told as.
fn word(kind: &str) -> String {
    let inner = |text: &str, outer: &str| {
        text.strip_prefix(outer).and_then(|rest| rest.strip_suffix('>')).map(str::to_owned)
    };
    if let Some(held) = inner(kind, "Option<") {
        return word(&held);
    }
    if let Some(held) = inner(kind, "Vec<") {
        return if word(&held) == "table" {
            "list of tables".to_owned()
        } else {
            format!("list of {}s", word(&held))
        };
    }
    if let Some(held) = inner(kind, "BTreeMap<String, ") {
        return if word(&held) == "table" {
            "tables by name".to_owned()
        } else {
            format!("{}s by name", word(&held))
        };
    }
    match kind {
        "String" => "text",
        "bool" => "true or false",
        "f64" => "number",
        "u32" | "u64" | "usize" => "whole number",
        "Duration" => "duration, such as `90s` or `2h`",
        "Value" => "any value",
        _ => "table",
    }
    .to_owned()
}

impl Page {
    /// The item that a type names, seen from `place`.
    fn find(&self, kind: &str, place: &str) -> Option<&'static Item> {
        let name = kind.rsplit("::").next()?;
        let folder = place.split('/').next()?;
        let all = self.items.get(name)?;
        let near = |item: &&Item| item.place == place;
        let same = |item: &&Item| item.place.split('/').next() == Some(folder);
        all.iter()
            .find(near)
            .or_else(|| all.iter().find(same))
            .or_else(|| all.iter().find(|_| all.len() == 1))
    }

    /// A type without what stands around it, and what of a path stands for that.
    fn bare<'a>(path: &str, kind: &'a str) -> (String, &'a str) {
        if let Some(held) = kind.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
            return Self::bare(path, held);
        }
        if let Some(held) = kind.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>')) {
            return Self::bare(path, held);
        }
        match kind.strip_prefix("BTreeMap<String, ").and_then(|rest| rest.strip_suffix('>')) {
            Some(held) => Self::bare(&format!("{path}.NAME"), held),
            None => (path.to_owned(), kind),
        }
    }

    /// The section of one table, and those below it.
    fn table(&mut self, path: &str, kind: &str, place: &str, title: &str) {
        let Some(item) = self.find(kind, place) else { panic!("no struct `{kind}` seen from {place}") };
        if !self.told.insert((path.to_owned(), kind.to_owned())) {
            return;
        }
        let place = item.place.clone();
        let _ = write!(self.text, "### {title}\n\n{}\n\n", plain(&item.doc));
        let mut rows = "| key | what | |\n|---|---|---|\n".to_owned();
        let mut below = Vec::new();
        for field in &item.fields {
            let (at, bare) = Self::bare(
                &if path.is_empty() { field.name.clone() } else { format!("{path}.{}", field.name) },
                &field.kind,
            );
            let held = self.find(bare, &place);
            let words =
                held.filter(|held| held.is_enum && held.fields.iter().all(|field| field.kind.is_empty()));
            let what = match words {
                Some(words) => words
                    .fields
                    .iter()
                    .map(|word| format!("`\"{}\"`: {}", word.name, word.doc.trim_end_matches('.')))
                    .collect::<Vec<_>>()
                    .join("; "),
                None => word(&field.kind),
            };
            let need = if field.has_default { "may be left out" } else { "" };
            let doc = plain(&field.doc).replace('|', "\\|");
            let _ = writeln!(rows, "| `{}` | {doc} *{}* | {need} |", field.name, what.replace('|', "\\|"));
            if let Some(held) = held
                && words.is_none()
                && bare != "Duration"
            {
                below.push((at, bare.to_owned(), held.is_enum));
            }
        }
        let _ = writeln!(self.text, "{rows}");
        for (at, bare, is_enum) in below {
            if is_enum {
                self.kinds_of_enum(&at, &bare, &place);
            } else {
                self.table(&at, &bare, &place, &format!("`[{at}]`"));
            }
        }
    }

    /// The kinds of a table that an enum reads.
    fn kinds_of_enum(&mut self, path: &str, kind: &str, place: &str) {
        let Some(item) = self.find(kind, place) else { panic!("no enum `{kind}`") };
        let (place, doc) = (item.place.clone(), item.doc.clone());
        let kinds: Vec<(String, String, String)> = item
            .fields
            .iter()
            .map(|field| (field.name.clone(), field.doc.clone(), field.kind.clone()))
            .collect();
        let _ = write!(self.text, "### `[{path}]`\n\n{} `kind` is one of:\n\n", doc.trim());
        for (name, doc, _) in &kinds {
            let _ = writeln!(self.text, "- `\"{name}\"`: {doc}");
        }
        self.text.push('\n');
        for (name, _, held) in kinds.iter().filter(|(.., held)| !held.is_empty()) {
            self.table(path, held, &place, &format!("`[{path}]` of kind `\"{name}\"`"));
        }
    }

    /// The kinds of a part that a registry knows: the lines `kinds.insert(WORD, read::<SPEC>)` of `ship`.
    fn kinds(&mut self, path: &str, file: &str) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/scaffold").join(file);
        let source = std::fs::read_to_string(source).unwrap();
        let shipped: Vec<(String, String)> = source
            .lines()
            .filter_map(|line| line.trim().strip_prefix("kinds.insert(\"")?.split_once("\", read::<"))
            .map(|(word, rest)| (word.to_owned(), rest.split('>').next().unwrap().to_owned()))
            .collect();
        assert!(!shipped.is_empty(), "{file}");
        for (word, spec) in shipped {
            self.table(path, &spec, file, &format!("`[{path}]` with `kind = \"{word}\"`"));
        }
    }
}

/// The keys of a file that are no names that the file itself gives.
fn keys(value: &toml::Value) -> Vec<String> {
    const NAMED: [&str; 5] = ["models", "operators", "parameters", "arguments", "settings"];
    match value {
        toml::Value::Table(table) => table
            .iter()
            .flat_map(|(key, below)| {
                let inner = match below {
                    toml::Value::Table(named) if NAMED.contains(&key.as_str()) => {
                        named.values().flat_map(keys).collect()
                    }
                    other => keys(other),
                };
                [key.clone()].into_iter().chain(inner)
            })
            .filter(|key| key != "kind")
            .collect(),
        toml::Value::Array(items) => items.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn scaffold_files() {
    let mut page =
        Page { text: String::new(), items: Box::leak(Box::new(read_all())), told: BTreeSet::new() };
    page.text.push_str(
        "# Scaffold files\n\nMade from the structs that read them. A scaffold is `scaffolds/ID.toml` and the templates that it \
         names below `prompts/`. Unknown keys are errors; what may not be left out has no default.\n\n## Every scaffold\n\n",
    );
    page.table("", "Head", "spec/head.rs", "The head");
    page.text.push_str("## `strategy = \"tree_search\"`\n\n");
    page.table("", "TreeSearchSpec", "tree_search/spec.rs", "Its tables");
    page.kinds("policy", "tree_search/policy/mod.rs");
    page.kinds("operators.NAME", "tree_search/operators/mod.rs");
    page.text.push_str("## `strategy = \"research_loop\"`\n\n");
    page.table("", "ResearchLoopSpec", "research_loop/spec.rs", "Its tables");
    page.text.push_str("## `strategy = \"codeact\"`\n\n");
    page.table("", "CodeActSpec", "codeact/spec.rs", "Its tables");
    page.text.push_str("## `strategy = \"command\"`\n\n");
    page.table("", "CommandSpec", "command/spec.rs", "Its tables");
    page.text.push_str("## `strategy = \"external\"`\n\n");
    page.table("", "ExternalSpec", "external/spec.rs", "Its tables");
    page.text.push_str("## `strategy = \"script\"`\n\n");
    page.table("", "ScriptSpec", "script/mod.rs", "Its tables");
    let text = format!("{}\n", page.text.trim_end());
    // Whatever a shipped file says is told.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shipped = std::fs::read_dir(root.join("scaffolds")).unwrap().flatten().map(|file| file.path());
    for file in shipped.chain([root.join("examples/external/greedy.toml")]) {
        let file: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
        for key in keys(&toml::Value::Table(file)) {
            assert!(text.contains(&format!("`{key}`")), "`{key}` is not told");
        }
    }
    super::compare("scaffold-toml.md", &text);
}
