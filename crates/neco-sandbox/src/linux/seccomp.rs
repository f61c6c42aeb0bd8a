//! The filter of system calls: what a program in the box may not even ask the kernel for.
//!
//! Written as BPF here instead of with a crate: one filter gives three kinds of answers (kill, two
//! errors), and it has to look at the x32 bit of the number, which filters made from tables leave out.
#![allow(unsafe_code)]

use std::io;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sockets {
    /// TCP and UDP. Where they lead is someone else's business: a network namespace's, or Landlock's.
    pub(crate) internet: bool,
    /// Unix sockets by path or name. Pairs of them are always there, but not for datagrams.
    pub(crate) unix: bool,
}

/// Installs the filter on this thread and all it starts. Can't be undone. Needs `no_new_privs`.
/// Fails when the kernel refuses, or the filter was not written for this kind of processor.
pub(crate) fn install(sockets: Sockets) -> io::Result<()> {
    let mut program = program(sockets).ok_or_else(|| io::Error::from(io::ErrorKind::Unsupported))?;
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program outlives the call, which copies it, and its length is the one given.
    let result = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const filter) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether the kernel has filters at all.
pub(crate) fn is_there() -> bool {
    // SAFETY: asks for a number; nothing is pointed to.
    architecture().is_some() && unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) } >= 0
}

/// Copies a mount and changes what it allows.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// The newest call that was looked at; those after it are answered as if the kernel did not have them.
const NEWEST: u32 = 469;

/// System calls by their names.
macro_rules! calls {
    ($($call:ident)+) => { &[$(libc::$call),+] };
}

/// Refused as if the person had no right to it, as is what copies a mount and changes what it allows.
const REFUSED: &[libc::c_long] = calls![
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_kcmp SYS_mount SYS_umount2
    SYS_pivot_root SYS_chroot SYS_open_tree SYS_move_mount SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick
    SYS_mount_setattr SYS_unshare SYS_setns SYS_bpf SYS_perf_event_open SYS_userfaultfd SYS_keyctl SYS_add_key
    SYS_request_key SYS_open_by_handle_at SYS_kexec_load SYS_init_module SYS_finit_module SYS_delete_module
    SYS_reboot SYS_swapon SYS_swapoff SYS_acct SYS_quotactl SYS_quotactl_fd SYS_process_madvise SYS_settimeofday
    SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_sethostname SYS_setdomainname SYS_syslog SYS_vhangup
    SYS_fanotify_init
];

/// Answered as if the kernel did not have them: programs then take another way.
const ABSENT: &[libc::c_long] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

#[cfg(target_arch = "x86_64")]
const ONLY_HERE: &[libc::c_long] = &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_kexec_file_load, libc::SYS_modify_ldt];
#[cfg(not(target_arch = "x86_64"))]
const ONLY_HERE: &[libc::c_long] = &[];

/// New namespaces, as `clone` takes them.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32;

/// `ioctl`s that type into a terminal for its user.
const TYPING: [u32; 2] = [libc::TIOCSTI as u32, 0x541C];

const EPERM: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
const EACCES: u32 = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;
const ENOSYS: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

/// Where the kind of a socket is in a number that holds flags too.
const SOCKET_KIND: u32 = 0xf;

/// Where things are in what a filter looks at.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// Numbers from here on are those of x32, a second way to ask for everything.
const X32: u32 = 0x4000_0000;

fn architecture() -> Option<u32> {
    match std::env::consts::ARCH {
        "x86_64" => Some(0xC000_003E),
        "aarch64" => Some(0xC000_00B7),
        _ => None,
    }
}

/// The low half of an argument; all that are looked at fit into it, or count by it in the kernel too.
fn argument(index: u32) -> u32 {
    ARGUMENTS_AT + 8 * index
}

