//! What is told of calls and messages: neither too much nor a wrong number.

mod support;

use crossterm::event::KeyCode;
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::CommandOutcome;
use neco_tui::update::{Effect, News};
use serde_json::json;
use support::{Ended, Scene};

#[test]
fn an_edit_without_a_place_is_told_in_the_words_of_people() {
    let mut scene = Scene::new((80, 24));
    let words = "Error 2005: old_string was not found in src/a.rs; nothing was changed. Line 4 comes near";
    scene.ends("1", "edit_file", "Edit src/a.rs", Ended::badly(ErrorCode::EditTextNotFound, words));
    let picture = scene.picture();
    assert!(picture.contains("✕ Edit   src/a.rs · not changed"), "{picture}");
    assert!(picture.contains("│        The text to replace is not in it."), "{picture}");
    assert!(!picture.contains("old_string"), "{picture}");
    // All of it is a key away.
    scene.control('o');
    assert!(scene.picture().contains("old_string was not found"), "{}", scene.picture());
}

#[test]
fn earlier_lines_are_those_of_the_whole_output() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.call("1", "bash", CallStatus::Executing, "Run seq 1 5000");
    // A flood is told in part.
    (1..=1860).for_each(|line| scene.prints("1", &format!("{line}\n")));
    let tail: String = (4961..=5000).map(|line| format!("{line}\n")).collect();
    let display = |exit_code: i32| {
        Some(Display::Terminal {
            command: "seq 1 5000".into(),
            tail: tail.clone(),
            exit_code: Some(exit_code),
            background: None,
        })
    };
    let all: String = (1..=5000).map(|line| format!("{line}\n")).collect();
    let output = format!("<untrusted-74196f source=\"the command\">\n{all}</untrusted-74196f>\n[took 2 s]");
    scene.ends("1", "bash", "Run seq 1 5000", Ended { output: output.clone(), ..Ended::well(display(0)) });
    let picture = scene.picture();
    assert!(picture.contains(" │        … 4997 lines above · Ctrl-O\n │        4998\n"), "{picture}");
    // Of an output that was cut only its end is known.
    scene.ends("2", "bash", "Run seq 1 5000", Ended::well(display(1)));
    assert!(scene.picture().contains("… lines above"));
    // What failed shows how it began, too.
    scene.ends("3", "bash", "Run seq 1 5000", Ended { output, ..Ended::well(display(1)) });
    let picture = scene.picture();
    let shown = " │        1\n │        2\n │        … 4995 more lines · Ctrl-O\n │        4998\n";
    assert!(picture.contains(shown), "{picture}");
    // A blank line is no line that is hidden.
    let output = "<untrusted-74196f source=\"the command\">\nerror:\n\na\nb\nc\nd\n</untrusted-74196f>".to_owned();
    scene.ends("4", "bash", "Run make", Ended { output, ..Ended::well(display(1)) });
    let picture = scene.picture();
    let shown = " │        error:\n │        … 1 more line · Ctrl-O\n │        b\n │        c\n │        d\n";
    assert!(picture.contains(shown) && !picture.contains("1 line above"), "{picture}");
}

#[test]
fn answers_of_commands_stay_and_stand_in_one_column() {
    let mut scene = Scene::new((80, 24));
    for (command, words) in [
        ("/todo", "   The todo list is empty."),
        ("/plan", "   No plan; Shift-Tab switches to plan mode."),
        ("/tree", "   No agents and no todos."),
        ("/cost", "   Used so far: no known price"),
    ] {
        scene.types(command);
        scene.key(KeyCode::Enter);
        scene.picture();
        assert!(scene.out.iter().any(|row| row == words), "{words} in {:?}", scene.out);
    }
    scene.news(News::Outside(Ok(CommandOutcome::Print("Model  a/b\n".into()))));
    scene.picture();
    assert!(scene.out.iter().any(|row| row == "   Model  a/b"), "{:?}", scene.out);
}

#[test]
fn the_tree_of_one_agent_is_its_todo_list() {
    let mut scene = Scene::new((80, 24));
    let todo = Todo { id: "1".into(), text: "mend it".into(), status: TodoStatus::Pending, parent: None };
    scene.happen(EventBody::TodoUpdate(TodoUpdate { todos: vec![todo] }));
    scene.types("/tree");
    scene.key(KeyCode::Enter);
    scene.picture();
    let says = |words: &str| scene.out.iter().any(|row| row.contains(words));
    assert!(says("mend it") && !says("No agents"), "{:?}", scene.out);
}

