//! Plugins: seen before they count, pinned, switched and updated as one, from folders, repositories and lists.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::mcp_use::SERVER;
use crate::support::{House, call, say};

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
}

/// A plugin that brings one of everything.
fn plugin(folder: &Path) {
    let hook = json!([{ "hooks": [{ "type": "command", "command": "touch \"${CLAUDE_PLUGIN_ROOT}/../../ran\"" }] }]);
    let manifest = json!({
        "name": "kit", "version": "1.0", "description": "One of everything", "hooks": { "Stop": hook },
        "mcpServers": { "db": { "command": "${CLAUDE_PLUGIN_ROOT}/server", "enabled": false } },
    });
    write(
        folder,
        &[
            (".claude-plugin/plugin.json", &manifest.to_string()),
            ("skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n"),
            ("commands/ship.md", "Ship version $ARGUMENTS.\n"),
            ("agents/tester.md", "---\nname: tester\ndescription: Tests.\n---\nTest it.\n"),
            ("tools/hello.sh", "# /// tool\n# name = \"hello\"\n# description = \"Says hello.\"\n# ///\necho hello\n"),
        ],
    );
}

#[test]
fn all_that_it_brings_is_shown_and_then_counts() {
    let house = House::playing(json!([{ "say": "Shipped.", "expect": { "last_user_contains": "Ship version 2." } }]));
    let from = house.path("kit");
    plugin(&from);
    let from = from.display().to_string();
    let shown = house.run(&["plugin", "add", &from]).ended_with(2).stdout;
    for line in [
        "skill       greet",
        "command     /kit:ship",
        "agent       tester",
        "tool        hello",
        "| echo hello",
        "touch \"",
        "MCP server  kit-db",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    assert!(!house.path("home/plugins").exists(), "nothing counts without a yes");
    house.run(&["plugin", "add", &from, "--yes"]).ended_with(0).says("kit is installed and on everywhere");
    house.run(&["plugin", "add", &from, "--yes"]).ended_with(0).says("nothing changed");
    house.run(&["plugin", "list"]).ended_with(0).says("One of everything");
    house.run(&["skill", "list"]).ended_with(0).says("greet");
    house.run(&["agents", "list"]).ended_with(0).says("tester");
    house.run(&["tools", "list"]).ended_with(0).says("hello");
    house.run(&["mcp", "list"]).ended_with(0).says("kit-db");
    house.run(&["-m", "/kit:ship 2"]).ended_with(0).says("Shipped.");
    assert!(house.path("home/plugins/ran").exists(), "its hook ran");
    house.run(&["plugin", "disable", "kit"]).ended_with(0).says("kit is off");
    assert!(!house.run(&["skill", "list"]).stdout.contains("greet"));
    house.run(&["plugin", "remove", "kit", "--yes"]).ended_with(0);
    assert!(!house.path("home/plugins/installed/kit").exists());
    house.run(&["plugin", "remove", "kit"]).ended_with(2);
}

#[test]
fn a_skill_of_a_plugin_is_called_in_full_too() {
    let house = House::playing(json!([]));
    for name in ["one", "two"] {
        let skill = |of: &str, text: &str| format!("---\nname: {of}\ndescription: d\n---\n{text} of {name}.\n");
        let manifest = json!({ "name": name }).to_string();
        let (inspect, only) = (skill("inspect", "Look"), skill(&format!("only-{name}"), "Only $ARGUMENTS"));
        let file = format!("skills/only-{name}/SKILL.md");
        let files =
            [(".claude-plugin/plugin.json", manifest.as_str()), ("skills/inspect/SKILL.md", &inspect), (&file, &only)];
        write(&house.path(name), &files);
        house.run(&["plugin", "add", &house.path(name).display().to_string(), "--yes"]).ended_with(0);
    }
    for (line, told) in [
        ("/inspect", "Look of one."),
        ("/one:inspect", "Look of one."),
        ("/two:inspect", "Look of two."),
        ("use $two:inspect, please", "Look of two."),
        ("$two:only-two: this", "Only this of two."),
        ("/only-two this", "Only this of two."),
    ] {
        house.script("script.json", json!([{ "say": "Done.", "expect": { "last_user_contains": told } }]));
        house.run(&["-m", line]).ended_with(0).says("Done.");
    }
    house.script(
        "script.json",
        json!([
            { "calls": [{ "name": "activate", "arguments": { "names": ["two:inspect"] } }] },
            { "say": "Done.", "expect": { "last_tool_contains": "Look of two." } },
        ]),
    );
    house.run(&["-m", "go"]).ended_with(0).says("Done.");
    house.run(&["skill", "list"]).ended_with(0).says("two:inspect");
    house.run(&["skill", "show", "one:inspect"]).ended_with(0).says("Look of one.");
    house.run(&["-m", "/two:inspct"]).ended_with(2).says("two:inspect");
}

#[test]
fn a_new_one_is_right_and_what_is_wrong_with_one_is_told_where_it_is() {
    let house = House::playing(json!([say("Ran.")]));
    for name in ["kit", "My_Kit.2"] {
        house.run(&["plugin", "new", name]).ended_with(0).says("plugin.json").says("commands/run.md");
        let right = house.run(&["plugin", "validate", name]).ended_with(0).says("No problems").says("skill  ");
        assert!(right.stdout.contains(&format!("/{name}:run")), "{}", right.stdout);
        house.run(&["plugin", "add", &format!("./{name}"), "--yes"]).ended_with(0);
    }
    house.run(&["-m", "/kit:run a.txt"]).ended_with(0).says("Ran.");
    house.run(&["session", "show"]).ended_with(0).says("Do this with a.txt.");
    house.run(&["plugin", "new", "kit"]).ended_with(2).says("is there already");
    house.run(&["plugin", "new", "../x"]).ended_with(2).says("is no name for a plugin");
    let folder = house.project().join("kit");
    let hooks = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}/gone.sh\"" }] }] } });
    write(
        &folder,
        &[
            (
                ".neco-plugin/plugin.json",
                "{\n  \"name\": \"kit\",\n  \"version\": \"1\",\n  \"skils\": \"x\",\n  \"agents\": \"./people\"\n}\n",
            ),
            ("skills/bad/SKILL.md", "---\nname: bad\ncolour: red\n---\nx\n"),
            ("skills/odd/skill.md", "---\nname: odd\n---\nx\n"),
            ("commands/open.md", "---\ndescription: d\nx\n"),
            ("commands/empty.md", "---\ndescription: d\nallowed-tools: Bash\n---\n"),
            ("hooks/hooks.json", &format!("{hooks:#}")),
            (".mcp.json", "{\n  \"db\": \n}"),
        ],
    );
    let ran = house.run(&["plugin", "validate", "kit"]).ended_with(1);
    for words in [
        ".neco-plugin/plugin.json:4: warning: skils is known to no agent",
        ".neco-plugin/plugin.json:5: error: agents names ./people, which is not there",
        ".neco-plugin/plugin.json:1: warning: description is missing",
        "skills/bad/SKILL.md:3: error: there is no field colour",
        "skills/bad/SKILL.md:1: error: description is missing",
        "skills/odd/skill.md:1: error: its file has to be called SKILL.md",
        "commands/open.md:1: error: the head that begins here has no end",
        "commands/empty.md:3: warning: allowed-tools has no effect",
        "commands/empty.md:1: error: it says nothing",
        "which is not there",
        "gone.sh",
        ".mcp.json:3: error: it is not JSON",
    ] {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    let json = house.run(&["-C", &folder.display().to_string(), "plugin", "validate", "--json"]).ended_with(1).json();
    assert!(json["problems"].as_array().unwrap().len() >= 10, "{json}");
    write(&folder, &[(".neco-plugin/plugin.json", "{ \"name\": \"kit\",\n \"version\" }")]);
    house.run(&["plugin", "validate", "kit"]).ended_with(1).says("plugin.json:2: error: it is not JSON");
    house.run(&["plugin", "validate", "none"]).ended_with(2);
    fs::create_dir(house.project().join("blank")).unwrap();
    house.run(&["plugin", "validate", "blank"]).ended_with(2).says("is no plugin");
}

