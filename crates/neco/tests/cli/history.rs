//! Each exchange of a session is a commit in the repository of checkpoints, and a session comes back from there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{House, call, say};

fn git(repository: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .arg("--git-dir")
        .arg(repository)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}

/// One more exchange; the first one makes the session.
fn said(house: &House, session: Option<&str>, words: &str, turns: Value) -> String {
    house.script("script.json", turns);
    let mut arguments = vec!["-m", words, "--yes", "--output-format", "json"];
    arguments.extend(session.into_iter().flat_map(|session| ["--session", session]));
    house.run(&arguments).ended_with(0).json()["session_id"].as_str().unwrap().to_owned()
}

fn write(name: &str, content: &str) -> Value {
    json!([call("write_file", json!({ "path": name, "content": content })), say("Done.")])
}

fn history(house: &House, session: &str) -> Value {
    house.run(&["session", "history", session, "--json"]).ended_with(0).json()
}

fn repository(history: &Value) -> PathBuf {
    PathBuf::from(history["repository"].as_str().unwrap())
}

fn told(history: &Value) -> Vec<(u64, &str, bool)> {
    let of = |one: &Value| one["rewound"].as_bool().unwrap();
    let exchanges = history["exchanges"].as_array().unwrap();
    let told = |one| -> (u64, &str, bool) {
        let one: &Value = one;
        (one["number"].as_u64().unwrap(), one["message"].as_str().unwrap(), of(one))
    };
    exchanges.iter().map(told).collect()
}

/// Removes the store of sessions, and leaves that of checkpoints.
fn lose_sessions(repository: &Path) {
    let data = repository.ancestors().nth(3).unwrap();
    for name in fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path()) {
        if name.file_name().unwrap().to_string_lossy().starts_with("neco") && name.is_file() {
            fs::remove_file(name).unwrap();
        }
    }
}

/// All files below a folder, with what they hold.
fn all_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn each_exchange_is_a_commit_with_the_files_and_what_was_said() {
    let house = House::playing(json!([say("unused")]));
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    said(&house, Some(&id), "what is in it?", json!([say("one")]));
    let long = format!("now write b\nand take care of {}", "everything ".repeat(12));
    said(&house, Some(&id), &long, write("b.txt", "two\n"));
    let kept = history(&house, &id);
    let messages = told(&kept);
    assert_eq!(messages[..2], [(1, "write a", false), (2, "what is in it?", false)]);
    assert!(messages[2].1.starts_with("now write b and take care of everything") && messages[2].1.ends_with('…'));
    let store = repository(&kept);

    // Plain git reads it: by whom, when, what, and what changed.
    git(&store, &["fsck", "--strict"]);
    assert_eq!(git(&store, &["log", "--format=%an"]), "Neco\nNeco\nNeco", "without a name it is the last session");
    let branch = format!("session/{id}");
    let subjects = git(&store, &["log", "--format=%s", &branch]);
    assert_eq!(subjects.lines().skip(1).collect::<Vec<_>>(), ["what is in it?", "write a"]);
    assert!(subjects.lines().next().unwrap().chars().count() <= 72);
    let body = git(&store, &["log", "-1", "--format=%b", &branch]);
    assert!(body.contains("and take care of") && body.contains(&format!("Neco-Session: {id}\nNeco-Exchange: 3\n")));
    let changed = |rev: &str| git(&store, &["show", "--name-only", "--format=", rev]);
    assert_eq!(changed(&branch), "conversation/0003.jsonl\nfiles/b.txt");
    assert_eq!(changed(&format!("{branch}~1")), "conversation/0002.jsonl", "a talk changes no files");
    assert_eq!(git(&store, &["show", &format!("{branch}~1:files/a.txt")]), "one");
    let file = git(&store, &["show", &format!("{branch}~1:conversation/0002.jsonl")]);
    assert!(file.contains("what is in it?") && !file.contains("stream_chunk"), "{file}");

    // It is for its owner alone, as the store of sessions is.
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(store.parent().unwrap()), 0o700);

    // A fork goes on from the commit that it was forked after.
    let fork = house.run(&["session", "fork", &id, "--at", "2", "--json"]).ended_with(0).json();
    let fork = fork["id"].as_str().unwrap().to_owned();
    said(&house, Some(&fork), "another way", write("c.txt", "three\n"));
    let base = git(&store, &["merge-base", &branch, &format!("session/{fork}")]);
    assert_eq!(base, git(&store, &["rev-parse", &format!("{branch}~2")]));
    assert_eq!(told(&history(&house, &fork)), [(1, "write a", false), (2, "another way", false)]);

    // Whoever removes a session removes what was said in it, but for what a fork shares.
    house.run(&["session", "rm", &id, "--yes"]).ended_with(0);
    assert!(!git(&store, &["branch", "--list"]).contains(&branch));
    git(&store, &["fsck", "--strict"]);
    let all = git(&store, &["cat-file", "--batch-check", "--batch-all-objects"]);
    for object in all.lines().filter(|line| line.contains(" blob ")) {
        let text = git(&store, &["cat-file", "-p", object.split(' ').next().unwrap()]);
        assert!(!text.contains("what is in it?"), "{text}");
    }
    assert_eq!(told(&history(&house, &fork)).len(), 2);
}

