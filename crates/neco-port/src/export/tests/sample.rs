//! A session with a bit of everything, for tests: code, scripts of the world, long lines, errors,
//! questions, plans, todos, a compaction, a rewind, pictures, an unfinished end.

use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::{
    AgentId, ApprovalMode, CallId, Decision, Diff, Display, ErrorCode, Event, EventBody, ItemAnswer, Message,
    MessageId, Mode, Part, Plan, PlanStatus, PlanStep, Question, QuestionId, QuestionItem, QuestionOption, Reply, Risk,
    Role, SessionId, Subject, Todo, TodoStatus, ToolCall, TurnId, Usage,
};
use serde_json::json;

/// A red dot of 8 × 8.
pub const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGO4o6GBFTEMLQkAVt1HAfHdGqAAAAAASUVORK5CYII=";

/// Builds the events of one session.
pub struct Sample {
    session: SessionId,
    agent: AgentId,
    ms: i64,
    /// What was built so far.
    pub events: Vec<Event>,
}

impl Sample {
    /// Nothing happened yet.
    pub fn new() -> Self {
        Self { session: SessionId::new(), agent: AgentId::new(), ms: 1_763_190_000_000, events: Vec::new() }
    }

    /// The next event, a second and a half later.
    pub fn push(&mut self, body: EventBody) -> u64 {
        self.ms += 1500;
        let seq = self.events.len() as u64 + 1;
        let ts = Timestamp::from_millisecond(self.ms).unwrap_or(Timestamp::UNIX_EPOCH);
        let turn_id = seq.is_multiple_of(3).then(TurnId::new);
        self.events.push(Event::new(seq, ts, self.session, self.agent, turn_id, body));
        seq
    }

    /// An agent below the root begins.
    pub fn agent_begins(&mut self, name: &str) -> AgentId {
        let (id, now) = (AgentId::new(), Timestamp::UNIX_EPOCH);
        let node = AgentNode {
            id,
            name: name.to_owned(),
            kind: NodeType::ActOnly,
            role: "explore".to_owned(),
            parent: Some(self.agent),
            children: Vec::new(),
            collapsed: 0,
            task: "look".to_owned(),
            model_group: "act".to_owned(),
            state: NodeState::Running,
            paused_by: None,
            progress: 0.0,
            last_message: None,
            usage: Usage::default(),
            subtree_usage: Usage::default(),
            budget: SubtreeBudget::default(),
            created: now,
            changed: now,
            result: None,
        };
        let update = AgentUpdate { node, gone: Vec::new(), setup: None, by: None, anew: false };
        self.as_agent(id, |sample| {
            sample.push(EventBody::AgentUpdate(update));
        });
        id
    }

    /// What another agent than the root does.
    pub fn as_agent(&mut self, agent: AgentId, does: impl FnOnce(&mut Self)) {
        let root = std::mem::replace(&mut self.agent, agent);
        does(self);
        self.agent = root;
    }

    /// The person says something.
    pub fn says(&mut self, text: &str) -> u64 {
        self.push(EventBody::Message(Message::user(text)))
    }

    /// The model says something and makes a call.
    pub fn answers(&mut self, thought: &str, text: &str, call: Option<(&str, &str, serde_json::Value)>) {
        let mut parts = Vec::new();
        if !thought.is_empty() {
            parts.push(Part::Reasoning { text: thought.to_owned(), opaque: Some(json!({ "signature": "c2ln" })) });
        }
        if !text.is_empty() {
            parts.push(Part::Text { text: text.to_owned() });
        }
        if let Some((id, name, arguments)) = call {
            let arguments = arguments.to_string();
            parts.push(Part::ToolCall(ToolCall { id: id.into(), name: name.to_owned(), arguments, opaque: None }));
        }
        let message =
            Message { model: Some("anthropic/claude-sonnet-4-5".to_owned()), ..Message::new(Role::Assistant, parts) };
        self.push(EventBody::Message(message));
        let usage = Usage {
            input: 12_431,
            output: 820,
            cache_read: 9_100,
            cache_write: 800,
            reasoning: 120,
            cost: Some(0.0213),
            unpriced: 0,
        };
        let model = "anthropic/claude-sonnet-4-5".to_owned();
        self.push(EventBody::Usage(UsageEvent { model, usage, context_window: Some(200_000), aside: None }));
    }

    /// A call ends.
    pub fn ends(&mut self, id: &str, tool: &str, summary: &str, output: &str, display: Option<Display>) {
        self.fails(id, tool, summary, output, display, None);
    }

