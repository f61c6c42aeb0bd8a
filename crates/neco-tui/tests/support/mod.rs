//! A window without a terminal: events and keys in, pictures out.
#![allow(dead_code, clippy::unwrap_used, reason = "not every test needs all of it, and a test may panic")]

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::Looks;
use neco_tui::app::WindowState;
use neco_tui::input::History;
use neco_tui::theme::ThemeName;
use neco_tui::update::{Effect, News};
use serde_json::{Value, json};

/// The sizes that every picture is taken in.
pub const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 20)];

pub struct Scene {
    pub app: WindowState,
    pub size: (u16, u16),
    seq: u64,
    session: SessionId,
    pub root: AgentId,
    pub out: Vec<String>,
}

impl Scene {
    pub fn new(size: (u16, u16)) -> Self {
        Self::in_theme(size, ThemeName::Plain)
    }

    pub fn in_theme(size: (u16, u16), theme: ThemeName) -> Self {
        let looks = Looks { theme, most_iterations: Some(50), ..Looks::default() };
        let mut app = WindowState::new(&looks, History::new(vec!["run the tests".into(), "fix the parser".into()]));
        let root = AgentId::new();
        app.set_root(root);
        app.transcript.view.standing.model = "scripted/demo".into();
        app.frame(size.0, size.1);
        Self { app, size, seq: 0, session: SessionId::new(), root, out: Vec::new() }
    }

    pub fn happen(&mut self, body: EventBody) -> Vec<Effect> {
        self.happen_to(self.root, body)
    }

    pub fn happen_to(&mut self, agent_id: AgentId, body: EventBody) -> Vec<Effect> {
        self.seq += 1;
        // Only what is asked beside the conversation is used outside of a turn.
        let turn = matches!(body, EventBody::Usage(_)).then(TurnId::new);
        let event = Event::new(self.seq, Timestamp::UNIX_EPOCH, self.session, agent_id, turn, body);
        self.app.event(&event)
    }

    /// Something that belongs to no turn.
    pub fn happen_aside(&mut self, body: EventBody) -> Vec<Effect> {
        self.seq += 1;
        let event = Event::new(self.seq, Timestamp::UNIX_EPOCH, self.session, self.root, None, body);
        self.app.event(&event)
    }

    /// Something that happened before the window opened.
    pub fn happened(&mut self, body: EventBody) {
        self.happened_to(self.root, body);
    }

    pub fn happened_to(&mut self, agent_id: AgentId, body: EventBody) {
        self.seq += 1;
        let event = Event::new(self.seq, Timestamp::UNIX_EPOCH, self.session, agent_id, None, body);
        self.app.past(&event);
    }

    pub fn works(&mut self) {
        let change = StateChange { from: AgentState::Idle, to: AgentState::Streaming, iteration: 1 };
        self.happen(EventBody::StateChange(change));
        self.happen(EventBody::TurnStart(TurnStart { iteration: 3, model: "scripted/demo".into() }));
    }

    pub fn said(&mut self, text: &str) {
        self.happen(EventBody::Message(Message::user(text)));
    }

