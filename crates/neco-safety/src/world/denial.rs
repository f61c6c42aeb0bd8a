//! Recognises from what a command printed that the box stopped it, so that the model asks for more
//! instead of trying again.
//!
//! A guess, made carefully: a command's own failure must not be called the box's doing. So it looks
//! only at commands that failed, only at their last lines, and for places only at paths that the
//! box does close.

use std::collections::BTreeSet;
use std::iter::successors;
use std::path::{Path, PathBuf};

/// What the box probably refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// To open this: what was said does not tell whether to read or to change it.
    Open(PathBuf),
    /// To change this, as it was named; nothing where nobody can tell what.
    Change(Option<PathBuf>),
    /// The same, in a box in which nothing can be changed.
    ReadOnly(Option<PathBuf>),
    /// To reach the network.
    Network,
    /// This host, through the proxy.
    Host(String),
}

impl Denial {
    /// The file or folder that was refused, where it is known.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Open(path) => Some(path),
            Self::Change(path) | Self::ReadOnly(path) => path.as_deref(),
            Self::Network | Self::Host(_) => None,
        }
    }
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
    /// Whether nothing but temporary files can be changed.
    pub read_only: bool,
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

/// What is said only of what was to be changed.
const CHANGES: &[&str] = &[
    "Read-only file system",
    "EROFS",
    "cannot create",
    "can't create",
    "cannot touch",
    "cannot remove",
    "cannot move",
    "cannot overwrite",
    "could not write",
    "unable to create",
    "unable to write",
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
pub const REFUSED_HOST: &str = "neco-sandbox-refused";

/// What the box probably refused first of all to a command that failed and printed this.
pub fn recognise(output: &str, closed: &Closed) -> Option<Denial> {
    refusals(output, closed).into_iter().next()
}

/// Everything that the box probably refused to a command that failed and printed this: paths first, the last one told
/// before the others.
pub fn refusals(output: &str, closed: &Closed) -> Vec<Denial> {
    let lines: Vec<&str> = output.lines().rev().take(MOST_LINES).collect();
    let mut found: Vec<Denial> = Vec::new();
    for denial in lines.iter().flat_map(|line| refused(line, closed)) {
        if !found.contains(&denial) {
            found.push(denial);
        }
    }
    let unreachable = |line: &&str| NO_NETWORK.iter().any(|words| line.contains(words));
    found.extend((closed.network && lines.iter().any(unreachable)).then_some(Denial::Network));
    found
}

/// Whether a command that was refused something probably did the rest: it was kept from reading alone, and it printed
/// more than what it complains of.
pub fn did_the_rest(output: &str, closed: &Closed) -> bool {
    let complaints: Vec<&str> = output.lines().filter(|line| !refused(line, closed).is_empty()).collect();
    let complain: BTreeSet<&str> = complaints.iter().filter_map(|line| speaker(line)).collect();
    let changes = complaints.iter().any(|line| CHANGES.iter().any(|words| line.contains(words)));
    let is_more = |line: &str| {
        let complains = complaints.contains(&line) || speaker(line).is_some_and(|speaker| complain.contains(speaker));
        !line.trim().is_empty() && !complains
    };
    !changes && output.lines().any(is_more)
}

/// The program that says a line, as most of them name themselves.
fn speaker(line: &str) -> Option<&str> {
    line.split_once(": ").map(|(speaker, _)| speaker)
}

/// What a line of refusal says of paths that the box does close.
fn refused(line: &str, closed: &Closed) -> Vec<Denial> {
    let Some(words) = REFUSALS.iter().find(|words| line.contains(*words)) else { return Vec::new() };
    let line = without_program(line, words);
    let changes = CHANGES.iter().any(|words| line.contains(words));
    // Only a box gives this for a file; everything else has reasons of its own for the others.
    let sure = matches!(*words, "Read-only file system" | "EROFS") || closed.read_only && changes;
    let is_closed = |path: &Path| {
        let covered = closed.closed.iter().any(|place| path.starts_with(place));
        let beside = !closed.writable.iter().any(|place| path.starts_with(place));
        covered || (sure && beside && !path.starts_with("/proc") && !path.starts_with("/dev"))
    };
    let denied = |path: Option<PathBuf>| match (path, changes, closed.read_only) {
        (Some(path), false, _) => Denial::Open(path),
        (path, _, true) => Denial::ReadOnly(path),
        (path, _, false) => Denial::Change(path),
    };
    let absolute: Vec<&Path> = words_of(line).filter(|word| word.starts_with('/')).map(Path::new).collect();
    let named: Vec<PathBuf> = absolute.iter().filter(|path| is_closed(path)).map(|path| path.to_path_buf()).collect();
    let paths = if named.is_empty() { relative(line, words, closed) } else { named };
    if paths.is_empty() && sure && absolute.is_empty() {
        // A line with folders in it may be about something else, unless the refusal stands right behind a name.
        let written = written(line, words).map(PathBuf::from);
        return if written.is_some() || !line.contains('/') { vec![denied(written)] } else { Vec::new() };
    }
    paths.into_iter().map(|path| denied(Some(path))).collect()
}

/// A line without the program that says it by its path: `/usr/bin/bash: line 1: a/b: Read-only file system`.
fn without_program<'l>(line: &'l str, refusal: &str) -> &'l str {
    let Some((_, said)) = line.split_once(": ").filter(|(program, _)| program.starts_with('/')) else { return line };
    let counted = said.strip_prefix("line ").unwrap_or(said);
    let is_shell = counted.split_once(": ").is_some_and(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
    if is_shell || written(said, refusal).is_some() { said } else { line }
}

