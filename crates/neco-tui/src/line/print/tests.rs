//! Pictures of runs: hand-made events in, what a person sees out.

mod waiting;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::*;
use neco_view::paint::wrap::columns;
use serde_json::json;

use super::screen::{Look, Screen};
use super::text::TextPrinter;

/// What was written, for those who look afterwards.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// Both streams on one screen.
fn drawn(look: Look, bodies: Vec<EventBody>) -> String {
    let both = Shared::default();
    draw(Screen::new(Box::new(both.clone()), Box::new(both.clone()), look), bodies);
    both.text()
}

fn draw(screen: Screen, bodies: Vec<EventBody>) {
    draw_with(&mut TextPrinter::new(screen, USUAL_GENERATION), bodies);
}

fn draw_with(printer: &mut TextPrinter, bodies: Vec<EventBody>) {
    printer.set_session("0199a1b2-c3d4".to_owned());
    let (session_id, agent_id) = (SessionId::new(), AgentId::new());
    for (seq, body) in (1..).zip(bodies) {
        let event = Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
        printer.event(&event).unwrap();
    }
}

const USUAL_GENERATION: u8 = 8;

/// On one screen, without colours.
const PLAIN: Look = Look { colour: false, overwrites: false, streams: true, width: 80 };

fn plain(bodies: Vec<EventBody>) -> String {
    drawn(PLAIN, bodies)
}

/// Stdout and stderr when stdout is read by a program.
fn piped(bodies: Vec<EventBody>) -> (String, String) {
    let (out, err) = (Shared::default(), Shared::default());
    draw(Screen::new(Box::new(out.clone()), Box::new(err.clone()), Look::default()), bodies);
    (out.text(), err.text())
}

fn message(text: &str, calls: Vec<(&str, serde_json::Value)>) -> EventBody {
    let mut parts = vec![Part::Text { text: text.into() }];
    parts.extend(calls.into_iter().map(|(id, arguments)| {
        let (name, arguments) = ("bash".to_owned(), arguments.to_string());
        Part::ToolCall(ToolCall { id: id.into(), name, arguments, opaque: None })
    }));
    EventBody::Message(Message::new(Role::Assistant, parts))
}

fn say(text: &str) -> EventBody {
    EventBody::StreamChunk(StreamChunk { text: text.into() })
}

