//! Compaction: by itself, as asked, after a refusal; what fails, and what a resumed session sends.

use std::sync::Arc;

use neco_model::Request;
use neco_proto::event::{CompactionCause, CompactionStrategy};
use neco_proto::{Client, ClientError, Command, ErrorCode, EventBody, IdeContext, Message};
use serde_json::json;

use tokio::sync::Notify;

use crate::model::{Model, Reply, look, tokens, unpaired, wants_summary};
use crate::stage::{self, context, prompt, say, until};

/// So many turns that look at files, then an answer; summaries by the second rule.
fn looking(turns: usize, summary: impl Fn() -> Reply + Send + Sync + 'static) -> impl Fn(usize, &Request) -> Reply {
    move |number, request| match number {
        _ if wants_summary(request) => summary(),
        number if number < turns => look(number),
        _ => Reply::Say("Done.".to_owned()),
    }
}

fn notes() -> Reply {
    Reply::Say("## Goal and requirements\n- look at files\n## Next steps\n- say that it is done".to_owned())
}

fn compactions(events: &[neco_proto::Event]) -> Vec<neco_proto::event::Compaction> {
    let of = |event: &neco_proto::Event| match &event.body {
        EventBody::Compaction(done) => Some(done.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_context_is_summed_up_and_a_resumed_session_sends_the_same() {
    let model = Model::new(Some(14_000), looking(25, notes));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let id = session.id();
    let events = say(&session, "Look at everything.").await;
    let done = compactions(&events);
    assert!(!done.is_empty() && done.iter().all(|done| done.cause == CompactionCause::Full), "{done:?}");
    assert!(done.iter().any(|done| done.strategy == CompactionStrategy::Summary), "{done:?}");
    let before = prompt(&session).await;
    assert_eq!(before.messages[0].text(), "Look at everything.");
    assert!(before.messages[1].text().contains("## Goal and requirements\n- look at files"));
    assert!(before.context.tokens < 14_000);
    session.close().await;

    let session = stage.reopen(id).await.unwrap();
    let after = prompt(&session).await;
    assert_eq!(after, before, "a resumed session is told the same");
    let said = |messages: &[Message]| messages.iter().map(|message| message.parts.clone()).collect::<Vec<_>>();
    say(&session, "And now?").await;
    let asked = model.asked();
    let last = asked.last().unwrap();
    let sent: Vec<Message> = last.history.iter().map(|entry| entry.message().clone()).collect();
    assert_eq!(said(&sent)[..before.messages.len()], said(&before.messages));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_three_turns_and_the_last_five_stay_word_for_word() {
    let model = Model::new(Some(100_000), |number, request| match number {
        _ if wants_summary(request) => notes(),
        number if number < 16 => {
            Reply::Call("read_file", json!({"path": "file1.txt", "offset": number + 1, "limit": 20}))
        }
        _ => Reply::Say("Done.".to_owned()),
    });
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    say(&session, "Look at everything.").await;
    let before = prompt(&session).await.messages;
    let receipt = session.send(Command::Compact { focus: None }).await.unwrap();
    until(&session, receipt.seq, |body| matches!(body, EventBody::Compaction(_))).await;
    let after = prompt(&session).await.messages;
    // One message of the person, then sixteen answers with a result each, and the last answer.
    assert_eq!((before.len(), after.len()), (34, 17));
    assert_eq!((&after[..7], &after[8..]), (&before[..7], &before[25..]));
    assert!(after[7].text().contains("- look at files"), "{:?}", after[7]);
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_arguments_of_old_calls_become_one_line_and_the_log_keeps_them() {
    let content = "let answer = 42; // and some words\n".repeat(100);
    let written = content.clone();
    let model = Model::new(Some(14_000), move |number, request| match number {
        _ if wants_summary(request) => notes(),
        number if number < 9 => {
            Reply::Call("write_file", json!({"path": format!("new{number}.rs"), "content": written}))
        }
        _ => Reply::Say("Done.".to_owned()),
    });
    let stage = stage::stage_with(&model, "write_file");
    let session = stage.open().await.unwrap();
    let events = say(&session, "Write them.").await;
    let trimmed = events.iter().filter_map(|event| match &event.body {
        EventBody::ContextTrim(trim) => Some(trim.arguments.len()),
        _ => None,
    });
    assert!(trimmed.sum::<usize>() > 0, "{events:#?}");
    let asked = model.asked();
    assert!(asked.iter().all(|request| unpaired(request).is_none()));
    let calls = |messages: &[Message]| -> Vec<String> {
        messages.iter().flat_map(Message::tool_calls).map(|call| call.arguments.clone()).collect()
    };
    let before = prompt(&session).await;
    let told = calls(&before.messages);
    assert!(told[0].contains("new0.rs") && told[0].contains("took this out to make room"), "{}", told[0]);
    assert!(told.last().unwrap().contains("let answer = 42"));
    assert_eq!(stage.read("new0.rs").unwrap(), content);
    let logged = events.iter().filter_map(|event| match &event.body {
        EventBody::Message(message) => message.tool_calls().next().map(|call| call.arguments.clone()),
        _ => None,
    });
    assert_eq!(logged.filter(|arguments| arguments.contains("let answer = 42")).count(), 9, "the log has all of them");
    let id = session.id();
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    assert_eq!(prompt(&session).await, before, "a resumed session is told the same");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_summary_does_not_end_the_work() {
    for broken in [|| Reply::Fail, || Reply::TooLong, || Reply::Say(" ".to_owned())] {
        let model = Model::new(Some(14_000), looking(25, broken));
        let stage = stage::stage(&model);
        let session = stage.open().await.unwrap();
        let events = say(&session, "Look at everything.").await;
        let done = compactions(&events);
        assert!(!done.is_empty());
        assert!(
            done.iter().all(|done| done.strategy != CompactionStrategy::Summary && !done.notes.is_empty()),
            "{done:?}"
        );
        let EventBody::AgentComplete(complete) = &events.last().unwrap().body else { panic!("no completion") };
        assert_eq!((complete.final_text.as_str(), complete.error_code), ("Done.", None));
        for request in model.asked() {
            assert!(tokens(&request) <= 14_000 && unpaired(&request).is_none());
        }
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_as_too_long_is_answered_with_less_and_only_once() {
    // The window is not known, so nothing is compacted before the model refuses.
    let rule = |number: usize, request: &Request| match number {
        _ if wants_summary(request) => notes(),
        number if number < 12 => look(number),
        12 => Reply::TooLong,
        _ => Reply::Say("Done.".to_owned()),
    };
    let model = Model::new(None, rule);
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let events = say(&session, "Look.").await;
    let done = compactions(&events);
    assert_eq!(done.len(), 1);
    assert_eq!((done[0].cause, done[0].strategy), (CompactionCause::TooLong, CompactionStrategy::Summary));
    assert!(!events.iter().any(|event| matches!(event.body, EventBody::Error(_))));
    session.close().await;

    let model = Model::new(None, |number, request| match number {
        _ if wants_summary(request) => notes(),
        number if number < 12 => look(number),
        _ => Reply::TooLong,
    });
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let events = say(&session, "Look.").await;
    assert_eq!(compactions(&events).len(), 1);
    let EventBody::AgentComplete(complete) = &events.last().unwrap().body else { panic!("no completion") };
    assert_eq!(complete.error_code, Some(ErrorCode::ContextTooLong));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_too_small_for_what_is_fixed_names_the_biggest_part() {
    let model = Model::new(Some(1_200), looking(1, notes));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let events = say(&session, "Look.").await;
    let errors: Vec<_> = events.iter().filter(|event| matches!(event.body, EventBody::Error(_))).collect();
    assert_eq!(errors.len(), 1);
    let EventBody::Error(error) = &errors[0].body else { panic!("no error") };
    assert_eq!(error.code, ErrorCode::ContextTooLong);
    assert!(error.message.contains("is too small: it holds 1200 tokens"), "{}", error.message);
    assert!(error.message.contains("the biggest part of that is the layer base"), "{}", error.message);
    assert!(model.asked().is_empty(), "nothing is sent");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_that_can_not_fit_is_named() {
    let model = Model::new(Some(9_000), looking(0, notes));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let events = say(&session, &"much too long ".repeat(5_000)).await;
    let EventBody::AgentComplete(complete) = &events.last().unwrap().body else { panic!("no completion") };
    assert_eq!(complete.error_code, Some(ErrorCode::ContextTooLong));
    let told = events.iter().any(|event| matches!(&event.body, EventBody::Error(error) if error.message.contains("message 1 of the conversation")));
    assert!(told && model.asked().is_empty());
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_asked_with_a_focus_and_not_twice_in_a_row() {
    let model = Model::new(Some(100_000), looking(9, notes));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let refused = session.send(Command::Compact { focus: None }).await;
    let words = "There is nothing to compact yet: what was said before the last turn is too little";
    assert_eq!(refused.unwrap_err(), ClientError::Refused(words.to_owned()));
    say(&session, "Look.").await;
    let receipt = session.send(Command::Compact { focus: Some("the second file".to_owned()) }).await.unwrap();
    let events = until(&session, receipt.seq, |body| matches!(body, EventBody::Compaction(_))).await;
    let done = compactions(&events);
    assert_eq!((done[0].cause, done[0].focus.as_deref()), (CompactionCause::Asked, Some("the second file")));
    let asked = model.asked();
    let question = asked.last().unwrap();
    assert!(question.system.contains("Pay most attention to: the second file"));
    assert!(question.system.contains("Its first turns and the user's last message stay"), "{}", question.system);
    let shown: String = question.history.iter().map(|entry| entry.message().text()).collect();
    let (stays, goes) = shown.split_once("<conversation>").unwrap();
    assert!(stays.contains("User: Look.") && !goes.contains("User: Look."), "{shown}");
    assert!(session.send(Command::Compact { focus: None }).await.is_err(), "nothing new was said");
    let report = context(&session).await;
    assert!(report.layers.iter().any(|layer| layer.layer.name() == "summary"));
    // Your message, two of the first turns and the last five; a third one would leave too little to sum up.
    assert_eq!(report.messages.len(), 15, "{report:?}");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_while_a_summary_is_written_waits_for_it_and_is_kept() {
    let model = Model::new(Some(100_000), looking(9, notes));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    say(&session, "Look.").await;
    session.send(Command::Compact { focus: None }).await.unwrap();
    say(&session, "And then?").await;
    let asked = model.asked();
    let last: Vec<String> = asked.last().unwrap().history.iter().map(|entry| entry.message().text()).collect();
    assert_eq!(last.first().map(String::as_str), Some("Look."));
    assert!(last[5].contains("## Goal and requirements"), "{last:?}");
    assert_eq!(last.last().map(String::as_str), Some("And then?"));
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_for_during_the_last_answer_is_done_after_it() {
    let may = Arc::new(Notify::new());
    let waits = Arc::clone(&may);
    let model = Model::new(Some(100_000), move |number, request| match number {
        _ if wants_summary(request) => notes(),
        number if number < 9 => look(number),
        _ => Reply::SayAfter(Arc::clone(&waits), "That is all.".to_owned()),
    });
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let asked = Command::UserMessage { content: "Look.".to_owned(), attachments: Vec::new() };
    let receipt = session.send(asked).await.unwrap();
    until(&session, receipt.seq, |body| matches!(body, EventBody::TurnStart(start) if start.iteration == 10)).await;
    session.send(Command::Compact { focus: None }).await.unwrap();
    may.notify_one();
    let events = until(&session, receipt.seq, |body| matches!(body, EventBody::Compaction(_))).await;
    let complete = events.iter().position(|event| matches!(event.body, EventBody::AgentComplete(_)));
    assert!(complete.is_some_and(|at| at + 1 < events.len()), "after the work and not before the next message");
    session.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn notes_that_are_a_call_or_a_word_are_refused_and_the_work_goes_on() {
    let call = || Reply::Call("read_file", serde_json::json!({ "path": "file0.txt" }));
    for broken in [call, || Reply::Say("step 11".to_owned())] {
        let model = Model::new(Some(14_000), looking(25, broken));
        let stage = stage::stage(&model);
        let session = stage.open().await.unwrap();
        let done = compactions(&say(&session, "Look at everything.").await);
        assert!(!done.is_empty() && done.iter().all(|done| done.strategy != CompactionStrategy::Summary), "{done:?}");
        let why: Vec<&String> = done.iter().flat_map(|done| &done.notes).collect();
        assert!(why.iter().any(|why| why.contains("called a tool") || why.contains("no notes but")), "{why:?}");
        session.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_editor_is_told_with_the_next_message_and_only_when_it_changed() {
    let model = Model::new(None, |_, _| Reply::Say("Yes.".to_owned()));
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    let id = session.id();
    let open = |line: u32| IdeContext {
        active_file: Some("file1.txt".to_owned()),
        cursor_line: Some(line),
        ..IdeContext::default()
    };
    let set = async |session: &neco_session::Session, line| {
        session.send(Command::SetIdeContext { context: open(line) }).await.unwrap();
    };
    set(&session, 3).await;
    say(&session, "one").await;
    set(&session, 9).await;
    say(&session, "two").await;
    session.close().await;
    let session = stage.reopen(id).await.unwrap();
    set(&session, 9).await;
    say(&session, "three").await;
    set(&session, 40).await;
    say(&session, "four").await;
    session.close().await;
    let asked = model.asked();
    let said: Vec<String> = asked.last().unwrap().history.iter().map(|entry| entry.message().text()).collect();
    assert_eq!(
        said,
        [
            "[Neco] What the user has open in their editor:\n- active file: file1.txt:3",
            "one",
            "Yes.",
            "two",
            "Yes.",
            "three",
            "Yes.",
            "[Neco] The user's editor now:\n- active file: file1.txt:40",
            "four"
        ]
    );
}