/// The name that stands right before a refusal: `touch: cannot touch 'a': Read-only file system`. Without quotes it may
/// be any word, so it counts where it looks like a path.
fn written<'l>(line: &'l str, refusal: &str) -> Option<&'l str> {
    let before = line.trim_end().strip_suffix(refusal)?.trim_end().strip_suffix(':')?;
    let quoted = before.strip_suffix(['\'', '"', '’']).and_then(|quoted| quoted.rsplit(['\'', '"', '‘']).next());
    quoted.or_else(|| words_of(before).last().filter(|word| word.contains(['/', '.'])))
}

/// The words of a line, without what stands around paths.
fn words_of(line: &str) -> impl Iterator<Item = &str> {
    line.split(ends_word).filter(|word| !word.is_empty())
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '‘' | '’' | ':' | ',' | '(' | ')' | '=')
}

/// Closed places that a line names from where a command stands, as people write them in the workspace or below it.
fn relative(line: &str, refusal: &str, closed: &Closed) -> Vec<PathBuf> {
    let is_named = |place: &&PathBuf| insides(place, closed).filter_map(Path::to_str).any(|inside| names(line, inside));
    let found: Vec<PathBuf> = closed.closed.iter().filter(is_named).cloned().collect();
    if found.is_empty() { from_below(line, refusal, closed) } else { found }
}

/// A closed place as it is written in the folders that it lies in.
fn insides<'a>(place: &'a Path, closed: &'a Closed) -> impl Iterator<Item = &'a Path> {
    let inside = closed.writable.iter().filter_map(move |root| place.strip_prefix(root).ok());
    inside.filter(|inside| !inside.as_os_str().is_empty())
}

/// Whether a line names a path or something in it, from where a command stands: no part of another name is meant.
fn names(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let Some((before, rest)) = line.split_at_checked(at) else { return false };
        let before = before.trim_end_matches("../").trim_end_matches("./");
        let after = rest.strip_prefix(path).unwrap_or_default();
        let begins = before.is_empty() || before.ends_with(ends_word);
        begins && (after.is_empty() || after.starts_with('/') || after.starts_with(ends_word))
    })
}

/// The closed places whose last parts a path on the line begins with: whoever stands in a folder below writes them so.
/// A word is taken for a path where it has folders, comes right before the refusal, or comes last after it.
fn from_below(line: &str, refusal: &str, closed: &Closed) -> Vec<PathBuf> {
    let (before, after) = line.split_once(refusal).unwrap_or((line, ""));
    let placed = words_of(before).last().into_iter().chain(words_of(after).last());
    let words = placed.chain(words_of(line).filter(|word| word.contains('/')));
    let paths: Vec<&Path> = words
        .filter(|word| !word.starts_with('/'))
        .map(|word| Path::new(word.trim_start_matches("../").trim_start_matches("./")))
        .collect();
    let fits = |end: &&Path| paths.iter().any(|path| path.starts_with(end));
    let shared = |place: &PathBuf| {
        let fitting = insides(place, closed).flat_map(ends).filter(fits);
        fitting.map(|end| end.components().count()).max().unwrap_or_default()
    };
    let shared: Vec<(usize, &PathBuf)> = closed.closed.iter().map(|place| (shared(place), place)).collect();
    let most = shared.iter().map(|(parts, _)| *parts).max().unwrap_or_default();
    shared.into_iter().filter(|(parts, _)| *parts > 0 && *parts == most).map(|(_, place)| place.clone()).collect()
}

