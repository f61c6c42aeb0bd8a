//! Skills: found in every place, told in a line, brought in by whoever may, and off where a folder is not trusted.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{House, call, say};

fn write(place: &Path, name: &str, head: &str, body: &str) {
    fs::create_dir_all(place.join(name)).unwrap();
    fs::write(place.join(name).join("SKILL.md"), format!("---\nname: {name}\n{head}\n---\n{body}\n")).unwrap();
}

/// The person's own.
fn own(house: &House, name: &str, head: &str, body: &str) {
    write(&house.path("home/skills"), name, head, body);
}

fn used(house: &House, line: &[&str]) -> Vec<Value> {
    told(house, line, "")
}

/// The skills that were used by a run in which the model was told this.
fn told(house: &House, line: &[&str], words: &str) -> Vec<Value> {
    let line: Vec<&str> = line.iter().copied().chain(["--output-format", "stream-json"]).collect();
    let events = house.run(&line).ended_with(0).events();
    let is_told = |event: &Value| event["type"] == "message" && event["parts"][0]["text"].to_string().contains(words);
    assert!(events.iter().any(is_told), "{words}: {events:?}");
    events.into_iter().filter(|event| event["type"] == "skill_used").collect()
}

#[test]
fn the_model_is_told_a_line_and_brings_the_rest_in() {
    let house = House::playing(json!([]));
    own(&house, "notes", "description: Writes notes.", "Count the commits of $1.");
    house.script(
        "script.json",
        json!([
            { "calls": [{ "name": "activate", "arguments": { "names": ["notes"] } }] },
            { "calls": [{ "name": "skill", "arguments": { "name": "notes", "arguments": "v2" } }],
              "expect": { "last_tool_error": 0, "last_tool_contains": "Count the commits of $1." } },
            { "say": "Done.", "expect": { "last_tool_contains": "Count the commits of v2." } },
        ]),
    );
    let events = used(&house, &["-m", "go"]);
    assert_eq!(events.iter().map(|event| event["cause"].clone()).collect::<Vec<_>>(), ["model", "model"]);
    let prompt = house.run(&["prompt", "show"]).ended_with(0).stdout;
    assert!(prompt.contains("notes: Writes notes.") && !prompt.contains("Count the commits"), "{prompt}");
}

#[test]
fn a_person_names_one_with_a_slash_or_a_dollar_and_words_call_one_up() {
    let house = House::playing(json!([say("Done.")]));
    let head = "description: 'Fills PDF forms. Use when the user says \"sign the lease\".'\nargument-hint: FILE";
    own(&house, "pdf-forms", head, "Fill $1.");
    assert_eq!(told(&house, &["-m", "/pdf-forms a.pdf"], "Fill a.pdf.")[0]["cause"], "person");
    assert_eq!(told(&house, &["-m", "$pdf-forms a.pdf"], "Fill a.pdf.")[0]["cause"], "person");
    assert_eq!(told(&house, &["-m", "please use $pdf-forms here"], "Fill here.").len(), 1);
    assert_eq!(told(&house, &["-m", "now sign the lease"], "Fill $1.")[0]["cause"], "words");
    for message in ["what does $pdf cost", "what does this PDF say?", "count the files"] {
        assert!(used(&house, &["-m", message]).is_empty(), "{message}");
    }
}

#[test]
fn who_may_use_one_is_what_its_head_says() {
    let house = House::playing(json!([
        { "calls": [{ "name": "skill", "arguments": { "name": "mine" } }] },
        { "say": "Done.", "expect": { "last_tool_error": 1001, "last_tool_contains": "only the user" } },
    ]));
    own(&house, "mine", "description: Is \"secret\".\ndisable-model-invocation: true", "x");
    own(&house, "its", "description: d\nuser-invocable: false", "x");
    assert!(used(&house, &["-m", "say secret"]).is_empty());
    house.run(&["-m", "/its"]).ended_with(2);
    house.run(&["skill", "list"]).ended_with(0).says("only you use it").says("only the model uses it");
    let prompt = house.run(&["prompt", "show"]).ended_with(0).stdout;
    assert!(prompt.contains("- its: d") && !prompt.contains("- mine:"), "{prompt}");
}

