//! What the program does with sessions, on a real store.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use neco_app::LocalApp;
use neco_app::services::{ServiceSetup, hub, open_store};
use neco_config::{Config, Env};
use neco_proto::app::blobs::BlobId;
use neco_proto::app::exchanges::{ListKeptSessions, RestoreSession};
use neco_proto::app::history::{
    AgreedTo, DiffSession, FileDiff, ListRewindPoints, ListSessionAgents, PreviewRewind, RewindSession, RewindTo,
};
use neco_proto::app::port::{ExportFormat, ExportSession, FindForeignSessions, ImportNote, ImportSession, Program};
use neco_proto::app::sessions::{
    ForkSession, FoundRole, ListSessions, MeasureKept, PruneSessions, RemoveSessions, RenameSession, SearchSessions,
};
use neco_proto::app::{App, AppError, Caller, Request, Scope, Trouble};
use neco_proto::event::{Checkpoint, CheckpointWhen, FileChangeKind, RewindWhat, TitleSource};
use neco_proto::{AgentId, Event, EventBody, LineCount, Message, Part, Role, SessionId};
use neco_session::Hub;
use neco_session::exchanges::{ExchangeHeader, FORMAT};
use neco_session::rewind::event_of;
use neco_store::{
    Catalog, Durability, EventLog, SessionLock, SessionRecord, SqliteStore, lease_and_append, lock_folder,
};
use neco_workspace::checkpoint::{NewExchange, Note, SessionExchanges};

struct Stage {
    home: tempfile::TempDir,
    store: Arc<SqliteStore>,
    hub: Hub,
    app: LocalApp,
}

impl Stage {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let env = Env::for_test([], home.path());
        std::fs::create_dir_all(env.data_dir()).unwrap();
        let store = open_store(env.data_dir()).await.unwrap();
        let config = Config::built_in();
        let hub = hub(&store, ServiceSetup::bare(&env, &config)).unwrap();
        let app = LocalApp::new(Arc::clone(&store), hub.clone(), env, Vec::new());
        Self { home, store, hub, app }
    }

    fn data_dir(&self) -> PathBuf {
        Env::for_test([], self.home.path()).data_dir().to_owned()
    }

    /// A folder to work in.
    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.home.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder.canonicalize().unwrap()
    }

    /// A session in which this happened, last used at `ms`.
    async fn session(&self, folder: &Path, ms: i64, bodies: Vec<EventBody>) -> SessionId {
        let id = SessionId::new();
        self.begin(id, folder, ms, bodies).await;
        id
    }

    async fn begin(&self, session_id: SessionId, folder: &Path, ms: i64, bodies: Vec<EventBody>) {
        let agent_id = AgentId::new();
        self.store.create(SessionRecord::new(session_id, folder.display().to_string(), ms)).await.unwrap();
        let ts = Timestamp::from_millisecond(ms).unwrap();
        let event = |(body, seq)| Event::new(seq, ts, session_id, agent_id, None, body);
        let events = bodies.into_iter().zip(1..).map(event).collect();
        lease_and_append(self.store.as_ref(), events, Durability::Now).await.unwrap();
    }

    async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        let app: &dyn App = &self.app;
        app.ask(&Caller::person(), request).await
    }

    async fn ids(&self) -> Vec<SessionId> {
        let page = self.ask(&ListSessions::default()).await.unwrap();
        page.sessions.iter().map(|session| session.id).collect()
    }
}

