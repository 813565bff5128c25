//! Sockets of a jail's network namespace, held by the harness.
//!
//! A child is forked that joins the namespace, binds, passes the descriptors back (`SCM_RIGHTS`) and is gone: it never
//! runs a program, and a jail cannot see it, for it joins no other namespace. The harness then serves from outside, and
//! nothing listens on the host. Joining asks for rights in the user namespace that owns the network namespace. The
//! superuser has them, and joins with the starting thread instead, for a moment; whoever made the jail gets them by joining that user namespace first, which only a process with a
//! single thread may do: hence the fork. Bubblewrap may not have raised the loopback yet, so the sockets are bound to
//! any address, of which the namespace has no other.
#![expect(
    unsafe_code,
    reason = "work between fork and the child's end, and an ioctl that returns a descriptor"
)]

use std::{
    fs::File,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, SocketAddrV4, TcpListener, UdpSocket},
    os::{
        fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
        unix::process::CommandExt,
    },
    process::Command,
};

use rustix::{
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    },
    process::Pid,
    thread::{LinkNameSpaceType, move_into_link_name_space},
};

use crate::supervisor;

/// Where names are asked for.
const NAMES: u16 = 53;
/// Where submissions are checked: MLE-bench's port.
pub(super) const CHECK: u16 = 5000;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 128;
/// The owner of a namespace, `_IO(0xb7, 1)` in `linux/nsfs.h`.
const NS_GET_USERNS: libc::Ioctl = 0xb701;

/// The sockets.
#[derive(Debug)]
pub(super) struct Ports {
    /// Where the resolver sends its questions.
    pub(super) names: UdpSocket,
    /// Where submissions are sent, when that was asked for.
    pub(super) check: Option<TcpListener>,
}

/// Binds the ports in the network namespace of a process that is alive. Blocks for about a millisecond.
pub(super) fn open(process: Pid, with_check: bool) -> io::Result<Ports> {
    let network = OwnedFd::from(File::open(format!("/proc/{}/ns/net", process.as_raw_pid()))?);
    if supervisor::is_starter()
        && rustix::process::geteuid().is_root()
        && let Ok(ports) = on_this_thread(&network, with_check)
    {
        return Ok(ports);
    }
    let owner = owner(&network)?;
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        None,
    )?;
    let mut helper = Command::new("/nothing/is/run");
    // SAFETY: `bind_and_send` only makes system calls on memory that exists before the fork and on its own stack. It
    // neither allocates nor takes locks, as is required in the child of a process with threads.
    unsafe {
        helper.pre_exec(move || {
            bind_and_send(&network, &owner, &theirs, with_check)?;
            // SAFETY: ends the child without running anything of the parent's; it is not to become a program.
            libc::_exit(0)
        });
    }
    // Returns when the child has ended, or with its error.
    let mut child = helper.spawn()?;
    drop(helper);
    child.wait()?;
    receive(&ours, with_check)
}

/// The superuser's way, which saves a process: this thread joins the namespace, binds, and comes back. Only its sockets
/// are made there.
fn on_this_thread(network: &OwnedFd, with_check: bool) -> io::Result<Ports> {
    let home = OwnedFd::from(File::open("/proc/thread-self/ns/net")?);
    let enter =
        |namespace: &OwnedFd| move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
    enter(network)?;
    let names = bound(SocketType::DGRAM, NAMES);
    let check = with_check.then(listening).transpose();
    if let Err(errno) = enter(&home) {
        // What this thread started would have the jail's network.
        supervisor::retire();
        return Err(errno.into());
    }
    Ok(Ports { names: names?.into(), check: check?.map(TcpListener::from) })
}

/// The user namespace in which one needs rights.
fn owner(network: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call; the request takes no argument.
    let result = unsafe { libc::ioctl(network.as_raw_fd(), NS_GET_USERNS) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, with close-on-exec set, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(result) })
}

/// Runs in the child.
fn bind_and_send(network: &OwnedFd, owner: &OwnedFd, to: &OwnedFd, with_check: bool) -> io::Result<()> {
    let join = || move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network));
    if join().is_err() {
        move_into_link_name_space(owner.as_fd(), Some(LinkNameSpaceType::User))?;
        join()?;
    }
    let names = bound(SocketType::DGRAM, NAMES)?;
    if !with_check {
        return send(to, &[names.as_fd()]);
    }
    let check = listening()?;
    send(to, &[names.as_fd(), check.as_fd()])
}

fn bound(kind: SocketType, port: u16) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::INET, kind, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port))?;
    Ok(socket)
}

fn listening() -> rustix::io::Result<OwnedFd> {
    let check = bound(SocketType::STREAM, CHECK)?;
    rustix::net::listen(&check, BACKLOG)?;
    Ok(check)
}

/// Descriptors travel with one byte.
fn send(to: &OwnedFd, sockets: &[std::os::fd::BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(sockets)) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    rustix::net::sendmsg(to, &[IoSlice::new(b"1")], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

fn receive(from: &OwnedFd, with_check: bool) -> io::Result<Ports> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0_u8];
    rustix::net::recvmsg(from, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let mut sockets = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(sockets) => Some(sockets),
            _ => None,
        })
        .flatten();
    let missing = || io::Error::other("the helper sent no socket");
    let names = UdpSocket::from(sockets.next().ok_or_else(missing)?);
    if !with_check {
        return Ok(Ports { names, check: None });
    }
    let check = TcpListener::from(sockets.next().ok_or_else(missing)?);
    Ok(Ports { names, check: Some(check) })
}
