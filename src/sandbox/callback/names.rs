//! A name server that knows no name: what it is asked for is written down, and refused at once.
//!
//! It tells where code wanted to go, which the kernel's counters cannot. What is written down came from hostile code:
//! it is cut, cleaned and counted, and only so many different names are kept.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::net::UdpSocket;

use super::pace::Brake;

/// Different names that are kept; questions for others are only counted.
const NAMES: usize = 64;
/// A longer packet is cut, and then is no question.
const PACKET: usize = 1500;
/// Bytes before the question.
const HEADER: usize = 12;

/// What was asked so far. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(Arc<Mutex<Questions>>);

/// Questions, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Questions {
    /// All of them: a lookup is several, one for each kind of address and each retry.
    pub(super) total: u64,
    /// By name.
    pub(super) names: BTreeMap<String, u64>,
}

impl Asked {
    /// What was asked.
    pub(super) fn so_far(&self) -> Questions {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, name: String) {
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.total = questions.total.saturating_add(1);
        if let Some(count) = questions.names.get_mut(&name) {
            *count = count.saturating_add(1);
        } else if questions.names.len() < NAMES {
            questions.names.insert(name, 1);
        }
    }
}

/// Writes down what was sent at the very end and not read any more.
pub(super) fn drain(socket: &std::net::UdpSocket, asked: &Asked) {
    let mut packet = [0_u8; PACKET];
    for _ in 0..NAMES {
        let Ok(count) = socket.recv(&mut packet) else { return };
        if let Some((name, _)) = packet.get(..count).and_then(refuse) {
            asked.add(name);
        }
    }
}

/// Answers until it is dropped.
pub(super) async fn serve(socket: UdpSocket, asked: Asked) {
    let mut packet = [0_u8; PACKET];
    let mut brake = Brake::default();
    loop {
        let Ok((count, from)) = socket.recv_from(&mut packet).await else {
            // An error that was left by an answer to a port that is closed: it concerns nobody, and may come again.
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        };
        brake.slow_down().await;
        if let Some((name, answer)) = packet.get(..count).and_then(refuse) {
            asked.add(name);
            let _ = socket.try_send_to(&answer, from);
        }
    }
}

/// The name in a question, and the answer: refused.
fn refuse(packet: &[u8]) -> Option<(String, Vec<u8>)> {
    let (header, mut rest) = packet.split_at_checked(HEADER)?;
    let [id_high, id_low, flags, _, _, 1..=16, ..] = *header else { return None };
    let is_answer = flags & 0x80 != 0;
    if is_answer {
        return None;
    }
    let mut name = String::new();
    loop {
        let (length, after) = rest.split_first()?;
        if *length == 0 {
            rest = after;
            break;
        }
        // The two high bits mean a pointer, which a question has no use for.
        let (label, after) = after.split_at_checked(usize::from(*length)).filter(|_| *length < 64)?;
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| plain(*byte)));
        rest = after;
    }
    if name.is_empty() || name.len() > 253 {
        return None;
    }
    let kind_and_class = rest.get(..4)?;
    let question = packet.get(HEADER..packet.len() - rest.len())?;
    // An answer, with the question's operation and its wish for recursion; refused (RFC 1035, 4.1.1).
    let mut answer = vec![id_high, id_low, 0x80 | (flags & 0x79), 5, 0, 1, 0, 0, 0, 0, 0, 0];
    answer.extend_from_slice(question);
    answer.extend_from_slice(kind_and_class);
    Some((name, answer))
}

/// What names are made of, in lower case; all else is a question mark.
fn plain(byte: u8) -> char {
    match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte),
        b'A'..=b'Z' => char::from(byte.to_ascii_lowercase()),
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(labels: &[&[u8]]) -> Vec<u8> {
        let mut packet = vec![7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in labels {
            packet.push(u8::try_from(label.len()).unwrap());
            packet.extend_from_slice(label);
        }
        packet.extend_from_slice(&[0, 0, 28, 0, 1]);
        packet
    }

    #[test]
    fn a_question_is_refused_and_its_name_is_plain() {
        let packet = question(&[b"Example", b"\x1b[2J", b"org"]);
        let (name, answer) = refuse(&packet).unwrap();
        assert_eq!(name, "example.??2j.org");
        assert_eq!(&answer[..12], [7, 9, 0x81, 5, 0, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(answer[12..], packet[12..]);
    }

    #[test]
    fn what_is_no_question_is_no_question() {
        let whole = question(&[b"a", b"b"]);
        for end in 0..whole.len() {
            assert_eq!(refuse(&whole[..end]), None, "{end} bytes");
        }
        let mut answer = whole.clone();
        answer[2] |= 0x80;
        let mut none = whole.clone();
        none[5] = 0;
        let mut pointer = whole;
        pointer[12] = 0xc0;
        let long = [b"x".repeat(63), b"y".repeat(63), b"z".repeat(63), b"w".repeat(63)];
        let long: Vec<&[u8]> = long.iter().map(Vec::as_slice).collect();
        for packet in [answer, none, pointer, question(&[]), question(&long), vec![0xff; PACKET]] {
            assert_eq!(refuse(&packet), None, "{packet:?}");
        }
    }

    #[test]
    fn only_so_many_names_are_kept() {
        let asked = Asked::default();
        for number in 0..1000 {
            asked.add(format!("{}.example.org", number % 100));
        }
        let Questions { total, names } = asked.so_far();
        assert_eq!((total, names.len()), (1000, NAMES));
        assert!(names.values().all(|count| *count == 10));
    }
}
