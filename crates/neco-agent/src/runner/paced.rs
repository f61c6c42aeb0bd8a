//! Pieces of an answer that follow each other closely, as one: each that is told becomes an event that is redacted,
//! logged and drawn, and nobody reads faster than this.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::{self, Fuse};
use neco_model::{Delta, DeltaStream, ModelError};
use tokio::time::{Instant, sleep_until};

/// How long after a piece the next ones are gathered.
const PACE: Duration = Duration::from_millis(16);

/// The same answer in fewer pieces. The first of them comes at once, as does what is no text.
pub(super) fn paced(stream: DeltaStream) -> DeltaStream {
    let paced = Paced { stream: stream.fuse(), due: Instant::now(), behind: None };
    stream::unfold(paced, |mut paced| async move { Some((paced.next().await?, paced)) }).boxed()
}

struct Paced {
    stream: Fuse<DeltaStream>,
    /// When the next piece of text may be told.
    due: Instant,
    /// What came behind a piece and does not belong to it.
    behind: Option<Result<Delta, ModelError>>,
}

impl Paced {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        let first = match self.behind.take() {
            Some(behind) => behind,
            None => self.stream.next().await?,
        };
        let mut held = match first {
            Ok(held @ (Delta::Text(_) | Delta::Reasoning { .. } | Delta::CallArguments { .. })) => held,
            other => return Some(other),
        };
        while self.behind.is_none() && Instant::now() < self.due {
            let more = tokio::select! {
                biased;
                more = self.stream.next() => more,
                () = sleep_until(self.due) => break,
            };
            match more {
                Some(Ok(more)) => self.behind = joined(&mut held, more).map(Ok),
                Some(Err(error)) => self.behind = Some(Err(error)),
                None => break,
            }
        }
        self.due = Instant::now() + PACE;
        Some(Ok(held))
    }
}

/// Adds a piece to one that it goes on from; gives it back where it does not.
fn joined(held: &mut Delta, more: Delta) -> Option<Delta> {
    let (text, more_text) = match (held, &more) {
        (Delta::Text(text), Delta::Text(more)) => (text, more),
        (Delta::Reasoning { text, opaque: None }, Delta::Reasoning { text: more, opaque: None }) => (text, more),
        (Delta::CallArguments { index, text }, Delta::CallArguments { index: same, text: more }) if index == same => {
            (text, more)
        }
        _ => return Some(more),
    };
    text.push_str(more_text);
    None
}

#[cfg(test)]
mod tests {
    use neco_model::{ErrorKind, FinishReason, Place};

    use super::*;

    /// The pieces, each so many milliseconds after the one before it.
    fn coming(pieces: Vec<(u64, Result<Delta, ModelError>)>) -> DeltaStream {
        stream::iter(pieces)
            .then(|(wait, piece)| async move {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                piece
            })
            .boxed()
    }

    fn text(text: &str) -> Delta {
        Delta::Text(text.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_piece_comes_at_once_and_those_close_behind_it_as_one() {
        let pieces = [(5, "a"), (1, "b"), (1, "c"), (40, "d"), (3, "e")];
        let begun = Instant::now();
        let pieces = pieces.map(|(wait, piece)| (wait, Ok(text(piece)))).into_iter().collect();
        let told = paced(coming(pieces)).map(|piece| (begun.elapsed().as_millis(), piece.unwrap()));
        let told: Vec<_> = told.collect().await;
        // The end tells of what was held.
        assert_eq!(told, [(5, text("a")), (21, text("bc")), (47, text("d")), (50, text("e"))]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_text_keeps_its_place_and_waits_for_nothing() {
        let start = Delta::CallStart { index: 0, id: None, name: "bash".to_owned() };
        let arguments = |index, text: &str| Delta::CallArguments { index, text: text.to_owned() };
        let thought = |text: &str, opaque| Delta::Reasoning { text: text.to_owned(), opaque };
        let pieces = vec![
            thought("hm", None),
            thought(", ", None),
            thought("so", None),
            thought("", Some(serde_json::json!("signature"))),
            start.clone(),
            arguments(0, "{\"a\""),
            arguments(0, ":1}"),
            arguments(1, "{}"),
            Delta::Finish(FinishReason::ToolCalls),
        ];
        let told: Vec<_> =
            paced(coming(pieces.into_iter().map(|piece| (0, Ok(piece))).collect())).map(Result::unwrap).collect().await;
        let expected = [
            thought("hm", None),
            thought(", so", None),
            thought("", Some(serde_json::json!("signature"))),
            start,
            arguments(0, "{\"a\":1}"),
            arguments(1, "{}"),
            Delta::Finish(FinishReason::ToolCalls),
        ];
        assert_eq!(told, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_held_comes_before_the_error_that_ends_it() {
        let error = ModelError::new(ErrorKind::StreamCut, Place::Stream, "cut");
        let pieces = vec![(0, Ok(text("a"))), (1, Ok(text("b"))), (1, Err(error))];
        let told: Vec<_> = paced(coming(pieces)).collect().await;
        assert!(matches!(&told[..], [Ok(a), Ok(b), Err(_)] if (a, b) == (&text("a"), &text("b"))), "{told:?}");
    }
}
