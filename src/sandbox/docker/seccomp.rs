//! The jail's system call filter in the form that an engine takes: the same tables, named instead of numbered.
//!
//! An engine's library compares each argument at most once per rule, so "any family but these" is written as one rule
//! per family and one for all numbers above. It compares 64 bits where the kernel looks at 32, hence the masks.

use serde_json::{Value, json};

use crate::jail::seccomp::{
    CREATES, FAMILIES, IN_MEMORY, MODES, NAMESPACE_FLAGS, REFUSED, SET_ID, TERMINAL_REQUESTS,
};

/// Families from this number on are refused as a whole; the kernel knows none yet.
const FAMILY_END: libc::c_int = 46;
/// The part of an argument that the kernel looks at.
const LOW_WORD: u64 = 0xFFFF_FFFF;

/// The profile as JSON text.
pub(super) fn profile() -> String {
    let mut rules = vec![
        rule(&names(REFUSED), libc::EPERM, &[]),
        rule(&names(IN_MEMORY), libc::ENOSYS, &[]),
        rule(&["socket"], libc::EPERM, &[masked(2, LOW_WORD, word(libc::IPPROTO_MPTCP))]),
    ];
    let sockets = ["socket", "socketpair"];
    for family in (0..FAMILY_END).filter(|family| !FAMILIES.contains(family)) {
        rules.push(rule(&sockets, libc::EPERM, &[compare(0, word(family), "SCMP_CMP_EQ")]));
    }
    rules.push(rule(&sockets, libc::EPERM, &[compare(0, word(FAMILY_END), "SCMP_CMP_GE")]));
    for flag in NAMESPACE_FLAGS {
        rules.push(rule(&["clone"], libc::EPERM, &[masked(0, word(flag), word(flag))]));
    }
    for request in TERMINAL_REQUESTS {
        rules.push(rule(&["ioctl"], libc::EPERM, &[masked(1, LOW_WORD, request)]));
    }
    for (name, _, mode, flags) in MODES {
        rules.extend(set_id(name, *mode, *flags));
    }
    json!({ "defaultAction": "SCMP_ACT_ALLOW", "architectures": architectures(), "syscalls": rules })
        .to_string()
}

/// The names of a table as the library knows them.
fn names(calls: &[(&'static str, libc::c_long)]) -> Vec<&'static str> {
    calls.iter().map(|(name, _)| name.trim_start_matches("SYS_")).collect()
}

/// Files that run as their owner or group: one rule per bit, and per flag that makes it count.
fn set_id(name: &str, mode: u8, flags: Option<u8>) -> Vec<Value> {
    let has = |argument: u8, bit: u64| masked(argument.into(), bit, bit);
    let mut rules = Vec::new();
    for bit in SET_ID.map(u64::from) {
        match flags {
            None => rules.push(rule(&[name], libc::EPERM, &[has(mode, bit)])),
            Some(flags) => rules.extend(
                CREATES.map(|flag| rule(&[name], libc::EPERM, &[has(mode, bit), has(flags, word(flag))])),
            ),
        }
    }
    rules
}

/// Calls of other architectures than these end the process.
fn architectures() -> &'static [&'static str] {
    match std::env::consts::ARCH {
        "x86_64" => &["SCMP_ARCH_X86_64"],
        "aarch64" => &["SCMP_ARCH_AARCH64"],
        // The library's own choice.
        _ => &[],
    }
}

fn rule(names: &[&str], errno: libc::c_int, args: &[Value]) -> Value {
    json!({ "names": names, "action": "SCMP_ACT_ERRNO", "errnoRet": errno, "args": args })
}

fn compare(index: u32, value: u64, operator: &str) -> Value {
    json!({ "index": index, "value": value, "op": operator })
}

fn masked(index: u32, mask: u64, value: u64) -> Value {
    json!({ "index": index, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ" })
}

fn word(value: libc::c_int) -> u64 {
    value.unsigned_abs().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_call_is_named_and_every_other_family_is_refused() {
        let profile: Value = serde_json::from_str(&profile()).unwrap();
        let rules = profile["syscalls"].as_array().unwrap();
        assert_eq!(rules[0]["names"].as_array().unwrap().len(), REFUSED.len());
        assert!(rules[0]["names"].as_array().unwrap().contains(&json!("userfaultfd")));
        let families: Vec<u64> = rules
            .iter()
            .filter(|rule| rule["names"] == json!(["socket", "socketpair"]))
            .map(|rule| rule["args"][0]["value"].as_u64().unwrap())
            .collect();
        assert!(families.contains(&word(libc::AF_NETLINK)) && families.contains(&word(libc::AF_VSOCK)));
        for allowed in FAMILIES {
            assert!(!families.contains(&word(allowed)));
        }
        // Each argument at most once: the library refuses more.
        for rule in rules {
            let mut indices: Vec<_> =
                rule["args"].as_array().unwrap().iter().map(|argument| argument["index"].as_u64()).collect();
            indices.dedup();
            assert_eq!(indices.len(), rule["args"].as_array().unwrap().len(), "{rule}");
        }
    }
}
