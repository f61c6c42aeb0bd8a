//! Events and records to fill a store with.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::{
    Actor, AgentId, ApprovalMode, CallId, Decision, Diff, Display, ErrorCode, Event, EventBody, IdeContext, ItemAnswer,
    Message, MessageId, Mode, Part, Plan, PlanStatus, PlanStep, Question, QuestionId, QuestionItem, QuestionOption,
    Reply, Risk, Role, Selection, Seq, SessionId, Subject, Todo, TodoStatus, ToolCall, ToolResult, TurnId, Usage,
};
use serde_json::json;

use super::tree_samples::tree_bodies;
use crate::catalog::SessionRecord;

const CREATED_MS: i64 = 1_700_000_000_000;

/// Makes events of one session.
pub(super) struct Samples {
    pub(super) session: SessionId,
    agent: AgentId,
    turn: TurnId,
}

/// A session nothing has happened in.
pub(super) fn record(id: SessionId, cwd: &str) -> SessionRecord {
    SessionRecord::new(id, cwd, CREATED_MS)
}

impl Samples {
    pub(super) fn new(session: SessionId) -> Self {
        Self { session, agent: AgentId::new(), turn: TurnId::new() }
    }

    /// When the event `seq` happened.
    pub(super) fn ms(&self, seq: Seq) -> i64 {
        CREATED_MS.saturating_add_unsigned(seq.min(1_000_000))
    }

    /// A small event; the same one for the same `seq`.
    pub(super) fn chunk(&self, seq: Seq) -> Event {
        self.chunk_at(seq, self.ms(seq))
    }

    /// A small event that happened at `ms`.
    pub(super) fn chunk_at(&self, seq: Seq, ms: i64) -> Event {
        let text = format!("piece {seq}\n\"quoted\" \u{0} \u{1f408}");
        Event { ts: at(ms), ..self.event(seq, EventBody::StreamChunk(StreamChunk { text })) }
    }

    /// Several small events.
    pub(super) fn chunks(&self, seqs: RangeInclusive<Seq>) -> Vec<Event> {
        seqs.map(|seq| self.chunk(seq)).collect()
    }

    /// One event of each type there is, from 1.
    pub(super) fn one_of_each_type(&self) -> Vec<Event> {
        let bodies = bodies();
        let types: BTreeSet<_> = bodies.iter().map(EventBody::type_name).collect();
        assert_eq!(types, EventBody::TYPES.iter().copied().collect(), "there is a sample of every type");
        bodies.into_iter().zip(1..).map(|(body, seq)| self.event(seq, body)).collect()
    }

    /// An event with strings that are too big to be kept in place.
    pub(super) fn big(&self, seq: Seq) -> Event {
        let data = format!("{}\"\\\n\u{1}", self.session).repeat(2000);
        let picture = Part::Image { media_type: "image/png".to_owned(), data };
        let text = Part::Text { text: "a long story ".repeat(1000) };
        let parts = vec![text.clone(), picture, text];
        self.event(seq, EventBody::Message(Message { parts, ..Message::user("") }))
    }

