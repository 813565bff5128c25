//! Numbers as Python reads them, against what Python 3.11 itself says; and words as `str.split()` cuts them.

#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "helpers of tests may be as blunt as tests")]

use podium_metric::literal::{Integer, float, integer, is_blank, plain_integer, words};
use proptest::prelude::*;

/// A text, `str(int(text))` and `repr(float(text))`; `None` where Python raises.
const TABLE: &[(&str, Option<&str>, Option<&str>)] = &[
    ("", None, None),
    ("0", Some("0"), Some("0.0")),
    ("-0", Some("0"), Some("-0.0")),
    ("+0", Some("0"), Some("0.0")),
    ("7", Some("7"), Some("7.0")),
    (" 7 ", Some("7"), Some("7.0")),
    ("\u{9}7\u{a}", Some("7"), Some("7.0")),
    ("\u{1c}7", None, None),
    ("7\u{1f}", None, None),
    ("\u{a0}7", Some("7"), Some("7.0")),
    ("\u{2003}7\u{3000}", Some("7"), Some("7.0")),
    ("1_000", Some("1000"), Some("1000.0")),
    ("1__0", None, None),
    ("_1", None, None),
    ("1_", None, None),
    ("+_1", None, None),
    ("-_1", None, None),
    ("+ 1", None, None),
    ("--1", None, None),
    ("1.0", None, Some("1.0")),
    ("1e5", None, Some("100000.0")),
    ("1E5", None, Some("100000.0")),
    ("1e", None, None),
    ("e5", None, None),
    (".5", None, Some("0.5")),
    ("5.", None, Some("5.0")),
    (".", None, None),
    ("1_0.5_0", None, Some("10.5")),
    ("1_.5", None, None),
    ("1._5", None, None),
    ("1e1_0", None, Some("10000000000.0")),
    ("1e_5", None, None),
    ("1_e5", None, None),
    ("inf", None, Some("inf")),
    ("-inf", None, Some("-inf")),
    ("+Infinity", None, Some("inf")),
    ("INF", None, Some("inf")),
    ("infinit", None, None),
    ("nan", None, Some("NaN")),
    ("-NaN", None, Some("NaN")),
    ("+nan", None, Some("NaN")),
    ("in_f", None, None),
    ("0x10", None, None),
    ("1d5", None, None),
    ("\u{663}", Some("3"), Some("3.0")),
    ("\u{ff11}\u{ff12}", Some("12"), Some("12.0")),
    ("-\u{661}\u{662}", Some("-12"), Some("-12.0")),
    ("1\u{660}.5", None, Some("10.5")),
    ("\u{b2}", None, None),
    ("\u{2160}", None, None),
    ("1,000", None, None),
    ("1e400", None, Some("inf")),
    ("-1e400", None, Some("-inf")),
    ("1e-400", None, Some("0.0")),
    ("0e99999999999", None, Some("0.0")),
    ("1\u{0}7", None, None),
    ("9223372036854775807", Some("9223372036854775807"), Some("9.223372036854776e18")),
    ("9223372036854775808", Some("9223372036854775808"), Some("9.223372036854776e18")),
    ("18446744073709551616", Some("18446744073709551616"), Some("1.8446744073709552e19")),
    (
        "170141183460469231731687303715884105728",
        Some("170141183460469231731687303715884105728"),
        Some("1.7014118346046923e38"),
    ),
    (
        "-170141183460469231731687303715884105729",
        Some("-170141183460469231731687303715884105729"),
        Some("-1.7014118346046923e38"),
    ),
    ("00012", Some("12"), Some("12.0")),
    ("-007", Some("-7"), Some("-7.0")),
    ("\u{6f1}_\u{6f2}", Some("12"), Some("12.0")),
    ("\u{3007}1", None, None),
    ("1\u{200b}", None, None),
    ("\u{feff}1", None, None),
    ("True", None, None),
    ("None", None, None),
    ("\u{85}1", Some("1"), Some("1.0")),
    ("1\u{7f}", None, None),
    ("\u{1d7d8}", Some("0"), Some("0.0")),
    ("\u{1fbf9}", Some("9"), Some("9.0")),
    ("\u{11f51}", None, None),
    ("\u{be7}\u{be8}", Some("12"), Some("12.0")),
    ("_ a0n", None, None),
    ("1+", None, None),
    (" ", None, None),
    (".\u{9}\u{661}8", None, None),
    (".0-i_", None, None),
    ("\u{9}+", None, None),
    ("9", Some("9"), Some("9.0")),
    ("\u{3000}n990", None, None),
    ("-", None, None),
    ("++", None, None),
    ("E-\u{661}", None, None),
    ("-+-\u{9}e0", None, None),
    ("i+9", None, None),
    ("2Ee", None, None),
    ("\u{ff15}0\u{3000}E2", None, None),
    (" ef", None, None),
    ("E+ff+1", None, None),
    ("0 \u{9}", Some("0"), Some("0.0")),
    ("\u{661}", Some("1"), Some("1.0")),
    (" \u{9}\u{ff15}0", Some("50"), Some("50.0")),
    ("1+\u{3000}-", None, None),
    (" a a", None, None),
    ("n8\u{ff15}", None, None),
    (" e1i2-", None, None),
    ("a\u{3000} ", None, None),
    ("E_", None, None),
    ("\u{661}2eEe+", None, None),
    ("ef+12\u{3000}", None, None),
    ("\u{9}1.\u{3000} ", None, Some("1.0")),
    ("ni9", None, None),
    ("1", Some("1"), Some("1.0")),
    ("E-9\u{ff15}", None, None),
    ("i8", None, None),
    ("i ", None, None),
    ("1i", None, None),
    ("9n\u{3000}", None, None),
    ("\u{9}98\u{9}", Some("98"), Some("98.0")),
    ("1\u{661}\u{3000}", Some("11"), Some("11.0")),
    ("8e\u{661}", None, Some("80.0")),
    (" \u{ff15}9", Some("59"), Some("59.0")),
    ("1\u{661}", Some("11"), Some("11.0")),
    ("2_1\u{ff15}\u{ff15}8", Some("21558"), Some("21558.0")),
    (" 19", Some("19"), Some("19.0")),
    ("90", Some("90"), Some("90.0")),
];

