//! How an execution failed, for the journal and for people. What prompts tell of it is made from numbers by templates
//! (see [`crate::prompts::execution`]).

use podium_types::execution::{Ended, Execution};

/// How an execution failed, for the journal; `None`: it did not.
pub(super) fn failure(execution: &Execution) -> Option<String> {
    if let Some(limit) = &execution.limit {
        return Some(limit.to_string());
    }
    if let Some(exception) = &execution.exception {
        let line = exception.line.map_or_else(String::new, |line| format!(" in line {line}"));
        let message = exception.message.lines().next().unwrap_or_default();
        return Some(format!("{}: {message}{line}", exception.kind));
    }
    match execution.ended {
        Ended::Exit(0) if execution.interrupted => Some("the execution was interrupted".to_owned()),
        Ended::Exit(0) => None,
        ended => Some(ended.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podium_types::execution::{Collected, Exception, LimitHit, Output};

    fn execution(ended: Ended) -> Execution {
        Execution {
            ended,
            limit: None,
            output: Output::default(),
            exception: None,
            submission: Collected::Missing { found: "nothing".into() },
            collected: std::collections::BTreeMap::new(),
            wall_ms: 1,
            cpu_ms: None,
            peak_memory_bytes: None,
            blocked: std::collections::BTreeMap::new(),
            names_asked: std::collections::BTreeMap::new(),
            requests_refused: std::collections::BTreeMap::new(),
            submission_checks: 0,
            interrupted: false,
            warm: false,
        }
    }

    #[test]
    fn each_way_to_fail_has_its_words() {
        let exception = |message: &str, line| {
            Some(Exception { kind: "ValueError".into(), message: message.into(), line })
        };
        let memory = Some(LimitHit::Memory { limit_bytes: 1 << 30 });
        let cases = [
            (execution(Ended::Exit(0)), None),
            (execution(Ended::Exit(3)), Some("exit code 3")),
            (execution(Ended::Signal(11)), Some("exit code 139 (or signal 11)")),
            (
                Execution { limit: memory, ..execution(Ended::Signal(9)) },
                Some("memory limit (1024 MiB) reached"),
            ),
            (
                Execution { exception: exception("bad\nvalue", Some(7)), ..execution(Ended::Exit(1)) },
                Some("ValueError: bad in line 7"),
            ),
            (
                Execution { exception: exception("bad", None), ..execution(Ended::Exit(0)) },
                Some("ValueError: bad"),
            ),
            (
                Execution { interrupted: true, ..execution(Ended::Exit(0)) },
                Some("the execution was interrupted"),
            ),
        ];
        for (execution, expected) in cases {
            assert_eq!(failure(&execution).as_deref(), expected);
        }
    }
}
