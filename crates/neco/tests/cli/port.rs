//! Sessions leave as files and come in from files, also those of other agents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::approvals::Seat;
use crate::support::{House, Ran, call, say};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sessions").join(name)
}

/// A house with a session in which a file was written, and its id.
fn with_session() -> (House, String) {
    let house = House::playing(json!([
        call("write_file", json!({ "path": "a.txt", "content": "<script>alert(1)</script>\n" })),
        say("Written: **a.txt**."),
    ]));
    let ran = house.run(&["-m", "write a <b>file</b>", "--yes", "--output-format", "json"]).ended_with(0).json();
    let id = ran["session_id"].as_str().unwrap().to_owned();
    (house, id)
}

#[test]
fn at_a_terminal_an_export_is_a_file_to_read() {
    let (house, _) = with_session();
    let export = ["session", "export", "--force"];
    for (words, line, code) in [
        (&export[..2], "exported to neco-", 0),
        (&export[..2], "is there already", 2),
        (&export[..], "exported to neco-", 0),
    ] {
        let mut seat = Seat::take(&house, words, "false");
        seat.sees(line, 1);
        seat.ends_with(code);
    }
    let files = fs::read_dir(house.project()).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let named: Vec<String> = files.filter(|name| name.starts_with("neco-") && name.ends_with(".md")).collect();
    let [file] = named.as_slice() else { panic!("{named:?}") };
    let file = house.project().join(file);
    assert!(fs::read_to_string(&file).unwrap().contains("write a"));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_was_exported_comes_back_byte_for_byte() {
    let (house, id) = with_session();
    let exported = house.run(&["session", "export", &id]).ended_with(0).stdout;
    let header: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!((header["neco_session"].as_u64(), header["id"].as_str()), (Some(1), Some(id.as_str())));
    let file = house.path("session.jsonl").display().to_string();
    house.run(&["session", "export", "-o", &file]).ended_with(0).says("exported");
    house.run(&["session", "export", "-o", &file]).ended_with(2).says("--force");
    house.run(&["session", "export", "-o", &file, "--force"]).ended_with(0);
    assert_eq!(
        fs::read_to_string(&file).unwrap().lines().skip(1).collect::<Vec<_>>(),
        exported.lines().skip(1).collect::<Vec<_>>()
    );

    house.run(&["session", "import", &file]).ended_with(0).says("already imported").says("--again");
    let again = house.run(&["session", "import", &file, "--again", "--json"]).ended_with(0).json();
    assert_ne!(again[0]["session_id"], id.as_str());

    house.run(&["session", "rm", &id, "--yes"]).ended_with(0);
    house.run(&["session", "import", &file]).ended_with(0).says("Resume it with  neco resume");
    let back = house.run(&["session", "export", &id]).ended_with(0).stdout;
    assert_eq!(back.lines().skip(1).collect::<Vec<_>>(), exported.lines().skip(1).collect::<Vec<_>>());

    house.script("script.json", json!([{ "say": "Still here.", "expect": { "last_user_contains": "and now?" } }]));
    house.run(&["-m", "and now?", "--session", &id]).ended_with(0).says("Still here.");
    house.run(&["session", "import", &file]).ended_with(0).says("already imported");
}

#[test]
fn pages_and_documents_hold_what_was_said_and_nothing_that_runs() {
    let (house, id) = with_session();
    let page = house.run(&["session", "export", &id, "--format", "html"]).ended_with(0).stdout;
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("write a &lt;b&gt;file&lt;/b&gt;") && page.contains("<strong>a.txt</strong>"), "{page}");
    assert!(!page.contains("<script") && page.contains("Content-Security-Policy"));
    let text = house.run(&["session", "export", &id, "--format", "markdown"]).ended_with(0).stdout;
    assert!(text.contains("```diff") && text.contains("+<script>") && text.contains("<details>"), "{text}");
    let file = house.path("page.html");
    house.run(&["session", "export", &id, "-o", &file.display().to_string()]).ended_with(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), page);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn sessions_of_other_agents_go_on_here() {
    for (file, skipped) in [
        ("claude-code.jsonl", "3 records were skipped"),
        ("codex.jsonl", "1 record was skipped: 1 future_item"),
        ("gemini-cli.jsonl", "Fix the bug in a.txt"),
        ("openclaw-legacy.jsonl", "1 record was skipped: 1 on an abandoned branch"),
        ("opencode.json", "Fix a typo"),
    ] {
        let expect = json!({ "messages": 5, "last_user_contains": "go on" });
        let house = House::playing(json!([{ "say": "On it.", "expect": expect }]));
        let path = fixture(file).display().to_string();
        let ran = house.run(&["session", "import", &path]).ended_with(0).says(skipped);
        let id = ran.stdout.split("neco resume ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
        house.run(&["-m", "go on", "--session", &id]).ended_with(0).says("On it.");
        house.run(&["session", "show", &id]).ended_with(0).says("> Fix the bug in a.txt").says("Fixed the typo.");
        house.run(&["session", "import", &path]).ended_with(0).says("already imported");
        let again = house.run(&["session", "import", &path, "--again", "--json"]).ended_with(0).json();
        assert_eq!(again[0]["already"], false);
        assert_eq!(house.run(&["session", "list", "--json"]).json().as_array().unwrap().len(), 2);
    }
}

#[test]
fn keys_do_not_come_in() {
    let house = House::playing(json!([say("x")]));
    let key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let file = house.path("claude.jsonl");
    let text = fs::read_to_string(fixture("claude-code.jsonl")).unwrap();
    fs::write(&file, text.replace("teh cat", key).replace("Fix a typo", key)).unwrap();
    let told = house.run(&["session", "import", &file.display().to_string(), "--json"]).ended_with(0);
    let id = told.json()[0]["session_id"].as_str().unwrap().to_owned();
    let log = house.run(&["session", "export", &id, "--no-redact"]).ended_with(0).stdout;
    assert!(!log.contains(key) && log.contains("[redacted: GitHub token]") && !told.stdout.contains(key), "{log}");
}

#[test]
fn the_sessions_of_this_folder_are_found_where_others_keep_them() {
    let house = House::playing(json!([say("x")]));
    let here = house.project().display().to_string();
    let text = fs::read_to_string(fixture("claude-code.jsonl")).unwrap().replace("/home/user/project", &here);
    let dashed: String = here.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = house.path("home/.claude/projects").join(dashed);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("11111111-1111-4111-8111-111111111111.jsonl"), text).unwrap();
    let rollout = fs::read_to_string(fixture("codex.jsonl")).unwrap();
    let days = house.path("home/.codex/sessions/2026/01/02");
    fs::create_dir_all(&days).unwrap();
    fs::write(days.join("rollout-1.jsonl"), rollout.replace("/home/user/project", &here)).unwrap();
    fs::write(days.join("rollout-2.jsonl"), rollout).unwrap();
    let gemini = house.path("home/.gemini/tmp/project");
    fs::create_dir_all(gemini.join("chats")).unwrap();
    fs::write(gemini.join(".project_root"), format!("{here}\n")).unwrap();
    fs::copy(fixture("gemini-cli.jsonl"), gemini.join("chats/session-1.jsonl")).unwrap();

    let list = house.run(&["session", "import", "--from", "claude-code"]).ended_with(0);
    list.says("Fix a typo").says("3 messages").says("--from claude-code 1 3");
    let codex = house.run(&["session", "import", "--from", "codex", "--json"]).ended_with(0).json();
    assert_eq!(codex.as_array().unwrap().len(), 1, "the other one is of another folder: {codex}");
    house.run(&["session", "import", "--from", "codex", "2"]).ended_with(2).says("none of the 1 sessions");
    for from in ["claude-code", "codex", "gemini-cli"] {
        house.run(&["session", "import", "--from", from, "all"]).ended_with(0).says("Resume it with");
    }
    house.run(&["session", "import", "--from", "claude-code"]).ended_with(0).says("(imported)");
    house.run(&["session", "import", "--from", "opencode"]).ended_with(1).says("has no sessions");
    let listed = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert!(listed.as_array().unwrap().iter().all(|session| session["cwd"] == here.as_str()), "{listed}");
    assert_eq!(listed.as_array().unwrap().len(), 3);
}

