//! Who may be served: processes of the same user, but no command of the session itself, which could
//! allow itself what the person did not.
//!
//! What keeps commands from the socket is their box; this tells those apart that run without one, and only on Linux,
//! by their parents and their environment. A command that nothing confines and that hides both is served, as it could
//! do all that the person's own processes can.

use neco_proto::PROTOCOL;
use tokio::net::UnixStream;

use super::frames::{ALIKE, OLDEST};
use super::place::own_user;

/// Generations of processes that are looked through.
#[cfg(target_os = "linux")]
const GENERATIONS: usize = 256;

/// How the variable begins that everything has which an agent runs.
#[cfg(target_os = "linux")]
const COMMAND: &[u8] = b"NECO_COMMAND=";

/// Why a window is not served, as it is told.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unwelcome {
    #[error("it is not known who asks: {0}")]
    Unknown(String),
    #[error("the session belongs to another user")]
    OtherUser,
    #[error("a command of the session can't attach to it")]
    OwnCommand,
    #[error("a hello comes first")]
    NoHello,
    #[error("that is no hello")]
    NotUnderstood,
    #[error("it has another session open")]
    OtherSession,
    #[error(
        "it runs neco {own}, which speaks versions {OLDEST} to {PROTOCOL} of the protocol; this is neco {theirs}, which \
         speaks {protocol}: {ALIKE}"
    )]
    OldProtocol { own: String, theirs: String, protocol: u32 },
}

/// Whether the process at the other end may be served.
pub(crate) async fn check(stream: &UnixStream) -> Result<(), Unwelcome> {
    let peer = stream.peer_cred().map_err(|error| Unwelcome::Unknown(error.to_string()))?;
    if peer.uid() != own_user() {
        return Err(Unwelcome::OtherUser);
    }
    let Some(pid) = peer.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0) else {
        return unknown();
    };
    match tokio::task::spawn_blocking(move || is_command(pid)).await {
        Ok(false) => Ok(()),
        Ok(true) | Err(_) => Err(Unwelcome::OwnCommand),
    }
}

/// Linux always knows who asks, unless it is a process that this one can't see.
#[cfg(target_os = "linux")]
fn unknown() -> Result<(), Unwelcome> {
    Err(Unwelcome::Unknown("it can't be seen from here".to_owned()))
}

/// Elsewhere not every system tells.
#[cfg(not(target_os = "linux"))]
fn unknown() -> Result<(), Unwelcome> {
    Ok(())
}

/// Whether the process at the other end belongs to the same user.
pub(super) fn of_own_user(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own_user())
}

/// Whether the process was started by an agent, as far as it can be told.
#[cfg(target_os = "linux")]
fn is_command(pid: u32) -> bool {
    is_below(pid, std::process::id()) || is_marked(pid) || is_boxed(pid)
}

/// Elsewhere nobody can look, and it is not asked who started whom.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_command(_pid: u32) -> bool {
    false
}

/// Whether `ancestor` started process `pid`, or whoever started that one, and so on.
#[cfg(target_os = "linux")]
fn is_below(pid: u32, ancestor: u32) -> bool {
    std::iter::successors(parent(pid), |pid| parent(*pid)).take(GENERATIONS).any(|pid| pid == ancestor)
}

/// The process that started another one.
#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    number(&status(&pid.to_string())?, "PPid:").filter(|parent| *parent != 0)
}

/// A number of a process's status.
#[cfg(target_os = "linux")]
fn number(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// All processes of the same user that an agent started, as far as it can be told, each with the one that started it:
/// what [`is_command`] says of one, in one look at all of them.
#[cfg(target_os = "linux")]
pub(crate) fn commands() -> std::collections::HashMap<u32, u32> {
    let own = status("self").map(|status| confinement(&status)).unwrap_or_default();
    let numbers = std::fs::read_dir("/proc").into_iter().flatten();
    let numbers = numbers.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let there: std::collections::HashMap<u32, Seen> =
        numbers.filter_map(|pid| Some((pid, Seen::of(pid, own)?))).collect();
    let above = |pid: u32| std::iter::successors(there.get(&pid), |seen| there.get(&seen.parent)).take(GENERATIONS);
    // Those of others can do nothing that this one's user could not forbid.
    let is_boxed = |pid: u32, seen: &Seen| seen.is_own && seen.is_confined && !is_free(above(pid));
    let is_below = |pid: u32| above(pid).any(|seen| seen.parent == std::process::id());
    let is_command = |pid: u32, seen: &Seen| seen.is_marked || is_boxed(pid, seen) || is_below(pid);
    there.iter().filter(|(pid, seen)| is_command(**pid, seen)).map(|(pid, seen)| (*pid, seen.parent)).collect()
}

/// What can be seen of a process.
#[cfg(target_os = "linux")]
struct Seen {
    parent: u32,
    /// Nothing where that can't be seen.
    session: Option<u32>,
    is_own: bool,
    /// Whether it is more confined than this process.
    is_confined: bool,
    is_marked: bool,
}

#[cfg(target_os = "linux")]
impl Seen {
    /// A process, beside one that is confined so.
    fn of(pid: u32, own: [u32; 3]) -> Option<Self> {
        let status = status(&pid.to_string())?;
        let is_own = number(&status, "Uid:") == Some(own_user());
        Some(Self {
            parent: number(&status, "PPid:")?,
            session: number(&status, "NSsid:"),
            is_own,
            is_confined: confinement(&status).iter().zip(own).any(|(theirs, own)| *theirs > own),
            is_marked: is_own && is_marked(pid),
        })
    }
}

#[cfg(target_os = "linux")]
fn status(who: &str) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{who}/status")).ok()
}

