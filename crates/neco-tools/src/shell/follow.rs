//! Follows a command in the foreground to its end: shows its output, keeps what the model gets,
//! and sees to it that it ends in time.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::OutputStream;
use neco_safety::world::{Ending, Process, Progress, Stop};
use neco_toolkit::bound::BoundedText;
use neco_toolkit::{Bounded, ToolContext};
use tokio::time::Instant;

use super::plain_text::LivePlainText;

/// How long a command that timed out has to clean up.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// What a killed command had printed before is still taken, and what its box took away is told, within this time and
/// so many pieces. Whoever cancels waits half a second at most.
const LAST_WORDS: Duration = Duration::from_millis(400);
const LAST_PIECES: usize = 64;

/// How a command came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// By itself.
    Ended(Ending),
    /// It was killed because its time was up.
    TimedOut,
    /// It was killed because the call was cancelled.
    Cancelled,
    /// Not yet: the person sent it to the background.
    GoesOn,
}

/// A command that is over, or followed no further.
pub(super) struct Followed {
    /// What it printed.
    pub(super) output: BoundedText,
    pub(super) outcome: Outcome,
    pub(super) took: Duration,
    /// Hosts that its box did not let it reach.
    pub(super) refused_hosts: Vec<String>,
    /// What it made and its box does not let be there.
    pub(super) taken_away: Vec<PathBuf>,
    /// What of that is still there.
    pub(super) left_behind: Vec<PathBuf>,
    /// What it changed that acts later.
    pub(super) changed_later: Vec<PathBuf>,
}

/// Follows a command to its end, which comes after `limit` and [`GRACE`] at the latest, or until the person sends it to
/// the background: then it comes back, and goes on.
pub(super) async fn follow(
    mut running: Box<dyn Process>,
    mut own_words: OwnWords,
    limit: Duration,
    ctx: &ToolContext,
) -> (Followed, Option<Box<dyn Process>>) {
    let started = Instant::now();
    let mut kept = Bounded::new(ctx.call_id.clone(), Arc::clone(&ctx.spill), ctx.max_output);
    let mut live = LivePlainText::default();
    let mut alarms = 0_u32;
    let alarm = tokio::time::sleep_until(started + limit);
    tokio::pin!(alarm);
    let outcome = loop {
        tokio::select! {
            // A command that prints without end must not keep the clock or the user from being heard.
            biased;
            () = ctx.cancel.cancelled() => {
                running.stop(Stop::Kill);
                for piece in last_words(running.as_mut()).await {
                    let piece = own_words.taken_out(&piece);
                    show(ctx, &live.push(&piece));
                    kept.push(&piece).await;
                }
                break Outcome::Cancelled;
            }
            () = ctx.background.wanted(), if alarms == 0 => break Outcome::GoesOn,
            () = &mut alarm => {
                running.stop(if alarms == 0 { Stop::Terminate } else { Stop::Kill });
                alarms += 1;
                alarm.as_mut().reset(Instant::now() + GRACE);
            }
            progress = running.next() => match progress {
                Progress::Output(bytes) => {
                    let bytes = own_words.taken_out(bytes);
                    show(ctx, &live.push(&bytes));
                    kept.push(&bytes).await;
                }
                Progress::Ended(ending) if alarms == 0 => break Outcome::Ended(ending),
                Progress::Ended(_) => break Outcome::TimedOut,
            },
        }
    };
    let rest = own_words.rest();
    show(ctx, &live.push(&rest));
    kept.push(&rest).await;
    show(ctx, &live.end());
    let refused_hosts = running.refused_hosts();
    let followed = Followed {
        output: kept.finish().await,
        outcome,
        took: started.elapsed(),
        refused_hosts,
        taken_away: running.taken_away().to_vec(),
        left_behind: running.left_behind().to_vec(),
        changed_later: running.changed_later().to_vec(),
    };
    (followed, (outcome == Outcome::GoesOn).then_some(running))
}

