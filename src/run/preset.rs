//! Machines by name: what a publication ran on, as data in `benchmark/machines/NAME.toml`.
//!
//! A preset says what the whole machine had; executions that may run at the same time share it. What this machine does
//! not have is cut away and named, never pretended.

use serde::Deserialize;

use crate::run::error::RunError;
use crate::run::site::Site;

/// A machine as it is described.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachinePreset {
    /// One line for people.
    pub description: String,
    /// Processors.
    pub cpus: usize,
    /// Memory in GiB.
    pub memory_gib: u64,
    /// Graphics processors.
    #[serde(default)]
    pub gpus: usize,
    /// Size of `/dev/shm` in GiB, where it is known.
    pub shm_gib: Option<u64>,
    /// Size of its disk in GiB, where it is known.
    pub disk_gib: Option<u64>,
    /// Time for one competition, where it is known.
    pub time_limit: Option<String>,
}

impl MachinePreset {
    /// The preset of this name.
    ///
    /// # Errors
    /// When there is none, or its file is wrong.
    pub fn load(site: &Site, name: &str) -> Result<Self, RunError> {
        let text = site.assets.text(&format!("benchmark/machines/{name}.toml")).ok_or_else(|| {
            let known = names(site);
            let nearest = podium_types::nearest::nearest(name, known.iter().map(String::as_str));
            RunError::UnknownMachine { name: name.to_owned(), known, nearest }
        })?;
        let wrong = |message: String| RunError::Machine { name: name.to_owned(), message };
        let preset: Self = toml::from_str(text).map_err(|error| wrong(error.message().to_owned()))?;
        preset.time_limit_ms().map_err(wrong)?;
        Ok(preset)
    }

    /// The time limit in milliseconds.
    ///
    /// # Errors
    /// When it is no duration; never for one that was loaded.
    pub fn time_limit_ms(&self) -> Result<Option<u64>, String> {
        let parse = |text: &String| text.parse::<podium_scaffold::spec::Duration>();
        Ok(self.time_limit.as_ref().map(parse).transpose()?.map(podium_scaffold::spec::Duration::millis))
    }

    /// Memory in bytes.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory_gib.saturating_mul(1 << 30)
    }
}

/// Names of all presets.
pub fn names(site: &Site) -> Vec<String> {
    let files = site.assets.under("benchmark/machines/", ".toml");
    let bare =
        |name: &String| name.strip_prefix("benchmark/machines/")?.strip_suffix(".toml").map(str::to_owned);
    files.keys().filter_map(bare).collect()
}
