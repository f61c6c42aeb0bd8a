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
            (proptest::collection::vec("[a-c]{0,12}", 0..12), proptest::collection::vec("[A-C]{1,12}", 1..8), 0usize..8),
            1..20,
        ),
        known in any::<bool>(),
    ) {
        let size = if known { (usize::from(WIDTH), usize::from(HEIGHT)) } else { (0, 0) };
        let mut screen = Screen::new(Vec::new(), Depth::None);
        let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 10_000);
        let mut all: Vec<String> = Vec::new();
        for (finished, live, row) in frames {
            let cursor = Cursor { row, column: 1 };
            let (finished_rows, live_rows) = (lines(&finished), lines(&live));
            let frame = Frame { finished: finished_rows, live: live_rows, cursor: Some(cursor), size, ..Frame::default() };
            screen.draw(frame).unwrap();
            let bytes = std::mem::take(screen.out());
            parser.process(&bytes);
            all.extend(finished);
            let shown = contents(&mut parser);
            prop_assert!(shown.starts_with(&all) && shown.ends_with(&live), "{shown:?}");
            // Where fewer rows live than before, blank ones keep the last of them at the bottom.
            let between = &shown[all.len()..shown.len() - live.len()];
            prop_assert!(between.iter().all(String::is_empty) && (known || between.is_empty()), "{shown:?}");
            if known && all.len() + live.len() >= usize::from(HEIGHT) {
                prop_assert_eq!(parser.screen().rows(0, WIDTH).last(), live.last().cloned());
            }
            let (at, column) = parser.screen().cursor_position();
            prop_assert_eq!(column, 1);
            let under = parser.screen().rows(0, WIDTH).nth(usize::from(at)).unwrap_or_default();
            prop_assert_eq!(&under, &live[row.min(live.len() - 1)]);
        }
    }
}

#[test]
fn the_field_stays_at_the_bottom_when_a_question_goes() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    let mut draw = |frame: Frame| -> Vec<String> {
        screen.draw(frame).unwrap();
        parser.process(&std::mem::take(screen.out()));
        parser.screen().rows(0, WIDTH).collect()
    };
    let said = || lines(&["one".into(), "two".into(), "three".into()]);
    draw(Frame { finished: said(), ..streams(&["work"], "") });
    let asked = draw(streams(&["work", "may I?", "yes", "no"], ""));
    let after = draw(streams(&["work"], ""));
    assert_eq!(asked[5..], after[5..]);
    assert_eq!(after[..5], ["three", "", "", "", "work"]);
    // What is finished next has the blank rows.
    let next = draw(Frame { finished: lines(&["four".into()]), ..streams(&["work"], "") });
    assert_eq!(next[..5], ["three", "four", "", "", "work"]);
}

/// A row of what streams, with the bottom of a window.
fn streams(words: &[&str], field: &str) -> Frame {
    let rows = words.iter().map(|row| (*row).to_owned());
    let bottom = ["─".repeat(12), format!("› {field}"), "status".to_owned()];
    let live = lines(&rows.chain(bottom).collect::<Vec<_>>());
    let cursor = Some(Cursor { row: words.len() + 1, column: 2 + field.len() });
    Frame { live, cursor, size: (usize::from(WIDTH), usize::from(HEIGHT)), ..Frame::default() }
}

#[test]
fn no_more_is_written_than_is_different() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    let mut written = |screen: &mut Screen<Vec<u8>>, frame: Frame| {
        screen.draw(frame).unwrap();
        let bytes = std::mem::take(screen.out());
        parser.process(&bytes);
        (bytes, contents(&mut parser))
    };
    written(&mut screen, streams(&["one", "two"], ""));
    assert_eq!(written(&mut screen, streams(&["one", "two"], "k")).0, b"k", "a key is a byte");
    assert_eq!(written(&mut screen, streams(&["one", "two"], "")).0, b"\x1b[D\x1b[K");
    let (bytes, _) = written(&mut screen, streams(&["one", "two more"], ""));
    assert!(bytes.len() < 60, "{} bytes for a word", bytes.len());
    // What was alive is finished, and another row comes: the rows below it move.
    let next = Frame { finished: lines(&["one".into()]), ..streams(&["two more", "three"], "") };
    let (bytes, shown) = written(&mut screen, next);
    assert!(bytes.len() < 60, "{} bytes for a row", bytes.len());
    assert_eq!(shown, ["one", "two more", "three", &"─".repeat(12), "› ", "status"]);
    let (_, shown) = written(&mut screen, Frame { finished: lines(&["two more".into()]), ..streams(&["three"], "") });
    assert_eq!(shown.len(), 6);
    let (bytes, shown) = written(&mut screen, streams(&[], ""));
    assert!(bytes.len() < 60, "{} bytes to take a row off", bytes.len());
    assert_eq!(shown, ["one", "two more", &"─".repeat(12), "› ", "status"]);
}

