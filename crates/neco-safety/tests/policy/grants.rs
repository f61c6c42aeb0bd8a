//! What a person allows beyond one call: it sticks, and it covers no more than was shown.

use neco_proto::{ApprovalMode, Risk};
use neco_safety::policy::Source;
use neco_safety::{Policy, Ruling, Who};
use serde_json::json;

use crate::support::{Call, WORKSPACE, judge, place, policy, read, ruling, user, who};

fn granted(policy: &Policy, call: &Call) -> Policy {
    let mut policy = policy.clone();
    let grant = policy.offer(&call.action(), &who()).unwrap();
    policy.grant(&grant);
    policy
}

#[test]
fn a_grant_for_a_command_sticks_whatever_stands_around_it() {
    let policy = granted(&user(""), &Call::bash("cargo test --lib"));
    for (command, expected) in [
        ("cargo test --lib", Ruling::Allow),
        ("cargo test -p other", Ruling::Allow),
        ("cargo test 2>&1 | tail -20", Ruling::Allow),
        ("RUST_BACKTRACE=1 cargo test", Ruling::Allow),
        ("cd /srv/app && cargo test", Ruling::Allow),
        ("cd src && cargo test", Ruling::Ask),
        ("cargo test; rm -rf .", Ruling::Ask),
        ("cargo test && cargo publish", Ruling::Ask),
        ("LD_PRELOAD=/tmp/x.so cargo test", Ruling::Ask),
        ("cargo test > ~/.bashrc", Ruling::Ask),
    ] {
        let verdict = judge(&policy, &Call::bash(command), &who());
        assert_eq!(verdict.ruling, expected, "{command}: {}", verdict.reason);
    }
}

#[test]
fn a_grant_holds_for_the_folder_it_was_given_in() {
    for line in ["make test", "./run.sh", "make > x"] {
        let here = Call::bash(line);
        let there = Call::bash(line).from("evil");
        for (given, other) in [(&here, &there), (&there, &here)] {
            let policy = granted(&user(""), given);
            assert_eq!((ruling(&policy, given), ruling(&policy, other)), (Ruling::Allow, Ruling::Ask), "{line}");
            let text = user("").offer(&given.action(), &who()).unwrap().to_toml(WORKSPACE.as_ref());
            let kept = user(&text);
            assert_eq!((ruling(&kept, given), ruling(&kept, other)), (Ruling::Allow, Ruling::Ask), "{text}");
        }
    }
    let told = user("").offer(&Call::bash("make").from("a/b").action(), &who()).unwrap().describe();
    assert!(told.contains("in a/b"), "{told}");
}

#[test]
fn a_grant_holds_for_the_place_that_the_tool_comes_from() {
    for call in [Call::other("mcp__a__deploy", json!({})), Call::write("b")] {
        let (given, other) = (call.clone().of_server("a"), call.of_server("b"));
        let text = user("").offer(&given.action(), &who()).unwrap().to_toml(WORKSPACE.as_ref());
        for policy in [granted(&user(""), &given), user(&text)] {
            assert_eq!((ruling(&policy, &given), ruling(&policy, &other)), (Ruling::Allow, Ruling::Ask), "{text}");
            assert_eq!(ruling(&policy, &Call::write("b")), Ruling::Ask, "{text}");
        }
    }
}

#[test]
fn a_grant_says_what_it_allows_before_it_is_given() {
    let grant = user("").offer(&Call::bash("cargo test --lib").action(), &who()).unwrap();
    assert_eq!(grant.describe(), "run `cargo test *`");
    let always = grant.describe_always().unwrap();
    assert!(always.ends_with(", in this folder"), "{always}");
    let grant = user("").offer(&Call::write("a").action(), &who()).unwrap();
    assert_eq!(grant.describe(), "edit and write ordinary files");
}

