//! The first process of a box: starts the command, passes signals on to it, gathers what ended, and
//! tells how the command ended. When it goes, everything in the box goes.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::{io, ptr};

use super::channel;
use super::guard::Guard;

/// What is passed on to the command's group. A process outside signals the group of the box, whose
/// other members hold these back.
const PASSED_ON: &[libc::c_int] =
    &[libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCONT];

/// What tells it to end, with everything in the box.
pub(crate) const END: libc::c_int = libc::SIGPWR;

/// Starts the command in a process and session of its own and looks after it to its end. Returns
/// in the child only, with what became of `command`; in the parent with what kept it from starting.
/// Meanwhile none of the folders `never_bare` becomes a repository.
pub(crate) fn look_after(
    channel: OwnedFd,
    never_bare: &[PathBuf],
    command: impl FnOnce() -> io::Result<Infallible>,
) -> io::Result<Infallible> {
    let heard = block_all_signals();
    // Without a watch it is seen to when the command is over.
    let guard = Guard::new(never_bare).ok();
    // SAFETY: this process has one thread, so its copy is a whole process like any other.
    let child = unsafe { libc::fork() };
    match child {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            drop((channel, guard));
            // SAFETY: takes nothing; a fresh child leads no group, so it can't fail.
            unsafe { libc::setsid() };
            command()
        }
        child => watch(&channel, guard.as_ref(), child, &heard),
    }
}

fn watch(channel: &OwnedFd, guard: Option<&Guard>, child: libc::pid_t, heard: &libc::sigset_t) -> ! {
    let_go_of_streams();
    // SAFETY: takes numbers. From here on nobody in the box can look into this process.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
    loop {
        // SAFETY: the set is initialised and outlives the call; no details are asked for.
        let signal = unsafe { libc::sigwaitinfo(heard, ptr::null_mut()) };
        if signal == END {
            // Everything else in the box is killed by the kernel before this process is gone.
            std::process::exit(0);
        } else if signal == libc::SIGCHLD {
            gather(channel, child);
        } else if signal == libc::SIGIO {
            guard.into_iter().for_each(Guard::look);
        } else if PASSED_ON.contains(&signal) {
            // SAFETY: takes numbers; the child is gathered below only, so the number is its own.
            unsafe { libc::kill(-child, signal) };
        }
    }
}

/// Gathers whoever has ended. The end of the last one is the end of the box.
fn gather(channel: &OwnedFd, child: libc::pid_t) {
    let mut status = 0;
    let mut ended = None;
    loop {
        // SAFETY: writes the status into a variable that lives here.
        match unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } {
            0 => break,
            -1 => {
                if let Some(status) = ended {
                    channel::say_ended(channel, status, false);
                }
                std::process::exit(0);
            }
            pid if pid == child => ended = Some(status),
            _ => {}
        }
    }
    if let Some(status) = ended {
        channel::say_ended(channel, status, true);
    }
}

/// The output must be seen to end when the last of the command's processes closes it.
pub(super) fn let_go_of_streams() {
    // SAFETY: the path is a literal; the descriptors are numbers, and nothing in this process uses them any more.
    unsafe {
        let nothing = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for stream in 0..3 {
            libc::dup2(nothing, stream);
        }
    }
}

/// Blocked signals wait to be heard; the first process of a box would lose them otherwise.
fn block_all_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the set is filled before it is used.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigprocmask(libc::SIG_BLOCK, all.as_ptr(), ptr::null_mut());
        all.assume_init()
    }
}
