//! What must not work. Each attempt says whether it did.

use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use crate::places::Places;
use crate::system::{ask, c, raw, shell, socket};

type Attempt = (&'static str, fn(&Places) -> bool);

/// Every attempt.
pub fn all() -> &'static [Attempt] {
    &[
        // Files outside.
        ("write a new file outside", |p| fs::write(p.outside.join("new"), "x").is_ok()),
        ("write an existing file outside", |p| fs::write(p.outside.join("file"), "x").is_ok()),
        ("append to a file outside", |p| {
            OpenOptions::new().append(true).open(p.outside.join("file")).and_then(|mut f| f.write_all(b"x")).is_ok()
        }),
        ("truncate a file outside", |p| {
            // SAFETY: the path lives through the call.
            unsafe { libc::truncate(c(p.outside.join("file")).as_ptr(), 0) == 0 }
        }),
        ("remove a file outside", |p| fs::remove_file(p.outside.join("doomed")).is_ok()),
        ("make a folder outside", |p| fs::create_dir(p.outside.join("folder")).is_ok()),
        ("remove a folder outside", |p| fs::remove_dir(p.outside.join("empty")).is_ok()),
        ("rename a file outside", |p| fs::rename(p.outside.join("moved"), p.outside.join("moved2")).is_ok()),
        ("rename a file into the workspace", |p| {
            fs::rename(p.outside.join("taken"), p.workspace.join("taken")).is_ok()
        }),
        ("rename a file out of the workspace", |p| {
            let own = p.workspace.join("own");
            fs::write(&own, "x").is_ok() && fs::rename(&own, p.outside.join("planted")).is_ok()
        }),
        ("hard link to a file outside and write through it", |p| {
            let link = p.workspace.join("hard");
            fs::hard_link(p.outside.join("file"), &link).is_ok() && fs::write(&link, "x").is_ok()
        }),
        ("hard link out of the workspace", |p| {
            let own = p.workspace.join("linked");
            fs::write(&own, "x").is_ok() && fs::hard_link(&own, p.outside.join("linked")).is_ok()
        }),
        ("symbolic link to a file outside and write through it", |p| {
            let link = p.workspace.join("soft");
            symlink(p.outside.join("file"), &link).is_ok() && fs::write(&link, "x").is_ok()
        }),
        ("symbolic link made outside", |p| symlink("/etc", p.outside.join("soft")).is_ok()),
        ("write through ..", |p| {
            let name = p.outside.file_name().unwrap();
            fs::write(p.workspace.join("..").join(name).join("file"), "x").is_ok()
        }),
        ("chmod outside", |p| fs::set_permissions(p.outside.join("file"), fs::Permissions::from_mode(0o777)).is_ok()),
        ("chown outside", |p| std::os::unix::fs::chown(p.outside.join("file"), None, Some(gid())).is_ok()),
        ("set times outside", |p| {
            // SAFETY: the path lives through the call; no times mean now.
            unsafe { libc::utimensat(libc::AT_FDCWD, c(p.outside.join("file")).as_ptr(), std::ptr::null(), 0) == 0 }
        }),
        ("set an attribute outside", |p| {
            let (path, name) = (c(p.outside.join("file")), c("user.x"));
            // SAFETY: everything pointed to lives through the call.
            unsafe { libc::setxattr(path.as_ptr(), name.as_ptr(), b"x".as_ptr().cast(), 1, 0) == 0 }
        }),
        ("make a device", |p| {
            // SAFETY: the path lives through the call.
            unsafe {
                libc::mknod(c(p.workspace.join("disk")).as_ptr(), libc::S_IFBLK | 0o600, libc::makedev(8, 0)) == 0
            }
        }),
        ("write to /etc", |_| fs::write("/etc/neco-probe", "x").is_ok()),
        ("write to /usr", |_| fs::write("/usr/neco-probe", "x").is_ok()),
        ("write to the machine's temporary folder", |p| {
            fs::write("/tmp/neco-probe-outer", "x").is_ok() && seen_outside(p, "/tmp/neco-probe-outer")
        }),
        // What decides what other programs run.
        ("write a git hook", |p| fs::write(p.workspace.join(".git/hooks/pre-commit"), "x").is_ok()),
        ("write git's config", |p| {
            OpenOptions::new()
                .append(true)
                .open(p.workspace.join(".git/config"))
                .and_then(|mut f| f.write_all(b"x"))
                .is_ok()
        }),
        ("replace git's config", |p| {
            let lock = p.workspace.join(".git/config.lock");
            fs::write(&lock, "x").is_ok() && fs::rename(&lock, p.workspace.join(".git/config")).is_ok()
        }),
        ("move .git away", |p| {
            let (git, moved) = (p.workspace.join(".git"), p.workspace.join("git-moved"));
            let done = fs::rename(&git, &moved).is_ok();
            let _ = fs::rename(&moved, &git);
            done
        }),
        ("move .git/hooks away", |p| {
            let (hooks, moved) = (p.workspace.join(".git/hooks"), p.workspace.join(".git/hooks-moved"));
            let done = fs::rename(&hooks, &moved).is_ok();
            let _ = fs::rename(&moved, &hooks);
            done
        }),
        ("move the submodules of git away", |p| moves(&p.workspace.join(".git/modules"))),
        ("move a submodule of git away", |p| moves(&p.workspace.join(".git/modules/m"))),
        ("write the config of a submodule", |p| fs::write(p.workspace.join(".git/modules/m/config"), "x").is_ok()),
        ("move the worktrees of git away", |p| moves(&p.workspace.join(".git/worktrees"))),
        ("move a worktree of git away", |p| moves(&p.workspace.join(".git/worktrees/w"))),
        ("lead a worktree of git elsewhere", |p| {
            let path = p.workspace.join(".git/worktrees/w/commondir");
            fs::write(&path, "/elsewhere").is_ok() && fs::write(&path, "../..").is_ok()
        }),
        ("lead git elsewhere", |p| makes(&p.workspace.join(".git/commondir"))),
        ("make a second config of git", |p| makes(&p.workspace.join(".git/config.worktree"))),
        ("make the workspace itself a repository", |p| {
            let at = |name: &str| p.workspace.join(name);
            let made = fs::create_dir_all(at("refs/heads")).is_ok()
                && fs::create_dir(at("objects")).is_ok()
                && fs::write(at("HEAD"), "ref: refs/heads/main").is_ok();
            let stays = made && !soon(|| !at("HEAD").exists());
            for name in ["refs", "objects"] {
                let _ = fs::remove_dir_all(at(name));
            }
            let _ = fs::remove_file(at("HEAD"));
            stays
        }),
        ("write the settings of an editor", |p| fs::write(p.workspace.join(".vscode/tasks.json"), "{}").is_ok()),
        ("make the missing settings of an agent", |p| {
            let _ = fs::create_dir(p.workspace.join(".claude"));
            fs::write(p.workspace.join(".claude/settings.json"), "{}").is_ok()
        }),
        ("make our own missing settings", |p| {
            let _ = fs::create_dir(p.workspace.join(".neco"));
            fs::write(p.workspace.join(".neco/config.toml"), "").is_ok()
        }),
        // The test looks whether they are still there when the command is over.
        ("make a missing settings file", |p| fs::write(p.workspace.join(".mcp.json"), "{}").is_ok()),
        ("make missing settings of a program that is not used here", |p| {
            fs::create_dir(p.workspace.join(".gemini")).is_ok()
        }),
        ("write a shell start-up file", |p| {
            OpenOptions::new().append(true).open(p.home.join(".bashrc")).and_then(|mut f| f.write_all(b"x")).is_ok()
        }),
        // Secrets.
        ("read ~/.ssh", |p| fs::read(p.home.join(".ssh/id_ed25519")).is_ok()),
        ("list ~/.ssh", |p| fs::read_dir(p.home.join(".ssh")).is_ok_and(|mut entries| entries.next().is_some())),
        ("read our keys", |p| fs::read(p.home.join(".config/neco/keys.toml")).is_ok()),
        ("read ~/.aws", |p| fs::read(p.home.join(".aws/credentials")).is_ok()),
        ("read ~/.netrc", |p| fs::read(p.home.join(".netrc")).is_ok_and(|text| !text.is_empty())),
        ("read .env in the workspace", |p| fs::read(p.workspace.join(".env")).is_ok_and(|text| !text.is_empty())),
        ("move .env in the workspace", |p| {
            let (env, moved) = (p.workspace.join(".env"), p.workspace.join("env-moved"));
            let done = fs::rename(&env, &moved).is_ok() && fs::read(&moved).is_ok_and(|text| !text.is_empty());
            let _ = fs::rename(&moved, &env);
            done
        }),
        // Other processes.
        ("see the process outside", |p| {
            fs::read(format!("/proc/{}/cmdline", p.outer_pid)).is_ok_and(|t| !t.is_empty())
        }),
        ("read the environment of the parent", |_| {
            let parent = std::os::unix::process::parent_id();
            // In the box the parent of this process is the probe itself: its parent is meant.
            let stat = fs::read_to_string(format!("/proc/{parent}/status")).unwrap_or_default();
            let grand = stat.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or("0").trim().to_owned();
            fs::read(format!("/proc/{grand}/environ")).is_ok_and(|text| !text.is_empty())
        }),
        ("leave through /proc/1/root", |p| {
            let path = format!("/proc/1/root{}", p.outside.join("file").display());
            fs::write(path, "x").is_ok()
        }),
        ("leave through the root of the process outside", |p| {
            let path = format!("/proc/{}/root{}", p.outer_pid, p.outside.join("file").display());
            fs::write(path, "x").is_ok()
        }),
        ("leave through an inherited descriptor", |_| {
            (3..256).any(|number| fs::metadata(format!("/proc/self/fd/{number}")).is_ok_and(|found| found.is_dir()))
        }),
        ("signal a process outside", |p| {
            // SAFETY: takes numbers.
            unsafe { libc::kill(p.victim_pid, libc::SIGTERM) == 0 }
        }),
        ("trace another process", |p| {
            ask(libc::SYS_ptrace, [libc::PTRACE_ATTACH as usize, p.victim_pid as usize, 0, 0, 0, 0])
        }),
        ("trace a child", |_| traces_a_child()),
        ("read the memory of a process", |p| {
            let mut byte = [0_u8];
            let local = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
            let remote = libc::iovec { iov_base: 0x40_0000 as *mut _, iov_len: 1 };
            let victim = p.victim_pid as usize;
            let number = raw(
                libc::SYS_process_vm_readv,
                [victim, &raw const local as usize, 1, &raw const remote as usize, 1, 0],
            );
            number > 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT)
        }),
        // Privileges and namespaces.
        ("become another user", |_| {
            let other = if uid() == 0 { 65_534 } else { 0 };
            // SAFETY: takes numbers.
            unsafe { libc::setresuid(other, other, other) == 0 }
        }),
        ("become root with a program that makes one", |_| {
            let output = std::process::Command::new("/bin/su").args(["-c", "id -u"]).output();
            uid() != 0 && output.is_ok_and(|output| output.stdout.starts_with(b"0"))
        }),
        ("have a capability", |_| {
            let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
            let of = |name: &str| {
                status
                    .lines()
                    .find_map(|line| line.strip_prefix(name))
                    .map(|text| text.trim().trim_matches('0').to_owned())
            };
            ["CapPrm:", "CapEff:", "CapInh:", "CapAmb:"].iter().any(|name| of(name) != Some(String::new()))
        }),
        ("unshare the user namespace", |_| ask(libc::SYS_unshare, [libc::CLONE_NEWUSER as usize, 0, 0, 0, 0, 0])),
        ("unshare the mount namespace", |_| ask(libc::SYS_unshare, [libc::CLONE_NEWNS as usize, 0, 0, 0, 0, 0])),
        ("clone into a new user namespace", |_| clones(libc::CLONE_NEWUSER)),
        ("clone3 into a new user namespace", |_| {
            let mut arguments = [0_u64; 8];
            arguments[0] = libc::CLONE_NEWUSER as u64;
            arguments[4] = libc::SIGCHLD as u64;
            let child = raw(libc::SYS_clone3, [arguments.as_ptr() as usize, 64, 0, 0, 0, 0]);
            if child == 0 {
                // SAFETY: the child of an attempt ends at once.
                unsafe { libc::_exit(0) };
            }
            child > 0
        }),
        ("enter a namespace", |_| {
            // SAFETY: the path is a literal.
            let own = unsafe { libc::open(c"/proc/self/ns/net".as_ptr(), libc::O_RDONLY) };
            ask(libc::SYS_setns, [own as usize, 0, 0, 0, 0, 0])
        }),
        ("mount", |p| {
            let target = c(&p.workspace);
            ask(
                libc::SYS_mount,
                [c"tmpfs".as_ptr() as usize, target.as_ptr() as usize, c"tmpfs".as_ptr() as usize, 0, 0, 0],
            )
        }),
        ("remount the root writable", |_| {
            let flags = libc::MS_REMOUNT | libc::MS_BIND;
            ask(libc::SYS_mount, [0, c"/".as_ptr() as usize, 0, flags as usize, 0, 0])
        }),
        ("unmount a cover", |p| {
            let path = c(p.home.join(".ssh"));
            ask(libc::SYS_umount2, [path.as_ptr() as usize, libc::MNT_DETACH as usize, 0, 0, 0, 0])
        }),
        ("copy a mount tree", |_| {
            ask(libc::SYS_open_tree, [libc::AT_FDCWD as usize, c"/".as_ptr() as usize, 1, 0, 0, 0])
        }),
        ("open a file system", |_| ask(libc::SYS_fsopen, [c"tmpfs".as_ptr() as usize, 0, 0, 0, 0, 0])),
        ("change the root", |_| ask(libc::SYS_chroot, [c"/usr".as_ptr() as usize, 0, 0, 0, 0, 0])),
        ("open by a handle", |_| {
            let mut handle = [0_u64; 18];
            handle[0] = 128;
            let opened =
                raw(libc::SYS_open_by_handle_at, [libc::AT_FDCWD as usize, handle.as_mut_ptr() as usize, 0, 0, 0, 0]);
            let refused = [Some(libc::EPERM), Some(libc::ENOSYS)];
            opened >= 0 || !refused.contains(&std::io::Error::last_os_error().raw_os_error())
        }),
        ("set the host's name", |_| ask(libc::SYS_sethostname, [c"probe".as_ptr() as usize, 5, 0, 0, 0, 0])),
        // Ways into the kernel.
        ("io_uring", |_| {
            let mut parameters = [0_u8; 256];
            ask(libc::SYS_io_uring_setup, [1, parameters.as_mut_ptr() as usize, 0, 0, 0, 0])
        }),
        ("bpf", |_| {
            // A map of one entry: some kernels let anybody make one.
            let attributes = [2_u32, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            ask(libc::SYS_bpf, [0, attributes.as_ptr() as usize, 72, 0, 0, 0])
        }),
        ("perf", |_| {
            let mut attributes = [0_u8; 128];
            attributes[0] = 1;
            attributes[4] = 128;
            ask(libc::SYS_perf_event_open, [attributes.as_ptr() as usize, 0, usize::MAX, usize::MAX, 0, 0])
        }),
        ("userfaultfd", |_| ask(libc::SYS_userfaultfd, [1, 0, 0, 0, 0, 0])),
        ("keyctl", |_| ask(libc::SYS_keyctl, [0, usize::MAX - 2, 0, 0, 0, 0])),
        ("add a key", |_| {
            ask(
                libc::SYS_add_key,
                [c"user".as_ptr() as usize, c"neco".as_ptr() as usize, c"x".as_ptr() as usize, 1, usize::MAX - 2, 0],
            )
        }),
        ("32-bit system calls", |_| thirty_two_bit()),
        ("x32 system calls", |_| x32()),
        ("load a module", |_| {
            ask(libc::SYS_finit_module, [0, c"".as_ptr() as usize, 0, 0, 0, 0]) || {
                let error = std::io::Error::last_os_error().raw_os_error();
                ![Some(libc::EPERM), Some(libc::ENOSYS)].contains(&error)
            }
        }),
        ("type into the terminal", |_| types_into_terminal()),
        ("write /proc/sys", |_| writes("/proc/sys/kernel/core_pattern") || writes("/proc/sys/vm/swappiness")),
        ("write /sys", |_| writes("/sys/kernel/mm/transparent_hugepage/enabled") || writes("/sys/power/state")),
        ("write to a control group", |_| writes("/sys/fs/cgroup/cgroup.procs")),
        ("open the machine's memory", |_| fs::File::open("/dev/mem").is_ok() || fs::File::open("/dev/kmem").is_ok()),
        ("open a disk", |_| {
            ["/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop0"].iter().any(|disk| fs::File::open(disk).is_ok())
        }),
        // The network.
        ("TCP to the machine", |p| TcpStream::connect(("127.0.0.1", p.tcp_port)).is_ok()),
        ("TCP to an address outside", |_| {
            TcpStream::connect_timeout(&"192.0.2.1:80".parse().unwrap(), Duration::from_millis(200))
                .is_err_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
        }),
        ("UDP to the machine", |p| {
            let Ok(own) = UdpSocket::bind("127.0.0.1:0") else { return false };
            let _ = own.set_read_timeout(Some(Duration::from_millis(500)));
            own.send_to(b"ping", ("127.0.0.1", p.udp_port)).is_ok() && own.recv(&mut [0; 8]).is_ok()
        }),
        ("a Unix socket outside", |p| UnixStream::connect(&p.unix_socket).is_ok()),
        ("an abstract Unix socket outside", |p| {
            use std::os::linux::net::SocketAddrExt;
            let address = std::os::unix::net::SocketAddr::from_abstract_name(&p.abstract_socket).unwrap();
            UnixStream::connect_addr(&address).is_ok()
        }),
        ("a Unix datagram to a socket outside", |p| {
            UnixDatagram::pair().is_ok_and(|(own, _other)| own.send_to(b"x", &p.datagram_socket).is_ok())
        }),
        ("a vsock socket", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).is_some()),
        ("a raw socket", |_| socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP).is_some()),
        ("a packet socket", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0).is_some()),
        ("a netlink socket for the firewall", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 12).is_some()),
        // Staying behind: the test looks whether it is still there.
        ("a daemon that survives", |p| {
            let name = format!("{}.{}", 61_000_000, p.outer_pid);
            shell(&p.workspace, &format!("env -i setsid -f sleep {name} </dev/null >/dev/null 2>&1"))
        }),
    ]
}

