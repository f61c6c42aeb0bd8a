//! Loop detection: the same call with the same result, a cycle of calls, calls that are hardly another, a text that
//! repeats itself.
//! The first time it warns; when it goes on like that, the agent is stopped.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use neco_safety::SideEffect;
use neco_safety::command::{Place, examine};
use serde_json::Value;

use super::guard::{CallSeen, Guard, Hint, Scene, Seen};
use super::likeness::Like;

/// How often the same is too often.
const TIMES: usize = 3;
/// The longest cycle of calls.
const LONGEST: usize = 5;
/// Calls that are looked back on for the same call with the same result, or for calls like it.
const BACK: usize = 10;
/// How many of them may be alike.
const MOST_ALIKE: usize = 5;

#[derive(Default)]
pub(super) struct Loops {
    /// The last calls, oldest first.
    calls: VecDeque<u64>,
    /// What they were and gave, as far as that is compared.
    likes: VecDeque<Like>,
    /// Where in them something new was last written: what is asked again after that is asked anew.
    since_new: usize,
    sayings: VecDeque<String>,
    /// What was warned of: the call, if it was one, and how often it was made by then.
    warned: Option<(Option<u64>, usize)>,
}

struct Repeats {
    /// The call, if it is the same one again and again.
    call: Option<u64>,
    times: usize,
    /// In words to the model.
    told: String,
    /// In words about the model, with how often it was in all.
    said: Box<dyn Fn(usize) -> String>,
    advice: &'static str,
}

const OTHERWISE: &str = "Change something: other arguments, another tool, another idea; or say what is in your way.";
const ONCE: &str = "Say it once, in few words; if that is what the user asked for, write it to a file instead.";

impl Guard for Loops {
    fn watch(&mut self, seen: &Seen<'_>, _: &Scene) -> Option<Hint> {
        let repeats = match seen {
            Seen::Request(_) => {
                *self = Self::default();
                return None;
            }
            Seen::Call(call) => self.call(call),
            Seen::Words(text) => self.words(text),
            Seen::End(_) => return None,
        }?;
        // What is said about it begins to count anew, so that a warning has its time to work.
        self.calls.clear();
        self.likes.clear();
        self.sayings.clear();
        self.since_new = 0;
        let Repeats { call, times, told, said, advice } = repeats;
        if let Some((before, earlier)) = self.warned.replace((call, times)) {
            let earlier = if call.is_some() && call == before { earlier } else { 0 };
            return Some(Hint::Stop(said(times + earlier)));
        }
        Some(Hint::Warn {
            text: format!(
                "You repeat yourself: {told}. Nothing new comes of it. {advice} If it goes on, the work is stopped."
            ),
            notice: "The agent repeats itself, and was told so",
        })
    }
}

impl Loops {
    fn call(&mut self, call: &CallSeen<'_>) -> Option<Repeats> {
        let this = hash(&(call.tool, &call.arguments, call.output));
        let like = Like::of(call);
        let is_new = !self.calls.contains(&this);
        let writes_something_new = call.error.is_none() && is_new && writes(call);
        // Whoever gets on may say the same at every step; failing once more at another time of day is no step.
        if writes_something_new || is_new && !self.likes.iter().any(|other| other.is_like(&like)) {
            self.sayings.clear();
        }
        if writes_something_new {
            self.since_new = self.calls.len();
        }
        self.calls.push_back(this);
        self.likes.push_back(like);
        if self.calls.len() > LONGEST * TIMES {
            self.calls.pop_front();
            self.likes.pop_front();
            self.since_new = self.since_new.saturating_sub(1);
        }
        let calls = self.calls.make_contiguous();
        let recent = calls.get(self.since_new.max(calls.len().saturating_sub(BACK))..).unwrap_or_default();
        let same = recent.iter().filter(|other| **other == this).count();
        let name =
            if call.target.is_empty() { call.tool.to_owned() } else { format!("{} on {:?}", call.tool, call.target) };
        if same >= TIMES {
            let told = format!("{name} gave the same result {same} times");
            let said = Box::new(move |times| format!("{name} gave the same result {times} times"));
            return Some(Repeats { call: Some(this), times: same, told, said, advice: OTHERWISE });
        }
        let Some(length) = cycle(calls, LONGEST, TIMES) else { return self.alike(&name) };
        let words = format!("the same {length} calls in a row, {TIMES} times, the last of them {name}");
        Some(Repeats::plain(words.clone(), words, OTHERWISE))
    }

    /// Whether too many of the last calls are hardly another than the last one, and gave hardly another result.
    fn alike(&self, name: &str) -> Option<Repeats> {
        let last = self.likes.back()?;
        let recent = self.likes.iter().skip(self.since_new.max(self.likes.len().saturating_sub(BACK)));
        let alike = recent.filter(|like| like.is_like(last)).count();
        let words = format!("{alike} calls that differ little and get no further, the last of them {name}");
        (alike > MOST_ALIKE).then(|| Repeats::plain(words.clone(), words, OTHERWISE))
    }

