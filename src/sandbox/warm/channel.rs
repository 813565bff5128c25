//! Messages between the harness and a fork server: a line or a few of plain words, with descriptors beside them.
//!
//! The sockets are private pairs and keep the bounds of messages. What comes is from a process of ours, but it is read
//! as if it were not: sizes are bounded and nothing is assumed of the text.

use std::{
    io::{IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Instant,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec},
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
        SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    },
};

/// No message has more descriptors.
const DESCRIPTORS: usize = 32;
/// No message from a server is longer.
const BYTES: usize = 1024;

/// One message.
#[derive(Debug)]
pub(crate) struct Message {
    /// Its words.
    pub(crate) text: String,
    /// What came beside it.
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Two connected sockets that no child inherits by itself.
pub(crate) fn pair(kind: SocketType) -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)
}

/// Sends one message.
pub(super) fn send(socket: &OwnedFd, text: &str, descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::TOOBIG);
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    rustix::net::sendmsg(socket, &[IoSlice::new(text.as_bytes())], &mut control, flags).map(|_| ())
}

/// Takes a message that is there; `None` when the other end is closed.
pub(super) fn take(socket: impl AsFd) -> Result<Option<Message>, Errno> {
    let mut bytes = [0_u8; BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let count = rustix::net::recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags)?.bytes;
    let descriptors = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    let text = String::from_utf8_lossy(bytes.get(..count).unwrap_or_default()).into_owned();
    Ok((count > 0).then_some(Message { text, descriptors }))
}

/// Waits for a message; `None` when the other end is closed.
pub(super) fn receive(socket: &OwnedFd, deadline: Instant) -> Result<Option<Message>, Errno> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(left).unwrap_or_default();
        match rustix::event::poll(&mut [PollFd::new(socket, PollFlags::IN)], Some(&wait)) {
            Ok(0) => return Err(Errno::TIMEDOUT),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
            Ok(_) => match take(socket) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                taken => return taken,
            },
        }
    }
}
