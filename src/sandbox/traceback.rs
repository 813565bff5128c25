//! The exception that ended a Python program, read from its output.
//!
//! The program can print what it likes, so what is read here is a claim for the agent's convenience and decides
//! nothing. The last traceback wins: of a chain that is the exception that was raised last. A traceback whose beginning
//! was dropped, and a syntax error, which has no beginning, are found by their last `File "..."` line.

use podium_types::execution::{Exception, Output};

const HEADER: &str = "Traceback (most recent call last):";
/// Longest message kept.
const MESSAGE_LIMIT: usize = 4096;

/// Reads the exception from the end of the output. `script` is the script's file name.
pub(crate) fn exception(output: &Output, script: &str) -> Option<Exception> {
    let text = if output.tail.is_empty() { &output.head } else { &output.tail };
    let lines: Vec<&str> = text.lines().map(unframed).collect();
    let start = header(&lines).map(|at| at + 1).or_else(|| first_frame_of_last_block(&lines))?;
    let body = lines.get(start..)?;
    let frames = body.iter().take_while(|line| line.starts_with(char::is_whitespace)).count();
    let line = body
        .iter()
        .take(frames)
        .filter_map(|line| frame(line))
        .rev()
        .find(|(file, _)| is_script(file, script));
    let mut rest = body.iter().skip(frames);
    let (kind, first) = split(rest.next()?)?;
    let mut message = first.to_owned();
    for more in rest {
        if message.len() >= MESSAGE_LIMIT {
            break;
        }
        message.push('\n');
        message.push_str(more);
    }
    let message = truncate(message.trim_end(), MESSAGE_LIMIT).to_owned();
    Some(Exception { kind: kind.to_owned(), message, line: line.map(|(_, number)| number) })
}

/// A line of an exception group without its margin.
fn unframed(line: &str) -> &str {
    line.strip_prefix("  | ").or_else(|| line.strip_prefix("  + ")).unwrap_or(line)
}

/// The last header of a traceback that ended the program, not one that Python merely reported.
fn header(lines: &[&str]) -> Option<usize> {
    (0..lines.len()).rev().find(|at| {
        let is_header = lines.get(*at).is_some_and(|line| {
            *line == HEADER || *line == "Exception Group Traceback (most recent call last):"
        });
        let before = at.checked_sub(1).and_then(|before| lines.get(before)).unwrap_or(&"");
        let reported =
            before.starts_with("Exception ignored in") || before.starts_with("Exception in thread");
        is_header && !reported
    })
}

/// Where the frames before the last `File "..."` line begin.
fn first_frame_of_last_block(lines: &[&str]) -> Option<usize> {
    let last = lines.iter().rposition(|line| frame(line).is_some())?;
    let block = lines.get(..last)?;
    Some(block.iter().rposition(|line| !line.starts_with(char::is_whitespace)).map_or(0, |at| at + 1))
}

/// `  File "path", line 12, in name` → path and line.
fn frame(line: &str) -> Option<(&str, u32)> {
    let rest = line.strip_prefix("  ")?.trim_start().strip_prefix("File \"")?;
    let (path, rest) = rest.split_once("\", line ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((path, rest.get(..digits)?.parse().ok()?))
}

fn is_script(path: &str, script: &str) -> bool {
    path == script || path.strip_suffix(script).is_some_and(|folder| folder.ends_with('/'))
}

/// `package.Name: message` → `Name` and the message.
fn split(line: &str) -> Option<(&str, &str)> {
    let (name, message) = line.split_once(": ").unwrap_or_else(|| (line.trim_end_matches(':'), ""));
    let is_name = name.split('.').all(|part| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '<' || c == '>')
    });
    is_name.then(|| (name.rsplit('.').next().unwrap_or(name), message))
}

