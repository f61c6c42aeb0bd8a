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
        pane.resize(width, height).shows("›");
    }
    pane.say("more").shows("The second answer.");
    let text = pane.everything();
    for word in [&words[0], &words[200], &words[399]] {
        assert!(text.contains(word.as_str()), "{word}\n{text}");
    }
    assert_eq!(text.matches("The second answer.").count(), 1, "{text}");
}
