//! The files of an editor: what is typed there and not saved is read, changed and brought back, by whatever name the
//! editor has it; an editor that does not answer holds nothing up.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::editor::{Editor, playing};
use crate::support::{House, call, say};

/// An editor with buffers, as real ones have: what is not open is read from the disk, and saving is writing in place.
struct Desk {
    editor: Editor,
    session: String,
    /// What is typed and not saved.
    typed: HashMap<PathBuf, String>,
    /// Below it, the editor knows files; others it refuses.
    folder: PathBuf,
    /// Whether it takes edits.
    takes: bool,
    /// Whether it puts texts in order as it saves them.
    formats: bool,
    /// Whether it says anything about files.
    answers: bool,
    /// Whether it says what came of edits.
    tells: bool,
    /// Whether its person agrees to go back over what they did.
    agrees: bool,
    /// Links that lead elsewhere once it has saved something.
    swaps: Vec<(PathBuf, PathBuf)>,
    asked: Vec<(String, PathBuf)>,
    /// What it says beside its prompts.
    meta: Value,
}

impl Desk {
    fn open(house: &House, folder: &Path) -> Self {
        Self::open_with(house, &["acp"], folder)
    }

    fn open_with(house: &House, flags: &[&str], folder: &Path) -> Self {
        let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true } });
        let mut editor = Editor::open_with(house, flags, capabilities);
        let answer = editor.ask("session/new", json!({ "cwd": folder, "mcpServers": [] }));
        let session = answer["sessionId"].as_str().unwrap().to_owned();
        let (typed, folder) = (HashMap::new(), folder.to_owned());
        let (takes, formats, answers, tells, agrees) = (true, false, true, true, true);
        let (swaps, asked, meta) = (Vec::new(), Vec::new(), json!({}));
        Self { editor, session, typed, folder, takes, formats, answers, tells, agrees, swaps, asked, meta }
    }

    fn types(&mut self, name: &str, text: &str) {
        self.typed.insert(self.folder.join(name), text.to_owned());
    }

    /// Says something and plays the editor until that is answered; the person says yes to everything.
    #[track_caller]
    fn prompt(&mut self, words: &str) -> Value {
        self.say(json!([{ "type": "text", "text": words }]))
    }

    /// The same for a message of several blocks.
    #[track_caller]
    fn say(&mut self, blocks: Value) -> Value {
        let params = json!({ "sessionId": self.session, "prompt": blocks, "_meta": self.meta });
        let prompt = self.editor.request("session/prompt", params);
        loop {
            let message = self.editor.find(|message| message.get("id").is_some());
            let Some(method) = message["method"].as_str() else {
                assert_eq!(message["id"], json!(prompt), "{message}");
                return message;
            };
            let path = PathBuf::from(message["params"]["path"].as_str().unwrap_or_default());
            let result = match method {
                "fs/read_text_file" => self.read(&path).map(|text| json!({ "content": text })),
                "fs/write_text_file" if !self.tells => {
                    self.asked.push((method.to_owned(), path));
                    continue;
                }
                "fs/write_text_file" => self.save(&path, message["params"]["content"].as_str().unwrap()),
                "session/request_permission" => {
                    let is_back = message.to_string().contains("Go back over");
                    let option = if !is_back {
                        "once"
                    } else if self.agrees {
                        "yes"
                    } else {
                        "no"
                    };
                    Some(json!({ "outcome": { "outcome": "selected", "optionId": option } }))
                }
                _ => None,
            };
            let path = if method == "session/request_permission" { message.to_string().into() } else { path };
            self.asked.push((method.to_owned(), path));
            let error = json!({ "code": -32603, "message": "it is not mine" });
            let answer = match result {
                Some(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
                None => json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }),
            };
            if self.answers || !method.starts_with("fs/") {
                self.editor.write(&answer);
            }
        }
    }

    fn read(&self, path: &Path) -> Option<String> {
        let is_known = path.starts_with(&self.folder);
        self.typed.get(path).cloned().or_else(|| fs::read_to_string(path).ok()).filter(|_| is_known)
    }

    fn save(&mut self, path: &Path, text: &str) -> Option<Value> {
        if !self.takes || !path.starts_with(&self.folder) {
            return None;
        }
        self.typed.remove(path);
        fs::write(path, if self.formats { text.replace('\n', ";\n") } else { text.to_owned() }).unwrap();
        for (link, to) in self.swaps.drain(..) {
            fs::remove_file(&link).unwrap();
            symlink(to, link).unwrap();
        }
        Some(json!({}))
    }

    fn took(&self) -> Vec<&Path> {
        let writes = self.asked.iter().filter(|(method, _)| method == "fs/write_text_file");
        writes.map(|(_, path)| path.as_path()).collect()
    }
}