#[test]
fn what_is_left_to_do_is_a_row_when_nobody_works() {
    let todo = |id: &str, status| Todo { id: id.into(), text: format!("step {id}"), status, parent: None };
    let mut scene = Scene::new((120, 40));
    scene.works();
    let todos =
        vec![todo("1", TodoStatus::Completed), todo("2", TodoStatus::InProgress), todo("3", TodoStatus::Pending)];
    scene.happen(EventBody::TodoUpdate(TodoUpdate { todos }));
    assert!(scene.picture().contains("── Todo  1 of 3"), "{}", scene.picture());
    let rests = StateChange { from: AgentState::Streaming, to: AgentState::Idle, iteration: 1 };
    scene.happen(EventBody::StateChange(rests));
    let picture = scene.picture();
    assert!(picture.contains(" ‖ step 2  1 of 3") && picture.contains("Ctrl-T more"), "{picture}");
    assert!(!picture.contains("── Todo"), "{picture}");
    scene.control('t');
    assert!(scene.picture().contains("── Todo  1 of 3"), "{}", scene.picture());
    scene.control('t');
    let picture = scene.picture();
    assert!(picture.contains("hidden until it changes") && !picture.contains("step 2"), "{picture}");
    scene.works();
    assert!(!scene.picture().contains("step 2"), "{}", scene.picture());
    let todos = vec![todo("1", TodoStatus::Completed), todo("2", TodoStatus::InProgress)];
    scene.happen(EventBody::TodoUpdate(TodoUpdate { todos }));
    assert!(scene.picture().contains("── Todo  1 of 2"), "it is a list again: {}", scene.picture());
}

#[test]
fn a_word_goes_with_the_next_key_and_with_what_happens() {
    let mut scene = Scene::new((80, 24));
    scene.control('t');
    assert!(scene.picture().contains("No agents and no todos"), "{}", scene.picture());
    scene.types("a");
    assert!(!scene.picture().contains("No agents and no todos"), "{}", scene.picture());
    scene.key(KeyCode::Backspace);
    scene.control('t');
    scene.app.now_ms += 1500;
    scene.works();
    assert!(!scene.picture().contains("No agents and no todos"), "{}", scene.picture());
}

#[test]
fn words_for_the_model_are_not_shown_to_the_person() {
    let mut scene = Scene::new((80, 24));
    let code = ErrorCode::RejectedByUser;
    let words = |code: ErrorCode, message: &str| format!("Error {code}: {message}\n{}", code.for_model());
    let no = words(code, "the user rejected this call and said: use a const");
    scene.ends("1", "edit_file", "Edit a.rs", Ended::badly(code, &no));
    scene.ends("2", "edit_file", "Edit b.rs", Ended::badly(code, &words(code, "the user rejected this call")));
    let back = "the user sent the plan back (you are still in plan mode) and said: smaller steps";
    scene.ends("5", "exit_plan_mode", "Hand over the plan", Ended::badly(code, &words(code, back)));
    let dropped = words(code, "the user dropped the plan: nothing comes of it");
    scene.ends("6", "exit_plan_mode", "Hand over the plan", Ended::badly(code, &dropped));
    let code = ErrorCode::ToolFailed;
    scene.ends("3", "grep", "Search", Ended::badly(code, &words(code, "the pattern is not closed")));
    let mut ended = Ended::well(None);
    ended.output = "<untrusted-cfcc9a source=\"the command\">\nhello\n</untrusted-cfcc9a>".into();
    scene.ends("4", "bash", "Run echo hello", ended);
    scene.picture();
    scene.control('o');
    let picture = scene.picture();
    assert!(picture.contains("use a const") && picture.contains("the pattern is not closed"), "{picture}");
    assert!(picture.contains("  hello"), "{picture}");
    assert!(picture.contains("⊘ Plan   handed over") && !picture.contains("✓ Plan"), "{picture}");
    assert!(picture.contains("handed over · changes requested: “smaller steps”"), "{picture}");
    assert!(picture.contains("handed over · you said no"), "it was dropped: {picture}");
    for words in ["untrusted", "Error 100", "Do not repeat", "The tool failed", "rejected this call", "the user "] {
        assert!(!picture.contains(words), "{words} in\n{picture}");
    }
}

