//! An answer, checked piece by piece as it comes.

use futures::StreamExt;
use neco_model::scripted::{Fault, Turn};
use neco_model::{Answer, Delta, DeltaStream, ModelError, Request};
use neco_proto::Message;

use crate::schedule::{MAX_RETRY_AFTER, RETRIES, arguments};

pub fn request() -> Request {
    Request {
        system: "".into(),
        tools: Vec::new().into(),
        history: [Message::user("hello")].into_iter().collect(),
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

#[derive(Debug, Default)]
pub struct Reading {
    pub answer: Answer,
    /// Calls that were begun since the answer last began.
    begun: Vec<u32>,
    pub failed: Option<ModelError>,
}

impl Reading {
    pub fn take(&mut self, item: Result<Delta, ModelError>) {
        assert!(self.answer.finish.is_none() && self.failed.is_none(), "something came after the end: {item:?}");
        let delta = match item {
            Ok(delta) => delta,
            Err(error) => {
                self.failed = Some(error);
                return;
            }
        };
        match &delta {
            Delta::CallStart { index, .. } => {
                assert_eq!(*index as usize, self.begun.len(), "calls begin in order and once");
                self.begun.push(*index);
            }
            Delta::CallArguments { index, .. } => assert!(self.begun.contains(index), "arguments of no call"),
            Delta::Retry(retry) => {
                assert!((2..=RETRIES + 1).contains(&(retry.attempt as usize)), "{retry:?}");
                assert!(retry.wait_ms as f64 <= 1.25 * 1000.0 * MAX_RETRY_AFTER);
                assert_eq!(retry.discards, self.has_pieces(), "what was streamed is void, and only that");
                self.begun.clear();
            }
            Delta::Switch(switch) => {
                assert_eq!(switch.discards, self.has_pieces());
                self.begun.clear();
            }
            Delta::Begin { .. }
            | Delta::Text(_)
            | Delta::Reasoning { .. }
            | Delta::CallOpaque { .. }
            | Delta::Usage(_)
            | Delta::Finish(_) => {}
        }
        self.answer.add(&delta);
    }

    fn has_pieces(&self) -> bool {
        self.answer.pieces().next().is_some()
    }
}

pub async fn read(mut stream: DeltaStream) -> Reading {
    let mut reading = Reading::default();
    while let Some(item) = stream.next().await {
        reading.take(item);
    }
    assert!(reading.answer.finish.is_some() != reading.failed.is_some(), "neither an answer nor an error");
    reading
}

/// Whether `answer` is what `turn` says, no more and no less.
pub fn says(answer: &Answer, turn: &Turn) -> bool {
    let empty = turn.fault == Some(Fault::Empty);
    let thoughts: String = answer.reasoning.iter().map(|(text, _)| text.as_str()).collect();
    let calls = if empty { &[][..] } else { &turn.calls[..] };
    answer.text == if empty { "" } else { turn.say.as_str() }
        && thoughts == if empty { "" } else { turn.reasoning.as_str() }
        && answer.calls.len() == calls.len()
        && answer
            .calls
            .iter()
            .zip(calls)
            .all(|(given, written)| (&given.name, &given.arguments) == (&written.name, &arguments(written)))
}
