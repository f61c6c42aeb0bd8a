//! Whatever a conversation holds, it is made shorter without parting a call from its result, and the
//! same comes of it for an agent at work and for a log that is folded.

use neco_model::tokens::Family;
use neco_model::{Entry, History};
use neco_proto::event::{Compaction, CompactionCause, CompactionStrategy, TrimmedOutput};
use neco_proto::{CallId, Message, Part, Role, StandsFor, ToolCall, ToolResult};
use proptest::prelude::*;

use super::outputs::clipped;
use super::*;

const FAMILY: Family = Family::Other;

/// As much as notes have at least.
const NOTES: &str = "## Goal and requirements\n- The build must pass on every machine, and nothing else may change.\n\
    ## State of the work\n- The parser is read and the fault is known; the test that shows it is not written yet.\n";

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
    Message::new(Role::Assistant, parts)
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
    TooLong {
        history,
        tokens: fixed + tokens_of_all(history, FAMILY),
        fixed,
        space,
        family: FAMILY,
        cause,
        standing: None,
    }
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

/// A page of a file as it is shown, with so many lines from the first on.
fn page(first: usize, count: usize, text: &str) -> String {
    let lines: String = (first..first + count).map(|line| format!("{line}\t{text}\n")).collect();
    neco_safety::untrusted::wrap(text, "a file", &lines)
}

fn ids(used_up: &UsedUp<'_>) -> Vec<String> {
    used_up.outputs().into_iter().map(|trimmed| trimmed.call_id.to_string()).collect()
}

/// What shortening really saves, in tokens.
fn saved(history: &History, outputs: &[TrimmedOutput]) -> u64 {
    tokens_of_all(history, FAMILY) - tokens_of_all(&trim_history(history, outputs, &[]), FAMILY)
}

