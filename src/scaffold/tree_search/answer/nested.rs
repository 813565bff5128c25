//! Strings that hold code: in an f-string (and a t-string) what stands in braces is an expression, and since Python 3.12
//! it may hold line breaks, comments, and the very quotes of the string around it.
//!
//! This is a second opinion on a program that the plain reading in [`super::python`] refuses. It keeps a stack of what
//! is open instead of recursing, so nesting costs no more than length.

/// What is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// A string; `code` when braces in it hold expressions.
    String { mark: u8, long: bool, code: bool },
    /// A bracket of code.
    Bracket(u8),
    /// The expression in a string's braces.
    Field,
    /// The format behind such an expression: text again, up to the brace or to braces of its own.
    Format { mark: u8, long: bool },
}

/// Whether strings and brackets pair up when strings may hold code.
pub(super) fn pairs_up(code: &str) -> bool {
    let bytes = code.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let step = match open.last().copied() {
            Some(Open::String { mark, long, code }) => in_string(bytes, at, mark, long, code, &mut open),
            Some(Open::Format { mark, long }) => in_format(bytes, at, mark, long, &mut open),
            _ => in_code(bytes, at, *byte, &mut open),
        };
        let Some(step) = step else { return false };
        at += step;
    }
    open.is_empty()
}

/// Reads at `at` inside a string; how far, or `None` when it cannot go on.
fn in_string(
    bytes: &[u8],
    at: usize,
    mark: u8,
    long: bool,
    code: bool,
    open: &mut Vec<Open>,
) -> Option<usize> {
    match bytes.get(at)? {
        // A backslash does not take the meaning from a brace.
        b'\\' if code && bytes.get(at + 1) == Some(&b'{') => Some(1),
        b'\\' => Some(2),
        b'\n' if !long => None,
        byte if *byte == mark && (!long || is_triple(bytes, at, mark)) => {
            open.pop();
            Some(if long { 3 } else { 1 })
        }
        b'{' if code && bytes.get(at + 1) == Some(&b'{') => Some(2),
        b'{' if code => {
            open.push(Open::Field);
            Some(1)
        }
        _ => Some(1),
    }
}

/// Reads at `at` inside a format. The quote of the string around it would end it too early.
fn in_format(bytes: &[u8], at: usize, mark: u8, long: bool, open: &mut Vec<Open>) -> Option<usize> {
    match bytes.get(at)? {
        b'{' => open.push(Open::Field),
        b'}' => {
            // The format and its field.
            open.pop();
            open.pop();
        }
        byte if *byte == mark && (!long || is_triple(bytes, at, mark)) => return None,
        _ => {}
    }
    Some(1)
}

fn in_code(bytes: &[u8], at: usize, byte: u8, open: &mut Vec<Open>) -> Option<usize> {
    match byte {
        b'#' => {
            let rest = bytes.get(at..)?;
            return Some(rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()));
        }
        b'"' | b'\'' => {
            let long = is_triple(bytes, at, byte);
            open.push(Open::String { mark: byte, long, code: holds_code(bytes.get(..at)?) });
            return Some(if long { 3 } else { 1 });
        }
        b'(' | b'[' | b'{' => open.push(Open::Bracket(byte)),
        b')' | b']' | b'}' => close(byte, open)?,
        b':' if open.last() == Some(&Open::Field) => {
            let around = open.iter().rev().find_map(|item| match *item {
                Open::String { mark, long, .. } => Some(Open::Format { mark, long }),
                _ => None,
            });
            open.push(around?);
        }
        _ => {}
    }
    Some(1)
}

fn close(closing: u8, open: &mut Vec<Open>) -> Option<()> {
    let fits = match (open.pop()?, closing) {
        (Open::Bracket(opening), _) => {
            matches!((opening, closing), (b'(', b')') | (b'[', b']') | (b'{', b'}'))
        }
        (Open::Field, closing) => closing == b'}',
        _ => false,
    };
    fits.then_some(())
}

fn is_triple(bytes: &[u8], at: usize, mark: u8) -> bool {
    bytes.get(at..at + 3).is_some_and(|three| three.iter().all(|byte| *byte == mark))
}

/// Whether the letters right before a quote (`f`, `rf`, `T`, ...) make its string one that holds code.
fn holds_code(before: &[u8]) -> bool {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_' || !byte.is_ascii();
    let prefix: Vec<u8> =
        before.iter().rev().take(3).take_while(is_word).map(u8::to_ascii_lowercase).collect();
    prefix.len() <= 2
        && prefix.iter().all(|letter| b"ftr".contains(letter))
        && prefix.iter().any(|letter| b"ft".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::super::python::check;
    use super::*;

    #[test]
    fn what_python_3_12_runs_is_not_refused() {
        // Each compiles with Python 3.12.
        let programs = [
            "print(f'{d['a']}')",
            "print(f\"{d[\"it's\"]}\")",
            "print(f'{x\n}')",
            "print(f'a {x # it's a comment }\n} b')",
            "print(f'{f'{f'{1}'}'}')",
            "print(f'{'\\n'.join(a)}')",
            "print(f'{x:>{width}}')",
            "print(f'{x:{'>'}{10}}')",
            "print(f'{{not code ' + '}}')",
            "print(f'{{{x}}}')",
            "print(f'{x!r:^10}, {(lambda y: y)(1)}')",
            "print(f'{d[\"a\"]:.3f}: {max(a, key=lambda r: r['k'])}')",
            "print(f'''{d['a']}\n{\n  x\n}''')",
            "print(rf'\\d{x['a']}', fr\"\\{d[\"it's\"]}\", f'\\N{EM DASH}')",
            "print(F\"{\", \".join(f\"{k}={v!r}\" for k, v in d.items())}\")",
            "print(f'{ {'a': 1}['a'] }')",
            "x = 'it is {not} code'\nprint(b'{', u'{', r'{')",
        ];
        for program in programs {
            assert_eq!(check(program), Ok(()), "{program}");
        }
    }

    #[test]
    fn what_cannot_run_is_refused() {
        let programs = [
            "print('a",
            "print('{x\n}')",
            "print(f'a\nb')",
            "print(f'{d['a']}'",
            "x = f'''{1}",
            "print(b'{x['it's']}')",
        ];
        for program in programs {
            assert!(check(program).is_err(), "{program}");
        }
        // Broken too, though the plain reading cannot see it.
        for program in ["print(f'{x')", "print(f'{x:>10')", "print(f'{x)}')"] {
            assert!(!pairs_up(program), "{program}");
        }
    }

    #[test]
    fn deep_nesting_takes_linear_time() {
        for piece in ["f'{", "f\"\"\"{", "f'{x:{", "([{", "'", "f'{'", "{{"] {
            assert!(!pairs_up(&piece.repeat(100_001)), "{piece}");
        }
    }
}