#[test]
fn a_compaction_that_was_asked_for_is_seen_and_can_be_stopped() {
    let mut scene = Scene::new((80, 24));
    let told =
        |level, text: &str, about| EventBody::Notification(Notification::new(level, text.to_owned()).about(about));
    scene.happen(told(NotificationLevel::Info, "It begins", NotificationTopic::CompactionBegins));
    assert!(scene.picture().contains(" · It begins"), "a mark and a sentence: {}", scene.picture());
    assert!(scene.picture().contains("◔ Compact 0:00"), "{}", scene.picture());
    assert_eq!(scene.key(KeyCode::Esc).first(), Some(&Effect::Send(Command::Cancel)));
    scene.happen(told(NotificationLevel::Warning, "It was cancelled", NotificationTopic::CompactionFailed));
    assert!(!scene.app.transcript.view.standing.works());
    assert!(!scene.picture().contains("Stopping"), "{}", scene.picture());
}

#[test]
fn messages_of_the_context_are_chosen_and_put_into_order() {
    let mut scene = Scene::new((80, 24));
    let message = |role: &str, author: Option<&str>, tokens: u64, begins: &str| json!({"id": MessageId::new(), "role": role, "author": author, "tokens": tokens, "share": 1.5, "begins": begins});
    let report = json!({
        "type": "context", "model": "a/b", "reserve": 0, "tokens": 900, "tools": {"count": 1, "tokens": 1}, "layers": [],
        "messages": [message("user", None, 5, "the task"), message("user", Some("neco"), 7, "a hint"),
            message("assistant", None, 9, "the answer")],
    });
    scene.types("/context order all");
    assert_eq!(scene.key(KeyCode::Enter).last(), Some(&Effect::Ask(Query::Context)));
    scene.news(News::Answered(serde_json::from_value(report.clone()).unwrap()));
    let picture = scene.picture();
    let at = |text: &str| picture.find(text).unwrap_or_else(|| panic!("{text}:\n{picture}"));
    assert!(at("you: the task") < at("Neco: a hint") && at("Neco: a hint") < at("the model: the answer"), "{picture}");
    assert!(picture.contains("1.5 %"), "{picture}");
    scene.types("/context neco");
    scene.key(KeyCode::Enter);
    scene.news(News::Answered(serde_json::from_value(report).unwrap()));
    assert_eq!(scene.picture().matches("Neco: a hint").count(), 2);
    assert_eq!(scene.picture().matches("you: the task").count(), 1);
    scene.types("/context everything");
    scene.key(KeyCode::Enter);
    assert!(scene.picture().contains("/context [you|model|tools|neco]"), "{}", scene.picture());
}

#[test]
fn what_the_person_ran_is_not_shown_again_with_their_message() {
    let mut scene = Scene::new((80, 24));
    scene.types("!seq 300");
    scene.key(KeyCode::Enter);
    let output: String = (1..=300).map(|line| format!("{line}\n")).collect();
    scene.news(News::Printed(output));
    scene.news(News::ShellEnded(Ok(Some(0))));
    scene.picture();
    scene.types("now what");
    let sent = scene.key(KeyCode::Enter);
    let Some(Effect::Send(Command::UserMessage { content, .. })) = sent.last() else { panic!("{sent:?}") };
    assert!(content.contains("$ seq 300") && content.contains("\n300"));
    let before = scene.picture().lines().count();
    scene.said(content);
    let picture = scene.picture();
    assert!(picture.contains("▎  now what\n▎  + what 1 command of yours printed"), "{picture}");
    assert!(picture.lines().count() < before + 6);
    scene.said(&"a long paste\n".repeat(120));
    assert!(scene.picture().contains("… 108 more lines"));
}

#[test]
fn messages_that_wait_when_the_work_is_stopped_are_not_forgotten() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    let message = Message::user("and the tests");
    scene.happen(EventBody::MessageQueued(MessageQueued { when: Admission::AfterWork, message: message.clone() }));
    let complete = json!({
        "type": "agent_complete", "reason": "cancelled", "final": "", "turns": 1, "duration_ms": 1,
        "usage": Usage::default(), "session_usage": Usage::default(), "waited_ms": 0
    });
    let change = StateChange { from: AgentState::Streaming, to: AgentState::Idle, iteration: 1 };
    scene.happen(EventBody::StateChange(change));
    scene.happen(support::read(complete));
    let picture = scene.picture();
    assert!(picture.contains("⋯ Next   and the tests · goes with your next message"), "{picture}");
    scene.happen(EventBody::Message(message));
    assert!(!scene.picture().contains("⋯ Next   and the tests"));
}