#[test]
fn sessions_of_gemini_cli_are_found_however_their_folder_is_known() {
    let house = House::playing(json!([say("x")]));
    let here = house.project().display().to_string();
    let hash: String = Sha256::digest(here.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    let home = house.path("home/.gemini");
    let text = fs::read_to_string(fixture("gemini-cli.jsonl")).unwrap();
    let session = |folder: &str, text: &str| {
        let chats = home.join("tmp").join(folder).join("chats");
        fs::create_dir_all(&chats).unwrap();
        fs::write(chats.join("session-1.jsonl"), text).unwrap();
    };
    let found = || {
        let ran = house.run(&["session", "import", "--from", "gemini-cli", "--json"]);
        if ran.code == 0 { ran.json().as_array().unwrap().len() } else { 0 }
    };
    session("project", &text);
    assert_eq!(found(), 0, "nothing says whose it is");
    fs::write(home.join("projects.json"), json!({ "projects": { (here.clone()): "project" } }).to_string()).unwrap();
    assert_eq!(found(), 1, "by the list of all folders");
    let told = house.run(&["session", "import", "--from", "gemini-cli", "all"]).ended_with(0);
    assert!(!told.stdout.contains("does not say where it worked"), "{}", told.stdout);
    fs::write(home.join("projects.json"), json!({ "projects": { "/elsewhere": "project" } }).to_string()).unwrap();
    assert_eq!(found(), 0, "it is another folder's");
    fs::write(home.join("projects.json"), "{ broken").unwrap();
    session(&hash, &text);
    assert_eq!(found(), 1, "by the hash of the path");
    fs::remove_dir_all(home.join("tmp").join(&hash)).unwrap();
    let head = json!({ "sessionId": "g", "projectHash": hash, "startTime": "2026-01-02T03:04:05Z" });
    session("renamed", &format!("{head}\n{text}"));
    assert_eq!(found(), 1, "by what the file itself says");
}

#[test]
fn what_is_nobodys_session_is_said() {
    let house = House::playing(json!([say("x")]));
    let file = house.path("odd.txt");
    for (text, words) in [
        ("hello\n", "is no session of Neco, claude-code"),
        ("{\"neco_session\":99,\"id\":\"019a8000-0000-7000-8000-000000000001\"}\n", "update Neco"),
        ("", "is no session"),
    ] {
        fs::write(&file, text).unwrap();
        let ran = house.run(&["session", "import", &file.display().to_string()]);
        assert!(ran.code != 0, "{text}");
        ran.says(words);
    }
    house.run(&["session", "import", "/nowhere/at/all"]).ended_with(2).says("can't be read");
    house.run(&["session", "import"]).ended_with(2);
    assert_eq!(house.run(&["session", "list", "--json"]).json(), json!([]));
    let mut piped = house.neco(&["session", "import", "-", "--cwd", &house.project().display().to_string()]);
    Ran::of(piped.write_stdin(fs::read(fixture("codex.jsonl")).unwrap())).ended_with(0).says("imported from codex");
    // One that is none keeps the others from nothing.
    let files = [fixture("claude-code.jsonl"), house.project().join("odd.txt"), fixture("gemini-cli.jsonl")];
    fs::write(&files[1], "no session\n").unwrap();
    let files = files.map(|file| file.display().to_string());
    let several: Vec<&str> = ["session", "import"].into_iter().chain(files.iter().map(String::as_str)).collect();
    house
        .run(&several)
        .ended_with(2)
        .says("imported from claude-code")
        .says("imported from gemini-cli")
        .says("odd.txt is no session")
        .says("1 of 3 files was not imported");
}
