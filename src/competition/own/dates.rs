//! Dates and times as tables spell them, as seconds that can be compared. Time zones are taken into account where they
//! stand; days beyond a month's end are no dates.

/// Which number of `3/4/2024` is the day. Year first is told by its four digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// `4/3/2024` is the third of April.
    MonthFirst,
    /// `4/3/2024` is the fourth of March.
    DayFirst,
}

/// Seconds since 1970 of a cell that holds a date, and a time of day where there is one.
pub(crate) fn seconds(cell: &str, order: Order) -> Option<f64> {
    let cell = cell.trim();
    // The cheapest look first: most cells are no dates.
    if cell.len() < 7 || !cell.as_bytes().first()?.is_ascii_digit() {
        return None;
    }
    let end = cell.find(['T', ' ']).unwrap_or(cell.len());
    let (date, rest) = cell.split_at(end);
    let days = days(date, order)?;
    let time = rest.trim_start_matches(['T', ' ']);
    let of_day = if time.is_empty() { 0.0 } else { time_of_day(time)? };
    Some(days as f64 * 86_400.0 + of_day)
}

/// Whether a cell can only be read with the day first: `13/4/2024`.
pub(crate) fn is_day_first(cell: &str) -> bool {
    seconds(cell, Order::MonthFirst).is_none() && seconds(cell, Order::DayFirst).is_some()
}

/// Whether a cell reads both ways, and differently.
pub(crate) fn is_ambiguous(cell: &str) -> bool {
    let [one, other] = [Order::MonthFirst, Order::DayFirst].map(|order| seconds(cell, order));
    one.is_some() && other.is_some() && one != other
}

fn days(date: &str, order: Order) -> Option<i64> {
    let mark = *date.as_bytes().iter().find(|byte| matches!(byte, b'-' | b'/' | b'.'))?;
    let mut parts = date.split(char::from(mark));
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    if first.len() == 4 {
        return civil(number(first)?, number(second)?, third.map_or(Some(1), number)?);
    }
    let year = third.filter(|year| year.len() == 4)?;
    // A point is German, a slash may be either.
    let day_first = mark == b'.' || order == Order::DayFirst;
    let (day, month) = if day_first { (first, second) } else { (second, first) };
    civil(number(year)?, number(month)?, number(day)?)
}

fn number(text: &str) -> Option<i64> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Days since 1970-01-01 in the Gregorian calendar, by the usual count of days in eras of 400 years.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

fn time_of_day(text: &str) -> Option<f64> {
    let (clock, zone) = match text.find(['Z', '+', '-']) {
        Some(place) => text.split_at(place),
        None => (text, ""),
    };
    let mut parts = clock.trim().split(':');
    let hour = parts.next()?.parse::<u32>().ok().filter(|hour| *hour < 24)?;
    let minute = parts.next()?.parse::<u32>().ok().filter(|minute| *minute < 60)?;
    let second = parts.next().map_or(Some(0.0), |text| text.parse::<f64>().ok())?;
    if parts.next().is_some() || !(0.0..61.0).contains(&second) {
        return None;
    }
    let offset = match zone {
        "" | "Z" => 0.0,
        zone => {
            let (sign, digits) = zone.split_at_checked(1)?;
            let digits = digits.replace(':', "");
            let (hours, minutes) = digits.split_at_checked(2)?;
            let minutes = if minutes.is_empty() { 0 } else { minutes.parse::<u32>().ok()? };
            let seconds = f64::from(hours.parse::<u32>().ok()? * 3600 + minutes * 60);
            if sign == "-" { -seconds } else { seconds }
        }
    };
    Some(f64::from(hour * 3600 + minute * 60) + second - offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_seconds() {
        let cases = [
            ("1970-01-01", Some(0.0)),
            ("1970-01-02 00:01", Some(86_460.0)),
            ("2000-03-01", Some(951_868_800.0)),
            ("2000/3/1", Some(951_868_800.0)),
            ("2000-03", Some(951_868_800.0)),
            ("01.03.2000", Some(951_868_800.0)),
            ("3/1/2000", Some(951_868_800.0)),
            ("2000-03-01T01:00:00+01:00", Some(951_868_800.0)),
            ("2000-03-01T00:00:00.5Z", Some(951_868_800.5)),
            ("1969-12-31", Some(-86_400.0)),
            ("2001-02-29", None),
            ("2000-13-01", None),
            ("13/4/2000", None),
            ("10.12345", None),
            ("2000-01-01x", None),
            ("1.234.567", None),
            ("2000-01-01 25:00", None),
            ("", None),
        ];
        for (cell, expected) in cases {
            assert_eq!(seconds(cell, Order::MonthFirst), expected, "{cell}");
        }
        assert_eq!(seconds("13/4/2000", Order::DayFirst), seconds("2000-04-13", Order::MonthFirst));
        assert!(is_day_first("13/4/2000") && !is_day_first("4/13/2000") && !is_day_first("2000-04-13"));
        assert!(is_ambiguous("3/4/2000") && !is_ambiguous("3.4.2000") && !is_ambiguous("3/3/2000"));
    }
}
