//! Run settings by name: the words of `podium run`'s options, with values as people write them. A name with a dot is a
//! value of the scaffold (`search.workers`), as `--set` takes it.

use std::path::Path;
use std::str::FromStr;

use podium_scaffold::spec::Duration;
use podium_types::money::Usd;
use podium_types::nearest::nearest;

use crate::experiment::error::ExperimentError;
use crate::run::order::Order;

/// All settings without a dot.
pub const NAMES: [&str; 21] = [
    "cpus",
    "description",
    "disk",
    "environment",
    "execution_limit",
    "gpus",
    "image",
    "machine",
    "max_cost",
    "max_tokens",
    "memory",
    "mle_bench",
    "require_sandbox",
    "runtime",
    "sandbox",
    "shm",
    "steps",
    "time_limit",
    "tmp",
    "warm",
    "workers",
];

/// Before the name of a role: its model.
const ROLE: &str = "role.";
/// Before the name of a mount: its folder.
const MOUNT: &str = "mount.";
/// What `workers` stands for, in scaffolds that search.
const WORKERS: &str = "search.workers";

/// Changes `order` as the setting says. A name that begins with `role.` is the model of one role, with `mount.` a folder
/// that code may read.
///
/// # Errors
/// When there is no such setting, or the value is none of its kind.
pub fn apply(order: &mut Order, name: &str, value: &str) -> Result<(), ExperimentError> {
    let wrong = |message: String| ExperimentError::Setting {
        name: name.to_owned(),
        value: format!("`{value}`"),
        message,
    };
    let grants = &mut order.sandbox;
    match name {
        "steps" => order.steps = Some(parsed(value).map_err(wrong)?),
        "time_limit" => order.run_ms = Some(duration(value).map_err(wrong)?),
        "execution_limit" => order.execution_ms = Some(duration(value).map_err(wrong)?),
        "max_cost" => order.cost = Some(dollars(value).map_err(wrong)?),
        "max_tokens" => order.tokens = Some(parsed(value).map_err(wrong)?),
        "sandbox" => grants.kind = Some(parsed(value).map_err(wrong)?),
        "require_sandbox" => grants.require = Some(parsed(value).map_err(wrong)?),
        "image" => grants.docker.image = Some(value.to_owned()),
        "runtime" => grants.docker.runtime = Some(value.to_owned()),
        "warm" => grants.warm = warm(value).map_err(wrong)?,
        "machine" => grants.machine = Some(value.to_owned()),
        "environment" => value.clone_into(&mut grants.environment),
        "memory" => grants.memory_bytes = Some(size(value).map_err(wrong)?),
        "shm" => grants.shm_bytes = Some(size(value).map_err(wrong)?),
        "tmp" => grants.tmp_bytes = Some(size(value).map_err(wrong)?),
        "disk" => grants.disk_bytes = Some(size(value).map_err(wrong)?),
        "cpus" => grants.cpus = Some(parsed(value).map_err(wrong)?),
        "gpus" => grants.gpus = Some(parsed(value).map_err(wrong)?),
        "workers" => order.overrides.push((WORKERS.to_owned(), value.to_owned())),
        "description" => order.description = parsed(value).map_err(wrong)?,
        "mle_bench" => order.mle_bench = Some(value.into()),
        _ => {
            if let Some(role) = name.strip_prefix(ROLE) {
                order.roles.insert(role.to_owned(), value.to_owned());
            } else if let Some(mount) = name.strip_prefix(MOUNT) {
                podium_sandbox::job::check_mount_name(mount).map_err(wrong)?;
                let folder = Path::new(value).canonicalize().map_err(|error| wrong(error.to_string()))?;
                grants.mounts.insert(mount.to_owned(), folder);
            } else if name.contains('.') {
                order.overrides.push((name.to_owned(), value.to_owned()));
            } else {
                let near = nearest(name, NAMES.iter().copied());
                let near = near.map(|near| format!("; nearest: {near}")).unwrap_or_default();
                return Err(wrong(format!("there is no such setting{near}")));
            }
        }
    }
    Ok(())
}

