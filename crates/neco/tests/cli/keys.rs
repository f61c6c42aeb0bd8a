//! A key is sent to its provider and is nowhere else: not on the screen, not in any file.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::server;
use crate::support::{House, Ran};

const KEY: &str = "sk-nobody-may-see-this-0123456789";
/// Enough of it to be told.
const PARTS: [&str; 3] = ["sk-nobody", "nobody-may-see", "0123456789"];

/// Where the key is put.
#[derive(Clone, Copy, Debug)]
enum From {
    Environment,
    File,
    Configuration,
}

/// A provider that answers with `status` and says the key back in every way vendors do.
fn tattler(status: u16) -> String {
    server::start(move |asked| {
        let shown = asked.header("authorization").unwrap_or_default();
        let key = shown.trim_start_matches("Bearer ");
        assert_eq!(key, KEY);
        let words = format!("Incorrect key {key}, '{shown}', \"{key}\" sk-nobody-may********6789 at {key}/x?key={key}");
        (status, json!({ "error": { "message": words, "type": "bad", "code": key, "param": key } }).to_string())
    })
}

fn house(from: From, base: &str) -> House {
    let house = House::empty();
    let key = match from {
        From::Configuration => format!("api_key = \"{KEY}\"\n"),
        From::Environment | From::File => String::new(),
    };
    house.configure(&format!(
        "model = \"mine/m\"\nnetwork.backoff = 0.001\nnetwork.retries = 1\n[model_providers.mine]\ntype = \"openai\"\n\
         base = \"{base}\"\napi_key_env = \"MINE_API_KEY\"\ntext_tool_calls = \"never\"\n{key}"
    ));
    if matches!(from, From::File) {
        Ran::of(house.neco(&["auth", "set", "mine", "--debug"]).write_stdin(KEY)).ended_with(0);
    }
    house
}

fn run(house: &House, from: From, line: &[&str]) -> Ran {
    let mut command = house.neco(line);
    command.env("NECO_LOG", "trace");
    if matches!(from, From::Environment) {
        command.env("MINE_API_KEY", KEY);
    }
    Ran::of(&mut command)
}

/// Every file below `folder` but those whose business the key is.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            files(&path, found);
        } else if name != "keys.toml" && name != "config.toml" {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

#[track_caller]
fn assert_absent(what: &str, bytes: &[u8]) {
    for part in PARTS {
        let at = bytes.windows(part.len()).position(|window| window == part.as_bytes());
        if let Some(at) = at {
            let around = &bytes[at.saturating_sub(200)..(at + 200).min(bytes.len())];
            panic!("{part} is in {what}: …{}…", String::from_utf8_lossy(around));
        }
    }
}

#[track_caller]
fn nobody_sees_it(from: From, status: u16) {
    let house = house(from, &tattler(status));
    for line in [
        &["-m", "hi", "--debug"][..],
        &["-m", "hi", "--debug", "--output-format", "json"],
        &["-m", "hi", "--debug", "--output-format", "stream-json"],
        &["session", "list", "--all", "--json"],
        &["auth", "list", "--json"],
        &["config", "show", "--json"],
        &["doctor", "--json"],
    ] {
        let ran = run(&house, from, line);
        if line[0] == "-m" {
            assert_eq!(ran.code, 5, "{}{}", ran.stdout, ran.stderr);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains("[key]"), "{}{}", ran.stdout, ran.stderr);
        }
        // The last four characters are what a list may show.
        let stdout = ran.stdout.replace("\"6789\"", "");
        assert_absent(&format!("stdout of {line:?} ({from:?}, {status})"), stdout.as_bytes());
        assert_absent(&format!("stderr of {line:?} ({from:?}, {status})"), ran.stderr.as_bytes());
    }
    let mut found = Vec::new();
    files(&house.path(""), &mut found);
    for wanted in ["neco.log", "neco.db"] {
        assert!(found.iter().any(|(path, bytes)| path.ends_with(wanted) && !bytes.is_empty()), "{wanted}");
    }
    for (path, bytes) in &found {
        assert_absent(&format!("{path} ({from:?}, {status})"), bytes);
    }
}

#[test]
fn a_key_of_the_environment_is_seen_by_nobody() {
    nobody_sees_it(From::Environment, 401);
    nobody_sees_it(From::Environment, 500);
}

#[test]
fn a_key_of_the_keys_file_is_seen_by_nobody() {
    nobody_sees_it(From::File, 401);
    nobody_sees_it(From::File, 500);
}

#[test]
fn a_key_of_the_configuration_is_seen_by_nobody() {
    nobody_sees_it(From::Configuration, 401);
    nobody_sees_it(From::Configuration, 500);
}
