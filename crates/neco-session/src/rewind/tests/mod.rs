//! Going back is the same as never having gone on, but for what was spent.

mod taking_back;

use jiff::Timestamp;
use neco_proto::event::{
    AgentComplete, CallStatus, Checkpoint, CheckpointWhen, Compaction, CompactionCause, CompactionStrategy,
    CompleteReason, ContextTrim, ModeChange, Notification, NotificationLevel, NotificationTopic, PlanUpdate, Rewind,
    RewindWhat, TodoUpdate, ToolCallEnd, TrimmedOutput, TurnStart, UsageEvent,
};
use neco_proto::{
    AgentId, ApprovalMode, CallId, Event, EventBody, IdeContext, Message, Mode, Part, Plan, PlanStatus, Role,
    SessionId, Todo, TodoStatus, ToolCall, TurnId, Usage,
};
use proptest::prelude::*;

use super::{RewindError, RewindHistory, rewind_event};
use crate::fold::{Fold, Standing};

/// What happens in a made-up session.
#[derive(Clone, Debug)]
enum Happening {
    Work { says: String, calls: usize, answer: String },
    Todo(u8),
    Plans(u8),
    Mode(Mode),
    Approval(ApprovalMode),
    Model(u8),
    Trims,
    Compacts,
    Editor(u32),
    Back { to: prop::sample::Index, what: RewindWhat },
    Undo,
}

fn happening() -> impl Strategy<Value = Happening> {
    let what = prop::sample::select(vec![RewindWhat::Conversation, RewindWhat::Both, RewindWhat::Files]);
    prop_oneof![
        6 => ("[a-z]{1,8}", 0usize..3, "[a-z]{1,8}")
            .prop_map(|(says, calls, answer)| Happening::Work { says, calls, answer }),
        1 => any::<u8>().prop_map(Happening::Todo),
        1 => any::<u8>().prop_map(Happening::Plans),
        1 => prop::sample::select(vec![Mode::Agent, Mode::Plan, Mode::Ask]).prop_map(Happening::Mode),
        1 => prop::sample::select(vec![ApprovalMode::Auto, ApprovalMode::Manual]).prop_map(Happening::Approval),
        1 => any::<u8>().prop_map(Happening::Model),
        1 => Just(Happening::Trims),
        1 => Just(Happening::Compacts),
        1 => any::<u32>().prop_map(Happening::Editor),
        2 => (any::<prop::sample::Index>(), what).prop_map(|(to, what)| Happening::Back { to, what }),
        1 => Just(Happening::Undo),
    ]
}

/// A log that grows.
struct Growing {
    events: Vec<Event>,
    session: SessionId,
    agent: AgentId,
    calls: usize,
}

impl Growing {
    fn new() -> Self {
        Self { events: Vec::new(), session: SessionId::new(), agent: AgentId::new(), calls: 0 }
    }

    fn copy(&self) -> Self {
        Self { events: self.events.clone(), session: self.session, agent: self.agent, calls: self.calls }
    }

    fn add(&mut self, body: EventBody) {
        self.events.push(Event::new(
            self.events.len() as u64 + 1,
            Timestamp::UNIX_EPOCH,
            self.session,
            self.agent,
            Some(TurnId::new()),
            body,
        ));
    }

    fn happen(&mut self, happening: &Happening) {
        match happening {
            Happening::Work { says, calls, answer } => self.work(says, *calls, answer),
            Happening::Todo(number) => {
                let todo =
                    Todo { id: number.to_string(), text: String::new(), status: TodoStatus::Pending, parent: None };
                self.add(EventBody::TodoUpdate(TodoUpdate { todos: vec![todo] }));
            }
            Happening::Plans(number) => {
                let text = format!("plan {number}");
                let plan = Plan { text: text.clone(), status: PlanStatus::Accepted, steps: Vec::new(), unseen: false };
                self.add(EventBody::PlanUpdate(PlanUpdate { plan: Some(plan), findings: vec![text], by: None }));
            }
            Happening::Mode(mode) => {
                self.add(EventBody::ModeChange(ModeChange { mode: Some(*mode), ..ModeChange::default() }));
            }
            Happening::Approval(approval) => {
                self.add(EventBody::ModeChange(ModeChange { approval: Some(*approval), ..ModeChange::default() }));
            }
            Happening::Model(number) => {
                let model = Some(format!("a/{number}"));
                self.add(EventBody::ModeChange(ModeChange { model, ..ModeChange::default() }));
            }
            Happening::Trims => self.trim(),
            Happening::Compacts => self.compact(),
            Happening::Editor(line) => {
                self.add(EventBody::IdeContext(IdeContext { cursor_line: Some(*line), ..IdeContext::default() }));
            }
            Happening::Back { to, what } => {
                let course = RewindHistory::of(&self.events);
                if let Some(point) = (!course.points.is_empty()).then(|| to.get(&course.points))
                    && let Ok(way) = course.way(point, *what)
                {
                    self.go(&way);
                }
            }
            Happening::Undo => {
                if let Ok(way) = RewindHistory::of(&self.events).undo() {
                    self.go(&way);
                }
            }
        }
    }