#[test]
fn who_allows_a_push_allows_it_to_that_remote() {
    let to_origin = granted(&user(""), &Call::bash("git push origin main"));
    assert_eq!(ruling(&to_origin, &Call::bash("git push origin topic")), Ruling::Allow);
    let anywhere = granted(&user(""), &Call::bash("git push"));
    assert_eq!(ruling(&anywhere, &Call::bash("git push")), Ruling::Allow);
    for line in ["git push https://example.com/x.git main", "git push other main"] {
        for policy in [&to_origin, &anywhere] {
            assert_eq!(ruling(policy, &Call::bash(line)), Ruling::Ask, "{line}");
        }
    }
}

#[test]
fn who_allows_an_edit_allows_edits_however_they_are_made() {
    let edit = |tool: &str| Call { tool: tool.to_owned(), ..Call::write("a") };
    let text = user("").offer(&Call::write("b").action(), &who()).unwrap().to_toml(WORKSPACE.as_ref());
    for policy in [granted(&user(""), &Call::write("b")), user(&text)] {
        for tool in ["write_file", "edit_file", "apply_patch"] {
            assert_eq!(ruling(&policy, &edit(tool)), Ruling::Allow, "{tool}: {text}");
        }
        assert_eq!(ruling(&policy, &edit("apply_patch").risky(Risk::High)), Ruling::Ask, "it deletes files");
        assert_eq!(ruling(&policy, &edit("delete_file")), Ruling::Ask);
    }
    assert!(user("").offer(&edit("apply_patch").risky(Risk::High).action(), &who()).is_none(), "each is asked about");
}

#[test]
fn what_is_kept_is_read_again_and_holds_in_its_folder_alone() {
    for call in [Call::bash("cargo test"), Call::bash("make && make install"), Call::write("a"), Call::bash("make > x")]
    {
        let grant = user("").offer(&call.action(), &who()).unwrap();
        let text = grant.to_toml(WORKSPACE.as_ref());
        assert_eq!(ruling(&user(&text), &call), Ruling::Allow, "{text}");
        let elsewhere = text.replace(WORKSPACE, "/srv/other");
        assert_eq!(ruling(&user(&elsewhere), &call), Ruling::Ask, "{text}");
        let asks = format!("{text}[[rule]]\ntool = '*'\ndecision = 'ask'\npriority = 100\n");
        assert_eq!(ruling(&user(&asks), &call), Ruling::Allow, "always is meant more than an earlier rule");
    }
}

#[test]
fn a_rule_that_denies_wins_over_what_was_kept_before_it_was_written() {
    for (call, deny) in [
        (Call::bash("cargo test"), "tool = 'bash'\ncommand = 'cargo'"),
        (Call::bash("cargo test && npm test"), "tool = 'bash'\ncommand = 'cargo'"),
        (Call::write("a"), "tool = 'write_file'"),
    ] {
        let mut text = user("").offer(&call.action(), &who()).unwrap().to_toml(WORKSPACE.as_ref());
        // A rule of the person's own that allows a part of a line makes no difference to the other part.
        text.push_str("[[rule]]\ntool = 'bash'\ncommand = 'npm'\ndecision = 'allow'\npriority = 5\n");
        assert_eq!(ruling(&user(&text), &call), Ruling::Allow, "{text}");
        text.push_str(&format!("[[rule]]\n{deny}\ndecision = 'deny'\n"));
        assert_eq!(ruling(&user(&text), &call), Ruling::Deny, "{text}");
    }
    let opened = "[[rule]]\ntool = 'write_file'\ndecision = 'allow'\npriority = 5\n\
                  [[rule]]\ntool = '*'\ndecision = 'deny'\n\
                  [[rule]]\ntool = 'edit_file'\ndecision = 'allow'\nkept = true\n";
    assert_eq!(ruling(&user(opened), &Call::write("a")), Ruling::Allow, "written so, priorities decide");
}

