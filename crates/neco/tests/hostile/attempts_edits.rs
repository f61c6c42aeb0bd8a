//! Paths in other clothes: whatever stands around a path, it leads where it leads.

use serde_json::{Value, json};

use crate::attempts::Attempt;
use crate::world::World;

/// Every way to write a path with something around it.
fn dressed(path: &str) -> Vec<String> {
    let escaped: String = path.bytes().map(|byte| format!("%{byte:02x}")).collect();
    vec![
        format!("\"{path}\""),
        format!("'{path}'"),
        format!("`{path}`"),
        format!("<{path}>"),
        format!(" {path}\n"),
        format!("{path}/"),
        format!("file://{path}"),
        format!("file://localhost{path}"),
        format!("\"file://{path}\""),
        format!("file://{escaped}"),
        path.replace('/', "\\"),
    ]
}

/// The attempts, with the places of this world.
pub fn all(world: &World) -> Vec<Attempt> {
    let out = world.out().join("touched").display().to_string();
    let key = world.home().join(".ssh/id_rsa").display().to_string();
    let mut calls: Vec<(&str, Value)> = Vec::new();
    for path in dressed(&out).into_iter().chain(dressed("../out/touched")).chain(dressed("leads-out/touched")) {
        calls.push(("write_file", json!({"path": [path], "content": "owned"})));
        calls.push(("edit_file", json!({"path": path, "old_string": "", "new_string": "owned"})));
        let patch = format!(" *** Begin Patch\n *** Add File: {path}\n+owned\n *** End Patch\n");
        calls.push(("apply_patch", json!({ "patch": patch })));
    }
    for path in dressed(&key).into_iter().chain(dressed("secret-link")).chain(dressed("../home/.ssh/id_rsa")) {
        calls.push(("read_file", json!({"path": path, "limit": "5", "why": "to look"})));
        calls.push(("grep", json!({"pattern": ".", "path": path, "output": "CONTENT"})));
    }
    let hook = format!("#!/bin/sh\ntouch {out}\n");
    for path in dressed(".git/hooks/post-checkout").into_iter().chain(dressed(".GIT/hooks/post-checkout")) {
        calls.push(("write_file", json!({"path": path, "content": hook})));
    }
    calls.into_iter().map(|(tool, arguments)| Attempt::call(tool, arguments.to_string())).collect()
}
