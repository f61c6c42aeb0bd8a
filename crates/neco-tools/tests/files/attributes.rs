//! Access lists and other attributes survive every way to change a file.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::desk::{Desk, no_leftovers};

fn run(program: &str, arguments: &[&str], path: &Path) -> Option<String> {
    let output = Command::new(program).args(arguments).arg(path).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What the system says of a file besides its content.
fn facts(path: &Path) -> String {
    let list = run("getfacl", &["-cpn"], path).unwrap();
    let attributes = run("getfattr", &["-d", "--absolute-names"], path).unwrap();
    let attributes = attributes.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    format!("{list}{attributes}")
}

/// A desk with a file that has an access list and an attribute; nothing where such things can't be set.
async fn desk() -> Option<Desk> {
    let desk = Desk::new();
    let path = desk.put("a.txt", "mine\n");
    let set = run("setfacl", &["-m", "u:12345:rw,g::r,m::rw,o::-"], &path)
        .and_then(|_| run("setfattr", &["-n", "user.note", "-v", "kept"], &path));
    if set.is_none() {
        eprintln!("skipped: access lists and attributes can't be set here (are acl and attr installed?)");
        return None;
    }
    desk.read("a.txt").await;
    Some(desk)
}

#[tokio::test]
async fn no_change_takes_an_access_list_or_attribute_away() {
    let patch = |body: &str| json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") });
    let calls: [(&str, Value, &str); 4] = [
        ("write_file", json!({"path": "a.txt", "content": "new\n"}), "a.txt"),
        ("edit_file", json!({"path": "a.txt", "old_string": "mine", "new_string": "new"}), "a.txt"),
        ("apply_patch", patch("*** Update File: a.txt\n-mine\n+new\n"), "a.txt"),
        ("apply_patch", patch("*** Update File: a.txt\n*** Move to: sub/b.txt\n-mine\n+new\n"), "sub/b.txt"),
    ];
    for (tool, arguments, after) in calls {
        let Some(desk) = desk().await else { return };
        let before = facts(&desk.workspace.join("a.txt"));
        assert!(before.contains("user:12345:rw-") && before.contains("group::r--") && before.contains("user.note"));
        desk.call(tool, arguments).await.unwrap();
        assert_eq!(desk.bytes(after), b"new\n", "{tool}");
        assert_eq!(facts(&desk.workspace.join(after)), before, "{tool}");
        no_leftovers(&desk.workspace);
    }
}

#[tokio::test]
async fn what_a_folder_gives_to_new_files_is_not_given_to_old_ones() {
    let Some(desk) = desk().await else { return };
    let path = desk.put("b.txt", "mine\n");
    let before = facts(&path);
    run("setfacl", &["-d", "-m", "u:12345:rwx"], &desk.workspace).unwrap();
    desk.read("b.txt").await;
    desk.call("edit_file", json!({"path": "b.txt", "old_string": "mine", "new_string": "new"})).await.unwrap();
    assert_eq!(facts(&path), before, "nobody may more than before");
    desk.call("write_file", json!({"path": "c.txt", "content": "x"})).await.unwrap();
    assert!(facts(&desk.workspace.join("c.txt")).contains("user:12345:rwx"), "a new file is as the folder says");
}
