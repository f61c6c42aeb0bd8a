//! Tries to get out of the box that it is run in, and to do what must work inside. For tests only.
//!
//! `escape_probe PLACES.json` prints one line of JSON per attempt: its name and whether it succeeded.
//! The same program is the launcher when it is started as one.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "it does on purpose what nothing else may do"
)]

mod escapes;
mod places;
mod system;
mod works;

use std::collections::BTreeSet;

use places::Places;

fn main() {
    neco_sandbox::launcher::become_launcher_if_asked();
    let text = std::env::args().nth(1).unwrap_or_default();
    let places: Places = serde_json::from_str(&text).unwrap();
    let mut names = BTreeSet::new();
    for (kind, attempts) in [("escape", escapes::all()), ("works", works::all())] {
        for (name, attempt) in attempts {
            assert!(names.insert(*name), "{name} is there twice");
            let result = isolated(&places, *attempt);
            println!("{}", serde_json::json!({ "kind": kind, "name": name, "succeeded": result }));
        }
    }
}

/// In a process of its own: an attempt that is killed for trying has failed, and the others go on.
fn isolated(places: &Places, attempt: fn(&Places) -> bool) -> bool {
    // SAFETY: this program has one thread.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let quiet = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
            libc::dup2(quiet, 2);
            let succeeded = std::panic::catch_unwind(|| attempt(places)).unwrap_or(false);
            libc::_exit(if succeeded { 0 } else { 1 });
        }
        let mut status = 0;
        libc::waitpid(child, &raw mut status, 0);
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
    }
}