#[test]
fn a_word_to_the_person_does_not_hide_how_the_session_stands() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.app.tell("theme 16");
    let picture = scene.picture();
    assert!(picture.contains(" theme 16 ") && picture.contains(" demo"), "{picture}");
    scene.app.now_ms += 3000;
    assert!(!scene.picture().contains("theme 16"));
}

#[test]
fn at_rest_the_keys_have_what_room_the_status_leaves() {
    for (width, keys) in [(140, "? keys   / commands   @ files   ! shell"), (80, "? keys"), (44, "")] {
        let mut scene = Scene::new((width, 24));
        scene.works();
        let usage = json!({
            "type": "usage", "model": "a/b", "input": 97_000, "output": 1800, "cache_read": 0, "cache_write": 0,
            "reasoning": 0, "cost": 0.45, "context_window": 200_000
        });
        scene.happen(support::read(usage));
        assert!(!scene.picture().contains("? keys"), "the row of the work has keys: {}", scene.picture());
        let rests = StateChange { from: AgentState::Streaming, to: AgentState::Idle, iteration: 1 };
        scene.happen(EventBody::StateChange(rests));
        let picture = scene.picture();
        let status = picture.lines().last().unwrap_or_default();
        assert!(status.contains(" %   $0.45"), "{picture}");
        assert!(status.contains(keys) && status.contains("? keys") != keys.is_empty(), "{width}: {picture}");
    }
}

#[test]
fn a_branch_without_its_folder_does_not_push_off_what_it_costs() {
    for width in 50..=120 {
        let mut scene = Scene::new((width, 24));
        scene.app.transcript.view.standing.cwd = "/home/mia/code/harbor".into();
        scene.app.transcript.view.standing.approval = ApprovalMode::AcceptEdits;
        scene.app.branch = Some("retry-uploads".into());
        scene.works();
        let usage = json!({
            "type": "usage", "model": "a/b", "input": 97_000, "output": 1800, "cache_read": 0, "cache_write": 0,
            "reasoning": 0, "cost": 0.45, "context_window": 200_000
        });
        scene.happen(support::read(usage));
        let picture = scene.picture();
        let status = picture.lines().last().unwrap_or_default();
        assert!(status.contains("accepts edits") && status.contains(" %   $0.45"), "{width}: {picture}");
    }
}

#[test]
fn work_is_not_done_while_agents_work_that_were_there_before_the_window() {
    let ends = || {
        support::read(serde_json::json!({
            "type": "agent_complete", "reason": "natural", "final": "", "turns": 2, "duration_ms": 5,
            "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
        }))
    };
    let child = AgentId::new();
    // It is told of by the tree.
    let mut scene = Scene::new((80, 24));
    let running = support::node(child, scene.root, "coder", "x", "running", 0.0);
    scene.news(News::Answered(Answer::Tree { nodes: vec![running.clone()] }));
    scene.works();
    scene.happen(ends());
    assert!(!scene.picture().contains("Done"), "{}", scene.picture());
    let completed = support::node(child, scene.root, "coder", "x", "completed", 1.0);
    scene.happen_to(child, support::agent_update(&completed));
    scene.works();
    scene.happen(ends());
    assert!(scene.picture().contains("Done"), "{}", scene.picture());
    // It is told of by the log.
    let mut scene = Scene::new((80, 24));
    scene.happened(support::agent_update(&running));
    scene.happened(ends());
    assert!(!scene.picture().contains("Done"), "{}", scene.picture());
}