fn program(sockets: Sockets) -> Option<Vec<libc::sock_filter>> {
    let mut filter = vec![load(ARCHITECTURE_AT), equal(architecture()?, 1, 0), answer(KILL), load(NUMBER_AT)];
    if cfg!(target_arch = "x86_64") {
        filter.extend([at_least(X32, 0, 1), answer(KILL)]);
    }
    filter.extend([at_least(NEWEST + 1, 0, 1), answer(ENOSYS)]);
    let refused = REFUSED.iter().chain(&[OPEN_TREE_ATTR]).chain(ONLY_HERE).map(|number| (*number, EPERM));
    let absent = ABSENT.iter().map(|number| (*number, ENOSYS));
    for (number, result) in refused.chain(absent) {
        filter.extend([equal(number as u32, 0, 1), answer(result)]);
    }
    filter.extend(only_for(libc::SYS_clone, &[load(argument(0)), any_of(NAMESPACES, 0, 1), answer(EPERM)]));
    let typing = TYPING.iter().flat_map(|request| [equal(*request, 0, 1), answer(EPERM)]);
    filter.extend(only_for(libc::SYS_ioctl, &[load(argument(1))].into_iter().chain(typing).collect::<Vec<_>>()));
    filter.extend(only_for(libc::SYS_socket, &socket_rules(sockets)));
    filter.extend(only_for(libc::SYS_socketpair, &pair_rules(sockets)));
    filter.push(answer(ALLOW));
    Some(filter)
}

fn socket_rules(sockets: Sockets) -> Vec<libc::sock_filter> {
    let mut families = Vec::new();
    if sockets.internet {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if sockets.unix {
        families.push(libc::AF_UNIX);
    }
    let mut rules = vec![load(argument(0))];
    for family in families {
        rules.extend([equal(family as u32, 0, 1), answer(ALLOW)]);
    }
    // What lists the interfaces and addresses of the box.
    rules.extend([
        equal(libc::AF_NETLINK as u32, 0, 3),
        load(argument(2)),
        equal(libc::NETLINK_ROUTE as u32, 0, 1),
        answer(ALLOW),
        answer(EACCES),
    ]);
    rules
}

/// What is connected for good reaches nobody else; a datagram can be sent anywhere, also from a pair.
fn pair_rules(sockets: Sockets) -> Vec<libc::sock_filter> {
    let mut rules = vec![load(argument(0)), equal(libc::AF_UNIX as u32, 1, 0), answer(EACCES)];
    if !sockets.unix {
        rules.extend([load(argument(1)), only_bits(SOCKET_KIND)]);
        rules.extend([equal(libc::SOCK_STREAM as u32, 2, 0), equal(libc::SOCK_SEQPACKET as u32, 1, 0), answer(EACCES)]);
    }
    rules
}

/// Rules that hold for one number; what they let through is allowed.
fn only_for(number: libc::c_long, rules: &[libc::sock_filter]) -> Vec<libc::sock_filter> {
    let skipped = rules.len() as u8 + 1;
    [equal(number as u32, 0, skipped)].into_iter().chain(rules.iter().copied()).chain([answer(ALLOW)]).collect()
}

fn load(offset: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn only_bits(bits: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_ALU | libc::BPF_AND | libc::BPF_K) as u16, jt: 0, jf: 0, k: bits }
}

fn jump(kind: u32, value: u32, yes: u8, no: u8) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_JMP | kind | libc::BPF_K) as u16, jt: yes, jf: no, k: value }
}

fn equal(value: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JEQ, value, yes, no)
}

fn at_least(value: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JGE, value, yes, no)
}

fn any_of(bits: u32, yes: u8, no: u8) -> libc::sock_filter {
    jump(libc::BPF_JSET, bits, yes, no)
}