/// Reads a file, changes a word in it, and says so.
fn edits(path: &str, old: &str, new: &str) -> Value {
    let edit = json!({ "path": path, "old_string": old, "new_string": new });
    json!([call("read_file", json!({ "path": path })), call("edit_file", edit), say("Done.")])
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn what_is_typed_in_a_file_that_is_mentioned_goes_along() {
    let seen = |said: &str| json!({ "expect": { "last_user_contains": "a.txt:\n```\ntyped\n```" }, "say": said });
    let house = playing(json!([seen("One."), seen("Two.")]));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    // A word about how much work it looks like would stand behind.
    let mut desk = Desk::open_with(&house, &["acp", "-c", "agent.guards.complexity=false"], &house.project());
    desk.types("a.txt", "typed\n");
    assert_eq!(desk.prompt("look at @a.txt")["result"]["stopReason"], "end_turn");
    let link = json!({ "type": "resource_link", "name": "a.txt", "uri": format!("file://{}", file.display()) });
    assert_eq!(desk.say(json!([{ "type": "text", "text": "look at" }, link]))["result"]["stopReason"], "end_turn");
    assert_eq!(desk.editor.said("agent_message_chunk"), "One.Two.");
}

#[test]
fn undoing_an_edit_brings_back_what_was_typed_before_it() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    fs::write(house.project().join("b.txt"), "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("a.txt", "typed\n");
    desk.types("b.txt", "typed there too\n");
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), desk.took()), ("edited\n", vec![file.as_path()]));
    assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "typed\n");
    assert_eq!(text(&house.project().join("b.txt")), "saved\n", "what nobody edited is the editor's");
    assert_eq!(desk.prompt("/redo")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "edited\n");
}

#[test]
fn a_text_that_was_never_saved_is_read_edited_and_brought_back() {
    let house = playing(edits("new.txt", "typed", "edited"));
    let file = house.project().join("new.txt");
    let mut desk = Desk::open(&house, &house.project());
    desk.types("new.txt", "typed\n");
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), desk.took()), ("edited\n", vec![file.as_path()]));
    assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "typed\n");
}

#[test]
fn a_text_that_was_never_saved_is_not_overwritten_unread() {
    let write = call("write_file", json!({ "path": "new.txt", "content": "mine\n" }));
    let house = playing(json!([write, say("I leave it.")]));
    let mut desk = Desk::open(&house, &house.project());
    desk.types("new.txt", "typed\n");
    assert_eq!(desk.prompt("write it")["result"]["stopReason"], "end_turn");
    let file = house.project().join("new.txt");
    assert_eq!((file.exists(), desk.typed[&file].as_str(), desk.took().len()), (false, "typed\n", 0));
    // Nor is it where a tool takes the file for a new one.
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+mine\n*** End Patch";
    let house = playing(json!([call("apply_patch", json!({ "patch": patch })), say("I leave it.")]));
    let mut desk = Desk::open(&house, &house.project());
    desk.types("new.txt", "typed\n");
    assert_eq!(desk.prompt("write it")["result"]["stopReason"], "end_turn");
    assert!(!house.project().join("new.txt").exists() && desk.took().is_empty());
}

#[test]
fn going_back_over_what_was_typed_since_is_asked_about() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "edited\n");
    desk.types("a.txt", "edited, and typed since\n");
    for (agrees, then) in [(false, "edited\n"), (true, "saved\n")] {
        desk.agrees = agrees;
        desk.asked.clear();
        assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
        let (_, asked) = desk.asked.iter().find(|(method, _)| method == "session/request_permission").unwrap();
        let asked = asked.to_string_lossy();
        assert!(asked.contains("a.txt") && asked.contains("changed it since"), "{asked}");
        assert_eq!(text(&file), then);
        // What the editor shows is what stands there.
        let took = if agrees { vec![file.as_path()] } else { Vec::new() };
        assert_eq!((desk.took(), desk.typed.is_empty()), (took, agrees));
    }
    // What was typed is brought back with it.
    assert_eq!(desk.prompt("/redo")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "edited, and typed since\n");
}

#[test]
fn going_back_reads_nothing_but_files() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    fs::remove_file(&file).unwrap();
    // It has no end.
    symlink("/dev/zero", &file).unwrap();
    desk.agrees = false;
    desk.asked.clear();
    assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
    assert!(desk.asked.iter().all(|(method, _)| method != "fs/read_text_file"), "{:?}", desk.asked);
}

