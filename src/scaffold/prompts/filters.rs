//! The filters that templates may use besides Tera's own:
//!
//! - `fence`: a block of text that Podium did not write, in a fence longer than any run of backticks in it;
//!   `fence(tag="python")` names the language
//! - `duration`: milliseconds as `1 h 30 min`
//! - `seconds`: milliseconds as `90 s` or `0.5 s`: a limit's exact value
//! - `gib`: bytes as `7.5 GiB`, or `64 MiB` below one; `mib`: bytes as `7680 MiB`

use tera::{Kwargs, State, Tera, TeraResult};

pub(super) fn register(tera: &mut Tera) {
    tera.register_filter("fence", |text: &str, arguments: Kwargs, _: &State| -> TeraResult<String> {
        Ok(fence(text, arguments.get::<&str>("tag")?.unwrap_or_default()))
    });
    tera.register_filter("duration", |millis: u64, _: Kwargs, _: &State| duration(millis));
    tera.register_filter("seconds", |millis: u64, _: Kwargs, _: &State| format!("{} s", millis as f64 / 1e3));
    tera.register_filter("mib", |bytes: u64, _: Kwargs, _: &State| format!("{} MiB", bytes >> 20));
    tera.register_filter("gib", |bytes: u64, _: Kwargs, _: &State| gib(bytes));
}

/// `text` as a fenced block that nothing in it can close.
pub fn fence(text: &str, tag: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest.saturating_add(1).max(3));
    let feed = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}{tag}\n{text}{feed}{ticks}")
}

/// Milliseconds in the two largest units that matter.
pub fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes, seconds % 60) {
        (0, 0, rest) => format!("{rest} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

fn gib(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10) >> 30;
    if tenths < 10 {
        format!("{} MiB", bytes >> 20)
    } else if tenths.is_multiple_of(10) {
        format!("{} GiB", tenths / 10)
    } else {
        format!("{}.{} GiB", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn humane_units() {
        let shown = [500, 90_000, 600_000, 5_400_000, 86_400_000].map(duration);
        assert_eq!(shown, ["0 s", "1 min 30 s", "10 min", "1 h 30 min", "24 h"]);
        assert_eq!((gib(1 << 30), gib(64 << 20)), ("1 GiB".to_owned(), "64 MiB".to_owned()));
        assert_eq!((gib(8 << 30), gib(8_053_063_680)), ("8 GiB".to_owned(), "7.5 GiB".to_owned()));
    }

    proptest! {
        #[test]
        fn nothing_closes_its_own_fence(text in "[`a \n~]{0,60}") {
            let block = fence(&text, "");
            let lines: Vec<&str> = block.lines().collect();
            let ticks = lines[0];
            for line in &lines[1..lines.len() - 1] {
                prop_assert!(!line.contains(ticks), "{block}");
            }
            prop_assert_eq!(lines[lines.len() - 1], ticks);
        }
    }
}
