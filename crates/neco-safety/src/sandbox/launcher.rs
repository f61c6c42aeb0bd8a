//! The launcher: a fresh process of our own program that closes the box around itself and then
//! becomes the command.
//!
//! Everything is done in a process with one thread that was just started, so nothing has to be safe
//! between `fork` and `exec`, and the limits hold from the command's first instruction.
#![allow(unsafe_code)]

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::linux::namespaces::{self, Net};
use super::linux::{build, channel, first_process, landlock, privilege, seccomp, session_leader};
use super::masks::clean_up;
use super::order::{ASKED, CHANNEL, ORDER, Order, PUT_RIGHT, VERSION};

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
    if first.is_some_and(|first| first == ASKED) {
        let Err(failure) = launch(&arguments.collect::<Vec<_>>());
        let _ = writeln!(io::stderr(), "neco: the sandbox could not be closed, so nothing was run: {failure}");
        std::process::exit(NOT_RUN);
    }
}

/// Returns only what kept the command from running.
fn launch(command: &[OsString]) -> io::Result<Infallible> {
    let mut order = Vec::new();
    File::from(take(ORDER)?).read_to_end(&mut order)?;
    let order: Order = serde_json::from_slice(&order)?;
    if order.version != VERSION {
        return Err(io::Error::other("Neco was replaced by another version while it ran: start it again"));
    }
    close_all_but(if order.in_namespaces { CHANNEL } else { 2 })?;
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
            first_process::look_after(channel, &order.never_bare, || become_command(&order, command, &extra))
        }
        None => become_command(&order, command, &extra),
    }
}

/// Closes the last locks and runs the command.
fn become_command(order: &Order, command: &[OsString], extra: &[CString]) -> io::Result<Infallible> {
    if order.terminal {
        session_leader::take_terminal()?;
    }
    privilege::limit(order.in_namespaces);
    privilege::drop_all()?;
    if let Some(rules) = &order.files {
        landlock::restrict(rules)?;
    }
    seccomp::install(seccomp::Sockets { internet: order.internet, unix: order.unix_sockets })?;
    let text = |text: &[u8]| CString::new(text).map_err(io::Error::other);
    let program = text(order.program.as_os_str().as_bytes())?;
    let arguments = command.iter().map(|word| text(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let is_replaced = |name: &OsString| {
        let start = [name.as_bytes(), b"="].concat();
        extra.iter().any(|entry| entry.as_bytes().starts_with(&start))
    };
    let own = std::env::vars_os().filter(|(name, _)| !is_replaced(name)).map(|(name, value)| {
        let mut entry = name.into_vec();
        entry.push(b'=');
        entry.extend_from_slice(value.as_bytes());
        CString::new(entry).map_err(io::Error::other)
    });
    let environment = own.chain(extra.iter().cloned().map(Ok)).collect::<Result<Vec<_>, _>>()?;
    Err(session_leader::become_program(&program, &arguments, &environment))
}

fn close_all_but(last: i32) -> io::Result<()> {
    // SAFETY: nothing in this process owns a descriptor beyond the standard ones and the channel yet.
    let result = unsafe { libc::syscall(libc::SYS_close_range, last + 1, u32::MAX, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
