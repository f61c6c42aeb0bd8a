//! A session, from asking for it to the last of what happened in it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::app::{App as Program, AppError, Trouble};
use neco_proto::{AgentId, Answer, Client, Event, EventBody, EventStream, Query, Seq, SessionId, SessionSnapshot};
use ratatui::text::Line;

use super::questions;
use crate::host::{Host, SessionEntry, Wanted};
use crate::text::wrap::cut;
use crate::transcript::start::Beside;

/// Events of before that are read when a window opens, and how many at most: pieces of answers and of what commands
/// print are among them, and a long answer has thousands.
const LATELY: u64 = 500;
const FURTHEST: u64 = 32_000;

/// Events that are no pieces and are enough for a beginning.
const ENOUGH: usize = 200;

/// Events of one agent that are shown when it is opened.
const OF_ONE: usize = 4000;

/// Columns of the title of an earlier session.
const TITLE: usize = 40;

/// How long is waited for what is only nice to know.
const SOON: Duration = Duration::from_millis(250);

/// Whether what happened before is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retold {
    /// All that is kept of it.
    Whole,
    /// It is on the screen already.
    Not,
}

/// A session that is ready to be shown.
pub(super) struct Opening {
    /// Whether what happened is told.
    pub(super) retold: Retold,
    pub(super) client: Arc<dyn Client>,
    pub(super) snapshot: SessionSnapshot,
    /// What happened lately.
    pub(super) past: Vec<Event>,
    /// Whether more happened before that.
    pub(super) more: bool,
    /// What happens from now on.
    pub(super) events: EventStream,
    /// What is known of the folder besides.
    pub(super) beside: Beside,
    /// What was being written in it when its last window was killed.
    pub(super) draft: Option<String>,
}

/// Opens a session and reads what happened in it lately.
pub(super) async fn open(
    host: Arc<dyn Host>,
    program: Arc<dyn Program>,
    wanted: Wanted,
    retold: Retold,
) -> Result<Opening, AppError> {
    let folder = host.folder();
    let (client, beside) = tokio::join!(host.open(wanted), beside(program.as_ref(), folder));
    let client = client?;
    match read_lately(Arc::clone(&client), retold).await {
        Ok(opening) => {
            let session = opening.snapshot.session_id;
            let draft = if retold == Retold::Whole { draft_of(host, session).await } else { None };
            Ok(Opening { beside: beside.of(&session.to_string()), draft, ..opening })
        }
        Err(error) => {
            // Nobody would ever see it.
            host.close(client).await;
            Err(error)
        }
    }
}

/// What was being written in a session when its last window was killed, as far as that is told soon.
async fn draft_of(host: Arc<dyn Host>, session: SessionId) -> Option<String> {
    let read = tokio::task::spawn_blocking(move || host.draft(session));
    tokio::time::timeout(SOON, read).await.ok()?.ok()?
}

/// What is known of a folder: its branch, and its last sessions.
#[derive(Default)]
struct Folder {
    branch: Option<String>,
    sessions: Vec<SessionEntry>,
}

impl Folder {
    /// What of it is told beside a session; the earlier one is another than that.
    fn of(self, session: &str) -> Beside {
        let earlier = self.sessions.iter().find(|earlier| earlier.id != session).map(earlier_words);
        Beside { branch: self.branch, earlier, ..Beside::default() }
    }
}

/// What is known of a folder, as far as that is told soon.
async fn beside(program: &dyn Program, folder: String) -> Folder {
    let told = async {
        let (branch, sessions) = tokio::join!(
            questions::branch(program, folder.clone()),
            questions::sessions(program, folder.clone(), 5, false)
        );
        Folder { branch, sessions: sessions.unwrap_or_default() }
    };
    tokio::time::timeout(SOON, told).await.unwrap_or_default()
}

/// `“fix the parser” · 2 h ago`; of a long title its beginning, so that the time is seen.
fn earlier_words(session: &SessionEntry) -> String {
    let title = cut(&Line::raw(session.title.as_str()), TITLE).to_string();
    format!("“{title}” · {}", session.when)
}