    /// A call ends as `error` says.
    pub fn fails(
        &mut self,
        id: &str,
        tool: &str,
        summary: &str,
        output: &str,
        display: Option<Display>,
        error_code: Option<ErrorCode>,
    ) {
        let status = if error_code.is_some() { CallStatus::Error } else { CallStatus::Success };
        self.push(EventBody::ToolCallEnd(ToolCallEnd {
            call_id: CallId::from(id),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: tool.to_owned(),
            summary: summary.to_owned(),
            status,
            output: output.to_owned(),
            error_code,
            advice: None,
            agent: None,
            duration_ms: 1234,
            display,
            spilled_to: None,
            known: Vec::new(),
        }));
        self.update(id, tool, summary, status);
    }

    /// A call goes from one state to another.
    pub fn update(&mut self, id: &str, tool: &str, summary: &str, status: CallStatus) {
        let (call_id, tool, summary) = (CallId::from(id), tool.to_owned(), summary.to_owned());
        self.push(EventBody::ToolCallUpdate(ToolCallUpdate {
            call_id,
            origin: neco_proto::ToolOrigin::BuiltIn,
            tool,
            status,
            summary,
        }));
    }

    /// The work is done.
    pub fn done(&mut self, text: &str) {
        let usage = Usage { input: 24_862, output: 1640, cost: Some(0.0426), ..Usage::default() };
        self.push(EventBody::AgentComplete(AgentComplete {
            reason: CompleteReason::Natural,
            error_code: None,
            final_text: text.to_owned(),
            turns: 2,
            usage,
            session_usage: usage,
            duration_ms: 34_500,
            waited_ms: 4_000,
            budget: None,
            by: None,
        }));
    }
}

/// The session with a bit of everything.
pub fn everything() -> Vec<Event> {
    let mut sample = Sample::new();
    beginning(&mut sample);
    questions(&mut sample);
    world(&mut sample);
    taken_back(&mut sample);
    ending(&mut sample);
    sample.events
}

fn beginning(sample: &mut Sample) {
    sample.push(EventBody::SessionStart(SessionStart {
        version: "0.1.0".to_owned(),
        cwd: "/home/someone/projects/parser".to_owned(),
        model: "anthropic/claude-sonnet-4-5".to_owned(),
        scripted: false,
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        generation: 8,
        sandbox: "bubblewrap".to_owned(),
        usual_sandbox: false,
        resumed: false,
        single: false,
        forked_from: None,
    }));
    sample.says("The parser drops the last token of a line when there is no newline at the end of the file. Please find out why and mend it; add a test too.");
    let title = "Mend the parser's last token".to_owned();
    sample.push(EventBody::Title(SessionTitle { title, by: TitleSource::Model }));
    sample.answers(
        "The tokenizer probably flushes on newline only.\nLook at `tokens.rs` first.",
        "I'll look at the tokenizer first.",
        Some(("c1", "read_file", json!({ "path": "src/tokens.rs", "offset": 1, "limit": 40 }))),
    );
    let source: String = (1..=40).map(|line| format!("{line:>4}\tlet token_{line} = next(&mut input)?;\n")).collect();
    sample.ends("c1", "read_file", "Read src/tokens.rs (40 lines)", &source, None);
    sample.answers("", "", Some(("c2", "grep", json!({ "pattern": "fn flush", "path": "src" }))));
    let items = vec!["src/tokens.rs:118: fn flush(&mut self)".to_owned(), "src/lexer.rs:7: fn flush()".to_owned()];
    let list = Display::List { title: "2 matches".to_owned(), items, total: 12 };
    sample.ends("c2", "grep", "Search \"fn flush\" in src", "src/tokens.rs:118\nsrc/lexer.rs:7\n", Some(list));
    sample.answers(
        "",
        "Found it. `flush` is **only** called on a newline:\n\n```rust\nfn next(&mut self) -> Option<Token> {\n    while let Some(c) = self.chars.next() {\n        if c == '\\n' { return self.flush(); }\n        self.buffer.push(c);\n    }\n    None // the buffer is dropped here, and this line is made long enough that it has to scroll sideways in a narrow window\n}\n```\n\nThe plan:\n\n1. flush at the end of input\n2. add a test\n   - with a newline\n   - without one\n\n| input | before | after |\n|---|---:|---:|\n| `a b` | 1 token | 2 tokens |\n| `a b\\n` | 2 tokens | 2 tokens |\n\n> See [the issue](https://example.org/issues/12) and <b>not</b> [this](javascript:alert(1)).",
        Some(("c3", "edit_file", json!({ "path": "src/tokens.rs", "old_string": "None", "new_string": "self.flush()" }))),
    );
    sample.push(EventBody::PermissionRequest(PermissionRequest {
        call_id: "c3".into(),
        origin: neco_proto::ToolOrigin::BuiltIn,
        tool: "edit_file".to_owned(),
        summary: "Edit src/tokens.rs".to_owned(),
        args: json!({}),
        command: None,
        risk: Risk::Medium,
        reason: "it writes a file".to_owned(),
        diff: Vec::new(),
        session_rule: None,
        always_rule: None,
        always_file: None,
        sandboxed: None,
        network: false,
        opens: false,
        ahead: Vec::new(),
    }));
    sample.push(EventBody::PermissionDecision(PermissionDecision {
        call_id: "c3".into(),
        decision: Decision::Once,
        by: None,
    }));
    let unified = "@@ -120,7 +120,7 @@ impl Tokens {\n         if c == '\\n' { return self.flush(); }\n         self.buffer.push(c);\n     }\n-    None // the buffer is dropped here\n+    self.flush()\n }\n \n /// What is left.\n".to_owned();
    let new =
        "@@ -0,0 +1,4 @@\n+#[test]\n+fn the_last_token_counts() {\n+    assert_eq!(tokens(\"a b\").len(), 2);\n+}\n"
            .to_owned();
    let files = vec![
        Diff { path: "src/tokens.rs".to_owned(), unified, added: 1, removed: 1, created: false, deleted: false },
        Diff {
            path: "tests/last_token.rs".to_owned(),
            unified: new,
            added: 4,
            removed: 0,
            created: true,
            deleted: false,
        },
    ];
    let diff = Some(Display::Diff { files });
    sample.ends("c3", "edit_file", "Edit src/tokens.rs, tests/last_token.rs", "2 files changed.", diff);
    let changed = vec![FileChange { path: "src/tokens.rs".to_owned(), kind: FileChangeKind::Modified }];
    sample.push(EventBody::Checkpoint(Checkpoint {
        rev: "8f3a91c2d4e5f6a7".to_owned(),
        parent: None,
        when: CheckpointWhen::Before,
        to: None,
        label: "before Run cargo test".to_owned(),
        changed,
        more: 1,
        left_out: Vec::new(),
        left_out_more: 0,
    }));
    sample.answers("", "", Some(("c4", "bash", json!({ "command": "cargo test -q" }))));
    let printed: String =
        (1..=60).map(|test| format!("\u{1b}[32mtest\u{1b}[0m parser::case_{test:02} ... ok\n")).collect();
    let output = format!("{printed}\ntest result: FAILED. 59 passed; 1 failed\n");
    let terminal = Display::Terminal {
        command: "cargo test -q".to_owned(),
        tail: "1 failed".to_owned(),
        exit_code: Some(101),
        background: None,
    };
    sample.ends("c4", "bash", "Run cargo test -q", &output, Some(terminal));
    sample.done("mended");
}

