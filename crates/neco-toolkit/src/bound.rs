//! Output that may be big: the model gets its beginning and its end, a file gets all of it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_proto::CallId;
use neco_safety::secrets::{RedactedStream, Redactor, Scope};

use crate::output::ToolError;

/// Where output goes that is too big for the model. The files belong to the session and are
/// readable with `read_file`.
pub trait Spill: Send + Sync {
    /// Opens the file for a call; ready when it can be written to.
    fn open(&self, call_id: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>>;

    /// What takes secrets out of everything that is kept; without more it knows what secrets look like.
    fn redactor(&self) -> Redactor {
        Redactor::default()
    }
}

/// A file that takes a big output piece by piece.
pub trait SpillFile: Send {
    /// Adds a piece.
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>>;
    /// Ends the file and gives its path.
    fn finish(self: Box<Self>) -> BoxFuture<'static, Result<String, ToolError>>;
}

/// Bytes of an output that are kept in a file at most: a command that never stops printing must not
/// fill the disk.
const MOST_IN_A_FILE: u64 = 64 * 1024 * 1024;

/// A growing output of which the first fifth and the last four fifths of the allowed bytes are
/// kept in memory, whatever its size; past the limit all of it goes to a file.
pub struct Bounded {
    call_id: CallId,
    spill: Arc<dyn Spill>,
    limit: usize,
    /// Before anything is cut: half a secret looks like none.
    redacted: RedactedStream,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    lines: u64,
    rest: Rest,
}

/// What becomes of the part that the model does not get.
enum Rest {
    /// Nothing was left out yet.
    None,
    /// It goes to a file.
    File(Box<dyn SpillFile>),
    /// The file could not be written: that loses the rest of the output, not the call.
    Lost(String),
}

/// A finished [`Bounded`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedText {
    /// What the model gets.
    pub text: String,
    /// The file that holds all of it, when something was left out.
    pub spilled_to: Option<String>,
    /// Bytes in all.
    pub total: u64,
}

impl Bounded {
    /// An empty output for a call.
    pub fn new(call_id: CallId, spill: Arc<dyn Spill>, limit: usize) -> Self {
        let redacted = spill.redactor().stream(Scope::Outside);
        Self {
            call_id,
            spill,
            limit,
            redacted,
            head: Vec::new(),
            tail: VecDeque::new(),
            total: 0,
            lines: 0,
            rest: Rest::None,
        }
    }

    /// Adds output.
    pub async fn push(&mut self, bytes: &[u8]) {
        let bytes = self.redacted.push(bytes);
        self.add(&bytes).await;
    }

    async fn add(&mut self, bytes: &[u8]) {
        if matches!(self.rest, Rest::None) && self.total as usize + bytes.len() > self.limit {
            self.rest = match self.begin_file().await {
                Ok(file) => Rest::File(file),
                Err(error) => Rest::Lost(error.message),
            };
        }
        if let Rest::File(file) = &mut self.rest
            && self.total < MOST_IN_A_FILE
            && let Err(error) = file.write(bytes).await
        {
            self.rest = Rest::Lost(error.message);
        }
        self.keep(bytes);
    }

    async fn begin_file(&mut self) -> Result<Box<dyn SpillFile>, ToolError> {
        let mut file = self.spill.open(&self.call_id).await?;
        let (front, back) = self.tail.as_slices();
        for part in [self.head.as_slice(), front, back] {
            file.write(part).await?;
        }
        Ok(file)
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let head_room = (self.limit / 5).saturating_sub(self.head.len());
        // Once something went to the tail the head is closed: output has an order.
        let to_head = if self.tail.is_empty() { head_room.min(bytes.len()) } else { 0 };
        let (head, rest) = bytes.split_at(to_head);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let tail_room = self.limit - self.limit / 5;
        if self.tail.len() > tail_room {
            self.tail.drain(..self.tail.len() - tail_room);
        }
    }

