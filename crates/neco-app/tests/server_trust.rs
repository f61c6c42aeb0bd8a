//! MCP servers and skills that a folder brings are off until a person trusts them as they are.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use neco_app::workspace::plugged::{Plugged, Scope};
use neco_config::{Env, LoadOptions, load};
use tempfile::TempDir;

/// A home with settings, and a folder that is worked in.
struct House {
    dir: TempDir,
    env: Env,
}

impl House {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], dir.path());
        let house = Self { dir, env };
        files.iter().for_each(|(name, text)| house.write(name, text));
        house
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn look(&self) -> Plugged {
        let folder = self.project();
        let loaded = load(LoadOptions { env: &self.env, cwd: &folder, overrides: &[] }).unwrap();
        Plugged::look(&self.env, &folder, &loaded)
    }

    fn decide(&self, trusted: bool) {
        self.look().decide(Scope::All, trusted).unwrap();
    }

    /// The servers that there are, each with what it runs.
    fn servers(&self) -> Vec<String> {
        let servers = self.look().servers();
        let told = servers.iter().map(|server| {
            let off = if server.enabled { "" } else { " (off)" };
            format!("{}: {}{off}", server.name, server.in_short())
        });
        told.collect()
    }
}

#[test]
fn a_server_of_the_folder_is_used_when_it_is_trusted_and_asked_about_again_when_it_changes() {
    let shared = |command: &str| format!("{{\"mcpServers\": {{\"x\": {{\"command\": \"{command}\"}}}}}}");
    let house = House::new(&[
        ("home/config.toml", "[mcp_servers.own]\ncommand = 'own'\n[mcp_servers.x]\ncommand = 'mine'"),
        ("project/.mcp.json", &shared("theirs --fast")),
        ("project/.neco/config.toml", "[mcp_servers.y]\nurl = 'https://h/mcp'\nheaders = { a = 'sesame' }"),
    ]);
    let plugged = house.look();
    assert_eq!(house.servers(), ["own: own", "x: mine"], "the user's own stays until another one is trusted");
    assert!(plugged.has_news() && !plugged.is_all_on());
    let note = plugged.note().unwrap();
    assert!(note.starts_with("2 MCP servers of ") && note.contains("the folder is not trusted"), "{note}");
    let described = plugged.describe(Scope::News);
    for words in [
        "  MCP server x: replaces yours of ~/home/config.toml  (~/project/.mcp.json)\n    | theirs --fast\n",
        "  MCP server y  (~/project/.neco/config.toml)\n    | https://h/mcp\n    | sends headers: a\n",
    ] {
        assert!(described.contains(words), "{described}");
    }
    assert!(!described.contains("sesame") && plugged.notices.is_empty(), "{:?}", plugged.notices);

    house.decide(true);
    assert!(house.look().notices.is_empty(), "which takes the place of which is told where servers are listed");
    assert_eq!(house.servers(), ["own: own", "x: theirs --fast", "y: https://h/mcp"]);
    assert!(!house.look().has_news() && house.look().note().is_none());

    house.write("project/.mcp.json", &shared("theirs --wild"));
    assert_eq!(house.servers(), ["own: own", "x: mine", "y: https://h/mcp"]);
    let changed = house.look();
    assert!(changed.has_news() && changed.note().unwrap().contains("new or changed since it was trusted"));
    assert!(changed.describe(Scope::News).contains("  (~/project/.mcp.json)  (new or changed)"));
    house.decide(true);
    assert_eq!(house.servers(), ["own: own", "x: theirs --wild", "y: https://h/mcp"]);
    house.write("project/.mcp.json", &shared("theirs --fast"));
    assert!(house.servers().contains(&"x: theirs --fast".to_owned()), "what was trusted before counts on");
}