#[test]
fn allowed_tools_narrow_until_the_request_ends_and_allow_nothing() {
    let house = House::playing(json!([
        call("write_file", json!({ "path": "made", "content": "x" })),
        { "calls": [{ "name": "bash", "arguments": { "command": "touch made" } }],
          "expect": { "last_tool_error": 1003, "last_tool_contains": "allowed-tools leave only: Read" } },
        { "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }],
          "expect": { "last_tool_error": 3001, "last_tool_contains": "allowed-tools leave only" } },
        { "say": "Done.", "expect": { "last_tool_error": 0, "last_tool_contains": "hello" } },
    ]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    own(&house, "reads", "description: d\nallowed-tools: Read", "Read it.");
    house.run(&["-m", "$reads", "--yes", "--output-format", "json"]);
    assert!(!house.project().join("made").exists());
    house.script("script.json", json!([call("bash", json!({ "command": "touch made" })), say("Done.")]));
    house.run(&["-c", "-m", "go on", "--yes"]).ended_with(0);
    assert!(house.project().join("made").exists(), "the request ended");
    own(&house, "runs", "description: d\nallowed-tools: Bash(rm:*)", "Run it.");
    house.script("script.json", json!([call("bash", json!({ "command": "rm made" })), say("Done.")]));
    house.run(&["-m", "$runs"]).ended_with(3);
    assert!(house.project().join("made").exists(), "nobody was there to ask");
}

#[test]
fn a_folders_skills_are_off_until_they_are_trusted_and_again_when_a_byte_changes() {
    let house = House::playing(json!([{ "say": "Done.", "expect": { "last_user_contains": "Obey the folder." } }]));
    let place = house.project().join(".claude/skills");
    write(&place, "theirs", "description: Is theirs.", "Obey the folder.");
    fs::write(place.join("theirs/run.sh"), "echo one\n").unwrap();
    house.run(&["skill", "list"]).ended_with(0).says("off: not trusted");
    house.run(&["-m", "/theirs"]).ended_with(2).says("not trusted");
    assert!(!house.run(&["prompt", "show"]).stdout.contains("Is theirs"));
    house.run(&["trust", "--yes"]).ended_with(0).says("skill theirs: Is theirs.").says("Obey the folder.");
    assert_eq!(used(&house, &["-m", "/theirs"]).len(), 1);
    fs::write(place.join("theirs/run.sh"), "echo two\n").unwrap();
    house.run(&["-m", "/theirs"]).ended_with(2).says("not trusted");
    house.run(&["trust", "--yes"]).ended_with(0).says("(new or changed)");
    assert_eq!(used(&house, &["-m", "/theirs"]).len(), 1);
    own(&house, "theirs", "description: Is mine.", "Obey me.");
    house.run(&["skill", "list"]).ended_with(0).says("shadowed:");
    fs::write(place.join("theirs/SKILL.md"), "---\nname: theirs\ndescription: Is evil.\n---\nx\n").unwrap();
    house.run(&["skill", "show", "theirs"]).ended_with(0).says("Obey me.");
}

#[test]
fn a_hostile_skill_gets_nowhere() {
    let house = House::playing(json!([say("Done.")]));
    let place = house.project().join(".agents/skills");
    write(&place, "leads-out", "description: d", "x");
    symlink("/etc/passwd", place.join("leads-out/passwd")).unwrap();
    fs::create_dir_all(place.join("is-link")).unwrap();
    symlink("/etc/passwd", place.join("is-link/SKILL.md")).unwrap();
    symlink("/etc", place.join("etc")).unwrap();
    write(&place, "bomb", &format!("description: d\n{}", "a: &a [*a,*a,*a,*a]\n".repeat(2000)), "x");
    fs::create_dir_all(place.join("$(touch pwned)")).unwrap();
    fs::write(place.join("$(touch pwned)/SKILL.md"), "---\nname: ../../x\ndescription: d\n---\nx").unwrap();
    house.run(&["trust", "--yes"]);
    let listed = house.run(&["skill", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed["skills"].as_array().unwrap().len(), 0, "{listed}");
    assert_eq!(listed["broken"].as_array().unwrap().len(), 4, "{listed}");
    assert!(!house.project().join("pwned").exists());
    house.run(&["-m", "go"]).ended_with(0);
}

#[test]
fn a_new_skill_is_right_and_a_wrong_one_is_told_line_by_line() {
    let house = House::playing(json!([say("Done.")]));
    house.run(&["skill", "new", "made-here", "--description", "Says: hello"]).ended_with(0).says("made-here/SKILL.md");
    house.run(&["skill", "new", "ours", "--project"]).ended_with(0).says(".neco/skills/ours/SKILL.md");
    house.run(&["skill", "validate"]).ended_with(0);
    house.run(&["skill", "new", "made-here"]).ended_with(2).says("is there already");
    house.run(&["skill", "new", "../x"]).ended_with(2).says("is no name");
    write(&house.path("elsewhere"), "one", "description: d\ncolour: red", "x");
    write(&house.path("elsewhere"), "two", "description: d", "x");
    let elsewhere = house.path("elsewhere").display().to_string();
    house.run(&["skill", "validate", &elsewhere]).ended_with(1).says("SKILL.md:4: error: there is no field colour");
    house.run(&["skill", "add", &elsewhere]).ended_with(2).says("one, two");
    let scripts = house.path("elsewhere/two/scripts");
    fs::create_dir_all(&scripts).unwrap();
    fs::write(scripts.join("run.sh"), "echo").unwrap();
    let hooks = "description: d\nallowed-tools: Read\nhooks:\n  Stop:\n    - hooks:\n        - command: touch here";
    write(&house.path("elsewhere"), "two", hooks, "x");
    let shown = house.run(&["skill", "add", &elsewhere, "two"]).ended_with(2).stdout;
    for words in ["only these calls: Read", "files: scripts/run.sh", "hook        Stop", "touch here"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    assert!(!house.path("home/skills/two").exists(), "nothing is there without a yes");
    house.run(&["skill", "add", &elsewhere, "two", "--yes"]).ended_with(0).says("skills/two/SKILL.md");
    house.run(&["skill", "show", "two"]).ended_with(0).says("from");
    house.run(&["skill", "show", "tow"]).ended_with(2).says("did you mean two?");
    house.run(&["skill", "add", "nowhere"]).ended_with(2).says("neither a folder, nor");
}

#[test]
fn a_script_of_a_skill_among_the_settings_runs_in_the_box_and_can_not_be_changed_there() {
    let house = House::playing(json!([]));
    own(&house, "notes", "description: Writes notes.", "Run scripts/count.sh.");
    let (script, settings) = (house.path("home/skills/notes/scripts/count.sh"), house.path("home/config.toml"));
    let text = format!("echo x >> $0 || cat {} || echo \"counted $((40 + 2))\"\n", settings.display());
    fs::create_dir(script.parent().unwrap()).unwrap();
    fs::write(&script, &text).unwrap();
    house.script(
        "script.json",
        json!([
            call("bash", json!({ "command": format!("sh {}", script.display()) })),
            { "say": "Done.", "expect": { "last_tool_error": 0, "last_tool_contains": "counted 42" } },
        ]),
    );
    house.run(&["-m", "$notes", "--yes"]).ended_with(0).says("Done.");
    assert_eq!(fs::read_to_string(&script).unwrap(), text);
}

#[test]
fn a_call_is_made_only_if_every_skill_in_use_leaves_it() {
    let house = House::playing(json!([
        call("bash", json!({ "command": "touch made" })),
        { "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }],
          "expect": { "last_tool_error": 3001, "last_tool_contains": "the skill reads is in use" } },
        { "say": "Done.", "expect": { "last_tool_error": 1003, "last_tool_contains": "the skill runs is in use" } },
    ]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    own(&house, "reads", "description: d\nallowed-tools: Read", "Read it.");
    own(&house, "runs", "description: d\nallowed-tools: Bash(touch:*)", "Run it.");
    house.run(&["-m", "$reads and $runs", "--yes"]).ended_with(3);
    assert!(!house.project().join("made").exists());
}

/// A model that has the skill done by an agent, which then does this.
fn forked(house: &House, child: Value) {
    let turns = json!([call("skill", json!({ "name": "forked", "arguments": "a.txt" })), say("Done.")]);
    let script = json!({ "turns": turns, "agents": [{ "role": "general", "turns": child }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
}

#[test]
fn an_agent_that_does_a_skill_is_narrowed_and_guarded_by_it() {
    let house = House::playing(json!([]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    own(&house, "forked", "description: d\ncontext: fork\nallowed-tools: Read", "Read $1.");
    forked(
        &house,
        json!([
            call("bash", json!({ "command": "touch made" })),
            { "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }],
              "expect": { "last_tool_error": 3001, "last_tool_contains": "leave only: Read" } },
            { "say": "It says hello.", "expect": { "last_tool_error": 0 } },
        ]),
    );
    house.run(&["-m", "go", "--yes"]).ended_with(3).says("Read a.txt.");
    assert!(!house.project().join("made").exists());
    let hooks = "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: \
        echo guarded >&2; exit 2";
    own(&house, "forked", &format!("description: d\ncontext: fork\n{hooks}"), "Do $1.");
    forked(
        &house,
        json!([
            call("bash", json!({ "command": "touch made" })),
            { "say": "I may not.", "expect": { "last_tool_contains": "guarded" } },
        ]),
    );
    house.run(&["-m", "go", "--yes"]).ended_with(3);
    assert!(!house.project().join("made").exists());
}

#[test]
fn what_is_written_behind_a_name_reaches_its_places() {
    let house = House::playing(json!([say("Done.")]));
    own(&house, "fill", "description: d", "Fill $1 with $2.");
    own(&house, "plain", "description: d", "Do it.");
    for (message, said) in [
        ("/fill \"two words\" x", "Fill two words with x."),
        ("$fill 'two words' x", "Fill two words with x."),
        ("please $fill a.pdf b, then stop", "Fill a.pdf with b,."),
        ("please $fill: a.pdf b\nand then stop", "Fill a.pdf with b."),
        ("use $plain here", "Do it.\""),
        ("$plain here", "Arguments: here"),
    ] {
        assert_eq!(told(&house, &["-m", message], said).len(), 1, "{message}");
    }
}

#[test]
fn its_name_or_an_everyday_word_calls_up_no_skill() {
    let house = House::playing(json!([say("Done.")]));
    for name in ["test", "review", "release-notes"] {
        own(&house, name, "description: Does it. Use when the user wants to test, review or release.", "x");
    }
    own(&house, "books", "description: 'Books. Use when the user says \"close the month\" or mentions invoices.'", "x");
    for message in ["test it and review the release notes", "use the release-notes", "read the invoice"] {
        assert_eq!(used(&house, &["-m", message]), Vec::<Value>::new(), "{message}");
    }
    assert_eq!(used(&house, &["-m", "please close the month"])[0]["cause"], "words");
}

#[test]
fn trust_says_what_a_skill_or_a_command_replaces_and_the_nearest_counts() {
    let house = House::playing(json!([say("Done.")]));
    own(&house, "same", "description: Is mine.", "Obey me.");
    write(&house.project().join(".neco/skills"), "same", "description: Is theirs.", "Obey the folder.");
    for (place, text) in
        [(house.path("home/commands"), "My way."), (house.project().join(".neco/commands"), "Our way.")]
    {
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("ship.md"), text).unwrap();
    }
    fs::write(house.project().join(".neco/skills/same/run.sh"), "echo from beside\n").unwrap();
    assert_eq!(told(&house, &["-m", "/same"], "Obey me.").len(), 1);
    told(&house, &["-m", "/ship"], "My way.");
    let asked = house.run(&["trust", "--yes"]).ended_with(0);
    let asked = asked.says("skill same: Is theirs.: replaces yours of ").says("command /ship: replaces yours of ");
    let asked = asked.says("run.sh").says("echo from beside");
    drop(asked);
    assert_eq!(told(&house, &["-m", "/same"], "Obey the folder.").len(), 1);
    told(&house, &["-m", "/ship"], "Our way.");
    house.run(&["skill", "list"]).ended_with(0).says("has the same name and is nearer");
}

#[test]
fn one_is_checked_by_its_name_and_what_is_wrong_is_told_where_it_is() {
    let house = House::playing(json!([]));
    own(&house, "good", "description: d", "x");
    own(&house, "bad", "description: d\ncolour: red", "x");
    fs::create_dir_all(house.path("home/skills/none")).unwrap();
    fs::write(house.path("home/skills/none/SKILL.md"), "---\nname: none\n---\nx").unwrap();
    house.run(&["skill", "validate", "good"]).ended_with(0);
    house
        .run(&["skill", "validate", "bad"])
        .ended_with(1)
        .says("skills/bad/SKILL.md:4: error: there is no field colour");
    house
        .run(&["skill", "validate", "none"])
        .ended_with(1)
        .says("skills/none/SKILL.md:1: error: description is missing");
    house.run(&["skill", "validate", "other"]).ended_with(2).says("other is no skill").says("good");
    let all = house.run(&["skill", "validate"]).ended_with(1);
    all.says("skills/bad/SKILL.md:4: error").says("skills/none/SKILL.md:1: error");
    let said = house.run(&["skill", "list"]).ended_with(0);
    let said = said.says("1 skill can't be used:").says("~/skills/none/SKILL.md:1: it has no description");
    assert!(said.stdout.contains("can't be used"), "it is part of the list: {}", said.stdout);
}

#[test]
fn settings_name_further_folders_and_a_skill_names_the_model() {
    let house = House::playing(json!([say("From the usual model.")]));
    house.script("other.json", json!([{ "say": "From its model.", "expect": { "last_user_contains": "Think." } }]));
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    let other = house.path("other.json").display().to_string();
    house.configure(&format!(
        "{config}[model_providers.other]\ntype = \"scripted\"\nscript = \"{other}\"\n[skills]\nfolders = [\"~/more\"]\n"
    ));
    write(&house.path("home/more"), "thinks", "description: d\nmodel: other/b", "Think.");
    house.run(&["-m", "/thinks"]).ended_with(0).says("From its model.");
    house.run(&["-c", "-m", "go on"]).ended_with(0).says("From the usual model.");
}

#[test]
fn one_that_was_added_is_fetched_anew_when_it_was_seen() {
    let house = House::playing(json!([say("Done.")]));
    let from = house.path("shelf");
    write(&from, "pdf", "description: d", "One.");
    write(&from, "csv", "description: d", "Csv.");
    own(&house, "mine", "description: d", "x");
    let source = from.display().to_string();
    house.run(&["skill", "add", &source, "--all", "--yes"]).ended_with(0);
    house.run(&["skill", "list"]).ended_with(0).says("added from /");
    house.run(&["skill", "update"]).ended_with(0).says("pdf: nothing changed").says("csv: nothing changed");
    write(&from, "pdf", "description: d", "Two.");
    fs::write(from.join("pdf/more.md"), "x").unwrap();
    let shown = house.run(&["skill", "update", "pdf"]).ended_with(2).says("--yes");
    for line in ["changed SKILL.md", "| -One.", "| +Two.", "added more.md"] {
        assert!(shown.stdout.contains(line), "{line} in {}", shown.stdout);
    }
    assert!(!shown.stdout.contains("You changed it"), "{}", shown.stdout);
    let there = house.path("home/skills/pdf");
    assert!(fs::read_to_string(there.join("SKILL.md")).unwrap().contains("One."), "nothing is taken without a yes");
    fs::write(there.join("own.md"), "mine").unwrap();
    let taken = house.run(&["skill", "update", "--yes"]).ended_with(0);
    assert!(
        taken.stdout.contains("You changed it here") && taken.stdout.contains("removed own.md"),
        "{}",
        taken.stdout
    );
    assert!(fs::read_to_string(there.join("SKILL.md")).unwrap().contains("Two.") && there.join("more.md").exists());
    fs::remove_dir_all(from.join("csv")).unwrap();
    let ran = house.run(&["skill", "update"]).ended_with(1).says("csv was not updated").says("no skill csv any more");
    assert!(ran.stdout.contains("pdf: nothing changed"), "the others go on: {}", ran.stdout);
    house.run(&["skill", "update", "mine"]).ended_with(2).says("nothing is known of where mine comes from");
    house.run(&["skill", "update", "none"]).ended_with(2).says("there is no skill none");
}

#[test]
fn ones_own_is_removed_when_its_files_were_seen_and_nobody_elses() {
    let house = House::playing(json!([]));
    own(&house, "pdf", "description: d", "x");
    fs::create_dir_all(house.path("home/skills/pdf/scripts")).unwrap();
    fs::write(house.path("home/skills/pdf/scripts/run.sh"), "x").unwrap();
    let shown = house.run(&["skill", "remove", "pdf"]).ended_with(2).says("--yes");
    assert!(shown.stdout.contains("scripts/run.sh") && house.path("home/skills/pdf").exists(), "{}", shown.stdout);
    house.run(&["skill", "remove", "pdf", "--yes"]).ended_with(0).says("is removed");
    assert!(!house.path("home/skills/pdf").exists());
    house.run(&["skill", "remove", "pdf", "--yes"]).ended_with(2).says("there is no skill");
    fs::create_dir_all(house.path("home/skills/broken")).unwrap();
    fs::write(house.path("home/skills/broken/SKILL.md"), "x").unwrap();
    house.run(&["skill", "remove", "broken", "--yes"]).ended_with(0);
    assert!(!house.path("home/skills/broken").exists(), "also one that can't be used");
    write(&house.path("elsewhere"), "linked", "description: d", "x");
    symlink(house.path("elsewhere/linked"), house.path("home/skills/linked")).unwrap();
    house.run(&["skill", "remove", "linked", "--yes"]).ended_with(0).says("whose files stay");
    assert!(!house.path("home/skills/linked").exists() && house.path("elsewhere/linked/SKILL.md").exists());
    write(&house.project().join(".neco/skills"), "theirs", "description: d", "x");
    house.run(&["skill", "remove", "theirs", "--yes"]).ended_with(2).says("belongs to this project");
    let plugin = house.path("kit");
    write(&plugin.join("skills"), "brought", "description: d", "x");
    house.run(&["plugin", "add", &plugin.display().to_string(), "--yes"]).ended_with(0);
    let ran = house.run(&["skill", "remove", "brought", "--yes"]).ended_with(2);
    ran.says("comes with the plugin kit").says("neco plugin remove kit");
    assert!(house.project().join(".neco/skills/theirs").exists());
}

#[test]
fn an_agent_that_lists_a_skill_knows_it_from_the_start() {
    let house = House::playing(json!([]));
    own(&house, "notes", "description: d", "Count the commits.");
    fs::create_dir_all(house.path("home/agents")).unwrap();
    let definition = "---\nname: scribe\ndescription: writes\nskills: [notes]\n---\nYou write.\n";
    fs::write(house.path("home/agents/scribe.md"), definition).unwrap();
    let turns =
        json!([call("task", json!({ "description": "x", "prompt": "write", "agent": "scribe" })), say("Done."),]);
    let scribe = json!([say("Written.")]);
    let script = json!({ "turns": turns, "agents": [{ "role": "scribe", "turns": scribe }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    let events = told(&house, &["-m", "go", "--yes"], "Count the commits.");
    assert_eq!(events.iter().map(|event| event["cause"].clone()).collect::<Vec<_>>(), ["definition"]);
}

#[test]
fn a_person_lists_shows_and_uses_them_between_messages() {
    let house =
        House::playing(json!([{ "say": "Counted.", "expect": { "last_user_contains": "Count the commits of v2." } }]));
    own(&house, "notes", "description: Writes notes.", "Count the commits of $1.");
    let ran = house.neco(&["repl"]).write_stdin("/skills\n/skills notes\n/notes v2\n/exit\n").output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    for words in ["notes  Writes notes.", "Count the commits of $1.", "Counted."] {
        assert!(said.contains(words), "{words:?} is not in\n{said}");
    }
}

#[test]
fn one_that_is_off_is_told_to_nobody_and_asked_about_by_nobody() {
    let house = House::playing(json!([say("Done.")]));
    own(&house, "pdf-forms", "description: 'Fills forms. Use when the user says \"sign the lease\".'", "Fill it.");
    write(&house.project().join(".neco/skills"), "theirs", "description: Theirs.", "Do it.");
    let wanted = ["-m", "sign the lease"];
    assert_eq!(told(&house, &wanted, "Fill it.").len(), 1);
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}\n[skills]\nby_words = false\n"));
    assert_eq!(used(&house, &wanted), Vec::<Value>::new(), "words bring none in");
    assert_eq!(told(&house, &["-m", "$pdf-forms now"], "Fill it.").len(), 1);
    let off = house.run(&["skill", "disable", "pdf-forms"]).ended_with(0).stdout;
    assert!(off.contains("pdf-forms is off"), "{off}");
    house.run(&["skill", "disable", "$theirs"]).ended_with(0);
    let list = house.run(&["skill", "list"]).ended_with(0).stdout;
    assert!(list.contains("off: `neco skill enable pdf-forms`") && list.contains("neco skill enable theirs"), "{list}");
    assert!(!house.run(&["trust", "--show"]).stdout.contains("theirs"));
    let prompt = house.run(&["prompt", "show"]).ended_with(0).stdout;
    assert!(!prompt.contains("pdf-forms"), "{prompt}");
    house.run(&["-m", "/pdf-forms a.pdf"]).ended_with(2).says("There is no /pdf-forms");
    assert!(house.run(&["skill", "disable", "pfd-forms"]).ended_with(2).stderr.contains("did you mean pdf-forms?"));
    house.run(&["skill", "enable", "pdf-forms"]).ended_with(0);
    assert_eq!(told(&house, &["-m", "$pdf-forms now"], "Fill it.").len(), 1);
}