fn said(words: &str) -> EventBody {
    EventBody::Message(Message::user(words))
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[tokio::test]
async fn a_title_stays_and_a_session_that_is_open_is_in_use() {
    let stage = Stage::new().await;
    let id = stage.session(&stage.folder("a"), 1_000, vec![said("hello")]).await;
    let request = RenameSession { session: id.to_string(), title: "  the\nlogin ".to_owned() };
    let named = stage.ask(&request).await.unwrap();
    assert_eq!((named.id, named.title.as_str(), named.title_by), (id, "the login", Some(TitleSource::Person)));
    let listed = stage.ask(&ListSessions::default()).await.unwrap();
    assert_eq!(listed.sessions.first().unwrap().title, "the login");

    let open = SessionLock::acquire(&lock_folder(&stage.data_dir()), id).unwrap();
    let error = stage.ask(&request).await.unwrap_err();
    assert_eq!((error.trouble, error.session), (Trouble::InUse, Some(id)));
    let empty = RenameSession { title: " ".to_owned(), ..request };
    drop(open);
    assert_eq!(stage.ask(&empty).await.unwrap_err().trouble, Trouble::Invalid);
}

#[tokio::test]
async fn a_session_stays_while_what_was_said_in_it_stays_with_checkpoints() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let id = stage.session(&folder, 1_000, vec![said("hello")]).await;
    let checkpoints = stage.hub.checkpoints(&folder).await.unwrap();
    checkpoints.keep_exchanges(id, None, &[exchange(id, "hello")]).unwrap();
    let blocked = checkpoints.repository().with_file_name("log-lock");
    std::fs::create_dir(&blocked).unwrap();
    let request = RemoveSessions { sessions: vec![id.to_string()], dry_run: false };
    let error = stage.ask(&request).await.unwrap_err();
    assert!(error.trouble == Trouble::Failed && error.hint.is_some(), "{error:?}");
    let prune = PruneSessions { folder: text(&folder), keep: Some(0), ..PruneSessions::default() };
    assert_eq!(stage.ask(&prune).await.unwrap_err().trouble, Trouble::Failed);
    assert_eq!(stage.ids().await, [id]);

    std::fs::remove_dir(&blocked).unwrap();
    assert_eq!(stage.ask(&request).await.unwrap().sessions.len(), 1);
    assert_eq!(checkpoints.exchanges(id).unwrap(), SessionExchanges::default());
    let branches = checkpoints.repository().join("refs/heads/session");
    assert_eq!(std::fs::read_dir(branches).unwrap().count(), 0);
}

/// An exchange in which this was said.
fn exchange(session: SessionId, words: &str) -> NewExchange {
    let header = ExchangeHeader { neco_exchange: FORMAT, session, events: (1, 1) };
    let event = Event::new(1, Timestamp::UNIX_EPOCH, session, AgentId::new(), None, said(words));
    let lines = [serde_json::to_string(&header).unwrap(), serde_json::to_string(&event).unwrap()];
    let (message, conversation) = (words.to_owned(), lines.join("\n").into_bytes());
    NewExchange { message, events: (1, 1), time_ms: 0, files: None, conversation }
}

#[tokio::test]
async fn a_restore_that_was_cut_short_before_its_first_event_is_done_again() {
    let stage = Stage::new().await;
    let (folder, id) = (stage.folder("a"), SessionId::new());
    let checkpoints = stage.hub.checkpoints(&folder).await.unwrap();
    checkpoints.keep_exchanges(id, None, &[exchange(id, "hello")]).unwrap();
    stage.store.create(SessionRecord::new(id, text(&folder), 1_000)).await.unwrap();
    let request = RestoreSession { which: id.to_string(), folder: text(&folder), ..RestoreSession::default() };
    let restored = stage.ask(&request).await.unwrap();
    assert_eq!((restored.session, restored.events, restored.already), (id, 1, false));
}

#[tokio::test]
async fn a_part_of_an_id_that_several_kept_sessions_have_is_told_with_all_of_them() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let checkpoints = stage.hub.checkpoints(&folder).await.unwrap();
    let both = [SessionId::new(), SessionId::new()].map(|id| {
        checkpoints.keep_exchanges(id, None, &[exchange(id, "hello")]).unwrap();
        id.to_string()
    });
    // Ids begin with the time.
    let which = both[0].chars().take(4).collect();
    let request = RestoreSession { which, folder: text(&folder), ..RestoreSession::default() };
    let error = stage.ask(&request).await.unwrap_err();
    assert_eq!(error.trouble, Trouble::Invalid);
    assert!(both.iter().all(|id| error.message.contains(id)), "{}", error.message);
}

