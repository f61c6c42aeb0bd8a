//! The folder is kept before something is changed, and a worktree brings its result back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{House, call, say};

fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t", "-C"])
        .arg(folder)
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

fn repository(house: &House) -> PathBuf {
    let project = house.project();
    git(&project, &["init", "-q", "-b", "main"]);
    fs::write(project.join("a.txt"), "one\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "one"]);
    project
}

fn everything(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
    }
    all
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<(usize, &'a Value)> {
    events.iter().enumerate().filter(|(_, event)| event["type"] == kind).collect()
}

#[test]
fn what_a_command_destroyed_comes_back_and_the_repository_is_not_touched() {
    let house = House::playing(json!([
        call("bash", json!({ "command": "rm a.txt; echo new > b.txt" })),
        call("write_file", json!({ "path": "c.txt", "content": "more" })),
        say("Done."),
    ]));
    let project = repository(&house);
    fs::write(project.join("a.txt"), "not committed\n").unwrap();
    let before = everything(&project.join(".git"));
    let ran = house.run(&["-m", "tidy up", "--yes", "--output-format", "stream-json"]).ended_with(0);
    let events = ran.events();
    let (kept, ends) = (of(&events, "checkpoint"), of(&events, "tool_call_end"));
    assert!(kept[0].0 < ends[0].0 && kept[0].1["when"] == "before", "{kept:?}");
    assert_eq!(kept[1].1["when"], "after");
    assert_eq!(kept[1].1["parent"], kept[0].1["rev"]);
    let changed: Vec<&str> =
        kept[1].1["changed"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap()).collect();
    assert_eq!(changed, ["a.txt", "b.txt"]);
    assert!(kept.last().unwrap().0 < of(&events, "agent_complete")[0].0, "all is told before the end of the work");
    let id = events[0]["session_id"].as_str().unwrap();
    house.run(&["session", "rewind", id, "--to", "1", "--files", "--yes"]).ended_with(0);
    assert_eq!(fs::read_to_string(project.join("a.txt")).unwrap(), "not committed\n");
    assert!(!project.join("b.txt").exists() && !project.join("c.txt").exists());
    assert_eq!(everything(&project.join(".git")), before);
    house.run(&["doctor"]).says("checkpoints").says("jj;");
}

#[test]
fn switched_off_nothing_is_kept_and_a_home_folder_is_refused_with_a_word() {
    let turns = json!([call("write_file", json!({ "path": "c.txt", "content": "more" })), say("Done.")]);
    let house = House::playing(turns);
    let off = ["-m", "x", "--yes", "-c", "checkpoints.enabled=false", "--output-format", "stream-json"];
    assert!(of(&house.run(&off).ended_with(0).events(), "checkpoint").is_empty());
    assert!(!house.path("home/data/checkpoints").exists());
    let on = ["-m", "x", "--yes", "--cwd", &house.path("").display().to_string()];
    house.run(&on).says("No checkpoints here");
}

#[test]
fn a_worktree_brings_its_result_back_as_a_branch_and_is_gone_on_with() {
    let house =
        House::playing(json!([call("write_file", json!({ "path": "b.txt", "content": "two\n" })), say("Done.")]));
    let project = repository(&house);
    fs::write(project.join("a.txt"), "not committed\n").unwrap();
    let ran = house.run(&["-m", "Add b", "--yes", "--worktree"]).ended_with(0);
    let branch = git(&project, &["branch", "--list", "neco/*", "--format=%(refname:short)"]);
    assert!(branch.starts_with("neco/add-b-"), "{branch}");
    let ran = ran.says("not committed").says(&format!("git merge {branch}"));
    assert_eq!(git(&project, &["show", &format!("{branch}:b.txt")]), "two");
    assert_eq!(git(&project, &["log", "-1", "--format=%s", &branch]), "Add b");
    assert_eq!(git(&project, &["status", "--porcelain"]), "M a.txt", "the person's tree is as it was");
    house.run(&["session", "list", "--json"]).ended_with(0).says(&branch);
    let at = ran.stderr.split("neco resume ").nth(1).unwrap();
    let id = at.split_whitespace().next().unwrap().to_owned();
    house.script(
        "script.json",
        json!([call("write_file", json!({ "path": "c.txt", "content": "three\n" })), say("Done.")]),
    );
    house.run(&["-m", "and c", "--yes", "--session", &id]).ended_with(0).says(&branch);
    assert_eq!(git(&project, &["show", &format!("{branch}:c.txt")]), "three");
    assert_eq!(git(&project, &["rev-list", "--count", &format!("main..{branch}")]), "2");
}

#[test]
fn looking_at_what_a_session_did_in_a_worktree_that_was_removed_makes_it_not_again() {
    let house =
        House::playing(json!([call("write_file", json!({ "path": "b.txt", "content": "two\n" })), say("Done.")]));
    let project = repository(&house);
    let ran = house.run(&["-m", "Add b", "--yes", "--worktree"]).ended_with(0);
    let id = ran.stderr.split("neco resume ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let listed = git(&project, &["worktree", "list", "--porcelain"]);
    let tree = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).nth(1).unwrap().to_owned();
    git(&project, &["worktree", "remove", &tree]);
    let before = everything(&project.join(".git"));
    let rewinds = ["session", "rewind", &id, "--to", "1", "--files"];
    house.run(&[&rewinds[..], &["--dry-run"]].concat()).ended_with(0).says("worktree was removed").says("b.txt");
    house.run(&["session", "diff", &id]).ended_with(0).says("worktree was removed").says("+two");
    house.run(&["session", "show", &id]).ended_with(0);
    house.run(&["session", "show"]).ended_with(0);
    assert!(!Path::new(&tree).exists(), "nobody works in it");
    assert_eq!(everything(&project.join(".git")), before);
    house.run(&[&rewinds[..], &["--yes"]].concat()).ended_with(0);
    assert!(Path::new(&tree).join("a.txt").exists() && !Path::new(&tree).join("b.txt").exists());
}

#[test]
fn a_worktree_in_which_nothing_changed_is_removed_and_one_needs_a_repository() {
    let house = House::playing(json!([say("Nothing to do.")]));
    house.run(&["-m", "x", "--worktree"]).ended_with(2).says("no git repository");
    let project = repository(&house);
    let ran = house.run(&["-m", "x", "--worktree=patch"]).ended_with(0).says("the worktree was removed");
    assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1);
    assert_eq!(git(&project, &["branch", "--list", "neco/*"]), "");
    // The line that goes on with it works all the same, and so does going on from the project.
    let at = ran.stderr.split("neco resume ").nth(1).unwrap();
    let id = at.split_whitespace().next().unwrap().to_owned();
    house.script("script.json", json!([say("Still nothing.")]));
    house.run(&["-m", "and now?", "--session", &id]).ended_with(0).says("was restored");
    house.run(&["session", "list"]).ended_with(0).says("x");
    house.run(&["-m", "and now?", "--continue"]).ended_with(0).says("was restored");
}

