//! Whatever a conversation holds, it is made shorter without parting a call from its result, and the
//! same comes of it for an agent at work and for a log that is folded.

use neco_model::tokens::Family;
use neco_model::{Entry, History};
use neco_proto::event::{Compaction, CompactionCause, CompactionStrategy};
use neco_proto::{CallId, Message, MessageId, Part, Role, ToolCall, ToolResult};
use proptest::prelude::*;

use super::*;

const FAMILY: Family = Family::Other;

pub fn assistant(text: &str, calls: &[(&str, &str, &str)]) -> Message {
    let text = (!text.is_empty()).then(|| Part::Text { text: text.to_owned() });
    let call = |(id, name, arguments): &(&str, &str, &str)| {
        Part::ToolCall(ToolCall {
            id: CallId::from(*id),
            name: (*name).to_owned(),
            arguments: (*arguments).to_owned(),
            opaque: None,
        })
    };
    let parts = text.into_iter().chain(calls.iter().map(call)).collect();
    Message { id: MessageId::new(), role: Role::Assistant, parts, model: None }
}

pub fn results(outputs: &[(&str, &str)]) -> Message {
    let result = |(id, output): &(&str, &str)| ToolResult {
        call_id: CallId::from(*id),
        output: (*output).to_owned(),
        error_code: None,
    };
    Message::tool_results(outputs.iter().map(result).collect())
}

fn read(id: &str, arguments: &str, output: &str) -> [Message; 2] {
    [assistant("", &[(id, "read_file", arguments)]), results(&[(id, output)])]
}

