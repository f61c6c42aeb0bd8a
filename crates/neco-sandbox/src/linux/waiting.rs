//! A launcher that waits: one process is started once, and splits off a copy of itself for every box. Starting our
//! whole program anew for every command costs more than the walls of a box do.
//!
//! The copies are children of whoever started it (`CLONE_PARENT`), so they are waited for and signalled like what was
//! started directly. What waits knows nothing of what it is asked: only the copies read orders.
#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::exit;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, open, openat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Pid, WaitOptions, fchdir, getpid, setsid, waitpid};

use super::channel;
use super::session_leader::{self, Program, Streams, hold_back, take_terminal};
use crate::boxed::order::{CHANNEL, ORDER, RULES, WAITS};

/// A copy that takes longer to be off than this never will be.
const PATIENCE: Duration = Duration::from_secs(10);

/// Numbers beyond those that are given to descriptors here.
const OUT_OF_THE_WAY: RawFd = 32;

/// What is asked for besides: the terminal is to control the copy, the box has a channel, rules are ready.
const TAKES_TERMINAL: u8 = 1;
const HAS_CHANNEL: u8 = 2;
const HAS_RULES: u8 = 4;

/// The most descriptors that come with a question: three streams, the folder, the order, the channel, rules.
const MOST: usize = 7;

/// A launcher that waits, once there was something to start.
#[derive(Debug)]
pub(crate) struct Waiting {
    program: CString,
    line: Mutex<Option<Line>>,
}

/// The line to the process that waits. It goes when the line goes.
#[derive(Debug)]
struct Line {
    socket: Option<OwnedFd>,
    pid: Pid,
}

impl Waiting {
    /// Of this program of ours.
    pub(crate) fn new(program: &Path) -> Self {
        let program = CString::new(program.as_os_str().as_bytes()).unwrap_or_default();
        Self { program, line: Mutex::default() }
    }