    pub fn streams(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.happen(EventBody::StreamChunk(StreamChunk { text: (*piece).into() }));
        }
    }

    pub fn call(&mut self, id: &str, tool: &str, status: CallStatus, summary: &str) {
        let update = ToolCallUpdate {
            call_id: call(id),
            origin: ToolOrigin::BuiltIn,
            tool: tool.into(),
            status,
            summary: summary.into(),
        };
        self.happen(EventBody::ToolCallUpdate(update));
    }

    pub fn prints(&mut self, id: &str, text: &str) {
        let chunk = ToolOutputChunk { call_id: call(id), stream: OutputStream::Output, text: text.into() };
        self.happen(EventBody::ToolOutputChunk(chunk));
    }

    pub fn ends(&mut self, id: &str, tool: &str, summary: &str, ended: Ended) {
        self.happen(EventBody::ToolCallEnd(ToolCallEnd {
            call_id: call(id),
            origin: ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: tool.into(),
            summary: summary.into(),
            status: ended.status,
            output: ended.output,
            error_code: ended.error_code,
            advice: None,
            agent: None,
            duration_ms: ended.duration_ms,
            display: ended.display,
            spilled_to: None,
            known: Vec::new(),
        }));
    }

    pub fn asks(&mut self, request: Value) -> Vec<Effect> {
        let request: PermissionRequest = serde_json::from_value(request).unwrap();
        let effects = self.happen(EventBody::PermissionRequest(request));
        self.reads();
        effects
    }

    /// Somebody has allowed a call once.
    pub fn allowed(&mut self, id: &str) {
        let (call_id, decision) = (call(id), Decision::Once);
        self.happen(EventBody::PermissionDecision(PermissionDecision { call_id, decision, by: None }));
    }

    /// The person has what is asked before them for a while.
    pub fn reads(&mut self) {
        self.picture();
        self.app.now_ms += 1000;
    }

    pub fn questions(&mut self, subject: Value) {
        let mut question = subject;
        question["question_id"] = json!(QuestionId::new());
        self.happen(EventBody::Question(serde_json::from_value(question).unwrap()));
        self.reads();
    }

    pub fn key(&mut self, code: KeyCode) -> Vec<Effect> {
        self.app.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    pub fn control(&mut self, char: char) -> Vec<Effect> {
        self.app.key(KeyEvent::new(KeyCode::Char(char), KeyModifiers::CONTROL))
    }

    pub fn types(&mut self, text: &str) -> Vec<Effect> {
        text.chars().flat_map(|char| self.key(KeyCode::Char(char))).collect()
    }

    pub fn news(&mut self, news: News) -> Vec<Effect> {
        self.app.news(news)
    }

    pub fn picture(&mut self) -> String {
        let frame = self.app.frame(self.size.0, self.size.1);
        let text = |line: &ratatui::text::Line<'_>| line.to_string().trim_end().to_owned();
        for row in &frame.live {
            assert!(row.width() <= usize::from(self.size.0), "too wide: {row}");
        }
        assert!(frame.live.len() <= usize::from(self.size.1), "too high");
        self.out.extend(frame.finished.iter().map(text));
        let mut rows = self.out.clone();
        rows.push("┄".repeat(10));
        rows.extend(frame.live.iter().map(text));
        rows.join("\n")
    }
}

pub struct Ended {
    pub status: CallStatus,
    pub output: String,
    pub error_code: Option<ErrorCode>,
    pub duration_ms: u64,
    pub display: Option<Display>,
}

impl Ended {
    pub fn well(display: Option<Display>) -> Self {
        Self { status: CallStatus::Success, output: "done".into(), error_code: None, duration_ms: 40, display }
    }

    pub fn badly(code: ErrorCode, output: &str) -> Self {
        Self {
            status: CallStatus::Error,
            output: output.into(),
            error_code: Some(code),
            duration_ms: 1500,
            display: None,
        }
    }
}

pub fn call(text: &str) -> CallId {
    serde_json::from_value(json!(text)).unwrap()
}

/// The same scene in every size, one picture below the other.
pub fn in_all_sizes(play: impl Fn(&mut Scene)) -> String {
    let picture = |size: (u16, u16)| {
        let mut scene = Scene::new(size);
        play(&mut scene);
        format!("══ {}×{} ══\n{}", size.0, size.1, scene.picture())
    };
    SIZES.map(picture).join("\n\n")
}

