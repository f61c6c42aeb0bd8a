//! Rules decide: as files, as flags, as what a person answered; and `neco policy` tells which and why.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::approvals::Seat;
use crate::support::{House, call, say};

fn rules(house: &House, text: &str) {
    fs::create_dir_all(house.path("home/policy")).unwrap();
    fs::write(house.path("home/policy/mine.toml"), text).unwrap();
}

fn explained(house: &House, arguments: &[&str]) -> Value {
    let line = [&["policy", "explain"], arguments, &["--json"]].concat();
    serde_json::from_str(&house.run(&line).ended_with(0).stdout).unwrap()
}

#[test]
fn a_flag_allows_what_nobody_can_be_asked_about() {
    let make = call("bash", json!({ "command": "printf x | tee made.txt" }));
    let house = House::playing(json!([make.clone(), say("Done.")]));
    let refused = house.run(&["-m", "go"]).ended_with(3);
    assert!(!house.project().join("made.txt").exists(), "{}", refused.stderr);
    house.script("script.json", json!([make, say("Done.")]));
    house.run(&["-m", "go", "--allow", "bash(tee *)"]).ended_with(0);
    assert_eq!(fs::read_to_string(house.project().join("made.txt")).unwrap(), "x");
}

#[test]
fn the_model_is_told_how_a_user_would_allow_it() {
    let told = json!({ "say": "I see.", "expect": { "last_tool_contains": "--allow 'bash(make all *)'" } });
    let house = House::playing(json!([call("bash", json!({ "command": "make all" })), told]));
    house.run(&["-m", "go"]).ended_with(3);
}

#[test]
fn a_denied_tool_does_not_exist_for_the_model() {
    let expect = json!({ "say": "Fine.", "expect": { "tools_exclude": ["bash"], "tools_declared": ["read_file"] } });
    let house = House::playing(json!([expect]));
    rules(&house, "[[rule]]\ntool = 'Bash'\ndecision = 'deny'\n");
    house.run(&["-m", "go"]).ended_with(0);
}

#[test]
fn a_folder_can_be_opened_besides_the_workspace() {
    let write = |house: &House| call("write_file", json!({ "path": house.path("other/a.txt"), "content": "hello\n" }));
    let house = House::empty();
    fs::create_dir(house.path("other")).unwrap();
    let script = json!([write(&house), say("Done.")]);
    let house = {
        house.script("script.json", script.clone());
        let config = format!(
            "model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n",
            house.path("script.json").display()
        );
        house.configure(&config);
        house
    };
    house.run(&["-m", "go", "--yes"]).ended_with(3).says("lies outside the workspace");
    house.script("script.json", script);
    let other = house.path("other");
    house.run(&["-m", "go", "--yes", "--add-dir", other.to_str().unwrap()]).ended_with(0);
    assert_eq!(fs::read_to_string(other.join("a.txt")).unwrap(), "hello\n");
    house.run(&["-m", "go", "--add-dir", "nowhere"]).ended_with(2).says("nowhere can't be used");
}

#[test]
fn always_keeps_the_rule_that_was_shown_and_it_sticks() {
    let script = |command: &str| json!([call("bash", json!({ "command": command })), say("Finished.")]);
    let house = House::playing(script("make one"));
    fs::write(house.project().join("Makefile"), "%:\n\t@echo $@ >> log\n").unwrap();
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    assert!(seat.shown().contains("3 a Yes, always: run `make"), "{}", seat.shown());
    seat.press("a");
    seat.sees("Enter confirms the rule", 1);
    seat.sees("  › ", 3);
    seat.press("\r");
    seat.sees("Finished.", 1);
    seat.ends_with(0);
    let file = house.path("home/policy/always.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("command = \"make") && text.contains(&house.project().display().to_string()), "{text}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Another run, other arguments, a pipe, and nobody to ask.
    house.script("script.json", script("make one --silent 2>&1 | cat"));
    house.run(&["-m", "go"]).ended_with(0);
    assert_eq!(fs::read_to_string(house.project().join("log")).unwrap(), "one\none\n");
}

