//! What a response's headers tell of waiting: how long the service asks us to, whether that is of any use, and the
//! limits it has.
//!
//! A wait: `retry-after-ms`, `Retry-After` in seconds or as a date, or the reset of a limit that is used up. Limits:
//! `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` with a duration (OpenAI and those who speak its protocol),
//! `anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}` with an RFC 3339 date
//! (Anthropic). Any of them may be missing or nonsense; some services write -1 for a limit they do not tell.
//!
//! `x-should-retry: false` is believed where no wait is told with it: the turn ends, resumably, with what the service
//! said. `x-should-retry: true` changes nothing: what is tried again anyway is, and a refused key, a used-up quota and
//! a request at fault are not, whatever a header says.

use std::time::{Duration, SystemTime};

use http::HeaderMap;

use crate::pace::{Told, ToldLimits};

/// Longer waits than this are told as this one. Nobody waits for them, and a longer one can be told by nobody.
const LONGEST: Duration = Duration::from_hours(24 * 365);

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The wait that `headers` ask for.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if let Some(delay) = text(headers, "retry-after-ms").and_then(|text| seconds(text, 1e-3)) {
        return Some(delay);
    }
    if let Some(value) = text(headers, "retry-after") {
        let date = || {
            let date = httpdate::parse_http_date(value).ok()?;
            Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
        };
        return seconds(value, 1.0).or_else(date);
    }
    let used_up = |name: &str| text(headers, name) == Some("0");
    let plain = ["requests", "tokens"].map(|kind| {
        let reset = text(headers, &format!("x-ratelimit-reset-{kind}")).and_then(duration);
        reset.filter(|_| used_up(&format!("x-ratelimit-remaining-{kind}")))
    });
    let dated = ANTHROPIC.map(|kind| {
        let reset = text(headers, &format!("anthropic-ratelimit-{kind}-reset"));
        let used_up = used_up(&format!("anthropic-ratelimit-{kind}-remaining"));
        reset.and_then(|text| until(text, now)).filter(|_| used_up)
    });
    plain.into_iter().chain(dated).flatten().max()
}

/// Where a redirect points, without what else may be in its address: a query may hold a key.
pub(super) fn moved_to(headers: &HeaderMap) -> Option<String> {
    let place = text(headers, "location")?.split(['?', '#']).next()?;
    (!place.is_empty() && !place.contains('@')).then(|| place.to_owned())
}

/// Whether the service says that trying again is of no use.
pub(super) fn is_hopeless(headers: &HeaderMap) -> bool {
    text(headers, "x-should-retry").is_some_and(|value| value.eq_ignore_ascii_case("false"))
}

const ANTHROPIC: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

/// The limits that `headers` tell.
pub(super) fn limits(headers: &HeaderMap, now: SystemTime) -> ToldLimits {
    let count = |name: &str| text(headers, name)?.parse::<u64>().ok();
    let plain = |kind: &str| {
        let limit = count(&format!("x-ratelimit-limit-{kind}"))?;
        let remaining = count(&format!("x-ratelimit-remaining-{kind}"))?;
        let reset = text(headers, &format!("x-ratelimit-reset-{kind}")).and_then(duration);
        Some(Told { limit, remaining, reset })
    };
    let dated = |kind: &str| {
        let limit = count(&format!("anthropic-ratelimit-{kind}-limit"))?;
        let remaining = count(&format!("anthropic-ratelimit-{kind}-remaining"))?;
        let reset = text(headers, &format!("anthropic-ratelimit-{kind}-reset"));
        Some(Told { limit, remaining, reset: reset.and_then(|text| until(text, now)) })
    };
    ToldLimits {
        requests: plain("requests").or_else(|| dated("requests")),
        tokens: plain("tokens").or_else(|| dated("tokens")),
        input_tokens: dated("input-tokens"),
        output_tokens: dated("output-tokens"),
    }
}

/// How long until an RFC 3339 date; nothing when it has passed.
fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let date = SystemTime::from(text.parse::<jiff::Timestamp>().ok()?);
    Some(date.duration_since(now).unwrap_or_default().min(LONGEST))
}

