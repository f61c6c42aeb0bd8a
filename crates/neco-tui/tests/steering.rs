//! Nothing that a model, a file or a paste says steers the terminal: the bytes of a frame hold no sequences but ours.

#![allow(clippy::unwrap_used, reason = "what a test does not expect fails it")]

mod support;

use neco_proto::event::*;
use neco_proto::*;
use neco_tui::host::{CommandOutcome, ModelEntry};
use neco_tui::term::{Depth, Screen};
use neco_tui::update::News;
use neco_view::slash::Custom;
use proptest::prelude::*;
use serde_json::json;
use support::{Ended, Scene, edit_request};

/// Puts a text into the clipboard.
const EVIL: &str = "\x1b]52;c;ZXZpbA==\x07";

/// The bytes of the next frame, with colours.
fn bytes(scene: &mut Scene) -> String {
    let mut screen = Screen::new(Vec::new(), Depth::True);
    screen.draw(scene.app.frame(scene.size.0, scene.size.1)).unwrap();
    String::from_utf8(std::mem::take(screen.out())).unwrap()
}

/// What is in there besides text: moves, colours and erasing, and the modes of a frame.
#[track_caller]
fn is_ours(bytes: &str) {
    let mut rest = bytes.chars().peekable();
    while let Some(char) = rest.next() {
        let bad = |what: &str| panic!("{what} in {bytes:?}");
        match char {
            '\x1b' if rest.next_if(|next| matches!(next, '7' | '8')).is_some() => {}
            '\x1b' => {
                if rest.next() != Some('[') {
                    bad("a sequence that is not ours");
                }
                while rest.next_if(|next| matches!(next, '0'..='9' | ';' | '?')).is_some() {}
                if !rest.next().is_some_and(|last| "ABDGHJKLMhlm".contains(last)) {
                    bad("a sequence that is not ours");
                }
            }
            '\r' | '\n' => {}
            char if char.is_control() => bad("a control character"),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => bad("text that runs backwards"),
            _ => {}
        }
    }
}

#[test]
fn entities_of_an_answer_are_no_sequences() {
    let mut scene = Scene::new((80, 24));
    scene.works();
    scene.streams(&["see &#27;]52;c;ZXZpbA==&#7; x [a](h&#27;&#x9b;2Jx) `&#27;` &#8238;txt.exe\n\n", "> &#27;[2J\n"]);
    let shown = bytes(&mut scene);
    is_ours(&shown);
    assert!(shown.contains("see ]52;c;ZXZpbA== x"), "{shown:?}");
    scene.news(News::Outside(Ok(CommandOutcome::Show("a &#27;]0;b&#7;\n".into()))));
    is_ours(&bytes(&mut scene));
    scene.questions(json!({"about": "plan", "plan": "go &#27;]52;c;eA==&#7; on"}));
    is_ours(&bytes(&mut scene));
}

#[test]
fn names_of_a_folder_are_no_sequences() {
    let mut scene = Scene::new((80, 24));
    scene.types("@");
    scene.news(News::Files(vec![format!("src/{EVIL}.rs"), "a\u{9b}2J\u{202e}.rs".into()]));
    is_ours(&bytes(&mut scene));
    scene.control('u');
    let custom = Custom {
        name: format!("x{EVIL}"),
        argument: EVIL.into(),
        help: format!("\t{EVIL}"),
        is_skill: true,
        also: None,
    };
    scene.news(News::Commands(vec![custom], None));
    scene.types("/");
    is_ours(&bytes(&mut scene));
    scene.control('u');
    scene.news(News::Models(Ok(vec![ModelEntry { name: EVIL.into(), about: EVIL.into(), ..ModelEntry::default() }])));
    is_ours(&bytes(&mut scene));
}

#[test]
fn a_paste_is_no_sequence() {
    let mut scene = Scene::new((80, 24));
    scene.app.paste(&format!("a{EVIL}\t\u{1b}[2J\u{202e}b"));
    let shown = bytes(&mut scene);
    is_ours(&shown);
    scene.news(News::Prompt(Ok(Some(format!("from the editor {EVIL}")))));
    is_ours(&bytes(&mut scene));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nothing_steers(
        chars in proptest::collection::vec(any::<char>(), 0..40),
        entities in proptest::collection::vec(0u32..0x300, 0..10),
        kind in 0usize..7,
        width in 10u16..90,
    ) {
        let entities: String = entities.iter().map(|code| format!("&#{code};")).collect();
        let text = format!("{}{entities}", chars.iter().collect::<String>());
        let mut scene = Scene::new((width, 24));
        scene.works();
        match kind {
            0 => scene.streams(&[&text]),
            1 => drop(scene.happen(EventBody::ReasoningChunk(StreamChunk { text }))),
            2 => scene.said(&text),
            3 => {
                let display = Display::Text { text: text.clone() };
                scene.ends("1", "bash", &text, Ended::well(Some(display)));
            }
            4 => drop(scene.app.paste(&text)),
            5 => {
                let mut request = edit_request("1");
                request["summary"] = json!(text);
                request["args"] = json!({ "command": text });
                request["diff"] = json!([]);
                request["reason"] = json!(text);
                drop(scene.asks(request));
            }
            _ => drop(scene.news(News::Outside(Ok(CommandOutcome::Print(text))))),
        }
        is_ours(&bytes(&mut scene));
    }

    /// A row is as wide on a terminal as it was counted: tabs and whatever has no width included.
    #[test]
    fn rows_are_as_wide_as_counted(text in "[a\t漢é👍\u{7}\u{301} ]{0,60}", kind in 0usize..4) {
        let mut scene = Scene::new((40, 12));
        scene.works();
        match kind {
            0 => scene.streams(&[&text]),
            1 => drop(scene.happen(EventBody::ReasoningChunk(StreamChunk { text }))),
            2 => drop(scene.app.paste(&text)),
            _ => scene.app.transcript.say(neco_view::wording::Tone::Warning, text),
        }
        let frame = scene.app.frame(40, 12);
        let rows = frame.finished.len() + frame.live.len();
        for row in frame.finished.iter().chain(&frame.live) {
            prop_assert!(!row.to_string().contains('\t'), "{row}");
        }
        let mut screen = Screen::new(Vec::new(), Depth::None);
        let mut parser = vt100::Parser::new(40, 40, 0);
        screen.draw(neco_tui::term::screen::Frame { cursor: None, ..frame }).unwrap();
        parser.process(screen.out());
        prop_assert_eq!(usize::from(parser.screen().cursor_position().0) + 1, rows);
    }
}
