//! What the model gets.

use neco_proto::{Display, ErrorCode, Risk};
use serde_json::json;

use crate::desk::Desk;

fn project() -> Desk {
    let desk = Desk::new();
    desk.put(".gitignore", "target/\n");
    desk.put(
        "src/session.rs",
        "//! Sessions.\n\n/// Opens a session again after a crash.\npub fn resume_session(id: u64) -> Session {\n    Session::load(id)\n}\n",
    );
    desk.put(
        "src/store.rs",
        "use crate::session::resume_session;\n\npub struct Session {\n    id: u64,\n}\n\nimpl Session {\n    pub fn load(id: u64) -> Self {\n        Self { id }\n    }\n}\n\npub fn boot() {\n    let load = 1;\n    resume_session(load);\n}\n",
    );
    desk.put("docs/guide.md", "# Guide\n\nHow a session is resumed after a crash.\n");
    desk.put("target/out.rs", "fn resume_session() {}\n");
    desk.put(".env", "SESSION=resume\n");
    desk
}

#[tokio::test]
async fn a_question_gives_files_with_the_lines_that_fit() {
    let desk = project();
    let text = desk.text("code_search", json!({"query": "resume after crash"})).await;
    assert_eq!(
        text,
        "src/session.rs\n3: /// Opens a session again after a crash.\n\ndocs/guide.md\n3: How a session is resumed after a crash.\n\n\
         src/store.rs\n1: use crate::session::resume_session;\n15: resume_session(load);\n(3 files)\n"
    );
    let page = desk.text("code_search", json!({"query": "session", "limit": 1, "skip": 1})).await;
    assert!(page.ends_with("(1 of 3 files shown; go on with skip=2)\n"), "{page}");
    let docs = desk.text("code_search", json!({"query": "session", "path": "docs"})).await;
    assert!(docs.starts_with("docs/guide.md\n") && docs.ends_with("(1 file)\n"), "{docs}");
    let rust = desk.text("code_search", json!({"query": "session", "glob": "!*.rs"})).await;
    assert_eq!(rust, docs);
    let none = desk.text("code_search", json!({"query": "teleportation"})).await;
    assert_eq!(none, "No file fits; try other words, or grep for exact text.\n");
    let near = desk.text("code_search", json!({"query": "sesion"})).await;
    assert!(near.ends_with("(sesion is nowhere; searched for session instead)\n"), "{near}");
    assert_eq!(desk.error("code_search", json!({"query": " "})).await.0, ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn what_came_from_files_is_marked_as_such() {
    let desk = project();
    let output = desk.call("code_search", json!({"query": "session", "limit": 1})).await.unwrap();
    let outside = output.outside.unwrap();
    assert!(output.model[outside.part.end..].starts_with("(1 of 3 files shown"), "{}", output.model);
    assert!(matches!(output.display, Some(Display::List { total: 3, .. })));
}

#[tokio::test]
async fn a_name_gives_its_definitions() {
    let desk = project();
    let find = async |arguments| desk.text("code_index", arguments).await;
    assert_eq!(
        find(json!({"action": "definitions", "name": "Session::load"})).await,
        "src/store.rs\n8: pub fn load(id: u64) -> Self {  [method in Session, lines 8–10]\n(1 definition)\n"
    );
    assert_eq!(
        find(json!({"action": "definitions", "name": "resume"})).await,
        "src/session.rs\n4: pub fn resume_session(id: u64) -> Session {  [function, lines 4–6]\n\
         (no name is exactly this; these begin with it)\n(1 definition)\n"
    );
    assert_eq!(
        find(json!({"action": "definitions", "name": "Session", "kind": "enum"})).await,
        "Nothing is defined under a name like Session; try code_search or grep.\n"
    );
    let (code, message) = desk.error("code_index", json!({"action": "definitions"})).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("name"), "{message}");
}

#[tokio::test]
async fn a_name_gives_its_uses_page_by_page() {
    let desk = project();
    let find = async |arguments| desk.text("code_index", arguments).await;
    assert_eq!(
        find(json!({"action": "references", "name": "resume_session"})).await,
        "src/store.rs\n1: use crate::session::resume_session;\n15: resume_session(load);\n(2 lines in 1 file)\n"
    );
    assert_eq!(
        find(json!({"action": "references", "name": "load", "path": "src/store.rs"})).await,
        "src/store.rs\n14~ let load = 1;\n15~ resume_session(load);\n(2 lines in 1 file)\n\
         (~ marks lines where it may be a local variable of that name)\n"
    );
    assert_eq!(
        find(json!({"action": "references", "name": "resume_session", "skip": 1, "limit": 1})).await,
        "src/store.rs\n15: resume_session(load);\n(2 lines in 1 file)\n"
    );
    let none = find(json!({"action": "references", "name": "nothing_uses_this"})).await;
    assert!(none.starts_with("No code uses the name"), "{none}");
}

#[tokio::test]
async fn a_file_has_an_outline() {
    let desk = project();
    assert_eq!(
        desk.text("code_index", json!({"action": "outline", "path": "src/store.rs"})).await,
        "3–5: pub struct Session {\n7–11: impl Session {\n8–10:   pub fn load(id: u64) -> Self {\n13–16: pub fn boot() {\n\
         (src/store.rs, 16 lines)\n(1 field or variant left out)\n"
    );
    let (_, folder) = desk.error("code_index", json!({"action": "outline", "path": "src"})).await;
    assert!(folder.contains("action map"), "{folder}");
    let (_, prose) = desk.error("code_index", json!({"action": "outline", "path": "docs/guide.md"})).await;
    assert!(prose.contains("read_file"), "{prose}");
    let (code, near) = desk.error("code_index", json!({"action": "outline", "path": "src/stor.rs"})).await;
    assert!(code == ErrorCode::FileNotFound && near.contains("src/store.rs"), "{near}");
    assert_eq!(desk.error("code_index", json!({"action": "outline"})).await.0, ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn the_map_fits_its_budget() {
    let desk = project();
    let text = desk.text("code_index", json!({"action": "map"})).await;
    assert_eq!(
        text,
        "src/session.rs\n  4: pub fn resume_session(id: u64) -> Session\nsrc/store.rs\n  3: pub struct Session\n  8: pub fn load(id: u64) -> Self\n  13: pub fn boot()\n\
         (4 definitions in 2 of 3 files, those that others use most; path narrows the map to a folder)\n"
    );
    let part = desk.text("code_index", json!({"action": "map", "path": "src/store.rs"})).await;
    assert!(!part.contains("session.rs"), "{part}");
    let none = desk.text("code_index", json!({"action": "map", "path": "docs"})).await;
    assert!(none.starts_with("There is no code here"), "{none}");
}

#[tokio::test]
async fn a_change_is_seen_at_once() {
    let desk = project();
    desk.text("code_search", json!({"query": "session"})).await;
    desk.put("src/new.rs", "pub fn teleport() {}\n");
    assert!(desk.text("code_search", json!({"query": "teleport"})).await.starts_with("src/new.rs\n"));
    desk.put("src/new.rs", "pub fn walkhome() {}\n");
    assert!(desk.text("code_search", json!({"query": "teleport"})).await.starts_with("No file"));
}

#[tokio::test]
async fn calls_are_reads_unless_they_name_something_sensitive_or_outside() {
    let desk = project();
    let risk = async |tool, arguments| desk.plan(tool, arguments).await.unwrap().risk;
    assert_eq!(risk("code_search", json!({"query": "x"})).await, Risk::Safe);
    assert_eq!(risk("code_index", json!({"action": "map"})).await, Risk::Safe);
    assert_eq!(risk("code_index", json!({"action": "outline", "path": ".env"})).await, Risk::Critical);
    assert!(desk.plan("code_search", json!({"query": "x", "path": "../elsewhere"})).await.is_err());
    let text = desk.text("code_search", json!({"query": "SESSION=resume"})).await;
    assert!(!text.contains(".env"), "{text}");
}

#[tokio::test]
async fn a_cancelled_call_ends_and_the_next_one_answers() {
    let desk = project();
    desk.ctx.cancel.cancel();
    let (_, message) = desk.error("code_search", json!({"query": "session"})).await;
    assert_eq!(message, "the call was cancelled");
    let mut again = project();
    again.ctx.cancel = tokio_util::sync::CancellationToken::new();
    assert!(again.text("code_search", json!({"query": "session"})).await.contains("src/session.rs"));
}

#[tokio::test]
async fn one_that_waits_for_another_process_says_so() {
    let desk = project();
    desk.text("code_search", json!({"query": "session"})).await;
    let folder = std::fs::read_dir(&desk.indexes).unwrap().next().unwrap().unwrap().path();
    let other = std::fs::File::options().write(true).open(folder.join("lock")).unwrap();
    other.lock().unwrap();
    desk.put("src/new.rs", "pub fn teleport() {}\n");
    let asked = desk.text("code_search", json!({"query": "teleport"}));
    let freed = async {
        while !desk.heard.0.lock().unwrap().contains("waiting for another process") {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        other.unlock().unwrap();
    };
    let (text, ()) = tokio::join!(asked, freed);
    assert!(text.starts_with("src/new.rs\n"), "{text}");
}

#[test]
fn calls_have_a_line_for_the_person() {
    let desk = Desk::new();
    assert_eq!(desk.summary("code_search", json!({"query": "a b"})), "Search code for \"a b\"");
    assert_eq!(
        desk.summary("code_index", json!({"action": "references", "name": "x", "path": "src"})),
        "References to x in src"
    );
    assert_eq!(desk.summary("code_index", json!({"action": "outline", "path": "a.rs"})), "Outline a.rs");
    assert_eq!(desk.summary("code_index", json!({"action": "map"})), "Map of the code");
}
