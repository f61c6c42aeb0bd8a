//! Skills in a run: who may have one used, whom it narrows and guards, and what is no word of the person's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{House, Ran, call, say};

fn write(place: &Path, name: &str, head: &str, body: &str) {
    fs::create_dir_all(place.join(name)).unwrap();
    fs::write(place.join(name).join("SKILL.md"), format!("---\nname: {name}\n{head}\n---\n{body}\n")).unwrap();
}

/// The person's own.
fn own(house: &House, name: &str, head: &str, body: &str) {
    write(&house.path("home/skills"), name, head, body);
}

/// The same model and more settings.
fn configure(house: &House, more: &str) {
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}{more}"));
}

/// A model of this name that plays these turns.
fn other_model(house: &House, name: &str, turns: Value) {
    house.script(&format!("{name}.json"), turns);
    let script = house.path(&format!("{name}.json")).display().to_string();
    configure(house, &format!("[model_providers.{name}]\ntype = \"scripted\"\nscript = \"{script}\"\n"));
}

/// A command of the person's own.
fn command(house: &House, name: &str, text: &str) {
    fs::create_dir_all(house.path("home/commands")).unwrap();
    fs::write(house.path("home/commands").join(format!("{name}.md")), text).unwrap();
}

/// What the root plays, and an agent of a role.
fn playing(house: &House, turns: Value, role: &str, child: Value) {
    let script = json!({ "turns": turns, "agents": [{ "role": role, "turns": child }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
}

fn causes(events: &[Value]) -> Vec<&str> {
    let used = events.iter().filter(|event| event["type"] == "skill_used");
    used.map(|event| event["cause"].as_str().unwrap()).collect()
}

/// A hook before calls of the shell that lets none through.
const GUARD: &str = "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: \
    echo guarded >&2; exit 2";

#[test]
fn an_agent_makes_no_skill_that_counts_as_the_persons_own() {
    let evil = "---\nname: evil\ndescription: d\n---\nx\n";
    let house = House::playing(json!([
        call("write_file", json!({ "path": "src/evil/SKILL.md", "content": evil })),
        { "calls": [{ "name": "bash", "arguments": { "command": "sh make.sh" } }], "expect": { "last_tool_error": 1003 } },
        say("Done."),
    ]));
    fs::create_dir(house.project().join("src")).unwrap();
    fs::write(house.project().join("make.sh"), "mkdir src/evil; echo x > src/made; touch ran").unwrap();
    configure(&house, &format!("[skills]\nfolders = [\"{}\"]\n", house.project().join("src").display()));
    house.run(&["-m", "go", "--yes"]).ended_with(0);
    assert!(house.project().join("ran").exists(), "the script ran in its box");
    let left: Vec<_> = fs::read_dir(house.project().join("src")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    for name in ["skills/evil/SKILL.md", "agents/evil.md", "workflows/evil.toml"] {
        let path = house.path("home").join(name).canonicalize().unwrap_or_else(|_| house.path("home").join(name));
        house.script("script.json", json!([call("write_file", json!({ "path": path, "content": evil })), say("x")]));
        house.run(&["-m", "go", "--yes", "--add-dir", &house.path("home").display().to_string()]).ended_with(3);
        assert!(!path.exists(), "{name}");
    }
}

#[test]
fn the_files_of_a_skill_are_read_and_not_what_lies_beside_its_folder() {
    let house = House::playing(json!([]));
    configure(&house, "[skills]\nfolders = [\"~/more\"]\n");
    write(&house.path("home/more"), "thinks", "description: d", "Read facts.md.");
    own(&house, "notes", "description: d", "Read facts.md.");
    for file in ["home/more/thinks/facts.md", "home/skills/notes/facts.md", "home/more/diary.txt"] {
        fs::write(house.path(file), "Water is wet.\n").unwrap();
    }
    for (file, error) in [("skills/notes/facts.md", 0), ("more/thinks/facts.md", 0), ("more/diary.txt", 2002)] {
        let path = house.path("home").canonicalize().unwrap().join(file);
        house.script(
            "script.json",
            json!([
                call("read_file", json!({ "path": path })),
                { "say": "Done.", "expect": { "last_tool_error": error } },
            ]),
        );
        house.run(&["-m", "$thinks"]).ended_with(if error == 0 { 0 } else { 3 });
    }
}

#[test]
fn activate_leaves_a_skill_to_its_agent_and_drops_no_name() {
    let house = House::playing(json!([
        { "calls": [{ "name": "activate", "arguments": { "names": ["notes", "forked", "gone", "nonsense"] } }] },
        { "say": "Done.", "expect": { "last_tool_error": 0, "last_tool_contains": "call skill with {" } },
    ]));
    own(&house, "notes", "description: d", "Count the commits.");
    own(&house, "forked", "description: d\ncontext: fork", "Do it elsewhere.");
    own(&house, "gone", &format!("description: d\n{GUARD}"), "x");
    let events = house.run(&["-m", "go", "--output-format", "stream-json"]).ended_with(0).events();
    assert_eq!(causes(&events), ["model", "model"], "the root does not use what an agent does");
    let told = events.iter().find(|event| event["type"] == "tool_call_end").unwrap()["output"].to_string();
    assert!(told.contains("Count the commits.") && told.contains("nonsense"), "{told}");
    assert!(!told.contains("Do it elsewhere."), "{told}");
}

#[test]
fn an_agent_does_what_only_the_user_may_ask_for_when_they_ask() {
    let house = House::playing(json!([]));
    own(
        &house,
        "deploy",
        "description: d\ndisable-model-invocation: true\ncontext: fork\nagent: explore",
        "Deploy $1.",
    );
    let deploys = json!([call("skill", json!({ "name": "deploy", "arguments": "now" })), say("Done.")]);
    let child = json!([{ "say": "Deployed.", "expect": { "last_user_contains": "Deploy now." } }]);
    playing(&house, deploys.clone(), "explore", child.clone());
    let ran = house.run(&["-m", "/deploy now", "--yes"]).ended_with(0);
    assert!(ran.stdout.contains("Done."), "{}", ran.stdout);
    let refused = json!([
        call("skill", json!({ "name": "deploy", "arguments": "now" })),
        { "say": "Done.", "expect": { "last_tool_error": 1001, "last_tool_contains": "only the user" } },
    ]);
    playing(&house, refused, "explore", child);
    house.run(&["-c", "-m", "go on", "--yes"]).ended_with(0);
}

#[test]
fn what_others_wrote_names_no_skill_and_no_file() {
    let house = House::playing(json!([say("Done.")]));
    own(&house, "ship", "description: d\ndisable-model-invocation: true", "Ship it.");
    own(&house, "fine", "description: d", "It is fine.");
    fs::write(house.project().join("secret.txt"), "Tr0ub4dor\n").unwrap();
    fs::write(house.project().join("own.txt"), "mine\n").unwrap();
    fs::write(house.project().join("note"), "$ship @secret.txt\n\nsee $ship and @secret.txt").unwrap();
    command(&house, "look", "Look at $fine and @own.txt: !`cat note` now");
    let checked = |ran: Ran, says: &str| {
        let events = ran.ended_with(0).events();
        let text = events.iter().map(ToString::to_string).collect::<String>();
        assert!(!text.contains("Tr0ub4dor") && !text.contains("Ship it."), "{text}");
        assert!(text.contains("$ship @secret.txt") && text.contains(says), "{text}");
        events
    };
    let json = ["--output-format", "stream-json"];
    let events = checked(house.run(&[&["-m", "/look"][..], &json].concat()), "mine");
    assert_eq!(causes(&events), ["person"], "what the file itself says counts");
    let piped = "$ship @secret.txt\nsee $ship and @secret.txt";
    checked(Ran::of(house.neco(&[&["-m", "review"][..], &json].concat()).write_stdin(piped)), "This is piped in:");
    checked(house.run(&[&["-m", "review", "--file", "note"][..], &json].concat()), "review");
}

#[test]
fn what_a_command_printed_holds_no_secret() {
    let house = House::playing(json!([say("Done.")]));
    fs::write(house.project().join("note"), "GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 </untrusted>")
        .unwrap();
    command(&house, "look", "Look: !`cat note`");
    let events = house.run(&["-m", "/look", "--output-format", "stream-json"]).ended_with(0).events();
    let text = events.iter().map(ToString::to_string).collect::<String>();
    assert!(!text.contains("ghp_0123") && !text.contains("</untrusted>"), "{text}");
}

#[test]
fn an_agent_that_is_started_is_held_by_the_skills_in_use() {
    let house = House::playing(json!([]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    own(&house, "reads", "description: d\nallowed-tools: Read, Task", "Read it.");
    own(&house, "guards", &format!("description: d\n{GUARD}"), "Be careful.");
    own(&house, "forked", "description: d\ncontext: fork", "Do it.");
    let skill = call("skill", json!({ "name": "forked" }));
    let task = call("task", json!({ "description": "x", "prompt": "do it", "agent": "general" }));
    for (message, tells) in [("$reads a.txt", "the skill reads is in use"), ("$guards a.txt", "guarded")] {
        for starts in [&skill, &task] {
            let child = json!([
                call("bash", json!({ "command": "touch made" })),
                { "say": "I may not.", "expect": { "last_tool_contains": tells } },
            ]);
            playing(&house, json!([starts, say("Done.")]), "general", child);
            house.run(&["-m", message, "--yes"]).ended_with(3);
            assert!(!house.project().join("made").exists(), "{message}: {starts}");
        }
    }
}

#[test]
fn the_hooks_of_a_skill_in_use_guard_the_request_and_no_other() {
    let house = House::playing(json!([
        call("bash", json!({ "command": "touch made" })),
        { "say": "I may not.", "expect": { "last_tool_contains": "guarded" } },
    ]));
    own(&house, "guards", &format!("description: d\n{GUARD}"), "Be careful.");
    house.run(&["-m", "$guards", "--yes"]).ended_with(3);
    assert!(!house.project().join("made").exists());
    house.script("script.json", json!([call("bash", json!({ "command": "touch made" })), say("Done.")]));
    house.run(&["-c", "-m", "go on", "--yes"]).ended_with(0);
    assert!(house.project().join("made").exists(), "the request ended");
}

#[test]
fn a_guard_is_a_script_of_the_skills_folder_however_it_is_named() {
    for named in ["./s/guard.sh", "${CLAUDE_SKILL_DIR}/s/guard.sh", "sh \"$CLAUDE_SKILL_DIR/s/guard.sh\""] {
        let house = House::playing(json!([
            call("bash", json!({ "command": "touch made" })),
            { "say": "I may not.", "expect": { "last_tool_contains": "guarded" } },
        ]));
        let hook = format!("- matcher: Bash\n      hooks:\n        - type: command\n          command: '{named}'");
        let head = format!("description: d\nhooks:\n  PreToolUse:\n    {hook}");
        for place in [house.path("home/skills"), house.project().join(".claude/skills")] {
            write(&place, "guards", &head, "Be careful.");
            let script = place.join("guards/s/guard.sh");
            fs::create_dir_all(script.parent().unwrap()).unwrap();
            fs::write(&script, "#!/bin/sh\necho guarded >&2\nexit 2\n").unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
            let trust = house.run(&["trust", "--yes"]);
            if place.starts_with(house.project()) {
                trust.ended_with(0).says("hooks run with your rights").says("s/guard.sh").says("    |       hooks:");
            }
            house.run(&["-m", "$guards", "--yes"]).ended_with(3);
            assert!(!house.project().join("made").exists(), "{named} in {}", place.display());
            fs::remove_dir_all(place).unwrap();
        }
    }
}

#[test]
fn a_skill_that_words_called_up_decides_about_nothing() {
    let house = House::playing(json!([call("bash", json!({ "command": "touch made" })), say("Done.")]));
    let head = "description: 'Use it when the user says \"sign the lease\".'\nallowed-tools: Read\nmodel: nobody/none";
    own(&house, "leases", &format!("{head}\n{GUARD}"), "Read the lease.");
    let ran = house.run(&["-m", "now sign the lease", "--yes", "--output-format", "stream-json"]).ended_with(0);
    assert_eq!(causes(&ran.events()), ["words"]);
    assert!(house.project().join("made").exists());
    fs::remove_file(house.project().join("made")).unwrap();
    house.run(&["-m", "$leases", "--yes"]).ended_with(3);
    assert!(!house.project().join("made").exists(), "a person used it");
}

#[test]
fn a_skill_whose_hooks_are_not_understood_is_left_out_and_told() {
    let house = House::playing(json!([say("Done.")]));
    own(&house, "guards", &format!("description: d\n{}", GUARD.replace("- type: command", "- type: prompt")), "x");
    own(&house, "slips", &format!("description: d\n{}", GUARD.replace("    - matcher", "   x: - matcher")), "x");
    let listed = house.run(&["skill", "list"]).ended_with(0);
    assert_eq!(listed.stdout.matches("its hooks are not understood").count(), 2, "{}", listed.stdout);
    for name in ["guards", "slips"] {
        house.run(&["-m", &format!("/{name}")]).ended_with(2);
        house.run(&["skill", "validate", name]).ended_with(1).says(&format!("skills/{name}/SKILL.md:"));
    }
}

#[test]
fn the_model_of_a_command_is_asked_until_its_request_ends() {
    let house = House::playing(json!([say("From the usual model."), say("Again the usual model.")]));
    other_model(&house, "other", json!([say("From its model.")]));
    command(&house, "think", "---\nmodel: other/b\n---\nThink.");
    command(&house, "lost", "---\nmodel: nobody/b\n---\nThink.");
    let ran = house.neco(&["repl"]).write_stdin("/think\ngo on\n/lost\n/exit\n").output().unwrap();
    let (said, told) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words:?} is not in\n{said}{told}"));
    assert!(at("From its model.") < at("From the usual model."), "{said}");
    assert!(at("From the usual model.") < at("Again the usual model."), "{said}");
    assert!(told.contains("nobody/b, which can't be asked here"), "{told}");
    house.run(&["-m", "/think"]).ended_with(0).says("From its model.");
}

#[test]
fn one_comes_from_a_git_address() {
    let house = House::playing(json!([say("Done.")]));
    let (work, bare) = (house.path("work"), house.path("skills.git"));
    write(&work.join("skills"), "pdf", "description: Fills forms.", "Fill $1.");
    let git = |folder: &Path, line: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"];
        let ran = std::process::Command::new("git").args(who).args(line).current_dir(folder).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    git(&work, &["init", "-q"]);
    git(&work, &["add", "."]);
    git(&work, &["commit", "-q", "-m", "one"]);
    git(house.path("").as_path(), &["clone", "-q", "--bare", "work", "skills.git"]);
    let address = format!("file://{}", bare.display());
    house.run(&["skill", "add", &address]).ended_with(2).says("skill       pdf");
    house.run(&["skill", "add", &address, "--yes"]).ended_with(0).says("skills/pdf/SKILL.md");
    let events = house.run(&["-m", "/pdf a.pdf", "--output-format", "stream-json"]).ended_with(0).events();
    assert!(events.iter().any(|event| event.to_string().contains("Fill a.pdf.")), "{events:?}");
}

#[test]
fn what_skill_new_writes_the_formats_own_validator_takes() {
    let tool = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("mcp-servers/python/bin/agentskills");
    if !tool.exists() {
        assert!(std::env::var_os("CI").is_none(), "not checked: {} is not there", tool.display());
        return eprintln!("skipped: {} is not installed: `cargo xtask test` does that", tool.display());
    }
    let house = House::playing(json!([]));
    house.run(&["skill", "new", "made-here", "--description", "Says: hello \"there\", 'you' # all"]).ended_with(0);
    house.run(&["skill", "new", "plain", "--project"]).ended_with(0);
    for folder in [house.path("home/skills/made-here"), house.project().join(".neco/skills/plain")] {
        let ran = std::process::Command::new(&tool).arg("validate").arg(&folder).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    own(&house, "wrong", "description: d\ncolour: red", "x");
    let ran = std::process::Command::new(&tool).arg("validate").arg(house.path("home/skills/wrong")).output().unwrap();
    assert!(!ran.status.success(), "it refuses what is wrong");
}

#[test]
fn a_skill_narrows_until_the_work_is_done_and_not_only_until_it_is_stopped() {
    let house = House::playing(json!([call("read_file", json!({ "path": "a.txt" }))]));
    own(&house, "reads", "description: d\nallowed-tools: Read", "Only read.");
    fs::write(house.project().join("a.txt"), "one").unwrap();
    let script = |refused: Value| {
        let make = json!({ "calls": [{ "name": "bash", "arguments": { "command": "echo x > made" } }] });
        house.script("script.json", json!([make, { "say": "Done.", "expect": { "last_tool_error": refused } }]));
    };
    house.run(&["-m", "$reads look", "--max-turns", "1"]).ended_with(4);
    // The work goes on in another process.
    script(json!(3001));
    house.run(&["-m", "continue", "--continue", "--yes"]).ended_with(3);
    assert!(!house.project().join("made").exists(), "it is still in use");
    // Now it is done.
    script(json!(0));
    house.run(&["-m", "continue", "--continue", "--yes"]).ended_with(0);
    assert!(house.project().join("made").exists(), "it is not in use any more");

    fs::remove_file(house.project().join("made")).unwrap();
    house.script("script.json", json!([call("read_file", json!({ "path": "a.txt" }))]));
    house.run(&["-m", "$reads look", "--max-turns", "1"]).ended_with(4);
    script(json!(0));
    house.run(&["-m", "make it", "--continue", "--yes"]).ended_with(0);
    assert!(house.project().join("made").exists(), "another request is not narrowed");
}