fn questions(sample: &mut Sample) {
    sample.says("One test fails. Make a plan before you go on.");
    let todo = |id: &str, text: &str, status, parent: Option<&str>| Todo {
        id: id.to_owned(),
        text: text.to_owned(),
        status,
        parent: parent.map(str::to_owned),
    };
    sample.push(EventBody::TodoUpdate(TodoUpdate {
        todos: vec![todo("1", "Look at the failing test", TodoStatus::InProgress, None)],
    }));
    let question_id = QuestionId::new();
    let option = |label: &str, description: &str| QuestionOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    let item = QuestionItem {
        title: "Old behaviour".to_owned(),
        text: "A test relies on the last token being dropped. What is to become of it?".to_owned(),
        options: vec![option("Change the test", "it was wrong all along"), option("Keep it", "behind a flag")],
        multiple: false,
        empty: Default::default(),
        field: None,
    };
    let subject = Subject::Choices { items: vec![item] };
    sample.push(EventBody::Question(Question { question_id, call_id: None, subject }));
    let answers = vec![ItemAnswer {
        chosen: vec!["Change the test".to_owned()],
        text: Some("and say so in the changelog".to_owned()),
    }];
    sample.push(EventBody::QuestionAnswer(QuestionAnswer {
        question_id,
        reply: Some(Reply::Choices { answers }),
        by: None,
    }));
    let text = "## Plan\n\n1. Change `case_60`\n2. Changelog\n3. Run everything again".to_owned();
    let steps = vec![PlanStep { id: "1".to_owned(), text: "Change case_60".to_owned(), done: false }];
    let plan = Plan { text, status: PlanStatus::Accepted, steps, unseen: false };
    let findings = vec!["case_60 asserts the bug (tests/cases.rs:60)".to_owned()];
    sample.push(EventBody::PlanUpdate(PlanUpdate { plan: Some(plan), findings, by: None }));
    sample.push(EventBody::TodoUpdate(TodoUpdate {
        todos: vec![
            todo("1", "Look at the failing test", TodoStatus::Completed, None),
            todo("2", "Change `case_60`", TodoStatus::InProgress, None),
            todo("3", "and the comment above it", TodoStatus::Pending, Some("2")),
            todo("4", "Write a second parser", TodoStatus::Cancelled, None),
        ],
    }));
    sample.answers("", "I change the test now.", Some(("c5", "edit_file", json!({ "path": "tests/cases.rs" }))));
    let words = "The text to replace was not found. The closest is line 60:\n    assert_eq!(count, 1);";
    sample.fails("c5", "edit_file", "Edit tests/cases.rs", words, None, Some(ErrorCode::EditTextNotFound));
    sample.push(EventBody::ModelRetry(ModelRetry {
        attempt: 2,
        attempts: 4,
        model: "anthropic/claude-sonnet-4-5".to_owned(),
        wait_ms: 500,
        code: ErrorCode::RateLimited,
        message: "the vendor limits the rate (HTTP 429)".to_owned(),
        discards: true,
    }));
    sample.push(EventBody::Error(ErrorEvent {
        code: ErrorCode::ProviderUnavailable,
        message: "the model can't be reached: connection refused".to_owned(),
        retryable: true,
    }));
    let text = "the sandbox has no network; commands that need it fail".to_owned();
    sample.push(EventBody::Notification(Notification::new(NotificationLevel::Warning, text)));
    sample.done("changed");
}