    fn go(&mut self, way: &super::RewindPlan) {
        // The state before is in the log before any file is touched.
        let undo = way.rev.as_ref().map(|_| self.checkpoint(CheckpointWhen::Restore));
        self.add(EventBody::Rewind(rewind_event(way, undo, 0)));
    }

    fn work(&mut self, says: &str, calls: usize, answer: &str) {
        self.add(EventBody::Message(Message::user(says)));
        self.add(EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() }));
        let ids: Vec<CallId> = (0..calls).map(|n| CallId::from(format!("c{}", self.calls + n))).collect();
        self.calls += calls;
        if calls > 0 {
            let part = |id: &CallId| {
                let call = ToolCall { id: id.clone(), name: "t".to_owned(), arguments: String::new(), opaque: None };
                Part::ToolCall(call)
            };
            self.add(EventBody::Message(Message::new(Role::Assistant, ids.iter().map(part).collect())));
            self.checkpoint(CheckpointWhen::Before);
            ids.into_iter().for_each(|id| self.add(end(id)));
            self.checkpoint(CheckpointWhen::After);
        }
        let usage = Usage { input: 10, output: 1, ..Usage::default() };
        self.add(EventBody::Usage(UsageEvent { model: "a/b".to_owned(), usage, context_window: None, aside: None }));
        self.add(EventBody::Message(Message::new(Role::Assistant, vec![Part::Text { text: answer.to_owned() }])));
        self.add(EventBody::AgentComplete(AgentComplete {
            reason: CompleteReason::Natural,
            error_code: None,
            final_text: answer.to_owned(),
            turns: 1,
            usage,
            session_usage: usage,
            duration_ms: 100,
            waited_ms: 0,
            budget: None,
            by: None,
        }));
    }

    fn checkpoint(&mut self, when: CheckpointWhen) -> String {
        let rev = format!("rev{}", 1000 + self.events.len());
        self.add(EventBody::Checkpoint(Checkpoint {
            rev: rev.clone(),
            parent: None,
            when,
            to: None,
            label: String::new(),
            changed: Vec::new(),
            more: 0,
            left_out: Vec::new(),
            left_out_more: 0,
        }));
        rev
    }

    fn trim(&mut self) {
        let fold = Fold::of(&self.events);
        let called = fold.messages.iter().flat_map(Message::tool_calls).map(|call| call.id.clone());
        let outputs = called.map(|call_id| TrimmedOutput { call_id, output: "[cut]".to_owned() }).collect();
        self.add(EventBody::ContextTrim(ContextTrim { before: 9, after: 3, outputs, arguments: Vec::new() }));
    }

    fn compact(&mut self) {
        let fold = Fold::of(&self.events);
        let since = fold.messages.iter().rev().find(|message| message.role == Role::User).map(|message| message.id);
        self.add(EventBody::Compaction(Compaction {
            cause: CompactionCause::Asked,
            strategy: CompactionStrategy::Summary,
            before: 9,
            after: 3,
            kept: 1,
            removed: 2,
            focus: None,
            by: None,
            pinned: Vec::new(),
            summary: Some(Message::neco("what happened so far")),
            since,
            outputs: Vec::new(),
            arguments: Vec::new(),
            notes: Vec::new(),
        }));
    }
}