async fn read_lately(client: Arc<dyn Client>, retold: Retold) -> Result<Opening, AppError> {
    let Answer::Snapshot(snapshot) = client.ask(Query::Snapshot).await? else {
        return Err(AppError::new(Trouble::Failed, "the session does not answer"));
    };
    let last = snapshot.last_seq;
    let (past, since) = lately(client.as_ref(), last).await?;
    let events = client.events(last);
    Ok(Opening { retold, client, snapshot, past, more: since > 0, events, beside: Beside::default(), draft: None })
}

/// The last of what happened up to `last`, and after which event it begins: far enough back for a conversation, however
/// many pieces its last answer came in.
async fn lately(client: &dyn Client, last: Seq) -> Result<(Vec<Event>, Seq), AppError> {
    let mut lately = LATELY;
    loop {
        let since = last.saturating_sub(lately);
        let past = read(client, since, last).await?;
        let whole = past.iter().filter(|event| !is_of_answer(&event.body) && !is_printed(&event.body)).count();
        if since == 0 || whole >= ENOUGH || lately >= FURTHEST {
            return Ok((past, since));
        }
        lately *= 4;
    }
}

/// What happened after `since` up to `last`. Pieces of what came whole later are left out as they come.
async fn read(client: &dyn Client, since: Seq, last: Seq) -> Result<Vec<Event>, AppError> {
    let mut past: Vec<Event> = Vec::new();
    if since >= last {
        return Ok(past);
    }
    let mut events = client.events(since);
    // Whether there are pieces at all that could be left out: most messages of before came without.
    let (mut answers, mut outputs) = (false, false);
    while let Some(event) = events.next().await {
        let event = event?;
        let seq = event.seq;
        answers |= is_of_answer(&event.body);
        outputs |= is_printed(&event.body);
        if let EventBody::Message(_) = &event.body
            && answers
        {
            past.retain(|piece| piece.agent_id != event.agent_id || !is_of_answer(&piece.body));
            answers = past.iter().any(|piece| is_of_answer(&piece.body));
        }
        // A call that has nothing else to show for itself keeps what it printed.
        if let EventBody::ToolCallEnd(end) = &event.body
            && end.display.is_some()
            && outputs
        {
            past.retain(|piece| !matches!(&piece.body, EventBody::ToolOutputChunk(out) if out.call_id == end.call_id));
            outputs = past.iter().any(|piece| is_printed(&piece.body));
        }
        past.push(event);
        // There may be gaps in the numbers; the last of them is known.
        if seq >= last {
            break;
        }
    }
    Ok(past)
}

fn is_printed(body: &EventBody) -> bool {
    matches!(body, EventBody::ToolOutputChunk(_))
}

/// Whether it is a piece of something that is told as a whole later.
fn is_of_answer(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
    )
}

/// The last of what happened to an agent, and the event up to which that is known.
pub(super) async fn past_of(client: &dyn Client, agent: AgentId) -> Option<(Vec<Event>, Seq)> {
    let Ok(Answer::Snapshot(snapshot)) = client.ask(Query::Snapshot).await else { return None };
    let last = snapshot.last_seq;
    Some((lately_of(client, agent, last).await.into(), last))
}

/// The last of what happened to an agent up to `last`, from no further back than it began.
async fn lately_of(client: &dyn Client, agent: AgentId, last: Seq) -> VecDeque<Event> {
    let mut lately = LATELY;
    loop {
        let since = last.saturating_sub(lately);
        let past = read_of(client, agent, since, last).await;
        if since == 0 || past.len() >= OF_ONE || past.iter().any(is_beginning) {
            return past;
        }
        lately = lately.saturating_mul(4);
    }
}

/// The last of what happened to an agent after `since` up to `last`.
async fn read_of(client: &dyn Client, agent: AgentId, since: Seq, last: Seq) -> VecDeque<Event> {
    let mut past = VecDeque::new();
    let mut all = client.events(since);
    let mut over = since >= last;
    while !over && let Some(Ok(event)) = all.next().await {
        over = event.seq >= last;
        if event.agent_id == agent {
            past.push_back(event);
            if past.len() > OF_ONE {
                past.pop_front();
            }
        }
    }
    past
}

