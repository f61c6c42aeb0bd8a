//! Live output: what tools print while they run, thinned out so that no amount of it can stall a window.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use neco_proto::CallId;
use neco_proto::event::{OutputStream, ToolOutputChunk};
use neco_safety::secrets::{RedactedStream, Redactor, Scope};
use neco_toolkit::LiveOutput;
use tokio::sync::Notify;

/// The most text of one call that goes out at a time.
const MOST_AT_A_TIME: usize = 8 * 1024;

/// The most text of one call that goes out in all: what is shown is kept in the log for good, and
/// the whole output has a file of its own.
const MOST_IN_ALL: usize = 256 * 1024;

/// How long to collect before it goes out.
const COLLECT_FOR: Duration = Duration::from_millis(50);

/// What running tools have printed and no window has seen yet.
pub struct Live {
    state: Mutex<State>,
    ready: Notify,
    redactor: Redactor,
}

#[derive(Default)]
struct State {
    pending: Vec<Pending>,
    /// Bytes shown so far, by call of the present turn.
    shown: HashMap<CallId, usize>,
    /// What may be the beginning of a secret, by call.
    held: HashMap<CallId, RedactedStream>,
}

struct Pending {
    call_id: CallId,
    stream: OutputStream,
    text: String,
    left_out: usize,
}

impl Live {
    /// Live output without the secrets that `redactor` finds.
    pub fn new(redactor: Redactor) -> Self {
        Self { state: Mutex::default(), ready: Notify::new(), redactor }
    }

    /// The output of one call.
    pub fn of(self: &Arc<Self>, call_id: CallId) -> Arc<dyn LiveOutput> {
        Arc::new(LiveCall { live: Arc::clone(self), call_id })
    }

    /// Ready when something was printed and has been collected for a moment. May be dropped and
    /// called again at any time without losing anything.
    pub async fn collected(&self) {
        if self.lock().pending.is_empty() {
            self.ready.notified().await;
        }
        tokio::time::sleep(COLLECT_FOR).await;
    }

    /// What there is to show now.
    pub fn take(&self) -> Vec<ToolOutputChunk> {
        let pending = std::mem::take(&mut self.lock().pending);
        pending.into_iter().flat_map(chunks).collect()
    }

    /// A new turn begins: the calls of the last one are forgotten.
    pub fn begin_turn(&self) {
        let mut state = self.lock();
        state.shown.clear();
        state.held.clear();
    }

    /// A call prints no more: what was held back of its output goes out with the rest.
    pub fn end(&self, call_id: &CallId) {
        let held = self.lock().held.remove(call_id);
        let rest = held.map(|mut held| held.finish_str()).unwrap_or_default();
        self.show(call_id, OutputStream::Output, &rest);
    }

    fn push(&self, call_id: &CallId, stream: OutputStream, text: &str) {
        let text = match stream {
            OutputStream::Output => {
                let mut state = self.lock();
                let held = state.held.entry(call_id.clone());
                held.or_insert_with(|| self.redactor.stream(Scope::Outside)).push_str(text)
            }
            OutputStream::Note => self.redactor.redact(text, Scope::Outside).into_owned(),
        };
        self.show(call_id, stream, &text);
    }

    fn show(&self, call_id: &CallId, stream: OutputStream, text: &str) {
        if text.is_empty() {
            return;
        }
        let mut state = self.lock();
        let State { pending, shown, held: _ } = &mut *state;
        let shown = shown.entry(call_id.clone()).or_default();
        let quiet = *shown >= MOST_IN_ALL && !pending.iter().any(|one| one.call_id == *call_id);
        if quiet {
            return;
        }
        let room = MOST_IN_ALL.saturating_sub(*shown);
        let same = pending.iter_mut().rev().find(|one| one.call_id == *call_id).filter(|one| one.stream == stream);
        let added = match same {
            Some(one) => one.add(text, room),
            None => {
                let mut one = Pending { call_id: call_id.clone(), stream, text: String::new(), left_out: 0 };
                let added = one.add(text, room);
                pending.push(one);
                added
            }
        };
        *shown += added;
        drop(state);
        self.ready.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pending {
    /// Adds what there is room for; says how much that was.
    fn add(&mut self, text: &str, room_in_all: usize) -> usize {
        let room = MOST_AT_A_TIME.saturating_sub(self.text.len()).min(room_in_all);
        let end = text.floor_char_boundary(room);
        let (shown, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        self.text.push_str(shown);
        self.left_out += rest.len();
        shown.len()
    }
}

fn chunks(pending: Pending) -> Vec<ToolOutputChunk> {
    let Pending { call_id, stream, text, left_out } = pending;
    let mut chunks = vec![ToolOutputChunk { call_id: call_id.clone(), stream, text }];
    if left_out > 0 {
        let text = format!("… {left_out} bytes not shown live …");
        chunks.push(ToolOutputChunk { call_id, stream: OutputStream::Note, text });
    }
    chunks
}

struct LiveCall {
    live: Arc<Live>,
    call_id: CallId,
}

impl LiveOutput for LiveCall {
    fn push(&self, stream: OutputStream, text: &str) {
        self.live.push(&self.call_id, stream, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_thinned_out_and_says_so() {
        let live = Arc::new(Live::new(Redactor::default()));
        let output = live.of("a".into());
        for _ in 0..1000 {
            output.push(OutputStream::Output, "0123456789abcdefé");
        }
        let chunks = live.take();
        assert_eq!(chunks.len(), 2);
        assert!(chunks[0].text.len() <= MOST_AT_A_TIME);
        assert_eq!(chunks[1].stream, OutputStream::Note);
        assert!(live.take().is_empty());
    }

    #[test]
    fn a_call_that_never_stops_printing_is_shown_up_to_a_limit() {
        let live = Arc::new(Live::new(Redactor::default()));
        let output = live.of("a".into());
        let mut shown = 0;
        for _ in 0..1000 {
            output.push(OutputStream::Output, &"x".repeat(1000));
            shown += live
                .take()
                .iter()
                .filter(|chunk| chunk.stream == OutputStream::Output)
                .map(|chunk| chunk.text.len())
                .sum::<usize>();
        }
        assert_eq!(shown, MOST_IN_ALL);
        live.begin_turn();
        output.push(OutputStream::Output, "again");
        assert_eq!(live.take().len(), 1);
    }

    #[test]
    fn a_key_cut_over_two_pieces_is_never_shown() {
        let live = Arc::new(Live::new(Redactor::default()));
        let output = live.of("a".into());
        output.push(OutputStream::Output, "token: ghp_abcdefghijklm");
        assert!(live.take().is_empty());
        output.push(OutputStream::Output, "nopqrstuvwxyz0123456789\nand more");
        live.end(&"a".into());
        let text: String = live.take().into_iter().map(|chunk| chunk.text).collect();
        assert_eq!(text, "token: [redacted: GitHub token]\nand more");
    }

    #[test]
    fn calls_do_not_mix() {
        let live = Arc::new(Live::new(Redactor::default()));
        live.of("a".into()).push(OutputStream::Output, "one");
        live.of("b".into()).push(OutputStream::Output, "two");
        live.of("a".into()).push(OutputStream::Output, "three");
        live.end(&"a".into());
        live.end(&"b".into());
        let texts: Vec<(String, String)> =
            live.take().into_iter().map(|chunk| (chunk.call_id.to_string(), chunk.text)).collect();
        assert_eq!(texts, [("a".to_owned(), "onethree".to_owned()), ("b".to_owned(), "two".to_owned())]);
    }
}