fn end(call_id: CallId) -> EventBody {
    EventBody::ToolCallEnd(ToolCallEnd {
        call_id,
        origin: neco_proto::ToolOrigin::BuiltIn,
        parts: Vec::new(),
        tool: "t".to_owned(),
        summary: String::new(),
        status: CallStatus::Success,
        output: "a long output".to_owned(),
        error_code: None,
        advice: None,
        agent: None,
        duration_ms: 0,
        display: None,
        spilled_to: None,
        known: Vec::new(),
    })
}

fn grown(happenings: &[Happening]) -> Growing {
    let mut log = Growing::new();
    happenings.iter().for_each(|happening| log.happen(happening));
    log
}

/// What a model is sent and a person sees; not what was spent, where it is, and when the person is asked.
fn said(fold: &Fold) -> (Standing, String) {
    let standing = Standing {
        last_seq: 0,
        root_agent: None,
        usage: Usage::default(),
        worked_ms: 0,
        cwd: String::new(),
        approval: ApprovalMode::default(),
        ..fold.standing.clone()
    };
    let rest =
        format!("{:?}", (&fold.messages, &fold.queued, &fold.open, &fold.partial, &fold.environment, &fold.recalled));
    (standing, rest)
}

fn spent(events: &[Event]) -> (u64, u64) {
    let calls = events.iter().filter(|event| matches!(event.body, EventBody::Usage(_))).count() as u64;
    (calls * 10, calls * 100)
}

proptest! {
    #[test]
    fn a_rewound_log_is_the_log_up_to_there(
        happenings in prop::collection::vec(happening(), 1..14),
        to in any::<prop::sample::Index>(),
        then in prop::collection::vec(happening(), 0..4),
    ) {
        let mut log = grown(&happenings);
        let course = RewindHistory::of(&log.events);
        prop_assume!(!course.points.is_empty());
        let point = to.get(&course.points);
        let way = course.way(point, RewindWhat::Conversation).unwrap();
        let up_to = log.events[..way.to as usize].to_vec();
        let before = log.events.clone();
        log.go(&way);
        let fold = Fold::of(&log.events);
        prop_assert_eq!(said(&fold), said(&Fold::of(&up_to)));
        prop_assert_eq!((fold.standing.usage.input, fold.standing.worked_ms), spent(&log.events));
        prop_assert!(!fold.working && fold.queued.is_empty());
        prop_assert_eq!(RewindHistory::of(&log.events).points.len() as u64, point.number - 1);

        // What follows is as if nothing had been in between.
        let mut undone =
            Growing { events: log.events.clone(), calls: log.calls, session: log.session, agent: log.agent };
        let way = RewindHistory::of(&undone.events).undo().unwrap();
        undone.go(&way);
        prop_assert_eq!(said(&Fold::of(&undone.events)), said(&Fold::of(&before)), "taken back");
        let way = RewindHistory::of(&undone.events).redo().unwrap();
        undone.go(&way);
        prop_assert_eq!(said(&Fold::of(&undone.events)), said(&Fold::of(&up_to)), "and that too");
        for happening in then.iter().filter(|happening| !matches!(happening, Happening::Back { .. } | Happening::Undo)) {
            log.happen(happening);
        }
        let from = before.len() + 1;
        let mut never: Vec<Event> = up_to;
        for event in &log.events[from..] {
            never.push(Event { seq: never.len() as u64 + 1, ..event.clone() });
        }
        prop_assert_eq!(said(&Fold::of(&log.events)), said(&Fold::of(&never)));
    }
}

#[test]
fn a_message_is_meant_by_its_number_or_its_id() {
    let works = ["one", "two", "three"].map(|says| Happening::Work { says: says.into(), calls: 0, answer: "a".into() });
    let course = RewindHistory::of(&grown(&works).events);
    assert_eq!(course.find("2").unwrap().text, "two");
    let id = course.points[2].message_id.to_string();
    assert_eq!(course.find(&id).unwrap().text, "three");
    assert!(matches!(course.find("4"), Err(RewindError::NoMessage { count: 3, .. })));
    assert!(matches!(course.find("0"), Err(RewindError::NoMessage { .. })));
    assert!(matches!(RewindHistory::default().find("1"), Err(RewindError::NothingSaid)));
    assert!(matches!(course.undo(), Err(RewindError::NothingToUndo)));
}