fn world(sample: &mut Sample) {
    let mut picture = Message::user(
        "これは日本語のテストです。请把解析器修好。한국어도 있어요 🐈‍⬛👩🏽‍💻🇯🇵 — and what is wrong in this picture?",
    );
    picture.parts.push(Part::Image { media_type: "image/png".to_owned(), data: PICTURE.to_owned() });
    sample.push(EventBody::Message(picture));
    sample.answers(
        "",
        "مرحبا! هذا نص من اليمين إلى اليسار مع `code` في الوسط.\n\nשלום, זה טקסט בעברית.\n\n日本語の長い段落です。折り返しが正しく行われるかどうかを確認するために、かなり長い文章を書いています。\n\n- [x] done\n- [ ] open\n\n![a picture](https://example.org/a.png)",
        None,
    );
    sample.push(EventBody::Compaction(Compaction {
        cause: CompactionCause::Full,
        strategy: CompactionStrategy::Summary,
        before: 171_200,
        after: 24_000,
        kept: 12,
        removed: 214,
        focus: None,
        by: None,
        pinned: Vec::new(),
        summary: Some(Message::user("The person wants the **parser** mended; `flush` is the cause.")),
        since: None,
        outputs: Vec::new(),
        arguments: Vec::new(),
        notes: Vec::new(),
    }));
    sample.says(&format!("a very long line: {} and a path /usr/share/{} end", "x".repeat(300), "deep/".repeat(40)));
    sample.push(EventBody::Message(Message::neco("The folder was changed by someone else meanwhile.")));
    sample.answers("", &format!("`{}`", "y".repeat(200)), None);
}

fn taken_back(sample: &mut Sample) {
    let to = sample.events.len() as u64;
    sample.says("Rewrite everything in a new language.");
    sample.answers(
        "",
        "As you wish.",
        Some(("c6", "write_file", json!({ "path": "main.new", "content": "one\ntwo\n" }))),
    );
    sample.ends("c6", "write_file", "Write main.new", "written", None);
    sample.done("rewritten");
    sample.push(EventBody::Rewind(Rewind {
        to,
        message_id: MessageId::new(),
        conversation: true,
        files: Some("8f3a91c2d4e5f6a7".to_owned()),
        undo: Some("aaaa".to_owned()),
        now: None,
        undoes: None,
        changed: 0,
        deleted: 0,
        reverted: Vec::new(),
        over_others: false,
        by: None,
    }));
}

fn ending(sample: &mut Sample) {
    let log: String =
        (1..=80).map(|line| format!("{line}: something happened in the log, nobody knows what\n")).collect();
    sample.says(&format!("What does this say?\n\n{log}"));
    sample.answers("", "I run it.", Some(("c7", "bash", json!({ "command": "sleep 100" }))));
    sample.update("c7", "bash", "Run sleep 100", CallStatus::Executing);
    sample.push(EventBody::ToolOutputChunk(ToolOutputChunk {
        call_id: "c7".into(),
        stream: OutputStream::Output,
        text: "begun\n".to_owned(),
    }));
    sample.push(EventBody::StreamChunk(StreamChunk { text: "While that runs, I".to_owned() }));
}