#[test]
fn each_question_about_going_back_is_a_call_of_its_own_that_ends() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "edit it");
    editor.choose("once");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    fs::write(&file, "edited, and typed since\n").unwrap();
    let mut calls = Vec::new();
    for stopped in [false, true] {
        let prompt = editor.say(&session, "/undo");
        let asked = editor.find(|message| message["method"] == "session/request_permission");
        if stopped {
            editor.notify("session/cancel", json!({ "sessionId": session }));
        } else {
            let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "no" } });
            editor.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome }));
        }
        let reason = if stopped { "cancelled" } else { "end_turn" };
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], reason);
        let call = asked["params"]["toolCall"]["toolCallId"].clone();
        let updates = editor.updates("tool_call_update");
        let is_over = |update: &Value| update["toolCallId"] == call && update["status"] == "failed";
        assert!(updates.iter().any(is_over), "{updates:#?}");
        calls.push(call);
    }
    assert_ne!(calls[0], calls[1]);
    assert_eq!(text(&file), "edited, and typed since\n");
}

#[test]
fn what_was_typed_since_is_seen_where_the_session_was_closed_meanwhile() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    let session = json!({ "sessionId": desk.session, "cwd": house.project(), "mcpServers": [] });
    desk.editor.ask("session/close", json!({ "sessionId": desk.session }));
    desk.editor.ask("session/resume", session);
    desk.types("a.txt", "edited, and typed since\n");
    desk.agrees = false;
    assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
    assert!(desk.asked.iter().any(|(method, _)| method == "session/request_permission"), "{:?}", desk.asked);
    assert_eq!(text(&file), "edited\n");
}

#[test]
fn an_edit_that_went_elsewhere_as_its_link_was_swapped_is_told() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let (file, other, link) =
        (house.project().join("a.txt"), house.project().join("b.txt"), house.project().join("link.txt"));
    fs::write(&file, "saved\n").unwrap();
    fs::write(&other, "other\n").unwrap();
    symlink("a.txt", &link).unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("link.txt", "typed\n");
    desk.swaps.push((link, "b.txt".into()));
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    let ended = desk.editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(ended["status"], "failed", "{ended}");
}

#[test]
fn what_the_editor_formats_as_it_saves_is_told_and_can_be_undone() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("a.txt", "typed\n");
    desk.formats = true;
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "edited;\n");
    let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(told.contains("formatted it as it was saved"), "{told}");
    assert_eq!(desk.prompt("/undo")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "typed\n");
}

#[test]
fn what_is_typed_is_found_where_the_editor_opened_the_folder_through_a_link() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let link = house.path("link");
    symlink(house.project(), &link).unwrap();
    let mut desk = Desk::open(&house, &link);
    desk.types("a.txt", "typed\n");
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), desk.took()), ("edited\n", vec![link.join("a.txt").as_path()]));
}

#[test]
fn what_is_typed_is_found_where_the_editor_opened_the_file_through_a_link() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let (file, link) = (house.project().join("a.txt"), house.project().join("link.txt"));
    fs::write(&file, "saved\n").unwrap();
    symlink("a.txt", &link).unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("link.txt", "typed\n");
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), desk.took()), ("edited\n", vec![link.as_path()]));
    assert!(link.is_symlink());
}

#[test]
fn what_is_typed_is_found_where_the_editor_has_the_file_through_a_link_in_another_folder() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let (file, folder) = (house.project().join("a.txt"), house.project().join("links"));
    fs::write(&file, "saved\n").unwrap();
    fs::create_dir(&folder).unwrap();
    let link = folder.join("link.txt");
    symlink("../a.txt", &link).unwrap();
    for open in [json!([]), json!([format!("file://{}", link.display())])] {
        let mut desk = Desk::open(&house, &house.project());
        desk.types("links/link.txt", "typed\n");
        desk.meta = json!({ "editor": { "openFiles": open } });
        assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
        // Only whoever knows the name finds what is typed there.
        let is_known = open != json!([]);
        let (stands, took) = if is_known { ("edited\n", vec![link.as_path()]) } else { ("saved\n", Vec::new()) };
        assert_eq!((text(&file).as_str(), desk.took()), (stands, took));
    }
}

#[test]
fn a_file_with_several_names_is_changed_under_one() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let (file, other) = (house.project().join("a.txt"), house.path("other.txt"));
    fs::write(&file, "saved\n").unwrap();
    fs::hard_link(&file, &other).unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("a.txt", "typed\n");
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), text(&other).as_str()), ("edited\n", "saved\n"));
    let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(told.contains("hard link"), "{told}");
}