/// Whether something holds within a second.
fn soon(holds: impl Fn() -> bool) -> bool {
    (0..1000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        holds()
    })
}

/// What is there can be moved; it is moved back.
fn moves(path: &Path) -> bool {
    let moved = path.with_file_name("moved");
    let done = fs::rename(path, &moved).is_ok();
    let _ = fs::rename(&moved, path);
    done
}

/// What is not there can be made, or was made and can be written; it is removed again.
fn makes(path: &Path) -> bool {
    let done = fs::write(path, "/elsewhere").is_ok();
    let _ = fs::remove_file(path);
    done
}

fn uid() -> u32 {
    // SAFETY: takes nothing.
    unsafe { libc::getuid() }
}

fn gid() -> u32 {
    // SAFETY: takes nothing.
    unsafe { libc::getgid() }
}

/// The test removes it when it is seen outside; inside, a private folder has the same name.
fn seen_outside(p: &Places, path: &str) -> bool {
    let outer = format!("/proc/{}/root{path}", p.outer_pid);
    let private = fs::read_to_string("/proc/self/mountinfo")
        .is_ok_and(|text| text.lines().any(|line| line.split(' ').nth(4) == Some("/tmp") && line.contains("neco-")));
    !private || fs::metadata(outer).is_ok()
}

