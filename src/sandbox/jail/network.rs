//! Counting what tried to leave.
//!
//! The jail's network namespace has no route, so each connection and datagram to anywhere else is refused by the kernel
//! and counted there, as IP packets without a route. What is counted is such refusals: a name lookup is several, a
//! retry one more, and a program that asks for a socket of a refused family is not counted. A counter file that was
//! opened early can still be read when the namespace's processes are dead.

use std::{fs::File, io::Read};

use rustix::process::Pid;

/// The counters of a jail's network namespace.
#[derive(Debug)]
pub(crate) struct Counters {
    v4: Option<File>,
    v6: Option<File>,
}

impl Counters {
    /// Opens the counters of the namespace that a process is in.
    pub(crate) fn open(pid: Pid) -> Self {
        let open = |name| File::open(format!("/proc/{}/net/{name}", pid.as_raw_pid())).ok();
        Self { v4: open("snmp"), v6: open("snmp6") }
    }

    /// Packets refused so far.
    pub(crate) fn attempts(self) -> u64 {
        let v4 = read(self.v4).and_then(|text| column(&text, "Ip:", "OutNoRoutes"));
        let v6 = read(self.v6).and_then(|text| row(&text, "Ip6OutNoRoutes"));
        v4.unwrap_or(0) + v6.unwrap_or(0)
    }
}

fn read(file: Option<File>) -> Option<String> {
    let mut text = String::new();
    file?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// `snmp`: a line of names, then a line of values.
fn column(text: &str, family: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter(|line| line.starts_with(family));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|word| word == name)?;
    values.split_whitespace().nth(at)?.parse().ok()
}

/// `snmp6`: a name and a value per line.
fn row(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}
