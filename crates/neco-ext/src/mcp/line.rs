//! Messages in lines, on the standard input and output of a server's program.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use neco_safety::world::{Process, ProcessInput, Processes, Progress, Stop};
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, CustomResult, ErrorData, JsonRpcMessage, NumberOrString, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::log::ServerLog;

/// Bytes of a line that is read; a longer one is told to whoever waits for it.
const LONGEST: usize = 8 * 1024 * 1024;

/// Bytes at the beginning and the end of a line that is too long, in which its id is looked for.
const ENDS: usize = 4096;

/// Lines that are no messages, before a server is said to print something else than messages.
const MOST_JUNK: usize = 10_000;

/// How deep a message may be nested; what is deeper is left out of it.
const DEEPEST: usize = 100;

/// The field that says which question an answer belongs to.
const ID: &str = "\"id\"";

/// What tells an answer to who listens for changes.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// How many of them are written to the log.
const TOLD_JUNK: usize = 20;

/// How long a program has to end by itself when nothing more is wanted of it.
const GRACE: Duration = Duration::from_secs(2);

/// A message of a server.
type Received = RxJsonRpcMessage<RoleClient>;

/// Bytes that may wait for a server that does not read.
const MOST_UNREAD: usize = 16 * 1024 * 1024;

/// The lines of a program.
pub(super) struct Lines {
    process: Box<dyn Process>,
    writer: Option<Writer>,
    reader: Reader,
    /// What was read and not handed on yet.
    ready: VecDeque<Received>,
    log: ServerLog,
    junk: usize,
    is_over: CancellationToken,
    /// A question that is not waited for any more: its late answer would be taken for that of another.
    given_up: Option<RequestId>,
    asked: Option<RequestId>,
    /// The folders of its box, temporary ones among them, which go with what started it.
    _processes: Arc<dyn Processes>,
}

impl Lines {
    /// The lines of a program that `processes` started with an open input; `is_over` is set when it is gone.
    pub(super) fn new(
        mut process: Box<dyn Process>,
        processes: Arc<dyn Processes>,
        log: ServerLog,
        is_over: CancellationToken,
    ) -> Self {
        let writer = process.take_input().map(Writer::new);
        Self {
            process,
            writer,
            reader: Reader::default(),
            ready: VecDeque::new(),
            log,
            junk: 0,
            is_over,
            given_up: None,
            asked: None,
            _processes: processes,
        }
    }

    /// A server that took too long to say of which era it is, is asked the older way; what it says then is not about
    /// that.
    fn note_question(&mut self, item: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = item else { return };
        match request.request {
            ClientRequest::DiscoverRequest(_) => self.asked = Some(request.id.clone()),
            ClientRequest::InitializeRequest(_) => self.given_up = self.asked.take(),
            _ => {}
        }
    }

    fn is_given_up(&self, message: &Received) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        id.is_some() && id == self.given_up.as_ref()
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Whole(line) => match read(&line) {
                Read::Message(message) => self.ready.push_back(*message),
                Read::Nothing => {}
                Read::Junk => {
                    self.junk += 1;
                    if self.junk <= TOLD_JUNK {
                        let shown: String = String::from_utf8_lossy(&line).chars().take(200).collect();
                        self.log.note(&format!("a line on standard output that is no message: {shown}"));
                    }
                }
            },
            Line::TooLong { ends } => {
                self.log.note(&format!("a message of more than {LONGEST} bytes was left out"));
                let words = format!("its answer is longer than {} MB", LONGEST / 1024 / 1024);
                self.ready.extend(id_in(&ends).map(|id| failure(words, id)));
            }
        }
    }

    /// It is gone, and what it started goes with it.
    fn end(&mut self, words: &str) {
        self.log.note(words);
        self.process.stop(Stop::Kill);
        self.is_over.cancel();
    }
}

impl Transport<RoleClient> for Lines {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.note_question(&item);
        let sent = serde_json::to_vec(&item).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.writer.as_ref().map_or_else(|| Err(io::ErrorKind::NotConnected.into()), |writer| writer.push(line))
        });
        std::future::ready(sent)
    }

    async fn receive(&mut self) -> Option<Received> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                if !self.is_given_up(&message) {
                    return Some(message);
                }
            }
            if self.junk > MOST_JUNK {
                self.end("it prints something else than messages, and is given up");
                return None;
            }
            let lines = match self.process.next().await {
                Progress::Output(bytes) => self.reader.push(bytes),
                Progress::Ended(ending) => {
                    self.end(&format!("ended: {:?}", ending.exit));
                    return None;
                }
            };
            lines.into_iter().for_each(|line| self.take(line));
        }
    }

    /// Closes its input, which tells it to end, then makes it.
    async fn close(&mut self) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.end().await;
        }
        let ended = async { while let Progress::Output(_) = self.process.next().await {} };
        if tokio::time::timeout(GRACE, ended).await.is_err() {
            self.process.terminate(GRACE).await;
        }
        self.end("stopped");
        Ok(())
    }
}