#[test]
fn a_rewind_is_a_branch_and_taking_it_back_goes_on_where_it_was() {
    let house = House::playing(json!([say("unused")]));
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    said(&house, Some(&id), "in redis", write("a.txt", "redis\n"));
    house.run(&["session", "rewind", &id, "--to", "2", "--yes"]).ended_with(0);
    assert_eq!(told(&history(&house, &id)), [(1, "write a", false), (2, "in redis", true)], "at once");
    said(&house, Some(&id), "in a file", write("a.txt", "file\n"));
    let kept = history(&house, &id);
    assert_eq!(told(&kept), [(1, "write a", false), (2, "in redis", true), (2, "in a file", false)]);
    let store = repository(&kept);
    let (branch, rewound) = (format!("session/{id}"), format!("rewound/{id}-1"));
    assert_eq!(git(&store, &["log", "--format=%s", &branch]), "in a file\nwrite a");
    assert_eq!(git(&store, &["log", "--format=%s", &rewound]), "in redis\nwrite a");
    assert_eq!(git(&store, &["show", &format!("{branch}:files/a.txt")]), "file");
    assert_eq!(git(&store, &["show", &format!("{rewound}:files/a.txt")]), "redis");
    house.run(&["session", "history", &id]).ended_with(0).says("- 2").says("in redis");

    house.run(&["session", "rewind", &id, "--undo", "--yes"]).ended_with(0);
    assert_eq!(told(&history(&house, &id)), [(1, "write a", false), (2, "in redis", false), (2, "in a file", true)]);
    said(&house, Some(&id), "with a test", json!([say("Yes.")]));
    assert_eq!(git(&store, &["log", "--format=%s", &branch]), "with a test\nin redis\nwrite a");
    assert_eq!(git(&store, &["log", "--all", "--format=%s", "--", "conversation"]).lines().count(), 4);
    git(&store, &["fsck", "--strict"]);
}

