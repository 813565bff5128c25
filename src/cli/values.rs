//! Values on the command line: durations, sizes, dollars, `KEY=VALUE`.

use std::collections::BTreeMap;

use podium_scaffold::spec::Duration;
use podium_types::money::Usd;
use podium_types::nearest::nearest;

use crate::assets::Assets;
use crate::run::site::PLAYBOOK;

/// `2h`, `90m`, `1h30m`, in milliseconds.
pub(crate) fn duration(text: &str) -> Result<u64, String> {
    match text.parse::<Duration>()?.millis() {
        0 => Err("a duration must be longer than nothing".to_owned()),
        millis => Ok(millis),
    }
}

/// `8GiB`, `512M`, `1000000`, in bytes. All units are powers of 1024.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no size; write it as `8GiB`, `512M` or a number of bytes");
    let trimmed = text.trim();
    let digits = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    match number.checked_mul(1 << shift) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(wrong()),
    }
}

/// A number of things, at least one.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(count) if count > 0 => Ok(count),
        _ => Err(format!("`{text}` is no number of one or more")),
    }
}

/// The same where there may be very many.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    Ok(count(text)? as u64)
}

/// A positive number of dollars.
pub(crate) fn dollars(text: &str) -> Result<Usd, String> {
    let number = text.trim().trim_start_matches('$').parse::<f64>().ok();
    match number.filter(|dollars| dollars.is_finite() && *dollars > 0.0) {
        Some(dollars) => Ok(Usd::from_dollars(dollars)),
        None => Err(format!("`{text}` is no amount of dollars; write it as `2.50`")),
    }
}

/// `KEY=VALUE`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
    }
}

/// `NAME=VALUE` of an environment, where blanks count.
pub(crate) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}

/// `NAME=PATH`, where the name can be a folder's.
pub(crate) fn mount(text: &str) -> Result<(String, std::path::PathBuf), String> {
    let (name, path) = pair(text).map_err(|_| format!("`{text}` is not of the form NAME=PATH"))?;
    podium_sandbox::job::check_mount_name(&name)?;
    Ok((name, path.into()))
}

/// A model's name; `playbook` alone is the stand-in.
pub(crate) fn model(text: &str) -> Result<String, String> {
    if text == PLAYBOOK {
        return Ok(format!("{text}/default"));
    }
    match text.parse::<podium_llm::ModelName>() {
        Ok(name) => Ok(name.to_string()),
        Err(error) => match meant(text) {
            Some(name) => {
                Err(format!("{error}; a model is written `provider/model`; did you mean `{name}`?"))
            }
            None => Err(format!("{error}; {}", error.hint())),
        },
    }
}

/// The stand-in, or the known model, whose name is nearest to one that names no provider.
fn meant(text: &str) -> Option<String> {
    if text.contains('/') {
        return None;
    }
    let assets = Assets::load(None).ok()?;
    let catalog = podium_llm::Catalog::parse(assets.text("benchmark/models.toml")?).ok()?;
    let known = catalog.entries().map(|(name, _)| name).filter(|name| !name.model.contains('*'));
    let mut names: BTreeMap<String, String> =
        known.map(|name| (name.model.clone(), name.to_string())).collect();
    names.insert(PLAYBOOK.to_owned(), PLAYBOOK.to_owned());
    let near = nearest(text.trim(), names.keys().map(String::as_str))?;
    names.remove(&near)
}

/// `ROLE=MODEL`.
pub(crate) fn role(text: &str) -> Result<(String, String), String> {
    let (role, name) = pair(text)?;
    Ok((role, model(&name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write() {
        assert_eq!(size("8GiB"), Ok(8 << 30));
        assert_eq!(size("512m"), Ok(512 << 20));
        assert!(size("0").is_err() && size("8 bananas").is_err() && size("99999999999T").is_err());
        assert_eq!(duration("1h30m"), Ok(5_400_000));
        assert!(duration("0s").is_err() && duration("soon").is_err());
        assert_eq!(dollars("$2.5"), Ok(Usd::from_dollars(2.5)));
        assert!(dollars("-1").is_err() && dollars("NaN").is_err());
        assert_eq!(model("playbook").as_deref(), Ok("playbook/default"));
        for (text, meant) in [("playbok", "`playbook`"), ("gpt-4o", "`openai/gpt-4o`"), ("zz", "`openai/zz`")]
        {
            let told = model(text).unwrap_err();
            assert!(told.contains(&format!("did you mean {meant}?")), "{told}");
        }
        assert_eq!(variable("A= b =c "), Ok(("A".to_owned(), " b =c ".to_owned())));
        assert!(variable("A").is_err() && variable("=b").is_err());
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
    }
}
