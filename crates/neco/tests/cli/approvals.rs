//! A person at a terminal is asked, and what they press counts.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use serde_json::json;

use crate::support::{House, call, eventually, lives, say};

/// The binary on a terminal of its own.
pub struct Seat {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    _terminal: Box<dyn portable_pty::MasterPty + Send>,
}

impl Seat {
    pub fn take(house: &House, line: &[&str], editor: &str) -> Self {
        let pair = native_pty_system().openpty(PtySize { rows: 40, cols: 100, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_neco"));
        command.env_clear();
        for (name, value) in house.variables() {
            command.env(name, value);
        }
        command.env("TERM", "xterm");
        command.env("NO_COLOR", "1");
        command.env("EDITOR", editor);
        command.env("PAGER", "sed 's/^ */paged /'");
        command.args(line);
        command.cwd(house.project());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let mut output = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(length) = output.read(&mut bytes) {
                if length == 0 {
                    return;
                }
                shared.lock().unwrap().extend_from_slice(&bytes[..length]);
            }
        });
        Self { child, keys: pair.master.take_writer().unwrap(), screen, reader, _terminal: pair.master }
    }

    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Waits until the screen has shown `words` so many times.
    #[track_caller]
    pub fn sees(&self, words: &str, times: usize) {
        let begun = std::time::Instant::now();
        while self.shown().matches(words).count() < times {
            assert!(begun.elapsed().as_secs() < 30, "{words:?} never came {times} times:\n{}", self.shown());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits for its end, and until all that it printed is on the screen.
    #[track_caller]
    pub fn ends_with(&mut self, code: u32) {
        let status = self.child.wait().unwrap();
        eventually("the terminal is read to its end", || self.reader.is_finished());
        assert_eq!(status.exit_code(), code, "{}", self.shown());
    }
}

fn asking(second: serde_json::Value) -> House {
    House::playing(json!([call("bash", json!({ "command": "echo one >> log" })), second, say("Finished.")]))
}

fn log(house: &House) -> String {
    std::fs::read_to_string(house.project().join("log")).unwrap_or_default()
}

#[test]
fn yes_is_for_once_and_session_is_for_the_same_again() {
    let again = json!({ "calls": [{ "name": "bash", "arguments": { "command": "echo one >> log" } }], "repeat": 2 });
    let house = asking(again);
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    assert!(seat.shown().contains("$ echo one >> log") && !seat.shown().contains("risk]"));
    seat.press("x");
    seat.sees("x is not an answer; press 1–5, y, s, a, e, n, or ?", 1);
    seat.sees("  › ", 2);
    seat.press("?");
    seat.sees("do not ask again for the same", 1);
    seat.sees("  › ", 3);
    seat.press("y");
    seat.sees("  › ", 4);
    seat.press("s");
    seat.sees("Enter confirms the rule", 1);
    seat.sees("  › ", 6);
    assert_eq!(log(&house), "one\n", "a rule waits for Enter");
    seat.press("\r");
    seat.sees("Finished.", 1);
    seat.ends_with(0);
    assert_eq!(log(&house), "one\none\none\n");
    assert_eq!(seat.shown().matches("  › ").count(), 6);
}

#[test]
fn no_asks_for_a_reason_that_the_model_gets() {
    let house = asking(json!({ "say": "As you wish.", "expect": { "last_tool_contains": "use two instead" } }));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    seat.press("n");
    seat.sees("what should the agent do instead?", 1);
    seat.press("use two instead\r");
    seat.ends_with(3);
    assert!(seat.shown().contains("rejected: use two instead"), "{}", seat.shown());
    assert_eq!(log(&house), "");
}

#[test]
fn words_where_a_key_is_asked_for_allow_nothing() {
    let house = asking(json!({ "say": "As you wish." }));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    seat.press("also fix the docs\r");
    seat.sees("That is not an answer", 1);
    seat.sees("  › ", 2);
    seat.press("n");
    seat.sees("what should the agent do instead?", 1);
    seat.press("\r");
    seat.ends_with(3);
    assert_eq!(log(&house), "");
}

#[test]
fn a_call_can_be_changed_and_is_asked_about_once_more() {
    let house =
        asking(json!({ "say": "I see.", "expect": { "last_tool_contains": "the user changed the arguments" } }));
    let mut seat = Seat::take(&house, &["-m", "go"], "sed -i s/one/two/");
    seat.sees("  › ", 1);
    seat.press("e");
    seat.sees("as you changed it:", 1);
    seat.sees("$ echo two >> log", 1);
    seat.sees("  › ", 2);
    assert_eq!(log(&house), "", "nothing runs before the second look");
    seat.press("y");
    seat.ends_with(0);
    assert_eq!(log(&house), "two\n");
}

#[test]
fn what_was_changed_can_still_be_rejected() {
    let house = asking(say("ok"));
    let mut seat = Seat::take(&house, &["-m", "go"], "sed -i s/one/two/");
    seat.sees("  › ", 1);
    seat.press("e");
    seat.sees("  › ", 2);
    seat.press("n");
    seat.sees("what should the agent do instead?", 1);
    seat.press("\r");
    seat.ends_with(3);
    assert_eq!(log(&house), "");
}

#[test]
fn an_emptied_file_runs_nothing_and_shows_the_keys_again() {
    let house = asking(say("ok"));
    let mut seat = Seat::take(&house, &["-m", "go"], "truncate -s 0");
    seat.sees("  › ", 1);
    seat.press("e");
    seat.sees("there is nothing to run; n rejects the call", 1);
    seat.sees("1 y Yes", 2);
    seat.press("\u{4}");
    seat.sees("rejected (end of input)", 1);
    seat.ends_with(3);
}

#[test]
fn a_long_change_is_shown_whole_by_the_pager() {
    let content: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let house = House::playing(json!([call("write_file", json!({ "path": "a", "content": content })), say("ok")]));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("d show all", 1);
    assert!(!seat.shown().contains("+line 150"), "{}", seat.shown());
    seat.press("d");
    seat.sees("paged +line 150", 1);
    seat.sees("  › ", 2);
    seat.press("y");
    seat.ends_with(0);
}

#[test]
fn what_would_steer_a_terminal_is_shown_before_it_is_allowed() {
    let hidden = "true \u{1b}]; touch owned; \u{7}";
    let house = House::playing(json!([call("bash", json!({ "command": hidden, "timeout": 7 })), say("ok")]));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    let shown = seat.shown();
    assert!(shown.contains("$ true \\x1b]; touch owned; \\x07") && shown.contains("timeout: 7"), "{shown}");
    seat.press("n");
    seat.sees("instead?", 1);
    seat.press("\r");
    seat.ends_with(3);
}

#[test]
fn waiting_shows_how_long() {
    let house = House::playing(json!([call("bash", json!({ "command": "sleep 3.0911" })), say("ok")]));
    let mut seat = Seat::take(&house, &["-m", "go", "--yes"], "false");
    seat.sees("· Run sleep 3.0911 · 2 s", 1);
    seat.ends_with(0);
}

#[test]
fn an_editor_that_fails_changes_nothing_and_asks_again() {
    let house = asking(say("ok"));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    seat.press("e");
    seat.sees("nothing was changed", 1);
    seat.press("y");
    seat.ends_with(0);
    assert_eq!(log(&house), "one\n");
}

#[test]
fn the_end_of_input_is_a_no() {
    let house = asking(say("ok"));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    seat.press("\u{4}");
    seat.ends_with(3);
    assert_eq!(log(&house), "");
}

#[test]
fn what_is_typed_before_the_question_does_not_answer_it() {
    let house = House::playing(json!([
        { "delay_ms": 1500, "calls": [{ "name": "bash", "arguments": { "command": "echo one >> log" } }] },
        say("ok"),
    ]));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("… play/a", 1);
    seat.press("yyy");
    seat.sees("  › ", 1);
    // The answer that counts is the one after the question.
    seat.press("\u{4}");
    seat.ends_with(3);
    assert_eq!(log(&house), "");
}

#[test]
fn ctrl_c_works_while_it_asks() {
    let house = asking(say("never"));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    seat.press("\u{3}");
    seat.ends_with(130);
    assert!(seat.shown().contains("cancelled"), "{}", seat.shown());
    assert_eq!(log(&house), "");
}

#[test]
fn ctrl_c_once_ends_a_command_and_the_run() {
    let house = House::playing(json!([call("bash", json!({ "command": "echo begun; sleep 30.0719" })), say("never")]));
    let mut seat = Seat::take(&house, &["-m", "go", "--yes"], "false");
    seat.sees("│ begun", 1);
    eventually("the command runs", || lives("30.0719"));
    seat.press("\u{3}");
    seat.ends_with(130);
    assert!(!lives("30.0719"), "the command outlived the run");
}

#[test]
fn ctrl_c_twice_quits_at_once() {
    let stubborn = "trap '' INT TERM; echo begun; while :; do sleep 30.0837; done";
    let house =
        House::playing(json!([{ "fault": { "stall_after": 0 } }, call("bash", json!({ "command": stubborn }))]));
    let mut seat = Seat::take(&house, &["-m", "go", "--yes"], "false");
    seat.sees("… play/a", 1);
    seat.press("\u{3}\u{3}");
    seat.ends_with(130);
}

#[test]
fn a_new_file_is_shown_before_it_is_written() {
    let house =
        House::playing(json!([call("write_file", json!({ "path": "a.txt", "content": "hello\n" })), say("ok"),]));
    let mut seat = Seat::take(&house, &["-m", "go"], "false");
    seat.sees("  › ", 1);
    let shown = seat.shown();
    assert!(shown.contains("a.txt (+1 −0, new file)") && shown.contains("+hello"), "{shown}");
    assert!(!house.project().join("a.txt").exists());
    seat.press("y");
    seat.ends_with(0);
    assert!(house.project().join("a.txt").exists());
}
