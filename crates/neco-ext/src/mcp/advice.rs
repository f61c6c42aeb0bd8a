//! What may help when the program of a server ended before it answered, or when a call of it failed in its box.

use std::path::Path;

use neco_safety::world::denial::{self, Closed, Denial};

use super::settings::ServerProgram;

/// What programs say when they don't find a file.
const MISSING: &[&str] =
    &["No such file or directory", "ENOENT", "Cannot find module", "can't open file", "os error 2"];

/// What is known of the box that a program ran in.
pub(super) struct BoxFacts {
    /// What it closes.
    pub closed: Closed,
    /// Whether it has a `/tmp` of its own.
    pub own_tmp: bool,
}

/// What may help a program that ran in this box and ended after it said this; nothing where nobody can tell. It looks at
/// files.
pub(super) fn advice(program: &ServerProgram, said: &str, facts: &BoxFacts) -> Option<String> {
    let missed = missed(said);
    let is_there = |path: &&str| Path::new(path).exists();
    if let Some(path) = unseen(program, facts).or_else(|| missed.iter().copied().find(is_there)) {
        let own = if facts.own_tmp && path.starts_with("/tmp") { ", which has a /tmp of its own" } else { "" };
        return Some(format!(
            "its box does not show {path}{own}; move it, or `sandbox = false` runs the server without a box"
        ));
    }
    let of_box = denial::refusals(said, &facts.closed).iter().find_map(of_denial);
    of_box.or_else(|| missed.first().map(|path| format!("there is no file {path}")))
}

/// What may help when a call failed with these words in a box that closes this; nothing where nobody can tell. It says
/// none of the words again: they are the server's, and this is read as ours.
pub(super) fn advice_after_call(said: &str, closed: &Closed) -> Option<&'static str> {
    Some(match denial::recognise(said, closed)? {
        Denial::Network | Denial::Host(_) => "it has no network; `network = true` in its settings gives it that",
        Denial::Change(_) | Denial::ReadOnly(_) | Denial::Open(_) => {
            "it closes what the server wanted to open or change; `writable` in its settings opens a folder, and \
             `sandbox = false` runs it without a box"
        }
    })
}

fn of_denial(denial: &Denial) -> Option<String> {
    match denial {
        Denial::Network | Denial::Host(_) => Some(
            "its box has no network, which npx and uvx need to download; `network = true` gives it that".to_owned(),
        ),
        Denial::Change(Some(path)) | Denial::ReadOnly(Some(path)) | Denial::Open(path) => Some(format!(
            "its box closes {}; `writable` opens a folder, and `sandbox = false` runs the server without a box",
            path.display()
        )),
        Denial::Change(None) | Denial::ReadOnly(None) => None,
    }
}

/// A file that the settings name, which is there and which the program can't see.
fn unseen<'a>(program: &'a ServerProgram, facts: &BoxFacts) -> Option<&'a str> {
    let named = std::iter::once(&program.program).chain(&program.arguments).map(String::as_str);
    let hidden = |path: &&str| {
        let path = Path::new(path);
        let told = facts.closed.writable.iter().chain(&facts.closed.closed);
        let is_told = told.filter(|place| *place != "/tmp").any(|place| path.starts_with(place));
        facts.own_tmp && path.starts_with("/tmp") && !is_told && path.exists()
    };
    named.filter(|word| word.starts_with('/')).find(hidden)
}

/// The files that the program says it did not find, one for each line that says so.
fn missed(said: &str) -> Vec<&str> {
    let is_missed = |line: &&str| MISSING.iter().any(|words| line.contains(words));
    said.lines().filter(is_missed).filter_map(missed_in).collect()
}

