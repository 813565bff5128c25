//! The system call filter of a jail: allow by default, refuse what widens the attack surface of the kernel.
//!
//! Refused with `EPERM`: socket families other than Unix and IP (the network namespace is empty, so IP reaches only
//! the jail itself), multipath TCP, new namespaces, mounts, tracing, keys, BPF, userfaultfd, performance events,
//! asynchronous rings, kernel modules, file handles, pushing characters into a terminal, and files that run as their
//! owner or group: the workspace is the host's, and its owner there is the harness's user. `clone3` and `openat2` answer
//! `ENOSYS`, since their flags and modes lie in memory that a filter cannot read; C libraries then use the older calls.
//! Calls of another architecture end the process; the x32 numbers of `x86_64` are refused. Two programs, since each has
//! one answer.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

/// Calls with their names, for those who take names.
macro_rules! calls {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), libc::$name)),*] };
}

/// Calls that are refused whatever their arguments.
pub(crate) const REFUSED: &[(&str, libc::c_long)] = calls![
    // namespaces and mounts
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_open_tree,
    SYS_move_mount,
    SYS_fsopen,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_open_by_handle_at,
    // other processes
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    // kernel attack surface
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_fanotify_init,
    SYS_syslog,
    // the machine
    SYS_kexec_load,
    SYS_kexec_file_load,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_acct,
    SYS_quotactl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_clock_adjtime,
    SYS_adjtimex,
    SYS_sethostname,
    SYS_setdomainname,
];

/// Flags of `clone` that make a namespace.
pub(crate) const NAMESPACE_FLAGS: [libc::c_int; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// `TIOCSTI` and `TIOCLINUX`: characters pushed into, or pasted from, a terminal.
pub(crate) const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];

/// Socket families that are allowed.
pub(crate) const FAMILIES: [libc::c_int; 3] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6];

