//! Who does not speak as agreed is told so or left, and nobody else notices.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt;
use neco_proto::app::blobs::BlobId;
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::sessions::ListSessions;
use neco_proto::app::{App, Call, Caller, Scope, Trouble};
use neco_proto::{Actor, Client, ClientError, Command, Mode, Query, SessionId};
use neco_server::{AttachError, RemoteClient, SocketPlaces};
use serde_json::{Value, json};

use crate::session::{BYTES, Stage, byte_at, chunk};

/// A window that says what it likes.
struct Rude {
    stream: UnixStream,
    lines: BufReader<UnixStream>,
}

impl Rude {
    fn connect(stage: &Stage) -> Self {
        let stream = UnixStream::connect(stage.socket()).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap());
        Self { stream, lines }
    }

    /// One that has said hello.
    fn welcome(stage: &Stage) -> Self {
        let mut window = Self::connect(stage);
        let hello = json!({ "protocol": 1, "session_id": stage.session.id });
        let reply = window.says(&json!({ "id": 9, "says": { "hello": hello } }).to_string());
        assert_eq!((&reply["id"], &reply["says"]["welcome"]["protocol"]), (&json!(9), &json!(1)), "{reply}");
        window
    }

    fn says(&mut self, line: &str) -> Value {
        writeln!(self.stream, "{line}").unwrap();
        self.hears()
    }

    fn hears(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Whether the other side has hung up.
    fn is_left(&mut self) -> bool {
        matches!(self.lines.read(&mut [0; 1]), Ok(0) | Err(_))
    }
}