#[test]
fn files_go_back_to_what_they_were_before_the_first_change_after_a_message() {
    let work = |says: &str, calls| Happening::Work { says: says.into(), calls, answer: "a".into() };
    let log = grown(&[work("looks", 0), work("changes", 1), work("talks", 0)]);
    let course = RewindHistory::of(&log.events);
    let rev_of = |when: CheckpointWhen| {
        let kept = course.checkpoints.iter().find(|kept| kept.checkpoint.when == when).unwrap();
        kept.checkpoint.rev.clone()
    };
    let rev = |number: usize| course.way(&course.points[number - 1], RewindWhat::Both).unwrap().shown.rev;
    assert_eq!(rev(1), Some(rev_of(CheckpointWhen::Before)));
    assert_eq!(rev(2), Some(rev_of(CheckpointWhen::Before)));
    assert_eq!(rev(3), Some(rev_of(CheckpointWhen::After)), "what the work before it left");
    assert!(course.points[1].files && !course.points[2].files);
    let none = RewindHistory::of(&grown(&[work("talks", 0)]).events);
    let error = none.way(&none.points[0], RewindWhat::Files).unwrap_err();
    assert!(matches!(error, RewindError::NoCheckpoint));
    let mut unseen = course.clone();
    unseen.checkpoints.remove(0);
    assert_eq!(unseen.files_at(1), None, "what a change started from is not known");
}

#[test]
fn a_message_that_changed_nothing_does_not_take_a_later_state() {
    let work = |says: &str, calls| Happening::Work { says: says.into(), calls, answer: "a".into() };
    let log = grown(&[work("writes", 1), work("asks", 0), work("writes more", 1)]);
    let course = RewindHistory::of(&log.events);
    let states: Vec<&str> = course.checkpoints.iter().map(|kept| kept.checkpoint.rev.as_str()).collect();
    let at = |number: usize| course.files_at(course.points[number - 1].seq);
    assert_eq!(at(2), Some(states[1]), "a person may have changed files between the second and the third");
    assert_eq!(at(3), Some(states[2]));
    assert_eq!(course.state("end").ok(), Some(states[3]));
    assert!(matches!(course.state("nothing"), Err(RewindError::NoState(_))));
}

#[test]
fn files_that_went_back_are_what_they_went_back_to() {
    let work = |says: &str, calls| Happening::Work { says: says.into(), calls, answer: "a".into() };
    let mut log = grown(&[work("one", 1), work("two", 1)]);
    let course = RewindHistory::of(&log.events);
    let way = course.way(&course.points[1], RewindWhat::Both).unwrap();
    log.go(&way);
    log.happen(&work("three", 0));
    let course = RewindHistory::of(&log.events);
    assert_eq!(course.files_at(course.points[1].seq), way.rev.as_deref());
}

#[test]
fn files_that_went_back_are_what_is_there_and_not_what_was_aimed_at() {
    let mut log = grown(&[Happening::Work { says: "one".into(), calls: 1, answer: "a".into() }]);
    let course = RewindHistory::of(&log.events);
    let way = course.way(course.find("1").unwrap(), RewindWhat::Both).unwrap();
    let undo = log.checkpoint(CheckpointWhen::Restore);
    let now = "what others made stayed".to_owned();
    log.add(EventBody::Rewind(Rewind { now: Some(now.clone()), ..rewind_event(&way, Some(undo.clone()), 1) }));
    log.happen(&Happening::Work { says: "a question".into(), calls: 0, answer: "a".into() });
    log.happen(&Happening::Work { says: "three".into(), calls: 1, answer: "a".into() });
    let course = RewindHistory::of(&log.events);
    assert_eq!(course.files_at(course.find("1").unwrap().seq), Some(now.as_str()));
    assert!(course.turns().contains(&now), "taking it back brings back what it took");
    // A rewind that changed no file leaves the state before, which may be another session's.
    log.add(EventBody::Rewind(Rewind { now: Some(undo.clone()), ..rewind_event(&way, Some(undo.clone()), 0) }));
    assert!(!RewindHistory::of(&log.events).turns().contains(&undo));
}

