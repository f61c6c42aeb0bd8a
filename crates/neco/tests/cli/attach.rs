//! Two processes on one session: the second follows and steers the first.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStdout};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::approvals::Seat;
use crate::support::{House, call, eventually, say};

/// A command that runs until the test lets it end.
pub const UNTIL_GO: &str = "touch begun; until [ -e go ]; do sleep 0.02; done";

/// A house whose model runs that command and then plays `turns`.
fn waiting(turns: &[Value]) -> House {
    let first = call("bash", json!({ "command": UNTIL_GO, "timeout": 60 }));
    House::playing(json!([std::slice::from_ref(&first), turns].concat()))
}

pub fn begun(house: &House) {
    eventually("the command runs", || house.project().join("begun").exists());
}

pub fn go(house: &House) {
    std::fs::write(house.project().join("go"), "").unwrap();
}

fn id(house: &House) -> String {
    house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned()
}

/// What a process has said when it ends.
fn end(child: Child) -> (i32, String) {
    let output = child.wait_with_output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), said)
}

#[track_caller]
pub fn ended(child: Child, code: i32) -> String {
    let (got, said) = end(child);
    assert_eq!(got, code, "{said}");
    said
}

/// Reads lines of a process until one has `words`; gives the rest.
#[track_caller]
pub fn until(child: &mut Child, words: &str) -> BufReader<ChildStdout> {
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    read_to(&mut lines, words);
    lines
}

#[track_caller]
fn read_to(lines: &mut impl BufRead, words: &str) {
    let mut line = String::new();
    while !line.contains(words) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "{words:?} never came");
    }
}