#[tokio::test]
async fn only_who_may_manage_names_a_store_of_checkpoints() {
    let stage = Stage::new().await;
    let folder = text(&stage.folder("a"));
    let app: &dyn App = &stage.app;
    let reader = Caller { scope: Scope::Read, ..Caller::person() };
    let own = ListKeptSessions { folder: folder.clone(), from: None };
    assert!(app.ask(&reader, &own).await.unwrap().sessions.is_empty());
    let named = ListKeptSessions { from: Some(folder), ..own };
    assert_eq!(app.ask(&reader, &named).await.unwrap_err().trouble, Trouble::NotAllowed);
    assert_eq!(stage.ask(&named).await.unwrap_err().trouble, Trouble::Invalid, "there is none");
}

#[tokio::test]
async fn sessions_are_removed_together_or_not_at_all() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let one = stage.session(&folder, 1_000, vec![said("one")]).await;
    let two = stage.session(&folder, 2_000, vec![said("two")]).await;
    let both = RemoveSessions { sessions: vec![one.to_string(), two.to_string(), one.to_string()], dry_run: true };
    let wanted = stage.ask(&both).await.unwrap();
    assert_eq!(wanted.sessions.iter().map(|session| session.id).collect::<Vec<_>>(), [one, two]);
    assert!(wanted.freed_bytes > 0 && wanted.sessions.iter().all(|session| session.bytes.is_some()));

    let strange = RemoveSessions { sessions: vec![one.to_string(), "ffff".to_owned()], dry_run: false };
    assert_eq!(stage.ask(&strange).await.unwrap_err().trouble, Trouble::NotFound);
    let open = SessionLock::acquire(&lock_folder(&stage.data_dir()), two).unwrap();
    let real = RemoveSessions { dry_run: false, ..both };
    let error = stage.ask(&real).await.unwrap_err();
    assert_eq!((error.trouble, error.session), (Trouble::InUse, Some(two)));
    assert_eq!(stage.ids().await, [two, one]);
    drop(open);
    let removed = stage.ask(&real).await.unwrap();
    assert_eq!((removed.sessions.len(), removed.stopped_by), (2, None));
    assert!(stage.ids().await.is_empty());
}

#[tokio::test]
async fn old_sessions_are_pruned_and_what_is_beside_them_is_measured() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let old = stage.session(&folder, 1_000, vec![said("old")]).await;
    let older = stage.session(&folder, 500, vec![said("older")]).await;
    let new = stage.session(&folder, 9_000, vec![said("new")]).await;
    let unused_since = Timestamp::from_millisecond(5_000).ok();
    let prune = PruneSessions { folder: text(&folder), unused_since, dry_run: true, ..PruneSessions::default() };
    let wanted = stage.ask(&prune).await.unwrap();
    assert_eq!(wanted.sessions.iter().map(|session| session.id).collect::<Vec<_>>(), [old, older]);
    assert_eq!(wanted.keep_days, Config::built_in().checkpoints.keep_days);
    // With nothing said none goes, and of those that may go only the ones that somebody agreed to.
    let nothing = PruneSessions { unused_since: None, dry_run: false, ..prune.clone() };
    assert!(stage.ask(&nothing).await.unwrap().sessions.is_empty());
    let only = PruneSessions { only: Some(vec![older]), dry_run: false, ..prune };
    let pruned = stage.ask(&only).await.unwrap();
    assert_eq!(pruned.sessions.iter().map(|session| session.id).collect::<Vec<_>>(), [older]);
    assert_eq!(stage.ids().await, [new, old]);

    let kept = stage.ask(&MeasureKept { folder: text(&folder) }).await.unwrap();
    assert_eq!((kept.state_bytes, kept.orphan_bytes, kept.worktrees.len()), (0, 0, 0));
}

