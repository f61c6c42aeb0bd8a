//! Files `.mcp.json`, and what comes out of them.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use neco_config::{Env, shared_servers};

const ROOT: &str = r#"{
 "mcpServers": {
  "a": {"type": "stdio", "command": "one"},
  "b": {"command": 3},
  "c": 4,
  "d": {"command": "x", "alwaysAllow": ["*"]}
 }
}"#;

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The servers for work in a folder of `root`, each in one line, and what is said.
fn read(root: &Path, folder: &str) -> (Vec<String>, Vec<String>) {
    let tame = |text: String| text.replace(&format!("{}/", root.display()), "");
    let (servers, notices) = shared_servers(&Env::for_test([], root.join("home")), &root.join(folder));
    let servers = servers.iter().map(|server| {
        let command = server.section.command.as_deref().unwrap_or("-");
        tame(format!("{} {command} of {} in {}", server.name, server.folder.display(), server.origin))
    });
    (servers.collect(), notices.iter().map(|notice| tame(notice.to_string())).collect())
}

#[test]
fn servers_are_read_from_the_root_of_the_repository_to_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    write(&root.join("repo/.git/HEAD"), "");
    write(&root.join(".mcp.json"), r#"{"mcpServers": {"above": {"command": "x"}}}"#);
    write(&root.join("repo/.mcp.json"), ROOT);
    write(&root.join("repo/part/.mcp.json"), r#"{"mcpServers": {"a": {"command": "two"}}}"#);
    let (servers, said) = read(root, "repo/part");
    assert_eq!(
        servers,
        [
            "a one of repo in repo/.mcp.json:3:8",
            "d x of repo in repo/.mcp.json:6:8",
            "a two of repo/part in repo/part/.mcp.json:1:22",
        ]
    );
    assert_eq!(
        said,
        [
            "repo/.mcp.json:4:20: mcp_servers.b.command: left out: expected a string that is not empty, found a whole number",
            "repo/.mcp.json:5:8: mcp_servers.c: left out: expected a table, found the whole number 4",
        ]
    );
}

#[test]
fn a_file_that_can_not_be_used_is_told_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let deep = format!("{{\"mcpServers\": {{\"a\": {}1{}}}}}", "[".repeat(100_000), "]".repeat(100_000));
    for (name, text, expected) in [
        ("broken", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"sk-1\"},\n  }\n}", ":4:3: left out: not JSON: "),
        ("empty", "{\"servers\": {}}", ": left out: it has no \"mcpServers\""),
        ("list", "{\"mcpServers\": [1]}", ":1:16: mcp_servers: left out: expected a table of servers"),
        ("huge", &" ".repeat(2 << 20), ": left out: can't be read: larger than 1048576 bytes"),
        ("deep", &deep, ":1:"),
    ] {
        write(&root.join(name).join(".mcp.json"), text);
        let (servers, said) = read(root, name);
        assert!(servers.is_empty() && said.len() == 1, "{servers:?} {said:?}");
        assert!(said[0].starts_with(&format!("{name}/.mcp.json{expected}")) && !said[0].contains("sk-1"), "{said:?}");
    }
    fs::create_dir_all(root.join("folder/.mcp.json")).unwrap();
    assert!(read(root, "folder").1.is_empty(), "it holds the place of a file that a box must not make");
    assert_eq!(read(root, "nothing"), (Vec::new(), Vec::new()));
}