/// Whether nothing happened to an agent before this.
fn is_beginning(event: &Event) -> bool {
    matches!(&event.body, EventBody::AgentUpdate(update) if update.setup.is_some() && update.node.id == event.agent_id)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;
    use jiff::Timestamp;
    use neco_proto::event::StreamChunk;
    use neco_proto::{Actor, ClientError, Command, Message, Receipt};

    use super::*;

    /// A log, which waits for more at its end, and the number before which nothing may be read.
    struct Log(Vec<Event>, Seq);

    impl Client for Log {
        fn send_as(&self, _: Actor, _: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }

        fn events(&self, since: Seq) -> EventStream {
            assert!(since >= self.1, "read from {since}");
            let later: Vec<_> = self.0.iter().filter(|event| event.seq > since).cloned().map(Ok).collect();
            futures::stream::iter(later).chain(futures::stream::pending()).boxed()
        }

        fn ask(&self, _: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }
    }

    fn log(bodies: Vec<EventBody>) -> Log {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let event = |(seq, body)| Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
        Log((1..).zip(bodies).map(event).collect(), 0)
    }

    fn piece() -> EventBody {
        EventBody::StreamChunk(StreamChunk { text: "x".into() })
    }

    #[tokio::test]
    async fn a_long_answer_does_not_hide_what_was_said_before_it() {
        let said = EventBody::Message(Message::user("before"));
        let whole = EventBody::Message(Message::user("stands for the answer"));
        let pieces = || std::iter::repeat_with(piece);
        let bodies: Vec<EventBody> =
            std::iter::once(said).chain(pieces().take(5000)).chain([whole]).chain(pieces().take(3)).collect();
        let log = log(bodies);
        let (past, since) = lately(&log, 5005).await.unwrap();
        assert_eq!(since, 0);
        let told: Vec<u64> = past.iter().map(|event| event.seq).collect();
        assert_eq!(told, [1, 5002, 5003, 5004, 5005], "the pieces of what is not whole yet stay");
    }

    #[tokio::test]
    async fn an_agent_is_read_from_where_it_began() {
        let mut log = log((0..20_000).map(|_| piece()).collect());
        let agent = AgentId::new();
        let node = serde_json::json!({
            "id": agent, "name": "coder-1", "type": "child", "role": "coder", "children": [], "task": "x",
            "model_group": "default", "state": "running", "progress": 0.0,
            "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
            "subtree_usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 },
            "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z"
        });
        let began = serde_json::json!({ "type": "agent_update", "node": node, "setup": {} });
        log.0[19_000].body = serde_json::from_value(began).unwrap();
        // What comes long before it is not asked for.
        log.0.drain(..15_000);
        log.0[4000].agent_id = agent;
        log.0[4500].agent_id = agent;
        log.1 = 15_000;
        assert_eq!(lately_of(&log, agent, 20_000).await.len(), 2);
    }

    #[test]
    fn the_session_that_is_open_is_no_earlier_one() {
        let session = |id: &str| {
            let when = "now".to_owned();
            SessionEntry { id: id.to_owned(), title: id.to_owned(), when, ..SessionEntry::default() }
        };
        let folder = |ids: &[&str]| Folder { branch: None, sessions: ids.iter().map(|id| session(id)).collect() };
        assert_eq!(folder(&["a", "b"]).of("a").earlier.as_deref(), Some("“b” · now"));
        assert_eq!(folder(&["a", "b"]).of("c").earlier.as_deref(), Some("“a” · now"));
        assert_eq!(folder(&["a"]).of("a").earlier, None);
    }

    #[tokio::test]
    async fn a_missing_number_is_not_waited_for() {
        let mut log = log((0..20).map(|_| piece()).collect());
        log.0.remove(7);
        assert_eq!(lately(&log, 20).await.unwrap().0.len(), 19);
    }
}