#[tokio::test]
async fn words_are_found_where_they_were_said() {
    let stage = Stage::new().await;
    let (one, two) = (stage.folder("one"), stage.folder("two"));
    let first = stage.session(&one, 1_000, vec![said("where is the login page made?")]).await;
    stage.session(&two, 2_000, vec![said("the login page forgets")]).await;
    let search = SearchSessions { words: "login page".to_owned(), ..SearchSessions::default() };
    let found = stage.ask(&search).await.unwrap().places;
    assert_eq!(found.len(), 2);
    let here = SearchSessions { folder: Some(text(&one)), ..search.clone() };
    let place = stage.ask(&here).await.unwrap().places.remove(0);
    assert_eq!((place.session_id, place.seq, place.role), (first, 1, FoundRole::User));
    let words: Vec<&str> = place.marks.iter().filter_map(|[start, end]| place.text.get(*start..*end)).collect();
    assert_eq!(words, ["login", "page"]);
    assert_eq!(stage.ask(&SearchSessions { limit: 1, ..search.clone() }).await.unwrap().places.len(), 1);
    let early = SearchSessions { until: Timestamp::from_millisecond(1_500).ok(), ..search };
    assert_eq!(stage.ask(&early).await.unwrap().places.len(), 1);
    let signs = SearchSessions { words: "?!".to_owned(), ..SearchSessions::default() };
    assert_eq!(stage.ask(&signs).await.unwrap_err().trouble, Trouble::Invalid);
}

/// A session whose second message changed `a.txt` from `one` to `two`, and what the file was kept as.
async fn with_change(stage: &Stage, folder: &Path) -> SessionId {
    let (id, file) = (SessionId::new(), folder.join("a.txt"));
    std::fs::write(&file, "one\n").unwrap();
    let checkpoints = stage.hub.checkpoints(folder).await.unwrap();
    let keep = |when| -> Checkpoint {
        let note = Note { when, label: "change it".to_owned(), session: id.to_string() };
        event_of(&checkpoints.snapshot(&note).unwrap(), when, "change it")
    };
    let before = keep(CheckpointWhen::Before);
    std::fs::write(&file, "two\n").unwrap();
    let after = keep(CheckpointWhen::After);
    let bodies = vec![said("look"), said("change it"), EventBody::Checkpoint(before), EventBody::Checkpoint(after)];
    stage.begin(id, folder, 1_000, bodies).await;
    id
}

#[tokio::test]
async fn lines_that_a_person_changed_are_not_counted_as_the_sessions() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let (id, file) = (SessionId::new(), folder.join("a.txt"));
    let checkpoints = stage.hub.checkpoints(&folder).await.unwrap();
    let keep = |when, content: &str| -> EventBody {
        std::fs::write(&file, content).unwrap();
        let note = Note { when, label: "change it".to_owned(), session: id.to_string() };
        EventBody::Checkpoint(event_of(&checkpoints.snapshot(&note).unwrap(), when, "change it"))
    };
    let done = || -> EventBody {
        let done = serde_json::json!({
            "type": "agent_complete", "reason": "natural", "final": "", "turns": 1,
            "usage": { "input": 0, "output": 0 }, "duration_ms": 1
        });
        serde_json::from_value(done).unwrap()
    };
    let bodies = vec![
        said("change it"),
        keep(CheckpointWhen::Before, "one\n"),
        keep(CheckpointWhen::After, "one\ntwo\n"),
        done(),
        said("go on"),
        keep(CheckpointWhen::Before, "one\ntwo\nby hand\nby hand\n"),
        keep(CheckpointWhen::After, "one\ntwo\nby hand\nby hand\nfive\n"),
        done(),
    ];
    stage.begin(id, &folder, 1_000, bodies).await;
    let diff = DiffSession { session: id.to_string(), folder: text(&folder), ..DiffSession::default() };
    let lines = |added, removed| Some(LineCount { added, removed });
    let own = |files: &[FileDiff]| files.iter().map(|file| (file.own, file.since)).collect::<Vec<_>>();
    // Two lines were written by hand between the two messages.
    assert_eq!(own(&stage.ask(&diff).await.unwrap().files), [(lines(2, 0), 0)]);
    std::fs::write(&file, "one\nTWO\nby hand\nby hand\nfive\nsix\n").unwrap();
    assert_eq!(own(&stage.ask(&diff).await.unwrap().files), [(lines(2, 0), 2)]);
}

