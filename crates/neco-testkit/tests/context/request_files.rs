//! Pieces of files that fit what the person says: given with their message, once, and only where there is room.

use neco_model::Request;
use neco_proto::event::RewindWhat;
use neco_proto::{Client, Command, Event, EventBody, GivenUse};
use neco_testkit::stage::Stage;
use serde_json::json;

use crate::model::{Model, Reply};
use crate::stage::{context, prompt, say, stage, stage_with};

const INVOICE: &str = "src/billing/invoice.rs";
const ASKED: &str = "the totals in invoice.rs are wrong";
const CODE: &str = "//! Invoices.\n\npub fn round_half_up(cents: i64) -> i64 {\n    cents\n}\n";

fn given(events: &[Event]) -> Vec<String> {
    let pieces = events.iter().filter_map(|event| match &event.body {
        EventBody::PiecesGiven(given) => Some(given.pieces.iter().map(|piece| piece.place())),
        _ => None,
    });
    pieces.flatten().collect()
}

fn texts(request: &Request) -> Vec<String> {
    request.history.iter().map(|entry| entry.message().text()).collect()
}

fn with_code(stage: Stage) -> Stage {
    stage.write(INVOICE, CODE).unwrap();
    stage
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fits_is_given_after_the_message_once_and_its_use_is_counted() {
    let model = Model::new(Some(100_000), |number, _| match number {
        1 => Reply::Call("read_file", json!({ "path": INVOICE })),
        _ => Reply::Say("Done.".to_owned()),
    });
    let stage = with_code(stage(&model));
    let session = stage.open().await.unwrap();
    let id = session.id();
    assert_eq!(given(&say(&session, "hello").await), [""; 0]);
    assert_eq!(context(&session).await.given, None);
    let events = say(&session, ASKED).await;
    assert_eq!(given(&events), [format!("{INVOICE}:1-5")]);
    let asked = model.asked();
    let told = texts(&asked[1]);
    let [.., said, pieces] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(said, ASKED);
    assert!(pieces.starts_with("[Neco] ") && pieces.contains("source=\"src/billing/invoice.rs:1-5\""), "{pieces}");
    assert!(pieces.contains("pub fn round_half_up") && pieces.contains("<untrusted-"), "{pieces}");
    // What vendors keep of a request stays the same.
    assert!(asked.iter().all(|request| request.system == asked[0].system));
    let shared = asked[0].history.shared().zip(asked[1].history.shared());
    assert!(shared.take_while(|(one, other)| std::sync::Arc::ptr_eq(one, other)).count() == asked[0].history.len());
    let used = context(&session).await.given.unwrap();
    assert_eq!(GivenUse { tokens: 0, ..used }, GivenUse { messages: 1, tokens: 0, files: 1, opened: 1 });
    assert!(used.tokens > 50 && used.tokens < 400, "{used:?}");
    assert_eq!(given(&say(&session, ASKED).await), [""; 0], "the model has it");
    let before = prompt(&session).await;
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    let after = prompt(&session).await;
    assert_eq!((before.messages, before.context.given), (after.messages, after.context.given));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn going_back_takes_it_back_and_it_is_given_again() {
    let model = Model::new(Some(100_000), |_, _| Reply::Say("Done.".to_owned()));
    let stage = with_code(stage(&model));
    let session = stage.open().await.unwrap();
    say(&session, "hello").await;
    let events = say(&session, ASKED).await;
    assert_eq!(given(&events).len(), 1);
    let message_id = events.iter().find_map(|event| match &event.body {
        EventBody::Message(message) if message.text() == ASKED => Some(message.id),
        _ => None,
    });
    let back = Command::Rewind { message_id: message_id.unwrap(), what: RewindWhat::Conversation };
    session.send(back).await.unwrap();
    let report = prompt(&session).await;
    assert!(
        !report.messages.iter().any(|message| message.text().contains("round_half_up")),
        "it went with the message"
    );
    assert_eq!(report.context.given, None);
    assert_eq!(given(&say(&session, ASKED).await).len(), 1);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_is_given_in_a_small_or_unknown_window_or_when_it_is_off() {
    for (window, share) in [(Some(16_000), 3), (None, 3), (Some(100_000), 0)] {
        let model = Model::new(window, |_, _| Reply::Say("Done.".to_owned()));
        let stage = with_code(stage(&model)).with_config(|config| config.context.shares.request_files = share);
        let session = stage.open().await.unwrap();
        assert_eq!(given(&say(&session, ASKED).await), [""; 0], "{window:?} {share}");
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_person_attaches_is_not_given_twice() {
    let model = Model::new(Some(100_000), |_, _| Reply::Say("Done.".to_owned()));
    let stage = with_code(stage(&model));
    let session = stage.open().await.unwrap();
    let events = say(&session, "the totals in @src/billing/invoice.rs are wrong, see billing invoice").await;
    assert_eq!(given(&events), [""; 0]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn none_is_given_to_whom_reading_is_denied_asked_about_or_not_there() {
    let rule = |decision: &str| format!("[[rule]]\ntool = \"read_file\"\ndecision = \"{decision}\"\n");
    for (tool, rules) in [("read_file", rule("deny")), ("read_file", rule("ask")), ("glob", String::new())] {
        let model = Model::new(Some(100_000), |_, _| Reply::Say("Done.".to_owned()));
        let stage = with_code(stage_with(&model, tool));
        stage.write(".neco/policy.toml", &rules).unwrap();
        let session = stage.open().await.unwrap();
        assert_eq!(given(&say(&session, ASKED).await), [""; 0], "{tool} {rules}");
        session.close().await;
    }
}