#[test]
fn what_another_agent_does_waits_for_the_end_of_a_line() {
    let screen = Shared::default();
    let mut printer =
        TextPrinter::new(Screen::new(Box::new(screen.clone()), Box::new(screen.clone()), PLAIN), USUAL_GENERATION);
    let (session_id, root, child) = (SessionId::new(), AgentId::new(), AgentId::new());
    printer.set_root(root);
    let event = |agent_id, body| Event::new(1, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
    let asks = |agent_id| event(agent_id, runs("1", "Run make"));
    assert!(!printer.tears(&asks(child)), "nothing is being written");
    printer.event(&event(root, say("Half a sen"))).unwrap();
    assert!(printer.tears(&asks(child)) && !printer.tears(&asks(root)));
    printer.event(&event(root, say("tence.\n"))).unwrap();
    assert!(!printer.tears(&asks(child)), "the line is whole");
    printer.event(&event(root, say("And the last"))).unwrap();
    printer.event(&event(root, message("And the last", Vec::new()))).unwrap();
    assert!(!printer.tears(&asks(child)), "so is what is said to its end");
    assert_eq!(screen.text(), "Half a sentence.\nAnd the last\n");
}

fn runs(id: &str, summary: &str) -> EventBody {
    EventBody::ToolCallUpdate(ToolCallUpdate {
        call_id: id.into(),
        origin: ToolOrigin::BuiltIn,
        tool: "tool".into(),
        status: CallStatus::Executing,
        summary: summary.into(),
    })
}

fn prints(id: &str, text: &str) -> EventBody {
    EventBody::ToolOutputChunk(ToolOutputChunk { call_id: id.into(), stream: OutputStream::Output, text: text.into() })
}

fn ended(id: &str, summary: &str) -> ToolCallEnd {
    ToolCallEnd {
        call_id: id.into(),
        origin: ToolOrigin::BuiltIn,
        parts: Vec::new(),
        tool: "tool".into(),
        summary: summary.into(),
        status: CallStatus::Success,
        output: String::new(),
        error_code: None,
        advice: None,
        agent: None,
        duration_ms: 12,
        display: None,
        spilled_to: None,
        known: Vec::new(),
    }
}

fn failed(id: &str, summary: &str, code: ErrorCode, words: &str) -> EventBody {
    let output = format!("Error {code}: {words}\n{}", code.for_model());
    EventBody::ToolCallEnd(ToolCallEnd {
        status: CallStatus::Error,
        error_code: Some(code),
        output,
        ..ended(id, summary)
    })
}

fn terminal(tail: &str, exit_code: Option<i32>) -> Option<Display> {
    Some(Display::Terminal { command: "make".into(), tail: tail.into(), exit_code, background: None })
}

fn change() -> Diff {
    Diff {
        path: "src/a.rs".into(),
        unified: "@@ -1,2 +1,2 @@\n fn main() {\n-    old();\n+    new();\n".into(),
        added: 1,
        removed: 1,
        created: false,
        deleted: false,
    }
}

fn complete(reason: CompleteReason) -> EventBody {
    EventBody::AgentComplete(AgentComplete {
        reason,
        error_code: None,
        final_text: "Done.".into(),
        turns: 3,
        usage: Usage { input: 12_400, output: 1200, cache_read: 8000, cost: Some(0.0123), ..Usage::default() },
        session_usage: Usage::default(),
        duration_ms: 12_345,
        waited_ms: 0,
        budget: None,
        by: None,
    })
}

/// The same with a limit that is reached.
fn over_budget(reason: CompleteReason, turns: u32, budget: BudgetReached) -> EventBody {
    match complete(reason) {
        EventBody::AgentComplete(complete) => {
            EventBody::AgentComplete(AgentComplete { turns, budget: Some(budget), ..complete })
        }
        other => other,
    }
}

#[test]
fn a_whole_run() {
    let start = SessionStart {
        version: "1.0.0".into(),
        cwd: "/home/me/project".into(),
        model: "play/a".into(),
        scripted: true,
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        generation: 8,
        sandbox: "strong: workspace_write, network off".into(),
        usual_sandbox: true,
        resumed: true,
        single: false,
        forked_from: None,
    };
    insta::assert_snapshot!(plain(vec![
        EventBody::SessionStart(start),
        EventBody::TurnStart(TurnStart { iteration: 1, model: "play/a".into() }),
        EventBody::ReasoningChunk(StreamChunk { text: "I think\nabout it".into() }),
        say("Let me "),
        say("look."),
        runs("1", "Read src/a.rs"),
        EventBody::ToolCallEnd(ended("1", "Read src/a.rs")),
        say("Done.\n"),
        complete(CompleteReason::Natural),
    ]));
}

#[test]
fn every_kind_of_end() {
    let cancelled = ToolCallEnd { status: CallStatus::Cancelled, ..ended("5", "Run sleep 30") };
    insta::assert_snapshot!(plain(vec![
        failed("1", "Edit src/a.rs", ErrorCode::EditTextNotFound, "the text was not found; the closest is line 4"),
        failed("2", "Run make", ErrorCode::CommandBlocked, "high risk is asked about, and there is nobody to ask"),
        failed("3", "Write b", ErrorCode::RejectedByUser, "the user rejected this call and said: keep b"),
        failed("4", "Write b", ErrorCode::RejectedByUser, "the user rejected this call"),
        EventBody::ToolCallEnd(cancelled),
        failed("6", "frobnicate", ErrorCode::ToolNotFound, "there is no tool \"frobnicate\""),
    ]));
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let display = Some(Display::Diff { files: vec![change()] });
    let end = || EventBody::ToolCallEnd(ToolCallEnd { display: display.clone(), ..ended("1", "Edit src/a.rs") });
    insta::assert_snapshot!(plain(vec![runs("1", "Edit src/a.rs"), end()]));
    let coloured = drawn(Look { colour: true, ..PLAIN }, vec![end()]);
    assert!(coloured.contains("\u{1b}[32m+    new();\u{1b}[0m") && coloured.contains("\u{1b}[31m-    old();"));
}

#[test]
fn a_change_of_several_files_names_each() {
    let gone = Diff { path: "docs/b.md".into(), added: 0, deleted: true, ..change() };
    let display = Some(Display::Diff { files: vec![change(), gone] });
    let shown = plain(vec![EventBody::ToolCallEnd(ToolCallEnd { display, ..ended("1", "Patch src/a.rs and 1 more") })]);
    assert!(shown.contains("  src/a.rs (+") && shown.contains("  docs/b.md (+0 −1, deleted)"), "{shown}");
}

#[test]
fn a_change_that_was_shown_with_the_question_is_not_shown_twice() {
    let request = PermissionRequest {
        call_id: "1".into(),
        origin: ToolOrigin::BuiltIn,
        tool: "edit_file".into(),
        summary: "Edit src/a.rs".into(),
        args: json!({}),
        command: None,
        risk: Risk::Medium,
        reason: String::new(),
        diff: vec![change()],
        session_rule: None,
        always_rule: None,
        always_file: None,
        sandboxed: None,
        network: false,
        opens: false,
        ahead: Vec::new(),
    };
    let decided =
        |decision| EventBody::PermissionDecision(PermissionDecision { call_id: "1".into(), decision, by: None });
    let end = ToolCallEnd { display: Some(Display::Diff { files: vec![change()] }), ..ended("1", "Edit src/a.rs") };
    let shown = |decision| {
        let end = EventBody::ToolCallEnd(end.clone());
        plain(vec![EventBody::PermissionRequest(request.clone()), decided(decision), end])
    };
    assert!(!shown(Decision::Once).contains("new();"));
    assert!(shown(Decision::Edit { arguments: json!({}) }).contains("new();"));
}

#[test]
fn a_command_shows_its_output_as_it_comes() {
    let long: String = (1..=40).map(|line| format!("line {line}\n")).collect();
    let end = |id: &str, display| EventBody::ToolCallEnd(ToolCallEnd { display, ..ended(id, "Run make") });
    let spilled = ToolCallEnd {
        display: terminal("", Some(0)),
        spilled_to: Some("/data/outputs/2.txt".into()),
        ..ended("2", "Run make big")
    };
    insta::assert_snapshot!(plain(vec![
        runs("1", "Run make"),
        prints("1", "compiling\u{1b}[31m red"),
        prints("1", " text\u{1b}[0m\n"),
        EventBody::ToolOutputChunk(ToolOutputChunk {
            call_id: "1".into(),
            stream: OutputStream::Note,
            text: "12 KB left out".into()
        }),
        prints("1", &long),
        end("1", terminal("line 40", Some(2))),
        runs("2", "Run make big"),
        EventBody::ToolCallEnd(spilled),
        end("3", terminal("came with the end", Some(0))),
        failed("4", "Run sleep 9", ErrorCode::CommandTimedOut, "killed"),
    ]));
}

#[test]
fn texts_and_lists() {
    let text = Display::Text { text: (1..=9).map(|line| format!("line {line}\n")).collect() };
    let list = Display::List { title: "src".into(), items: vec!["a".into()], total: 12 };
    insta::assert_snapshot!(plain(vec![
        EventBody::ToolCallEnd(ToolCallEnd { display: Some(text), ..ended("1", "Look") }),
        EventBody::ToolCallEnd(ToolCallEnd { display: Some(list), ..ended("2", "List src") }),
    ]));
}

#[test]
fn what_goes_wrong_with_a_model_is_told() {
    let retry = |code, discards| {
        EventBody::ModelRetry(ModelRetry {
            attempt: 2,
            attempts: 4,
            model: "a/one (key 1)".into(),
            wait_ms: 12_000,
            code,
            message: "server error 500".into(),
            discards,
        })
    };
    let switch = ModelSwitch {
        from: "a/one (key 1)".into(),
        to: "b/two".into(),
        code: ErrorCode::NotAuthorised,
        message: "the key was not accepted".into(),
        discards: false,
    };
    insta::assert_snapshot!(plain(vec![
        retry(ErrorCode::RateLimited, false),
        say("Half an ans"),
        retry(ErrorCode::ProviderUnavailable, true),
        EventBody::ModelSwitch(switch),
        EventBody::Notification(Notification::new(NotificationLevel::Warning, "look out".into())),
        EventBody::Notification(Notification::new(NotificationLevel::Info, "by the way".into())),
        EventBody::Error(ErrorEvent {
            code: ErrorCode::ProviderUnavailable,
            message: "nobody answers".into(),
            retryable: true
        }),
        complete(CompleteReason::Failed),
    ]));
}

#[test]
fn nothing_steers_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}evil\u{202e}";
    let shown = plain(vec![
        say(evil),
        runs("1", evil),
        prints("1", &format!("{evil}\n")),
        failed("1", evil, ErrorCode::ToolFailed, evil),
        EventBody::Notification(Notification::new(NotificationLevel::Info, evil.into())),
        EventBody::Error(ErrorEvent { code: ErrorCode::ToolFailed, message: evil.into(), retryable: false }),
    ]);
    assert!(shown.contains("evil") && !shown.contains("owned"), "{shown}");
    assert!(shown.chars().all(|char| char == '\n' || !char.is_control()), "{shown:?}");
}