/// Calls that give a file its mode: the number of the argument that holds it, and of the flags without which it means
/// nothing.
pub(crate) const MODES: &[(&str, libc::c_long, u8, Option<u8>)] = &[
    ("fchmod", libc::SYS_fchmod, 1, None),
    ("fchmodat", libc::SYS_fchmodat, 2, None),
    ("fchmodat2", SYS_FCHMODAT2, 2, None),
    ("mknodat", libc::SYS_mknodat, 2, None),
    ("openat", libc::SYS_openat, 3, Some(2)),
    #[cfg(target_arch = "x86_64")]
    ("chmod", libc::SYS_chmod, 1, None),
    #[cfg(target_arch = "x86_64")]
    ("mknod", libc::SYS_mknod, 1, None),
    #[cfg(target_arch = "x86_64")]
    ("creat", libc::SYS_creat, 1, None),
    #[cfg(target_arch = "x86_64")]
    ("open", libc::SYS_open, 2, Some(1)),
];
/// The same number everywhere; too new for the crate.
const SYS_FCHMODAT2: libc::c_long = 452;
/// Set-user-id and set-group-id.
pub(crate) const SET_ID: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];
/// With one of these flags an open makes a file.
pub(crate) const CREATES: [libc::c_int; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Calls whose flags or modes lie in memory; answered with `ENOSYS`.
pub(crate) const IN_MEMORY: &[(&str, libc::c_long)] = calls![SYS_clone3, SYS_openat2];

/// Names of the calls that are refused whatever their arguments.
pub(crate) fn refused_calls() -> Vec<String> {
    REFUSED.iter().map(|(name, _)| name.trim_start_matches("SYS_").to_owned()).collect()
}

/// What else is refused, in words.
pub(crate) fn refused_otherwise() -> Vec<String> {
    let names = |calls: Vec<&str>| calls.join(", ");
    let in_memory = IN_MEMORY.iter().map(|(name, _)| name.trim_start_matches("SYS_")).collect();
    let modes = MODES.iter().map(|(name, ..)| *name).collect();
    vec![
        "socket: families other than Unix, IPv4 and IPv6; multipath TCP".to_owned(),
        "clone: flags that make a namespace".to_owned(),
        "ioctl: characters pushed into or pasted from a terminal".to_owned(),
        format!("{}: files that run as their owner or group", names(modes)),
        format!("{}: answered as unknown, so that the older calls are used", names(in_memory)),
        "calls of another architecture".to_owned(),
    ]
}

/// The filters as bubblewrap takes them, one byte string each.
pub(super) fn programs() -> Result<Vec<Vec<u8>>, seccompiler::Error> {
    let eperm = filter(refusals()?, libc::EPERM)?;
    let in_memory = IN_MEMORY.iter().map(|(_, call)| (*call, Vec::new())).collect();
    let enosys = filter(in_memory, libc::ENOSYS)?;
    Ok([eperm, enosys].iter().map(|program| encode(program)).collect())
}

/// What is refused with `EPERM`.
fn refusals() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::Error> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|(_, call)| (*call, Vec::new())).collect();
    let other_family = SeccompRule::new(
        FAMILIES
            .into_iter()
            .map(|family| dword(0, SeccompCmpOp::Ne, family.unsigned_abs().into()))
            .collect::<Result<_, _>>()?,
    )?;
    let multipath = rule(2, SeccompCmpOp::Eq, libc::IPPROTO_MPTCP.unsigned_abs().into())?;
    rules.insert(libc::SYS_socket, vec![other_family.clone(), multipath]);
    rules.insert(libc::SYS_socketpair, vec![other_family]);
    let namespaces = NAMESPACE_FLAGS.iter().map(|flag| {
        let flag = u64::from(flag.unsigned_abs());
        rule(0, SeccompCmpOp::MaskedEq(flag), flag)
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    let requests = TERMINAL_REQUESTS.iter().map(|request| rule(1, SeccompCmpOp::Eq, *request));
    rules.insert(libc::SYS_ioctl, requests.collect::<Result<_, _>>()?);
    for (_, call, mode, flags) in MODES {
        rules.insert(*call, set_id(*mode, *flags)?);
    }
    Ok(rules)
}

/// One rule per bit, and per flag that makes it count.
fn set_id(mode: u8, flags: Option<u8>) -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let has = |argument, bit: u64| dword(argument, SeccompCmpOp::MaskedEq(bit), bit);
    let mut rules = Vec::new();
    for bit in SET_ID.map(u64::from) {
        match flags {
            None => rules.push(SeccompRule::new(vec![has(mode, bit)?])?),
            Some(flags) => {
                for flag in CREATES.map(|flag| u64::from(flag.unsigned_abs())) {
                    rules.push(SeccompRule::new(vec![has(mode, bit)?, has(flags, flag)?])?);
                }
            }
        }
    }
    Ok(rules)
}

fn rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::Error> {
    Ok(SeccompRule::new(vec![dword(argument, operator, value)?])?)
}

/// Compares the low 32 bits, which is all that the kernel looks at in these arguments.
fn dword(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::Error> {
    Ok(SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?)
}

fn filter(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: libc::c_int,
) -> Result<BpfProgram, seccompiler::Error> {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let compiled: BpfProgram = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch)?.try_into()?;
    Ok(if cfg!(target_arch = "x86_64") {
        x32_guard().into_iter().chain(compiled).collect()
    } else {
        compiled
    })
}

/// Refuses the x32 numbers, which name the same calls in the same architecture with bit 30 set.
fn x32_guard() -> [sock_filter; 3] {
    const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
    const JUMP_SET: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    [
        instruction(LOAD_WORD, 0, 0, 0),
        instruction(JUMP_SET, 0, 1, 0x4000_0000),
        instruction(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM.unsigned_abs()),
    ]
}

/// `struct sock_filter` in memory order.
fn encode(program: &[sock_filter]) -> Vec<u8> {
    program
        .iter()
        .flat_map(|instruction| {
            let [code_low, code_high] = instruction.code.to_ne_bytes();
            let [a, b, c, d] = instruction.k.to_ne_bytes();
            [code_low, code_high, instruction.jt, instruction.jf, a, b, c, d]
        })
        .collect()
}