#[test]
fn python_agrees() {
    for (text, whole, real) in TABLE {
        let found = integer(text).map(|number| match number {
            Integer::Small(value) => value.to_string(),
            Integer::Huge { negative, digits } => format!("{}{digits}", if negative { "-" } else { "" }),
        });
        assert_eq!(found.as_deref(), *whole, "int({text:?})");
        let expected: Option<f64> = real.map(|real| real.parse().unwrap());
        let found = float(text);
        assert_eq!(found.map(f64::is_nan), expected.map(f64::is_nan), "float({text:?})");
        assert!(
            found.is_none_or(f64::is_nan) || found.map(f64::to_bits) == expected.map(f64::to_bits),
            "float({text:?})"
        );
    }
}

#[test]
fn digits_have_a_limit() {
    let longest = "9".repeat(4300);
    assert!(matches!(integer(&longest), Some(Integer::Huge { negative: false, .. })));
    assert!(integer(&format!("-0{longest}")).is_none());
    assert!(integer(&longest) > integer(&longest[1..]) && integer(&longest[1..]) > integer("1"));
    assert!(integer(&format!("-{longest}")) < integer("-1"));
    assert!(float(&longest).is_some_and(f64::is_infinite));
}

#[test]
fn blanks() {
    // `[c for c in range(0x110000) if chr(c).isspace()]`
    let blanks: Vec<u32> =
        (0..0x11_0000).filter(|code| char::from_u32(*code).is_some_and(is_blank)).collect();
    let mut expected = vec![9, 10, 11, 12, 13, 28, 29, 30, 31, 32, 133, 160, 5760];
    expected.extend(8192..=8202);
    expected.extend([8232, 8233, 8239, 8287, 12288]);
    assert_eq!(blanks, expected);
    assert_eq!(words(" a\u{1c}b\u{3000}\u{85}c\t").collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(words(" \n").count(), 0);
}

proptest! {
    #[test]
    fn nothing_panics(text in ".*") {
        let _ = (integer(&text), float(&text), plain_integer(&text), words(&text).count());
    }

    #[test]
    fn whole_numbers_come_back(value in any::<i128>()) {
        prop_assert_eq!(integer(&value.to_string()), Some(Integer::Small(value)));
    }

    #[test]
    fn the_plain_case_is_the_same(text in "[0-9+_ ]{0,20}") {
        if let Some(value) = plain_integer(&text) {
            prop_assert_eq!(integer(&text), Some(Integer::Small(value.into())));
        }
    }

    #[test]
    fn reals_come_back(value in any::<f64>()) {
        let found = float(&format!("{value:?}"));
        prop_assert!(found.is_some_and(|found| found == value || (found.is_nan() && value.is_nan())));
    }
}