    fn words(&mut self, text: &str) -> Option<Repeats> {
        if let Some(piece) = repeated_piece(text) {
            let piece: String = piece.chars().take(60).collect();
            let (told, said) =
                (format!("your text says {piece:?} over and over"), format!("its text says {piece:?} over and over"));
            return Some(Repeats::plain(told, said, ONCE));
        }
        self.sayings.push_back(saying(text)?);
        if self.sayings.len() > TIMES {
            self.sayings.pop_front();
        }
        let first = self.sayings.front()?;
        let same = self.sayings.len() == TIMES && self.sayings.iter().all(|other| other == first);
        same.then(|| {
            let (told, said) = (
                format!("you said the same {TIMES} times in a row"),
                format!("it said the same {TIMES} times in a row"),
            );
            Repeats::plain(told, said, OTHERWISE)
        })
    }
}

impl Repeats {
    fn plain(told: String, said: String, advice: &'static str) -> Self {
        Self { call: None, times: 0, told, said: Box::new(move |_| said.clone()), advice }
    }
}

/// Whether a call changed files, as a tool that does or as a command of which its line tells it.
fn writes(call: &CallSeen<'_>) -> bool {
    match call.touch {
        SideEffect::Writes => true,
        SideEffect::Runs => {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_default();
            let line = arguments.get("command").and_then(Value::as_str);
            line.is_some_and(|line| examine(line, &Place::new("/")).changes_files())
        }
        SideEffect::Reads | SideEffect::Network => false,
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The shortest text that counts as saying the same again.
const SHORTEST: usize = 24;
/// Characters at the end of a text that are looked at.
const END: usize = 6000;
/// Characters that a repeated piece must fill in all.
const FILLED: usize = 300;
/// How often a piece must follow itself.
const PIECES: usize = 4;

/// The length of the shortest cycle of at most `longest` that the end of `items` goes through `times` times.
fn cycle<T: PartialEq>(items: &[T], longest: usize, times: usize) -> Option<usize> {
    (1..=longest).find(|length| {
        let Some(start) = items.len().checked_sub(length * times) else { return false };
        let end = items.get(start..).unwrap_or_default();
        end.iter().zip(end.iter().skip(*length)).all(|(one, next)| one == next)
    })
}

/// The piece that the end of a text repeats over and over, if it does.
fn repeated_piece(text: &str) -> Option<String> {
    let end: Vec<char> = {
        let mut end: Vec<char> = text.trim_end().chars().rev().take(END).collect();
        end.reverse();
        end
    };
    let longest = end.len() / PIECES;
    let length = (1..=longest).find(|length| repeats_at_end(&end, *length))?;
    let piece: String = end.get(end.len().saturating_sub(length)..)?.iter().collect();
    // A ruler, or a table of dashes, is no loop.
    let says_something = piece.chars().any(char::is_alphanumeric);
    says_something.then(|| piece.trim().to_owned()).filter(|piece| !piece.is_empty())
}

fn repeats_at_end(end: &[char], length: usize) -> bool {
    let run =
        end.iter().rev().zip(end.iter().rev().skip(length)).take_while(|(one, before)| one == before).count() + length;
    run >= length * PIECES && run >= FILLED
}

/// What tells one saying from another; nothing for one that is too short to matter.
fn saying(text: &str) -> Option<String> {
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    (plain.chars().count() >= SHORTEST).then_some(plain)
}

#[cfg(test)]
mod tests {
    use neco_proto::Mode;
    use proptest::prelude::*;

    use super::super::guard::Failure;
    use super::*;

    const SCENE: Scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };

    /// Pages of a log, which are much alike.
    const LOG: [&str; 8] = [
        "12:00:01 GET /items/1001 200 12 ms",
        "12:00:02 GET /items/1002 200 12 ms",
        "12:00:03 GET /items/1003 200 12 ms",
        "12:00:04 GET /items/1004 200 12 ms",
        "12:00:05 GET /items/1005 200 12 ms",
        "12:00:06 GET /items/1006 200 12 ms",
        "12:00:07 GET /items/1007 200 12 ms",
        "12:00:08 GET /items/1008 200 12 ms",
    ];
    /// Results that say different things.
    const OUTPUTS: [&str; 3] = ["fn main() {}", "no such file", "{ \"name\": 1, \"version\": 2 }"];

    fn call(tool: &'static str, arguments: &str, touch: SideEffect, output: &'static str) -> Seen<'static> {
        let (arguments, target) = (arguments.to_owned(), String::new());
        Seen::Call(CallSeen { tool, arguments, target, touch, is_first: true, error: None, output })
    }

    /// One letter a call; a capital letter is a write. `w` counts as a warning, `s` as a stop.
    fn heard(calls: &str) -> String {
        let mut guard = Loops::default();
        let word = |char: char| {
            let touch = if char.is_uppercase() { SideEffect::Writes } else { SideEffect::Reads };
            match guard.watch(&call("t", &char.to_string(), touch, "same"), &SCENE) {
                None => '.',
                Some(Hint::Tell(_) | Hint::Warn { .. }) => 'w',
                Some(Hint::Stop(_)) => 's',
                Some(Hint::Hold { .. } | Hint::Note(_)) => 'h',
            }
        };
        calls.chars().map(word).collect()
    }

    #[test]
    fn the_same_again_and_again_warns_and_then_stops() {
        for (calls, expected) in [
            ("aa", ".."),
            ("aaa", "..w"),
            ("aaaaaa", "..w..s"),
            ("abaca", "....w"),
            ("ababab", "....w."),
            ("abcdeabcdeabcde", "..............w"),
            ("abcdefgh", "........"),
            // What was written in between makes it another question, unless that goes round too.
            ("aBaCaD", "......"),
            ("aBCaBCaBC", "........w"),
            ("aBaaCaaDa", "........."),
        ] {
            assert_eq!(heard(calls), expected, "{calls}");
        }
    }

    #[test]
    fn what_a_command_writes_makes_the_same_question_another_one() {
        let mut guard = Loops::default();
        let mut run = |line: &str| {
            let arguments = serde_json::json!({ "command": line }).to_string();
            guard.watch(&call("bash", &arguments, SideEffect::Runs, ""), &SCENE).is_some()
        };
        let edits = ["sed -i s/a/b/ x.py", "cat > x.py <<'EOF'\npass\nEOF", "cp x.py.orig x.py", "echo 1 >> x.py"];
        for edit in edits {
            assert!(!run("python -m pytest -q") && !run(edit), "{edit}");
        }
        assert!(!run("python -m pytest -q") && !run("ls 2>&1") && !run("python -m pytest -q 2>/dev/null"));
        assert!(!run("python -m pytest -q"));
        assert!(run("python -m pytest -q"), "nothing was written between these");
    }

    #[test]
    fn calls_that_differ_little_and_give_little_else_are_a_loop() {
        let mut guard = Loops::default();
        let heard: Vec<bool> = (1..=6)
            .map(|number| {
                let arguments = format!(r#"{{"path":"src/module_{number}.rs"}}"#);
                guard
                    .watch(&call("read_file", &arguments, SideEffect::Reads, "there is no such file"), &SCENE)
                    .is_some()
            })
            .collect();
        assert_eq!(heard, [false, false, false, false, false, true]);
        // Reading on and on in a file gives something else each time.
        let mut guard = Loops::default();
        for (page, output) in LOG.into_iter().enumerate() {
            let arguments = format!(r#"{{"offset":{},"path":"a.rs"}}"#, page * 100 + 9_000);
            assert_eq!(guard.watch(&call("read_file", &arguments, SideEffect::Reads, output), &SCENE), None);
        }
    }

    #[test]
    fn the_person_reads_how_often_it_was_in_all() {
        let mut guard = Loops::default();
        let heard: Vec<Hint> =
            (0..6).filter_map(|_| guard.watch(&call("t", "a", SideEffect::Reads, "x"), &SCENE)).collect();
        assert!(matches!(heard.first(), Some(Hint::Warn { text, .. }) if text.contains("3 times")), "{heard:?}");
        assert_eq!(heard.get(1), Some(&Hint::Stop("t gave the same result 6 times".to_owned())));
    }

    #[test]
    fn another_result_is_another_thing_and_a_new_request_begins_anew() {
        let mut guard = Loops::default();
        for output in ["1", "2", "3", "4", "5", "6"] {
            assert_eq!(guard.watch(&call("process", "{}", SideEffect::Reads, output), &SCENE), None);
        }
        for _ in 0..4 {
            assert_eq!(guard.watch(&call("t", "a", SideEffect::Reads, "x"), &SCENE), None);
            assert_eq!(guard.watch(&call("t", "a", SideEffect::Reads, "x"), &SCENE), None);
            assert_eq!(guard.watch(&Seen::Request("go on"), &SCENE), None);
        }
    }

    #[test]
    fn the_same_words_at_steps_that_give_something_new_are_no_loop() {
        let mut guard = Loops::default();
        for output in ["no module a", "no module b", "no module c", "no module d"] {
            assert_eq!(guard.watch(&Seen::Words("Now let me run the script again:"), &SCENE), None);
            assert_eq!(guard.watch(&call("bash", "{}", SideEffect::Runs, output), &SCENE), None);
        }
    }

    #[test]
    fn the_same_words_at_failures_that_differ_by_the_time_of_day_are_a_loop() {
        let outputs = ["12:00:01 the build failed: no module a", "12:00:09 the build failed: no module a"];
        let heard = |write: bool| {
            let mut guard = Loops::default();
            let mut heard = Vec::new();
            for (step, output) in outputs.into_iter().cycle().take(4).enumerate() {
                heard.push(guard.watch(&Seen::Words("Now let me run the script again:"), &SCENE).is_some());
                if write {
                    let edit = call("edit_file", &format!("{{\"step\":{step}}}"), SideEffect::Writes, "Edited.");
                    heard.push(guard.watch(&edit, &SCENE).is_some());
                }
                let Seen::Call(run) = call("bash", "{}", SideEffect::Runs, output) else { panic!("a call") };
                let failed = CallSeen { error: Some(Failure::Exit(1)), ..run };
                heard.push(guard.watch(&Seen::Call(failed), &SCENE).is_some());
            }
            heard
        };
        assert_eq!(heard(false), [false, false, false, false, false, false, true, false]);
        assert!(!heard(true).contains(&true), "something was written between them");
    }

    #[test]
    fn a_text_that_repeats_itself_warns_and_then_stops() {
        let mut guard = Loops::default();
        let circle = "I will look at the file. ".repeat(40);
        assert!(matches!(guard.watch(&Seen::Words(&circle), &SCENE), Some(Hint::Warn { .. })));
        assert!(matches!(guard.watch(&Seen::Words(&circle), &SCENE), Some(Hint::Stop(_))));
        let mut guard = Loops::default();
        let same = "Now I run the tests once more.";
        let heard: Vec<bool> = (0..3).map(|_| guard.watch(&Seen::Words(same), &SCENE).is_some()).collect();
        assert_eq!(heard, [false, false, true]);
        assert!((0..5).all(|_| Loops::default().watch(&Seen::Words("ok"), &SCENE).is_none()));
    }

    proptest! {
        /// Whatever is done over and over is stopped in the end, and never before a warning.
        #[test]
        fn every_loop_is_warned_of_and_then_stopped(before in "[h-z]{0,12}", cycle in "[a-g]{1,5}") {
            let heard = heard(&format!("{before}{}", cycle.repeat(40)));
            let (warned, stopped) = (heard.find('w'), heard.find('s'));
            prop_assert!(stopped.is_some(), "{heard}");
            prop_assert!(warned < stopped);
        }

        #[test]
        fn new_things_are_never_a_loop(count in 1usize..60) {
            let mut guard = Loops::default();
            for number in 0..count {
                let output: &'static str = OUTPUTS[number % OUTPUTS.len()];
                prop_assert_eq!(guard.watch(&call("t", &number.to_string(), SideEffect::Reads, output), &SCENE), None);
            }
        }
    }

    #[test]
    fn cycles_are_found_at_the_end() {
        for (items, expected) in [
            ("aaa", Some(1)),
            ("aa", None),
            ("xyababab", Some(2)),
            ("abab", None),
            ("abcabcabc", Some(3)),
            ("abcdeabcdeabcde", Some(5)),
            ("abcdefabcdefabcdef", None),
            ("aaab", None),
            ("", None),
        ] {
            let items: Vec<char> = items.chars().collect();
            assert_eq!(cycle(&items, 5, 3), expected, "{items:?}");
        }
    }

    #[test]
    fn a_text_that_runs_in_circles_is_told_from_a_long_one() {
        let circle = format!("Here it is. {}", "I will fix it now. ".repeat(30));
        assert_eq!(repeated_piece(&circle).map(|piece| piece.len()), Some("I will fix it now.".len()));
        let lines: String = (0..200).map(|number| format!("line {number} of the report\n")).collect();
        for harmless in [lines.as_str(), "ha ha ha ha", "-".repeat(500).as_str(), "", "no"] {
            assert_eq!(repeated_piece(harmless), None, "{harmless}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_repeated_often_enough_is_found(piece in "[a-z]{2,9} ", before in "[A-Z ]{0,40}") {
            let text = format!("{before}{}", piece.repeat(FILLED / piece.len() + PIECES));
            prop_assert!(repeated_piece(&text).is_some());
        }

        /// Doing the same over and over is a cycle however it begins; doing new things never is.
        #[test]
        fn a_cycle_is_found_wherever_it_begins(before in prop::collection::vec(10u8..200, 0..20), cycle_of in prop::collection::vec(0u8..9, 1..=5)) {
            let looped: Vec<u8> = before.iter().copied().chain(cycle_of.iter().copied().cycle().take(cycle_of.len() * 3)).collect();
            prop_assert!(cycle(&looped, 5, 3).is_some());
            let new: Vec<usize> = (0..before.len()).collect();
            prop_assert_eq!(cycle(&new, 5, 3), None);
        }
    }
}