fn writes(path: &str) -> bool {
    let Ok(mut file) = OpenOptions::new().read(true).write(true).open(path) else { return false };
    let mut text = String::new();
    // Written back as it was: opening it for writing is the escape.
    file.read_to_string(&mut text).is_ok()
}

fn clones(flags: i32) -> bool {
    let child = raw(libc::SYS_clone, [(flags | libc::SIGCHLD) as usize, 0, 0, 0, 0, 0]);
    if child == 0 {
        // SAFETY: the child of an attempt ends at once.
        unsafe { libc::_exit(0) };
    }
    child > 0
}

fn traces_a_child() -> bool {
    // SAFETY: this program has one thread; the child sleeps until it is killed.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::pause();
            libc::_exit(0);
        }
        let traced = libc::ptrace(libc::PTRACE_ATTACH, child, 0, 0) == 0;
        libc::kill(child, libc::SIGKILL);
        traced
    }
}

#[cfg(target_arch = "x86_64")]
fn thirty_two_bit() -> bool {
    let answer: i32;
    // SAFETY: getpid (20) through the gate for 32-bit programs; touches one register.
    unsafe { std::arch::asm!("int 0x80", inlateout("eax") 20 => answer) };
    answer > 0
}

#[cfg(not(target_arch = "x86_64"))]
fn thirty_two_bit() -> bool {
    false
}

#[cfg(target_arch = "x86_64")]
fn x32() -> bool {
    // A kernel without x32 has no such number; one with a filter kills.
    let asked = raw(0x4000_0000 + libc::SYS_getpid, [0; 6]);
    asked > 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOSYS)
}

#[cfg(not(target_arch = "x86_64"))]
fn x32() -> bool {
    false
}

fn types_into_terminal() -> bool {
    // SAFETY: the descriptors are this process's own; the byte lives through the call.
    unsafe {
        let master = libc::posix_openpt(libc::O_RDWR);
        if master < 0 || libc::grantpt(master) != 0 || libc::unlockpt(master) != 0 {
            return false;
        }
        let name = CString::from(std::ffi::CStr::from_ptr(libc::ptsname(master)));
        libc::setsid();
        let own = libc::open(name.as_ptr(), libc::O_RDWR);
        libc::ioctl(own, libc::TIOCSCTTY, 0);
        libc::ioctl(own, libc::TIOCSTI, b"x".as_ptr()) == 0 || *libc::__errno_location() == libc::EIO
    }
}