#[test]
fn a_server_is_asked_about_again_when_its_program_changes_and_not_when_its_data_does() {
    let shared = r#"{"mcpServers": {"x": {"command": "python3", "args": ["tools/srv.py", "--db", "kept.db"]}}}"#;
    let house = House::new(&[
        ("project/.mcp.json", shared),
        ("project/tools/srv.py", "one"),
        ("project/kept.db", "one"),
        ("project/other.py", "one"),
    ]);
    house.decide(true);
    let on = ["x: python3 tools/srv.py --db kept.db"];
    assert_eq!(house.servers(), on);
    house.write("project/kept.db", "two");
    house.write("project/other.py", "two");
    assert_eq!(house.servers(), on, "neither is what it runs");
    house.write("project/tools/srv.py", "two");
    let changed = house.look();
    assert!(changed.servers().is_empty() && changed.has_news());
    assert!(changed.note().unwrap().contains("new or changed since it was trusted"));
    house.decide(true);
    assert_eq!(house.servers(), on);
}

#[test]
fn who_says_no_is_not_asked_again_and_gets_nothing() {
    let house = House::new(&[("project/.mcp.json", "{\"mcpServers\": {\"x\": {\"command\": \"run\"}}}")]);
    house.decide(false);
    assert!(house.servers().is_empty() && !house.look().has_news());
}

#[test]
fn a_server_that_is_off_needs_no_trust_and_stands_in_for_nobody() {
    let house = House::new(&[
        ("home/config.toml", "[mcp_servers.x]\ncommand = 'mine'\n[mcp_servers.z]\nenabled = false"),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"x": {"command": "a", "disabled": true}, "y": {"command": "b ${NONE}", "disabled": true},
                "z": {"command": "c"}}}"#,
        ),
    ]);
    assert_eq!(house.servers(), ["x: mine", "y: b ${NONE} (off)", "z: c (off)"]);
    let plugged = house.look();
    assert!(plugged.is_empty() && !plugged.has_news() && plugged.notices.is_empty(), "{:?}", plugged.notices);
    // Switched on, it is something that nobody has seen.
    house.write("project/.mcp.json", r#"{"mcpServers": {"y": {"command": "b", "disabled": false}}}"#);
    assert!(house.look().has_news());
    assert_eq!(house.servers(), ["x: mine"]);
}

#[test]
fn a_broken_file_is_told_and_breaks_nothing() {
    let house = House::new(&[
        ("home/config.toml", "[mcp_servers.own]\ncommand = 'own'"),
        ("project/.mcp.json", "{\n\"mcpServers\": {\"x\": }\n}"),
    ]);
    let plugged = house.look();
    assert_eq!(house.servers(), ["own: own"]);
    assert!(
        plugged.notices.len() == 1 && plugged.notices[0].starts_with("~/project/.mcp.json:2:"),
        "{:?}",
        plugged.notices
    );
}

#[test]
fn a_skill_that_is_another_one_by_the_time_it_is_shown_stays_off() {
    let skill = "---\nname: s\ndescription: d\n---\nDo it.\n";
    let house = House::new(&[("project/.neco/skills/s/SKILL.md", skill), ("project/.neco/skills/s/run.sh", "evil\n")]);
    let mut plugged = house.look();
    house.write("project/.neco/skills/s/run.sh", "good\n");
    let described = plugged.describe(Scope::All);
    assert!(described.contains("changed while it was looked at") && !described.contains("good"), "{described}");
    assert_ne!(plugged.fingerprint(), house.look().fingerprint());
    house.write("project/.neco/skills/s/run.sh", "evil\n");
    assert_ne!(plugged.fingerprint(), house.look().fingerprint(), "nobody has seen it");
    plugged.decide(Scope::All, true).unwrap();
    assert!(house.look().skills().skills.is_empty() && house.look().has_news());
    let shown = house.look().describe(Scope::All);
    assert!(shown.contains("| Do it.") && shown.contains("run.sh\n    | evil"), "{shown}");
    house.decide(true);
    assert_eq!(house.look().skills().skills.len(), 1);
}