/// At most `limit` bytes, cut between characters.
fn truncate(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String, Option<u32>)> {
        let output = Output { head: text.to_owned(), ..Output::default() };
        exception(&output, "solution.py").map(|e| (e.kind, e.message, e.line))
    }

    fn found(kind: &str, message: &str, line: u32) -> (String, String, Option<u32>) {
        (kind.to_owned(), message.to_owned(), Some(line))
    }

    #[test]
    fn the_last_line_inside_the_script_counts() {
        let text = "epoch 1\nTraceback (most recent call last):\n  File \"/workspace/solution.py\", line 9, in <module>\n    \
                    main()\n  File \"/workspace/solution.py\", line 5, in main\n    df['x']\n    ~~^^^^^\n  \
                    File \"/env/pandas/frame.py\", line 4102, in __getitem__\n    raise\nKeyError: 'x'\n";
        assert_eq!(read(text).unwrap(), found("KeyError", "'x'", 5));
    }

    #[test]
    fn of_a_chain_the_last() {
        let text = "Traceback (most recent call last):\n  File \"/workspace/solution.py\", line 2, in <module>\n    a\n\
                    ZeroDivisionError: division by zero\n\nDuring handling of the above exception, another exception \
                    occurred:\n\nTraceback (most recent call last):\n  File \"/workspace/solution.py\", line 4, in <module>\n\
                    pandas.errors.ParserError: bad\nsecond line\n";
        assert_eq!(
            read(&text.replace("\npandas", "\n    x\npandas")).unwrap(),
            found("ParserError", "bad\nsecond line", 4)
        );
    }

    #[test]
    fn a_syntax_error_has_no_header() {
        let text = "  File \"/workspace/solution.py\", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n";
        assert_eq!(read(text).unwrap(), found("SyntaxError", "invalid syntax", 3));
    }

    #[test]
    fn a_cut_beginning_is_no_obstacle() {
        let text = "ost recent call last):\n  File \"/workspace/solution.py\", line 7, in f\n    y\n  [Previous line repeated 9 \
                    more times]\nRecursionError: maximum recursion depth exceeded\n";
        assert_eq!(read(text).unwrap(), found("RecursionError", "maximum recursion depth exceeded", 7));
    }

    #[test]
    fn an_exception_without_a_message() {
        let text = "Traceback (most recent call last):\n  File \"/workspace/solution.py\", line 1, in <module>\n    \
                    import time; time.sleep(9)\nKeyboardInterrupt\n";
        assert_eq!(read(text).unwrap(), found("KeyboardInterrupt", "", 1));
    }

    #[test]
    fn a_worker_s_own_traceback_is_part_of_the_message() {
        let text = "Traceback (most recent call last):\n  File \"/workspace/solution.py\", line 8, in <module>\n    x\n\
                    RuntimeError: Caught RuntimeError in worker 0.\nOriginal Traceback (most recent call last):\n  \
                    File \"/env/worker.py\", line 1, in f\nRuntimeError: inner\n";
        let (kind, message, line) = read(text).unwrap();
        assert_eq!((kind.as_str(), line), ("RuntimeError", Some(8)));
        assert!(message.starts_with("Caught RuntimeError in worker 0.") && message.ends_with("inner"));
    }

    #[test]
    fn what_python_only_reports_does_not_count() {
        let text = "Traceback (most recent call last):\n  File \"/workspace/solution.py\", line 8, in <module>\n    x\nValueError: a\n\
                    Exception ignored in: <function D.__del__ at 0x1>\nTraceback (most recent call last):\n  File \"/x.py\", \
                    line 1, in __del__\nTypeError: b\n";
        assert_eq!(read(text).unwrap().0, "ValueError");
    }

    #[test]
    fn an_exception_group() {
        let text = "  + Exception Group Traceback (most recent call last):\n  |   File \"/workspace/solution.py\", line 1, in <module>\n  \
                    |     raise ExceptionGroup('g', [ValueError(1)])\n  | ExceptionGroup: g (1 sub-exception)\n  \
                    +-+---------------- 1 ----------------\n    | ValueError: 1\n    +------------------------------------\n";
        let (kind, message, line) = read(text).unwrap();
        assert_eq!((kind.as_str(), line), ("ExceptionGroup", Some(1)));
        assert!(message.starts_with("g (1 sub-exception)"));
    }

    #[test]
    fn plain_output_is_no_exception() {
        assert_eq!(read("accuracy: 0.9\nError: none\n"), None);
        assert_eq!(read(""), None);
    }
}
