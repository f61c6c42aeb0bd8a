//! `neco auth`: keys are kept, shown without being shown, and forgotten; logins wait for a person.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::approvals::Seat;
use crate::github::GitHub;
use crate::support::{House, Ran, eventually};

const KEY: &str = "sk-first-secret-0123456789abcd";
const SECOND: &str = "sk-second-secret-0123456789efgh";

/// `neco auth …` with `stdin` piped in.
fn piped(house: &House, line: &[&str], stdin: &str) -> Ran {
    Ran::of(house.neco(&[&["auth"], line].concat()).write_stdin(stdin))
}

fn kept(house: &House) -> String {
    fs::read_to_string(house.path("home/keys.toml")).unwrap_or_default()
}

#[test]
fn keys_are_kept_listed_and_removed() {
    let house = House::empty();
    piped(&house, &["list"], "").ended_with(0).says("no keys; `neco login PROVIDER` adds one");
    piped(&house, &["set", "openai"], &format!("{KEY}\n")).ended_with(0).says("the key of openai is saved");
    let mode = fs::metadata(house.path("home/keys.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    piped(&house, &["set", "openai"], SECOND).ended_with(0).says("openai has 2 keys now, which take turns");
    piped(&house, &["set", "openai"], KEY).ended_with(0).says("openai has this key already");
    let listed = piped(&house, &["list"], "").ended_with(0);
    for words in ["openai  2 keys", "home/keys.toml", "(1) …abcd (2) …efgh"] {
        assert!(listed.stdout.contains(words), "{words} is not in\n{}", listed.stdout);
    }
    let listed = Ran::of(house.neco(&["auth", "list", "--json"]).env("OPENAI_API_KEY", "sk-third-secret-wxyz"));
    let rows = listed.ended_with(0).json();
    assert_eq!(rows[0]["names"], json!(["OPENAI_API_KEY"]));
    assert_eq!((&rows[0]["used"], &rows[1]["used"], &rows[1]["keys"]), (&json!(true), &json!(false), &json!(2)));
    house.configure("model = \"openai/gpt-5\"\n");
    house.run(&["doctor"]).ended_with(0).says("saved by `neco auth`: openai").says("ok    model");
    piped(&house, &["remove", "openai"], "").ended_with(0).says("2 keys of openai removed");
    piped(&house, &["remove", "openai"], "").ended_with(1).says("openai has no key");
    assert!(!kept(&house).contains("sk-"));
}

#[test]
fn what_is_no_key_or_no_provider_is_refused() {
    let house = House::empty();
    piped(&house, &["set", "opnai"], KEY).ended_with(2).says("did you mean openai?");
    piped(&house, &["remove", "antropic"], "").ended_with(2).says("did you mean anthropic?");
    piped(&house, &["login", "openai"], "").ended_with(2).says("no key was given");
    piped(&house, &["login"], "").ended_with(2).says("say which provider").says("neco login github-copilot");
    piped(&house, &["set", "scripted"], KEY).ended_with(2).says("needs no key");
    piped(&house, &["set", "openai"], " \n").ended_with(2).says("no key was given");
    piped(&house, &["set", "openai"], &format!("{KEY}\n{SECOND}\n")).ended_with(2).says("one key at a time");
    piped(&house, &["remove", "openai", KEY], "").ended_with(1).says("openai has no key");
    let ran = piped(&house, &["set", "openai", KEY], "").ended_with(2).says("a key is never an argument");
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(KEY));
    assert_eq!(kept(&house), "");
}

#[test]
fn one_key_is_replaced_or_removed() {
    let house = House::empty();
    piped(&house, &["set", "openai"], KEY).ended_with(0);
    piped(&house, &["set", "openai", "--replace"], SECOND).ended_with(0).says("the key of openai is replaced");
    assert!(kept(&house).contains(SECOND) && !kept(&house).contains(KEY));
    piped(&house, &["set", "openai"], &format!("\"{KEY}\"\n")).ended_with(0).says("2 keys now");
    assert!(kept(&house).contains(&format!("\"{KEY}\"")) && !kept(&house).contains("\\\""), "{}", kept(&house));
    let wrong = piped(&house, &["remove", "openai", KEY], "").ended_with(2).says("there are keys 1 to 2");
    assert!(!wrong.stderr.contains(KEY));
    piped(&house, &["remove", "openai", "3"], "").ended_with(2);
    piped(&house, &["remove", "openai", "1"], "").ended_with(0).says("key 1 of openai removed");
    assert!(!kept(&house).contains(SECOND) && kept(&house).contains(KEY));
    piped(&house, &["remove", "openai", "1"], "").ended_with(0);
    piped(&house, &["remove", "openai"], "").ended_with(1).says("has no key");
}

#[test]
fn a_keys_file_that_others_can_read_is_refused() {
    let house = House::empty();
    piped(&house, &["set", "openai"], KEY).ended_with(0);
    let file = house.path("home/keys.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let advice = format!("chmod 600 {}", file.display());
    for line in [&["auth", "list"][..], &["auth", "remove", "openai"], &["doctor"]] {
        house.run(line).ended_with(1).says(&advice);
    }
    piped(&house, &["set", "openai"], SECOND).ended_with(1).says(&advice);
    house.run(&["-m", "hi"]).ended_with(5).says(&advice);
    house.run(&["-m", "hi", "--model", "openai/gpt-5"]).ended_with(5).says(&advice);
    // A key elsewhere needs no file.
    Ran::of(house.neco(&["doctor"]).env("OPENAI_API_KEY", KEY)).says("ok    model");
}

#[test]
fn a_keyring_that_this_build_does_not_have_is_said() {
    let house = House::empty();
    house.configure("model = \"openai/gpt-5\"\n[model_providers.openai]\nkeyring = \"work\"\n");
    if cfg!(not(feature = "keyring")) {
        house.run(&["-m", "hi"]).ended_with(5).says("keyring = \"work\" is set").says("--features keyring");
    }
    house.configure("[model_providers.openai]\napi_key = \"sk-configured-secret-1234\"\n");
    let listed = house.run(&["auth", "list"]).ended_with(0).says("…1234").says("config.toml:2:").says("easily shared");
    assert!(!format!("{}{}", listed.stdout, listed.stderr).contains("configured-secret"));
}

#[test]
fn a_typed_key_is_not_seen() {
    let house = House::empty();
    house.configure("[model_providers.openai]\nbase = \"http://127.0.0.1:1/v1\"\n");
    let mut seat = Seat::take(&house, &["auth", "set", "openai"], "false");
    seat.sees("Key of openai (it is not shown): ", 1);
    seat.press(&format!("{KEY}\r"));
    seat.sees("the key of openai is saved", 1);
    seat.ends_with(0);
    assert!(!seat.shown().contains("secret"), "{}", seat.shown());
    assert_eq!(seat.shown().matches('•').count(), KEY.len(), "{}", seat.shown());
    assert!(kept(&house).contains(KEY));
    let mut seat = Seat::take(&house, &["auth", "set", "openai"], "false");
    seat.sees("(it is not shown): ", 1);
    seat.press("sk-half\u{3}");
    seat.ends_with(130);
    assert!(!kept(&house).contains("sk-half"));
}

#[test]
fn a_login_ends_with_a_token_that_is_used_and_renewed() {
    let github = GitHub::start(&["authorization_pending", "slow_down", "authorization_pending"]);
    let house = House::empty();
    house.configure(&github.config());
    let ran = house.run(&["auth", "login", "github-copilot"]).ended_with(0);
    for words in ["https://github.example/login/device", "AB12-CD34", "logged in"] {
        assert!(ran.stdout.contains(words), "{words} is not in\n{}", ran.stdout);
    }
    assert!(kept(&house).contains(github.login_token()));
    house.run(&["auth", "list"]).ended_with(0).says("github-copilot  1 key").says("keys.toml (login)");
    let ran = house.run(&["-m", "hello", "--model", "github-copilot/gpt-5-mini", "--debug"]).ended_with(0);
    assert_eq!(ran.stdout, "Hello from the other side.\n");
    // The first token of every process is refused once.
    assert_eq!(github.traded(), 3);
    let log = fs::read_to_string(house.path("home/data/logs/neco.log")).unwrap();
    for secret in [github.login_token(), "tid="] {
        assert!(!log.contains(secret) && !ran.stderr.contains(secret), "{secret}");
    }
    house.run(&["auth", "remove", "github-copilot"]).ended_with(0).says("the login of github-copilot removed");
}

#[test]
fn a_login_that_fails_changes_nothing() {
    for (answers, code, words) in [
        (&["authorization_pending", "access_denied"][..], 3, "denied in the browser"),
        (&["expired_token"], 1, "start the login again"),
        (&["device_flow_disabled"], 5, "refused"),
    ] {
        let house = House::empty();
        house.configure(&GitHub::start(answers).config());
        house.run(&["auth", "login", "github-copilot"]).ended_with(code).says(words);
        assert_eq!(kept(&house), "");
    }
}

#[test]
fn a_login_is_cancelled_with_ctrl_c() {
    let github = GitHub::start(&["authorization_pending"; 10_000]);
    let house = House::empty();
    house.configure(&github.config());
    let child = house.start(&["auth", "login", "github-copilot"]);
    eventually("GitHub is asked", || github.asked() > 2);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stderr).unwrap().contains("nothing was changed"));
    assert_eq!(kept(&house), "");
}