#[test]
fn a_session_comes_back_without_the_store_of_sessions() {
    let house = House::playing(json!([say("unused")]));
    let key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz-AbCdEfGhIjKlMnAA";
    let id = said(&house, None, &format!("the key is {key}, write a"), write("a.txt", "one\n"));
    said(&house, Some(&id), "and b", write("b.txt", "two\n"));
    let kept = history(&house, &id);
    let shown = git(&repository(&kept), &["log", "-p", "--all"]);
    assert!(!shown.contains("AbCdEfGhIjKl") && shown.contains("and b"));
    house.run(&["session", "restore", &id]).ended_with(0).says("already");

    lose_sessions(&repository(&kept));
    house.run(&["session", "show", &id]).ended_with(2);
    house.run(&["session", "restore"]).ended_with(0).says("2 exchanges").says("and b");
    house.run(&["session", "restore", "0123456789"]).says("neco session restore").ended_with(2);
    house.run(&["session", "restore", &id]).ended_with(0).says("what is not in it").says("neco resume");
    house.run(&["session", "show", &id]).ended_with(0).says("write a").says("and b");
    assert_eq!(told(&history(&house, &id)).len(), 2, "what it was restored from is there once");

    // It goes on with its conversation, its files, and its commits.
    let turns = json!([{ "say": "Still here.", "expect": { "last_user_contains": "and now?" } }]);
    said(&house, Some(&id), "and now?", turns);
    let messages: Vec<String> = told(&history(&house, &id)).iter().map(|(_, said, _)| (*said).to_owned()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    house.run(&["session", "rewind", &id, "--to", "2", "--files", "--yes"]).ended_with(0);
    assert!(!house.project().join("b.txt").exists() && house.project().join("a.txt").exists());

    // Any exchange can be gone on from, as a session of its own.
    let kept = history(&house, &id);
    let first = kept["exchanges"][0]["id"].as_str().unwrap();
    let part = house.run(&["session", "restore", &first[..10], "--json"]).ended_with(0).json();
    assert_ne!(part["session_id"], id.as_str());
    let part = part["session_id"].as_str().unwrap().to_owned();
    let shown = house.run(&["session", "show", &part]).ended_with(0).stdout;
    assert!(shown.contains("write a") && !shown.contains("and b"), "{shown}");
}

#[test]
fn a_part_of_a_lost_session_leaves_the_rest_of_it_to_be_restored() {
    let house = House::playing(json!([say("unused")]));
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    said(&house, Some(&id), "what about the second?", json!([say("It is well.")]));
    said(&house, Some(&id), "what about the third?", json!([say("It is well too.")]));
    let kept = history(&house, &id);
    let (store, branch) = (repository(&kept), format!("session/{id}"));
    let all = git(&store, &["log", "--format=%s", &branch]);
    lose_sessions(&store);
    let middle = kept["exchanges"][1]["id"].as_str().unwrap();
    let part = house.run(&["session", "restore", &middle[..10], "--json"]).ended_with(0).json();
    let part = part["session_id"].as_str().unwrap().to_owned();
    assert_ne!(part, id);
    let shown = house.run(&["session", "show", &part]).ended_with(0).stdout;
    assert!(shown.contains("the second?") && !shown.contains("the third?"), "{shown}");
    assert_eq!(git(&store, &["log", "--format=%s", &branch]), all);

    house.run(&["session", "restore", &id]).ended_with(0).says("neco resume");
    house.run(&["session", "show", &id]).ended_with(0).says("the second?").says("the third?");
    assert_eq!(told(&history(&house, &id)).len(), 3, "what it was restored from is there once");
    assert_eq!(git(&store, &["log", "--format=%s", &branch]), all);

    // Whoever removes it removes what it was restored from, too.
    house.run(&["session", "rm", &id, "--yes"]).ended_with(0);
    assert!(!git(&store, &["branch", "--list"]).contains(&id));
    let objects = git(&store, &["cat-file", "--batch-check", "--batch-all-objects"]);
    for object in objects.lines().filter(|line| line.contains(" blob ")) {
        let text = git(&store, &["cat-file", "-p", object.split(' ').next().unwrap()]);
        assert!(!text.contains("what about the third?"), "{text}");
    }
}

#[test]
fn a_backup_that_is_restored_from_stays_as_it_is() {
    let house = House::playing(json!([say("unused")]));
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    said(&house, Some(&id), "and b", write("b.txt", "two\n"));
    let store = repository(&history(&house, &id));
    let backup = house.path("backup");
    let from = backup.display().to_string();
    assert!(Command::new("cp").arg("-a").arg(store.parent().unwrap()).arg(&backup).status().unwrap().success());
    lose_sessions(&store);
    fs::remove_dir_all(store.parent().unwrap()).unwrap();
    let before = all_files(&backup);
    house.run(&["session", "restore", "--from", &from]).ended_with(0).says("2 exchanges");
    house.run(&["session", "restore", &id, "--from", &from]).ended_with(0).says("neco resume");
    assert_eq!(all_files(&backup), before);
    let branch = format!("session/{id}");
    assert_eq!(git(&backup.join("git"), &["log", "--format=%s", &branch]), "and b\nwrite a");
    house.run(&["session", "show", &id]).ended_with(0).says("write a").says("and b");
    assert_eq!(told(&history(&house, &id)), [(1, "write a", false), (2, "and b", false)], "in the folder's own store");
}

#[test]
fn what_a_kill_kept_from_the_repository_is_there_after_the_next_message() {
    let house = House::playing(json!([say("unused")]));
    let off = house.path("home/config.toml");
    let config = fs::read_to_string(&off).unwrap();
    house.configure(&format!("{config}[checkpoints]\nconversations = false\n"));
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    house.run(&["session", "history", &id]).ended_with(0).says("its next message adds all of it");
    house.configure(&config);
    said(&house, Some(&id), "and b", write("b.txt", "two\n"));
    let kept = history(&house, &id);
    assert_eq!(told(&kept), [(1, "write a", false), (2, "and b", false)]);
    let store = repository(&kept);
    assert_eq!(git(&store, &["ls-tree", "--name-only", &format!("session/{id}~1:files")]), "a.txt");

    // A branch that is lost is written again, under the same names.
    let tip = git(&store, &["rev-parse", &format!("session/{id}~1")]);
    fs::remove_file(store.join("refs/heads/session").join(&id)).unwrap();
    said(&house, Some(&id), "and c", write("c.txt", "three\n"));
    assert_eq!(git(&store, &["rev-parse", &format!("session/{id}~2")]), tip);
}

#[test]
fn with_the_persons_own_repository_what_was_said_stays_out_of_it() {
    let house = House::playing(json!([say("unused")]));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}[checkpoints]\nbackend = \"git\"\n"));
    let project = house.project();
    assert!(Command::new("git").args(["init", "-q"]).current_dir(&project).status().unwrap().success());
    let id = said(&house, None, "write a", write("a.txt", "one\n"));
    let kept = history(&house, &id);
    assert_eq!(told(&kept), [(1, "write a", false)]);
    let store = repository(&kept);
    assert!(store.starts_with(house.path("home").canonicalize().unwrap()) || store.starts_with(house.path("home")));
    assert_eq!(git(&store, &["show", &format!("session/{id}:files/a.txt")]), "one", "it borrows the files");
    let theirs = git(&project.join(".git"), &["for-each-ref", "--format=%(refname)"]);
    assert!(theirs.contains("refs/neco/checkpoints") && !theirs.contains("session"), "{theirs}");
}