    /// A copy that takes over these streams, in this folder, and follows the order. Nothing if nobody waits: then the
    /// program has to be started.
    /// Fails when the folder can't be entered, or the copy did not get going.
    pub(crate) fn split_off(&self, program: &Program<'_>) -> io::Result<Option<Pid>> {
        let Some(boxed) = &program.boxed else { return Ok(None) };
        let folder = open(program.folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let opened = streams(&program.streams)?;
        let [input, output, errors] = opened.ends(&program.streams)?;
        let mut given = vec![input, output, errors, folder.as_fd(), boxed.order];
        given.extend(boxed.channel);
        given.extend(boxed.rules);
        let terminal = matches!(program.streams, Streams::Terminal(_)).then_some(TAKES_TERMINAL);
        let channel = boxed.channel.map(|_| HAS_CHANNEL);
        let kind = [terminal, channel, boxed.rules.map(|_| HAS_RULES)].into_iter().flatten().sum();
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has gone meanwhile is started again, once.
        for _ in 0..2 {
            if line.is_none() {
                *line = Line::start(&self.program).ok();
            }
            let Some(socket) = line.as_ref().and_then(|line| line.socket.as_ref()) else { return Ok(None) };
            let asked = ask(socket, kind, &given);
            let answer = asked.and_then(|asked| if asked { hear_answer(socket) } else { Ok(Answer::Gone) });
            match answer {
                Ok(Answer::Copy(number)) => return Ok(Some(number)),
                Ok(Answer::Refused(error)) => return Err(error),
                // Nobody has the other end any more, so no copy can be there that follows its order.
                Ok(Answer::Gone) => *line = None,
                Err(error) => {
                    // Closed, so that a copy that comes late does nothing.
                    *line = None;
                    return Err(error);
                }
            }
        }
        Ok(None)
    }
}

impl Line {
    fn start(program: &CString) -> io::Result<Self> {
        let (ours, theirs) = channel::pair()?;
        set_socket_timeout(&ours, Timeout::Recv, Some(PATIENCE))?;
        set_socket_timeout(&ours, Timeout::Send, Some(PATIENCE))?;
        let silence = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let pid = session_leader::start(&Program {
            path: program,
            arguments: &[c"neco".into(), CString::new(WAITS)?],
            environment: &[],
            folder: c"/",
            streams: Streams::Piped(theirs.as_fd(), silence.as_fd()),
            boxed: None,
        })?;
        Ok(Self { socket: Some(ours), pid })
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        drop(self.socket.take());
        let pid = self.pid;
        // It ends at once; but nobody waits for one that was stopped.
        let reaper = std::thread::Builder::new().name("neco-reaper".to_owned());
        let _ = reaper.spawn(move || reap(pid));
    }
}

/// What has to be opened for streams.
struct Opened(Option<OwnedFd>);

impl Opened {
    /// What is read from, and what output and errors are written to.
    fn ends<'a>(&'a self, streams: &'a Streams<'a>) -> io::Result<[BorrowedFd<'a>; 3]> {
        let opened = self.0.as_ref().map(AsFd::as_fd);
        let ends = match streams {
            Streams::Closed(output) => opened.map(|input| [input, *output, *output]),
            Streams::Piped(input, output) => Some([*input, *output, *output]),
            Streams::Apart(input, output, errors) => Some([*input, *output, *errors]),
            Streams::Terminal(_) | Streams::TerminalForBox(_) => opened.map(|terminal| [terminal; 3]),
        };
        ends.ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn streams(streams: &Streams<'_>) -> io::Result<Opened> {
    let opened = match streams {
        Streams::Closed(_) => Some(open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?),
        Streams::Piped(..) | Streams::Apart(..) => None,
        Streams::Terminal(path) | Streams::TerminalForBox(path) => {
            let path = Path::new(OsStr::from_bytes(path.to_bytes()));
            Some(openat(CWD, path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
        }
    };
    Ok(Opened(opened))
}

/// Asks; whether somebody was there.
fn ask(line: &OwnedFd, kind: u8, given: &[BorrowedFd<'_>]) -> io::Result<bool> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    attached.push(SendAncillaryMessage::ScmRights(given));
    match sendmsg(line, &[IoSlice::new(&[kind])], &mut attached, SendFlags::NOSIGNAL) {
        Ok(_) => Ok(true),
        Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// What became of a question.
enum Answer {
    /// The number of the copy.
    Copy(Pid),
    /// There is none.
    Refused(io::Error),
    /// Whoever was asked is gone.
    Gone,
}

/// What the copy itself says once it is ready.
fn hear_answer(line: &OwnedFd) -> io::Result<Answer> {
    let mut answer = [0; 8];
    let length = loop {
        match rustix::net::recv(line, &mut answer, RecvFlags::empty()) {
            Ok((length, _)) => break length,
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(Answer::Gone),
            Err(error) => return Err(error.into()),
        }
    };
    let [a, b, c, d, error @ ..] = answer;
    let (copy, error) = (Pid::from_raw(i32::from_ne_bytes([a, b, c, d])), i32::from_ne_bytes(error));
    match copy {
        _ if length != answer.len() => Ok(Answer::Gone),
        Some(copy) if error == 0 => Ok(Answer::Copy(copy)),
        copy => {
            // It ends at once.
            copy.into_iter().for_each(reap);
            Ok(Answer::Refused(io::Error::from_raw_os_error(error)))
        }
    }
}

fn reap(child: Pid) {
    while let Err(Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}

/// Waits on standard input, and returns in copies only, each with its descriptors where a launcher finds them. Ends
/// this process when nobody asks any more.
/// The error is, in a copy, what kept it from getting ready.
pub(crate) fn wait_for_orders() -> io::Result<()> {
    let line = fcntl_dupfd_cloexec(rustix::stdio::stdin(), OUT_OF_THE_WAY)?;
    super::first_process::let_go_of_streams();
    loop {
        let Some((kind, given)) = hear_question(&line) else { exit(0) };
        // SAFETY: this process has one thread and asks for a copy of its memory, as `fork` does.
        match unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_PARENT | libc::SIGCHLD, 0, 0, 0, 0) } {
            -1 => answer(&line, 0, &Err(io::Error::last_os_error()))?,
            0 => {
                let ready = get_ready(kind, given);
                // Who does not hear of this copy could not end it: then it does nothing.
                if answer(&line, getpid().as_raw_nonzero().get(), &ready).is_err() || ready.is_err() {
                    exit(1);
                }
                return Ok(());
            }
            _ => drop(given),
        }
    }
}

fn answer(line: &OwnedFd, copy: i32, ready: &io::Result<()>) -> io::Result<()> {
    let error = ready.as_ref().err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EINVAL));
    let mut answer = [0; 8];
    for (place, byte) in answer.iter_mut().zip([copy, error].into_iter().flat_map(i32::to_ne_bytes)) {
        *place = byte;
    }
    rustix::net::send(line, &answer, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next question, and what came with it; nothing when nobody asks any more.
fn hear_question(line: &OwnedFd) -> Option<(u8, Vec<OwnedFd>)> {
    let mut kind = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let heard = loop {
        match recvmsg(line, &mut [IoSliceMut::new(&mut kind)], &mut attached, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            heard => break heard.ok()?,
        }
    };
    let given = attached.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    let given = given.collect();
    (heard.bytes == 1).then_some((kind[0], given))
}

/// Makes a copy a launcher like one that was started: a session of its own, and descriptors with their numbers.
fn get_ready(kind: u8, given: Vec<OwnedFd>) -> io::Result<()> {
    // None of them may be in the way of another's number.
    let moved = given.iter().map(|one| fcntl_dupfd_cloexec(one, OUT_OF_THE_WAY)).collect::<Result<Vec<_>, _>>()?;
    drop(given);
    let [input, output, errors, folder, order, rest @ ..] = moved.as_slice() else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    setsid()?;
    fchdir(folder)?;
    let mut rest = rest.iter();
    let mut next_if = |bit: u8| if kind & bit != 0 { rest.next() } else { None };
    let (channel, rules) = (next_if(HAS_CHANNEL), next_if(HAS_RULES));
    let streams = [(Some(input), 0), (Some(output), 1), (Some(errors), 2)];
    let places = streams.into_iter().chain([(channel, CHANNEL), (Some(order), ORDER), (rules, RULES)]);
    for (from, number) in places {
        let Some(from) = from else { continue };
        // SAFETY: both are open or free numbers below those in use here; what was there is nobody's any more.
        if unsafe { libc::dup2(from.as_raw_fd(), number) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    if kind & TAKES_TERMINAL != 0 {
        take_terminal()?;
    }
    hold_back(channel.is_some());
    Ok(())
}
