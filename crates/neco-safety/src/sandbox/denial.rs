//! Recognises from what a command printed that the box stopped it, so that the model asks for more
//! instead of trying again.
//!
//! A guess, made carefully: a command's own failure must not be called the box's doing. So it looks
//! only at commands that failed, only at their last lines, and for places only at paths that the
//! box does close.

use std::path::{Path, PathBuf};

/// What the box probably refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// To change or read this.
    Path(PathBuf),
    /// To reach the network.
    Network,
    /// This host, through the proxy.
    Host(String),
}

/// How much of the end of an output is looked at.
const MOST_LINES: usize = 60;

/// What the box closes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Below these, writing works.
    pub writable: Vec<PathBuf>,
    /// These and all below can't be changed although they lie in the ones above, or can't be read at all.
    pub closed: Vec<PathBuf>,
    /// Whether there is no network.
    pub network: bool,
}

/// What a system says when something may not be changed.
const REFUSALS: &[&str] = &[
    "Read-only file system",
    "Permission denied",
    "Operation not permitted",
    "Device or resource busy",
    "EROFS",
    "EACCES",
    "EPERM",
];

/// What programs say when there is no network.
const NO_NETWORK: &[&str] = &[
    "Network is unreachable",
    "Temporary failure in name resolution",
    "Could not resolve host",
    "Couldn't resolve host",
    "Name or service not known",
    "Temporary failure resolving",
    "getaddrinfo EAI_AGAIN",
    "getaddrinfo ENOTFOUND",
    "ENETUNREACH",
    "failed to lookup address information",
    "Resolving timed out",
    "unable to resolve host address",
    "no such host",
    "dial tcp: lookup",
];

/// What the proxy answers for a host that is not allowed.
pub(super) const REFUSED_HOST: &str = "neco-sandbox-refused";

/// What the box probably refused to a command that failed and printed this.
#[must_use]
pub fn recognise(output: &str, closed: &Closed) -> Option<Denial> {
    let lines: Vec<&str> = output.lines().rev().take(MOST_LINES).collect();
    lines.iter().find_map(|line| refused_path(line, closed)).map(Denial::Path).or_else(|| {
        let unreachable = |line: &&str| NO_NETWORK.iter().any(|words| line.contains(words));
        (closed.network && lines.iter().any(unreachable)).then_some(Denial::Network)
    })
}

/// The first path on a line of refusal that the box does close.
fn refused_path(line: &str, closed: &Closed) -> Option<PathBuf> {
    let words = REFUSALS.iter().find(|words| line.contains(*words))?;
    // Only a box gives this for a file; everything else has reasons of its own for the others.
    let sure = matches!(*words, "Read-only file system" | "EROFS");
    let separators =
        |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '‘' | '’' | ':' | ',' | '(' | ')' | '=');
    let paths = line.split(separators).filter(|word| word.starts_with('/')).map(Path::new);
    let is_closed = |path: &Path| {
        let covered = closed.closed.iter().any(|place| path.starts_with(place));
        let beside = !closed.writable.iter().any(|place| path.starts_with(place));
        covered || (sure && beside && !path.starts_with("/proc") && !path.starts_with("/dev"))
    };
    paths.into_iter().find(|path| is_closed(path)).map(Path::to_path_buf).or_else(|| relative(line, closed, sure))
}

/// A name without a folder: one of the closed ones, as people write them in the workspace.
fn relative(line: &str, closed: &Closed, sure: bool) -> Option<PathBuf> {
    let named = |place: &&PathBuf| {
        closed.writable.iter().any(|root| {
            let inside = place.strip_prefix(root).ok().and_then(Path::to_str).filter(|inside| !inside.is_empty());
            inside.is_some_and(|inside| line.contains(inside))
        })
    };
    let found = closed.closed.iter().find(named).cloned();
    found.or_else(|| (sure && !line.contains('/')).then(|| PathBuf::from("a file outside the workspace")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> Closed {
        Closed {
            writable: vec!["/w".into(), "/tmp".into()],
            closed: vec!["/w/.git/hooks".into(), "/w/.git/config".into(), "/w/.env".into(), "/h/.ssh".into()],
            network: true,
        }
    }

    #[test]
    fn what_the_box_refuses_is_recognised() {
        let path = |path: &str| Some(Denial::Path(path.into()));
        for (output, expected) in [
            ("touch: cannot touch '/etc/x': Read-only file system", path("/etc/x")),
            ("sh: 1: cannot create /usr/local/a: Read-only file system\n", path("/usr/local/a")),
            ("cat: /h/.ssh/id_rsa: Permission denied", path("/h/.ssh/id_rsa")),
            ("cat: .env: Permission denied", path("/w/.env")),
            ("error: could not write config file .git/config: Device or resource busy", path("/w/.git/config")),
            ("Error: EROFS: read-only file system, open '/opt/x'", path("/opt/x")),
            ("curl: (6) Could not resolve host: example.com", Some(Denial::Network)),
            ("fatal: unable to access 'https://a/': Could not resolve host: a", Some(Denial::Network)),
            ("connect: Network is unreachable", Some(Denial::Network)),
        ] {
            assert_eq!(recognise(output, &closed()), expected, "{output}");
        }
    }

    #[test]
    fn a_commands_own_failure_is_not_called_the_boxs() {
        for output in [
            "",
            "error[E0308]: mismatched types",
            "cat: /w/src/secret.rs: Permission denied",
            "cat: /etc/shadow: Permission denied",
            "mount: only root can do that: Operation not permitted",
            "test permissions ... FAILED: assertion `Permission denied`",
            "touch: cannot touch '/w/x': Read-only file system",
            "connection refused (os error 111)",
            "ls: cannot access '/nowhere': No such file or directory",
        ] {
            assert_eq!(recognise(output, &closed()), None, "{output}");
        }
        let open = Closed { network: false, ..closed() };
        assert_eq!(recognise("Could not resolve host: x", &open), None);
        let far = format!("touch: '/etc/x': Read-only file system\n{}", "fine\n".repeat(200));
        assert_eq!(recognise(&far, &closed()), None);
    }
}