#[tokio::test]
async fn what_changed_is_compared_and_nothing_is_data_too() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let id = with_change(&stage, &folder).await;
    let diff = DiffSession { session: id.to_string(), folder: text(&folder), ..DiffSession::default() };
    let changed = stage.ask(&diff).await.unwrap();
    assert_eq!(changed.place, None);
    let file = changed.files.first().unwrap();
    assert_eq!((file.path.as_str(), file.kind), ("a.txt", FileChangeKind::Modified));
    assert!(file.diff.contains("-one\n+two\n"), "{}", file.diff);
    let since_end = DiffSession { from: Some("end".to_owned()), ..diff.clone() };
    assert!(stage.ask(&since_end).await.unwrap().files.is_empty());
    // What somebody else changes meanwhile is told apart.
    std::fs::write(folder.join("other.txt"), "foreign\n").unwrap();
    let files = stage.ask(&diff).await.unwrap().files;
    let whose: Vec<(&str, bool)> = files.iter().map(|file| (file.path.as_str(), file.by_others)).collect();
    assert_eq!(whose, [("a.txt", false), ("other.txt", true)]);
    assert!(files.iter().all(|file| file.own.is_none()), "nobody else changed the one, nor the session the other");
    let strange = DiffSession { from: Some("9".to_owned()), ..diff.clone() };
    assert_eq!(stage.ask(&strange).await.unwrap_err().trouble, Trouble::NotFound);
    let backwards = DiffSession { from: Some("now".to_owned()), to: Some("end".to_owned()), ..diff };
    assert_eq!(stage.ask(&backwards).await.unwrap_err().trouble, Trouble::Invalid);

    // The last session of the folder is meant where none is named.
    let agents = ListSessionAgents { session: None, folder: text(&folder) };
    assert_eq!(stage.ask(&agents).await.unwrap().session_id, id);
    let fork = ForkSession { folder: text(&folder), at: Some("2".to_owned()), ..ForkSession::default() };
    let forked = stage.ask(&fork).await.unwrap();
    assert_eq!(forked.session.forked_from.map(|from| from.session_id), Some(id));
    assert_eq!(forked.before.map(|before| before.number), Some(2));
}

#[tokio::test]
async fn going_back_is_looked_at_and_done_if_nothing_came_since() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let id = with_change(&stage, &folder).await;
    let points = stage.ask(&ListRewindPoints { session: id.to_string() }).await.unwrap();
    let numbers: Vec<u64> = points.messages.iter().map(|point| point.number).collect();
    assert_eq!((numbers, points.is_said), (vec![1, 2], true));

    let to = RewindTo::Point { point: "2".to_owned(), what: RewindWhat::Both };
    let look = PreviewRewind { session: id.to_string(), folder: text(&folder), to: to.clone(), others: false };
    let outlook = stage.ask(&look).await.unwrap();
    assert!(!outlook.is_nothing && outlook.undoes.is_none() && outlook.last_seq == 4, "{outlook:?}");
    assert_eq!(outlook.preview.messages.len(), 1);
    assert_eq!(outlook.preview.files.first().unwrap().path, "a.txt");
    let back = RewindSession {
        session: look.session.clone(),
        folder: look.folder.clone(),
        to,
        agreed: AgreedTo::Nothing,
        last_seq: 3,
    };
    // It is not as it was looked at.
    assert_eq!(stage.ask(&back).await.unwrap_err().trouble, Trouble::Failed);
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "two\n");
    std::fs::write(folder.join("other.txt"), "foreign\n").unwrap();
    let went = stage.ask(&RewindSession { last_seq: outlook.last_seq, ..back }).await.unwrap();
    assert_eq!((went.changes.len(), went.kept.len()), (1, 1), "{went:?}");
    assert!(went.kept[0].contains("other.txt") && folder.join("other.txt").exists(), "{went:?}");
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
    let undo = stage.ask(&PreviewRewind { to: RewindTo::Undo, ..look.clone() }).await.unwrap();
    assert!(undo.undoes.is_some() && undo.preview.again.len() == 1);
    let redo = PreviewRewind { to: RewindTo::Redo, ..look };
    assert_eq!(stage.ask(&redo).await.unwrap_err().trouble, Trouble::Invalid);
}

