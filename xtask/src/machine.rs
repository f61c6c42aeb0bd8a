//! What the tests need of the machine, and getting it where that is possible.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::cargo::has_subcommand;
use crate::step::Outcome;

/// A program that tests start, and the Debian package that has it.
struct Program {
    name: &'static str,
    package: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program { name: "cc", package: "build-essential" },
    Program { name: "bash", package: "bash" },
    Program { name: "git", package: "git" },
    Program { name: "kill", package: "procps" },
    Program { name: "bwrap", package: "bubblewrap" },
    Program { name: "python3", package: "python3" },
    Program { name: "pip3", package: "python3-pip" },
    Program { name: "npm", package: "npm" },
    Program { name: "setpriv", package: "util-linux" },
    Program { name: "tmux", package: "tmux" },
    Program { name: "strace", package: "strace" },
    Program { name: "setfacl", package: "acl" },
    Program { name: "setfattr", package: "attr" },
    Program { name: "chromium", package: "chromium" },
];

/// What the toolchain needs besides the compiler: cargo's subcommand and rustup's component.
const COMPONENTS: &[(&str, &str)] = &[("fmt", "rustfmt"), ("clippy", "clippy")];

/// Installs what is missing, as far as this machine lets us. What then still is missing is told, with what it means;
/// in CI (`CI` is set) it is a failure, since tests that need it would only seem to pass.
pub fn set_up(root: &Path) -> Outcome {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let absent = missing(&path);
    if !absent.is_empty() {
        install(&absent);
    }
    let components: Vec<&str> =
        COMPONENTS.iter().filter(|(subcommand, _)| !has_subcommand(root, subcommand)).map(|(_, name)| *name).collect();
    if !components.is_empty() {
        started(Command::new("rustup").args(["component", "add"]).args(&components).current_dir(root));
    }
    let programs = missing(&path).into_iter().map(|program| program.name);
    let components =
        COMPONENTS.iter().filter(|(subcommand, _)| !has_subcommand(root, subcommand)).map(|(_, name)| *name);
    let still: Vec<&str> = programs.chain(components).collect();
    if still.is_empty() {
        return Outcome::Passed;
    }
    match std::env::var_os("CI") {
        Some(_) => Outcome::Failed(format!("missing and not installable from here: {}", still.join(", "))),
        None => Outcome::Noted(format!("tests that need {} are left out: not installable from here", still.join(", "))),
    }
}

/// The programs that no folder of `path` has.
fn missing(path: &OsStr) -> Vec<&'static Program> {
    PROGRAMS
        .iter()
        .filter(|program| !std::env::split_paths(path).any(|folder| folder.join(program.name).is_file()))
        .collect()
}

/// Through apt, as root or with a sudo that does not ask. Whether it worked is looked up afterwards.
fn install(programs: &[&Program]) {
    let Some(prefix) = become_root() else { return };
    let apt = |arguments: &[&str]| {
        let mut words = prefix.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        let Some(first) = words.next() else { return false };
        started(Command::new(first).args(words).args(arguments))
    };
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(programs.iter().map(|program| program.package));
    // The lists of a fresh machine are empty; those of an old one are out of date.
    if apt(&["update"]) {
        apt(&arguments);
    }
}

/// What to put before a command so that root runs it; nothing when there is no way or no apt.
fn become_root() -> Option<&'static [&'static str]> {
    let succeeds = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
        output.ok().filter(|output| output.status.success()).map(|output| output.stdout)
    };
    succeeds("apt-get", &["--version"])?;
    if succeeds("id", &["-u"])?.trim_ascii() == b"0" {
        return Some(&[]);
    }
    succeeds("sudo", &["-n", "true"]).map(|_| ["sudo", "-n"].as_slice())
}

/// Runs a command with its output passed through; says whether it succeeded.
pub fn started(command: &mut Command) -> bool {
    println!("  $ {command:?}");
    command.stdin(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_counts_when_any_folder_of_the_path_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let names = |path: &OsStr| missing(path).iter().map(|program| program.name).collect::<Vec<_>>();
        assert_eq!(
            names(folder.path().as_os_str()),
            [
                "cc", "bash", "git", "kill", "bwrap", "python3", "pip3", "npm", "setpriv", "tmux", "strace", "setfacl",
                "setfattr", "chromium"
            ]
        );
        std::fs::write(folder.path().join("git"), "").unwrap();
        std::fs::create_dir(folder.path().join("bash")).unwrap();
        let path = std::env::join_paths([Path::new("/no/such/folder"), folder.path()]).unwrap();
        assert_eq!(
            names(&path),
            [
                "cc", "bash", "kill", "bwrap", "python3", "pip3", "npm", "setpriv", "tmux", "strace", "setfacl",
                "setfattr", "chromium"
            ]
        );
    }
}