/// Waits for the other thread, which serves.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_word_is_hello_in_the_same_language() {
    let stage = Stage::new();
    let session = stage.session.id;
    for (first, why) in [
        (
            json!({ "id": 4, "says": { "hello": { "protocol": 0, "session_id": session } } }),
            "versions 1 to 1 of the protocol; this is neco of an older version, which speaks 0: close that one",
        ),
        (
            json!({ "id": 4, "says": { "hello": { "protocol": 0, "session_id": session, "version": "0.0.1" } } }),
            "this is neco 0.0.1, which speaks 0: close that one, or use the same version of neco for both",
        ),
        (json!({ "id": 4, "says": { "hello": { "protocol": 1, "session_id": SessionId::new() } } }), "another session"),
        (json!({ "id": 4, "says": { "send": { "type": "cancel" } } }), "a hello comes first"),
        (json!({ "id": 4, "method": "initialize" }), "no hello"),
    ] {
        let mut window = Rude::connect(&stage);
        let (reply, left) = apart(move || (window.says(&first.to_string()), window.is_left())).await;
        let words = reply["says"]["not_welcome"]["why"].as_str().unwrap_or_default().to_owned();
        assert!(reply["id"] == 4 && words.contains(why) && left, "{reply}");
    }
    assert!(stage.session.commands.lock().unwrap().is_empty());
    // A newer window is spoken to in the newest language that this side knows.
    let mut newer = Rude::connect(&stage);
    let hello = json!({ "id": 4, "says": { "hello": { "protocol": 7, "session_id": session, "mood": "good" } } });
    let reply = apart(move || newer.says(&hello.to_string())).await;
    assert_eq!(reply["says"]["welcome"]["protocol"], 1, "{reply}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_whose_language_nobody_here_speaks_is_not_attached_to() {
    let folder = tempfile::tempdir().unwrap();
    let places = SocketPlaces::new(folder.path().join("sockets"), Vec::new());
    for (protocol, is_spoken) in [(0, false), (1, true), (2, false)] {
        let session = SessionId::new();
        let socket = folder.path().join("sockets").join(format!("{session}.sock"));
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = String::new();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut hello).unwrap();
            let welcome = json!({ "protocol": protocol, "pid": 7, "version": "9.9.9" });
            writeln!(stream, "{}", json!({ "id": 0, "says": { "welcome": welcome } })).unwrap();
        });
        match RemoteClient::attach(&places, session).await {
            Ok(client) => assert!(is_spoken && client.owner().version == "9.9.9"),
            Err(error) => {
                let own = env!("CARGO_PKG_VERSION");
                let words = format!(
                    "it runs neco 9.9.9, which speaks version {protocol} of the protocol; this is neco {own}, which \
                     speaks 1 to 1: close that one, or use the same version of neco for both"
                );
                assert!(!is_spoken && error == AttachError::NotWelcome(words), "{error}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_makes_no_sense_is_refused_by_its_number_and_the_next_one_is_taken() {
    let stage = Stage::new();
    let mut window = Rude::welcome(&stage);
    let (dance, hello, cancel, noise, left) = apart(move || {
        let dance = window.says(r#"{"id":5,"says":{"dance":{"wildly":true}}}"#);
        let hello = window.says(
            &json!({ "id": 6, "says": { "hello": { "protocol": 1, "session_id": SessionId::new() } } }).to_string(),
        );
        let cancel = window.says(r#"{"id":7,"says":{"send":{"type":"cancel"}}}"#);
        let noise = window.says("\u{1b}[31m not json at all");
        (dance, hello, cancel, noise, window.is_left())
    })
    .await;
    assert_eq!(dance["id"], 5);
    assert!(dance["says"]["error"]["refused"].as_str().unwrap().contains("not understood"), "{dance}");
    assert!(hello["says"]["error"]["refused"].as_str().unwrap().contains("already"), "{hello}");
    assert_eq!(cancel, json!({ "id": 7, "says": { "taken": { "seq": 0, "message_id": null } } }));
    assert!(noise["id"] == 0 && noise["says"]["error"]["refused"].is_string() && left, "{noise}");
    assert!(stage.window().await.ask(Query::Snapshot).await.is_ok(), "others are served");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_an_end_is_not_kept() {
    let stage = Stage::new();
    let mut window = Rude::welcome(&stage);
    let reply = apart(move || {
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..=64 {
            if window.stream.write_all(&piece).is_err() {
                break;
            }
        }
        window.hears()
    })
    .await;
    let words = reply["says"]["error"]["refused"].as_str().unwrap_or_default();
    assert!(words.is_empty() || words.contains("longer than"), "{reply}");
    assert!(stage.window().await.ask(Query::Snapshot).await.is_ok(), "others are served");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_on_one_connection_have_a_bound() {
    let stage = Stage::new();
    stage.session.add(chunk("one"));
    let mut window = Rude::welcome(&stage);
    let replies = apart(move || {
        for id in 1..=5 {
            writeln!(window.stream, "{}", json!({ "id": id, "says": { "events": { "since": 0 } } })).unwrap();
        }
        (0..5).map(|_| window.hears()).collect::<Vec<_>>()
    })
    .await;
    let refused: Vec<_> = replies.iter().filter(|reply| reply["says"]["error"].is_object()).collect();
    assert!(refused.len() == 1 && refused[0]["id"] == 5, "{replies:?}");
}

/// Not a test by itself: what the next one starts as a process of its own.
#[tokio::test]
async fn child_window() {
    let (Ok(folder), Ok(session)) = (std::env::var("NECO_TEST_SOCKETS"), std::env::var("NECO_TEST_SESSION")) else {
        return;
    };
    let places = SocketPlaces::new(folder.into(), Vec::new());
    let attached = RemoteClient::attach(&places, session.parse().unwrap()).await;
    let Err(AttachError::NotWelcome(why)) = attached else { panic!("a command of the session was served") };
    assert!(why.contains("a command of the session"), "{why}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_the_session_started_is_not_served() {
    let stage = Stage::new();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "manners::child_window"]);
    child.env("NECO_TEST_SOCKETS", stage.folder.path().join("sockets"));
    child.env("NECO_TEST_SESSION", stage.session.id.to_string());
    let output = apart(move || child.output().unwrap()).await;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// A process that says welcome, hears one request on each connection and hangs up.
fn hangs_up(folder: &std::path::Path, session: SessionId) -> Arc<AtomicUsize> {
    let socket = folder.join("sockets").join(format!("{session}.sock"));
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            let welcome = json!({ "id": 0, "says": { "welcome": { "protocol": 1, "pid": 7, "version": "x" } } });
            writeln!(stream, "{welcome}").unwrap();
            line.clear();
            if lines.read_line(&mut line).unwrap() > 0 {
                count.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    heard
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_may_have_been_heard_is_not_called_unheard() {
    let folder = tempfile::tempdir().unwrap();
    let places = SocketPlaces::new(folder.path().join("sockets"), Vec::new());
    let session = SessionId::new();
    let heard = hangs_up(folder.path(), session);
    let window = RemoteClient::attach(&places, session).await.unwrap();
    let said = window.send(Command::Steer { text: "once".to_owned() }).await;
    assert!(matches!(&said, Err(ClientError::Refused(words)) if words.contains("not known")), "{said:?}");
    assert_eq!(heard.load(Ordering::SeqCst), 1, "nor is it said again");
    assert_eq!(window.ask(Query::Snapshot).await, Err(ClientError::Gone), "a question can be asked again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_around_a_session_is_asked_over_the_same_socket() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let app: &dyn App = &client;
    let page = app.ask(&Caller::person(), &ListSessions::default()).await.unwrap();
    assert_eq!(page.more, 7);
    let unknown = Call { name: "sessions.sing".into(), arguments: json!({}) };
    let error = app.call(&Caller::person(), unknown).await.unwrap_err();
    assert_eq!((error.trouble, error.message.as_str()), (Trouble::NotFound, "there is no call sessions.sing"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_may_only_look_may_do_no_more_over_the_socket() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let app: &dyn App = &client;
    let tablet = Caller { actor: Actor::Device { name: "tablet".into() }, scope: Scope::Read, tenant: None };
    app.ask(&tablet, &ListSessions::default()).await.unwrap();
    assert_eq!(*stage.session.callers.lock().unwrap(), [tablet]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_calls_keep_no_command_waiting_and_end_when_nobody_waits_for_them() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let person = Caller::person();
    let ponder = || client.call(&person, Call { name: "sessions.ponder".into(), arguments: json!({}) });
    let mut stuck = stage.session.stuck.subscribe();
    let calls = futures::future::join_all((0..9).map(|_| ponder()));
    let meanwhile = async {
        stuck.wait_for(|stuck| *stuck == 8).await.unwrap();
        client.send(Command::Cancel).await.unwrap();
    };
    tokio::select! {
        _ = calls => panic!("they never end"),
        () = meanwhile => {}
    }
    // Whoever asked has gone, and so has the one that waited for its place.
    stuck.wait_for(|stuck| *stuck == 0).await.unwrap();
    client.ask(Query::Snapshot).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_without_an_answer_have_a_bound_and_the_next_ones_are_read() {
    let stage = Stage::new();
    let mut window = Rude::welcome(&stage);
    let (refused, taken) = apart(move || {
        for id in 1..=33 {
            writeln!(window.stream, "{}", json!({ "id": id, "says": { "call": { "name": "sessions.ponder" } } }))
                .unwrap();
        }
        (window.hears(), window.says(r#"{"id":34,"says":{"send":{"type":"cancel"}}}"#))
    })
    .await;
    assert!(refused["id"] == 33 && refused["says"]["error"]["refused"].is_string(), "{refused}");
    assert!(taken["id"] == 34 && taken["says"]["taken"].is_object(), "{taken}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_one_window_are_taken_in_the_order_in_which_they_were_said() {
    let stage = Stage::new();
    let mut window = Rude::welcome(&stage);
    let steer = |number: usize| Command::Steer { text: number.to_string() };
    for round in 0..50 {
        let busy = stage.session.busy.lock().await;
        let said: Vec<String> = (0..20)
            .map(|id| json!({ "id": id, "says": { "send": steer(round * 20 + id) } }).to_string() + "\n")
            .collect();
        window = apart(move || {
            window.stream.write_all(said.concat().as_bytes()).unwrap();
            window
        })
        .await;
        drop(busy);
        window = apart(move || {
            (0..20).for_each(|_| assert!(window.hears()["says"]["taken"].is_object()));
            window
        })
        .await;
    }
    let taken: Vec<Command> = stage.session.commands.lock().unwrap().iter().map(|(_, said)| said.clone()).collect();
    assert_eq!(taken, (0..1000).map(steer).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_waits_for_an_answer_hears_of_a_mistake() {
    let stage = Stage::new();
    let client = stage.window().await;
    let (person, call) = (Caller::person(), || Call { name: "sessions.stumble".into(), arguments: json!({}) });
    let error = client.call(&person, call()).await.unwrap_err();
    assert!(error.trouble == Trouble::Failed && error.message.contains("mistake"), "{error:?}");
    let mut items: Vec<_> = client.stream(&person, call()).collect().await;
    let last = items.pop().unwrap().unwrap_err();
    assert!(items.len() == 3 && last.trouble == Trouble::Failed, "{last:?}");
    client.ask(Query::Snapshot).await.unwrap();
}

/// A process that lets the first connection in, and no other one.
fn grows_shy(folder: &std::path::Path, session: SessionId) {
    let socket = folder.join("sockets").join(format!("{session}.sock"));
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let welcome = json!({ "welcome": { "protocol": 1, "pid": 7, "version": "x" } });
        let replies =
            std::iter::once(welcome).chain(std::iter::repeat(json!({ "not_welcome": { "why": "too late" } })));
        for (stream, reply) in listener.incoming().zip(replies) {
            let mut stream = stream.unwrap();
            BufReader::new(stream.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
            writeln!(stream, "{}", json!({ "id": 0, "says": reply })).unwrap();
        }
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_not_let_in_again_does_not_call_the_session_ended() {
    let folder = tempfile::tempdir().unwrap();
    let places = SocketPlaces::new(folder.path().join("sockets"), Vec::new());
    let session = SessionId::new();
    grows_shy(folder.path(), session);
    let window = RemoteClient::attach(&places, session).await.unwrap();
    let error = loop {
        // The connection may break while the first is on its way.
        match window.ask(Query::Snapshot).await {
            Err(ClientError::Gone) => {}
            other => break other.unwrap_err(),
        }
    };
    assert_eq!(error, ClientError::Refused("too late".to_owned()));
    let call = Call { name: "sessions.sing".into(), arguments: json!({}) };
    let watched = window.stream(&Caller::person(), call).next().await.unwrap().unwrap_err();
    assert_eq!(watched.message, "too late");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_comes_bit_by_bit_over_the_socket_and_ends_when_nobody_listens() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let person = Caller::person();
    let call = |name: &str| Call { name: name.to_owned(), arguments: json!({}) };
    let all: Vec<_> = client.stream(&person, call("sessions.sing")).collect().await;
    let told: Vec<_> = all.iter().filter_map(|item| item.as_ref().ok().cloned()).collect();
    assert_eq!(told, [json!(1), json!(2), json!(3)]);
    assert_eq!(all.last().unwrap().as_ref().unwrap_err().trouble, Trouble::NotFound, "its error is an error here");

    let mut stuck = stage.session.stuck.subscribe();
    let mut ponders = client.stream(&person, call("sessions.ponder"));
    assert_eq!(ponders.next().await.unwrap().unwrap(), json!(1));
    stuck.wait_for(|stuck| *stuck == 1).await.unwrap();
    drop(ponders);
    stuck.wait_for(|stuck| *stuck == 0).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_comes_bit_by_bit_is_cancelled_by_its_number_and_the_connection_stays() {
    let stage = Stage::new();
    let mut stuck = stage.session.stuck.subscribe();
    let watch = |id: u64| json!({ "id": id, "says": { "watch": { "name": "sessions.ponder" } } }).to_string();
    let mut window = Rude::welcome(&stage);
    let mut window = apart(move || {
        let first = window.says(&watch(1));
        assert_eq!((&first["id"], &first["says"]["item"]), (&json!(1), &json!(1)), "{first}");
        window.hears();
        window.hears();
        window.says(&watch(2));
        window.hears();
        window.hears();
        window
    })
    .await;
    stuck.wait_for(|stuck| *stuck == 2).await.unwrap();
    let cancel = json!({ "id": 1, "says": "cancel" });
    writeln!(window.stream, "{cancel}").unwrap();
    // The other one goes on.
    stuck.wait_for(|stuck| *stuck == 1).await.unwrap();
    let asked = json!({ "id": 3, "says": { "call": { "name": "sessions.list" } } }).to_string();
    let answer = apart(move || window.says(&asked)).await;
    assert_eq!((&answer["id"], &answer["says"]["called"]["more"]), (&json!(3), &json!(7)), "{answer}");
    // It ends with the connection, which that was.
    stuck.wait_for(|stuck| *stuck == 0).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_of_a_session_come_over_the_socket_piece_by_piece() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let (app, person): (&dyn App, _) = (&client, Caller::person());
    let id = BlobId { session: stage.session.id, seq: 1, part: 0 };
    let all = app.bytes(&person, id, 0..u64::MAX).await.unwrap();
    assert!(all == (0..BYTES).map(byte_at).collect::<Vec<_>>(), "{} bytes came", all.len());
    assert_eq!(app.bytes(&person, id, 7..10).await.unwrap(), [7, 8, 9]);
    assert!(app.bytes(&person, id, BYTES..BYTES + 1).await.unwrap().is_empty());
    assert_eq!(stage.session.callers.lock().unwrap().len(), 4, "all of it comes in two pieces");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_open_is_opened_over_the_socket_and_no_other_one() {
    let stage = Stage::new();
    let client = RemoteClient::attach(&stage.places, stage.session.id).await.unwrap();
    let (app, person): (&dyn App, _) = (&client, Caller::person());
    let id = stage.session.id.to_string();
    let named = |id: &str| OpenSession { which: WhichSession::Id(id.to_owned()), ..OpenSession::default() };
    let opened = app.open(&person, named(id.get(..30).unwrap())).await.unwrap();
    assert_eq!((opened.id, opened.owner), (stage.session.id, Some(std::process::id())));
    opened.client.send(Command::Cancel).await.unwrap();
    assert_eq!(app.close(opened.client).await.unwrap(), None);
    assert!(opened.notes.is_empty());
    let stricter = OpenSession { mode: Some(Mode::Ask), ..named(&id) };
    assert_eq!(app.open(&person, stricter).await.unwrap().notes.len(), 1, "what does not hold is said");
    for other in [OpenSession::default(), named(""), named("0000"), named(&SessionId::new().to_string())] {
        assert_eq!(app.open(&person, other).await.err().map(|error| error.trouble), Some(Trouble::Unsupported));
    }
}