#[test]
fn only_words_go_to_stdout() {
    let (out, err) = (Shared::default(), Shared::default());
    let screen = Screen::new(Box::new(out.clone()), Box::new(err.clone()), PLAIN);
    draw(
        screen,
        vec![
            say("One\n"),
            runs("1", "Read a"),
            EventBody::ToolCallEnd(ended("1", "Read a")),
            say("two"),
            complete(CompleteReason::Natural),
        ],
    );
    assert_eq!(out.text(), "One\ntwo\n");
    assert!(err.text().contains("✓ Read a") && !err.text().contains("two"));
}

fn retried(discards: bool) -> EventBody {
    let code = ErrorCode::ProviderUnavailable;
    let (model, message) = (String::new(), "broke off".to_owned());
    EventBody::ModelRetry(ModelRetry { attempt: 2, attempts: 0, model, wait_ms: 1, code, message, discards })
}

#[test]
fn a_program_gets_the_answer_and_nothing_else() {
    let (out, err) = piped(vec![
        say("I look "),
        say("first."),
        message("I look first.", vec![("1", json!({}))]),
        runs("1", "Read a"),
        EventBody::ToolCallEnd(ended("1", "Read a")),
        say("Half an ans"),
        retried(true),
        say("The answer"),
        message("The answer", vec![]),
        complete(CompleteReason::Natural),
    ]);
    assert_eq!(out, "The answer\n");
    assert!(err.contains("I look first.\n· Read a\n") && !err.contains("Half") && !err.contains("void"), "{err}");
}

