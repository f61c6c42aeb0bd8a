//! However it ends, the terminal is as it was.

use std::process::Command;
use std::time::Instant;

use serde_json::json;

use crate::support::{eventually, say};
use crate::tmux::{Pane, house, is_there, one_waits};

fn signal(pane: &Pane, name: &str) {
    let pid = pane.neco_pid().unwrap();
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    if !is_there() {
        return;
    }
    for name in ["-TERM", "-HUP", "-INT", "-QUIT"] {
        let house = house(json!([say("never")]));
        let pane = Pane::ready(&house, "");
        signal(&pane, name);
        pane.is_given_back();
    }
}

#[test]
fn whoever_leaves_at_the_question_of_trust_leaves_at_once() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Still here.")]));
    std::fs::create_dir(house.project().join(".claude")).unwrap();
    let hook = json!({"hooks": {"PreToolUse": [{"matcher": "LS", "hooks": [{"type": "command", "command": "true"}]}]}});
    std::fs::write(house.project().join(".claude/settings.json"), hook.to_string()).unwrap();
    for by_key in [true, false] {
        let pane = Pane::neco(&house, "", 100, 30);
        pane.shows("[y/N]");
        if by_key {
            pane.press("C-c");
        } else {
            signal(&pane, "-INT");
        }
        pane.until("it to end", |pane| pane.neco_pid().is_none());
        pane.write("echo ended with $?").press("Enter").shows("ended with 130").is_given_back();
        assert!(!house.path("home/trusted-folders.json").exists());
    }
    let pane = Pane::neco(&house, "", 100, 30);
    pane.shows("[y/N]").press("Escape").waits().say("hello").shows("Still here.");
    assert!(house.path("home/trusted-folders.json").exists(), "Esc is a no");
}

#[test]
fn a_signal_in_the_middle_of_work_leaves_no_process() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "calls": [{ "name": "bash", "arguments": { "command": "sleep 4712" } }] }]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("sleep").shows("sleep 4712");
    eventually("it runs", || crate::support::lives("4712"));
    signal(&pane, "-TERM");
    pane.is_given_back();
    eventually("it is dead", || !crate::support::lives("4712"));
}

#[test]
fn a_defect_gives_the_terminal_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!("TEST_DEFECT_IN_NECO=1 {}", env!("CARGO_BIN_EXE_neco"))).press("Enter");
    pane.showed("a bug in Neco").is_given_back();
}

#[test]
fn the_end_of_input_and_two_interrupts_leave() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::ready(&house, "");
    pane.press("C-c").shows("again").press("C-c").is_given_back();
    // Nothing was said, so nothing is kept.
    assert_eq!(house.run(&["session", "list", "--json"]).json(), json!([]));
}

#[test]
fn it_goes_on_after_it_was_stopped() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Still here."), say("Here again.")]));
    let pane = Pane::shell(&house, 100, 30);
    // A shell that looks after its jobs.
    pane.write("set -m").press("Enter").write(env!("CARGO_BIN_EXE_neco")).press("Enter");
    pane.waits();
    // Without a word: the shell takes the terminal, and gives it back in its own way.
    signal(&pane, "-STOP");
    pane.showed("Stopped").write("stty sane; echo stop''ped").press("C-j").showed("stopped");
    pane.write("fg").press("Enter").waits();
    pane.say("one").shows("Still here.").waits();
    // By its own key, and by somebody who asks for it: the terminal is the shell's meanwhile.
    pane.press("C-z").hides("Ask, or say").write("echo a''way").press("Enter").showed("away");
    pane.write("fg").press("Enter").waits();
    signal(&pane, "-TSTP");
    pane.hides("Ask, or say").write("echo ag''ain").press("Enter").showed("again");
    pane.write("fg").press("Enter").waits();
    pane.say("two").shows("Here again.").waits();
    pane.press("C-d").is_given_back();
}

/// Opens the agent that waits, which has the alternate screen then.
fn open_agent(pane: &Pane) {
    pane.waits().say("go").showed("It is at it.").shows("1 agent");
    pane.press("C-t").shows("Enter open").press("Enter").shows("I begin to wait.");
    pane.until("the alternate screen", Pane::is_alternate);
}

#[test]
fn a_signal_while_an_agent_is_open_leaves_the_alternate_screen() {
    if !is_there() {
        return;
    }
    let house = one_waits("4731");
    let pane = Pane::ready(&house, "--yes");
    open_agent(&pane);
    signal(&pane, "-TERM");
    pane.is_given_back();
    assert!(pane.everything().contains("It is at it."), "{}", pane.everything());
}