/// How many files of the folder hold `old`, and how many `new`.
fn states(project: &Path) -> (usize, usize) {
    let held: Vec<String> = (0..FILES).map(|n| fs::read_to_string(project.join(format!("f{n:04}"))).unwrap()).collect();
    (held.iter().filter(|text| *text == "old\n").count(), held.iter().filter(|text| *text == "new\n").count())
}

/// So many that a rewind takes long enough to be killed in the middle.
const FILES: usize = 600;

/// Goes back to the old files and is killed with -9 in the middle of it.
fn killed_half_way(house: &House, id: &str) {
    for _ in 0..20 {
        assert_eq!(states(&house.project()), (0, FILES));
        let mut rewind = house.start(&["session", "rewind", id, "--to", "1", "--files", "--yes"]);
        let first = house.project().join("f0000");
        while fs::read_to_string(&first).unwrap() == "new\n" && rewind.try_wait().unwrap().is_none() {}
        rewind.kill().unwrap();
        rewind.wait().unwrap();
        let (old, new) = states(&house.project());
        assert_eq!(old + new, FILES, "every file is whole");
        if new > 0 && old > 0 {
            return;
        }
        // It was done before it was killed.
        house.run(&["session", "rewind", id, "--undo", "--yes"]).ended_with(0);
    }
    panic!("no rewind was killed in the middle");
}

#[test]
fn a_rewind_that_was_killed_is_finished_or_taken_back_and_its_half_is_offered_by_no_undo() {
    let command = format!("for n in $(seq -f %04g 0 {}); do echo new > f$n; done", FILES - 1);
    let house = House::playing(json!([call("bash", json!({ "command": command })), say("Done.")]));
    let project = house.project();
    (0..FILES).for_each(|n| fs::write(project.join(format!("f{n:04}")), "old\n").unwrap());
    let ran = house.run(&["-m", "renew them", "--yes", "--output-format", "json"]).ended_with(0).json();
    let id = ran["session_id"].as_str().unwrap();
    let undo = || house.run(&["session", "rewind", id, "--undo", "--yes"]);
    // Finished: the way back from there leads to what was there before both.
    killed_half_way(&house, id);
    house.run(&["session", "rewind", id, "--to", "1", "--files", "--yes"]).ended_with(0);
    assert_eq!(states(&project), (FILES, 0));
    undo().ended_with(0);
    assert_eq!(states(&project), (0, FILES));
    // Taken back: no undo after that leads to the half of it.
    killed_half_way(&house, id);
    undo().ended_with(0).says("interrupted");
    assert_eq!(states(&project), (0, FILES));
    undo().ended_with(0);
    assert_eq!(states(&project), (FILES, 0));
}
