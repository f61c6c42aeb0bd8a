//! Frames on a terminal: what is finished stays above for good, what is alive is drawn once, at the bottom.

use neco_tui::term::screen::{Cursor, Frame};
use neco_tui::term::{Depth, Screen};
use proptest::prelude::*;
use ratatui::text::Line;

const WIDTH: u16 = 12;
const HEIGHT: u16 = 8;

fn lines(texts: &[String]) -> Vec<Line<'static>> {
    texts.iter().map(|text| Line::raw(text.clone())).collect()
}

/// Everything that the terminal has, scrollback included, without empty rows at the end.
fn contents(parser: &mut vt100::Parser) -> Vec<String> {
    let mut rows = Vec::new();
    parser.screen_mut().set_scrollback(usize::MAX);
    let above = parser.screen().scrollback();
    for offset in (1..=above).rev() {
        parser.screen_mut().set_scrollback(offset);
        rows.push(parser.screen().rows(0, WIDTH).next().unwrap_or_default());
    }
    parser.screen_mut().set_scrollback(0);
    rows.extend(parser.screen().rows(0, WIDTH));
    while rows.last().is_some_and(String::is_empty) {
        rows.pop();
    }
    rows
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_is_drawn_twice(
        frames in proptest::collection::vec(
            (proptest::collection::vec("[a-z]{0,12}", 0..12), proptest::collection::vec("[A-Z]{1,12}", 1..8), 0usize..8),
            1..20,
        )
    ) {
        let mut screen = Screen::new(Vec::new(), Depth::None);
        let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 10_000);
        let mut all: Vec<String> = Vec::new();
        for (finished, live, row) in frames {
            let cursor = Cursor { row, column: 1 };
            screen.draw(Frame { finished: lines(&finished), live: lines(&live), cursor: Some(cursor) }).unwrap();
            let bytes = std::mem::take(screen.out());
            parser.process(&bytes);
            all.extend(finished);
            let mut expected = all.clone();
            expected.extend(live.clone());
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(contents(&mut parser), expected);
            let (at, column) = parser.screen().cursor_position();
            prop_assert_eq!(column, 1);
            let under = parser.screen().rows(0, WIDTH).nth(usize::from(at)).unwrap_or_default();
            prop_assert_eq!(&under, &live[row.min(live.len() - 1)]);
        }
    }
}