/// A path, and what is left of it without its first parts.
fn ends(path: &Path) -> impl Iterator<Item = &Path> {
    successors(Some(path), |path| {
        let mut parts = path.components();
        parts.next()?;
        Some(parts.as_path()).filter(|rest| !rest.as_os_str().is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed() -> Closed {
        Closed {
            writable: vec!["/w".into(), "/tmp".into()],
            closed: vec!["/w/.git/hooks".into(), "/w/.git/config".into(), "/w/.env".into(), "/h/.ssh".into()],
            network: true,
            read_only: false,
        }
    }

    #[test]
    fn what_the_box_refuses_is_recognised() {
        let open = |path: &str| Some(Denial::Open(path.into()));
        let change = |path: &str| Some(Denial::Change(Some(path.into())));
        for (output, expected) in [
            ("touch: cannot touch '/etc/x': Read-only file system", change("/etc/x")),
            ("sh: 1: cannot create /usr/local/a: Read-only file system\n", change("/usr/local/a")),
            ("cat: /h/.ssh/id_rsa: Permission denied", open("/h/.ssh/id_rsa")),
            ("cat: .env: Permission denied", open("/w/.env")),
            ("error: could not write config file .git/config: Device or resource busy", change("/w/.git/config")),
            ("Error: EROFS: read-only file system, open '/opt/x'", change("/opt/x")),
            // The program that says it is not what it is about.
            ("/usr/bin/bash: line 1: l/f3: Read-only file system", change("l/f3")),
            ("/bin/sh: 1: cannot create /usr/a: Read-only file system", change("/usr/a")),
            ("/usr/bin/touch: cannot touch 'a b': Read-only file system", change("a b")),
            ("/etc/x: Read-only file system", change("/etc/x")),
            ("/usr/bin/bash: line 1: made: Read-only file system", Some(Denial::Change(None))),
            ("fatal: write error: Read-only file system", Some(Denial::Change(None))),
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
            "src/errno.rs:7: no variant EROFS",
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
    fn a_box_that_is_read_only_is_called_so() {
        let narrow =
            Closed { writable: vec!["/tmp".into()], closed: vec!["/w".into()], network: true, read_only: true };
        for (output, path) in [
            ("touch: cannot touch 'made.txt': Read-only file system", Some("made.txt")),
            ("touch: cannot touch '/w/made': Permission denied", Some("/w/made")),
            ("/usr/bin/bash: line 1: made: Read-only file system", None),
        ] {
            assert_eq!(recognise(output, &narrow), Some(Denial::ReadOnly(path.map(PathBuf::from))), "{output}");
        }
        assert_eq!(recognise("cat: /w/x: Permission denied", &narrow), Some(Denial::Open("/w/x".into())));
    }

    #[test]
    fn everything_that_was_refused_is_told_once() {
        let output = "a.txt:1:one\ngrep: ./.env: Permission denied\ngrep: /h/.ssh: Permission denied\n\
            grep: ./.env: Permission denied\ncurl: (6) Could not resolve host: x\n";
        let paths = ["/w/.env", "/h/.ssh"].map(|path| Denial::Open(path.into()));
        assert_eq!(refusals(output, &closed()), [paths.as_slice(), &[Denial::Network]].concat());
        assert_eq!(refusals("a.txt:1:one", &closed()), []);
        // A name that is a part of another is not that one.
        let nested = Closed { closed: vec!["/w/env".into(), "/w/src/env".into()], ..closed() };
        let named = |output: &str| refusals(output, &nested);
        assert_eq!(named("grep: src/env/x: Permission denied"), [Denial::Open("/w/src/env".into())]);
        assert_eq!(named("grep: ./env: Permission denied"), [Denial::Open("/w/env".into())]);
        assert_eq!(named("mv: '/w/env' to '/w/src/env': Permission denied").len(), 2);
    }

    #[test]
    fn a_name_in_another_is_not_meant_and_one_below_a_folder_is() {
        let closed = Closed {
            closed: ["/w/env", "/w/.git/config", "/w/sub/secrets", "/w/a b", "/w/x/key", "/w/y/key"]
                .map(PathBuf::from)
                .to_vec(),
            ..closed()
        };
        let cases: [(&str, &[&str]); 11] = [
            ("cat: environment.txt: Permission denied", &[]),
            ("cat: src/environment/x: Permission denied", &[]),
            ("cat: /other/env/x: Permission denied", &[]),
            ("error: could not read config file app.toml: Permission denied", &[]),
            ("cat: ../env: Permission denied", &["/w/env"]),
            ("cat: 'a b/c': Permission denied", &["/w/a b"]),
            // After `cd sub`.
            ("grep: secrets: Permission denied", &["/w/sub/secrets"]),
            ("grep: ./secrets/x: Permission denied", &["/w/sub/secrets"]),
            ("PermissionError: [Errno 13] Permission denied: 'secrets/x'", &["/w/sub/secrets"]),
            // Nobody knows which.
            ("cat: key: Permission denied", &["/w/x/key", "/w/y/key"]),
            ("cat: y/key: Permission denied", &["/w/y/key"]),
        ];
        for (line, named) in cases {
            let named: Vec<Denial> = named.iter().map(|path| Denial::Open(path.into())).collect();
            assert_eq!(refusals(line, &closed), named, "{line}");
        }
    }

    #[test]
    fn what_went_round_what_is_closed_printed_more_than_complaints() {
        for (output, rest) in [
            ("a.txt:1:one\ngrep: .env: Permission denied\n", true),
            ("cat: .env: Permission denied\n", false),
            ("tar: .env: Cannot open: Permission denied\ntar: Exiting with failure status\n\n", false),
            ("copied a\ncp: cannot create regular file '.env': Permission denied\n", false),
            ("copied a\ncp: .env/a: Read-only file system\n", false),
        ] {
            assert_eq!(did_the_rest(output, &closed()), rest, "{output}");
        }
    }
}