/// What a command that was killed had printed and nobody had read yet.
async fn last_words(running: &mut dyn Process) -> Vec<Vec<u8>> {
    let deadline = Instant::now() + LAST_WORDS;
    let mut pieces = Vec::new();
    while pieces.len() < LAST_PIECES {
        match tokio::time::timeout_at(deadline, running.next()).await {
            Ok(Progress::Output(bytes)) => pieces.push(bytes.to_vec()),
            Ok(Progress::Ended(_)) | Err(_) => break,
        }
    }
    pieces
}

fn show(ctx: &ToolContext, text: &str) {
    if !text.is_empty() {
        ctx.live.push(OutputStream::Output, text);
    }
}

/// So much of our words at the end of a piece of output waits for the next one; less is anybody's, and a shell prints
/// its line at once.
const LEAST: usize = 6;

/// What stands before a command in the line that its shell is given.
/// A shell that can't read a line prints all of it.
#[derive(Debug, Default)]
pub(super) struct OwnWords {
    words: Vec<u8>,
    /// What may be their beginning.
    held: Vec<u8>,
}

impl OwnWords {
    pub(super) fn new(words: String) -> Self {
        Self { words: words.into_bytes(), held: Vec::new() }
    }

    /// A piece of output without them.
    pub(super) fn taken_out<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        if self.words.is_empty() {
            return Cow::Borrowed(piece);
        }
        let mut text = Cow::Borrowed(piece);
        if !self.held.is_empty() {
            text.to_mut().splice(..0, std::mem::take(&mut self.held));
        }
        while let Some(at) = self.found_in(&text) {
            text.to_mut().drain(at..at + self.words.len());
        }
        let begun =
            (LEAST..self.words.len()).rev().find(|most| self.words.get(..*most).is_some_and(|w| text.ends_with(w)));
        if let Some(length) = begun {
            let at = text.len() - length;
            self.held = text.to_mut().split_off(at);
        }
        text
    }

    /// What still waits, at the end of all output.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    fn found_in(&self, text: &[u8]) -> Option<usize> {
        let first = self.words.first()?;
        let begins = |(at, byte): (usize, &u8)| {
            (byte == first && text.get(at..).is_some_and(|rest| rest.starts_with(&self.words))).then_some(at)
        };
        text.iter().enumerate().find_map(begins)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: &str = "trap 'x' EXIT; ";

    fn taken_out(pieces: &[&[u8]]) -> String {
        let mut own = OwnWords::new(WORDS.to_owned());
        let mut left: Vec<u8> = pieces.iter().flat_map(|piece| own.taken_out(piece).into_owned()).collect();
        left.extend(own.rest());
        String::from_utf8_lossy(&left).into_owned()
    }

    #[test]
    fn only_our_words_go_also_when_they_come_in_pieces() {
        assert_eq!(taken_out(&[b"bash: line 1: `trap 'x' EXIT; if then'\n"]), "bash: line 1: `if then'\n");
        assert_eq!(taken_out(&[b"a trap '", b"x' EXI", b"T; b"]), "a b");
        assert_eq!(taken_out(&[b"a trap '", b"y' EXIT; b trap 'x' EX"]), "a trap 'y' EXIT; b trap 'x' EX");
        assert_eq!(OwnWords::default().taken_out(b"trap 'x' EXIT; ").into_owned(), WORDS.as_bytes());
    }

    proptest! {
        #[test]
        fn only_whole_words_of_ours_go(
            pieces in prop::collection::vec(prop_oneof![Just("trap '"), Just("'x' "), Just("EXIT; "), Just(WORDS), Just("a"), Just("trap 'x"), Just("' ")], 0..8)
        ) {
            let bytes: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
            prop_assert_eq!(taken_out(&bytes), taken_out(&[pieces.concat().as_bytes()]));
            prop_assert!(!taken_out(&bytes).contains(WORDS) || pieces.concat().replace(WORDS, "").contains(WORDS));
        }
    }
}