#[test]
fn a_decision_is_explained_with_its_rule_and_place() {
    let house = House::empty();
    rules(&house, "\n[[rule]]\ntool = 'bash'\ncommand = 'git push'\ndecision = 'deny'\nreason = 'I push myself.'\n");
    let denied = explained(&house, &["bash", "make && git push"]);
    assert_eq!((&denied["decision"], &denied["source"]), (&json!("deny"), &json!("user")));
    assert!(denied["place"].as_str().unwrap().ends_with("policy/mine.toml:2:1"), "{denied}");
    assert!(denied["reason"].as_str().unwrap().contains("I push myself."));
    let commands: Vec<&str> =
        denied["commands"].as_array().unwrap().iter().map(|part| part["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["make", "git push"]);
    assert_eq!(explained(&house, &["Read", r#"{"path": ".env"}"#])["decision"], "ask");
    assert_eq!(explained(&house, &["Read", r#"{"path": ".env"}"#, "--no-person"])["decision"], "deny");
    assert_eq!(
        explained(
            &house,
            &["edit_file", r#"{"path": "a", "old_string": "x", "new_string": "y"}"#, "--approval", "auto"]
        )["decision"],
        "allow"
    );
    assert_eq!(
        explained(&house, &["write_file", r#"{"path": "a", "content": ""}"#, "--mode", "plan"])["decision"],
        "deny"
    );
    assert_eq!(explained(&house, &["bash", "rm -rf ~", "--allow", "bash"])["decision"], "deny");
    house.run(&["policy", "explain", "bash", "ls"]).ended_with(0).says("decision   allow");
    let several = House::empty().run(&["policy", "explain", "bash", "rm -rf build && git push"]).ended_with(0);
    assert!(several.stdout.contains("\n           it publishes commits\n"), "{}", several.stdout);
    house.run(&["policy", "explain", "bash", r#"{"command": "ls""#]).ended_with(2).says("not a JSON object");
    let group = explained(&house, &["bash", "{ git push; }"]);
    assert_eq!((&group["decision"], &group["commands"][0]["command"]), (&json!("deny"), &json!("git push")));
}

#[test]
fn a_tool_of_a_server_is_explained_as_it_is_judged_in_a_run() {
    let house = House::empty();
    let tool = "mcp__fs__read_text_file";
    let judged = |arguments: &str, deny: &str| {
        explained(&house, &[tool, arguments, "--approval", "auto", "--deny", deny])["decision"].clone()
    };
    for deny in ["{ tool = '*', path = 'data' }", "Read(data/**)"] {
        assert_eq!(judged(r#"{"path": "data/a.csv"}"#, deny), json!("deny"), "{deny}");
        assert_eq!(judged(r#"{"paths": ["b", "./data/a.csv"]}"#, deny), json!("deny"), "{deny}");
        assert_ne!(judged(r#"{"path": "src/a.csv"}"#, deny), json!("deny"), "{deny}");
    }
}

#[test]
fn the_rules_in_force_are_listed_with_their_places() {
    let house = House::empty();
    house.configure("[[policy.rules]]\ntool = \"web_fetch\"\nhost = \"docs.rs\"\ndecision = \"allow\"\n");
    fs::create_dir_all(house.project().join(".neco/policy")).unwrap();
    fs::write(house.project().join(".neco/policy/p.toml"), "[[rule]]\ntool = 'bash'\ndecision = 'deny'\n").unwrap();
    let listed = house.run(&["policy", "list", "--deny", "bash(git push *)"]).ended_with(0);
    for words in
        ["command line", "git push", "web_fetch (host docs.rs)", "config.toml:1:1", "builtin.toml:", "not trusted"]
    {
        assert!(listed.stdout.contains(words), "{words}:\n{}", listed.stdout);
    }
    let json: Value = serde_json::from_str(&house.run(&["policy", "list", "--json"]).stdout).unwrap();
    assert_eq!(json["rules"][0]["decision"], "allow");
    assert_eq!(json["untrusted"].as_array().unwrap().len(), 1);
}

#[test]
fn rules_are_checked_against_cases() {
    let house = House::empty();
    rules(&house, "[[rule]]\ntool = 'bash'\ncommand = 'make'\ndecision = 'allow'\n");
    let cases = house.project().join("cases.toml");
    fs::write(&cases, "[[case]]\ntool = 'bash'\ncommand = 'make all | head'\nexpect = 'allow'\n").unwrap();
    house.run(&["policy", "test", "cases.toml"]).ended_with(0).says("all 1 cases pass");
    fs::write(&cases, "[[case]]\ntool = 'bash'\ncommand = 'make; rm x'\nexpect = 'allow'\n").unwrap();
    house.run(&["policy", "test", "cases.toml"]).ended_with(1).says("expected allow, but it is ask");
    fs::write(&cases, "[[case]]\ntool = 'bash'\nexpct = 'allow'\n").unwrap();
    house.run(&["policy", "test", "cases.toml"]).ended_with(2).says("cases.toml:3:1: there is no field \"expct\"");
}

#[test]
fn broken_rules_of_the_user_stop_everything_and_a_projects_do_not() {
    let house = House::playing(json!([say("Hello.")]));
    rules(&house, "[[rule]]\ntool = 'bash'\ndecison = 'deny'\n");
    house
        .run(&["-m", "go"])
        .ended_with(2)
        .says("mine.toml:3:1: there is no field \"decison\"; did you mean \"decision\"?");
    fs::remove_file(house.path("home/policy/mine.toml")).unwrap();
    fs::create_dir_all(house.project().join(".neco/policy")).unwrap();
    fs::write(house.project().join(".neco/policy/p.toml"), "nonsense").unwrap();
    house.run(&["-m", "go"]).ended_with(0);
    house.run(&["-m", "go", "--allow", "bash(git"]).ended_with(2).says("the closing bracket is missing");
}

#[test]
fn what_always_kept_is_listed_and_taken_back() {
    let house = House::empty();
    house.run(&["policy", "remove"]).ended_with(0).says("no rules of yours");
    fs::create_dir_all(house.path("home/policy")).unwrap();
    let rule = |command: &str| {
        format!("[[rule]]\ntool = \"bash\"\ncommand = \"{command}\"\ndecision = \"allow\"\nkept = true\n\n")
    };
    fs::write(house.path("home/policy/always.toml"), [rule("make"), rule("npm test")].concat()).unwrap();
    house.run(&["policy", "remove"]).ended_with(0).says("2  allow bash (`npm test …`)");
    assert_eq!(explained(&house, &["bash", "make all"])["decision"], "allow");
    house.run(&["policy", "remove", "1"]).ended_with(0).says("deleted: allow bash (`make …`)");
    assert_eq!(explained(&house, &["bash", "make all"])["decision"], "ask");
    assert_eq!(explained(&house, &["bash", "npm test"])["decision"], "allow");
    house.run(&["policy", "remove", "2"]).ended_with(2).says("no rule 2");
    house.run(&["policy", "remove", "0"]).ended_with(2);
    house.run(&["policy", "remove", "--all"]).ended_with(0).says("npm test");
    house.run(&["policy", "remove"]).ended_with(0).says("no rules of yours");
}

#[test]
fn a_misspelt_tool_in_a_rule_is_told() {
    let house = House::empty();
    rules(&house, "[[rule]]\ntool = 'bsh'\ndecision = 'deny'\n\n[[rule]]\ntool = 'jira__*'\ndecision = 'deny'\n");
    let told = house.run(&["policy", "list"]).ended_with(0);
    assert!(told.stderr.contains("there is no tool \"bsh\"") && told.stderr.contains("\"bash\""), "{}", told.stderr);
    assert!(!told.stderr.contains("jira"), "{}", told.stderr);
    // Whoever forbids something for this run would believe that it is forbidden.
    for flag in ["--deny", "--ask"] {
        house
            .run(&["policy", "list", flag, "bahs"])
            .ended_with(2)
            .says("nothing was done")
            .says("did you mean \"bash\"?");
    }
    house.run(&["policy", "list", "--deny", "Bsh(x)"]).ended_with(2).says("there is no tool Bsh; did you mean bash?");
    house.run(&["policy", "list", "--deny", "mcp__jira__close"]).ended_with(0);
}

#[test]
fn one_argument_alone_is_the_one_that_the_tool_needs() {
    let house = House::empty();
    let sensitive = explained(&house, &["read_file", ".env"]);
    assert_eq!((&sensitive["decision"], &sensitive["arguments"]), (&json!("ask"), &json!("{\"path\":\".env\"}")));
    assert_eq!(explained(&house, &["read_file", "src/a.rs"])["decision"], "allow");
    assert_eq!(explained(&house, &["bash", "ls"])["arguments"], "{\"command\":\"ls\"}");
}

#[test]
fn rules_that_can_not_be_used_say_what_to_do_without_sending_anyone_in_circles() {
    let house = House::empty();
    rules(&house, "[[rule]]\ntool = 'bash'\ndecision = 'perhaps'\n");
    let told = house.run(&["policy", "list"]).ended_with(2);
    assert!(told.stderr.contains("mine.toml:3") && !told.stderr.contains("neco policy list"), "{}", told.stderr);
}