#[test]
fn a_stop_while_an_agent_is_open_leaves_the_alternate_screen_and_comes_back_to_it() {
    if !is_there() {
        return;
    }
    let house = one_waits("4732");
    let pane = Pane::shell(&house, 100, 30);
    pane.write("set -m").press("Enter").write(&format!("{} --yes", env!("CARGO_BIN_EXE_neco"))).press("Enter");
    open_agent(&pane);
    pane.press("C-z").hides("I begin to wait.").write("echo a''way").press("Enter").showed("away");
    assert!(!pane.is_alternate(), "{}", pane.screen());
    pane.write("fg").press("Enter").shows("I begin to wait.").until("the alternate screen", Pane::is_alternate);
    signal(&pane, "-TERM");
    pane.is_given_back();
}

#[test]
fn whoever_started_it_is_stopped_with_it() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!("set -m; sh -c '{}; true'", env!("CARGO_BIN_EXE_neco"))).press("Enter");
    pane.waits().press("C-z").hides("Ask, or say").write("echo a''way").press("Enter").showed("away");
    pane.write("fg").press("Enter").waits();
    pane.press("C-d").hides("Ask, or say");
}

#[test]
fn an_editor_is_waited_for_without_work_and_told_of_the_end() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let (editor, rounds) = (house.project().join("editor.sh"), house.project().join("rounds"));
    let goes_round = format!("while :; do sleep 0.1; echo >> '{}'; done", rounds.display());
    let script = format!("echo saved words > \"$1\"; echo editor-runs; trap 'exit 1' HUP; {goes_round}");
    std::fs::write(&editor, script).unwrap();
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!("EDITOR='sh {}' {}", editor.display(), env!("CARGO_BIN_EXE_neco"))).press("Enter");
    pane.waits().press("C-g").shows("editor-runs");
    let pid = pane.neco_pid().unwrap();
    let worked = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<u64> =
            stat.rsplit(')').next().unwrap().split_whitespace().filter_map(|field| field.parse().ok()).collect();
        // User and system time, the 14th and 15th; the letter of the state is not among the numbers.
        fields[10] + fields[11]
    };
    let (before, begun) = (worked(), Instant::now());
    let has_gone = || std::fs::read_to_string(&rounds).unwrap_or_default().lines().count();
    let seen = has_gone();
    eventually("the editor goes round", || has_gone() > seen + 12);
    // In hundredths of a second, in which one core would have been busy.
    let (took, busy) = (begun.elapsed().as_millis() / 10, u128::from(worked() - before));
    assert!(busy * 3 < took, "{busy} of {took}");
    signal(&pane, "-TERM");
    pane.is_given_back();
    drop(pane);
    let pane = Pane::ready(&house, "");
    pane.press("Up").shows("saved words");
}

#[test]
fn an_editor_that_leaves_the_terminal_broken_breaks_nothing() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("Still here.")]));
    let editor = "f() { stty raw -echo; echo editor-runs; trap : HUP; while :; do sleep 0.1; done; }; f";
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!("EDITOR='{editor}' {}", env!("CARGO_BIN_EXE_neco"))).press("Enter");
    pane.waits().press("C-g").shows("editor-runs");
    // It does not listen when it is told to end.
    signal(&pane, "-TERM");
    pane.is_given_back();
}

#[test]
fn a_second_window_goes_on_with_a_session_whose_process_is_gone() {
    if !is_there() {
        return;
    }
    // Each process plays it from its beginning.
    let house = house(json!([say("An answer.")]));
    let first = Pane::ready(&house, "");
    first.say("one").shows("An answer.");
    let second = Pane::ready(&house, "--continue");
    second.write("a draft").shows("› a draft");
    signal(&first, "-KILL");
    second.showed("this one took over").shows("› a draft");
    second.press("Enter").until("an answer in it", |pane| pane.everything().matches("An answer.").count() == 2);
    second.press("C-d").is_given_back();
}

#[test]
fn a_disk_that_takes_no_more_ends_it_and_is_told_once() {
    if !is_there() {
        return;
    }
    // Nothing that could be packed into less.
    let mut number: u64 = 1;
    let mut long = String::new();
    while long.len() < 600_000 {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        long.push_str(&format!("{number:016x} "));
    }
    let house = house(json!([say("Kept."), say(&long)]));
    let pane = Pane::shell(&house, 100, 30);
    // No file may be larger than 250 kB, which is what a full disk looks like to a store.
    let limited = format!("(trap '' XFSZ; ulimit -f 500; exec {}); echo code=$?", env!("CARGO_BIN_EXE_neco"));
    pane.write(&limited).press("Enter");
    pane.waits();
    pane.say("the first").shows("Kept.").waits();
    pane.say("the second").showed("code=1");
    let everything = pane.everything();
    for words in ["error 6001", "could not write the session store", "Then resume it with  neco resume"] {
        assert_eq!(everything.matches(words).count(), 1, "{words}: {everything}");
    }
    assert!(!everything.contains("the session has ended"), "{everything}");
    house.run(&["session", "show"]).ended_with(0).says("the first").says("Kept.").says("the second");
}