#[test]
fn the_end_of_work_tells_what_that_work_changed() {
    let ends = |turns: u32| {
        support::read(json!({
            "type": "agent_complete", "reason": "natural", "final": "", "turns": turns, "duration_ms": 5,
            "usage": { "input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0 }
        }))
    };
    let diff = |path: &str| {
        let unified = "@@ -1 +1 @@\n-a\n+b\n";
        Display::Diff {
            files: vec![Diff {
                path: path.into(),
                unified: unified.into(),
                added: 1,
                removed: 1,
                created: false,
                deleted: false,
            }],
        }
    };
    let mut scene = Scene::new((100, 30));
    scene.works();
    scene.ends("1", "edit_file", "Edit a.txt", Ended::well(Some(diff("a.txt"))));
    // Work of one turn has no row of its own, and its files are kept when it is over.
    scene.happen(ends(1));
    scene.happen(support::read(json!({
        "type": "checkpoint", "rev": "b", "parent": "a", "when": "after", "label": "x",
        "changed": [{"path": "b.txt", "kind": "modified"}]
    })));
    assert!(!scene.picture().contains("Done"), "{}", scene.picture());
    scene.works();
    scene.ends("2", "edit_file", "Edit c.txt", Ended::well(Some(diff("c.txt"))));
    scene.happen(ends(2));
    let picture = scene.picture();
    assert!(picture.contains("+1 −1 in 1 file   /diff /undo"), "{picture}");
    // Neither shows or undoes what no checkpoint holds.
    let mut scene = Scene::new((100, 30));
    scene.works();
    scene.ends("1", "write_file", "Write it", Ended::well(Some(diff(".git/hooks/pre-commit"))));
    scene.happen(ends(2));
    let picture = scene.picture();
    assert!(picture.contains("+1 −1 in 1 file") && !picture.contains("/undo"), "{picture}");
}

#[test]
fn an_error_that_was_tried_again_is_told_once() {
    let retry = |attempt: u32, message: &str| {
        let retry = json!({
            "attempt": attempt, "attempts": 3, "model": "a/b", "wait_ms": 1000 * attempt, "code": 4005, "message": message,
            "discards": true
        });
        EventBody::ModelRetry(serde_json::from_value(retry).unwrap())
    };
    let fails = |message: &str| {
        EventBody::Error(ErrorEvent { code: ErrorCode::ToolFailed, message: message.into(), retryable: true })
    };
    let mut scene = Scene::new((100, 24));
    scene.works();
    scene.happen(retry(1, "a/b is overloaded"));
    scene.happen(retry(2, "a/b is overloaded"));
    scene.happen(fails("a/b is overloaded"));
    let picture = scene.picture();
    assert_eq!(picture.matches("a/b is overloaded").count(), 1, "{picture}");
    assert!(picture.contains("✕ Error  a/b is overloaded · tried again after 1 s, 2 s (1005)"), "{picture}");
    // Another trouble is told beside it.
    let mut scene = Scene::new((100, 24));
    scene.works();
    scene.happen(retry(1, "a/b is overloaded"));
    scene.happen(fails("the key was refused"));
    let picture = scene.picture();
    assert!(
        picture.contains("✕ Model  b: the answer broke off · tried again") && picture.contains("✕ Error  the key"),
        "{picture}"
    );
}

fn asked_again(wait_ms: u64) -> EventBody {
    let retry = json!({
        "attempt": 2, "attempts": 4, "model": "far/glm", "wait_ms": wait_ms, "code": 4005,
        "message": "the connection to far broke in the middle of the answer (unexpected EOF)", "discards": true
    });
    EventBody::ModelRetry(serde_json::from_value(retry).unwrap_or_else(|error| panic!("{error}")))
}

fn another_is_asked() -> EventBody {
    let switch = json!({
        "from": "far/glm", "to": "near/chat", "code": 4002, "discards": true,
        "message": "far limits the rate (HTTP 429): too many requests"
    });
    EventBody::ModelSwitch(serde_json::from_value(switch).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn answers_that_break_off_one_after_the_other_are_one_row() {
    let mut scene = Scene::new((100, 24));
    scene.works();
    for wait_ms in [1100, 2000, 4900] {
        scene.streams(&["Half an answer"]);
        scene.picture();
        scene.happen(asked_again(wait_ms));
        scene.picture();
    }
    scene.streams(&["A whole answer"]);
    scene.call("1", "bash", CallStatus::Executing, "Run make");
    let picture = scene.picture();
    let row = "✕ Model  glm: the answer broke off · tried again after 1 s, 2 s, 5 s\n";
    assert!(picture.contains(row) && picture.matches("✕ Model").count() == 1, "{picture}");
}

#[test]
fn a_model_has_taken_over_when_its_answer_begins() {
    let mut scene = Scene::new((100, 24));
    scene.works();
    scene.happen(another_is_asked());
    let picture = scene.picture();
    assert!(picture.contains("Model  chat is asked now · glm: rate limit"), "{picture}");
    scene.streams(&["Here"]);
    let picture = scene.picture();
    assert!(picture.contains("✓ Model  chat takes over · glm: rate limit\n"), "{picture}");
    // One that fails as well takes nothing over.
    let mut scene = Scene::new((100, 24));
    scene.works();
    scene.happen(another_is_asked());
    let message = "none of the 2 models answered".to_owned();
    scene.happen(EventBody::Error(ErrorEvent { code: ErrorCode::RateLimited, message, retryable: true }));
    let picture = scene.picture();
    assert!(picture.contains("✕ Model  glm: rate limit\n") && !picture.contains("takes over"), "{picture}");
}
