//! Lines that pass: written over on a terminal, never broken.

use neco_proto::EventBody;
use neco_proto::event::{Notification, NotificationLevel};
use neco_view::paint::wrap::columns;

use super::drawing::{PLAIN, drawn, ended, plain, runs};
use super::screen::Look;

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