#[test]
fn what_was_cut_off_is_no_answer() {
    let (out, err) = piped(vec![say("Half an"), complete(CompleteReason::Cancelled)]);
    assert_eq!((out.as_str(), err.contains("Half an\n")), ("", true), "{err}");
    let (out, err) = piped(vec![say("Half"), message("Half", vec![]), complete(CompleteReason::Failed)]);
    assert_eq!((out.as_str(), err.contains("Half\n")), ("", true), "{err}");
}

#[test]
fn the_last_lines_say_what_was_refused_limited_or_left() {
    let background = ToolCallEnd {
        output: "up\n[runs in the background as bg-1]".into(),
        display: terminal("up", None),
        ..ended("2", "Run serve")
    };
    insta::assert_snapshot!(plain(vec![
        failed("1", "Run make", ErrorCode::CommandBlocked, "two reasons:\nfirst\nnever shown"),
        message("", vec![("2", json!({ "command": "serve", "background": true }))]),
        EventBody::ToolCallEnd(background),
        complete(CompleteReason::Natural),
        complete(CompleteReason::IterationLimit),
    ]));
}

#[test]
fn the_last_lines_say_who_answered_and_which_budget_is_used_up() {
    let cost = BudgetReached::Cost { limit: 0.05, used: 0.058 };
    let tokens = BudgetReached::Tokens { limit: 10_000, used: 13_600 };
    let answered = |model: &str| {
        let parts = vec![Part::Text { text: "x".into() }];
        let model = Some(model.to_owned());
        EventBody::Message(Message { model, ..Message::new(Role::Assistant, parts) })
    };
    let ends = [
        vec![answered("b/two"), answered("a/one"), complete(CompleteReason::Natural)],
        vec![over_budget(CompleteReason::Budget, 3, cost)],
        vec![over_budget(CompleteReason::Budget, 0, tokens)],
        vec![over_budget(CompleteReason::Natural, 3, cost)],
    ];
    insta::assert_snapshot!(ends.map(plain).join("\n"));
}