#[test]
fn what_dense_text_saves_is_counted_in_its_tokens() {
    let digits: String = (0..1500).map(|number| format!("{number}\n")).collect();
    for text in [digits, "会话恢复失败时先删除缓存目录再重启。\n".repeat(200), "plain words of a log\n".repeat(500)]
    {
        let mut history = long(8, 100);
        let mut messages = messages(&history);
        messages.splice(1..1, read("dense", r#"{"path":"x"}"#, &text));
        history = messages.into_iter().collect();
        let recent = recent_from(&history, 5).unwrap();
        let (told, real) =
            (used_up(&history, recent).saves(FAMILY), saved(&history, &used_up(&history, recent).outputs()));
        assert!(real > 0 && told.abs_diff(real) < real / 4, "{told} for {real}: {text:.20}");
    }
}

#[test]
fn a_read_that_was_made_again_is_outdated_and_nothing_else_is() {
    let history: History = [
        read("a", r#"{"path":"src/a.rs"}"#, &page(1, 100, "old")).to_vec(),
        read("b", r#"{"path":"src/b.rs","offset":10,"limit":50}"#, &page(10, 50, "part")).to_vec(),
        read("c", r#"{"path":"src/b.rs","offset":3000}"#, &page(3000, 100, "far")).to_vec(),
        vec![assistant("", &[("e", "grep", r#"{"pattern":"x"}"#)]), results(&[("e", "hit")])],
        read("f", r#"{"path":"./src/a.rs"}"#, &page(1, 90, "new")).to_vec(),
        read("g", r#"{"path":"src/b.rs"}"#, &page(1, 500, "whole")).to_vec(),
    ]
    .concat()
    .into_iter()
    .collect();
    assert_eq!(ids(&used_up(&history, 0)), ["a", "b"]);
    let shorter = trim_history(&history, &used_up(&history, 0).outputs(), &[]);
    assert!(ids(&used_up(&shorter, 0)).is_empty(), "what was shortened is not shortened again");
    let (told, real) = (used_up(&history, 0).saves(FAMILY), saved(&history, &used_up(&history, 0).outputs()));
    assert!(real > 200 && told.abs_diff(real) < real / 5, "{told} for {real}");
}

#[test]
fn other_pages_and_lines_that_a_later_reading_did_not_show_are_not_outdated() {
    let text = "word ".repeat(200);
    let pages: History = [
        read("a", r#"{"path":"a.pdf","pages":"1-5"}"#, &text).to_vec(),
        read("b", r#"{"path":"a.pdf","pages":"6-10"}"#, &text).to_vec(),
        read("c", r#"{"pages":"1-5","path":"a.pdf"}"#, &text).to_vec(),
    ]
    .concat()
    .into_iter()
    .collect();
    assert_eq!(ids(&used_up(&pages, 0)), ["a"]);

    // The second reading wants 2000 lines and shows 500 of them: more did not fit.
    let cut: History = [
        read("a", r#"{"path":"a.rs","offset":1000,"limit":400}"#, &page(1000, 400, "x")).to_vec(),
        read("b", r#"{"path":"a.rs"}"#, &page(1, 500, "x")).to_vec(),
        read("c", r#"{"path":"a.rs","offset":9223372036854775807,"limit":9}"#, &page(1, 9, "x")).to_vec(),
    ]
    .concat()
    .into_iter()
    .collect();
    assert_eq!(ids(&used_up(&cut, 0)), Vec::<String>::new());

    // What was shortened itself is no reason to take the older one away.
    let taken_out = "[The output of read_file was taken out to make room; call it again if it is needed.]";
    let twice: History = [
        read("a", r#"{"path":"a"}"#, &page(1, 90, "x")).to_vec(),
        read("b", r#"{"path":"a"}"#, &page(1, 90, "x")).to_vec(),
    ]
    .concat()
    .into_iter()
    .collect();
    assert_eq!(ids(&used_up(&twice, 0)), ["a"]);
    let trimmed = TrimmedOutput { call_id: "b".into(), output: taken_out.to_owned() };
    assert!(ids(&used_up(&trim_history(&twice, &[trimmed], &[]), 0)).is_empty());
}

#[test]
fn an_output_that_is_cut_keeps_its_tags_on_both_sides() {
    let outside = neco_safety::untrusted::wrap("c", "a file", &"a line of the file\n".repeat(300));
    for (head, tail) in [(40, 200), (1200, 800), (10, 26), (5000, 100)] {
        for text in [outside.clone(), format!("{}\n{outside}\n[a note]", "our own words\n".repeat(100))] {
            let short = clipped(&text, head, tail);
            let (opens, closes) = (short.matches("<untrusted-").count(), short.matches("</untrusted-").count());
            assert_eq!(opens, closes, "{head} {tail}\n{short}");
            let mut inside = false;
            for line in short.lines() {
                inside =
                    if line.starts_with("<untrusted-") { true } else { inside && !line.starts_with("</untrusted-") };
                assert!(inside || !line.contains("a line of the file"), "{head} {tail}\n{short}");
                assert!(!inside || !line.contains("taken out"), "{head} {tail}\n{short}");
            }
        }
    }
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
    assert!(ids(&used_up(&history, 0)).is_empty());
}

#[test]
fn long_outputs_keep_beginning_and_end_once_they_are_old() {
    let history = long(8, 20_000);
    let recent = recent_from(&history, 5).unwrap();
    let outputs = used_up(&history, recent).outputs();
    assert_eq!(outputs.len(), 3);
    let first = &outputs[0].output;
    assert!(first.starts_with("line of output 0\n") && first.ends_with("line of output 0\n"), "{first}");
    assert!(
        first.contains("lines (") && first.contains("were taken out to make room") && first.len() < 2500,
        "{first}"
    );
}

#[test]
fn long_arguments_of_old_calls_become_one_line_and_those_of_new_ones_stay() {
    let written = serde_json::json!({"path": "a.rs", "content": "let a = 1;\n".repeat(400)}).to_string();
    let mut said = vec![Message::user("Write it.")];
    for turn in 0..8 {
        let id = format!("w{turn}");
        said.extend([assistant("", &[(&id, "write_file", &written)]), results(&[(&id, "Written.")])]);
    }
    let history: History = said.into_iter().collect();
    let used_up = used_up(&history, recent_from(&history, 5).unwrap());
    let (outputs, arguments) = (used_up.outputs(), used_up.arguments());
    let ids: Vec<String> = arguments.iter().map(|trimmed| trimmed.call_id.to_string()).collect();
    assert_eq!((outputs.len(), ids), (0, vec!["w0".to_owned(), "w1".to_owned(), "w2".to_owned()]));
    let shorter = trim_history(&history, &outputs, &arguments);
    let after = messages(&shorter);
    assert!(paired(&after));
    let call = after[1].tool_calls().next().unwrap();
    assert_eq!(call.name, "write_file");
    assert!(call.arguments.contains("a.rs") && call.arguments.len() < 120, "{}", call.arguments);
    assert_eq!(after[7..], messages(&history)[7..], "the last five turns are as they were");
    assert!(used_up.saves_at_most(FAMILY) >= used_up.saves(FAMILY));
    let (told, real) = (used_up.saves(FAMILY), tokens_of_all(&history, FAMILY) - tokens_of_all(&shorter, FAMILY));
    assert!(real > 1000 && told.abs_diff(real) < real / 4, "{told} for {real}");
    let recent = recent_from(&shorter, 5).unwrap();
    assert!(super::used_up(&shorter, recent).arguments().is_empty(), "once is enough");
}

#[test]
fn a_cut_keeps_the_first_three_turns_and_the_last_five() {
    let (history, space) = (long(20, 2000), space(100_000));
    let too_long = too_long(&history, &space, CompactionCause::Asked);
    let cut = too_long.cut().unwrap();
    assert_eq!((cut.from, cut.removed), (31, 24));
    let too_long = TooLong { standing: Some("Open todos:\n- test"), ..too_long };
    let done = too_long.summed_up(&cut, &format!("{NOTES}- fix the build")).unwrap();
    assert_eq!((done.kept, done.removed), (17, 24));
    assert!(done.after < done.before);
    let after = messages(&compact_history(&history, &done));
    let before = messages(&history);
    assert_eq!((&after[..7], &after[8..]), (&before[..7], &before[31..]), "word for word");
    assert!(is_summary(&after[7]) && after[7].text().contains("- fix the build\n\nOpen todos:\n- test"));
    assert!(after[7].text().contains("Its first turns and the user's last message of it are kept"));
    assert!(paired(&after));
    // Another one later keeps the same first turns, and none that stood behind a summary.
    let mut longer: History = after.into_iter().collect();
    for message in messages(&long(8, 2000)).into_iter().skip(1) {
        longer.push(message);
    }
    let again = TooLong { history: &longer, ..too_long }.cut().unwrap();
    assert_eq!(again.pinned, before[..7].iter().map(|message| message.id).collect::<Vec<_>>());
}

/// What is told before the conversation takes more than half of a 16k window: notes still fit, if they are short.
#[test]
fn a_small_window_gets_notes_that_fit_it() {
    let (history, space) = (long(6, 3_000), space(16_384));
    let too_long = TooLong { fixed: 8_500, ..too_long(&history, &space, CompactionCause::Full) };
    let cut = too_long.cut().unwrap();
    assert!(!too_long.is_worth_a_summary(&cut), "the next turn would want another one");
    assert!(too_long.has_room_for_notes(&cut));
    let done = too_long.summed_up(&cut, &format!("{NOTES}{}", "- a step that was done\n".repeat(2_000))).unwrap();
    let usable = space.usable().unwrap();
    assert!(done.after <= usable, "{} of {usable}", done.after);
    let full = TooLong { fixed: usable - 300, ..too_long };
    assert!(!full.has_room_for_notes(&full.cut().unwrap()), "nothing of use would fit");
}

#[test]
fn a_summary_that_is_no_gain_is_refused() {
    let (history, space) = (long(8, 100), space(100_000));
    let too_long = too_long(&history, &space, CompactionCause::Full);
    let cut = too_long.cut().unwrap();
    assert!(too_long.summed_up(&cut, "word ".repeat(2000).as_str()).unwrap_err().to_string().contains("not shorter"));
    assert!(too_long.summed_up(&cut, " \n").unwrap_err().to_string().contains("empty"));
}

#[test]
fn what_stays_of_the_older_part_is_counted_and_a_summary_that_can_not_help_is_not_written() {
    let space = space(200_000);
    let history = |task: &str| -> History {
        let mut said = vec![Message::user(task)];
        said.extend(messages(&long(12, 40_000)).into_iter().skip(1));
        said.into_iter().collect()
    };
    let short = history("Fix it.");
    let pasted = history(&"a pasted line of words\n".repeat(13_000));
    let cut_of = |history: &History| {
        let too_long = too_long(history, &space, CompactionCause::Full);
        let cut = too_long.cut().unwrap();
        let worth = too_long.is_worth_a_summary(&cut);
        let after = too_long.summed_up(&cut, NOTES).unwrap().after;
        (cut, worth, after)
    };
    let (cut, worth, after) = cut_of(&short);
    assert!(worth && after < space.compact_at().unwrap(), "{after}");
    let (pinned, worth, after) = cut_of(&pasted);
    assert!(pinned.from > cut.from, "fewer turns stay beside a long task: {} {}", pinned.from, cut.from);
    assert!(worth && after < space.compact_at().unwrap(), "{after} {:?}", space.compact_at());
    let (_, worth, _) = cut_of(&history(&"a pasted line of words\n".repeat(30_000)));
    assert!(!worth, "what must stay is too long by itself");
}

#[test]
fn a_resumed_session_counts_as_the_one_that_ran() {
    let (history, assembled) = (long(5, 3000), Assembled::of_tokens(1000));
    let usage = neco_proto::Usage { input: 1234, ..neco_proto::Usage::default() };
    let mut running = Meter::default();
    running.measure(&assembled, &history, FAMILY);
    running.asked();
    running.corrected_by(&usage);
    let mut longer = history.clone();
    longer.push(assistant("Done.", &[]));
    let live = running.measure(&assembled, &longer, FAMILY);
    let counted = Counted { tokens: 1234, messages: history.len() };
    assert_eq!(Meter::new(Some(counted)).measure(&assembled, &longer, FAMILY), live);
    assert!(Meter::new(None).measure(&assembled, &longer, FAMILY) > live, "estimates err on the safe side");
}

#[test]
fn a_word_or_two_are_no_notes() {
    let (history, space) = (long(20, 2000), space(100_000));
    let too_long = too_long(&history, &space, CompactionCause::Full);
    let cut = too_long.cut().unwrap();
    assert!(too_long.summed_up(&cut, "step 11").unwrap_err().to_string().contains("no notes but \"step 11\""));
    assert!(too_long.summed_up(&cut, NOTES).is_ok());
}

#[test]
fn nothing_but_a_summary_is_not_summed_up_again() {
    let space = space(100_000);
    let summary = Message {
        stands_for: StandsFor { older_part: true, ..StandsFor::default() },
        ..summary_message("notes", false, None)
    };
    let mut history: History = [Message::user("Task"), summary].into_iter().collect();
    for message in messages(&long(5, 50)).into_iter().skip(1) {
        history.push(message);
    }
    assert_eq!(too_long(&history, &space, CompactionCause::Full).cut(), None);
}

#[test]
fn whoever_asks_gets_it_shorter_also_when_all_of_it_is_recent() {
    let space = space(100_000);
    for turns in 2..=5 {
        let history = long(turns, 20_000);
        assert_eq!(too_long(&history, &space, CompactionCause::Full).cut(), None, "{turns} turns");
        let too_long = too_long(&history, &space, CompactionCause::Asked);
        let cut = too_long.cut().unwrap();
        let done = too_long.summed_up(&cut, NOTES).unwrap();
        assert!(done.after < done.before * 7 / 10, "{turns} turns: {} of {}", done.after, done.before);
        assert!(paired(&messages(&compact_history(&history, &done))));
    }
    assert_eq!(too_long(&long(1, 20_000), &space, CompactionCause::Asked).cut(), None, "one turn is the last one");
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
    let done = too_long(&history, &space, CompactionCause::Full).windowed().unwrap();
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
        (1usize..4, 0usize..6000, any::<bool>(), 0usize..3000).prop_map(|(count, bytes, reads, asked)| {
            let ids: Vec<String> = (0..count).map(|_| CallId::generate().to_string()).collect();
            let name = if reads { "read_file" } else { "bash" };
            let arguments = format!(r#"{{"path":"a","note":"{}"}}"#, "x".repeat(asked));
            let calls: Vec<(&str, &str, &str)> = ids.iter().map(|id| (id.as_str(), name, arguments.as_str())).collect();
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
        let summed_up = too_long.cut().and_then(|cut| too_long.summed_up(&cut, NOTES).ok());
        let ways: Vec<Compaction> =
            [summed_up, too_long.without_outputs(), too_long.windowed()].into_iter().flatten().collect();
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
        let used_up = used_up(&history, recent_from(&history, 5).unwrap_or(0));
        let (outputs, arguments) = (used_up.outputs(), used_up.arguments());
        let trimmed = messages(&trim_history(&history, &outputs, &arguments));
        prop_assert!(paired(&trimmed));
        let mut folded = said;
        trim_messages(&mut folded, &outputs, &arguments);
        prop_assert_eq!(folded, trimmed);
    }
}
