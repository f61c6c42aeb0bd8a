//! What is kept stays where it belongs: messages without changes, moved folders, removed sessions.

use std::fs;

use serde_json::json;

use crate::support::{House, Ran, call, say};

fn write(path: &str, content: &str) -> serde_json::Value {
    call("write_file", json!({ "path": path, "content": content }))
}

fn begun(house: &House, words: &str) -> String {
    let ran = house.run(&["-m", words, "--yes", "--output-format", "json"]).ended_with(0);
    ran.json()["session_id"].as_str().unwrap().to_owned()
}

#[test]
fn a_message_that_changed_nothing_goes_back_to_what_was_there_when_it_was_said() {
    let house = House::playing(json!([write("k.txt", "k"), say("Done.")]));
    let id = begun(&house, "write k");
    house.script("script.json", json!([say("An answer.")]));
    house.run(&["-m", "a question", "--continue"]).ended_with(0);
    let file = house.project().join("k.txt");
    fs::write(&file, "by hand").unwrap();
    house.script("script.json", json!([write("new.txt", "n"), say("Done.")]));
    house.run(&["-m", "a new file", "--continue", "--yes"]).ended_with(0);
    let back = ["session", "rewind", &id, "--to", "2", "--files"];
    let looked = house.run(&[&back[..], &["--dry-run"]].concat()).ended_with(0);
    let stays = "changed only by you or another program, so they stay as they are now: k.txt";
    looked.says("deleted   new.txt").says("1 file would change").says(stays);
    let looked = house.run(&[&back[..], &["--dry-run", "--others"]].concat()).ended_with(0);
    looked.says("changed   k.txt").says("deleted   new.txt");
    house.run(&[&back[..], &["--yes", "--others"]].concat()).ended_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "k");
    // What the work left can be had back too, and so can any state by its name.
    fs::remove_file(&file).unwrap();
    house.run(&["session", "rewind", &id, "--to", "end", "--yes", "--others"]).ended_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), "by hand");
    assert!(house.project().join("new.txt").exists());
    house.run(&["session", "diff", &id, "end"]).ended_with(0).says("nothing changed");
}

#[test]
fn a_file_that_a_rewind_left_is_not_deleted_by_the_next_one() {
    let house = House::playing(json!([write("a.txt", "a"), say("Done.")]));
    let id = begun(&house, "write a");
    let (file, notes) = (house.project().join("a.txt"), house.project().join("notes.txt"));
    fs::write(&notes, "mine\n").unwrap();
    house.run(&["session", "rewind", &id, "--to", "1", "--files", "--yes"]).ended_with(0);
    assert!(!file.exists() && notes.exists());
    house.script("script.json", json!([say("An answer.")]));
    house.run(&["-m", "a question", "--continue"]).ended_with(0);
    house.script("script.json", json!([call("bash", json!({ "command": "echo more >> notes.txt" })), say("Done.")]));
    house.run(&["-m", "add to the notes", "--continue", "--yes"]).ended_with(0);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine\nmore\n");
    house.run(&["session", "rewind", &id, "--to", "2", "--files", "--yes"]).ended_with(0);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "mine\n");
}

#[test]
fn what_a_person_put_back_into_an_earlier_state_is_not_overwritten_unasked() {
    let appends = json!([call("bash", json!({ "command": "echo agent >> both.txt" })), say("Done.")]);
    let house = House::playing(appends.clone());
    let files = ["both.txt", "branch.txt"].map(|name| house.project().join(name));
    let switch = |branch: &str| files.iter().for_each(|file| fs::write(file, branch).unwrap());
    switch("main\n");
    let id = begun(&house, "on one branch");
    switch("feature\n");
    house.script("script.json", appends);
    house.run(&["-m", "on another one", "--continue", "--yes"]).ended_with(0);
    switch("main\n");
    let back = ["session", "rewind", &id, "--to", "2", "--files", "--yes"];
    house.run(&back).ended_with(2).says("changed since by you or another program: both.txt").says("--others");
    assert!(files.iter().all(|file| fs::read_to_string(file).unwrap() == "main\n"));
}

