//! Sessions that are held, and who comes to them at one time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::StreamExt;
use neco_proto::app::Call;
use serde_json::Value;

use super::*;

/// A session that remembers what it was told, and whether it is gone.
#[derive(Default)]
struct Told(Mutex<Vec<Command>>, AtomicBool);

impl Client for Told {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        async move {
            self.0.lock().unwrap().push(command);
            Ok(Receipt { seq: 0, message_id: None })
        }
        .boxed()
    }

    fn events(&self, _: Seq) -> EventStream {
        futures::stream::empty().boxed()
    }

    fn ask(&self, _: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        let is_gone = self.1.load(Ordering::SeqCst);
        let error = if is_gone { ClientError::Gone } else { ClientError::Refused("nothing is known".to_owned()) };
        async { Err(error) }.boxed()
    }
}

/// A program that opens its session slowly the first time, and counts how often it is handed back.
struct Program {
    id: SessionId,
    session: Arc<Told>,
    opened: AtomicUsize,
    closed: AtomicUsize,
    /// Whether a window of another process is at its session.
    watched: AtomicBool,
}

impl App for Program {
    fn call<'a>(&'a self, _: &'a Caller, _: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        async { Ok(Value::Null) }.boxed()
    }

    fn open<'a>(&'a self, _: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        async move {
            if self.opened.fetch_add(1, Ordering::SeqCst) == 0 {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            self.session.1.store(false, Ordering::SeqCst);
            let client: Arc<dyn Client> = Arc::<Told>::clone(&self.session);
            Ok(OpenedSession { id: self.id, client, folder: wanted.folder, owner: None, since: 0, notes: Vec::new() })
        }
        .boxed()
    }

    fn close(&self, _: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        self.closed.fetch_add(1, Ordering::SeqCst);
        async { Ok(None) }.boxed()
    }

    fn is_watched(&self, session: SessionId) -> bool {
        session == self.id && self.watched.load(Ordering::SeqCst)
    }
}

fn hall() -> (Arc<Program>, Arc<Hall>, tempfile::TempDir) {
    let (opened, closed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let watched = AtomicBool::new(false);
    let program = Arc::new(Program { id: SessionId::new(), session: Arc::default(), opened, closed, watched });
    let app: Arc<dyn App> = Arc::<Program>::clone(&program);
    let folder = tempfile::tempdir().unwrap();
    let hall = Hall::new(app, &[], "0.0.0-test", folder.path(), Vec::new());
    (program, hall, folder)
}

#[tokio::test]
async fn commands_are_handed_over_in_their_order_while_the_session_is_opened() {
    let (program, hall, _folder) = hall();
    let rights = Rights { scope: Scope::Manage, actor: Actor::Person };
    let said: Vec<Command> = ["one", "two", "three"].map(|text| Command::Steer { text: text.to_owned() }).into();
    let sends = said.iter().map(|command| {
        let sent = Sent { by: Actor::Person, command: command.clone() };
        hall.send(&rights, program.id, sent)
    });
    for taken in join_all(sends).await {
        taken.unwrap();
    }
    assert_eq!(*program.session.0.lock().unwrap(), said);
    assert_eq!(program.opened.load(Ordering::SeqCst), 1, "it is held by then");
}

#[tokio::test]
async fn who_follows_a_session_keeps_the_way_to_it_when_it_is_opened_again() {
    let (program, hall, _folder) = hall();
    let (person, id) = (Caller::person(), program.id);
    let before = hall.client(&person, id).await.unwrap();
    let wanted = OpenSession { folder: "/project".to_owned(), ..OpenSession::default() };
    hall.open(&person, wanted).await.unwrap();
    assert!(Arc::ptr_eq(&before, &hall.at_hand(id).unwrap()));
    assert_eq!(program.closed.load(Ordering::SeqCst), 1, "it was opened twice and is held once");
    hall.let_go(id, &before).await.unwrap();
    assert_eq!((hall.count(), program.closed.load(Ordering::SeqCst)), (0, 2));
    hall.client(&person, id).await.unwrap();
    hall.let_go(id, &before).await.unwrap();
    assert_eq!(hall.count(), 1, "what was opened again is not closed by whoever found the old one gone");
}

#[tokio::test]
async fn a_session_that_is_gone_is_opened_again_for_whoever_looks() {
    let (program, hall, _folder) = hall();
    let (person, id) = (Caller::person(), program.id);
    hall.living(&person, id).await.unwrap();
    hall.living(&person, id).await.unwrap();
    assert_eq!(program.opened.load(Ordering::SeqCst), 1, "it is there");
    program.session.1.store(true, Ordering::SeqCst);
    let client = hall.living(&person, id).await.unwrap();
    assert!(!is_gone(client.as_ref()).await);
    assert_eq!((program.opened.load(Ordering::SeqCst), program.closed.load(Ordering::SeqCst)), (2, 1));
}

#[tokio::test]
async fn a_session_that_a_window_watches_stays_however_long_nobody_asks_for_it_here() {
    let (program, hall, _folder) = hall();
    hall.living(&Caller::person(), program.id).await.unwrap();
    program.watched.store(true, Ordering::SeqCst);
    assert_eq!(hall.tidy_after(Duration::ZERO).await, 1);
    program.watched.store(false, Ordering::SeqCst);
    assert_eq!(hall.tidy_after(Duration::ZERO).await, 0);
    assert_eq!(program.closed.load(Ordering::SeqCst), 1);
}