fn answer(result: u32) -> libc::sock_filter {
    libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: result }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays the filter as the kernel would.
    fn verdict(sockets: Sockets, arch: u32, number: i64, arguments: [u32; 3]) -> u32 {
        let filter = program(sockets).unwrap();
        let (mut at, mut value) = (0, 0);
        loop {
            let step = filter[at];
            let code = u32::from(step.code);
            at += 1;
            if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
                value = match step.k {
                    NUMBER_AT => number as u32,
                    ARCHITECTURE_AT => arch,
                    offset => arguments[((offset - ARGUMENTS_AT) / 8) as usize],
                };
            } else if code == libc::BPF_ALU | libc::BPF_AND | libc::BPF_K {
                value &= step.k;
            } else if code == libc::BPF_RET | libc::BPF_K {
                return step.k;
            } else {
                let holds = match code & 0xf0 {
                    kind if kind == libc::BPF_JEQ => value == step.k,
                    kind if kind == libc::BPF_JGE => value >= step.k,
                    _ => value & step.k != 0,
                };
                at += usize::from(if holds { step.jt } else { step.jf });
            }
        }
    }

    #[test]
    fn every_kind_of_call_gets_its_answer() {
        let closed = Sockets { internet: true, unix: false };
        let here = architecture().unwrap();
        let ask = |number: i64, arguments| verdict(closed, here, number, arguments);
        assert_eq!(ask(libc::SYS_read, [0; 3]), ALLOW);
        assert_eq!(ask(libc::SYS_ptrace, [0; 3]), EPERM);
        assert_eq!(ask(libc::SYS_clone3, [0; 3]), ENOSYS);
        assert_eq!((ask(OPEN_TREE_ATTR, [0; 3]), ask(i64::from(NEWEST), [0; 3])), (EPERM, ALLOW));
        assert_eq!(ask(i64::from(NEWEST) + 1, [0; 3]), ENOSYS, "nobody knows what it does");
        assert_eq!(ask(libc::SYS_clone, [libc::SIGCHLD as u32, 0, 0]), ALLOW);
        assert_eq!(ask(libc::SYS_clone, [libc::CLONE_NEWUSER as u32 | 17, 0, 0]), EPERM);
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCSTI as u32, 0]), EPERM);
        assert_eq!(ask(libc::SYS_ioctl, [0, 0x541C, 0]), EPERM);
        assert_eq!(ask(libc::SYS_ioctl, [0, libc::TIOCGWINSZ as u32, 0]), ALLOW);
        let socket = |family: i32, protocol: u32| ask(libc::SYS_socket, [family as u32, 1, protocol]);
        assert_eq!([socket(libc::AF_INET, 0), socket(libc::AF_INET6, 6), socket(libc::AF_NETLINK, 0)], [ALLOW; 3]);
        assert_eq!([socket(libc::AF_UNIX, 0), socket(libc::AF_VSOCK, 0), socket(libc::AF_NETLINK, 9)], [EACCES; 3]);
        let pair = |kind: i32| [libc::AF_UNIX as u32, (kind | libc::SOCK_CLOEXEC) as u32, 0];
        assert_eq!(ask(libc::SYS_socketpair, pair(libc::SOCK_STREAM)), ALLOW);
        assert_eq!(ask(libc::SYS_socketpair, pair(libc::SOCK_SEQPACKET)), ALLOW);
        assert_eq!([libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| ask(libc::SYS_socketpair, pair(kind))), [EACCES; 2]);
        assert_eq!(ask(libc::SYS_socketpair, [libc::AF_TIPC as u32, 1, 0]), EACCES);
        let alone = Sockets { internet: false, unix: true };
        assert_eq!(verdict(alone, here, libc::SYS_socket, [libc::AF_INET as u32, 1, 0]), EACCES);
        assert_eq!(verdict(alone, here, libc::SYS_socket, [libc::AF_UNIX as u32, 1, 0]), ALLOW);
        assert_eq!(verdict(alone, here, libc::SYS_socketpair, pair(libc::SOCK_DGRAM)), ALLOW);
        assert_eq!(verdict(closed, 0x4000_0003, libc::SYS_read, [0; 3]), KILL, "another architecture");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(ask(i64::from(X32) + libc::SYS_read, [0; 3]), KILL, "x32");
    }
}
