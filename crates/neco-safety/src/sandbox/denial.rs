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

/// What the box probably refused first of all to a command that failed and printed this.
#[must_use]
pub fn recognise(output: &str, closed: &Closed) -> Option<Denial> {
    refusals(output, closed).into_iter().next()
}

/// Everything that the box probably refused to a command that failed and printed this: paths first, the last one told
/// before the others.
#[must_use]
pub fn refusals(output: &str, closed: &Closed) -> Vec<Denial> {
    let lines: Vec<&str> = output.lines().rev().take(MOST_LINES).collect();
    let mut found: Vec<Denial> = Vec::new();
    for denial in lines.iter().flat_map(|line| refused_paths(line, closed)).map(Denial::Path) {
        if !found.contains(&denial) {
            found.push(denial);
        }
    }
    let unreachable = |line: &&str| NO_NETWORK.iter().any(|words| line.contains(words));
    found.extend((closed.network && lines.iter().any(unreachable)).then_some(Denial::Network));
    found
}

/// The paths on a line of refusal that the box does close.
fn refused_paths(line: &str, closed: &Closed) -> Vec<PathBuf> {
    let Some(words) = REFUSALS.iter().find(|words| line.contains(*words)) else { return Vec::new() };
    // Only a box gives this for a file; everything else has reasons of its own for the others.
    let sure = matches!(*words, "Read-only file system" | "EROFS");
    let is_closed = |path: &&Path| {
        let covered = closed.closed.iter().any(|place| path.starts_with(place));
        let beside = !closed.writable.iter().any(|place| path.starts_with(place));
        covered || (sure && beside && !path.starts_with("/proc") && !path.starts_with("/dev"))
    };
    let absolute = words_of(line).filter(|word| word.starts_with('/')).map(Path::new);
    let found: Vec<PathBuf> = absolute.filter(is_closed).map(Path::to_path_buf).collect();
    if found.is_empty() { relative(line, closed, sure) } else { found }
}

/// The words of a line, without what stands around paths.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '‘' | '’' | ':' | ',' | '(' | ')' | '='))
}

/// Names without a folder: closed ones, as people write them in the workspace. Where one is a word of the line, those
/// that are only a part of some word are not meant.
fn relative(line: &str, closed: &Closed, sure: bool) -> Vec<PathBuf> {
    let is_named = |place: &Path, names: &dyn Fn(&str) -> bool| {
        closed.writable.iter().any(|root| {
            let inside = place.strip_prefix(root).ok().and_then(Path::to_str).filter(|inside| !inside.is_empty());
            inside.is_some_and(names)
        })
    };
    let is_part = |inside: &str| line.contains(inside);
    let is_word =
        |inside: &str| words_of(line).any(|word| Path::new(word.trim_start_matches("./")).starts_with(inside));
    let parts: Vec<&PathBuf> = closed.closed.iter().filter(|place| is_named(place, &is_part)).collect();
    let words: Vec<&PathBuf> = parts.iter().copied().filter(|place| is_named(place, &is_word)).collect();
    let found = if words.is_empty() { parts } else { words };
    if found.is_empty() && sure && !line.contains('/') {
        return vec![PathBuf::from("a file outside the workspace")];
    }
    found.into_iter().cloned().collect()
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

    #[test]
    fn everything_that_was_refused_is_told_once() {
        let output = "a.txt:1:one\ngrep: ./.env: Permission denied\ngrep: /h/.ssh: Permission denied\n\
            grep: ./.env: Permission denied\ncurl: (6) Could not resolve host: x\n";
        let paths = ["/w/.env", "/h/.ssh"].map(|path| Denial::Path(path.into()));
        assert_eq!(refusals(output, &closed()), [paths.as_slice(), &[Denial::Network]].concat());
        assert_eq!(refusals("a.txt:1:one", &closed()), []);
        // A name that is a part of another is not that one.
        let nested = Closed { closed: vec!["/w/env".into(), "/w/src/env".into()], ..closed() };
        let named = |output: &str| refusals(output, &nested);
        assert_eq!(named("grep: src/env/x: Permission denied"), [Denial::Path("/w/src/env".into())]);
        assert_eq!(named("grep: ./env: Permission denied"), [Denial::Path("/w/env".into())]);
        assert_eq!(named("mv: '/w/env' to '/w/src/env': Permission denied").len(), 2);
    }
}