/// A task and so many turns, each with an output of so many bytes.
fn long(turns: usize, bytes: usize) -> History {
    let mut messages = vec![Message::user("Fix the build, please.")];
    for turn in 0..turns {
        let id = format!("c{turn}");
        messages.push(assistant("I look.", &[(&id, "bash", r#"{"command":"make"}"#)]));
        messages.push(results(&[(&id, &format!("line of output {turn}\n").repeat(bytes / 17))]));
    }
    messages.into_iter().collect()
}

fn space(window: u64) -> Space {
    let settings = ContextSettings::from(&neco_config::Config::built_in().context);
    Space::new(settings, Some(window))
}

fn too_long<'a>(history: &'a History, space: &'a Space, cause: CompactionCause) -> TooLong<'a> {
    let fixed = 500;
    TooLong { history, tokens: fixed + tokens_of_all(history, FAMILY), fixed, space, family: FAMILY, cause }
}

fn messages(history: &History) -> Vec<Message> {
    history.iter().map(Entry::message).cloned().collect()
}

/// Every call is followed at once by a message with exactly its results, in its order.
fn paired(messages: &[Message]) -> bool {
    messages.iter().enumerate().all(|(at, message)| {
        let calls: Vec<&CallId> = message.tool_calls().map(|call| &call.id).collect();
        let next: Vec<&CallId> =
            messages.get(at + 1).into_iter().flat_map(|next| &next.parts).filter_map(result).collect();
        let follows = at > 0 && messages[at - 1].tool_calls().next().is_some();
        (calls.is_empty() || calls == next) && (message.role != Role::Tool || follows)
    })
}

fn result(part: &Part) -> Option<&CallId> {
    match part {
        Part::ToolResult(result) => Some(&result.call_id),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
    }
}

#[test]
fn a_read_that_was_made_again_is_outdated_and_nothing_else_is() {
    let history: History = [
        read("a", r#"{"path":"src/a.rs"}"#, &"old\n".repeat(100)).to_vec(),
        read("b", r#"{"path":"src/b.rs","offset":10,"limit":5}"#, &"part\n".repeat(100)).to_vec(),
        read("c", r#"{"path":"src/b.rs","offset":3000}"#, &"far\n".repeat(100)).to_vec(),
        vec![assistant("", &[("e", "grep", r#"{"pattern":"x"}"#)]), results(&[("e", "hit")])],
        read("f", r#"{"path":"./src/a.rs"}"#, &"new\n".repeat(100)).to_vec(),
        read("g", r#"{"path":"src/b.rs"}"#, &"whole\n".repeat(100)).to_vec(),
    ]
    .concat()
    .into_iter()
    .collect();
    let ids = |outputs: Vec<neco_proto::event::TrimmedOutput>| -> Vec<String> {
        outputs.into_iter().map(|trimmed| trimmed.call_id.to_string()).collect()
    };
    assert_eq!(ids(used_up(&history, 0)), ["a", "b"]);
    let shorter = trim_history(&history, &used_up(&history, 0));
    assert!(used_up(&shorter, 0).is_empty(), "what was shortened is not shortened again");
    assert!(saved(&history, &used_up(&history, 0)) > 500);
}

#[test]
fn a_failed_read_makes_nothing_outdated() {
    let mut failed = results(&[("b", "Error 2001: no such file")]);
    if let Some(Part::ToolResult(result)) = failed.parts.first_mut() {
        result.error_code = Some(neco_proto::ErrorCode::FileNotFound);
    }
    let first = read("a", r#"{"path":"a"}"#, &"x\n".repeat(99));
    let history: History =
        first.into_iter().chain([assistant("", &[("b", "read_file", r#"{"path":"a"}"#)]), failed]).collect();
    assert!(used_up(&history, 0).is_empty());
}

#[test]
fn long_outputs_keep_beginning_and_end_once_they_are_old() {
    let history = long(8, 20_000);
    let recent = recent_from(&history, 5).unwrap();
    let outputs = used_up(&history, recent);
    assert_eq!(outputs.len(), 3);
    let first = &outputs[0].output;
    assert!(first.starts_with("line of output 0\n") && first.ends_with("line of output 0\n"), "{first}");
    assert!(
        first.contains("lines (") && first.contains("were taken out to make room") && first.len() < 2500,
        "{first}"
    );
}

#[test]
fn a_cut_keeps_the_task_and_the_last_turns() {
    let (history, space) = (long(20, 2000), space(100_000));
    let too_long = too_long(&history, &space, CompactionCause::Asked);
    let cut = too_long.cut().unwrap();
    assert_eq!((cut.from, cut.removed), (31, 30));
    let done =
        too_long.summed_up(&cut, "## Goal and requirements\n- fix the build", Some("Open todos:\n- test")).unwrap();
    assert_eq!((done.kept, done.removed), (11, 30));
    assert!(done.after < done.before);
    let after = messages(&compact_history(&history, &done));
    assert_eq!(after[0].text(), "Fix the build, please.");
    assert!(is_summary(&after[1]) && after[1].text().contains("- fix the build\n\nOpen todos:\n- test"));
    assert_eq!(after.len(), 12);
    assert!(paired(&after));
}

#[test]
fn a_summary_that_is_no_gain_is_refused() {
    let (history, space) = (long(8, 100), space(100_000));
    let too_long = too_long(&history, &space, CompactionCause::Full);
    let cut = too_long.cut().unwrap();
    assert!(too_long.summed_up(&cut, "word ".repeat(2000).as_str(), None).unwrap_err().contains("not shorter"));
    assert!(too_long.summed_up(&cut, " \n", None).unwrap_err().contains("empty"));
}

#[test]
fn nothing_but_a_summary_is_not_summed_up_again() {
    let space = space(100_000);
    let mut history: History = [Message::user("Task"), summary_message("notes", None)].into_iter().collect();
    for message in messages(&long(5, 50)).into_iter().skip(1) {
        history.push(message);
    }
    assert_eq!(too_long(&history, &space, CompactionCause::Asked).cut(), None);
}

#[test]
fn the_oldest_outputs_go_before_messages_do() {
    let (history, space) = (long(12, 4000), space(16_000));
    let too_long = too_long(&history, &space, CompactionCause::Full);
    let done = too_long.without_outputs().unwrap();
    assert_eq!((done.strategy, done.removed), (CompactionStrategy::Outputs, 0));
    assert!(done.outputs[0].output.contains("The output of bash was taken out"), "{:?}", done.outputs[0]);
    assert!(done.after <= space.compact_at().unwrap());
}

#[test]
fn a_last_turn_that_is_too_long_by_itself_is_shortened_in_its_middle() {
    let (history, space) = (long(1, 60_000), space(8_000));
    let done = too_long(&history, &space, CompactionCause::Full).windowed(None).unwrap();
    let after = messages(&compact_history(&history, &done));
    assert!(done.after <= space.usable().unwrap(), "{}", done.after);
    assert!(paired(&after) && after.len() == 3);
}

#[test]
fn a_transcript_fits_its_room_and_holds_no_calls() {
    let history = long(50, 5000);
    for room in [300, 2_000, 20_000] {
        let text = transcript(&history, history.len(), room, FAMILY);
        assert!(neco_model::tokens::estimate(&text, FAMILY) <= room, "{room}");
        assert!(text.starts_with("User: Fix the build"), "{text}");
    }
}

fn any_history() -> impl Strategy<Value = Vec<Message>> {
    let turn = prop_oneof![
        "[a-z ]{1,40}".prop_map(|text| vec![Message::user(text)]),
        "[a-z ]{1,40}".prop_map(|text| vec![Message::neco(text)]),
        "[a-z ]{1,40}".prop_map(|text| vec![assistant(&text, &[])]),
        (1usize..4, 0usize..6000, any::<bool>()).prop_map(|(count, bytes, reads)| {
            let ids: Vec<String> = (0..count).map(|_| CallId::generate().to_string()).collect();
            let name = if reads { "read_file" } else { "bash" };
            let calls: Vec<(&str, &str, &str)> = ids.iter().map(|id| (id.as_str(), name, r#"{"path":"a"}"#)).collect();
            let text = "ä line\n".repeat(bytes / 8);
            let outputs: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), text.as_str())).collect();
            vec![assistant("", &calls), results(&outputs)]
        }),
    ];
    prop::collection::vec(turn, 0..30).prop_map(|turns| turns.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn however_it_is_made_shorter_it_can_be_sent(
        said in any_history(),
        window in 1_000u64..60_000,
        cause in prop::sample::select(vec![CompactionCause::Full, CompactionCause::TooLong, CompactionCause::Asked]),
    ) {
        let history: History = said.clone().into_iter().collect();
        let space = space(window);
        let too_long = too_long(&history, &space, cause);
        let summed_up = too_long.cut().and_then(|cut| too_long.summed_up(&cut, "notes", None).ok());
        let ways: Vec<Compaction> =
            [summed_up, too_long.without_outputs(), too_long.windowed(None)].into_iter().flatten().collect();
        for done in ways {
            let after = messages(&compact_history(&history, &done));
            prop_assert!(paired(&after), "{:?}", done.strategy);
            prop_assert!(done.after < done.before);
            prop_assert_eq!(done.after, 500 + tokens_of_all(&compact_history(&history, &done), FAMILY));
            let mut folded = said.clone();
            compact_messages(&mut folded, &done);
            prop_assert_eq!(&folded, &after);
            let first = |messages: &[Message]| {
                messages.iter().find(|message| message.role == Role::User && !message.is_neco()).map(|message| message.id)
            };
            prop_assert_eq!(first(&after), first(&said), "the task stays");
        }
        let outputs = used_up(&history, recent_from(&history, 5).unwrap_or(0));
        let trimmed = messages(&trim_history(&history, &outputs));
        prop_assert!(paired(&trimmed));
        let mut folded = said;
        trim_messages(&mut folded, &outputs);
        prop_assert_eq!(folded, trimmed);
    }
}