/// The setting as an option of `podium run`, with its value.
pub fn option(name: &str, value: &str) -> (String, String) {
    let (option, value) = match name {
        "workers" => ("set".to_owned(), format!("{WORKERS}={value}")),
        "warm" => {
            let word = match warm(value) {
                Ok(Some(true)) => "on",
                Ok(Some(false)) => "off",
                _ => "auto",
            };
            ("warm".to_owned(), word.to_owned())
        }
        _ => match (name.strip_prefix(ROLE), name.strip_prefix(MOUNT)) {
            (Some(role), _) => ("role".to_owned(), format!("{role}={value}")),
            (None, Some(mount)) => ("mount".to_owned(), format!("{mount}={value}")),
            (None, None) if name.contains('.') => ("set".to_owned(), format!("{name}={value}")),
            (None, None) => (name.replace('_', "-"), value.to_owned()),
        },
    };
    (format!("--{option}"), value)
}

/// The value with a path in it made absolute: other commands stand in other folders.
pub fn absolute(name: &str, value: &str) -> String {
    let is_path = match name {
        "mle_bench" => true,
        "description" => !matches!(value, "original" | "obfuscated"),
        _ => name.starts_with(MOUNT),
    };
    let path = is_path.then(|| std::path::absolute(value).ok()).flatten();
    path.map_or_else(|| value.to_owned(), |path| path.display().to_string())
}

/// Whether scripts begin warm; none: as it is best.
fn warm(value: &str) -> Result<Option<bool>, String> {
    match value {
        "auto" => Ok(None),
        "on" | "true" => Ok(Some(true)),
        "off" | "false" => Ok(Some(false)),
        _ => Err("write `auto`, `on` or `off`".to_owned()),
    }
}

fn parsed<T: FromStr<Err: std::fmt::Display>>(value: &str) -> Result<T, String> {
    value.trim().parse().map_err(|error: T::Err| error.to_string())
}

fn duration(value: &str) -> Result<u64, String> {
    match value.parse::<Duration>()?.millis() {
        0 => Err("a duration must be longer than nothing".to_owned()),
        millis => Ok(millis),
    }
}

/// A positive number of dollars.
///
/// # Errors
/// In words.
pub fn dollars(value: &str) -> Result<Usd, String> {
    match value.trim().trim_start_matches('$').parse::<f64>() {
        Ok(dollars) if dollars.is_finite() && dollars > 0.0 => Ok(Usd::from_dollars(dollars)),
        _ => Err("write dollars as `2.50`".to_owned()),
    }
}

/// Bytes, with a unit of a power of 1024 behind them.
pub fn size(value: &str) -> Result<u64, String> {
    let wrong = || "write a size as `8GiB`, `512M` or a number of bytes".to_owned();
    let value = value.trim();
    let (number, unit) = value.split_at(value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len()));
    let letter = unit.trim().to_ascii_lowercase();
    let shift = match letter.trim_end_matches("ib").trim_end_matches('b') {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wrong()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_dollars_are_read_as_people_write_them() {
        let sizes = [("512MiB", Ok(512 << 20)), ("8g", Ok(8 << 30)), ("7", Ok(7))];
        for (text, bytes) in sizes {
            assert_eq!(size(text), bytes, "{text}");
        }
        assert!(["0", "8 bananas", "", "99999999999T"].into_iter().all(|text| size(text).is_err()));
        assert_eq!(dollars("$2.5"), Ok(Usd::from_dollars(2.5)));
        assert!(dollars("-1").is_err() && dollars("NaN").is_err());
    }

    #[test]
    fn each_setting_is_an_option_of_a_run() {
        for (name, value, option_name, told) in [
            ("time_limit", "1h", "--time-limit", "1h"),
            ("workers", "4", "--set", "search.workers=4"),
            ("policy.exploration", "0.5", "--set", "policy.exploration=0.5"),
            ("role.code", "a/b", "--role", "code=a/b"),
            ("mount.hf", "/data/hf", "--mount", "hf=/data/hf"),
            ("warm", "true", "--warm", "on"),
        ] {
            assert_eq!(option(name, value), (option_name.to_owned(), told.to_owned()));
        }
        assert_eq!(absolute("steps", "4"), "4");
        assert_eq!(absolute("description", "obfuscated"), "obfuscated");
        assert!(absolute("mount.hf", "hf").starts_with('/'));
        assert!(warm("maybe").is_err());
    }
}