#[test]
fn what_is_no_part_of_checkpoints_is_named_before_going_back() {
    let house = House::playing(json!([
        call("bash", json!({ "command": "echo 2 >> ign/i.txt; echo x > a.txt; mkdir made; echo y > made/m.txt" })),
        say("Done.")
    ]));
    for folder in ["ign", "untouched"] {
        fs::create_dir(house.project().join(folder)).unwrap();
        fs::write(house.project().join(folder).join("i.txt"), "1\n").unwrap();
    }
    fs::write(house.project().join(".ignored"), "").unwrap();
    fs::write(house.project().join(".gitignore"), "ign/\nmade/\nuntouched/\n").unwrap();
    let id = begun(&house, "change both");
    let looked = house
        .run(&["session", "rewind", &id, "--to", "1", "--dry-run"])
        .ended_with(0)
        .says("deleted   a.txt")
        .says("ign has a file in it that was changed since and can't come back")
        .says("no part of checkpoints, so they stay as they are now: made");
    assert!(!format!("{}{}", looked.stdout, looked.stderr).contains("untouched"), "nothing was done to it");
}

#[test]
fn a_session_whose_folder_was_moved_does_not_work_on_another_one_in_its_place() {
    let house = House::playing(json!([write("k.txt", "k"), say("Done.")]));
    let id = begun(&house, "write k");
    let (project, moved) = (house.project(), house.path("moved"));
    fs::rename(&project, &moved).unwrap();
    fs::create_dir(&project).unwrap();
    fs::write(project.join("unrelated.txt"), "other").unwrap();
    let there = |arguments: &[&str]| Ran::of(&mut house.neco_in(arguments, &moved));
    there(&["session", "rewind", &id, "--to", "1", "--yes"]).ended_with(0).says("was moved");
    assert!(house.project().join("unrelated.txt").exists() && !moved.join("k.txt").exists());
    there(&["session", "list"]).ended_with(0).says("write k");
    house.run(&["session", "list"]).ended_with(0).says("no sessions in this folder");
}

#[test]
fn sessions_are_found_from_a_folder_below() {
    let house = House::playing(json!([say("Done.")]));
    let project = house.project();
    let below = project.join("src/deep");
    fs::create_dir_all(&below).unwrap();
    begun(&house, "at the top");
    let there = |arguments: &[&str]| Ran::of(&mut house.neco_in(arguments, &below));
    there(&["session", "list"]).ended_with(0).says("no sessions in this folder");
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    there(&["session", "list"]).ended_with(0).says("at the top");
    there(&["-m", "more", "--continue"]).ended_with(0).says("The session works in its own folder");
}

#[test]
fn without_words_a_session_that_is_done_is_not_asked_to_go_on() {
    let house = House::playing(json!([say("Done.")]));
    let id = begun(&house, "a question");
    house.run(&["session", "resume", &id]).ended_with(2).says("has nothing left to continue");
    house.run(&["session", "resume", &id, "and", "more"]).ended_with(0);
}

#[test]
fn another_title_is_no_use_and_the_newest_of_each_folder_stay() {
    let house = House::playing(json!([say("Done.")]));
    let (older, newer) = (begun(&house, "older"), begun(&house, "newer"));
    house.run(&["session", "rename", &older, "renamed"]).ended_with(0);
    let listed = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed[0]["id"].as_str(), Some(newer.as_str()));
    let other = house.path("other");
    fs::create_dir(&other).unwrap();
    Ran::of(&mut house.neco_in(&["-m", "elsewhere"], &other)).ended_with(0);
    house.run(&["session", "prune", "--keep", "1", "--dry-run"]).ended_with(0).says("renamed").says("1 session would");
    house.run(&["session", "prune", "--keep", "1", "--yes"]).ended_with(0).says("renamed").says("1 session deleted");
    house.run(&["session", "list", "--all"]).ended_with(0).says("newer").says("elsewhere");
}

#[test]
fn words_of_a_removed_session_are_in_no_file_of_the_store() {
    let house = House::playing(json!([say("It is noted.")]));
    let id = begun(&house, "the password is zebraquux");
    house.run(&["session", "search", "zebraquux"]).ended_with(0).says("zebraquux");
    house.run(&["session", "rm", &id, "--yes"]).ended_with(0).says("1 session deleted");
    for file in
        fs::read_dir(house.path("home/data")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"zebraquux"), "{}", file.display());
    }
}

#[test]
fn doctor_finds_a_damaged_store() {
    let house = House::playing(json!([say("Done.")]));
    begun(&house, "something");
    house.run(&["doctor"]).says("free on its disk");
    let store = fs::read_dir(house.path("home/data")).unwrap().map(|entry| entry.unwrap().path());
    let store = store.into_iter().find(|path| path.ends_with("neco.db")).unwrap();
    let mut bytes = fs::read(&store).unwrap();
    let last = bytes.len() - 4096;
    bytes[last..].fill(0x55);
    fs::write(&store, bytes).unwrap();
    house.run(&["doctor"]).says("damaged");
}

