//! What the model is told without a call: nothing that a rule closes to reading, and nothing that nobody sees.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{House, call, say};

const CLOSED: &str = "[[rule]]\ntool = \"Read\"\npath = \"secrets/**\"\ndecision = \"deny\"\n";

fn house(turns: Value) -> House {
    let house = House::playing(turns);
    fs::create_dir_all(house.path("home/policy")).unwrap();
    fs::write(house.path("home/policy/mine.toml"), CLOSED).unwrap();
    house
}

fn put(house: &House, name: &str, text: &str) {
    let path = house.project().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn link(house: &House, to: &str, name: &str) {
    let path = house.project().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    symlink(to, path).unwrap();
}

#[test]
fn what_may_not_be_read_is_in_no_prompt_however_it_is_named() {
    let house = house(json!([say("Fine.")]));
    put(&house, "secrets/x.txt", "HUSH the closed one");
    put(&house, "secrets/agent.md", "---\nname: spy\ndescription: HUSH\n---\nHUSH");
    put(&house, ".git/HEAD", "HUSH ref");
    put(&house, ".git/config", "[core]\n# HUSH\n");
    put(&house, ".env", "HUSH=1\n");
    fs::write(house.path("outside.txt"), "HUSH outside").unwrap();
    put(&house, "docs/fine.md", "This may be told. Also @../secrets/x.txt here.");
    link(&house, "../secrets/x.txt", "docs/link.md");
    link(&house, "../secrets", "docs/folder");
    link(&house, "secrets/x.txt", "CLAUDE.md");
    link(&house, "../../secrets/x.txt", ".cursor/rules/a.mdc");
    link(&house, "../../.env", ".neco/rules/env.md");
    link(&house, "../../secrets/agent.md", ".claude/agents/spy.md");
    put(
        &house,
        "AGENTS.md",
        "Rules. @secrets/x.txt @./docs/../secrets/x.txt @docs/link.md @docs/folder/x.txt @.git/HEAD @.git/config \
         @.env @../outside.txt @docs/fine.md\n",
    );
    let shown = house.run(&["prompt", "show"]).ended_with(0);
    assert!(!shown.stdout.contains("HUSH"), "{}", shown.stdout);
    let shown = shown.says("This may be told.").says("@secrets/x.txt was not read: a rule denies reading it");
    for named in ["docs/link.md", ".git/HEAD", ".env", "../outside.txt", "../secrets/x.txt"] {
        assert!(shown.stdout.contains(&format!("[@{named} was not read: ")), "{named} of {}", shown.stdout);
    }
    let ran = house.run(&["-m", "hello"]).ended_with(0);
    let ran = ran.says("AGENTS.md: @secrets/x.txt was not read: a rule denies reading it");
    for file in ["CLAUDE.md: it was not read", ".cursor/rules/a.mdc: it was not read", ".claude/agents/spy.md"] {
        assert!(ran.stderr.contains(file), "{file} of {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("HUSH"), "{}", ran.stderr);
}

#[test]
fn a_flag_closes_a_file_as_well() {
    let mut told = say("Fine.");
    told["expect"] = json!({ "system_contains": "[@private/x.md was not read: a rule denies reading it" });
    let house = House::playing(json!([told]));
    put(&house, "private/x.md", "HUSH");
    put(&house, "AGENTS.md", "See @private/x.md");
    house.run(&["prompt", "show"]).ended_with(0).says("HUSH");
    let ran = house.run(&["-m", "hello", "--deny", "Read(private/**)"]).ended_with(0);
    ran.says("AGENTS.md: @private/x.md was not read: a rule denies reading it");
    let shown = house.run(&["prompt", "show", "--deny", "Read(private/**)"]).ended_with(0);
    let shown = shown.says("[@private/x.md was not read: a rule denies reading it");
    assert!(!shown.stdout.contains("HUSH"), "{}", shown.stdout);
    let tokens = |more: &[&str]| {
        let words = [&["prompt", "show", "--sizes", "--json"], more].concat();
        house.run(&words).ended_with(0).json()["tokens"].as_u64().unwrap()
    };
    assert_ne!(tokens(&[]), tokens(&["--deny", "Read(private/**)"]), "the file, or why it was not read");
}

#[test]
fn what_nobody_sees_is_shown_to_the_model_and_told_to_the_person() {
    let house = House::playing(json!([say("Fine.")]));
    let tags: String = "obey".bytes().filter_map(|byte| char::from_u32(0xe0000 + u32::from(byte))).collect();
    put(&house, "AGENTS.md", &format!("Use tabs.\nBe ni\u{200b}ce.{tags}\nEmoji 👩\u{200d}💻 stay.\n"));
    put(&house, ".claude/agents/x.md", "---\nname: x\ndescription: Looks\u{202e} at things\n---\nDo\u{2060} it.\n");
    put(&house, "CLAUDE.md", "A NUL\0 and \u{fffd}.\n");
    let shown = house.run(&["prompt", "show"]).ended_with(0);
    let shown = shown.says("Be ni⟨U+200B⟩ce.⟨U+E006F⟩⟨U+E0062⟩⟨U+E0065⟩⟨U+E0079⟩").says("👩\u{200d}💻 stay");
    shown.says("Looks⟨U+202E⟩ at things").says("A NUL⟨U+0000⟩ and");
    let ran = house.run(&["-m", "hello"]).ended_with(0);
    ran.says("AGENTS.md: invisible characters in line 2 (zero-width, tags)")
        .says(".claude/agents/x.md: invisible characters in line 3 (text direction), line 5 (zero-width)")
        .says("CLAUDE.md: ");
}

fn rules_told(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["type"] == "rules_told").map(|event| &event["files"]).collect()
}

#[test]
fn rules_of_a_folder_are_told_when_something_in_it_is_touched() {
    let of_folder = json!({ "last_user_contains": "Only rhymes here." });
    let deep = json!({ "last_user_contains": "Deeper rules." });
    for (first, second) in [
        (call("read_file", json!({ "path": "sub/a.txt" })), call("read_file", json!({ "path": "sub/deep/b.txt" }))),
        (call("list_directory", json!({ "path": "sub" })), call("list_directory", json!({ "path": "sub/deep" }))),
        (
            call("write_file", json!({ "path": "sub/new.txt", "content": "x" })),
            call("grep", json!({ "pattern": "needle" })),
        ),
        (call("grep", json!({ "pattern": "thimble" })), call("bash", json!({ "command": "cd sub/deep" }))),
    ] {
        let is_bash = second["calls"][0]["name"] == "bash";
        let mut turns = vec![first, second];
        turns[1]["expect"] = of_folder.clone();
        if is_bash {
            turns.push(call("bash", json!({ "command": "pwd" })));
        }
        let mut last = say("Done.");
        last["expect"] = deep.clone();
        turns.push(last);
        let house = house(json!(turns));
        put(&house, "AGENTS.md", "At the root.");
        put(&house, "sub/AGENTS.md", "Only rhymes here. @../secrets/x.txt and \u{200b}.");
        put(&house, "sub/a.txt", "thimble\n");
        put(&house, "sub/deep/AGENTS.md", "Deeper rules.");
        put(&house, "sub/deep/b.txt", "needle\n");
        put(&house, "secrets/x.txt", "HUSH");
        put(&house, "secrets/AGENTS.md", "HUSH");
        let ran = house.run(&["-m", "go", "--yes", "--output-format", "stream-json"]).ended_with(0);
        let events = ran.events();
        assert_eq!(rules_told(&events), [&json!(["sub/AGENTS.md"]), &json!(["sub/deep/AGENTS.md"])], "{}", ran.stdout);
        assert!(!ran.stdout.contains("HUSH") && ran.stdout.contains("rhymes here. @../secrets/x.txt and ⟨U+200B⟩"));
        let warned = events.iter().filter(|event| event["type"] == "notification").map(Value::to_string);
        let warned: String = warned.collect();
        assert!(warned.contains("sub/AGENTS.md: ") && warned.contains("zero-width"), "{warned}");
    }
}

#[test]
fn rules_of_a_folder_that_may_not_be_read_are_not_said_to_be_told() {
    let turns = json!([call("read_file", json!({ "path": "sub/a.txt" })), say("Done.")]);
    let house = House::playing(turns);
    put(&house, "sub/AGENTS.md", "HUSH");
    put(&house, "sub/a.txt", "a\n");
    let ran = house.run(&["-m", "go", "--yes", "--deny", "Read(sub/AGENTS.md)"]).ended_with(0);
    let ran = ran.says("sub/AGENTS.md: it was not read: a rule denies reading it");
    assert!(!ran.stderr.contains("the model is told the rules of"), "{}", ran.stderr);
}

#[test]
fn an_agent_below_the_root_is_told_the_rules_of_folders_too() {
    let house = House::playing(json!([]));
    let turns = json!([
        call("task", json!({ "description": "look", "prompt": "look at sub", "agent": "explore" })),
        say("Done."),
    ]);
    let mut found = say("Found.");
    found["expect"] = json!({ "last_user_contains": "Only rhymes here." });
    let explore = json!([call("read_file", json!({ "path": "sub/a.txt" })), found]);
    let script = json!({ "turns": turns, "agents": [{ "role": "explore", "turns": explore }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    put(&house, "sub/AGENTS.md", "Only rhymes here.");
    put(&house, "sub/a.txt", "a\n");
    house.run(&["-m", "go", "--yes"]).ended_with(0).says("Done.");
}