pub fn edit_request(id: &str) -> Value {
    json!({
        "call_id": id, "tool": "edit_file", "summary": "Edit src/a.rs (+1 −1)", "args": {"path": "src/a.rs"},
        "risk": "medium", "reason": "files are written, and the approval mode is ask_first",
        "diff": [{
            "path": "src/a.rs", "added": 1, "removed": 1, "created": false,
            "unified": "@@ -1,3 +1,3 @@\n fn main() {\n-    let limit = 10; // the most that is shown in one list\n+    let limit = 20; // the most that is shown in one list\n }\n"
        }],
        "session_rule": "edits below this folder", "always_rule": "allow edit(src/**) in .neco/config.toml"
    })
}

pub fn command_request(id: &str, command: &str) -> Value {
    json!({
        "call_id": id, "tool": "bash", "summary": format!("Run {command}"), "args": {"command": command}, "command": command,
        "risk": "high", "reason": "it runs a program that is not known", "diff": [], "sandboxed": true,
        "session_rule": format!("run exactly `{command}` without asking, until Neco ends"),
        "always_rule": format!("run exactly `{command}` without asking, always in this folder"),
        "always_file": "always.toml"
    })
}

/// A request with what is asked about behind it: id, what, risk.
pub fn with_ahead(mut request: Value, ahead: &[(&str, &str, Option<&str>)]) -> Value {
    let one = |(id, summary, risk): &(&str, &str, Option<&str>)| {
        let says = match summary.split_once(' ') {
            Some(("Run", _)) => "command",
            Some(("Patch", _)) => "part",
            _ => "whole",
        };
        json!({"call_id": id, "summary": summary, "risk": risk, "says": says})
    };
    request["ahead"] = ahead.iter().map(one).collect();
    request
}

pub fn node(id: AgentId, parent: AgentId, role: &str, task: &str, state: &str, progress: f64) -> AgentNode {
    serde_json::from_value(json!({
        "id": id, "name": format!("{role}-1"), "type": "child", "role": role, "parent": parent, "children": [], "task": task,
        "model_group": "default", "state": state, "progress": progress,
        "last_message": "found three callers", "usage": usage(1200, 300, 0.01), "subtree_usage": usage(5200, 900, 0.04),
        "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z"
    }))
    .unwrap()
}

pub fn read(event: Value) -> EventBody {
    serde_json::from_value(event).unwrap()
}

pub fn agent_update(node: &AgentNode) -> EventBody {
    serde_json::from_value(json!({"type": "agent_update", "node": node})).unwrap()
}

/// Three agents below the root: one at work on a file, one below it that is paused, one that is done.
pub fn children(scene: &mut Scene) -> [AgentId; 3] {
    let root = scene.root;
    let [one, two, three] = [AgentId::new(), AgentId::new(), AgentId::new()];
    let nodes = [
        node(one, root, "coder", "mend the parser and everything that calls it", "running", 0.4),
        node(two, one, "tester", "test it", "paused", 0.0),
        node(three, root, "reader", "read the docs", "completed", 1.0),
    ];
    for node in nodes {
        scene.happen_to(node.id, agent_update(&node));
    }
    let update = ToolCallUpdate {
        call_id: call("c"),
        origin: ToolOrigin::BuiltIn,
        tool: "edit_file".into(),
        status: CallStatus::Executing,
        summary: "Edit src/parser.rs".into(),
    };
    scene.happen_to(one, EventBody::ToolCallUpdate(update));
    [one, two, three]
}

/// Agents below the root, in these states.
pub fn agents(scene: &mut Scene, states: &[&str]) -> Vec<AgentId> {
    let mut ids = Vec::new();
    for (number, state) in states.iter().enumerate() {
        let id = AgentId::new();
        let one = AgentNode { name: format!("coder-{}", number + 1), ..node(id, scene.root, "coder", "x", state, 0.0) };
        scene.happen_to(id, agent_update(&one));
        ids.push(id);
    }
    ids
}

/// What is done when one command is sent.
pub fn send(command: Command) -> Vec<Effect> {
    vec![Effect::Send(command)]
}

fn usage(input: u64, output: u64, cost: f64) -> Value {
    json!({"input": input, "output": output, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": cost})
}
