//! A stage with sample files, and a person who talks.

use std::sync::Arc;

use neco_model::scripted::Script;
use neco_proto::{Answer, ApprovalMode, Client, ContextReport, Event, EventBody, PromptReport, Query, Seq};
use neco_session::Session;
use neco_testkit::scenario::Setup;
use neco_testkit::stage::{Stage, StageSetup};
use neco_testkit::talk;

use crate::model::Model;

/// A stage with nine files of about 6 kB and a rules file, where files are read.
pub fn stage(model: &Arc<Model>) -> Stage {
    stage_with(model, "read_file")
}

/// The same with another tool.
pub fn stage_with(model: &Arc<Model>, tool: &str) -> Stage {
    let file = |number: usize| {
        let line = |line: usize| format!("file {number}, line {line}: some words that stand in a file\n");
        (format!("file{number}.txt"), (1..=120).map(line).collect::<String>())
    };
    let rules = ("AGENTS.md".to_owned(), "Always answer in verse.\n".to_owned());
    let files = (0..9).map(file).chain([rules]).collect();
    let setup = Setup {
        approval: ApprovalMode::Auto,
        max_turns: 2000,
        tools: vec![tool.to_owned()],
        // Reading the same files a thousand times is what a guard is there to stop.
        guards: false,
        ..Setup::default()
    };
    Stage::new(StageSetup { files, script: Script::new().say("nothing"), setup }).unwrap().played_by(model.clone())
}

pub async fn say(session: &Session, text: &str) -> Vec<Event> {
    let receipt = talk::say(session, text).await.unwrap();
    talk::until(session, receipt.seq, talk::is_complete).await.unwrap()
}

/// Events after `since` up to and including the first that is `last`.
pub async fn until(session: &Session, since: Seq, last: impl Fn(&EventBody) -> bool) -> Vec<Event> {
    talk::until(session, since, |event| last(&event.body)).await.unwrap()
}

pub async fn prompt(session: &Session) -> PromptReport {
    let Answer::Prompt(report) = session.ask(Query::Prompt).await.unwrap() else { panic!("not what was asked") };
    report
}

pub async fn context(session: &Session) -> ContextReport {
    let Answer::Context(report) = session.ask(Query::Context).await.unwrap() else { panic!("not what was asked") };
    report
}