/// The file that a line says is missing: the one in quotes, or else the last one. Many programs name themselves first.
fn missed_in(line: &str) -> Option<&str> {
    let is_path = |word: &&str| word.len() > 1 && word.starts_with('/');
    let within = |quote: char| line.rsplit_once(quote)?.0.split(quote).skip(1).find(is_path);
    let quoted = ['\'', '"', '`'].into_iter().find_map(within);
    let words = || line.split([' ', ',', '(', ')']).map(|word| word.trim_end_matches([':', ';', '.']));
    quoted.or_else(|| words().rfind(is_path))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn program(line: &[&str]) -> ServerProgram {
        let mut words = line.iter().map(|word| (*word).to_owned());
        ServerProgram::new(words.next().unwrap(), words.collect())
    }

    fn facts(network: bool) -> BoxFacts {
        let writable = vec![PathBuf::from("/srv/one"), PathBuf::from("/tmp")];
        BoxFacts { closed: Closed { writable, network, ..Closed::default() }, own_tmp: true }
    }

    #[test]
    fn what_lies_in_tmp_is_not_seen_in_a_box() {
        let file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
        let path = file.path().to_str().unwrap();
        for line in [&[path][..], &["node", path]] {
            let advice = advice(&program(line), "No such file or directory", &facts(false)).unwrap();
            assert!(advice.contains(path) && advice.contains("`sandbox = false`"), "{advice}");
        }
        let gone = advice(&program(&["/tmp/is-not-there-at-all"]), "No such file or directory", &facts(false));
        assert_eq!(gone, None);
        let weak = BoxFacts { own_tmp: false, ..facts(false) };
        assert_eq!(advice(&program(&[path]), "it broke", &weak), None);
    }

    #[test]
    fn a_file_that_is_there_and_was_not_found_is_not_seen_in_a_box() {
        let file = std::env::current_exe().unwrap();
        let said = format!("Error: Cannot find module '{}'\n    at resolve", file.display());
        let advice = advice(&program(&["node"]), &said, &facts(false)).unwrap();
        assert!(advice.starts_with(&format!("its box does not show {}", file.display())), "{advice}");
    }

    #[test]
    fn a_file_that_is_not_there_is_named_and_not_who_says_so() {
        let runs = std::env::current_exe().unwrap();
        let runs = runs.to_str().unwrap();
        for said in [
            format!("{runs}: can't open file '/srv/is not/there.py': [Errno 2] No such file or directory"),
            "Error: Cannot find module '/srv/is not/there.py'\n    at Module._load (node:internal:1)".to_owned(),
            "Can't open perl script \"/srv/is not/there.py\": No such file or directory".to_owned(),
        ] {
            let helps = advice(&program(&[runs, "/srv/is not/there.py"]), &said, &facts(false));
            assert_eq!(helps.as_deref(), Some("there is no file /srv/is not/there.py"), "{said}");
        }
        let said = format!("{runs}: line 2: /srv/not-there: No such file or directory");
        let helps = advice(&program(&["sh"]), &said, &facts(false));
        assert_eq!(helps.as_deref(), Some("there is no file /srv/not-there"));
        assert_eq!(advice(&program(&["node"]), "Cannot find module 'express'", &facts(false)), None);
    }

    #[test]
    fn a_call_that_its_box_stopped_is_told_what_opens_the_box() {
        let closed = facts(true).closed;
        let erofs = "Error: EROFS: read-only file system, open '/opt/mem/memory.json.tmp'";
        let helps = advice_after_call(erofs, &closed).unwrap();
        assert!(helps.contains("`writable`") && !helps.contains("/opt"), "{helps}");
        let helps = advice_after_call("fetch failed: getaddrinfo ENOTFOUND example.com", &closed).unwrap();
        assert!(helps.contains("`network = true`"), "{helps}");
        assert_eq!(advice_after_call("there is no such issue", &closed), None);
    }

    #[test]
    fn a_name_that_is_not_found_is_for_want_of_a_network_where_there_is_none() {
        for said in [
            "npm error network request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry",
            "npm ERR! code ENOTFOUND\nnpm ERR! getaddrinfo ENOTFOUND registry.npmjs.org",
            "error: Failed to fetch\n  Caused by: Temporary failure in name resolution",
            "connect: Network is unreachable",
        ] {
            let helps = advice(&program(&["npx"]), said, &facts(true)).unwrap();
            assert!(helps.contains("`network = true`"), "{helps}");
            assert_eq!(advice(&program(&["npx"]), said, &facts(false)), None, "it has the network");
        }
    }
}
