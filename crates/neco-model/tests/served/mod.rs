//! A script over real HTTP: its turns as a server of any wire format would send them.
//!
//! A server holds a [`Player`], and answers every request with [`Reply::next`].
#![allow(dead_code, reason = "each of the tests needs a part of it")]

mod speak;

use bytes::Bytes;
use neco_config::section::ProviderType;
use neco_model::scripted::script::{ERROR_EVENT, fault_body, fault_headers};
use neco_model::scripted::{Fault, Played, Player};

use self::speak::speak;

/// One HTTP answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, the content type among them.
    pub headers: Vec<(String, String)>,
    /// The body, one piece for each event.
    pub pieces: Vec<Bytes>,
    /// Milliseconds before the first piece.
    pub delay_ms: u64,
    /// Milliseconds between pieces.
    pub between_ms: u64,
    /// What comes after the last piece.
    pub end: ReplyEnd,
}

/// What comes after the last piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// It is whole.
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing, and the connection stays open.
    Stall,
}

impl Reply {
    /// The answer to the next request. What the turn expects is not checked: see [`Played`].
    ///
    /// # Errors
    /// When the script is used up.
    pub fn next(player: &Player) -> Result<Self, String> {
        player.next().map(|played| Self::of(&played))
    }

    /// A turn as an HTTP answer of a chat completions server.
    #[must_use]
    pub fn of(played: &Played) -> Self {
        Self::speaking(ProviderType::Openai, played)
    }

    /// A turn as an HTTP answer of a server that speaks `kind`. Faults count pieces, as ever; an event
    /// may be of several pieces, or several events of one.
    #[must_use]
    pub fn speaking(kind: ProviderType, played: &Played) -> Self {
        let turn = &played.turn;
        if let Some(Fault::Status { code, retry_after, message }) = &turn.fault {
            return status(*code, *retry_after, message.as_deref());
        }
        let fault_after = turn.fault.as_ref().and_then(Fault::after);
        let sent = played.pieces.get(..fault_after.unwrap_or(usize::MAX)).unwrap_or(&played.pieces);
        let spoken = speak(kind, sent, ERROR_EVENT);
        let mut pieces = if fault_after == Some(0) { Vec::new() } else { spoken.events };
        let end = match turn.fault {
            Some(Fault::DropAfter(_)) => ReplyEnd::Cut,
            Some(Fault::StallAfter(_)) => ReplyEnd::Stall,
            Some(Fault::ErrorAfter(_)) => {
                pieces.push(spoken.error);
                ReplyEnd::Whole
            }
            Some(Fault::Empty | Fault::Status { .. }) | None => {
                pieces.extend(spoken.end);
                ReplyEnd::Whole
            }
        };
        let headers = vec![("content-type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
        Self { status: 200, headers, pieces, delay_ms: turn.delay_ms, between_ms: turn.between_ms, end }
    }
}

fn status(code: u16, retry_after: Option<f64>, message: Option<&str>) -> Reply {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    for (name, value) in &fault_headers(retry_after) {
        headers.push((name.to_string(), value.to_str().unwrap_or_default().to_owned()));
    }
    let pieces = vec![fault_body(code, message).into()];
    Reply { status: code, headers, pieces, delay_ms: 0, between_ms: 0, end: ReplyEnd::Whole }
}