#[test]
fn folders_that_were_worked_in_are_listed_the_last_one_first() {
    let house = House::playing(json!([say("Hello.")]));
    let other = house.path("other");
    fs::create_dir(&other).unwrap();
    said(&house, None, "one", json!([say("Hello.")]));
    let there = other.display().to_string();
    house.run(&["-m", "two", "--cwd", &there]).ended_with(0);
    house.run(&["-m", "three", "--cwd", &there]).ended_with(0);
    let found = house.run(&["session", "list", "--folders", "--json"]).ended_with(0).json();
    let told = |at: usize| (found[at]["sessions"].as_u64().unwrap(), found[at]["title"].as_str().unwrap().to_owned());
    assert_eq!((told(0), told(1)), ((2, "three".to_owned()), (1, "one".to_owned())));
    assert_eq!(found[0]["folder"], other.canonicalize().unwrap().display().to_string());
    fs::remove_dir_all(&other).unwrap();
    house.run(&["session", "list", "--folders"]).ended_with(0).says("(gone)");
    // Folders of evaluations are listed as long as they are there.
    let run = house.path("neco-eval-parser-1");
    fs::create_dir(&run).unwrap();
    house.run(&["-m", "four", "--cwd", &run.display().to_string()]).ended_with(0);
    house.run(&["session", "list", "--folders"]).ended_with(0).says("neco-eval-parser-1");
    fs::remove_dir_all(&run).unwrap();
    let listed = house.run(&["session", "list", "--folders", "--limit", "1"]).ended_with(0).says("(gone)");
    assert!(!listed.stdout.contains("neco-eval-parser-1"), "{}", listed.stdout);
}
