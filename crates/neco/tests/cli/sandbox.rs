//! The box that commands run in, from the outside.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::approvals::Seat;
use crate::support::{House, Ran, call, say};

/// Whether the strong box can be had here; said where not.
pub fn is_strong(house: &House) -> bool {
    let report = house.run(&["doctor"]).stdout;
    let strong = report.contains("strong: workspace_write");
    if !strong {
        eprintln!("skipped: no strong sandbox here:\n{report}");
    }
    strong
}

/// A house whose model runs a script: what it does is hidden from whoever looks at the command.
fn running(script: &str, more: Value) -> House {
    let mut arguments = json!({ "command": "sh go.sh" });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let house = House::playing(json!([call("bash", arguments), say("done")]));
    std::fs::write(house.path("project/go.sh"), script).unwrap();
    house
}

fn result(ran: &Ran) -> Value {
    ran.events().into_iter().find(|event| event["type"] == "tool_call_end").unwrap()
}

#[test]
fn a_command_writes_to_the_workspace_and_nowhere_else() {
    let house = running("echo in >inside; echo out >../outside; cat ~/config.toml; ls -A", json!({}));
    if !is_strong(&house) {
        return;
    }
    let ran = house.run(&["--yes", "--output-format", "stream-json", "-m", "x"]).ended_with(0);
    let start = ran.events().into_iter().find(|event| event["type"] == "session_start").unwrap();
    assert_eq!(start["sandbox"], "strong: workspace_write, network off");
    assert!(house.path("project/inside").is_file(), "{}", ran.stdout);
    assert!(!house.path("outside").exists(), "{}", ran.stdout);
    assert!(!ran.stdout.contains("type = \\\"scripted"), "our settings were read: {}", ran.stdout);
    let left = std::fs::read_dir(house.project()).unwrap().count();
    assert_eq!(left, 2, "something was left in the project");
}

#[test]
fn what_the_box_stops_is_told_with_its_code() {
    let house = running("touch /etc/neco-door-test", json!({}));
    if !is_strong(&house) {
        return;
    }
    let ran = house.run(&["--yes", "--output-format", "stream-json", "-m", "x"]);
    let end = result(&ran);
    assert!(end.to_string().contains("3003"), "{end}");
    assert!(!Path::new("/etc/neco-door-test").exists());
    // The person may have no box at all.
    let full = house.run(&["--yes", "--sandbox", "full", "--output-format", "stream-json", "-m", "x"]);
    assert!(full.stdout.contains("none: sandbox.level is full"), "{}", full.stdout);
    let _ = std::fs::remove_file("/etc/neco-door-test");
}

#[test]
fn leaving_the_box_needs_a_person_also_with_yes() {
    for wish in ["network", "unsandboxed"] {
        let house = running("echo out >../outside", json!({ wish: true }));
        if !is_strong(&house) {
            return;
        }
        let ran = house.run(&["--yes", "--output-format", "stream-json", "-m", "x"]);
        assert!(result(&ran).to_string().contains("person"), "{}", ran.stdout);
        assert!(!house.path("outside").exists());
    }
}

#[test]
fn a_yes_opens_what_the_line_names_and_nothing_else() {
    let wanted = json!({ "say": "Finished.", "expect": { "last_tool_contains": "colour=blue" } });
    let line = "cat .env; cat other/.env || echo closed";
    let house = House::playing(json!([call("bash", json!({ "command": "cat .env; sh look" })), wanted]));
    if !is_strong(&house) {
        return;
    }
    std::fs::create_dir(house.project().join("other")).unwrap();
    for (path, text) in [(".env", "colour=blue\n"), ("other/.env", "colour=red\n"), ("look", line)] {
        std::fs::write(house.project().join(path), text).unwrap();
    }
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    let asked = seat.shown().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(asked.contains("your yes lets this one command read"), "{asked}");
    seat.press("y");
    seat.sees("Finished.", 1);
    seat.ends_with(0);
    assert!(seat.shown().contains("closed") && !seat.shown().contains("colour=red"), "{}", seat.shown());
}

#[test]
fn settings_that_a_command_made_are_put_aside_and_both_are_told() {
    let house = running("echo '{}' >.mcp.json; ls -A", json!({}));
    if !is_strong(&house) {
        return;
    }
    let ran = house.run(&["--yes", "--output-format", "stream-json", "-m", "x"]);
    let told = result(&ran).to_string();
    assert!(told.contains(".mcp.json: it was put aside"), "{told}");
    assert!(ran.stdout.contains("3003"), "{}", ran.stdout);
    assert!(!house.project().join(".mcp.json").exists() && house.project().join(".mcp.json.refused-1").exists());
}