fn stop(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_second_neco_follows_and_steers_the_first() {
    let house = waiting(&[json!({ "say": "Turning left.", "expect": { "last_user_contains": "turn left" } })]);
    let owner = house.start(&["-m", "drive", "--yes"]);
    begun(&house);
    let mut guest = house.start(&["-m", "turn left", "--continue", "--mode", "plan", "--output-format", "stream-json"]);
    let rest = until(&mut guest, "\"message_queued\"");
    go(&house);
    let rest: String = rest.lines().map_while(Result::ok).collect();
    assert!(rest.contains("Turning left.") && rest.contains("\"agent_complete\""), "{rest}");
    assert!(ended(guest, 0).contains("Nothing changes here with --mode"));
    let said = ended(owner, 0);
    assert!(said.contains("> turn left (the agent reads it at its next turn)"), "{said}");
    assert!(said.contains("Turning left."), "{said}");
    let shown = house.run(&["session", "show", &id(&house)]).ended_with(0);
    assert_eq!(shown.stdout.matches("> turn left").count(), 1, "{}", shown.stdout);
}

#[test]
fn what_happened_lately_is_shown_and_the_message_is_said_to_wait_for_its_turn() {
    let house = waiting(&[say("Done.")]);
    let owner = house.start(&["-m", "drive far away", "--yes"]);
    begun(&house);
    let mut seat = Seat::take(&house, &["-m", "and back", "--session", &id(&house)], "false");
    seat.sees("i attached to session", 1);
    seat.sees("> drive far away", 1);
    seat.sees("> and back (the agent reads it at its next turn)", 1);
    go(&house);
    seat.sees("Done.", 1);
    seat.ends_with(0);
    ended(owner, 0);
}

#[test]
fn what_is_said_in_the_last_moment_is_done_before_the_first_process_ends() {
    let slow = json!({ "say": "The first answer is this.", "delay_ms": 700, "between_ms": 100 });
    let second = json!({ "say": "The second answer.", "delay_ms": 700, "expect": { "last_user_contains": "more" } });
    let house = House::playing(json!([slow, second]));
    let mut owner = house.start(&["-m", "x", "--output-format", "stream-json"]);
    let rest = until(&mut owner, "\"turn_start\"");
    let guest = house.run(&["-m", "more", "--continue", "--output-format", "json"]).ended_with(0).json();
    assert_eq!(guest["result"], "The second answer.");
    let rest: String = rest.lines().map_while(Result::ok).collect();
    assert_eq!(rest.matches("\"agent_complete\"").count(), 2, "{rest}");
    assert!(ended(owner, 0).contains("another window is still working"));
}

#[test]
fn the_first_process_keeps_its_own_result() {
    let slow = json!({ "say": "The first answer is this.", "delay_ms": 700, "between_ms": 100 });
    let house = House::playing(json!([slow, say("The second answer.")]));
    let owner = house.start(&["-m", "x", "--output-format", "json"]);
    eventually("it is served", || house.path("home/data/sockets").read_dir().is_ok_and(|mut all| all.next().is_some()));
    house.run(&["-m", "more", "--continue"]).ended_with(0).says("The second answer.");
    let (code, said) = end(owner);
    assert!(code == 0 && said.contains("\"result\":\"The first answer is this.\""), "{said}");
}

#[test]
fn an_approval_is_given_at_either_window_and_the_other_one_is_told() {
    let run = |file: &str| call("bash", json!({ "command": format!("touch {file}") }));
    let house = House::playing(json!([run("one"), run("two"), say("Both are there.")]));
    let mut owner = Seat::take(&house, &["-m", "go"], "false");
    owner.sees("  › ", 1);
    let mut guest = Seat::take(&house, &["session", "attach", &id(&house)], "false");
    guest.sees("  › ", 1);
    assert!(guest.shown().contains("$ touch one"), "{}", guest.shown());
    guest.press("y");
    owner.sees("answered in another window: allowed once", 1);
    owner.sees("  › ", 2);
    guest.sees("  › ", 2);
    owner.press("y");
    guest.sees("answered in another window: allowed once", 1);
    owner.sees("Both are there.", 1);
    guest.sees("Both are there.", 1);
    owner.ends_with(0);
    guest.sees("closed the session", 1);
    guest.ends_with(0);
    assert!(house.project().join("one").exists() && house.project().join("two").exists());
}

#[test]
fn ctrl_c_detaches_and_twice_stops_the_work() {
    let house = waiting(&[say("Arrived.")]);
    let owner = house.start(&["-m", "drive", "--yes"]);
    begun(&house);
    let guest = house.start(&["-m", "faster", "--continue"]);
    eventually("it is attached", || house.run(&["session", "show", &id(&house), "--json"]).stdout.contains("faster"));
    stop(&guest, Signal::INT);
    let said = ended(guest, 130);
    assert!(
        said.contains("press Ctrl-C again within two seconds") && said.contains("the work continues in process"),
        "{said}"
    );
    let mut guest = house.start(&["-m", "slower", "--continue"]);
    eventually("it is attached", || house.run(&["session", "show", &id(&house), "--json"]).stdout.contains("slower"));
    stop(&guest, Signal::INT);
    let mut told = BufReader::new(guest.stderr.take().unwrap());
    read_to(&mut told, "press Ctrl-C again");
    stop(&guest, Signal::INT);
    read_to(&mut told, "was told to stop the work");
    ended(guest, 130);
    ended(owner, 130);
}

#[test]
fn kill_9_of_the_first_is_told_and_the_session_goes_on() {
    let house = waiting(&[say("never")]);
    let mut owner = house.start(&["-m", "drive", "--yes"]);
    begun(&house);
    let mut guest = house.start(&["-m", "look", "--continue", "--output-format", "stream-json"]);
    let rest = until(&mut guest, "\"message_queued\"");
    stop(&owner, Signal::KILL);
    owner.wait().unwrap();
    drop(rest);
    let said = ended(guest, 1);
    assert!(said.contains(&format!("process {} is gone", owner.id())), "{said}");
    house.script("script.json", json!([{ "say": "Here again.", "expect": { "last_user_contains": "go on" } }]));
    let again = house.run(&["-m", "go on", "--continue"]).ended_with(0).says("Here again.");
    assert!(!again.stderr.contains("attached to session"));
    let left = house.path("home/data/sockets").read_dir().unwrap().count();
    assert_eq!(left, 0, "the socket of the dead process is still there");
}

#[test]
fn kill_9_of_the_second_harms_nobody() {
    let house = waiting(&[say("Arrived.")]);
    let owner = house.start(&["-m", "drive", "--yes"]);
    begun(&house);
    let mut guest = house.start(&["-m", "look", "--continue", "--output-format", "stream-json"]);
    let _rest = until(&mut guest, "\"message_queued\"");
    stop(&guest, Signal::KILL);
    guest.wait().unwrap();
    go(&house);
    assert!(ended(owner, 0).contains("Arrived."));
}

#[test]
fn three_windows_watch_a_flood_and_one_of_them_does_not_read() {
    // All different: an agent that repeats itself is stopped.
    let words: String = (0..100_000).map(|number| format!("{number:05}word ")).collect();
    let house = waiting(&[json!({ "say": words, "chunk": 1000 })]);
    let owner = house.start(&["-m", "talk", "--yes", "--output-format", "json"]);
    begun(&house);
    let id = id(&house);
    let watch = || house.start(&["session", "attach", &id, "--output-format", "stream-json"]);
    let (mut idle, one, two) = (watch(), watch(), watch());
    eventually("all are attached", || connections(&id) >= 6);
    let begun = Instant::now();
    go(&house);
    let readers = [one, two].map(|window| std::thread::spawn(move || ended(window, 0)));
    let (code, said) = end(owner);
    assert_eq!(code, 0, "{said}");
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "a window that does not read kept the session: {:?}",
        begun.elapsed()
    );
    for reader in readers {
        let said = reader.join().unwrap();
        let chunks: usize = said
            .lines()
            .filter(|line| line.contains("\"stream_chunk\""))
            .map(|line| line.matches("word ").count())
            .sum();
        assert!(chunks == 100_000 && said.contains("\"agent_complete\""), "{chunks} words");
    }
    idle.kill().unwrap();
    idle.wait().unwrap();
}

/// How many connections the socket of a session has; the system knows it by the name it was made with.
fn connections(session: &str) -> usize {
    let all = std::fs::read_to_string("/proc/net/unix").unwrap();
    // Besides the one that listens.
    all.lines().filter(|line| line.contains(session)).count().saturating_sub(1)
}

#[test]
fn where_attaching_is_impossible_the_process_is_named() {
    let house = waiting(&[say("Arrived.")]);
    let owner = house.start(&["-m", "drive", "--yes"]);
    begun(&house);
    let socket = house.path("home/data/sockets").join(format!("{}.sock", id(&house)));
    std::fs::remove_file(&socket).unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let stranger = std::thread::spawn(move || {
        let (mut window, _) = listener.accept().unwrap();
        let _ = window.read(&mut [0; 1024]);
        window.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    });
    let ran = house.run(&["-m", "me too", "--continue", "--output-format", "json"]).ended_with(1);
    stranger.join().unwrap();
    assert_eq!(ran.json()["error"]["code"], 6002, "{}", ran.stdout);
    ran.says(&format!("is in use by process {}, and attaching to it failed", owner.id()));
    go(&house);
    ended(owner, 0);
}

#[test]
fn a_session_that_nobody_has_open_can_not_be_watched() {
    let house = House::playing(json!([say("one")]));
    house.run(&["-m", "x"]).ended_with(0);
    house.run(&["session", "attach", &id(&house)]).ended_with(2).says("is not open in any process");
    house.run(&["session", "attach", "ffffffff"]).ended_with(2).says("no session ffffffff");
}
