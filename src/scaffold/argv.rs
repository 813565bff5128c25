//! A command that a scaffold file declares, with the values that a model gave in the places of their names. No shell reads
//! it, so a value is a part of one word whatever stands in it.

/// The words with `{name}` replaced, once through each, so that braces in a value stay as they are. What `is_known` does
/// not know stays, too; a word that is nothing but the name of what has no `value` falls away. Nothing that a program can
/// be given holds a NUL character: it is left out.
pub(crate) fn filled(
    argv: &[String],
    is_known: impl Fn(&str) -> bool,
    value: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let fill = |word: &String| {
        let mut filled = String::new();
        let mut rest = word.as_str();
        while let Some((before, behind)) = rest.split_once('{') {
            filled.push_str(before);
            let Some((name, after)) = behind.split_once('}').filter(|(name, _)| is_known(name)) else {
                filled.push('{');
                rest = behind;
                continue;
            };
            match value(name) {
                Some(value) => filled.push_str(&value.replace('\0', "")),
                None if word.len() == name.len() + 2 => return None,
                None => {}
            }
            rest = after;
        }
        filled.push_str(rest);
        Some(filled)
    };
    argv.iter().filter_map(fill).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parts_of_words_whatever_stands_in_them() {
        let argv =
            ["head", "-n={rows}", "{rows}", "{file}", "{other}", "{", "a{file}b{file}"].map(str::to_owned);
        let known = |name: &str| ["file", "rows"].contains(&name);
        let file = "x; rm {rows} $(y)";
        let given = |name: &str| (name == "file").then(|| format!("{file}\0"));
        assert_eq!(
            filled(&argv, known, given),
            ["head", "-n=", file, "{other}", "{", &format!("a{file}b{file}")]
        );
        let given = |name: &str| Some(if name == "rows" { "3" } else { "f" }.to_owned());
        assert_eq!(filled(&argv, known, given)[..4], ["head", "-n=3", "3", "f"]);
    }
}