#[test]
fn a_row_that_gets_shorter_is_erased_from_its_beginning() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    screen.draw(streams(&["a long row", "end"], "")).unwrap();
    parser.process(&std::mem::take(screen.out()));
    // Nothing of the long row is to be left that tmux would fold, neither in place nor where rows move.
    for rows in [vec!["a row", "end"], vec!["a", "end", "more"]] {
        screen.draw(streams(&rows, "")).unwrap();
        let bytes = std::mem::take(screen.out());
        parser.process(&bytes);
        let written = format!("\x1b[K{}", rows[0]);
        assert!(String::from_utf8_lossy(&bytes).contains(&written), "{:?}", String::from_utf8_lossy(&bytes));
        assert_eq!(contents(&mut parser)[..rows.len()], rows);
    }
}

#[test]
fn over_a_slow_line_the_row_of_the_cursor_comes_first() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    screen.draw(streams(&["one", "two"], "")).unwrap();
    parser.process(&std::mem::take(screen.out()));
    assert!(!screen.draw_within(streams(&["ONE", "TWO"], "k"), 1).unwrap());
    parser.process(&std::mem::take(screen.out()));
    assert_eq!(contents(&mut parser)[..4], ["one", "two", &"─".repeat(12), "› k"]);
    assert!(screen.draw_within(streams(&["ONE", "TWO"], "k"), 100).unwrap());
    parser.process(&std::mem::take(screen.out()));
    assert_eq!(contents(&mut parser)[..4], ["ONE", "TWO", &"─".repeat(12), "› k"]);
}

#[test]
fn over_a_slow_line_what_is_finished_is_never_left_out() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    screen.draw(streams(&["2 more rows", "on the way"], "")).unwrap();
    let done = Frame { finished: lines(&["one".into(), "two".into()]), ..streams(&[], "k") };
    screen.draw_within(done, 1).unwrap();
    parser.process(&std::mem::take(screen.out()));
    assert_eq!(contents(&mut parser)[..4], ["one", "two", &"─".repeat(12), "› k"]);
}

#[test]
fn a_finished_line_that_is_too_wide_is_folded_by_the_terminal() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(10, 20, 100);
    let live = || Frame { live: lines(&["─".repeat(20), "› field".into(), "status".into()]), ..Frame::default() };
    screen.draw(live()).unwrap();
    let long = "let a = \"a line of a program that is long\";".to_owned();
    screen.draw(Frame { finished: lines(&[long.clone(), "end".into()]), folds: true, ..live() }).unwrap();
    parser.process(screen.out());
    let rows: Vec<String> = parser.screen().rows(0, 20).collect();
    let folded: Vec<String> = long.as_bytes().chunks(20).map(|row| String::from_utf8(row.to_vec()).unwrap()).collect();
    assert_eq!(rows[..3], folded, "nothing of the live rows is left beside it");
    assert_eq!(rows[3..8], ["end", &"─".repeat(20), "› field", "status", ""]);
    assert!((0..2).all(|row| parser.screen().row_wrapped(row)), "it is copied as one line");
}

#[test]
fn only_the_newest_size_counts_when_several_come_before_a_frame() {
    let live = lines(&["x".repeat(100), "y".repeat(70), "status".into()]);
    let frame = |finished: &[&str]| Frame {
        finished: finished.iter().map(|text| Line::raw((*text).to_owned())).collect(),
        live: live.clone(),
        cursor: Some(Cursor { row: 2, column: 1 }),
        ..Frame::default()
    };
    let bytes = |sizes: &[(u16, u16)]| {
        let mut screen = Screen::new(Vec::new(), Depth::None);
        screen.draw(frame(&["done"])).unwrap();
        screen.out().clear();
        sizes.iter().for_each(|(width, height)| screen.resized(*width, *height));
        screen.draw(frame(&[])).unwrap();
        String::from_utf8(std::mem::take(screen.out())).unwrap()
    };
    let dragged = bytes(&[(99, 40), (60, 40), (130, 40)]);
    assert_eq!(dragged, bytes(&[(130, 40)]));
    assert!(dragged.starts_with("\x1b[2A"), "not further up than the live rows are: {dragged:?}");
    assert!(bytes(&[(130, 40), (60, 40)]).starts_with("\x1b[4A"), "each of the two is folded once");
}

