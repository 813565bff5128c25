//! Durations as people write them: `24h`, `10m`, `1h30m`, `45s`, `500ms`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Units from the largest, with their length in milliseconds.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A length of time in milliseconds. Reads and writes the humane form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(u64);

impl Duration {
    /// From milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// In milliseconds.
    pub const fn millis(self) -> u64 {
        self.0
    }
}

impl std::str::FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no duration; write it as `24h`, `10m`, `1h30m` or `45s`");
        let mut rest = text.trim();
        let mut total = 0u64;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let digits = rest.find(|character: char| !character.is_ascii_digit()).ok_or_else(wrong)?;
            let (number, after) = rest.split_at(digits);
            let letters =
                after.find(|character: char| !character.is_ascii_alphabetic()).unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
            let number: u64 = number.parse().map_err(|_| wrong())?;
            total = number.checked_mul(*millis).and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
            rest = after.trim_start();
        }
        Ok(Self(total))
    }
}

impl std::fmt::Display for Duration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        // Days are read but not written: a run of `24h` stays one of `24h`.
        for (unit, millis) in UNITS.into_iter().skip(1) {
            if rest >= millis {
                write!(f, "{}{unit}", rest / millis)?;
                rest %= millis;
            }
        }
        Ok(())
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_what_people_write() {
        for (text, millis) in [("24h", 86_400_000), ("10m", 600_000), ("1h30m", 5_400_000), ("1m 5s", 65_000)]
        {
            assert_eq!(text.parse(), Ok(Duration(millis)), "{text}");
        }
        assert_eq!(Duration(5_400_250).to_string(), "1h30m250ms");
        assert_eq!(
            ("1d".parse(), Duration(86_400_000).to_string()),
            (Ok(Duration(86_400_000)), "24h".into())
        );
        for text in ["", "10", "h", "10x", "-1h", "99999999999999999999h", "18446744073709551615d"] {
            assert!(text.parse::<Duration>().is_err(), "{text}");
        }
    }
}