#[tokio::test]
async fn whoever_stops_waiting_for_the_way_back_stops_nothing() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let id = with_change(&stage, &folder).await;
    let back = RewindSession {
        session: id.to_string(),
        folder: text(&folder),
        to: RewindTo::Point { point: "2".to_owned(), what: RewindWhat::Both },
        agreed: AgreedTo::Nothing,
        last_seq: 4,
    };
    let begins = async {
        while !stage.store.is_leased(id).await {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        went = stage.ask(&back) => drop(went.unwrap()),
        () = begins => {}
    }
    while stage.store.is_leased(id).await {
        tokio::task::yield_now().await;
    }
    assert_eq!(std::fs::read_to_string(folder.join("a.txt")).unwrap(), "one\n");
    let undo = PreviewRewind { session: id.to_string(), folder: text(&folder), to: RewindTo::Undo, others: false };
    assert!(stage.ask(&undo).await.unwrap().undoes.is_some(), "the log says so too");
}

#[tokio::test]
async fn what_is_exported_comes_in_elsewhere_once() {
    let (here, there) = (Stage::new().await, Stage::new().await);
    let folder = here.folder("a");
    let id = here.session(&folder, 1_000, vec![said("remember me"), said("and this")]).await;
    let file = text(&folder.join("session.jsonl"));
    let export = ExportSession {
        session: None,
        folder: text(&folder),
        format: ExportFormat::Jsonl,
        file: file.clone(),
        over: false,
        with_keys: false,
    };
    let done = here.ask(&export).await.unwrap();
    assert_eq!((done.session, done.events), (id, 2));
    assert_eq!(here.ask(&export).await.unwrap_err().trouble, Trouble::Invalid);
    for format in [ExportFormat::Markdown, ExportFormat::Html] {
        here.ask(&ExportSession { format, over: true, file: file.clone() + ".page", ..export.clone() }).await.unwrap();
        assert!(std::fs::read_to_string(file.clone() + ".page").unwrap().contains("remember me"));
    }

    let import = |file: String| ImportSession {
        file,
        entry: None,
        name: None,
        program: None,
        folder: text(&there.folder("b")),
        moves: false,
        again: false,
    };
    let taken = there.ask(&import(file.clone())).await.unwrap();
    assert_eq!((taken.session, taken.program, taken.events, taken.already), (id, Program::Neco.into(), 2, false));
    assert_eq!(taken.notes, [ImportNote::OwnFolder { folder: text(&folder) }]);
    assert!(there.ask(&import(file.clone())).await.unwrap().already);
    let again = there.ask(&ImportSession { again: true, moves: true, ..import(file.clone()) }).await.unwrap();
    assert!(again.session != id && again.notes.is_empty());

    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/sessions/claude-code.jsonl");
    let foreign = there.ask(&import(text(&fixture))).await.unwrap();
    assert_eq!(foreign.program, Program::ClaudeCode);
    assert!(matches!(foreign.notes.first(), Some(ImportNote::Skipped { records }) if records.len() == 3));
    let page = there.ask(&import(file + ".page")).await.unwrap_err();
    assert_eq!(page.trouble, Trouble::Invalid);
    let find = FindForeignSessions { program: Program::Codex, folder: text(&folder), limit: 9 };
    assert!(there.ask(&find).await.unwrap().sessions.is_empty());
}