#[test]
fn a_frame_that_is_taken_back_changes_nothing() {
    let finished = || Frame { finished: lines(&["done".into()]), ..streams(&["LIVE", "more"], "k") };
    let drawn = |taken_back: &[Frame]| {
        let mut screen = Screen::new(Vec::new(), Depth::None);
        screen.draw(streams(&["LIVE"], "")).unwrap();
        screen.out().clear();
        screen.resized(WIDTH / 2, HEIGHT);
        for frame in taken_back {
            let known = screen.known();
            screen.draw(frame.clone()).unwrap();
            screen.take_back(known);
            assert!(screen.out().is_empty() && screen.is_folded() && !screen.is_alternate());
        }
        screen.draw(finished()).unwrap();
        String::from_utf8(std::mem::take(screen.out())).unwrap()
    };
    let other = Frame { live: lines(&["change".into()]), alternate: true, ..Frame::default() };
    assert_eq!(drawn(&[]), drawn(&[finished(), other, streams(&[], "")]));
}

#[test]
fn what_somebody_else_wrote_is_wiped_and_what_is_finished_stays() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    let live = || Frame { live: lines(&["LIVE".into(), "STATUS".into()]), ..Frame::default() };
    screen.draw(Frame { finished: lines(&["done".into()]), ..live() }).unwrap();
    parser.process(&std::mem::take(screen.out()));
    parser.process(b"\r\nwall: hello\r\nwall: bye");
    screen.wipe(HEIGHT).unwrap();
    screen.draw(live()).unwrap();
    parser.process(&std::mem::take(screen.out()));
    assert!(contents(&mut parser).contains(&"done".to_owned()), "{:?}", contents(&mut parser));
    let shown: Vec<String> = parser.screen().rows(0, WIDTH).take(3).collect();
    assert_eq!(shown, ["LIVE", "STATUS", ""]);
}

#[test]
fn what_was_on_the_screen_is_there_again_after_the_alternate_one() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 100);
    let mut draw = |frame: Frame| -> Vec<String> {
        screen.draw(frame).unwrap();
        parser.process(&std::mem::take(screen.out()));
        parser.screen().rows(0, WIDTH).collect()
    };
    let high: Vec<String> = (0..HEIGHT).map(|row| format!("change {row}")).collect();
    let size = (usize::from(WIDTH), usize::from(HEIGHT));
    let other = || Frame { live: lines(&high), size, alternate: true, ..Frame::default() };
    let before = draw(Frame { finished: lines(&["one".into(), "two".into()]), ..streams(&["live"], "") });
    assert_eq!(draw(other()), high);
    assert_eq!(draw(streams(&["live"], "")), before);
    assert_eq!(draw(other()), high);
    let after = draw(Frame { finished: lines(&["three".into()]), ..streams(&["more"], "") });
    assert_eq!(after[..4], ["one", "two", "three", "more"]);
}

#[test]
fn another_size_of_the_alternate_screen_folds_the_usual_one_when_that_is_seen_again() {
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let bytes = |screen: &mut Screen<Vec<u8>>, frame: Frame| {
        screen.draw(frame).unwrap();
        String::from_utf8(std::mem::take(screen.out())).unwrap()
    };
    let other = |width: usize| Frame {
        live: lines(&["change".into()]),
        size: (width, usize::from(HEIGHT)),
        alternate: true,
        ..Frame::default()
    };
    bytes(&mut screen, streams(&["live"], ""));
    bytes(&mut screen, other(12));
    screen.resized(6, HEIGHT);
    assert!(bytes(&mut screen, other(6)).starts_with("\x1b[m\x1b[H\x1b[2J"), "it is drawn anew");
    let back = bytes(&mut screen, Frame { size: (6, usize::from(HEIGHT)), ..streams(&["live"], "") });
    // The cursor is in the third row; the rule above it was folded into two.
    assert!(back.starts_with("\x1b[<1u\x1b[?1049l\x1b[3A"), "{back:?}");
    // One that has no alternate screen gets a frame like every other.
    let mut screen = Screen::new(Vec::new(), Depth::None).without_alternate();
    assert!(!bytes(&mut screen, other(12)).contains("1049"));
}

