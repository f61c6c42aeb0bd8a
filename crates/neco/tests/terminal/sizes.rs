//! Small, usual and big terminals, and changing between them.

use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::support::say;
use crate::tmux::{Pane, house, is_there};

const TEXT: &str = "Some words, 汉字宽度, 👩‍💻 emoji and עברית, that go on for longer than any of these terminals is wide, \
                    so that they have to be folded somewhere, with `code` and **bold**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";

#[test]
fn no_row_is_wider_than_the_terminal() {
    if !is_there() {
        return;
    }
    for (width, height) in [(80, 24), (120, 40), (40, 20)] {
        let house = house(json!([say(TEXT)]));
        let pane = Pane::neco(&house, "", width, height);
        pane.shows("›");
        pane.say("hello").shows("code").shows("›");
        for row in pane.screen().lines() {
            assert!(row.width() <= usize::from(width), "{width}: {row}");
        }
    }
}

#[test]
fn another_size_loses_nothing() {
    if !is_there() {
        return;
    }
    let words: Vec<String> = (0..400).map(|number| format!("word{number}")).collect();
    let house = house(json!([say(&words.join(" ")), say("The second answer.")]));
    let pane = Pane::ready(&house, "");
    pane.say("hello").shows("word399").waits();
    for (width, height) in [(60, 20), (120, 40), (40, 20), (100, 30)] {
        let rule = "─".repeat(usize::from(width));
        pane.resize(width, height).until("the new size", |pane| pane.screen().lines().any(|row| row == rule));
    }
    // The edge is dragged.
    for step in 0..30 {
        pane.resize(100 - step, 30 - step / 4);
    }
    for step in 0..30 {
        pane.resize(71 + step, 23 + step / 4);
    }
    pane.resize(90, 25).until("the last size", |pane| pane.screen().lines().any(|row| row == "─".repeat(90)));
    pane.say("more").shows("The second answer.").waits();
    let text = pane.everything();
    let shown: Vec<&str> = text.split_whitespace().collect();
    for word in &words {
        assert_eq!(shown.iter().filter(|shown| *shown == word).count(), 1, "{word}\n{text}");
    }
    assert_eq!(text.matches("Ask, or say").count(), 1, "{text}");
    assert_eq!(text.matches("The second answer.").count(), 1, "{text}");
}

#[test]
fn a_smaller_terminal_keeps_no_copy_of_the_live_part() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "calls": [{ "name": "bash", "arguments": { "command": "seq 1 60; while ! test -e go; do sleep 0.05; done" } }] },
        say("That is all.")
    ]));
    let pane = Pane::neco(&house, "--yes", 80, 24);
    pane.waits().say("go").shows("60").press("C-o").shows("│        50").press("C-o").hides("│        50");
    for (width, height) in [(80, 20), (76, 20), (80, 18)] {
        let rule = "─".repeat(usize::from(width));
        pane.resize(width, height).until("the new size", |pane| pane.screen().contains(&rule));
    }
    std::fs::write(house.project().join("go"), "").unwrap();
    pane.shows("That is all.").waits();
    let text = pane.everything();
    assert_eq!(text.matches("Ask, or say").count(), 1, "{text}");
    assert_eq!(text.matches("Run    seq").count(), 1, "{text}");
    assert_eq!(text.matches("Esc stop").count(), 0, "{text}");
}

#[test]
fn a_question_leaves_nothing_behind_in_another_size() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "say": "I look first.", "calls": [{ "name": "bash", "arguments": { "command": "echo one; echo two > out.txt" } }] },
        say("That is all.")
    ]));
    let pane = Pane::neco(&house, "", 80, 24);
    pane.waits().say("go").shows("▎◆ Run    a command");
    for (width, height) in [(60, 15), (120, 40), (80, 24), (60, 15), (80, 24), (50, 12), (120, 40)] {
        pane.resize(width, height).until("one question in the new size", |pane| asks_once(pane, width));
    }
    pane.answer("y").shows("That is all.").waits();
    let text = pane.everything();
    assert_eq!(text.matches("I look first.").count(), 1, "{text}");
    assert!(!text.contains("a command") && !text.contains("1  Yes"), "{text}");
}

/// Whether one question about a command is on the screen, drawn for this width.
fn asks_once(pane: &Pane, width: u16) -> bool {
    let screen = pane.screen();
    let heads: Vec<&str> = screen.lines().filter(|row| row.contains("a command")).collect();
    // What is said at the right of the head ends a column before the edge.
    let is_fitting = |row: &&str| row.trim_end().width() == usize::from(width) - 1;
    heads.len() == 1 && heads.iter().all(is_fitting) && screen.matches("1  Yes").count() == 1
}

#[test]
fn a_question_that_has_no_room_any_more_costs_nothing_that_is_finished() {
    if !is_there() {
        return;
    }
    let small = &[(60, 15)][..];
    for sizes in [small, &[(60, 15), (120, 40)][..]] {
        let house = house(json!([
            { "say": "I look first.", "calls": [{ "name": "bash", "arguments": { "command": "echo one; echo two > out.txt" } }] },
            say("That is all.")
        ]));
        let pane = Pane::neco(&house, "", 120, 40);
        pane.waits().say("go").shows("▎◆ Run    a command");
        for (width, height) in sizes.iter().copied() {
            pane.resize(width, height).until("one question in the new size", |pane| asks_once(pane, width));
        }
        pane.answer("y").shows("That is all.").waits();
        let text = pane.everything();
        for finished in ["I look first.", "That is all."] {
            assert_eq!(text.matches(finished).count(), 1, "{finished}: {text}");
        }
        // No program reaches the scrollback: the top of the question stays there while the terminal is small, and is
        // taken off with the rest when a bigger one brings it back.
        let most = usize::from(sizes == small);
        assert!(text.matches("a command").count() <= most && !text.contains("1  Yes"), "{sizes:?}: {text}");
    }
}

#[test]
fn a_narrower_terminal_has_no_blank_rows_that_were_not_there() {
    if !is_there() {
        return;
    }
    let house = house(json!([
        { "say": "I look first.", "calls": [{ "name": "bash", "arguments": { "command": "echo one; echo two > out.txt" } }] },
        say("That is all.")
    ]));
    let pane = Pane::neco(&house, "", 120, 40);
    pane.waits().say("go").shows("▎◆ Run    a command");
    let rule = "─".repeat(70);
    pane.resize(70, 40).until("the new size", |pane| pane.screen().lines().any(|row| row == rule));
    pane.answer("y").shows("That is all.").waits();
    let text = pane.screen();
    let (_, since) = text.split_once("I look first.").unwrap();
    let (between, _) = since.split_once("That is all.").unwrap();
    assert!(!between.contains("\n\n\n"), "never two: {text}");
}

#[test]
fn the_first_key_after_another_size_is_drawn() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("unused")]));
    let pane = Pane::ready(&house, "");
    for (width, key) in [(90, "k"), (100, "l"), (80, "m")] {
        let rule = "─".repeat(usize::from(width));
        pane.resize(width, 30).until("the new size", |pane| {
            let screen = pane.screen();
            let mut rules = screen.lines().filter(|row| row.starts_with('─')).peekable();
            rules.peek().is_some() && rules.all(|row| row == rule)
        });
        pane.write(key).until("the key", |pane| {
            pane.screen().lines().any(|row| row.starts_with("▎›") && row.trim_end().ends_with(key))
        });
    }
}