    /// Ends it. Bytes that are not UTF-8 become the replacement character; the cuts are moved to
    /// line ends where there are any.
    pub async fn finish(mut self) -> BoundedText {
        let rest = self.redacted.finish();
        self.add(&rest).await;
        let tail: Vec<u8> = self.tail.into();
        let (spilled_to, whereabouts) = match self.rest {
            Rest::None => {
                let whole = [self.head, tail].concat();
                return BoundedText { text: lossy(&whole), spilled_to: None, total: self.total };
            }
            Rest::Lost(reason) => (None, format!(" and lost: {reason}")),
            Rest::File(file) => match file.finish().await {
                Ok(path) if self.total > MOST_IN_A_FILE => {
                    let words = format!("; its first {MOST_IN_A_FILE} bytes are in {path}, readable with read_file");
                    (Some(path), words)
                }
                Ok(path) => {
                    let words = format!("; all of it is in {path}, readable with read_file");
                    (Some(path), words)
                }
                Err(error) => (None, format!(" and lost: {}", error.message)),
            },
        };
        let head = whole_lines_at_start(&self.head);
        let tail = whole_lines_at_end(&tail);
        let left_out_lines = self.lines.saturating_sub(count_lines(head) + count_lines(tail));
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let text = format!(
            "{}\n[… {left_out} bytes ({left_out_lines} lines) left out{whereabouts} …]\n{}",
            lossy(head).trim_end_matches('\n'),
            lossy(tail),
        );
        BoundedText { text, spilled_to, total: self.total }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn whole_lines_at_start(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => bytes.split_at(end + 1).0,
        None => bytes,
    }
}

fn whole_lines_at_end(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(start) if start + 1 < bytes.len() => bytes.split_at(start + 1).1,
        Some(_) | None => bytes,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use proptest::prelude::*;

    /// Keeps what is spilled in memory.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Spill for Kept {
        fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
            let file: Box<dyn SpillFile> = Box::new(self.clone());
            Box::pin(async move { Ok(file) })
        }
    }

    impl SpillFile for Kept {
        fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Box::pin(async { Ok(()) })
        }

        fn finish(self: Box<Self>) -> BoxFuture<'static, Result<String, ToolError>> {
            Box::pin(async { Ok("the-file".to_owned()) })
        }
    }

    fn collect(pieces: &[Vec<u8>], limit: usize) -> (BoundedText, Vec<u8>) {
        let kept = Kept::default();
        let mut bounded = Bounded::new("call".into(), Arc::new(kept.clone()), limit);
        let text = futures::executor::block_on(async {
            for piece in pieces {
                bounded.push(piece).await;
            }
            bounded.finish().await
        });
        let spilled = kept.0.lock().unwrap().clone();
        (text, spilled)
    }

    #[test]
    fn what_fits_is_given_whole_and_no_file_is_made() {
        let (text, spilled) = collect(&[b"one\n".to_vec(), b"two\n".to_vec()], 8);
        assert_eq!((text.text.as_str(), text.spilled_to, spilled.len()), ("one\ntwo\n", None, 0));
    }

    #[test]
    fn what_does_not_fit_is_cut_at_lines_and_says_how_much_is_left_out() {
        let lines: Vec<Vec<u8>> = (0..1000).map(|n| format!("line {n:03}\n").into_bytes()).collect();
        let (text, spilled) = collect(&lines, 200);
        assert!(text.text.starts_with("line 000\nline 001\n"), "{}", text.text);
        assert!(text.text.ends_with("line 998\nline 999\n"), "{}", text.text);
        assert!(text.text.contains("lines) left out; all of it is in the-file"), "{}", text.text);
        assert_eq!(spilled, lines.concat());
        assert!(text.text.lines().filter(|line| line.starts_with("line ")).all(|line| line.len() == 8));
    }

    /// A disk that is full from the beginning.
    struct Full;

    impl Spill for Full {
        fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
            Box::pin(async { Err(ToolError::failed("no space left")) })
        }
    }

    #[test]
    fn a_file_that_fails_loses_the_rest_and_not_the_result() {
        let mut bounded = Bounded::new("call".into(), Arc::new(Full), 20);
        let text = futures::executor::block_on(async {
            for n in 0..100 {
                bounded.push(format!("line {n}\n").as_bytes()).await;
            }
            bounded.finish().await
        });
        assert!(text.text.contains("lost: no space left") && text.text.ends_with("line 99\n"), "{}", text.text);
        assert_eq!(text.spilled_to, None);
    }

    proptest! {
        #[test]
        fn however_it_comes_the_file_has_all_of_it_and_the_text_is_bounded(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..20),
            limit in 10usize..200,
        ) {
            let whole = pieces.concat();
            let (text, spilled) = collect(&pieces, limit);
            prop_assert_eq!(text.total, whole.len() as u64);
            if whole.len() <= limit {
                prop_assert_eq!(text.text, String::from_utf8_lossy(&whole));
                prop_assert!(text.spilled_to.is_none());
            } else {
                prop_assert_eq!(spilled, whole);
                // A byte that is not UTF-8 becomes three; the note is a line of its own.
                prop_assert!(text.text.len() <= 3 * limit + 200);
            }
        }
    }
}