/// The terminal with another height, as tmux and most others make it: rows go into the scrollback where there is no room
/// for them, and come back from there.
fn with_height(parser: &mut vt100::Parser, height: u16) -> vt100::Parser {
    let (row, column) = parser.screen().cursor_position();
    parser.screen_mut().set_scrollback(usize::MAX);
    let above = parser.screen().scrollback();
    let mut rows = Vec::new();
    for offset in (1..=above).rev() {
        parser.screen_mut().set_scrollback(offset);
        rows.push(parser.screen().rows(0, WIDTH).next().unwrap_or_default());
    }
    parser.screen_mut().set_scrollback(0);
    rows.extend(parser.screen().rows(0, WIDTH));
    let at = above + usize::from(row);
    // Those below the cursor go first.
    let before = rows.len() - above;
    let surplus = before.saturating_sub(usize::from(height)).min(rows.len() - 1 - at);
    rows.truncate(rows.len() - surplus);
    let mut other = vt100::Parser::new(height, WIDTH, 10_000);
    other.process(rows.join("\r\n").as_bytes());
    let up = rows.len() - 1 - at;
    let up = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
    other.process(format!("{up}\x1b[{}G", column + 1).as_bytes());
    other
}

#[test]
fn nothing_is_left_of_a_frame_when_the_terminal_was_smaller_for_a_while() {
    let frame = |rows: usize, finished: &[&str], height: u16| {
        let live: Vec<String> = (0..rows).map(|row| format!("row {row}/{rows}")).collect();
        let finished: Vec<String> = finished.iter().map(|text| (*text).to_owned()).collect();
        let cursor = Some(Cursor { row: rows - 2, column: 1 });
        let size = (usize::from(WIDTH), usize::from(height));
        Frame { finished: lines(&finished), live: lines(&live), cursor, size, ..Frame::default() }
    };
    let said = ["one", "two", "three", "four"];
    for (first, heights) in [(7, vec![4, 8]), (7, vec![5, 3, 8]), (7, vec![3, 5, 8]), (3, vec![4, 8]), (8, vec![2, 8])]
    {
        let mut screen = Screen::new(Vec::new(), Depth::None);
        let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 10_000);
        screen.draw(frame(first, &said, HEIGHT)).unwrap();
        parser.process(&std::mem::take(screen.out()));
        let mut rows = first;
        for height in heights.iter().copied() {
            parser = with_height(&mut parser, height);
            screen.resized(WIDTH, height);
            rows = first.min(usize::from(height));
            screen.draw(frame(rows, &[], height)).unwrap();
            parser.process(&std::mem::take(screen.out()));
        }
        let expected: Vec<String> =
            said.iter().map(ToString::to_string).chain((0..rows).map(|row| format!("row {row}/{rows}"))).collect();
        assert_eq!(contents(&mut parser), expected, "{first} rows, {heights:?}");
    }
    // Two losses in a row: the frame between them is shorter than the terminal, and ends in its last row.
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 10_000);
    screen.draw(frame(8, &said, HEIGHT)).unwrap();
    parser.process(&std::mem::take(screen.out()));
    for (height, rows) in [(6, 3), (4, 2)] {
        parser = with_height(&mut parser, height);
        screen.resized(WIDTH, height);
        screen.draw(frame(rows, &[], height)).unwrap();
        parser.process(&std::mem::take(screen.out()));
        let shown: Vec<String> = parser.screen().rows(0, WIDTH).collect();
        assert_eq!(shown[usize::from(height) - 1], format!("row {}/{rows}", rows - 1), "{shown:?}");
    }
    parser = with_height(&mut parser, HEIGHT);
    screen.resized(WIDTH, HEIGHT);
    screen.draw(frame(2, &["five"], HEIGHT)).unwrap();
    parser.process(&std::mem::take(screen.out()));
    assert_eq!(contents(&mut parser), ["one", "two", "three", "four", "five", "row 0/2", "row 1/2"]);
    // What was finished in between is not taken for what was lost.
    let mut screen = Screen::new(Vec::new(), Depth::None);
    let mut parser = vt100::Parser::new(HEIGHT, WIDTH, 10_000);
    screen.draw(frame(7, &said, HEIGHT)).unwrap();
    parser.process(&std::mem::take(screen.out()));
    parser = with_height(&mut parser, 4);
    screen.resized(WIDTH, 4);
    screen.draw(frame(2, &["five"], 4)).unwrap();
    parser.process(&std::mem::take(screen.out()));
    parser = with_height(&mut parser, HEIGHT);
    screen.resized(WIDTH, HEIGHT);
    screen.draw(frame(2, &["six"], HEIGHT)).unwrap();
    parser.process(&std::mem::take(screen.out()));
    // What the smaller terminal had pushed away stands above it and stays: no program can reach the scrollback.
    let above = ["one", "two", "three", "four", "row 0/7", "row 1/7"];
    let below = ["five", "six", "row 0/2", "row 1/2"];
    assert_eq!(contents(&mut parser), [above.as_slice(), below.as_slice()].concat());
}
