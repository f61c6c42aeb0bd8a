//! Files that an editor has open: the tools read and write what it has, and path safety holds all the same.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use neco_proto::ErrorCode;
use neco_safety::World;
use neco_safety::path::{Attributes, Located, PathError, Replaced, Stamp};
use neco_safety::policy::Closed;
use neco_safety::world::Content;
use serde_json::json;

use crate::desk::Desk;

#[derive(Clone, Debug)]
struct Editor {
    local: Arc<dyn World>,
    open: Arc<Mutex<HashMap<PathBuf, String>>>,
}

impl World for Editor {
    fn local(&self) -> &dyn World {
        self.local.as_ref()
    }

    fn closing(&self, closed: &Closed) -> Arc<dyn World> {
        Arc::new(Self { local: self.local.closing(closed), ..self.clone() })
    }

    fn open(&self, file: &Located) -> Result<(Content, Stamp), PathError> {
        match self.open.lock().unwrap().get(file.path()) {
            Some(text) => Ok(Content::text(text.clone())),
            None => self.local.open(file),
        }
    }

    fn write(
        &self,
        file: &Located,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&Attributes>,
    ) -> Result<Replaced, PathError> {
        match self.open.lock().unwrap().get_mut(file.path()) {
            Some(text) if before != Some(&Stamp::of_text(text)) => Err(PathError::Changed(file.shown())),
            Some(text) => {
                *text = String::from_utf8(content.to_vec()).unwrap();
                Ok(Replaced { stamp: Stamp::of_text(text), other_names: 0, instead: None })
            }
            None => self.local.write(file, content, before, like),
        }
    }
}

fn opened(text: &str) -> (Desk, Editor, PathBuf) {
    let mut desk = Desk::new();
    let path = desk.put("a.txt", "saved\n");
    let open = Arc::new(Mutex::new(HashMap::from([(path.clone(), text.to_owned())])));
    let editor = Editor { local: Arc::clone(&desk.ctx.world), open };
    desk.ctx.world = Arc::new(editor.clone());
    (desk, editor, path)
}

#[tokio::test]
async fn what_is_being_typed_is_read_and_changed_and_the_disk_is_left_alone() {
    let (desk, editor, path) = opened("one\ntyped\n");
    assert!(desk.read("a.txt").await.contains("typed"));
    desk.text("edit_file", json!({ "path": "a.txt", "old_string": "typed", "new_string": "written" })).await;
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n written\n*** End Patch";
    desk.text("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(editor.open.lock().unwrap()[&path], "two\nwritten\n");
    assert_eq!(desk.bytes("a.txt"), b"saved\n");
}

#[tokio::test]
async fn what_was_typed_meanwhile_is_not_lost_and_a_path_outside_stays_outside() {
    let (desk, editor, path) = opened("typed\n");
    desk.read("a.txt").await;
    editor.open.lock().unwrap().insert(path.clone(), "typed on\n".to_owned());
    let (code, _) = desk.error("write_file", json!({ "path": "a.txt", "content": "mine\n" })).await;
    assert_eq!(code, ErrorCode::FileChanged);
    assert_eq!(editor.open.lock().unwrap()[&path], "typed on\n");
    editor.open.lock().unwrap().insert(desk.outside.join("b.txt"), "secret".to_owned());
    let (code, _) = desk.error("read_file", json!({ "path": "../outside/b.txt" })).await;
    assert_eq!(code, ErrorCode::PathOutsideWorkspace);
}
