//! What a session changed, what stands in its folder and what it used, on a real store and real files.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use neco_app::LocalApp;
use neco_app::services::{ServiceSetup, hub, open_store};
use neco_config::{Config, Env};
use neco_proto::app::changes::{ChangedFile, FileChanges, KeepChanges, LineChange, ListChanges, ShowChange};
use neco_proto::app::files::{ReadText, TextPiece};
use neco_proto::app::usage::{ShowUsage, UsageReport};
use neco_proto::app::{App, AppError, Caller, Known, Request, Scope, Trouble};
use neco_proto::event::{CheckpointWhen, FileChangeKind, SidePurpose};
use neco_proto::{AgentId, Event, EventBody, Message, SessionId};
use neco_session::Hub;
use neco_session::rewind::event_of;
use neco_store::{Catalog, Durability, SessionRecord, SqliteStore, lease_and_append};
use neco_workspace::checkpoint::Note;
use serde_json::{Value, json};

struct Stage {
    home: tempfile::TempDir,
    store: Arc<SqliteStore>,
    hub: Hub,
    app: LocalApp,
    root: AgentId,
}

impl Stage {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let env = Env::for_test([], home.path());
        std::fs::create_dir_all(env.data_dir()).unwrap();
        let store = open_store(env.data_dir()).await.unwrap();
        let hub = hub(&store, ServiceSetup::bare(&env, &Config::built_in())).unwrap();
        let app = LocalApp::new(Arc::clone(&store), hub.clone(), env, Vec::new());
        Self { home, store, hub, app, root: AgentId::new() }
    }

    /// A folder to work in.
    fn folder(&self) -> PathBuf {
        let folder = self.home.path().join("work");
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }

    /// A session in which this happened just now.
    async fn begin(&self, id: SessionId, folder: &Path, bodies: Vec<(AgentId, EventBody)>) {
        let record = SessionRecord::new(id, folder.display().to_string(), Timestamp::now().as_millisecond());
        self.store.create(record).await.unwrap();
        let event = |((agent, body), seq)| Event::new(seq, Timestamp::now(), id, agent, None, body);
        let events = bodies.into_iter().zip(1..).map(event).collect();
        lease_and_append(self.store.as_ref(), events, Durability::Now).await.unwrap();
    }

    /// A session that changed files from what is there to what `change` makes of them.
    async fn changed(&self, change: impl FnOnce(&Path), more: Vec<(AgentId, EventBody)>) -> SessionId {
        let (id, folder) = (SessionId::new(), self.folder());
        let checkpoints = self.hub.checkpoints(&folder).await.unwrap();
        let keep = |when| {
            let note = Note { when, label: "change it".to_owned(), session: id.to_string() };
            EventBody::Checkpoint(event_of(&checkpoints.snapshot(&note).unwrap(), when, "change it"))
        };
        let before = keep(CheckpointWhen::Before);
        change(&folder);
        let after = keep(CheckpointWhen::After);
        let mut bodies = vec![(self.root, EventBody::Message(Message::user("change it"))), (self.root, before)];
        bodies.extend(more);
        bodies.push((self.root, after));
        // What changes from here on is somebody else's.
        let done = json!({
            "type": "agent_complete", "reason": "natural", "final": "", "turns": 1,
            "usage": { "input": 0, "output": 0 }, "duration_ms": 1
        });
        bodies.push((self.root, body(done)));
        self.begin(id, &folder, bodies).await;
        id
    }

    async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        let app: &dyn App = &self.app;
        app.ask(&Caller::person(), request).await
    }

    async fn files(&self, session: SessionId) -> Vec<ChangedFile> {
        let request =
            ListChanges { session: session.to_string(), folder: text(&self.folder()), ..ListChanges::default() };
        self.ask(&request).await.unwrap().files
    }

    async fn file(&self, session: SessionId, path: &str) -> Result<FileChanges, AppError> {
        let (session, folder) = (session.to_string(), text(&self.folder()));
        self.ask(&ShowChange { session, folder, path: path.to_owned(), ..ShowChange::default() }).await
    }

    async fn keep(&self, session: SessionId, marks: &[&str], kept: bool, instead: &[&str]) -> Vec<String> {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (session, folder) = (session.to_string(), text(&self.folder()));
        let request = KeepChanges { session, folder, marks: names(marks), kept, instead: names(instead) };
        self.ask(&request).await.unwrap().kept
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn body(value: Value) -> EventBody {
    serde_json::from_value(value).unwrap()
}

/// A call that edited a file.
fn edit(path: &str) -> EventBody {
    body(json!({
        "type": "tool_call_end", "call_id": "c1", "tool": "edit_file", "summary": path, "status": "success",
        "output": "", "duration_ms": 1, "display": { "kind": "diff", "files": [
            { "path": path, "unified": "", "added": 1, "removed": 1, "created": false }
        ] }
    }))
}

#[tokio::test]
async fn changes_are_listed_with_who_made_them_and_shown_word_by_word() {
    let stage = Stage::new().await;
    let folder = stage.folder();
    let lines: String = (1..=30).map(|number| format!("let a{number} = one;\n")).collect();
    std::fs::write(folder.join("a.rs"), &lines).unwrap();
    std::fs::write(folder.join("gone.txt"), "bye\n").unwrap();
    let change = |folder: &Path| {
        let new = lines.replace("a2 = one", "a2 = two").replace("a25 = one", "a25 = two");
        std::fs::write(folder.join("a.rs"), new).unwrap();
        std::fs::write(folder.join("new.txt"), "hello\nthere\n").unwrap();
        std::fs::write(folder.join("b.bin"), b"\0\x01").unwrap();
        std::fs::remove_file(folder.join("gone.txt")).unwrap();
    };
    let id = stage.changed(change, vec![(stage.root, edit("a.rs"))]).await;
    std::fs::write(folder.join("other.txt"), "by hand\n").unwrap();
    let files = stage.files(id).await;
    let facts = |file: &ChangedFile| (file.path.clone(), file.kind, (file.added, file.removed), file.hunks);
    let row = |path: &str, kind, counts, hunks| (path.to_owned(), kind, counts, hunks);
    assert_eq!(
        files.iter().map(facts).collect::<Vec<_>>(),
        [
            row("a.rs", FileChangeKind::Modified, (2, 2), 2),
            row("b.bin", FileChangeKind::Added, (0, 0), 0),
            row("gone.txt", FileChangeKind::Deleted, (0, 1), 1),
            row("new.txt", FileChangeKind::Added, (2, 0), 1),
            row("other.txt", FileChangeKind::Added, (1, 0), 1),
        ]
    );
    let whose: Vec<bool> = files.iter().map(|file| file.by_others).collect();
    assert_eq!((whose, files[1].binary), (vec![false, false, false, false, true], true));
    assert_eq!(
        (files[0].agents.as_slice(), files[0].messages.as_slice()),
        (["root".to_owned()].as_slice(), [1].as_slice())
    );
    assert!(files[3].agents.is_empty(), "no call says who made it");

    let shown = stage.file(id, "a.rs").await.unwrap();
    assert_eq!((shown.mark.as_str(), shown.lines_before, shown.lines_after), (files[0].mark.as_str(), 30, 30));
    let hunk = &shown.hunks[1];
    assert_eq!((hunk.before, hunk.after, hunk.lines.len()), (22, 22, 8));
    let changed: Vec<_> = hunk.lines.iter().filter(|line| line.kind != LineChange::Same).collect();
    let facts: Vec<_> = changed.iter().map(|line| (line.kind, line.text.as_str(), line.marks.as_slice())).collect();
    let marks = [[10, 13]];
    assert_eq!(
        facts,
        [
            (LineChange::Removed, "let a25 = one;", marks.as_slice()),
            (LineChange::Added, "let a25 = two;", marks.as_slice())
        ]
    );
    assert_eq!(stage.file(id, "nothing.txt").await.unwrap_err().trouble, Trouble::NotFound);
    assert!(stage.file(id, "b.bin").await.unwrap().hunks.is_empty());
}

#[tokio::test]
async fn what_is_kept_stays_kept_until_it_says_something_else() {
    let stage = Stage::new().await;
    let file = stage.folder().join("a.txt");
    let lines: String = (1..=30).map(|number| format!("line {number}\n")).collect();
    let new = lines.replace("line 2\n", "two\n").replace("line 25\n", "twenty-five\n");
    std::fs::write(&file, &lines).unwrap();
    let id = stage.changed(|_| std::fs::write(&file, &new).unwrap(), Vec::new()).await;
    let shown = stage.file(id, "a.txt").await.unwrap();
    let [one, two] = shown.hunks.as_slice() else { panic!("{shown:?}") };
    assert_eq!(stage.keep(id, &[&one.id], true, &[]).await, std::slice::from_ref(&one.id));
    let standing = async || {
        let row = stage.files(id).await.remove(0);
        (row.kept, row.hunks_kept)
    };
    assert_eq!(standing().await, (false, 1));
    // The whole file, and then all of it but one change.
    stage.keep(id, &[&shown.mark], true, &[]).await;
    assert_eq!(standing().await, (true, 2));
    assert!(stage.file(id, "a.txt").await.unwrap().hunks.iter().all(|hunk| hunk.kept));
    stage.keep(id, &[&shown.mark, &two.id], false, &[&one.id]).await;
    let again = stage.file(id, "a.txt").await.unwrap();
    let kept: Vec<bool> = again.hunks.iter().map(|hunk| hunk.kept).collect();
    assert_eq!((standing().await, kept, again.kept), ((false, 1), vec![true, false], false));
    // What says something else is not kept any more, and what only moved is.
    std::fs::write(&file, format!("first\n{}", new.replace("two\n", "TWO\n"))).unwrap();
    assert_eq!(standing().await, (false, 0));
    stage.keep(id, &[&two.id], true, &[]).await;
    assert_eq!(standing().await, (false, 1));
}

#[tokio::test]
async fn a_hundred_changed_files_are_listed_at_once() {
    let stage = Stage::new().await;
    let folder = stage.folder();
    let content = |number: usize| -> String { (0..200).map(|line| format!("{number}: line {line}\n")).collect() };
    for number in 0..100 {
        std::fs::write(folder.join(format!("{number}.txt")), content(number)).unwrap();
    }
    let change = |folder: &Path| {
        for number in 0..100 {
            let new = content(number).replace("line 7\n", "line seven\n").replace(&format!("{number}: line 150\n"), "");
            std::fs::write(folder.join(format!("{number}.txt")), new).unwrap();
        }
    };
    let id = stage.changed(change, Vec::new()).await;
    // The first look knows nothing of the files.
    assert_eq!(stage.files(id).await.len(), 100);
    let begun = Instant::now();
    let files = stage.files(id).await;
    let took = begun.elapsed();
    assert!(files.iter().all(|file| (file.added, file.removed, file.hunks) == (1, 2, 2)));
    println!("100 changed files listed in {took:?}");
    assert!(took.as_secs() < 5, "{took:?}: far from what a person would wait for");
}

#[tokio::test]
async fn text_of_a_session_s_folder_is_read_in_pieces_and_nothing_else_is() {
    let stage = Stage::new().await;
    let folder = stage.folder();
    let big: String = (1..=120_000).map(|number| format!("line number {number}\n")).collect();
    std::fs::write(folder.join("big.txt"), &big).unwrap();
    for (name, text) in [(".env", "KEY=1\n"), ("plain.txt", "one\ntwo\nthree\n"), ("b.bin", "a\0b")] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(stage.home.path().join("outside.txt"), "outside\n").unwrap();
    std::os::unix::fs::symlink(stage.home.path().join("outside.txt"), folder.join("link.txt")).unwrap();
    stage.changed(|_| {}, Vec::new()).await;
    let read = async |path: &str, request: ReadText| {
        stage.ask(&ReadText { folder: text(&folder), path: path.to_owned(), ..request }).await
    };
    let plain = read("plain.txt", ReadText::default()).await.unwrap();
    let expected =
        TextPiece { text: "one\ntwo\nthree\n".to_owned(), line: 1, end: 14, total: 14, ..TextPiece::default() };
    assert_eq!(plain, expected);
    let second = read("plain.txt", ReadText { line: Some(2), lines: Some(1), ..ReadText::default() }).await.unwrap();
    assert_eq!((second.text.as_str(), second.line, second.start, second.end), ("two\n", 2, 4, 8));
    assert!(read("b.bin", ReadText::default()).await.unwrap().binary);

    let (mut whole, mut start, mut line) = (String::new(), 0, 1);
    while start < big.len() as u64 {
        let piece = read("big.txt", ReadText { start: Some(start), ..ReadText::default() }).await.unwrap();
        assert!(piece.text.len() as u64 <= ReadText::MOST && (piece.start, piece.line) == (start, line));
        line += piece.text.lines().count() as u64;
        (start, whole) = (piece.end, whole + &piece.text);
    }
    assert!(whole == big, "all pieces are the file");

    for (path, why) in
        [(".env", "secrets"), ("../outside.txt", "outside"), ("link.txt", "outside"), (".git/config", "")]
    {
        let refused = read(path, ReadText::default()).await.unwrap_err();
        assert!(refused.trouble == Trouble::NotAllowed && refused.message.contains(why), "{path}: {refused:?}");
    }
    assert_eq!(read("nothing.txt", ReadText::default()).await.unwrap_err().trouble, Trouble::NotFound);
    let elsewhere = ReadText { folder: text(stage.home.path()), path: "outside.txt".to_owned(), ..ReadText::default() };
    assert_eq!(stage.ask(&elsewhere).await.unwrap_err().trouble, Trouble::NotAllowed, "no session works there");
}

#[tokio::test]
async fn what_rules_close_to_reading_is_not_shown() {
    let stage = Stage::new().await;
    let folder = stage.folder();
    let env = Env::for_test([], stage.home.path());
    let policy = env.config_dir().join("policy");
    std::fs::create_dir_all(&policy).unwrap();
    let rule = "[[rule]]\ntool = \"*\"\npath = \"private\"\ndecision = \"deny\"\n";
    std::fs::write(policy.join("mine.toml"), rule).unwrap();
    std::fs::create_dir(folder.join("private")).unwrap();
    std::fs::write(folder.join("private/a.txt"), "closed\n").unwrap();
    std::fs::write(folder.join("a.txt"), "token = ghp_0123456789abcdefghijklmnopqrstuvwxyz\n").unwrap();
    stage.changed(|_| {}, Vec::new()).await;
    let read = async |path: &str| {
        stage.ask(&ReadText { folder: text(&folder), path: path.to_owned(), ..ReadText::default() }).await
    };
    let refused = read("private/a.txt").await.unwrap_err();
    assert!(refused.trouble == Trouble::NotAllowed && refused.message.contains("a rule denies"), "{refused:?}");
    let shown = read("a.txt").await.unwrap().text;
    assert!(shown.contains("[redacted: ") && !shown.contains("ghp_0123"), "{shown}");
}

#[tokio::test]
async fn use_is_told_by_day_model_and_agent_and_only_what_is_new_is_looked_at_again() {
    let stage = Stage::new().await;
    let folder = stage.folder();
    let used = |model: &str, input: u64| {
        body(json!({ "type": "usage", "model": model, "input": input, "output": 5, "cache_read": 2, "cost": 0.5 }))
    };
    let coder = AgentId::new();
    let node = json!({
        "type": "agent_update", "node": {
            "id": coder, "name": "coder-1", "type": "child", "role": "coder", "children": [], "task": "do it",
            "model_group": "a/one", "state": "running", "progress": 0.0, "usage": { "input": 0, "output": 0 },
            "subtree_usage": { "input": 0, "output": 0 }, "created": "2026-01-01T00:00:00Z",
            "changed": "2026-01-01T00:00:00Z"
        }
    });
    let title = json!({ "type": "usage", "model": "a/small", "input": 1, "output": 1, "aside": "title" });
    let id = SessionId::new();
    let root = stage.root;
    let bodies = vec![
        (root, EventBody::Message(Message::user("do it"))),
        (root, used("a/one", 10)),
        (root, body(node)),
        (coder, used("a/one", 100)),
        (root, used("a/one", 1)),
        (root, body(title)),
    ];
    stage.begin(id, &folder, bodies).await;
    let show = async |request: ShowUsage| stage.ask(&request).await.unwrap();
    let facts = |report: &UsageReport| -> Vec<_> {
        let row = |row: &neco_proto::app::usage::UsageRow| {
            (row.model.clone(), row.agent.clone(), row.aside.clone(), row.calls, row.usage.input)
        };
        report.rows.iter().map(row).collect()
    };
    let report = show(ShowUsage::default()).await;
    let agent = |name: &str| Some(name.to_owned());
    let expected = vec![
        ("a/one".to_owned(), agent("coder"), None, 1, 100),
        ("a/one".to_owned(), agent("root"), None, 2, 11),
        ("a/small".to_owned(), None, Some(Known::This(SidePurpose::Title)), 1, 1),
    ];
    assert_eq!((facts(&report), report.sessions, report.cut), (expected, 1, false));
    assert_eq!((report.total.input, report.total.cache_read, report.total.cost), (112, 6, Some(1.5)));
    assert!(report.rows.iter().all(|row| row.day == report.to) && report.from < report.to);

    let event = Event::new(7, Timestamp::now(), id, coder, None, used("a/one", 1000));
    lease_and_append(stage.store.as_ref(), vec![event], Durability::Now).await.unwrap();
    let again = show(ShowUsage { folder: text(&folder), days: Some(1) }).await;
    assert_eq!((again.total.input, again.from == again.to), (1112, true));
    assert_eq!(show(ShowUsage { folder: text(stage.home.path()), days: None }).await.rows, Vec::new());
    // Who may only look may look at it.
    let reader = Caller { scope: Scope::Read, ..Caller::person() };
    let app: &dyn App = &stage.app;
    assert_eq!(app.ask(&reader, &ShowUsage::default()).await.unwrap().total.input, 1112);
}