    pub(super) fn event(&self, seq: Seq, body: EventBody) -> Event {
        Event::new(seq, at(self.ms(seq)), self.session, self.agent, seq.is_multiple_of(2).then_some(self.turn), body)
    }
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn bodies() -> Vec<EventBody> {
    [
        session_bodies(),
        model_bodies(),
        tool_bodies(),
        ask_bodies(),
        plan_bodies(),
        context_bodies(),
        checkpoint_bodies(),
        tree_bodies(),
        closing_bodies(),
    ]
    .concat()
}

pub(super) fn session_start() -> SessionStart {
    SessionStart {
        version: "0.1.0".to_owned(),
        cwd: "/home/someone/project".to_owned(),
        model: "main".to_owned(),
        scripted: true,
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        generation: 8,
        sandbox: "bubblewrap".to_owned(),
        usual_sandbox: false,
        resumed: false,
        single: true,
        forked_from: Some(ForkedFrom { session_id: SessionId::new(), seq: 3 }),
    }
}

fn session_bodies() -> Vec<EventBody> {
    vec![
        EventBody::SessionStart(session_start()),
        EventBody::StateChange(StateChange { from: AgentState::Idle, to: AgentState::Streaming, iteration: 1 }),
        EventBody::TurnStart(TurnStart { iteration: 1, model: "main".to_owned() }),
    ]
}

fn model_bodies() -> Vec<EventBody> {
    vec![
        EventBody::StreamChunk(StreamChunk { text: "Grüße,\n\"cat\" 🐈".to_owned() }),
        EventBody::ReasoningChunk(StreamChunk { text: String::new() }),
        EventBody::StreamToolCallStart(ToolCallStart { index: 0, call_id: call(), name: "edit_file".to_owned() }),
        EventBody::StreamToolCallDelta(ToolCallDelta { call_id: call(), partial_args: "{\"path\":".to_owned() }),
        EventBody::ModelRetry(ModelRetry {
            attempt: 2,
            attempts: 4,
            model: "a/b (key 2)".to_owned(),
            wait_ms: 500,
            code: ErrorCode::RateLimited,
            message: "slow down".to_owned(),
            discards: true,
        }),
        EventBody::ModelSwitch(ModelSwitch {
            from: "a/b".to_owned(),
            to: "c/d".to_owned(),
            code: ErrorCode::ModelTimedOut,
            message: "no answer".to_owned(),
            discards: false,
        }),
    ]
}

fn tool_bodies() -> Vec<EventBody> {
    let summary = "Edit src/a.rs".to_owned();
    let tool = "edit_file".to_owned();
    let output = "x".repeat(20_000);
    vec![
        EventBody::ToolCallUpdate(ToolCallUpdate {
            call_id: call(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            tool: tool.clone(),
            status: CallStatus::Executing,
            summary: summary.clone(),
        }),
        EventBody::ToolOutputChunk(ToolOutputChunk {
            call_id: call(),
            stream: OutputStream::Output,
            text: "\u{1b}[31mred\u{1b}[0m\0".to_owned(),
        }),
        EventBody::ToolCallEnd(ToolCallEnd {
            call_id: call(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool,
            summary,
            status: CallStatus::Error,
            output,
            error_code: Some(ErrorCode::EditTextNotFound),
            advice: Some("look first".to_owned()),
            agent: Some("coder-1".to_owned()),
            duration_ms: 12,
            display: Some(Display::Diff { files: vec![diff()] }),
            spilled_to: Some("/tmp/spill".to_owned()),
            known: vec![KnownFile {
                path: "src/a.rs".to_owned(),
                sha256: "ab".repeat(32),
                lines: Some(vec![(1, 20)]),
                total_lines: Some(40),
            }],
        }),
    ]
}

fn ask_bodies() -> Vec<EventBody> {
    vec![
        EventBody::PermissionRequest(PermissionRequest {
            call_id: call(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            tool: "shell".to_owned(),
            summary: "Run make".to_owned(),
            args: json!({ "z": 1, "a": [null, 1.5, "text"], "m": { "nested": true } }),
            command: Some("make".to_owned()),
            risk: Risk::High,
            reason: "it runs a command".to_owned(),
            diff: vec![diff()],
            session_rule: Some("make with any arguments".to_owned()),
            always_rule: Some("make with any arguments, in this folder".to_owned()),
            always_file: Some("~/always.toml".to_owned()),
            sandboxed: Some(true),
            network: true,
            opens: true,
            ahead: vec![AskedAhead {
                call_id: call(),
                summary: "Write a.txt".to_owned(),
                risk: Some(Risk::Medium),
                says: Says::Whole,
            }],
        }),
        EventBody::PermissionDecision(PermissionDecision {
            call_id: call(),
            decision: Decision::Edit { arguments: json!({ "command": "make -n" }) },
            by: Some(Actor::Device { name: "phone".to_owned() }),
        }),
        EventBody::MemoryUpdate(MemoryUpdate {
            action: MemoryAction::Recalled,
            entries: vec![MemoryNote {
                id: "use-tabs-1".to_owned(),
                title: "Use tabs".to_owned(),
                scope: MemoryScope::Global,
                path: "/data/memory/use-tabs-1.md".to_owned(),
            }],
            text: Some("- [use-tabs-1] Use tabs".to_owned()),
        }),
        EventBody::HookRun(HookRun {
            event: HookEvent::PreToolUse,
            hook: "./check.sh".to_owned(),
            outcome: HookOutcome::Blocked,
            duration_ms: 7,
            message: Some("not here".to_owned()),
            call_id: Some(call()),
            message_id: None,
        }),
        EventBody::ModeChange(ModeChange { mode: Some(Mode::Ask), ..ModeChange::default() }),
    ]
}

fn plan_bodies() -> Vec<EventBody> {
    let question_id = QuestionId::new();
    let option = QuestionOption { label: "one".to_owned(), description: "the first".to_owned() };
    let item = QuestionItem {
        title: "Which".to_owned(),
        text: "Which one?".to_owned(),
        options: vec![option],
        multiple: true,
        empty: Default::default(),
        field: None,
    };
    let subject = Subject::Choices { items: vec![item] };
    let answers = vec![ItemAnswer { chosen: vec!["one".to_owned()], text: Some("rather".to_owned()) }];
    let step = PlanStep { id: "1".to_owned(), text: "look".to_owned(), done: true };
    let plan = Plan { text: "1. look".to_owned(), status: PlanStatus::Finished, steps: vec![step], unseen: true };
    let todo = Todo { id: "2".to_owned(), text: "do".to_owned(), status: TodoStatus::InProgress, parent: None };
    vec![
        EventBody::Question(Question { question_id, call_id: Some(call()), subject }),
        EventBody::QuestionAnswer(QuestionAnswer { question_id, reply: Some(Reply::Choices { answers }), by: None }),
        EventBody::TodoUpdate(TodoUpdate { todos: vec![todo] }),
        EventBody::PlanUpdate(PlanUpdate { plan: Some(plan), findings: vec!["it is so".to_owned()], by: None }),
        EventBody::SharedState(SharedStateUpdate {
            key: "plan".to_owned(),
            value: Some(json!({ "steps": ["look"] })),
            version: 2,
            writer: "planner-1".to_owned(),
        }),
    ]
}

fn context_bodies() -> Vec<EventBody> {
    let outputs = vec![TrimmedOutput { call_id: call(), output: "[12 lines, read again later]".to_owned() }];
    let arguments = vec![TrimmedArguments { call_id: call(), arguments: r#"{"path":"a.rs"}"#.to_owned() }];
    let selection = Selection { first_line: 3, last_line: 4, text: "a\nb".to_owned() };
    vec![
        EventBody::Environment(EnvironmentTold {
            text: "You work in /home/someone/project.".to_owned(),
            date: "2026-01-31".to_owned(),
            repo_map: None,
        }),
        EventBody::IdeContext(IdeContext {
            active_file: Some("src/a.rs".to_owned()),
            cursor_line: Some(3),
            selection: Some(selection),
            open_files: vec!["src/b.rs".to_owned()],
        }),
        EventBody::SkillUsed(SkillUsed {
            name: "pdf-forms".to_owned(),
            file: "~/.agents/skills/pdf-forms/SKILL.md".to_owned(),
            cause: SkillCause::Words,
        }),
        EventBody::RulesTold(RulesTold {
            files: vec!["src/AGENTS.md".to_owned()],
            unread: vec!["secrets/AGENTS.md".to_owned()],
        }),
        EventBody::PiecesGiven(PiecesGiven {
            message_id: MessageId::new(),
            pieces: vec![GivenPiece { path: "src/a.rs".to_owned(), first_line: 3, last_line: 9 }],
            tokens: 90,
        }),
        EventBody::ContextTrim(ContextTrim {
            before: 900,
            after: 300,
            outputs: outputs.clone(),
            arguments: arguments.clone(),
        }),
        EventBody::Compaction(Compaction {
            cause: CompactionCause::Asked,
            strategy: CompactionStrategy::Summary,
            before: 9000,
            after: 1200,
            kept: 3,
            removed: 17,
            focus: Some("the parser".to_owned()),
            by: None,
            pinned: vec![MessageId::new()],
            summary: Some(Message::user("what happened so far")),
            since: Some(MessageId::new()),
            outputs,
            arguments,
            notes: vec!["the model was busy".to_owned()],
        }),
    ]
}

fn checkpoint_bodies() -> Vec<EventBody> {
    vec![
        EventBody::Checkpoint(Checkpoint {
            rev: "0f3a".to_owned(),
            parent: Some("77be".to_owned()),
            when: CheckpointWhen::Restore,
            to: Some("1c9d".to_owned()),
            label: "before: rename it".to_owned(),
            changed: vec![FileChange { path: "src/ä.rs".to_owned(), kind: FileChangeKind::Modified }],
            more: 2,
            left_out: vec![LeftOut { path: "big.bin".to_owned(), why: LeftOutWhy::TooBig }],
            left_out_more: 1,
        }),
        EventBody::FilesBack(FilesBack { done: 120, total: 600 }),
        EventBody::Rewind(Rewind {
            to: 3,
            message_id: MessageId::new(),
            conversation: true,
            files: Some("77be".to_owned()),
            undo: Some("0f3a".to_owned()),
            now: Some("91c2".to_owned()),
            undoes: Some(9),
            reverted: vec![FileReverted { path: "src/ä.rs".to_owned(), changes: Some(2) }],
            changed: 3,
            deleted: 0,
            over_others: true,
            by: None,
        }),
        EventBody::Title(SessionTitle { title: "A title".to_owned(), by: TitleSource::Person }),
        EventBody::Imported(Imported {
            from: "codex".to_owned(),
            file: "/home/someone/rollout.jsonl".to_owned(),
            id: Some("abc".to_owned()),
            skipped: 4,
        }),
    ]
}

fn closing_bodies() -> Vec<EventBody> {
    let usage = Usage {
        input: 1000,
        output: 20,
        cache_read: 900,
        cache_write: 10,
        reasoning: 5,
        cost: Some(0.0125),
        unpriced: 1,
    };
    vec![
        EventBody::Usage(UsageEvent { model: "a/b".to_owned(), usage, context_window: Some(200_000), aside: None }),
        EventBody::SideCall(SideCall { purpose: SidePurpose::Title, running: true }),
        EventBody::Notification(Notification::new(NotificationLevel::Warning, "note".to_owned())),
        EventBody::MessageQueued(MessageQueued { when: Admission::AfterWork, message: Message::user("later") }),
        EventBody::Message(message()),
        EventBody::Error(ErrorEvent {
            code: ErrorCode::ProviderUnavailable,
            message: "unreachable".to_owned(),
            retryable: true,
        }),
        EventBody::TurnEnd(TurnEnd { iteration: 1 }),
        EventBody::AgentComplete(AgentComplete {
            reason: CompleteReason::Natural,
            error_code: None,
            final_text: "done".to_owned(),
            turns: 1,
            usage,
            session_usage: usage,
            duration_ms: 1234,
            waited_ms: 34,
            budget: Some(BudgetReached::Cost { limit: 0.01, used: 0.0125 }),
            by: None,
        }),
    ]
}

fn message() -> Message {
    let arguments = "{\"not\": json".to_owned();
    Message {
        id: MessageId::new(),
        role: Role::Assistant,
        parts: vec![
            Part::Reasoning { text: "hm".to_owned(), opaque: Some(json!({ "signature": "abc=" })) },
            Part::Text { text: "I edit it.".to_owned() },
            Part::ToolCall(ToolCall { id: call(), name: "edit_file".to_owned(), arguments, opaque: None }),
            Part::ToolResult(ToolResult { call_id: call(), output: "ok".to_owned(), error_code: None }),
        ],
        model: Some("a/b".to_owned()),
        author: None,
        by: None,
        said: Some("I edit it.".to_owned()),
        wants: Default::default(),
        stands_for: Default::default(),
    }
}

fn call() -> CallId {
    CallId::from("call_1")
}

fn diff() -> Diff {
    Diff {
        path: "src/a.rs".to_owned(),
        unified: "@@ -1 +1 @@\n-a\n+b\n".to_owned(),
        added: 1,
        removed: 1,
        created: false,
        deleted: true,
    }
}
