//! What a key costs while a model streams and a command prints, and what opening a long session costs.
//!
//! `under_load`: a sixtieth of a second of 2,000 tokens and 2 MB a second, a key, and the frame that shows it; has to
//! stay well below 16 ms. `steady`: one second of 100 tokens a second, with all the frames of that second; 150 ms
//! would be 15 % of a core. `long_session`: the 2,000 events that a window reads when it opens.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::Looks;
use neco_tui::app::WindowState;
use neco_tui::input::History;
use neco_tui::term::{Depth, Screen};

const SIZE: (u16, u16) = (120, 40);
const WORDS: [&str; 8] = ["some ", "`code` ", "and **more** ", "words ", "of an ", "answer ", "that goes ", "on\n"];

fn main() {
    divan::main();
}

struct Stage {
    app: WindowState,
    screen: Screen<Vec<u8>>,
    session: SessionId,
    agent: AgentId,
    seq: u64,
}

impl Stage {
    fn new() -> Self {
        let mut stage = Self {
            app: WindowState::new(&Looks::default(), History::default()),
            screen: Screen::new(Vec::new(), Depth::True),
            session: SessionId::new(),
            agent: AgentId::new(),
            seq: 0,
        };
        let change = StateChange { from: AgentState::Idle, to: AgentState::Streaming, iteration: 1 };
        stage.happen(EventBody::StateChange(change));
        stage
    }

    fn event(&mut self, body: EventBody) -> Event {
        self.seq += 1;
        let (session_id, agent_id) = (self.session, self.agent);
        Event::new(self.seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body)
    }

    fn happen(&mut self, body: EventBody) {
        let event = self.event(body);
        drop(self.app.event(&event));
    }

    fn streams(&mut self, tokens: usize) {
        for _ in 0..tokens {
            let at = usize::try_from(self.seq).unwrap_or_default();
            let mut text = WORDS.get(at % WORDS.len()).copied().unwrap_or("word ").to_owned();
            match at % 400 {
                0 => text.push_str("\n\n```rust\nfn main() {\n"),
                1..=99 => text.push_str("    let x = call(\"a\", 42); // why\n"),
                100 => text.push_str("}\n```\n\n"),
                _ => {}
            }
            self.happen(EventBody::StreamChunk(StreamChunk { text }));
        }
    }

    fn frame(&mut self) -> usize {
        let frame = self.app.frame(SIZE.0, SIZE.1);
        // Writing to memory can't fail.
        let _ = self.screen.draw(frame);
        std::mem::take(self.screen.out()).len()
    }
}

fn call_id() -> Option<CallId> {
    serde_json::from_value(serde_json::json!("c1")).ok()
}

#[divan::bench(sample_count = 400)]
fn under_load(bencher: divan::Bencher<'_, '_>) {
    let mut stage = Stage::new();
    let call = call_id();
    if let Some(call_id) = call.clone() {
        let update = ToolCallUpdate {
            call_id,
            origin: ToolOrigin::BuiltIn,
            tool: "bash".into(),
            status: CallStatus::Executing,
            summary: "Run yes".into(),
        };
        stage.happen(EventBody::ToolCallUpdate(update));
    }
    let printed = "all work and no play makes a dull program\n".repeat(34_000 / 42);
    bencher.bench_local(|| {
        stage.streams(34);
        if let Some(call_id) = call.clone() {
            let chunk = ToolOutputChunk { call_id, stream: OutputStream::Output, text: printed.clone() };
            stage.happen(EventBody::ToolOutputChunk(chunk));
        }
        drop(stage.app.key(KeyEvent::new(KeyCode::Char('x'), KeyModifiers::NONE)));
        stage.frame()
    });
}

#[divan::bench(sample_count = 50)]
fn steady(bencher: divan::Bencher<'_, '_>) {
    let mut stage = Stage::new();
    bencher.bench_local(|| {
        let mut bytes = 0;
        for _ in 0..50 {
            stage.streams(2);
            bytes += stage.frame();
        }
        bytes
    });
}

#[divan::bench(sample_count = 20)]
fn long_session(bencher: divan::Bencher<'_, '_>) {
    let mut stage = Stage::new();
    let text = "Some **words** of an answer.\n\n- one\n- two\n\n```rust\nfn main() {}\n```\n";
    let bodies = (0..1000).flat_map(|n| {
        let mut answer = Message::user(text);
        answer.role = Role::Assistant;
        [EventBody::Message(Message::user(format!("question {n}"))), EventBody::Message(answer)]
    });
    let events: Vec<Event> = bodies.map(|body| stage.event(body)).collect();
    bencher.bench_local(|| {
        let mut fresh = Stage::new();
        events.iter().for_each(|event| fresh.app.past(event));
        fresh.frame()
    });
}