/// Writes lines to a program that may not read them: whoever sends one does not wait for that.
struct Writer {
    lines: mpsc::UnboundedSender<Vec<u8>>,
    unread: Arc<AtomicUsize>,
    task: AbortOnDropHandle<()>,
}

impl Writer {
    fn new(mut input: Box<dyn ProcessInput>) -> Self {
        // Unbounded: what waits is counted in `unread`, and a server that reads too little is given up.
        let (lines, mut waiting) = mpsc::unbounded_channel::<Vec<u8>>();
        let unread = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&unread);
        let task = tokio::spawn(async move {
            while let Some(line) = waiting.recv().await {
                if input.write_all(&line).await.is_err() {
                    return;
                }
                left.fetch_sub(line.len(), Ordering::Relaxed);
            }
            let _ = input.end().await;
        });
        Self { lines, unread, task: AbortOnDropHandle::new(task) }
    }

    fn push(&self, line: Vec<u8>) -> io::Result<()> {
        if self.unread.load(Ordering::Relaxed) > MOST_UNREAD {
            return Err(io::Error::other("it does not read what it is sent"));
        }
        self.unread.fetch_add(line.len(), Ordering::Relaxed);
        self.lines.send(line).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// Nothing more comes; what was sent is written, if it is read soon.
    async fn end(self) {
        drop(self.lines);
        let _ = tokio::time::timeout(GRACE, self.task).await;
    }
}

/// Bytes into lines, none of which is longer than it may be.
#[derive(Default)]
struct Reader {
    line: Vec<u8>,
    /// The last bytes of a line that is too long, whose first ones are in `line`.
    tail: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Vec<u8>),
    /// The first and the last bytes.
    TooLong {
        ends: Vec<u8>,
    },
}

impl Reader {
    fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.extend(piece);
            if pieces.peek().is_some() {
                lines.push(self.finish());
            }
        }
        lines
    }

    fn extend(&mut self, piece: &[u8]) {
        if self.tail.is_none() && self.line.len() + piece.len() <= LONGEST {
            self.line.extend_from_slice(piece);
            return;
        }
        let tail = self.tail.get_or_insert_with(|| {
            let tail = self.line.len().saturating_sub(ENDS);
            self.line.split_off(tail.max(ENDS.min(self.line.len())))
        });
        self.line.truncate(ENDS);
        self.line.shrink_to(ENDS);
        tail.extend_from_slice(piece.get(piece.len().saturating_sub(ENDS)..).unwrap_or_default());
        let more = tail.len().saturating_sub(ENDS);
        tail.drain(..more);
    }

    fn finish(&mut self) -> Line {
        let line = std::mem::take(&mut self.line);
        match self.tail.take() {
            Some(tail) => Line::TooLong { ends: [line, tail].concat() },
            None => Line::Whole(line),
        }
    }
}

enum Read {
    Message(Box<Received>),
    /// It says nothing.
    Nothing,
    /// It is no message.
    Junk,
}

/// What a line says. An answer that can't be understood is still one: whoever waits for it is told.
fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Read::Nothing;
    }
    let parsed = serde_json::from_slice::<Value>(line).or_else(|error| match line.starts_with(b"{") {
        true => serde_json::from_slice(&shallow(line)),
        false => Err(error),
    });
    let Ok(mut value) = parsed else { return Read::Junk };
    let id = value.get("id").and_then(id_of).filter(|_| value.get("method").is_none());
    let result = value.get("result").filter(|result| !is_read(result)).is_some();
    match (id, result) {
        // It stays as it came: one entry of a list that is wrong would make another answer of it.
        (Some(id), true) => {
            let result = value.get_mut("result").map(Value::take).unwrap_or_default();
            Read::Message(Box::new(JsonRpcMessage::response(ServerResult::CustomResult(CustomResult::new(result)), id)))
        }
        (id, _) => match (serde_json::from_value(value.clone()), id) {
            (Ok(message), _) => Read::Message(Box::new(message)),
            (Err(error), Some(id)) => {
                Read::Message(Box::new(failure(format!("its answer can't be understood: {error}"), id)))
            }
            (Err(_), None) if value.get("jsonrpc").is_some() => Read::Nothing,
            (Err(_), None) => Read::Junk,
        },
    }
}

/// Whether an answer is one about the conversation itself, which the library must understand.
fn is_read(result: &Value) -> bool {
    let has = |field: &str| result.get(field).is_some();
    let subscribes = result.get("_meta").is_some_and(|meta| meta.get(SUBSCRIPTION).is_some());
    has("protocolVersion") || has("supportedVersions") || subscribes || result["resultType"] == "input_required"
}