/// A number of units; one beyond all measure is the longest wait, for it was asked for all the same.
fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let digits = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.parse::<f64>().ok().filter(|number| digits && !number.is_nan())?;
    Some(Duration::try_from_secs_f64(number * unit).unwrap_or(LONGEST).min(LONGEST))
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
        total = total.saturating_add(seconds(number, unit)?);
        rest = tail;
    }
    Some(total.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> SystemTime {
        httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap()
    }

    fn map(headers: &[(&'static str, &str)]) -> HeaderMap {
        let headers =
            headers.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap()));
        headers.collect()
    }

    fn asked(headers: &[(&'static str, &str)]) -> Option<Duration> {
        retry_after(&map(headers), now())
    }

    fn read(headers: &[(&'static str, &str)]) -> ToldLimits {
        limits(&map(headers), now())
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
    fn a_wait_beyond_all_measure_is_asked_for_all_the_same() {
        for text in ["1e300", "1e999", "99999999999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            assert_eq!(asked(&[("retry-after", text)]), Some(LONGEST), "{text}");
        }
        assert_eq!(asked(&[("retry-after-ms", "1e300")]), Some(LONGEST));
        let reset =
            [("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "99999999999999999d1s")];
        assert_eq!(asked(&reset), Some(LONGEST));
    }

    #[test]
    fn limits_are_read_in_both_ways_of_writing_them() {
        let plain = read(&[
            ("x-ratelimit-limit-requests", "5000"),
            ("x-ratelimit-remaining-requests", "4999"),
            ("x-ratelimit-reset-requests", "12ms"),
            ("x-ratelimit-limit-tokens", "-1"),
            ("x-ratelimit-remaining-tokens", "-1"),
            ("x-ratelimit-reset-tokens", "0"),
        ]);
        let requests = Told { limit: 5000, remaining: 4999, reset: Some(Duration::from_millis(12)) };
        assert_eq!(plain, ToldLimits { requests: Some(requests), ..ToldLimits::default() });
        let dated = [
            ("anthropic-ratelimit-input-tokens-limit", "40000"),
            ("anthropic-ratelimit-input-tokens-remaining", "0"),
            ("anthropic-ratelimit-input-tokens-reset", "1994-11-06T08:50:07Z"),
            ("anthropic-ratelimit-output-tokens-limit", "8000"),
            ("anthropic-ratelimit-output-tokens-remaining", "7000"),
            ("anthropic-ratelimit-output-tokens-reset", "yesterday"),
        ];
        let input = Told { limit: 40_000, remaining: 0, reset: Some(Duration::from_secs(30)) };
        let output = Told { limit: 8_000, remaining: 7_000, reset: None };
        let expected =
            ToldLimits { input_tokens: Some(input), output_tokens: Some(output), ..ToldLimits::default() };
        assert_eq!(read(&dated), expected);
        assert_eq!(asked(&dated), Some(Duration::from_secs(30)));
    }

    #[test]
    fn a_redirect_is_told_without_what_may_be_secret_in_it() {
        for (location, place) in [
            ("https://new.example/v1/chat?key=sk-1#x", Some("https://new.example/v1/chat")),
            ("/login", Some("/login")),
            ("https://me:secret@new.example/", None),
            ("?a", None),
        ] {
            assert_eq!(moved_to(&map(&[("location", location)])).as_deref(), place, "{location}");
        }
        assert_eq!(moved_to(&map(&[])), None);
    }

    #[test]
    fn only_a_plain_no_is_hopeless() {
        for (value, expected) in
            [("false", true), ("False", true), ("true", false), ("0", false), ("", false)]
        {
            let headers = [(http::HeaderName::from_static("x-should-retry"), value.parse().unwrap())];
            assert_eq!(is_hopeless(&headers.into_iter().collect()), expected, "{value}");
        }
    }

    #[test]
    fn nonsense_asks_for_nothing() {
        for text in ["soon", "-1", "NaN", "inf", "+1e300", ""] {
            assert_eq!(asked(&[("retry-after", text)]), None, "{text}");
        }
        for text in ["s", "1x", "1..2s", "5m3", "é"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
