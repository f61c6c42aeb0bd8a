//! Asking the index.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use neco_workspace::index::{Likeness, Patient, SymbolKind};

use crate::desk::{Desk, anywhere, found};

fn project() -> Desk {
    let desk = Desk::new();
    desk.put(".gitignore", "target/\n");
    desk.put("src/session.rs", "/// Opens a session again after a crash.\npub fn resume_session(id: u64) -> Session {\n    Session::load(id)\n}\n");
    desk.put("src/store.rs", "use crate::session::resume_session;\n\npub struct Session;\n\nimpl Session {\n    pub fn load(id: u64) -> Self { Self }\n}\n\npub fn boot() { resume_session(1); resume_session(2); }\n");
    desk.put(
        "src/http/client.py",
        "class HttpClient:\n    def fetch_page(self, url):\n        return self.session.get(url)\n",
    );
    desk.put("docs/guide.md", "# Guide\n\nHow a session is resumed: 会话恢复的方法 is described here.\n");
    desk.put("target/gen.rs", "pub fn resume_session() {}\n");
    desk.put(".env", "SESSION=resume_session\n");
    desk.put("certs/server.key", "resume_session\n");
    desk.put("image.bin.txt", b"resume_session\0binary");
    desk.put("huge.txt", "resume_session\n".repeat(100_000));
    desk
}

#[test]
fn files_are_ranked_by_what_they_are_about() {
    let desk = project();
    let index = desk.index();
    assert_eq!(found(&index, "resume session")[0], "src/session.rs");
    assert_eq!(
        found(&index, "resume_session"),
        ["src/session.rs", "src/store.rs", "docs/guide.md", "src/http/client.py"]
    );
    assert_eq!(found(&index, "http fetch page")[0], "src/http/client.py");
    assert_eq!(found(&index, "恢复"), ["docs/guide.md"]);
    assert_eq!(found(&index, "复"), ["docs/guide.md"], "one character of a pair");
    assert_eq!(found(&index, "description nowhereatall"), Vec::<String>::new());
    assert_eq!(found(&index, ""), Vec::<String>::new());
}

#[test]
fn lines_say_why_a_file_was_found() {
    let desk = project();
    let hits = desk.index().ask(&Patient, |snapshot| snapshot.search("load session", &anywhere, 0, 10)).unwrap();
    let lines: Vec<_> = hits.hits[0].lines.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!(
        (hits.hits[0].path.to_str(), lines.as_slice()),
        (Some("src/store.rs"), &[(6, "pub fn load(id: u64) -> Self { Self }")][..])
    );
    let page = |skip| desk.index().ask(&Patient, |snapshot| snapshot.search("session", &anywhere, skip, 2)).unwrap();
    assert_eq!((page(0).hits.len(), page(2).hits.len(), page(4).hits.len(), page(4).total), (2, 2, 0, 4));
    let only = |path: &Path| path.starts_with("docs");
    let hits = desk.index().ask(&Patient, |snapshot| snapshot.search("session", &only, 0, 10)).unwrap();
    assert_eq!((hits.total, hits.hits[0].path.to_str()), (1, Some("docs/guide.md")));
}

#[test]
fn words_that_are_nowhere_are_replaced_by_near_ones() {
    let desk = project();
    let ask = |question: &str| {
        desk.index().ask(&Patient, |snapshot| snapshot.search(question, &anywhere, 0, 10)).unwrap().replaced
    };
    assert_eq!(ask("descr"), [("descr".to_owned(), vec!["described".to_owned()])]);
    assert_eq!(ask("sesion"), [("sesion".to_owned(), vec!["session".to_owned()])]);
    assert_eq!(ask("session"), []);
}

#[test]
fn definitions_are_found_however_little_is_known_of_the_name() {
    let desk = project();
    let find = |name: &str| {
        let found = desk.index().ask(&Patient, |snapshot| snapshot.definitions(name, None, &anywhere)).unwrap();
        let places: Vec<String> = found
            .places
            .iter()
            .map(|place| format!("{}:{} {}", place.path.display(), place.definition.line, place.definition.name))
            .collect();
        (found.likeness, places)
    };
    assert_eq!(find("resume_session"), (Likeness::Same, vec!["src/session.rs:2 resume_session".to_owned()]));
    assert_eq!(find("httpclient"), (Likeness::AnyCase, vec!["src/http/client.py:1 HttpClient".to_owned()]));
    assert_eq!(find("Resume"), (Likeness::Beginning, vec!["src/session.rs:2 resume_session".to_owned()]));
    assert_eq!(find("_page"), (Likeness::Inside, vec!["src/http/client.py:2 fetch_page".to_owned()]));
    assert_eq!(find("resume_sesion"), (Likeness::Similar, vec!["src/session.rs:2 resume_session".to_owned()]));
    assert_eq!(find("Session::load"), (Likeness::Same, vec!["src/store.rs:6 load".to_owned()]));
    assert_eq!(find("teleport").1, Vec::<String>::new());
    assert_eq!(find("").1, Vec::<String>::new());
    let of_kind = |kind| {
        desk.index().ask(&Patient, |snapshot| snapshot.definitions("Session", Some(kind), &anywhere)).unwrap().places
    };
    assert_eq!(of_kind(SymbolKind::Struct).len(), 1);
    assert!(of_kind(SymbolKind::Macro).is_empty());
}

#[test]
fn uses_are_found_line_by_line() {
    let desk = project();
    let uses = desk.index().ask(&Patient, |snapshot| snapshot.references("resume_session", &anywhere)).unwrap();
    let seen: Vec<_> = uses.iter().map(|uses| (uses.path.to_str().unwrap(), uses.lines.as_slice())).collect();
    assert_eq!(seen, [("src/store.rs", &[(1, true), (9, true)][..])]);
}

#[test]
fn what_is_ignored_sensitive_linked_or_no_text_is_not_in_it() {
    let desk = project();
    fs::create_dir(desk.workspace.parent().unwrap().join("outside")).unwrap();
    fs::write(desk.workspace.parent().unwrap().join("outside/a.rs"), "fn resume_session_outside() {}\n").unwrap();
    symlink("../outside", desk.workspace.join("linked")).unwrap();
    symlink("../outside/a.rs", desk.workspace.join("linked.rs")).unwrap();
    let index = desk.index();
    let all = found(&index, "resume_session");
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(found(&index, "outside"), Vec::<String>::new());
}

#[test]
fn the_map_shows_what_others_lean_on_within_its_budget() {
    let desk = project();
    let map = |tokens| desk.index().ask(&Patient, |snapshot| snapshot.map(tokens, &anywhere)).unwrap();
    assert_eq!(
        map(1000).text,
        "src/session.rs\n  2: pub fn resume_session(id: u64) -> Session\nsrc/store.rs\n  3: pub struct Session;\n  6: pub fn load(id: u64) -> Self { Self }\n  9: pub fn boot() { resume_session(1); resume_session(2); }\n\
         src/http/client.py\n  1: class HttpClient:\n"
    );
    assert_eq!(map(30).definitions, 1);
    assert_eq!(map(0).text, "");
}
