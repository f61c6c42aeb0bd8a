//! Starts a program as the leader of a session and a process group of its own.
//!
//! A session of its own means: no controlling terminal, so a program that asks for a password on
//! `/dev/tty` fails at once instead of disturbing the user's terminal or being stopped by it; and
//! a group that can be killed as a whole. The standard library gets there only through `fork`,
//! whose cost grows with the memory of this process (measured: 3 ms at 50 MB, 10 ms at 200 MB,
//! against 0.2 ms for `posix_spawn` at any size), so `posix_spawn` is called directly. It has no
//! way to set a parent-death signal; the watchdog of `world/spawn` does that job.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Once;
use std::{io, ptr};

use rustix::process::Pid;

use super::first_process::END;
use crate::boxed::order::{CHANNEL, ORDER, RULES};

/// Where the three standard descriptors of the child lead.
pub(crate) enum Streams<'a> {
    /// Nothing to read; both outputs to one descriptor.
    Closed(BorrowedFd<'a>),
    /// Input from the first; both outputs to the second.
    Piped(BorrowedFd<'a>, BorrowedFd<'a>),
    /// Input from the first; output to the second, errors to the third.
    Apart(BorrowedFd<'a>, BorrowedFd<'a>, BorrowedFd<'a>),
    /// All three to the terminal of this path, which becomes the controlling one.
    Terminal(&'a CStr),
    /// The same, but the terminal is left for a session inside a box to take.
    TerminalForBox(&'a CStr),
}

pub(crate) struct Program<'a> {
    /// Absolute path.
    pub(crate) path: &'a CStr,
    /// Arguments; the first is the name it sees for itself.
    pub(crate) arguments: &'a [CString],
    /// `NAME=value` entries.
    pub(crate) environment: &'a [CString],
    /// The folder it starts in.
    pub(crate) folder: &'a CStr,
    /// Its standard descriptors.
    pub(crate) streams: Streams<'a>,
    /// For a process that builds a box.
    pub(crate) boxed: Option<Boxed<'a>>,
}

/// What a process that builds a box gets besides, on descriptors of fixed numbers.
pub(crate) struct Boxed<'a> {
    /// For a box made of namespaces: such a process must outlive signals that are meant for what is
    /// in the box, and holds them back until it is killed.
    pub(crate) channel: Option<BorrowedFd<'a>>,
    /// What the launcher reads.
    pub(crate) order: BorrowedFd<'a>,
    /// Rules of Landlock that are ready.
    pub(crate) rules: Option<BorrowedFd<'a>>,
}

/// Holds back the signals that a process which builds a box must outlive, or none.
pub(crate) fn hold_back(builds_box: bool) {
    let mut held = MaybeUninit::uninit();
    // SAFETY: the set is initialised before use.
    unsafe {
        libc::sigemptyset(held.as_mut_ptr());
        for signal in HELD_BACK.iter().filter(|_| builds_box) {
            libc::sigaddset(held.as_mut_ptr(), *signal);
        }
        libc::sigprocmask(libc::SIG_SETMASK, held.as_ptr(), ptr::null_mut());
    }
}

/// Starts a program and gives its process id, which is also the id of its session and group. The
/// caller owns the child: it must be waited for.
/// The error is the error number of the system, also for what fails in the child before the program runs.
pub(crate) fn start(program: &Program<'_>) -> io::Result<Pid> {
    close_inherited_on_exec();
    expect_children();
    let mut actions = Actions::new()?;
    actions.enter(program.folder)?;
    actions.connect(&program.streams)?;
    let channel = program.boxed.as_ref().and_then(|boxed| boxed.channel);
    if let Some(channel) = channel {
        actions.duplicate(channel.as_raw_fd(), CHANNEL)?;
    }
    if let Some(boxed) = &program.boxed {
        actions.duplicate(boxed.order.as_raw_fd(), ORDER)?;
        boxed.rules.map(|rules| actions.duplicate(rules.as_raw_fd(), RULES)).transpose()?;
    }
    let attributes = Attributes::new(channel.is_some())?;
    let arguments = pointers(program.arguments);
    let environment = pointers(program.environment);
    let mut pid = 0;
    // SAFETY: every pointer comes from a value that outlives the call; both arrays end with null.
    let result = unsafe {
        libc::posix_spawn(
            &raw mut pid,
            program.path.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            arguments.as_ptr(),
            environment.as_ptr(),
        )
    };
    check(result)?;
    Pid::from_raw(pid).ok_or_else(|| io::Error::other("the system gave no process id"))
}

/// Makes the terminal on standard input the controlling one of this session, whose leader this
/// process must be.
/// Fails when it is no terminal or another session has it.
pub(crate) fn take_terminal() -> io::Result<()> {
    // SAFETY: takes a descriptor and a number.
    let result = unsafe { libc::ioctl(0, libc::TIOCSCTTY, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Replaces this process, with no signal held back. Returns only what kept it from that.
pub(crate) fn become_program(path: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let arguments: Vec<*const libc::c_char> = pointers(arguments).into_iter().map(<*mut _>::cast_const).collect();
    let environment: Vec<*const libc::c_char> = pointers(environment).into_iter().map(<*mut _>::cast_const).collect();
    let mut none = MaybeUninit::uninit();
    // SAFETY: the set is initialised before use; both arrays end with null and point to values that
    // outlive the call.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
        // The standard library has this process ignore it, and a command must not inherit that.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr());
    }
    io::Error::last_os_error()
}

/// The signals that a child must not inherit as ignored: a shell can't take an ignored one back.
const RESET_SIGNALS: &[libc::c_int] = &[
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGALRM,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGCHLD,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGWINCH,
];

/// What a process that builds a box holds back.
const HELD_BACK: &[libc::c_int] =
    &[libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, END];

struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new(holds_signals_back: bool) -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: init writes the whole value, and it is used only after init succeeded.
        let mut attributes = unsafe {
            check(libc::posix_spawnattr_init(raw.as_mut_ptr()))?;
            Self(raw.assume_init())
        };
        let flags = libc::POSIX_SPAWN_SETSID
            | libc::POSIX_SPAWN_SETSIGDEF as libc::c_short
            | libc::POSIX_SPAWN_SETSIGMASK as libc::c_short;
        // SAFETY: the attributes are initialised; the sets are initialised by sigemptyset before use.
        unsafe {
            let mut reset = MaybeUninit::uninit();
            libc::sigemptyset(reset.as_mut_ptr());
            for signal in HELD_BACK.iter().filter(|_| holds_signals_back) {
                libc::sigaddset(reset.as_mut_ptr(), *signal);
            }
            check(libc::posix_spawnattr_setsigmask(&raw mut attributes.0, reset.as_ptr()))?;
            for signal in RESET_SIGNALS {
                libc::sigaddset(reset.as_mut_ptr(), *signal);
            }
            check(libc::posix_spawnattr_setsigdefault(&raw mut attributes.0, reset.as_ptr()))?;
            check(libc::posix_spawnattr_setflags(&raw mut attributes.0, flags))?;
        }
        Ok(attributes)
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, destroyed once.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: init writes the whole value, and it is used only after init succeeded.
        unsafe {
            check(libc::posix_spawn_file_actions_init(raw.as_mut_ptr()))?;
            Ok(Self(raw.assume_init()))
        }
    }

    fn enter(&mut self, folder: &CStr) -> io::Result<()> {
        // SAFETY: the actions are initialised; the path is copied by the call.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, folder.as_ptr()) })
    }

    fn connect(&mut self, streams: &Streams<'_>) -> io::Result<()> {
        match streams {
            Streams::Closed(output) => {
                self.open(0, c"/dev/null", libc::O_RDONLY)?;
                self.outputs(output.as_raw_fd())
            }
            Streams::Piped(input, output) => {
                self.duplicate(input.as_raw_fd(), 0)?;
                self.outputs(output.as_raw_fd())
            }
            Streams::Apart(input, output, errors) => {
                self.duplicate(input.as_raw_fd(), 0)?;
                self.duplicate(output.as_raw_fd(), 1)?;
                self.duplicate(errors.as_raw_fd(), 2)
            }
            // The first terminal that a session leader without one opens becomes its controlling terminal.
            Streams::Terminal(path) => {
                self.open(0, path, libc::O_RDWR)?;
                self.outputs(0)
            }
            Streams::TerminalForBox(path) => {
                self.open(0, path, libc::O_RDWR | libc::O_NOCTTY)?;
                self.outputs(0)
            }
        }
    }

    fn outputs(&mut self, from: RawFd) -> io::Result<()> {
        self.duplicate(from, 1)?;
        self.duplicate(from, 2)
    }

    fn open(&mut self, as_fd: RawFd, path: &CStr, flags: libc::c_int) -> io::Result<()> {
        // SAFETY: the actions are initialised; the path is copied by the call.
        check(unsafe { libc::posix_spawn_file_actions_addopen(&raw mut self.0, as_fd, path.as_ptr(), flags, 0) })
    }

    fn duplicate(&mut self, from: RawFd, to: RawFd) -> io::Result<()> {
        // SAFETY: the actions are initialised; descriptors are plain numbers to the call.
        check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, from, to) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`, destroyed once.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// Everything this process opens is closed on exec; what it was itself started with is made so, once.
fn close_inherited_on_exec() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
        let open = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
        for descriptor in open.filter(|descriptor| *descriptor > 2) {
            // SAFETY: sets a flag on a number; on a number that was closed meanwhile it fails without effect.
            unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    });
}

/// A process that was started with SIGCHLD ignored has no children to wait for: they are gone the
/// moment they end, and their numbers free for others. Undone once, unless someone has a handler.
fn expect_children() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let mut current = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: both structures are whole (zeroes are a valid value of each); the default action
        // runs no code of ours.
        unsafe {
            if libc::sigaction(libc::SIGCHLD, ptr::null(), current.as_mut_ptr()) != 0 {
                return;
            }
            let current = current.assume_init();
            let forgets = current.sa_sigaction == libc::SIG_IGN || current.sa_flags & libc::SA_NOCLDWAIT != 0;
            if forgets {
                let mut usual = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
                usual.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(libc::SIGCHLD, &raw const usual, ptr::null_mut());
            }
        }
    });
}

/// The null-terminated array of pointers that the call wants. It takes them as mutable by an old
/// habit of C and does not write through them.
fn pointers(strings: &[CString]) -> Vec<*mut libc::c_char> {
    strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
}

/// These calls return the error number instead of setting it.
fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(result)) }
}