#[test]
fn what_this_process_was_started_with_is_not_repeated() {
    let said = |text: &str| EventBody::Message(Message::user(text));
    let queued = |when, message: &Message| EventBody::MessageQueued(MessageQueued { when, message: message.clone() });
    let (mine, later) = (Message::user("mine"), Message::user("later"));
    let shown = plain(vec![
        EventBody::Message(Message::neco("a hint")),
        said("mine"),
        said("two\nlines \u{1b}[31m"),
        queued(Admission::AfterWork, &later),
        EventBody::Message(later),
    ]);
    assert_eq!(shown, "> two\n> lines\n> later (the agent reads it after the work)\n");
    let waited = plain(vec![queued(Admission::TurnBoundary, &mine), EventBody::Message(mine)]);
    assert_eq!(waited, "", "a first message that waits for a hook");
    let both = Shared::default();
    let mut guest =
        TextPrinter::new(Screen::new(Box::new(both.clone()), Box::new(both.clone()), PLAIN), USUAL_GENERATION);
    guest.show_messages();
    draw_with(&mut guest, vec![said("mine")]);
    assert_eq!(both.text(), "> mine\n", "somebody who typed nothing sees all");
}

#[test]
fn wide_characters_do_not_break_a_passing_line_and_words_stay_whole() {
    let look = Look { overwrites: true, width: 20, ..PLAIN };
    let shown = drawn(look, vec![runs("1", &"漢字".repeat(20))]);
    assert!(columns(&shown) < 20 && shown.ends_with('…'), "{shown:?}");
    let told = EventBody::Notification(Notification::new(
        NotificationLevel::Info,
        "several words that are wider than twenty".into(),
    ));
    assert_eq!(drawn(look, vec![told]), "i several words that\n  are wider than\n  twenty\n");
}

#[test]
fn passing_lines_are_written_over_on_a_terminal_only() {
    let run = || vec![runs("1", &"Read a long name ".repeat(10)), EventBody::ToolCallEnd(ended("1", "Read a"))];
    let on_terminal = drawn(Look { overwrites: true, width: 40, ..PLAIN }, run());
    let (passing, rest) = on_terminal.split_once("\r\u{1b}[2K").unwrap();
    assert!(passing.chars().count() < 40 && passing.ends_with('…'), "{passing}");
    assert!(rest.starts_with("✓ Read a"));
    assert!(!plain(run()).contains('\r'));
}
