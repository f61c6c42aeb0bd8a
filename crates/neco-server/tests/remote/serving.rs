//! A window in another process can do what one in the same process can.

use futures::StreamExt;
use neco_proto::event::{SessionTitle, TitleSource, UnknownEvent};
use neco_proto::{Actor, Answer, Client, ClientError, Command, Event, EventBody, Query};
use neco_server::{AttachError, RemoteClient};
use serde_json::{Map, json};

use crate::session::{Stage, chunk};

fn steer(text: &str) -> Command {
    Command::Steer { text: text.to_owned() }
}

#[tokio::test]
async fn commands_questions_and_refusals_go_through() {
    let stage = Stage::new();
    let window = stage.window().await;
    assert_eq!((window.owner().pid, window.owner().version.as_str()), (std::process::id(), "0.0.0-test"));
    stage.session.add(chunk("before"));
    let receipt = window.send(steer("turn left")).await.unwrap();
    assert_eq!(receipt.seq, 1);
    assert!(matches!(&stage.session.log()[1].body, EventBody::Message(said) if Some(said.id) == receipt.message_id));
    let phone = Actor::Device { name: "phone".to_owned() };
    window.send_as(phone.clone(), steer("faster")).await.unwrap();
    let heard = [(Actor::Person, steer("turn left")), (phone, steer("faster"))];
    assert_eq!(*stage.session.commands.lock().unwrap(), heard);
    let Answer::Snapshot(snapshot) = window.ask(Query::Snapshot).await.unwrap() else { panic!("no snapshot") };
    assert_eq!((snapshot.last_seq, snapshot.session_id), (3, stage.session.id));
    let refused = window.send(Command::Compact { focus: None }).await.unwrap_err();
    assert_eq!(refused, ClientError::Refused("there is nothing to compact".to_owned()));
    assert!(
        matches!(window.ask(Query::Messages).await, Err(ClientError::Refused(words)) if words.contains("Messages"))
    );
}

#[tokio::test]
async fn what_only_another_version_knows_reaches_a_window_as_it_is() {
    let stage = Stage::new();
    let window = stage.window().await;
    let fields = || Map::from_iter([("colours".to_owned(), json!(["red", { "of": 7 }]))]);
    stage.session.add(EventBody::Unknown(UnknownEvent { name: "hologram".to_owned(), fields: fields() }));
    let title = SessionTitle { title: "Later".to_owned(), by: TitleSource::Person };
    stage.session.add_with(EventBody::Title(title), fields());
    let heard: Vec<Event> = window.events(0).take(2).map(Result::unwrap).collect().await;
    assert_eq!(heard, stage.session.log());
}

#[tokio::test]
async fn whether_a_window_is_there_is_known() {
    let stage = Stage::new();
    assert!(!stage.server.is_watched());
    let window = stage.window().await;
    assert!(stage.server.is_watched());
    drop(window);
    while stage.server.is_watched() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_window_can_not_end_the_session() {
    let stage = Stage::new();
    let window = stage.window().await;
    let Err(ClientError::Refused(words)) = window.send(Command::Shutdown).await else { panic!("it was taken") };
    assert!(words.contains("only the process that opened"), "{words}");
    assert!(stage.session.commands.lock().unwrap().is_empty());
}

#[tokio::test]
async fn three_windows_say_and_see_the_same() {
    let stage = Stage::new();
    let windows = [stage.window().await, stage.window().await, stage.window().await];
    for (number, window) in windows.iter().enumerate() {
        window.send(steer(&format!("word {number}"))).await.unwrap();
    }
    for window in &windows {
        let seen: Vec<_> = window.events(0).take(3).map(Result::unwrap).collect().await;
        assert_eq!(seen, stage.session.log());
    }
}

#[tokio::test]
async fn who_holds_the_session_hears_the_last_word_before_it_ends() {
    let Stage { session, server, places, folder } = Stage::new();
    let window = RemoteClient::attach(&places, session.id).await.unwrap();
    assert!(!server.hold().await, "nobody said anything");
    assert_eq!(window.send(steer("too late")).await, Err(ClientError::Gone));
    server.release().await;
    window.send(steer("in time")).await.unwrap();
    assert!(server.hold().await);
    server.leave();
    assert_eq!(RemoteClient::attach(&places, session.id).await.err(), Some(AttachError::NotThere));
    let mut events = window.events(0);
    // Followed over a connection of its own, and nobody is taken any more.
    assert_eq!(events.next().await, Some(Err(ClientError::Gone)));
    server.end().await;
    assert_eq!(window.ask(Query::Snapshot).await, Err(ClientError::Gone));
    assert_eq!(std::fs::read_dir(folder.path().join("sockets")).unwrap().count(), 0);
}

#[tokio::test]
async fn the_end_of_the_session_is_the_end_of_its_events() {
    let Stage { session, server, places, folder: _folder } = Stage::new();
    let window = RemoteClient::attach(&places, session.id).await.unwrap();
    let mut events = window.events(0);
    session.add(chunk("the last word"));
    assert!(matches!(events.next().await, Some(Ok(event)) if event.seq == 1));
    session.end();
    server.end().await;
    assert_eq!(events.next().await, None);
    assert_eq!(window.send(Command::Cancel).await, Err(ClientError::Gone));
}

#[tokio::test]
async fn a_session_that_nobody_serves_is_not_there() {
    let stage = Stage::new();
    let other = neco_proto::SessionId::new();
    assert_eq!(RemoteClient::attach(&stage.places, other).await.err(), Some(AttachError::NotThere));
}