#[test]
fn marketplaces_are_searched() {
    let house = House::playing(json!([]));
    house.run(&["plugin", "search", "x"]).ended_with(0).says("You added no marketplace");
    let list = house.path("list");
    plugin(&list.join("kit"));
    let named = json!({ "name": "shelf", "plugins": [
        { "name": "kit", "source": "./kit", "description": "One of everything" },
        { "name": "lint", "source": "./lint", "description": "Checks", "keywords": ["Formatter", "kitchen"] },
    ]});
    write(&list, &[(".claude-plugin/marketplace.json", &named.to_string())]);
    house.run(&["plugin", "marketplace", "add", &list.display().to_string()]).ended_with(0);
    let all = house.run(&["plugin", "search"]).ended_with(0).stdout;
    assert_eq!(all, "kit@shelf  One of everything\nlint@shelf  Checks\n");
    let lines = |words: &[&str]| {
        let line: Vec<&str> = ["plugin", "search"].iter().chain(words).copied().collect();
        house
            .run(&line)
            .ended_with(0)
            .stdout
            .lines()
            .map(|line| line.split('@').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(lines(&["FORMAT", "check"]), ["lint"]);
    assert_eq!(lines(&["kit"]), ["kit", "lint"], "the name comes first");
    house.run(&["plugin", "search", "nothing"]).ended_with(0).says("No plugin in 1 marketplace");
    house.run(&["plugin", "add", "kit@shelf", "--yes"]).ended_with(0);
    house.run(&["plugin", "search", "everything"]).ended_with(0).says("kit@shelf (installed)");
    fs::remove_dir_all(&list).unwrap();
    house.run(&["plugin", "search"]).ended_with(0).says("The marketplace shelf can't be read");
}

#[test]
fn what_changed_is_off_until_it_was_seen() {
    let house = House::playing(json!([say("Hello.")]));
    let from = house.path("kit");
    plugin(&from);
    house.run(&["plugin", "add", &from.display().to_string(), "--yes"]).ended_with(0);
    write(&house.path("home/plugins/installed/kit"), &[("tools/hello.sh", "echo other\n")]);
    let ran = house.run(&["plugin", "list"]).ended_with(0);
    for words in
        ["not what you said yes to (tools/hello.sh changed)", "neco plugin update kit", "neco plugin remove kit"]
    {
        assert!(ran.stdout.contains(words), "{words} in {}", ran.stdout);
    }
    assert!(house.run(&["doctor"]).stdout.contains("tools/hello.sh changed"), "doctor tells of it");
    assert!(!house.run(&["skill", "list"]).stdout.contains("greet"), "nothing of it counts");
    write(&from, &[("commands/next.md", "Next.\n"), ("commands/ship.md", "Ship.\n")]);
    let shown = house.run(&["plugin", "update", "kit"]).ended_with(2).stdout;
    for line in [
        "+ command /kit:next",
        "added commands/next.md",
        "changed commands/ship.md",
        "| -Ship version $ARGUMENTS.",
        "| +Ship.",
        "changed tools/hello.sh",
    ] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    house.run(&["plugin", "update", "--yes"]).ended_with(0);
    house.run(&["skill", "list"]).ended_with(0).says("greet");
    house.run(&["plugin", "update"]).ended_with(0).says("kit: nothing changed");
}

#[test]
fn one_can_be_for_a_folder_alone() {
    let house = House::playing(json!([say("Hello.")]));
    plugin(&house.path("kit"));
    let (from, other) = (house.path("kit").display().to_string(), house.path("other"));
    fs::create_dir(&other).unwrap();
    house.run(&["plugin", "add", &from, "--project", "--yes"]).ended_with(0);
    house.run(&["skill", "list"]).ended_with(0).says("greet");
    let other = other.display().to_string();
    assert!(!house.run(&["-C", &other, "skill", "list"]).ended_with(0).stdout.contains("greet"));
    house.run(&["-C", &other, "plugin", "enable", "kit", "--project"]).ended_with(0).says("on here");
    house.run(&["-C", &other, "skill", "list"]).ended_with(0).says("greet");
    house.run(&["plugin", "disable", "kit", "--project"]).ended_with(0);
    assert!(!house.run(&["skill", "list"]).stdout.contains("greet"));
}

#[test]
fn repositories_and_lists_are_followed_and_pinned() {
    let house = House::playing(json!([say("Hello.")]));
    let list = house.path("list");
    plugin(&list.join("plugins/kit"));
    let named = json!({ "name": "shelf", "plugins": [
        { "name": "kit", "source": "./plugins/kit", "description": "One of everything" },
        { "name": "out", "source": "../../etc" },
    ]});
    write(&list, &[(".claude-plugin/marketplace.json", &named.to_string())]);
    symlink("/etc/passwd", list.join("plugins/kit/passwd")).unwrap();
    for words in
        [&["init", "-q"][..], &["add", "."], &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]]
    {
        assert!(Command::new("git").arg("-C").arg(&list).args(words).status().unwrap().success());
    }
    let address = format!("file://{}", list.display());
    let added = house.run(&["plugin", "marketplace", "add", &address]).ended_with(0);
    assert!(added.stdout.contains("kit@shelf") && added.stderr.contains("leads out"), "{}", added.stderr);
    house.run(&["plugin", "add", "kit@shelf", "--yes"]).ended_with(0);
    let installed = house.path("home/plugins/installed/kit/passwd");
    assert_eq!(fs::read_to_string(installed).unwrap(), "/etc/passwd", "a link is a file with its text");
    house.run(&["plugin", "add", "none@shelf", "--yes"]).ended_with(2);
    house.run(&["plugin", "marketplace", "remove", "shelf"]).ended_with(0);
    house.run(&["plugin", "list"]).ended_with(0).says("kit");
    let below = format!("{address}#HEAD");
    let ran = house.run(&["plugin", "add", &below, "--yes"]);
    assert_ne!(ran.code, 0, "the list itself is no plugin: {}", ran.stdout);
}

#[test]
fn a_hostile_one_gets_nowhere() {
    let house = House::playing(json!([say("Hello.")]));
    let evil = |files: &[(&str, &str)]| {
        let folder = house.path("evil");
        let _ = fs::remove_dir_all(&folder);
        write(&folder, files);
        folder
    };
    for manifest in [
        json!({ "name": "../../x" }),
        json!({ "name": "x", "skills": "../../home" }),
        json!({ "name": "x", "hooks": "/etc/hooks.json" }),
    ] {
        let folder = evil(&[(".neco-plugin/plugin.json", &manifest.to_string())]);
        house.run(&["plugin", "add", &folder.display().to_string(), "--yes"]).ended_with(2);
    }
    let folder = evil(&[("skills/a/SKILL.md", "---\nname: a\ndescription: b\n---\n")]);
    symlink("/etc", folder.join("skills/out")).unwrap();
    house.run(&["plugin", "add", &folder.display().to_string(), "--yes"]).ended_with(2);
    for address in ["ext::sh -c true", "--upload-pack=true", "https://h/x#--x"] {
        house.run(&["plugin", "add", "--yes", "--", address]).ended_with(2);
    }
    assert!(house.run(&["plugin", "list"]).ended_with(0).stdout.contains("No plugins"));
}

#[test]
fn its_own_server_and_scripts_run_where_the_settings_are_closed() {
    let house = House::playing(json!([]));
    let from = house.path("kit");
    let server = json!({ "command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/server.sh"] });
    let manifest = json!({ "name": "kit", "mcpServers": { "docs": server } }).to_string();
    let served = SERVER.replace("touch \"$0.called\"", ":");
    write(
        &from,
        &[
            (".claude-plugin/plugin.json", manifest.as_str()),
            ("server.sh", served.as_str()),
            ("scripts/count.sh", "echo \"counted $((40 + 2))\"\n"),
        ],
    );
    house.run(&["plugin", "add", &from.display().to_string(), "--yes"]).ended_with(0);
    house.run(&["mcp", "test", "kit-docs"]).ended_with(0).says("count");
    let script = house.path("home/plugins/installed/kit/scripts/count.sh");
    house.script(
        "script.json",
        json!([
            call("mcp__kit-docs__count", json!({})),
            { "calls": [{ "name": "bash", "arguments": { "command": format!("sh {}", script.display()) } }],
              "expect": { "last_tool_error": 0, "last_tool_contains": "1" } },
            { "say": "Done.", "expect": { "last_tool_error": 0, "last_tool_contains": "counted 42" } },
        ]),
    );
    house.run(&["-m", "count", "--yes"]).ended_with(0).says("Done.");
}