/// Whether a process, before those above it, confined itself, as parts of browsers do: one above it in the same session is
/// free. No box has a session in common with what is outside of it, since its command begins one when it is in there.
#[cfg(target_os = "linux")]
fn is_free<'s>(mut seen: impl Iterator<Item = &'s Seen>) -> bool {
    let Some(session) = seen.next().and_then(|own| own.session) else { return false };
    let within = |above: &&Seen| above.session == Some(session) && !above.is_marked;
    seen.take_while(within).any(|above| !above.is_confined)
}

/// How much a process is confined; older kernels don't count their filters.
#[cfg(target_os = "linux")]
fn confinement(status: &str) -> [u32; 3] {
    ["NoNewPrivs:", "Seccomp:", "Seccomp_filters:"].map(|name| number(status, name).unwrap_or_default())
}

/// Whether the process has the mark of what an agent runs in its environment: one that left its parents
/// behind keeps that. Where it can't be read nothing speaks for the process; while a process becomes another program,
/// both its arguments and its environment are empty.
#[cfg(target_os = "linux")]
fn is_marked(pid: u32) -> bool {
    let read = |name| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let environment = read("environ");
    if environment.is_empty() {
        return read("cmdline").is_empty();
    }
    environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(COMMAND))
}

/// Whether the process is more confined than this one, and not by itself: what the box of a command puts on it stays,
/// whatever it does to its environment and its parents. What can't be seen counts as confined.
#[cfg(target_os = "linux")]
fn is_boxed(pid: u32) -> bool {
    let Some(own) = status("self").map(|status| confinement(&status)) else { return true };
    let above = std::iter::successors(Seen::of(pid, own), |seen| Seen::of(seen.parent, own));
    let above: Vec<Seen> = above.take(GENERATIONS).collect();
    above.first().is_none_or(|seen| seen.is_confined && !is_free(above.iter()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn this_process_may_be_served() {
        let (one, _other) = UnixStream::pair().unwrap();
        assert_eq!(check(&one).await, Ok(()));
    }

    /// The process that `line` leaves behind and prints the number of, once it is `program`.
    #[cfg(target_os = "linux")]
    fn orphan(line: &str, program: &str, mark: Option<&str>) -> u32 {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", line]).envs(mark.map(|mark| ("NECO_COMMAND", mark)));
        let said = shell.output().unwrap().stdout;
        let pid = String::from_utf8(said).unwrap().trim().parse::<u32>().unwrap();
        while !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap().starts_with(program.as_bytes()) {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        pid
    }

    #[cfg(target_os = "linux")]
    fn kill(pid: u32) {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_an_agent_runs_is_known_when_it_has_left_its_parents() {
        let line = "setsid sleep 30 >/dev/null 2>&1 & echo $!";
        let (marked, plain) = (orphan(line, "sleep", Some("1-1-1")), orphan(line, "sleep", None));
        assert!(is_marked(marked) && !is_below(marked, std::process::id()));
        assert!(!is_marked(plain));
        assert!(is_marked(u32::MAX), "what is gone is not served");
        [marked, plain].into_iter().for_each(kill);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_is_in_a_box_is_known_with_an_empty_environment_and_no_parents() {
        let setpriv = std::process::Command::new("setpriv").arg("--version").output();
        assert!(setpriv.is_ok_and(|setpriv| setpriv.status.success()), "setpriv (package util-linux) is needed");
        let stripped = |words: &str| {
            let line = format!("env -i /usr/bin/setsid {words} /bin/sleep 30 >/dev/null 2>&1 & echo $!");
            orphan(&line, "/bin/sleep", None)
        };
        let (boxed, free) = (stripped("/usr/bin/setpriv --no-new-privs"), stripped(""));
        let own = std::process::id();
        assert!(!is_marked(boxed) && !is_below(boxed, own) && is_boxed(boxed), "nothing else tells it");
        assert!(!is_boxed(free) && !is_boxed(own) && is_boxed(u32::MAX));
        [boxed, free].into_iter().for_each(kill);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_confined_itself_as_parts_of_browsers_do_is_in_no_box() {
        let started = |line: &str, mark: Option<&str>| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", line]).stdout(std::process::Stdio::piped()).envs(mark.map(|mark| ("NECO_COMMAND", mark)));
            let mut shell = shell.spawn().unwrap();
            let mut said = String::new();
            let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut output, &mut said).unwrap();
            let pid: u32 = said.trim().parse().unwrap();
            while !std::fs::read(format!("/proc/{pid}/cmdline")).unwrap().starts_with(b"/bin/sleep") {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            (shell, pid)
        };
        let confined = "/usr/bin/setpriv --no-new-privs /bin/sleep 30 >/dev/null 2>&1 & echo $!; wait";
        let (mut free, part) = started(confined, None);
        assert!(!is_boxed(part), "what is above it in its session is free");
        let (mut marked, command) = started(confined, Some("1-1-1"));
        assert!(is_boxed(command), "what is above it is a command itself");
        for (shell, pid) in [(&mut free, part), (&mut marked, command)] {
            kill(pid);
            shell.wait().unwrap();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn one_look_at_all_processes_finds_the_same() {
        let line = "setsid sleep 30 >/dev/null 2>&1 & echo $!";
        let (marked, plain) = (orphan(line, "sleep", Some("1-1-1")), orphan(line, "sleep", None));
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let found = commands();
        assert!(found.contains_key(&marked) && found.get(&child.id()) == Some(&std::process::id()));
        assert!(!found.contains_key(&plain) && !found.contains_key(&std::process::id()));
        [marked, plain].into_iter().for_each(kill);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn children_and_their_children_are_below() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 30 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        assert!(is_below(child.id(), own) && is_below(grandchild, own));
        assert!(!is_below(own, own) && !is_below(1, own) && !is_below(own, child.id()));
        kill(grandchild);
        child.wait().unwrap();
    }
}