/// A message with `null` for what is nested deeper than any message needs.
fn shallow(line: &[u8]) -> Vec<u8> {
    let (mut text, mut depth, mut in_string, mut escaped) = (Vec::with_capacity(line.len()), 0_usize, false, false);
    for byte in line {
        let opens = !in_string && matches!(byte, b'[' | b'{');
        depth += usize::from(opens);
        if depth <= DEEPEST {
            text.push(*byte);
        } else if opens && depth == DEEPEST + 1 {
            text.extend_from_slice(b"null");
        }
        if in_string {
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
        } else if *byte == b'"' {
            in_string = true;
        } else if matches!(byte, b']' | b'}') {
            depth = depth.saturating_sub(1);
        }
    }
    text
}

fn id_of(value: &Value) -> Option<NumberOrString> {
    serde_json::from_value(value.clone()).ok()
}

/// The answer that stands for one that can't be had.
fn failure(words: String, id: NumberOrString) -> Received {
    JsonRpcMessage::error(ErrorData::internal_error(words, None), Some(id))
}

/// The id in the pieces of an answer: before what it says, or the last behind it, as there may be others inside. Nothing
/// where it is no answer.
fn id_in(ends: &[u8]) -> Option<NumberOrString> {
    let text = String::from_utf8_lossy(ends);
    let inside = ["\"result\"", "\"error\"", "\"params\""].into_iter().filter_map(|field| text.find(field)).min();
    let before = text.get(..inside.unwrap_or(text.len())).unwrap_or_default();
    if before.contains("\"method\"") {
        return None;
    }
    let id = |(at, _): (usize, &str)| {
        let rest = text.get(at + 4..)?.trim_start().strip_prefix(':')?.trim_start();
        let end = rest.find([',', '}']).unwrap_or(rest.len());
        id_of(&serde_json::from_str(rest.get(..end)?.trim_end()).ok()?)
    };
    before.match_indices(ID).find_map(id).or_else(|| text.rmatch_indices(ID).find_map(id))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<Line> {
        let mut reader = Reader::default();
        pieces.iter().flat_map(|piece| reader.push(piece)).collect()
    }

    #[test]
    fn a_line_that_is_too_long_is_told_by_its_id_and_the_next_one_is_read() {
        let head = br#"{"jsonrpc":"2.0","id":7,"result":{"text":""#;
        let middle = vec![b'x'; LONGEST];
        let read = lines(&[head, &middle, b"\"}}\n{\"jsonrpc\":\"2.0\"}\nrest"]);
        assert_eq!(read.len(), 2);
        let Line::TooLong { ends } = &read[0] else { panic!("it is not too long") };
        assert!(ends.len() <= 2 * ENDS);
        assert_eq!(id_in(ends), Some(NumberOrString::Number(7)));
        assert_eq!(read[1], Line::Whole(br#"{"jsonrpc":"2.0"}"#.to_vec()));
    }

    #[test]
    fn an_id_at_the_end_is_found_too() {
        assert_eq!(id_in(br#"xxx"},"id": "a1" }"#), Some(NumberOrString::String("a1".into())));
        assert_eq!(id_in(b"nothing"), None);
        let inside = br#"{"jsonrpc":"2.0","result":{"items":[{"id":3},{"id":4}]},"id":7}"#;
        assert_eq!(id_in(inside), Some(NumberOrString::Number(7)), "what is inside is not its own");
        let asked = br#"{"jsonrpc":"2.0","id":3,"method":"elicitation/create","params":{"id":4}}"#;
        assert_eq!(id_in(asked), None, "a question of theirs is no answer to ours");
    }

    #[test]
    fn junk_is_none_and_a_broken_answer_is_an_answer() {
        assert!(matches!(read(b"npm warn deprecated"), Read::Junk));
        assert!(matches!(read(b"  \r"), Read::Nothing));
        assert!(matches!(read(br#"{"jsonrpc":"2.0","id":3,"result":{}}"#), Read::Message(_)));
        assert!(matches!(read(br#"{"jsonrpc":"1.0","id":3,"result":[]}"#), Read::Message(_)));
    }

    #[test]
    fn what_is_nested_too_deep_is_left_out_of_a_message_and_the_rest_is_there() {
        let (open, close) = ("[".repeat(500), "]".repeat(500));
        let deep = format!(r#"{{"jsonrpc":"2.0","id":3,"result":{{"a":{open}"]\"["{close},"b":[1]}}}}"#);
        let Read::Message(message) = read(deep.as_bytes()) else { panic!("it is an answer") };
        let value = serde_json::to_value(message).unwrap();
        assert_eq!(value["result"]["b"], serde_json::json!([1]));
    }

    proptest! {
        #[test]
        fn however_it_is_cut_the_lines_are_the_same(text in "[a-c\n]{0,200}", cuts in proptest::collection::vec(0usize..200, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(lines(&pieces), lines(&[bytes]));
        }
    }
}