#[test]
fn what_can_not_be_used_is_told_before_the_yes() {
    let house = House::playing(json!([say("Hello.")]));
    let folder = house.path("odd");
    let tool = "# /// tool\n# name = \"read_file\"\n# description = \"Reads.\"\n# ///\necho\n";
    write(&folder, &[("tools/read.sh", tool), (".neco-plugin/plugin.json", r#"{"name": "odd", "themes": {}}"#)]);
    let from = folder.display().to_string();
    let ran = house.run(&["plugin", "add", &from, "--yes"]).ended_with(2);
    for words in ["brings nothing that Neco can use", "read_file is a tool that comes with Neco", "`themes` of odd"] {
        assert!(ran.stderr.contains(words), "{words} in {}", ran.stderr);
    }
    write(&folder, &[("commands/a.md", "A.\n")]);
    let told = |ran: &str| ran.contains("read_file is a tool that comes with Neco");
    assert!(told(&house.run(&["plugin", "add", &from, "--yes"]).ended_with(0).stderr));
    assert!(told(&house.run(&["plugin", "show", "odd"]).ended_with(0).stderr));
    assert!(told(&house.run(&["plugin", "list"]).ended_with(0).stderr));
}

#[test]
fn an_update_goes_on_where_a_list_is_gone() {
    let house = House::playing(json!([say("Hello.")]));
    let list = house.path("list");
    plugin(&list.join("kit"));
    write(&house.path("own"), &[("commands/a.md", "A.\n")]);
    let listing = |names: &[&str]| {
        let plugins: Vec<_> = names.iter().map(|name| json!({ "name": name, "source": "./kit" })).collect();
        let text = json!({ "name": "shelf", "plugins": plugins }).to_string();
        write(&list, &[("marketplace.json", &text)]);
        for words in [
            &["init", "-q"][..],
            &["add", "."],
            &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"],
        ] {
            assert!(Command::new("git").arg("-C").arg(&list).args(words).status().unwrap().success());
        }
    };
    listing(&["kit", "old"]);
    let address = format!("file://{}", list.display());
    let added = house.run(&["plugin", "marketplace", "add", &address]).ended_with(0);
    assert!(added.stderr.contains("Fetching file://"), "{}", added.stderr);
    listing(&["kit", "new"]);
    let updated = house.run(&["plugin", "marketplace", "update"]).ended_with(0).stdout;
    assert!(updated.contains("+ new@shelf") && updated.contains("- old@shelf"), "{updated}");
    house.run(&["plugin", "marketplace", "update", "none"]).ended_with(2);
    house.run(&["plugin", "add", "kit@shelf", "--yes"]).ended_with(0);
    house.run(&["plugin", "add", &house.path("own").display().to_string(), "--yes"]).ended_with(0);
    house.run(&["plugin", "marketplace", "remove", "shelf"]).ended_with(0);
    write(&house.path("own"), &[("commands/a.md", "B.\n")]);
    let ran = house.run(&["plugin", "update", "--yes"]).ended_with(1);
    assert!(ran.stderr.contains("kit was not updated: there is no marketplace"), "{}", ran.stderr);
    assert!(ran.stdout.contains("+B.") && ran.stdout.contains("own is installed"), "{}", ran.stdout);
    assert!(house.run(&["doctor"]).stdout.contains("the plugin kit can't be updated"), "doctor tells of it");
}

#[test]
fn texts_of_a_plugin_know_where_it_is() {
    let house = House::playing(json!([say("Seen.")]));
    let folder = house.path("root");
    let skill = "---\nname: see\ndescription: Sees.\n---\nSee ${CLAUDE_PLUGIN_ROOT}/seen.txt.\n";
    write(&folder, &[("commands/look.md", "Look at ${CLAUDE_PLUGIN_ROOT}/data.txt.\n"), ("see/SKILL.md", skill)]);
    write(&folder, &[(".neco-plugin/plugin.json", r#"{"name": "root", "skills": ["./see"]}"#)]);
    house.run(&["plugin", "add", &folder.display().to_string(), "--yes"]).ended_with(0);
    for (line, file) in [("/root:look", "data.txt"), ("$see", "seen.txt")] {
        let seen = house.run(&["-m", line, "--output-format", "stream-json"]).ended_with(0).stdout;
        assert!(seen.contains(&format!("plugins/installed/root/{file}")), "{seen}");
    }
    house.run(&["plugin", "update"]).ended_with(0).says("root: nothing changed");
}

/// Runs git in a folder; gives what it printed.
fn git(folder: &Path, words: &[&str]) -> String {
    let own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").arg("-C").arg(folder).args(own).args(words).output().unwrap();
    assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

#[test]
fn one_of_a_repository_is_taken_at_its_tag_pinned_by_its_commit_and_updated() {
    let house = House::playing(json!([say("Hello.")]));
    let (work, bare) = (house.path("work"), house.path("kit.git"));
    plugin(&work);
    write(&work, &[(".gitattributes", "*.md filter=own text eol=crlf\n")]);
    let filter = format!("[filter \"own\"]\nsmudge = \"touch {}; cat\"\n", house.path("ran").display());
    fs::write(house.path("home/.gitconfig"), filter).unwrap();
    let commit = |text: &str| {
        write(&work, &[("commands/ship.md", text)]);
        git(&work, &["add", "."]);
        git(&work, &["commit", "-qm", text]);
        git(&work, &["rev-parse", "HEAD"])
    };
    git(&work, &["init", "-q"]);
    let first = commit("First.\n");
    git(&work, &["tag", "v1"]);
    let second = commit("Second.\n");
    git(house.path("").as_path(), &["clone", "-q", "--bare", "work", "kit.git"]);
    let installed = || {
        let list = fs::read_to_string(house.path("home/plugins/plugins.json")).unwrap();
        let list: Value = serde_json::from_str(&list).unwrap();
        let text = fs::read_to_string(house.path("home/plugins/installed/kit/commands/ship.md")).unwrap();
        (list["plugins"][0]["commit"].as_str().unwrap().to_owned(), text)
    };
    let address = format!("file://{}", bare.display());
    let added = house.run(&["plugin", "add", &format!("{address}#v1"), "--yes"]).ended_with(0).stdout;
    assert!(added.contains(first.get(..7).unwrap()), "the commit is told: {added}");
    assert_eq!(installed(), (first, "First.\n".to_owned()), "as it was committed");
    assert!(!house.path("ran").exists(), "no filter of the person's own runs");
    house.run(&["plugin", "update", "kit"]).ended_with(0).says("kit: nothing changed");
    house.run(&["plugin", "remove", "kit", "--yes"]).ended_with(0);
    house.run(&["plugin", "add", &address, "--yes"]).ended_with(0);
    assert_eq!(installed(), (second, "Second.\n".to_owned()));
    let third = commit("Third.\n");
    git(&work, &["push", "-q", &bare.display().to_string(), "HEAD"]);
    let shown = house.run(&["plugin", "update", "kit", "--yes"]).ended_with(0).stdout;
    assert!(shown.contains("| -Second.") && shown.contains("| +Third."), "{shown}");
    assert_eq!(installed(), (third, "Third.\n".to_owned()));
}

#[test]
fn its_workflows_run_and_take_the_place_of_none() {
    let house = House::playing(json!([say("Hello.")]));
    let workflow = |name: &str| format!("name = '{name}'\n[[tasks]]\nid = 'a'\ncommand = 'echo of {name}'\n");
    let from = house.path("flows");
    let (hello, delivery, mine) = (workflow("hello"), workflow("delivery"), workflow("mine"));
    write(
        &from,
        &[
            ("workflows/hello.toml", hello.as_str()),
            ("workflows/delivery.toml", delivery.as_str()),
            ("workflows/mine.toml", mine.as_str()),
            ("commands/ask.md", "---\nmodel: play/b\n---\nAsk.\n"),
        ],
    );
    write(&house.path("home"), &[("workflows/mine.toml", &mine.replace("echo", "echo mine"))]);
    let ran = house.run(&["plugin", "add", &from.display().to_string(), "--yes"]).ended_with(0);
    assert!(ran.stdout.contains("workflow    hello") && !ran.stdout.contains("workflow    delivery"), "{}", ran.stdout);
    assert!(ran.stdout.contains("asks the model play/b"), "{}", ran.stdout);
    for words in ["delivery.toml is left out: one that comes with Neco", "mine.toml is left out: yours of ~/workflows"]
    {
        assert!(ran.stderr.contains(words), "{words} in {}", ran.stderr);
    }
    let output = |name: &str| {
        let ran = house.run(&["workflow", "run", name, "-y", "--output-format", "json"]).ended_with(0);
        ran.json()["tasks"][0]["output"].as_str().unwrap().to_owned()
    };
    assert_eq!((output("hello").as_str(), output("mine").as_str()), ("of hello", "mine of mine"));
    let listed = house.run(&["workflow", "show", "delivery"]);
    assert!(!listed.stdout.contains("echo of delivery"), "{}", listed.stdout);
}

#[test]
fn those_of_codex_and_gemini_work_in_a_run() {
    let house = House::playing(json!([{ "say": "One.", "expect": { "last_user_contains": "Say hello." } }]));
    let skill = "---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n";
    write(
        &house.path("codex"),
        &[(".codex-plugin/plugin.json", r#"{"name": "codex", "version": "1"}"#), ("skills/greet/SKILL.md", skill)],
    );
    let gemini = r#"{"name": "gemini", "version": "1", "contextFileName": "RULES.md"}"#;
    write(
        &house.path("gemini"),
        &[
            ("gemini-extension.json", gemini),
            ("RULES.md", "Never ship on Fridays.\n"),
            ("commands/ship.toml", "prompt = \"Ship to {{args}}.\"\n"),
        ],
    );
    for name in ["codex", "gemini"] {
        house.run(&["plugin", "add", &house.path(name).display().to_string(), "--yes"]).ended_with(0);
    }
    house.run(&["-m", "$greet"]).ended_with(0).says("One.");
    let expect = json!({ "last_user_contains": "Ship to Mars.", "system_contains": "Never ship on Fridays." });
    house.script("script.json", json!([{ "say": "Two.", "expect": expect }]));
    house.run(&["-m", "/gemini:ship Mars"]).ended_with(0).says("Two.");
}

#[test]
fn one_of_a_folder_above_is_switched_off_there() {
    let house = House::playing(json!([say("Hello.")]));
    plugin(&house.path("kit"));
    house.run(&["plugin", "add", &house.path("kit").display().to_string(), "--project", "--yes"]).ended_with(0);
    let deep = house.path("project/deep");
    fs::create_dir(&deep).unwrap();
    let deep = deep.display().to_string();
    house.run(&["-C", &deep, "plugin", "disable", "kit", "--project"]).ended_with(2).says("switch it off there");
    house.run(&["plugin", "disable", "kit", "--project"]).ended_with(0);
}

#[test]
fn a_skill_is_written_into_the_project_and_nowhere_else() {
    let house = House::playing(json!([say("Hello.")]));
    let skill = "---\nname: greet\ndescription: Greets people.\n---\nSay hello.\n";
    write(&house.path("greet"), &[("SKILL.md", skill), ("node_modules/x/index.js", "")]);
    fs::create_dir_all(house.path("project/.neco")).unwrap();
    fs::create_dir(house.path("elsewhere")).unwrap();
    symlink("../../elsewhere", house.path("project/.neco/skills")).unwrap();
    let from = house.path("greet").display().to_string();
    for line in [&["skill", "new", "mine", "--project"][..], &["skill", "add", &from, "--project", "--yes"]] {
        house.run(line).ended_with(2).says("leads out of the project");
    }
    assert_eq!(fs::read_dir(house.path("elsewhere")).unwrap().count(), 0);
    let added = house.run(&["skill", "add", &from, "--yes"]).ended_with(0);
    assert!(added.stdout.contains("without the folders node_modules"), "{}", added.stdout);
}