#[tokio::test]
async fn a_list_is_turned_over_page_by_page() {
    let stage = Stage::new().await;
    let folder = stage.folder("a");
    let mut made = Vec::new();
    for ms in [1_000, 2_000, 2_000, 3_000, 4_000] {
        made.push(stage.session(&folder, ms, vec![said("hello")]).await);
    }
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = stage.ask(&ListSessions { limit: 2, cursor, ..ListSessions::default() }).await.unwrap();
        assert_eq!(page.next.is_some(), page.more > 0);
        found.push(page.sessions.iter().map(|row| row.id).collect::<Vec<_>>());
        let Some(next) = page.next else { break };
        cursor = Some(next);
    }
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    let mut all = found.concat();
    all.sort();
    made.sort();
    assert_eq!(all, made);
    // One that was removed meanwhile does not matter.
    let gone = Some(format!("3500.{}", SessionId::new()));
    let page = stage.ask(&ListSessions { cursor: gone, ..ListSessions::default() }).await.unwrap();
    assert_eq!(page.sessions.len(), 4);
    let broken = ListSessions { cursor: Some("second page".to_owned()), ..ListSessions::default() };
    assert_eq!(stage.ask(&broken).await.unwrap_err().trouble, Trouble::Invalid);
}

#[tokio::test]
async fn bytes_of_a_session_are_read_piece_by_piece_and_nothing_else_is() {
    let stage = Stage::new().await;
    let id = SessionId::new();
    let outputs = stage.data_dir().join("sessions").join(id.to_string()).join("outputs");
    std::fs::create_dir_all(&outputs).unwrap();
    let (output, elsewhere) = (outputs.join("call.txt"), stage.home.path().join("private.txt"));
    let big = "0123456789".repeat(1_000_000);
    std::fs::write(&output, &big).unwrap();
    std::fs::write(&elsewhere, "private").unwrap();
    std::os::unix::fs::symlink(&elsewhere, outputs.join("link.txt")).unwrap();
    let ended = |file: &Path| {
        let end = serde_json::json!({
            "call_id": "c", "tool": "bash", "summary": "", "status": "success", "output": "", "duration_ms": 1,
            "spilled_to": text(file),
        });
        EventBody::ToolCallEnd(serde_json::from_value(end).unwrap())
    };
    let picture = Part::Image { media_type: "image/png".to_owned(), data: "iVBORw==".to_owned() };
    let pictured = EventBody::Message(Message::new(Role::User, vec![Part::Text { text: "look".to_owned() }, picture]));
    let events = vec![ended(&output), pictured, ended(&elsewhere), ended(&outputs.join("link.txt")), said("hello")];
    stage.begin(id, &stage.folder("a"), 1_000, events).await;
    let (app, person): (&dyn App, _) = (&stage.app, Caller::person());
    let at = |seq, part| BlobId { session: id, seq, part };
    assert_eq!(app.bytes(&person, at(1, 0), 8..13).await.unwrap(), b"89012");
    assert_eq!(app.bytes(&person, at(1, 0), 0..u64::MAX).await.unwrap(), big.as_bytes());
    assert!(app.bytes(&person, at(1, 0), 10_000_000..10_000_001).await.unwrap().is_empty());
    assert_eq!(app.bytes(&person, at(2, 1), 1..4).await.unwrap(), b"PNG");
    for missing in [at(2, 0), at(3, 0), at(4, 0), at(5, 0), at(6, 0)] {
        assert_eq!(app.bytes(&person, missing, 0..9).await.unwrap_err().trouble, Trouble::NotFound, "{missing:?}");
    }
}
