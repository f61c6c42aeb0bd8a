//! A session that can't go on, because what happens in it can't be kept.
//!
//! It ends the window, and whoever opened it says why, once: the terminal is free by then, and nothing that is drawn
//! later hides it.

use futures::{FutureExt, StreamExt};
use neco_proto::{ClientError, ErrorCode, EventStream};

use super::window::Window;
use crate::transcript::block::Tone;
use crate::update::News;

impl Window {
    /// The events of the session ended with an error.
    pub(super) fn lose(&mut self, error: ClientError) {
        match error {
            ClientError::Failed { .. } => self.lost = Some(error),
            ClientError::Gone | ClientError::Refused(_) => self.app.transcript.say(Tone::Warning, error.to_string()),
        }
    }

    /// Something was refused. When that is because nothing can be kept any more, the events end with the same words: those
    /// are told, and what was to be said is kept. Gives back what is still to be told.
    pub(super) fn unless_lost(&mut self, news: News, events: &mut Option<EventStream>) -> Option<News> {
        let News::Refused(ClientError::Failed { code: ErrorCode::StoreFailed, .. }, unsent) = &news else {
            return Some(news);
        };
        while let Some(event) = events.as_mut().and_then(|events| events.next().now_or_never()) {
            self.take(event, events);
        }
        if self.lost.is_none() {
            return Some(news);
        }
        if let Some(unsent) = unsent {
            self.host.remember(unsent.text.trim());
        }
        None
    }
}
