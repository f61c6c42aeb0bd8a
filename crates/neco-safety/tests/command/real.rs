//! What the judge calls safe is really run: in a box full of traps, none of which may spring.
//!
//! Variables and files hold text that turns into commands where it is worked out; folders hold programs
//! and repositories that leave a mark where they are used; secrets hold a text that must not be printed.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use neco_proto::Risk;
use neco_safety::command::examine;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::table::{lines, place};

/// Stands in every file that must not be read.
const SECRET: &str = "THE-SECRET-ITSELF";
/// Becomes a command where the shell works out a value.
const TRAP: &str = "a[$(touch /marks/worked-out)]";

/// The folders that the box is made of.
struct Traps {
    folder: tempfile::TempDir,
}

impl Traps {
    fn lay() -> Self {
        let traps = Self { folder: tempfile::tempdir().unwrap() };
        for (file, text) in [
            ("home/me/app/Cargo.toml", "[package]\n"),
            ("home/me/app/a.txt", TRAP),
            ("home/me/app/b.txt", "touch /marks/ran\n"),
            ("home/me/app/payload", TRAP),
            ("home/me/app/src/main.rs", "fn main() {} // TODO\n"),
            ("home/me/app/x.json", "{\"a\": {\"b\": 1}}"),
            ("home/me/app/.env", SECRET),
            ("home/me/app/id_rsa", SECRET),
            ("home/me/.ssh/id_rsa", SECRET),
            ("home/me/x", SECRET),
            ("home/other/file", SECRET),
            ("home/me/app/evil/HEAD", "ref: refs/heads/main\n"),
            ("home/me/app/evil/objects/x", ""),
            ("home/me/app/evil/refs/x", ""),
            (
                "home/me/app/evil/config",
                "[core]\nbare = false\nworktree = .\nfsmonitor = \"touch /marks/asked;false\"\n",
            ),
            ("marks/.keep", ""),
        ] {
            traps.write(file, text);
        }
        for program in ["ls", "cat", "date", "git"] {
            traps.program(&format!("w/evil/{program}"));
            traps.program(&format!("home/me/app/{program}"));
        }
        traps.program("home/me/app/evil.sh");
        let app = traps.folder.path().join("home/me/app");
        for arguments in [
            &["init", "-q", "--template="][..],
            &["add", "Cargo.toml", "src"],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"],
        ] {
            let _ = Command::new("git").args(arguments).current_dir(&app).output();
        }
        traps
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn program(&self, file: &str) {
        self.write(file, "#!/bin/sh\necho > /marks/ran\n");
        fs::set_permissions(self.folder.path().join(file), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a line in the box, with nothing to read.
    fn run(&self, line: &str) -> Option<Output> {
        let mut command = Command::new("timeout");
        command.args(["20", "bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--dev", "/dev"]);
        for name in ["usr", "bin", "lib", "lib64", "sbin", "etc"] {
            let host = Path::new("/").join(name);
            match fs::read_link(&host) {
                Ok(target) => command.arg("--symlink").args([target.as_path(), &host]),
                Err(_) => command.arg("--ro-bind-try").args([&host, &host]),
            };
        }
        for name in ["home", "w", "marks"] {
            command.arg("--bind").args([self.folder.path().join(name), Path::new("/").join(name)]);
        }
        for name in ["x", "y", "n", "f", "i", "FILE"] {
            command.args(["--setenv", name, TRAP]);
        }
        command.args(["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/home/me"]);
        command.args(["--proc", "/proc", "--tmpfs", "/tmp", "--chdir", "/home/me/app", "bash", "-c", line]);
        command.stdin(Stdio::null()).output().ok()
    }

    /// Every file there is with what is in it. Git keeps what it saw in its index.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.folder.path().to_path_buf()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                match entry.file_type().unwrap().is_dir() {
                    true => open.push(entry.path()),
                    false if entry.path().ends_with(".git/index") => {}
                    false => drop(found.insert(entry.path(), fs::read(entry.path()).unwrap_or_default())),
                }
            }
        }
        found
    }
}

#[test]
fn what_is_safe_springs_no_trap() {
    let traps = Traps::lay();
    if !traps.run("true").is_some_and(|output| output.status.success()) {
        println!("skipped: there is no bwrap that works here");
        return;
    }
    assert!(traps.run("echo $((x))").is_some() && traps.files().keys().any(|path| path.ends_with("worked-out")));
    fs::remove_file(traps.folder.path().join("marks/worked-out")).unwrap();
    let before = traps.files();
    let mut count = 0;
    for (_, line) in lines().filter(|(rating, _)| *rating == "safe") {
        let output = traps.run(&line).unwrap();
        let printed = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&printed).contains(SECRET), "{line:?} prints a secret");
        let after = traps.files();
        let changed: Vec<_> = after.iter().filter(|(path, text)| before.get(*path) != Some(*text)).collect();
        assert!(changed.is_empty() && after.len() == before.len(), "{line:?} changes {changed:?}");
        count += 1;
    }
    println!("{count} lines were run");
    assert!(count > 150, "{count}");
}

#[test]
fn a_script_for_sed_that_is_safe_runs_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let marked = folder.path().join("marked");
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::write(folder.path().join("bin/p"), "#!/bin/sh\necho > \"$MARKED\"\n").unwrap();
    fs::set_permissions(folder.path().join("bin/p"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path().join("input"), "p\nx\n/p/\n").unwrap();
    let Some(sed) = ["/usr/bin/sed", "/bin/sed"].into_iter().find(|path| Path::new(path).exists()) else {
        println!("skipped: there is no sed here");
        return;
    };
    let run = |script: &str| {
        let mut command = Command::new(sed);
        command.args([script, "input"]).current_dir(folder.path()).env("PATH", folder.path().join("bin"));
        command.env("MARKED", &marked).stdin(Stdio::null()).output().unwrap()
    };
    let names = || fs::read_dir(folder.path()).unwrap().count();
    let before = names();
    run("s/^[x]*/p/e");
    if names() == before {
        println!("skipped: this sed runs no commands");
        return;
    }
    fs::remove_file(&marked).unwrap();
    let piece = prop::sample::select(vec![
        "s", "/", "[", "]", "^", "*", "p", "e", ";", "w", "x", " ", ",", "1", "{", "}", "!", "\\", "I", "|", "[^",
        "[:", ":]", "&", "s/p/p/", "s/[", "]*/", "/e", "/;e",
    ]);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(2000) });
    let scripts = prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.concat());
    runner
        .run(&scripts, |script| {
            if examine(&format!("sed '{script}' a.txt"), &place()).risk != Risk::Safe {
                return Ok(());
            }
            run(&script);
            prop_assert!(names() == before, "{script:?}");
            Ok(())
        })
        .unwrap();
}