#[test]
fn a_file_that_is_write_protected_is_handed_to_no_editor() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "typed\n").unwrap();
    let mut protected = fs::metadata(&file).unwrap().permissions();
    protected.set_readonly(true);
    fs::set_permissions(&file, protected).unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.prompt("edit it");
    assert_eq!((text(&file).as_str(), desk.took()), ("typed\n", Vec::new()));
}

#[test]
fn an_edit_that_the_editor_does_not_take_takes_nothing_that_is_typed() {
    let house = playing(edits("a.txt", "typed", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("a.txt", "typed\n");
    desk.takes = false;
    desk.prompt("edit it");
    assert_eq!((text(&file).as_str(), desk.typed[&file].as_str()), ("saved\n", "typed\n"));
    let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(told.contains("ask the user to save it"), "{told}");
}

#[test]
fn an_edit_that_the_editor_refuses_is_made_only_where_it_has_no_say() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.takes = false;
    desk.prompt("edit it");
    assert_eq!(text(&file), "saved\n");
    let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(told.contains("the editor did not take it: it is not mine"), "{told}");
    // A folder that only Neco has open.
    fs::create_dir(house.path("other")).unwrap();
    let other = house.path("other").canonicalize().unwrap();
    let file = other.join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    house.script("script.json", edits(file.to_str().unwrap(), "saved", "edited"));
    let flags = ["acp", "--add-dir", other.to_str().unwrap()];
    let mut desk = Desk::open_with(&house, &flags, &house.project());
    desk.prompt("edit it");
    assert_eq!((text(&file).as_str(), desk.took()), ("edited\n", vec![file.as_path()]));
}

#[test]
fn a_file_with_something_typed_in_it_is_neither_deleted_nor_moved_before_it_is_saved() {
    let patches = [
        "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch",
        "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-typed\n+moved\n*** End Patch",
    ];
    for patch in patches {
        let read = call("read_file", json!({ "path": "a.txt" }));
        let house = playing(json!([read, call("apply_patch", json!({ "patch": patch })), say("I wait.")]));
        let file = house.project().join("a.txt");
        fs::write(&file, "saved\n").unwrap();
        let mut desk = Desk::open(&house, &house.project());
        desk.types("a.txt", "typed\n");
        desk.prompt("tidy up");
        assert_eq!((text(&file).as_str(), house.project().join("b.txt").exists()), ("saved\n", false), "{patch}");
        let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
        assert!(told.contains("not saved; ask the user to save it"), "{told}");
        assert!(desk.asked.iter().all(|(method, _)| method != "session/request_permission"), "{:?}", desk.asked);
    }
}

#[test]
fn an_editor_that_is_silent_about_files_leaves_them_to_the_disk() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.types("a.txt", "typed\n");
    desk.answers = false;
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!(text(&file), "edited\n");
    assert_eq!(desk.asked.iter().filter(|(method, _)| method.starts_with("fs/")).count(), 1, "{:?}", desk.asked);
    let told = desk.editor.said("agent_message_chunk");
    assert_eq!(told.matches("does not answer for its files").count(), 1, "{told}");
}

#[test]
fn an_edit_whose_end_the_editor_does_not_tell_is_taken_back_and_made_nowhere_else() {
    let house = playing(edits("a.txt", "saved", "edited"));
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut desk = Desk::open(&house, &house.project());
    desk.tells = false;
    assert_eq!(desk.prompt("edit it")["result"]["stopReason"], "end_turn");
    assert_eq!((text(&file).as_str(), desk.took()), ("saved\n", vec![file.as_path()]));
    let told = desk.editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(told.contains("may still save it"), "{told}");
    desk.editor.find(|message| message["method"] == "$/cancel_request");
}

#[test]
fn a_stop_does_not_wait_for_a_silent_editor_and_nothing_is_written_after_it() {
    for method in ["fs/read_text_file", "fs/write_text_file"] {
        let house = playing(edits("a.txt", "saved", "edited"));
        let file = house.project().join("a.txt");
        fs::write(&file, "saved\n").unwrap();
        let reads = method == "fs/write_text_file";
        let capabilities = json!({ "fs": { "readTextFile": !reads, "writeTextFile": true } });
        let mut editor = Editor::open(&house, capabilities);
        let session = editor.session(&house);
        let prompt = editor.say(&session, "edit it");
        if reads {
            editor.choose("once");
        }
        editor.find(|message| message["method"] == method);
        let begun = Instant::now();
        editor.notify("session/cancel", json!({ "sessionId": session }));
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled", "{method}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{method}: {:?}", begun.elapsed());
        if reads {
            editor.find(|message| message["method"] == "$/cancel_request");
        }
        assert_eq!(editor.leave(), Some(0));
        assert_eq!(text(&file), "saved\n", "{method}");
    }
}