#[test]
fn less_than_what_is_required_is_refused_and_less_than_strong_is_said() {
    // What is asked elsewhere is not remembered here.
    if !is_strong(&running("true", json!({}))) {
        return;
    }
    let house = running("true", json!({}));
    // A PATH without bubblewrap, and no namespaces for anybody.
    let programs = house.path("programs");
    std::fs::create_dir(&programs).unwrap();
    for name in ["sh", "bash", "true"] {
        let found = ["/bin", "/usr/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|path| path.exists());
        std::os::unix::fs::symlink(found.unwrap(), programs.join(name)).unwrap();
    }
    let without = |arguments: &[&str]| Ran::of(&mut without_namespaces(house.neco(arguments).env("PATH", &programs)));
    without(&["--yes", "-c", "sandbox.required=true", "-m", "x"]).ended_with(1).says("bwrap").says("neco doctor");
    let weaker = without(&["--yes", "--output-format", "stream-json", "-m", "x"]);
    let start = weaker.events().into_iter().find(|event| event["type"] == "session_start").unwrap();
    let words = start["sandbox"].as_str().unwrap().to_owned();
    assert!(words.starts_with("weaker") || words.starts_with("none"), "{words}");
    without(&["doctor"]).says("bubblewrap (bwrap) is not installed");
}

/// The same command where no namespaces can be made.
fn without_namespaces(command: &Command) -> Command {
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let mut wrapped = Command::new("/usr/bin/unshare");
    wrapped.args(["--user", "--map-root-user", "/bin/sh", "-c", script, "sh"]);
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    wrapped
}

/// What a repository in the repository names is started by whoever looks into it: by our own git, too.
#[test]
fn the_git_of_a_worktree_starts_nothing_outside_of_the_box() {
    let plant = "set -e; git init -q sub; echo 1 >sub/f; git -C sub add f; \
        git -C sub -c user.name=a -c user.email=a@b commit -qm x; git add sub 2>/dev/null; \
        printf '[filter \"x\"]\\nclean=%s\\n' \"$EVIL\" >>sub/.git/config; echo '* filter=x' >sub/.git/info/attributes; \
        touch -d yesterday sub/f; echo two >b.txt";
    let house = House::playing(json!([call("bash", json!({ "command": "sh ./go.sh" })), say("Done.")]));
    if !is_strong(&house) {
        return;
    }
    let project = house.project();
    let evil = house.path("evil.sh");
    std::fs::write(&evil, format!("#!/bin/sh\ntouch {}\ncat\n", house.path("ran").display())).unwrap();
    std::fs::set_permissions(&evil, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let script = plant.replace("$EVIL", &evil.display().to_string());
    std::fs::write(project.join("go.sh"), &script).unwrap();
    let git = |words: &[&str]| {
        let name = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let done = std::process::Command::new("git").args(name).args(words).current_dir(&project).output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "one"]);
    let ran = house.run(&["-m", "go", "--yes", "--worktree"]).ended_with(0).says("git merge neco/");
    assert!(!house.path("ran").exists(), "a program of the command's ran outside: {}", ran.stderr);
    let branch = git(&["branch", "--list", "neco/*", "--format=%(refname:short)"]);
    assert_eq!(git(&["show", &format!("{branch}:b.txt")]), "two", "what commands wrote in the worktree comes back");
    // Planted by somebody else, in the person's own tree: looking for what is not committed starts it no more.
    let planted = std::process::Command::new("sh").args(["-c", &script]).current_dir(&project).status().unwrap();
    assert!(planted.success());
    std::fs::remove_file(house.path("ran")).ok();
    house.script("script.json", json!([say("Nothing.")]));
    house.run(&["-m", "go", "--yes", "--worktree"]).ended_with(0).says("not committed");
    assert!(!house.path("ran").exists(), "a program of the repository's ran outside");
}

#[test]
fn what_is_explained_is_what_happens() {
    let house = House::playing(json!([say("x")]));
    if !is_strong(&house) {
        return;
    }
    for (more, decided) in [("", "allow"), (r#","network":true"#, "ask"), (r#","unsandboxed":true"#, "ask")] {
        let call: Value = serde_json::from_str(&format!(r#"{{"command":"make"{more}}}"#)).unwrap();
        let explained = house.run(&["policy", "explain", "bash", &call.to_string(), "--approval", "auto"]).stdout;
        assert!(explained.contains(decided), "{call}: {explained}");
        house.script("script.json", json!([{ "calls": [{ "name": "bash", "arguments": call }] }, say("done")]));
        let ran = house.run(&["--yes", "--output-format", "stream-json", "-m", "x"]);
        let refused = result(&ran).to_string().contains("nobody can be asked");
        assert_eq!(refused, decided == "ask", "{call}: {}", result(&ran));
    }
}