#[test]
fn what_was_read_and_written_is_known_in_the_next_run() {
    let house = House::playing(json!([
        write("new.txt", "one\n"),
        call("read_file", json!({ "path": "old.txt" })),
        say("Done.")
    ]));
    let (new, old) = (house.project().join("new.txt"), house.project().join("old.txt"));
    fs::write(&old, "old\n").unwrap();
    let id = begun(&house, "write and read");
    let again = json!([write("new.txt", "two\n"), write("old.txt", "two\n"), say("Done.")]);
    house.script("script.json", again.clone());
    house.run(&["-m", "again", "--continue", "--yes"]).ended_with(0);
    assert_eq!(
        (fs::read_to_string(&new).unwrap(), fs::read_to_string(&old).unwrap()),
        ("two\n".into(), "two\n".into())
    );
    // A fork knows what was known there, and nobody knows what somebody else did meanwhile.
    fs::write(&old, "by hand\n").unwrap();
    house.run(&["session", "fork", &id, "--name", "fork"]).ended_with(0);
    house.script("script.json", json!([write("new.txt", "three\n"), write("old.txt", "three\n"), say("Done.")]));
    house.run(&["-m", "once more", "--continue", "--yes"]).ended_with(0).says("(2006)");
    assert_eq!(fs::read_to_string(&new).unwrap(), "three\n");
    assert_eq!(fs::read_to_string(&old).unwrap(), "by hand\n");
}

#[test]
fn an_export_brings_big_outputs_along_and_goes_on_where_it_was_cut() {
    let big = "for i in $(seq 1 20000); do echo line $i of a long output; done";
    let house = House::playing(json!([call("bash", json!({ "command": big })), say("Done.")]));
    let id = begun(&house, "a long output");
    let whole = house.path("whole.jsonl");
    house.run(&["session", "export", &id, "-o", whole.to_str().unwrap()]).ended_with(0);
    let lines = fs::read_to_string(&whole).unwrap();
    assert!(lines.contains("neco_output") && lines.contains("line 20000 of a long output"));
    let elsewhere = House::playing(json!([say("Done.")]));
    let part = elsewhere.path("part.jsonl");
    let kept: Vec<&str> = lines.lines().take(12).collect();
    fs::write(&part, kept.join("\n") + "\n").unwrap();
    elsewhere.run(&["session", "import", part.to_str().unwrap()]).ended_with(0).says("are missing");
    elsewhere.run(&["session", "import", whole.to_str().unwrap()]).ended_with(0).says("were added");
    elsewhere.run(&["session", "import", whole.to_str().unwrap()]).ended_with(0).says("already imported");
    let log = elsewhere.run(&["session", "log", &id, "--json"]).ended_with(0);
    let spilled = log.events().into_iter().find_map(|event| event["spilled_to"].as_str().map(str::to_owned)).unwrap();
    assert!(spilled.starts_with(elsewhere.path("home").to_str().unwrap()), "{spilled}");
    assert!(fs::read_to_string(spilled).unwrap().contains("line 20000 of a long output"));
}

#[test]
fn a_store_that_can_not_be_written_is_read() {
    let house = House::playing(json!([say("Done.")]));
    let id = begun(&house, "something to find");
    house.run(&["session", "list", "--json"]).ended_with(0).says("at_rest");
    let backup = house.path("backup");
    fs::create_dir_all(backup.join("data")).unwrap();
    fs::copy(house.path("home/data/neco.db"), backup.join("data/neco.db")).unwrap();
    let read_only = |folder: &std::path::Path, mode| {
        fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    };
    read_only(&backup.join("data"), 0o500);
    // Who may write everywhere can't try this.
    if fs::write(backup.join("data/probe"), "").is_err() {
        let there = |arguments: &[&str]| Ran::of(house.neco(arguments).env("NECO_HOME", &backup));
        there(&["session", "list"]).ended_with(0).says("something to find").says("read from a copy");
        there(&["session", "export", &id]).ended_with(0).says("something to find");
        there(&["session", "rename", &id, "x"]).ended_with(1);
    }
    read_only(&backup.join("data"), 0o700);
}
