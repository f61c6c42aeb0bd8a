//! The line between Neco and the launcher in a box: how the command ended, and a listening socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};

/// What a launcher says.
#[derive(Debug)]
pub(crate) enum Word {
    /// The command has ended with this wait status; whether others it started are still there.
    Ended {
        /// As `waitpid` gives it.
        status: i32,
        /// Whether processes are left.
        others: bool,
    },
    /// Something in the box wants to reach the proxy here.
    Listener(OwnedFd),
}

const ENDED: u8 = b'E';
const LISTENER: u8 = b'L';

pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Says that the command has ended. Nobody may be listening any more.
pub(crate) fn say_ended(channel: impl AsFd, status: i32, others: bool) {
    let mut word = [ENDED, u8::from(others), 0, 0, 0, 0];
    word[2..].copy_from_slice(&status.to_ne_bytes());
    let _ = rustix::net::send(channel, &word, SendFlags::NOSIGNAL);
}

pub(crate) fn hand_over(channel: impl AsFd, listener: impl AsFd) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    let descriptors = [listener.as_fd()];
    attached.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(channel, &[IoSlice::new(&[LISTENER])], &mut attached, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next word; nothing when the launcher is gone or says what no launcher says.
/// Fails when there is none yet and the channel does not block.
pub(crate) fn hear(channel: impl AsFd) -> io::Result<Option<Word>> {
    let mut word = [0; 6];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let heard = recvmsg(channel, &mut [IoSliceMut::new(&mut word)], &mut attached, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = attached.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(match (word, heard.bytes, descriptor) {
        ([ENDED, others, a, b, c, d], 6, _) => {
            Some(Word::Ended { status: i32::from_ne_bytes([a, b, c, d]), others: others != 0 })
        }
        ([LISTENER, ..], 1, Some(listener)) => Some(Word::Listener(listener)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_they_were_said() {
        let (ours, theirs) = pair().unwrap();
        say_ended(&theirs, 0x0700, true);
        assert!(matches!(hear(&ours).unwrap(), Some(Word::Ended { status: 0x0700, others: true })));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        hand_over(&theirs, &listener).unwrap();
        drop(listener);
        let Some(Word::Listener(taken)) = hear(&ours).unwrap() else { panic!("no listener") };
        let taken = std::net::TcpListener::from(taken);
        assert_eq!(taken.local_addr().unwrap(), address);
        rustix::net::send(&theirs, b"nonsense", SendFlags::empty()).unwrap();
        assert!(hear(&ours).unwrap().is_none());
        drop(theirs);
        assert!(hear(&ours).unwrap().is_none());
    }
}
