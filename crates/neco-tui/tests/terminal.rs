//! A whole window on a terminal, with anything happening to it: nothing panics, the cursor stays on the screen, and
//! what is finished is in the scrollback exactly once.

mod support;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::event::*;
use neco_proto::*;
use neco_tui::term::{Depth, Screen};
use proptest::prelude::*;
use support::{Ended, Scene, edit_request, node};

/// Something that happens.
#[derive(Clone, Debug)]
enum Step {
    Key(KeyCode, KeyModifiers),
    Paste(String),
    Words(String),
    Thought(String),
    Said(String),
    Call(u8),
    Printed(u8, String),
    Ended(u8),
    Asked(u8),
    Question,
    Child(u8),
    Complete,
    Resize(u16, u16),
    Time(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = "[a-zé漢👍\u{200d}\u{7}\t \n`*#|>&27;-]{0,40}";
    let key = prop_oneof![
        any::<char>().prop_map(KeyCode::Char),
        "[ynsaedYN?/@!#1 ]".prop_map(|text| KeyCode::Char(text.chars().next().unwrap_or('y'))),
        Just(KeyCode::Enter),
        Just(KeyCode::Esc),
        Just(KeyCode::Tab),
        Just(KeyCode::BackTab),
        Just(KeyCode::Backspace),
        Just(KeyCode::Up),
        Just(KeyCode::Down),
        Just(KeyCode::Left),
        Just(KeyCode::Home),
    ];
    let held = prop_oneof![
        4 => Just(KeyModifiers::NONE), 1 => Just(KeyModifiers::CONTROL), 1 => Just(KeyModifiers::ALT),
    ];
    let step = prop_oneof![
        6 => (key, held).prop_map(|(code, held)| Step::Key(code, held)),
        1 => text.prop_map(Step::Paste),
        6 => text.prop_map(Step::Words),
        1 => text.prop_map(Step::Thought),
        1 => text.prop_map(Step::Said),
        2 => (0u8..4).prop_map(Step::Call),
        2 => (0u8..4, text).prop_map(|(id, text)| Step::Printed(id, text)),
        2 => (0u8..4).prop_map(Step::Ended),
        1 => (0u8..4).prop_map(Step::Asked),
        1 => Just(Step::Question),
        1 => (0u8..3).prop_map(Step::Child),
        1 => Just(Step::Complete),
        // The terminal of this test breaks when a line is folded on a screen of one row.
        1 => (2u16..60, 2u16..30).prop_map(|(width, height)| Step::Resize(width, height)),
        1 => (0i64..5000).prop_map(Step::Time),
    ];
    proptest::collection::vec(step, 0..60)
}

fn take(scene: &mut Scene, step: Step, child: &[AgentId]) {
    match step {
        Step::Key(code, held) => drop(scene.app.key(KeyEvent::new(code, held))),
        Step::Paste(text) => drop(scene.app.paste(&text)),
        Step::Words(text) => scene.streams(&[&text]),
        Step::Thought(text) => drop(scene.happen(EventBody::ReasoningChunk(StreamChunk { text }))),
        Step::Said(text) => scene.said(&text),
        Step::Call(id) => {
            scene.call(&id.to_string(), "bash", CallStatus::Executing, "Run something long enough to be cut")
        }
        Step::Printed(id, text) => scene.prints(&id.to_string(), &text),
        Step::Ended(id) => {
            let display = Display::Text { text: "what came of it".into() };
            scene.ends(&id.to_string(), "bash", "Run something", Ended::well(Some(display)));
        }
        Step::Asked(id) => drop(scene.asks(edit_request(&id.to_string()))),
        Step::Question => scene.questions(serde_json::json!({"about": "loop", "text": "again and again"})),
        Step::Child(index) => {
            let node = node(child[usize::from(index)], scene.root, "coder", "do it", "running", 0.5);
            scene.happen(support::agent_update(&node));
        }
        Step::Complete => {
            let change = StateChange { from: AgentState::Streaming, to: AgentState::Complete, iteration: 1 };
            scene.happen(EventBody::StateChange(change));
        }
        Step::Time(ms) => scene.app.now_ms += ms,
        Step::Resize(width, height) => scene.size = (width, height),
    }
}

/// Shrinks as terminals do: rows go into the scrollback at the top, never away at the bottom. For another width the
/// terminal begins anew: this one breaks when half of a wide character is cut off.
fn resize(parser: &mut vt100::Parser, width: u16, height: u16) {
    let (rows, columns) = parser.screen().size();
    if columns != width {
        *parser = vt100::Parser::new(height, width, 10_000);
        return;
    }
    let (at, column) = parser.screen().cursor_position();
    let scrolls = (at + 1).saturating_sub(height).min(rows);
    if scrolls > 0 {
        let newlines = "\n".repeat(usize::from(scrolls));
        parser.process(format!("\x1b[{rows};1H{newlines}\x1b[{};{}H", at + 1 - scrolls, column + 1).as_bytes());
    }
    parser.screen_mut().set_size(height, width);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn anything_may_happen(steps in steps()) {
        let mut scene = Scene::new((40, 12));
        let mut screen = Screen::new(Vec::new(), Depth::Many).without_reflow();
        let mut parser = vt100::Parser::new(12, 40, 10_000);
        let child = [AgentId::new(), AgentId::new(), AgentId::new()];
        scene.works();
        for step in steps {
            let before = scene.size;
            take(&mut scene, step, &child);
            let (width, height) = scene.size;
            if before != scene.size {
                resize(&mut parser, width, height);
                screen.resized(width, height);
            }
            let frame = scene.app.frame(width, height);
            for row in &frame.live {
                prop_assert!(row.width() <= usize::from(width), "{} > {width}: {row}", row.width());
            }
            prop_assert!(frame.live.len() <= usize::from(height));
            screen.draw(frame).unwrap();
            parser.process(&std::mem::take(screen.out()));
            let (row, column) = parser.screen().cursor_position();
            prop_assert!(row < height && column <= width);
        }
    }

    #[test]
    fn what_is_finished_is_there_once(
        pieces in proptest::collection::vec(("[a-z]{1,6}", 0u8..4), 1..40),
        heights in proptest::collection::vec(6u16..24, 1..6),
    ) {
        let mut scene = Scene::new((40, 16));
        let mut screen = Screen::new(Vec::new(), Depth::None).without_reflow();
        let mut parser = vt100::Parser::new(16, 40, 10_000);
        let mut expected = Vec::new();
        scene.works();
        for (index, (word, kind)) in pieces.iter().enumerate() {
            let mark = format!("{word}{index}x");
            match kind {
                0 => scene.said(&mark),
                1 => scene.streams(&[&mark, "\n\n"]),
                2 => scene.ends(&mark, "bash", &format!("Run {mark}"), Ended::well(None)),
                _ => scene.app.transcript.say(neco_view::wording::Tone::Good, mark.clone()),
            }
            expected.push(mark);
            if let Some(height) = heights.get(index / 7).filter(|_| index % 7 == 6) {
                resize(&mut parser, 40, *height);
                screen.resized(40, *height);
                scene.size = (40, *height);
            }
            screen.draw(scene.app.frame(scene.size.0, scene.size.1)).unwrap();
            parser.process(&std::mem::take(screen.out()));
        }
        screen.draw(scene.app.last_frame(scene.size.0, scene.size.1)).unwrap();
        parser.process(&std::mem::take(screen.out()));
        let all = contents(&mut parser, 40);
        for mark in expected {
            let count = all.iter().filter(|row| row.split(' ').any(|part| part == mark)).count();
            prop_assert_eq!(count, 1, "{} in {:#?}", mark, all);
        }
    }
}

/// Everything that the terminal has, scrollback included.
fn contents(parser: &mut vt100::Parser, width: u16) -> Vec<String> {
    let mut rows = Vec::new();
    parser.screen_mut().set_scrollback(usize::MAX);
    let above = parser.screen().scrollback();
    for offset in (1..=above).rev() {
        parser.screen_mut().set_scrollback(offset);
        rows.push(parser.screen().rows(0, width).next().unwrap_or_default());
    }
    parser.screen_mut().set_scrollback(0);
    rows.extend(parser.screen().rows(0, width));
    rows
}
