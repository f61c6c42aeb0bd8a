//! The launcher: a process of our own program that closes the box around itself and then becomes the command.
//!
//! Everything is done in a process with one thread that was just started, or is the copy of one that did nothing but
//! wait. So nothing has to be safe between `fork` and `exec`, and the limits hold from the command's first instruction.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{Signal, set_parent_process_death_signal};

use crate::after::lists::clean_up;
use crate::boxed::order::{ASKED, CHANNEL, CommandLine, ORDER, Order, PUT_RIGHT, RULES, VERSION, WAITS};
use crate::linux::namespaces::{self, Net};
use crate::linux::{build, channel, first_process, landlock, privilege, seccomp, session_leader, waiting};

/// What is said before why nothing was run.
pub(super) const NOT_CLOSED: &str = "neco: the sandbox could not be closed, so nothing was run: ";

/// What a shell says for a command that was found but could not be run.
const NOT_RUN: i32 = 126;

/// Becomes the launcher if this process was started as one, and then never returns. To be called
/// first thing in `main`, before there are threads; otherwise it costs one look at the arguments.
pub fn become_launcher_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next();
    if first.as_ref().is_some_and(|first| first == PUT_RIGHT) {
        arguments.next().into_iter().for_each(|lists| clean_up(Path::new(&lists)));
        std::process::exit(0);
    }
    let waits = first.as_ref().is_some_and(|first| first == WAITS);
    if waits && waiting::wait_for_orders().is_err() {
        std::process::exit(NOT_RUN);
    }
    if waits || first.is_some_and(|first| first == ASKED) {
        let Err(failure) = launch();
        let _ = writeln!(io::stderr(), "{NOT_CLOSED}{failure}");
        std::process::exit(NOT_RUN);
    }
}

/// Returns only what kept the command from running.
fn launch() -> io::Result<Infallible> {
    let (order, line) = Order::read(File::from(take(ORDER)?))?;
    if order.version != VERSION {
        return Err(io::Error::other("Neco was replaced by another version while it ran: start it again"));
    }
    let rules = if order.has_rules { Some(take(RULES)?) } else { None };
    close_all_but(order.in_namespaces, order.has_rules)?;
    let channel = if order.in_namespaces { Some(take(CHANNEL)?) } else { None };
    if let Some(walls) = &order.walls {
        namespaces::enter(if walls.network { Net::Machines } else { Net::Own })?;
        build::build(walls, order.terminal)?;
        privilege::drop_all()?;
    }
    if order.in_namespaces {
        // The launcher's parent has one thread, so this fires when the process is gone and not before.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        privilege::check_capabilities()?;
    }
    let mut extra = Vec::new();
    if let Some(channel) = channel.as_ref().filter(|_| order.proxy) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        channel::hand_over(channel, &listener)?;
        extra = proxy_variables(port);
    }
    match channel {
        Some(channel) => {
            let command = || become_command(&order, rules.as_ref(), &line, &extra);
            first_process::look_after(channel, &order.never_bare, command)
        }
        None => become_command(&order, rules.as_ref(), &line, &extra),
    }
}

/// Closes the last locks and runs the command.
fn become_command(
    order: &Order,
    rules: Option<&OwnedFd>,
    line: &CommandLine,
    extra: &[CString],
) -> io::Result<Infallible> {
    if order.terminal {
        session_leader::take_terminal()?;
    }
    privilege::limit(order.in_namespaces);
    privilege::drop_all()?;
    if let Some(files) = &order.files {
        landlock::restrict(&landlock::prepared(files)?)?;
    }
    if let Some(rules) = rules {
        landlock::restrict(rules)?;
    }
    seccomp::install(seccomp::Sockets { internet: order.internet, unix: order.unix_sockets })?;
    let program = CString::new(order.program.as_os_str().as_bytes()).map_err(io::Error::other)?;
    let name = |entry: &CString| entry.as_bytes().split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
    let own = line.environment.iter().filter(|entry| !extra.iter().any(|other| name(other) == name(entry)));
    let environment: Vec<CString> = own.chain(extra).cloned().collect();
    Err(session_leader::become_program(&program, &line.arguments, &environment))
}

/// Closes what this process was started with, but for the standard descriptors and what it was handed over.
fn close_all_but(channel: bool, rules: bool) -> io::Result<()> {
    let first = if channel { CHANNEL } else { 2 } + 1;
    let ranges = match rules {
        true => vec![(first, RULES - 1), (RULES + 1, i32::MAX)],
        false => vec![(first, i32::MAX)],
    };
    for (from, to) in ranges {
        // SAFETY: nothing in this process owns any of these descriptors.
        if unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn take(number: i32) -> io::Result<OwnedFd> {
    // SAFETY: only looked at; whether it is open is what the call finds out.
    let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
    rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
    // SAFETY: it is open, as was just seen, and nobody else in this process has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

fn proxy_variables(port: u16) -> Vec<CString> {
    let address = format!("http://127.0.0.1:{port}");
    let names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let proxies = names.iter().map(|name| format!("{name}={address}"));
    let not_for = ["NO_PROXY", "no_proxy"].iter().map(|name| format!("{name}=localhost,127.0.0.1,::1"));
    proxies.chain(not_for).filter_map(|entry| CString::new(entry).ok()).collect()
}
