//! How long a service asks us to wait: `Retry-After` in seconds or as a date, `retry-after-ms`, and the
//! `x-ratelimit-reset-*` headers of a limit that is used up.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

/// The wait that `headers` ask for.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(delay) = text("retry-after-ms").and_then(|text| seconds(text, 1e-3)) {
        return Some(delay);
    }
    if let Some(value) = text("retry-after") {
        let date =
            || httpdate::parse_http_date(value).ok().map(|date| date.duration_since(now).unwrap_or_default());
        return seconds(value, 1.0).or_else(date);
    }
    let reset = |kind: &str| {
        let used_up = text(&format!("x-ratelimit-remaining-{kind}")) == Some("0");
        text(&format!("x-ratelimit-reset-{kind}")).filter(|_| used_up).and_then(duration)
    };
    reset("requests").into_iter().chain(reset("tokens")).max()
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok()
}

/// A duration such as `1s`, `6m0s`, `1h2m3.5s`, `20ms`; a bare number counts seconds.
fn duration(text: &str) -> Option<Duration> {
    if let Some(delay) = seconds(text, 1.0) {
        return Some(delay);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let unit = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(seconds(number, unit)?)?;
        rest = tail;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        let headers =
            headers.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()));
        retry_after(&headers.collect(), now)
    }

    #[test]
    fn seconds_dates_and_resets_are_read() {
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(asked(&[("retry-after", "7")]), millis(7_000));
        assert_eq!(asked(&[("retry-after", " 0.25 ")]), millis(250));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")]), millis(30_000));
        assert_eq!(asked(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]), millis(0));
        assert_eq!(asked(&[("retry-after-ms", "20"), ("retry-after", "1")]), millis(20));
        assert_eq!(asked(&[("x-ratelimit-reset-requests", "6m0s")]), None);
        let reset = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "20ms"),
            ("x-ratelimit-remaining-tokens", "0"),
            ("x-ratelimit-reset-tokens", "1h2m3.5s"),
        ];
        assert_eq!(asked(&reset), millis(3_723_500));
    }

    #[test]
    fn nonsense_asks_for_nothing() {
        for text in ["soon", "-1", "NaN", "inf", "1e300", ""] {
            assert_eq!(asked(&[("retry-after", text)]), None, "{text}");
        }
        for text in ["s", "1x", "1..2s", "5m3", "é"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