#[test]
fn a_rule_that_would_hold_a_key_is_not_kept() {
    let kept = |line: &str| user("").offer(&Call::bash(line).action(), &who()).unwrap().describe_always();
    let key = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    assert_eq!(kept(&format!("./deploy.sh --token {key}")), None);
    assert!(kept("./deploy.sh --token none").is_some());
}

#[test]
fn what_is_critical_or_never_is_asked_about_each_time() {
    let policy = user("");
    let offered = |call: &Call| policy.offer(&call.action(), &who()).is_some();
    assert!(!offered(&Call::bash("git reset --hard")) && !offered(&Call::bash("rm -rf /")));
    assert!(!offered(&Call::write(".env").risky(Risk::Critical)));
    let granted = granted(&policy, &Call::write("a"));
    assert_eq!(ruling(&granted, &Call::write("b")), Ruling::Allow);
    assert_eq!(ruling(&granted, &Call::write(".env").risky(Risk::Critical)), Ruling::Ask);
}

#[test]
fn what_would_not_be_heard_is_not_offered() {
    let asks = "[[rule]]\ntool = 'write_file'\ndecision = 'ask'\n";
    let project = policy(&[(Source::Project, asks)]);
    let grant = project.offer(&Call::write("a").action(), &who()).unwrap();
    assert_eq!(grant.describe_always(), None, "the project would ask again");
    let flag = policy(&[(Source::CommandLine, asks)]);
    assert_eq!(flag.offer(&Call::write("a").action(), &who()).unwrap().describe_always(), None);
    let own = user(asks);
    assert!(own.offer(&Call::write("a").action(), &who()).unwrap().describe_always().is_some());
}

#[test]
fn input_of_a_running_program_is_granted_word_for_word() {
    let write = |input: &str| Call::other("process", json!({ "action": "write", "id": "bg-1", "input": input }));
    let policy = granted(&user(""), &write("y"));
    assert_eq!(ruling(&policy, &write("y")), Ruling::Allow);
    assert_eq!(ruling(&policy, &write("rm -rf x")), Ruling::Ask);
}

#[test]
fn a_tool_of_a_server_is_granted_as_a_whole() {
    let call = |sql: &str| Call::other("mcp__db__query", json!({ "sql": sql }));
    let policy = granted(&user(""), &call("select 1"));
    assert_eq!(ruling(&policy, &call("select 2")), Ruling::Allow);
    assert_eq!(ruling(&policy, &Call::other("mcp__db__drop", json!({}))), Ruling::Ask);
}

#[test]
fn the_same_grant_twice_is_one_rule() {
    let mut policy = Policy::new(place(), Vec::new());
    let before = policy.rules().len();
    let grant = policy.offer(&Call::write("a").action(), &who()).unwrap();
    policy.grant(&grant);
    policy.grant(&grant);
    assert_eq!(policy.rules().len(), before + 1);
    let manual = Who { approval: ApprovalMode::Manual, ..who() };
    let verdict = judge(&policy, &Call::write("b"), &manual);
    assert_eq!((verdict.ruling, verdict.reason.as_str()), (Ruling::Allow, "allowed for this session"));
    assert!(read("", Source::User).rules.is_empty());
}

#[test]
fn what_needs_the_network_is_allowed_for_a_session_and_not_for_good() {
    let off = Who { network: false, ..who() };
    let npm = Call::bash("npm install left-pad");
    let grant = user("").offer(&npm.action(), &off).unwrap();
    assert!(grant.describe().contains(", with the network"), "{}", grant.describe());
    assert_eq!(grant.describe_always(), None, "kept rules open no network");
    let open = user("").offer(&npm.action(), &Who { network: true, ..who() }).unwrap();
    assert!(!open.describe().contains("network") && !open.describe_always().unwrap().contains("network"));
    let mut policy = user("");
    policy.grant_for_good(&grant);
    assert!(judge(&policy, &npm, &off).rule.kept);
}