#[test]
fn changes_that_could_not_be_kept_are_not_taken_for_what_was_before_them() {
    let work = |says: &str, calls| Happening::Work { says: says.into(), calls, answer: "a".into() };
    let mut log = grown(&[work("one", 0)]);
    let text = "whatever is said of it".to_owned();
    let told = Notification::new(NotificationLevel::Warning, text).about(NotificationTopic::NotKept);
    log.add(EventBody::Notification(told));
    log.happen(&work("two", 1));
    let course = RewindHistory::of(&log.events);
    assert_eq!(course.files_at(course.points[0].seq), None);
    assert!(course.files_at(course.points[1].seq).is_some());
    // Logs that have no topics say it in words.
    let words = "no checkpoint was kept before this turn, so it can't be undone: the disk is full".to_owned();
    let old = Notification::new(NotificationLevel::Warning, words);
    assert_eq!((old.about, old.topic()), (None, Some(NotificationTopic::NotKept)));
}

#[test]
fn the_end_is_what_the_work_left_and_not_what_was_put_back() {
    let work = |says: &str| Happening::Work { says: says.into(), calls: 1, answer: "a".into() };
    let mut log = grown(&[work("one"), work("two")]);
    let end = RewindHistory::of(&log.events).state("end").unwrap().to_owned();
    let course = RewindHistory::of(&log.events);
    log.go(&course.way(&course.points[0], RewindWhat::Files).unwrap());
    assert_eq!(RewindHistory::of(&log.events).state("end").ok(), Some(end.as_str()));
    let course = RewindHistory::of(&log.events);
    let way = course.way(&course.points[1], RewindWhat::Both).unwrap();
    log.go(&way);
    assert_eq!(
        RewindHistory::of(&log.events).state("end").ok(),
        way.rev.as_deref(),
        "the second message does not count any more"
    );
}

#[test]
fn a_state_is_meant_by_any_beginning_that_only_it_has() {
    let course =
        RewindHistory::of(&grown(&[Happening::Work { says: "one".into(), calls: 1, answer: "a".into() }]).events);
    let [first, second] = [0, 1].map(|at| course.checkpoints[at].checkpoint.rev.clone());
    let common = first.bytes().zip(second.bytes()).take_while(|(one, other)| one == other).count();
    assert_eq!(course.state(&first).ok(), Some(first.as_str()));
    assert_eq!(course.state(&first[..common.max(1)]).ok(), None, "several begin so, or it is too short");
}

#[test]
fn what_reached_beyond_the_workspace_is_not_undone() {
    let mut log = Growing::new();
    let asked = |call: &str, command: &str, sandboxed: bool, network: bool| -> EventBody {
        let asked = serde_json::json!({
            "type": "permission_request", "call_id": call, "tool": "bash", "summary": "Run it", "args": {},
            "command": command, "risk": "medium", "reason": "", "sandboxed": sandboxed, "network": network
        });
        serde_json::from_value(asked).unwrap()
    };
    let runs = |call: &str| -> EventBody {
        let update = serde_json::json!({
            "type": "tool_call_update", "call_id": call, "tool": "bash", "status": "executing", "summary": "Run it"
        });
        serde_json::from_value(update).unwrap()
    };
    log.add(EventBody::Message(Message::user("first")));
    log.add(asked("c1", "git push", false, false));
    log.add(runs("c1"));
    log.add(EventBody::Message(Message::user("second")));
    log.checkpoint(CheckpointWhen::Before);
    log.add(asked("c2", "cargo test", true, false));
    log.add(runs("c2"));
    log.add(asked("c3", "cargo publish", true, true));
    log.add(runs("c3"));
    log.add(asked("c4", "curl a.b", false, false));
    log.checkpoint(CheckpointWhen::After);
    let course = RewindHistory::of(&log.events);
    let stays = |what| course.way(&course.points[1], what).unwrap().shown.not_undone;
    assert_eq!(stays(RewindWhat::Both), ["cargo publish"], "not what was held to the workspace or refused");
    assert!(stays(RewindWhat::Conversation).is_empty(), "no file goes back either");
}

#[test]
fn messages_that_go_keep_their_numbers() {
    let work = |says: &str, calls| Happening::Work { says: says.into(), calls, answer: "a".into() };
    let course = RewindHistory::of(&grown(&[work("one", 1), work("two", 1)]).events);
    let way = course.way(&course.points[1], RewindWhat::Both).unwrap();
    assert_eq!((way.messages[0].number, way.messages[0].files), (2, true));
}
