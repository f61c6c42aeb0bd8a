//! An answer while it is being written: what can't change any more leaves, the rest is drawn anew.
//!
//! Programs leave line by line: they are what is long in answers, and what costs most to draw.

use neco_proto::clean::Cleaner;
use ratatui::text::Line;

use super::easing::cut_at;
use super::highlight::Painter;
use super::markdown::{self, program_margin, settled};
use super::wrap::{Indent, unfolded, wrap};
use crate::theme::{Theme, ThemeName};

/// Of a part that does not end only so many of the last bytes are drawn until it has.
const LIVE: usize = 12 * 1024;

/// Rows that have settled are shown as long as they can't leave; more than any terminal has.
const WAITING: usize = 200;

/// Bytes more after which it is looked again whether the beginning of a part can leave.
const AGAIN: usize = 200;

/// The answer.
#[derive(Clone, Debug, Default)]
pub struct Streaming {
    cleaner: Cleaner,
    /// What has not left.
    text: String,
    /// A program whose beginning has left.
    fence: Option<Fence>,
    /// Rows that have settled and could not leave yet.
    held: Vec<Line<'static>>,
    /// Whether a blank row stands before what comes next.
    gap: bool,
    drawn: Option<(usize, ThemeName, Vec<Line<'static>>)>,
    /// How long the text has to be before it is looked again whether its beginning can leave.
    stuck: usize,
}

#[derive(Clone, Debug)]
struct Fence {
    mark: String,
    painter: Painter,
}

impl Streaming {
    /// An answer that is there as a whole.
    pub fn whole(text: &str) -> Self {
        let mut streaming = Self::default();
        streaming.push(text);
        streaming
    }

    /// The next piece.
    pub fn push(&mut self, piece: &str) {
        self.drawn = None;
        let piece = self.cleaner.push(piece);
        if piece.contains('\r') {
            self.text.push_str(&piece.replace('\r', ""));
        } else {
            self.text.push_str(&piece);
        }
    }

    /// Whether what comes next goes on with a part whose beginning has left: a program, or a long paragraph.
    pub fn is_in_part(&self) -> bool {
        self.fence.is_some() || !self.gap
    }

    /// The rows that can leave now.
    pub fn settle(&mut self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = std::mem::take(&mut self.held);
        loop {
            let moved = if self.fence.is_some() {
                self.program_lines(theme, &mut rows)
            } else {
                self.part(width, theme, &mut rows) || self.open_fence(&mut rows)
            };
            if !moved {
                return rows;
            }
            self.drawn = None;
        }
    }

    /// The rows that leave so that at most `most` of what may still change are alive. A long paragraph or list goes row by
    /// row: what is alive and does not fit any more when a terminal is made smaller can't be taken back.
    pub fn ease(&mut self, most: usize, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let alive = if self.fence.is_some() || self.text.len() > LIVE { 0 } else { self.live(width, theme).len() };
        let mut rows = Vec::new();
        // Where nothing could leave it is not looked again for every piece.
        if alive <= most || self.text.len() < self.stuck {
            return rows;
        }
        self.stuck = self.text.len() + AGAIN;
        if let Some((at, apart)) = cut_at(&self.text, alive - most.div_ceil(2), width, theme) {
            self.stuck = 0;
            let part: String = self.text.drain(..at).collect();
            self.add(markdown::rows(&part, width, theme), &mut rows);
            self.gap = apart;
            self.drawn = None;
        }
        rows
    }

    /// All rows that are left: nothing more comes.
    pub fn finish(&mut self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = self.settle(width, theme);
        // It may be asked for again and again while something before it has not left.
        if !self.text.is_empty() {
            self.text.push('\n');
            rows.extend(self.settle(width, theme));
        }
        self.fence = None;
        self.drawn = None;
        let rest = std::mem::take(&mut self.text);
        let drawn = markdown::rows(&rest, width, theme);
        self.add(drawn, &mut rows);
        rows
    }

    /// The rows to be seen while something before it has not left; `over` when nothing more comes. What has settled
    /// is drawn once.
    pub fn wait(&mut self, over: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        self.held = if over { self.finish(width, theme) } else { self.settle(width, theme) };
        let hidden = self.held.len().saturating_sub(WAITING);
        let mut rows: Vec<Line<'static>> = self.held.iter().skip(hidden).cloned().collect();
        rows.extend(self.live(width, theme));
        rows
    }

    /// The rows of what may still change.
    pub fn live(&mut self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if let Some((at, name, rows)) = &self.drawn
            && (*at, *name) == (width, theme.name)
        {
            return rows.clone();
        }
        let rows = self.draw(width, theme);
        self.drawn = Some((width, theme.name, rows.clone()));
        rows
    }

    fn draw(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut text = self.text.as_str();
        if text.len() > LIVE {
            let tail = text.get(text.ceil_char_boundary(text.len() - LIVE)..).unwrap_or_default();
            text = tail.split_once('\n').map_or(tail, |(_, lines)| lines);
        }
        if let Some(fence) = &self.fence {
            let line = fence.painter.clone().line(text, theme).style(theme.panel);
            return if text.is_empty() {
                Vec::new()
            } else {
                wrap(&line, width.max(8), &Indent::all(program_margin(theme)))
            };
        }
        let mut rows = Vec::new();
        let drawn = markdown::draft_rows(text, width, theme);
        if self.gap && !drawn.is_empty() {
            rows.push(Line::default());
        }
        rows.extend(drawn);
        rows
    }

    /// Everything that has settled.
    fn part(&mut self, width: usize, theme: &Theme, rows: &mut Vec<Line<'static>>) -> bool {
        let at = settled(&self.text);
        if at == 0 {
            return false;
        }
        let part: String = self.text.drain(..at).collect();
        let drawn = markdown::rows(&part, width, theme);
        self.add(drawn, rows);
        self.stuck = 0;
        true
    }

    fn open_fence(&mut self, rows: &mut Vec<Line<'static>>) -> bool {
        let Some(mark) = fence_mark(&self.text) else { return false };
        let Some(end) = self.text.find('\n') else { return false };
        let line: String = self.text.drain(..=end).collect();
        let language = line.trim().trim_start_matches(['`', '~']).trim().to_owned();
        if std::mem::replace(&mut self.gap, false) {
            rows.push(Line::default());
        }
        self.fence = Some(Fence { mark, painter: Painter::new(&language) });
        true
    }

    fn program_lines(&mut self, theme: &Theme, rows: &mut Vec<Line<'static>>) -> bool {
        let (Some(fence), Some(last)) = (&mut self.fence, self.text.rfind('\n')) else { return false };
        // All lines that are there, and what they leave is taken away once: a whole answer has thousands.
        let mut taken = 0;
        for line in self.text.get(..=last).unwrap_or_default().split_inclusive('\n') {
            taken += line.len();
            let line = line.trim_end_matches('\n');
            if closes(line, &fence.mark) {
                self.fence = None;
                self.gap = true;
                break;
            }
            let line = fence.painter.line(line, theme).style(theme.panel);
            rows.push(unfolded(&line, &[program_margin(theme)]));
        }
        self.text.drain(..taken);
        true
    }

    fn add(&mut self, drawn: Vec<Line<'static>>, rows: &mut Vec<Line<'static>>) {
        if drawn.is_empty() {
            return;
        }
        if std::mem::replace(&mut self.gap, true) {
            rows.push(Line::default());
        }
        rows.extend(drawn);
    }
}

/// The run of marks that opens a program at the margin.
fn fence_mark(text: &str) -> Option<String> {
    let first = text.chars().next().filter(|char| matches!(char, '`' | '~'))?;
    let mark: String = text.chars().take_while(|char| *char == first).collect();
    let line = text.split('\n').next().unwrap_or_default();
    let info = line.get(mark.len()..).unwrap_or_default();
    // A tick in the line makes it code inside a sentence.
    (mark.len() >= 3 && !(first == '`' && info.contains('`'))).then_some(mark)
}

fn closes(line: &str, mark: &str) -> bool {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let bare = line.trim();
    let first = mark.chars().next().unwrap_or('`');
    indented < 4 && bare.len() >= mark.len() && bare.chars().all(|char| char == first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(rows: &[Line<'_>]) -> Vec<String> {
        rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect()
    }

    /// The text in pieces that end at `cuts`.
    fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
        let ends = cuts.iter().map(|cut| text.ceil_char_boundary(*cut % (text.len() + 1)));
        let mut ends: Vec<usize> = ends.chain([text.len()]).collect();
        ends.sort_unstable();
        let begins = std::iter::once(0).chain(ends.iter().copied());
        begins.zip(&ends).map(|(begin, end)| &text[begin..*end]).collect()
    }

    /// All rows, when the text comes in pieces that end at `cuts`.
    fn streamed(text: &str, cuts: &[usize], width: usize) -> Vec<String> {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::default();
        let mut rows = Vec::new();
        for piece in pieces(text, cuts) {
            streaming.push(piece);
            rows.extend(streaming.settle(width, &theme));
            assert!(streaming.live(width, &theme).iter().all(|row| row.width() <= width));
        }
        rows.extend(streaming.finish(width, &theme));
        texts(&rows)
    }

    #[test]
    fn a_program_that_does_not_end_does_not_grow_while_it_waits() {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::whole("Look:\n```rust\nfn a() {}\nfn b");
        let first = streaming.wait(true, 40, &theme);
        assert_eq!(texts(&first), ["Look:", "", "  fn a() {}", "  fn b"]);
        for _ in 0..6 {
            assert_eq!(streaming.wait(true, 40, &theme), first);
        }
    }

    #[test]
    fn of_a_line_of_a_program_without_an_end_the_last_part_is_drawn() {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::default();
        streaming.push(&format!("```json\n{}end", "x".repeat(20 * LIVE)));
        assert!(streaming.settle(40, &theme).is_empty());
        let rows = texts(&streaming.live(40, &theme));
        assert!(rows.len() <= LIVE / 30 && rows.last().is_some_and(|row| row.ends_with("end")), "{}", rows.len());
        let whole: usize = streaming.finish(40, &theme).iter().map(Line::width).sum();
        assert!(whole > 20 * LIVE, "nothing of it is lost: {whole}");
    }

    #[test]
    fn a_program_leaves_line_by_line() {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::default();
        streaming.push("Look:\n```rust\nfn a() {}\nfn b");
        assert_eq!(texts(&streaming.settle(40, &theme)), ["Look:", "", "  fn a() {}"]);
        assert_eq!(texts(&streaming.live(40, &theme)), ["  fn b"]);
        streaming.push("() {}\n```\ndone");
        assert_eq!(texts(&streaming.settle(40, &theme)), ["  fn b() {}"]);
        assert_eq!(texts(&streaming.live(40, &theme)), ["", "done"]);
        assert_eq!(texts(&streaming.finish(40, &theme)), ["", "done"]);
        assert!(streaming.text.trim().is_empty() && streaming.held.is_empty());
    }

    #[test]
    fn what_has_to_wait_is_not_lost() {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::default();
        streaming.push("one\n\ntwo\n\nthr");
        assert_eq!(texts(&streaming.wait(false, 40, &theme)), ["one", "", "two", "", "thr"]);
        streaming.push("ee");
        assert_eq!(texts(&streaming.wait(true, 40, &theme)), ["one", "", "two", "", "three"]);
        assert_eq!(texts(&streaming.wait(true, 40, &theme)), ["one", "", "two", "", "three"]);
        assert_eq!(texts(&streaming.finish(40, &theme)), ["one", "", "two", "", "three"]);
        assert!(streaming.text.trim().is_empty() && streaming.held.is_empty());
    }

    /// All rows that are not blank, with no more than `most` alive.
    fn eased(text: &str, cuts: &[usize], width: usize, most: usize) -> Vec<String> {
        let theme = Theme::new(ThemeName::Plain);
        let (mut streaming, mut rows) = (Streaming::default(), Vec::new());
        for piece in pieces(text, cuts) {
            streaming.push(piece);
            rows.extend(streaming.settle(width, &theme));
            rows.extend(streaming.ease(most, width, &theme));
        }
        rows.extend(streaming.finish(width, &theme));
        texts(&rows).into_iter().filter(|row| !row.is_empty()).collect()
    }

    #[test]
    fn a_long_paragraph_leaves_row_by_row() {
        let theme = Theme::new(ThemeName::Plain);
        let mut streaming = Streaming::whole(&"some words of a paragraph without an end ".repeat(20));
        let mut left = streaming.settle(40, &theme);
        left.extend(streaming.ease(6, 40, &theme));
        assert!(left.len() > 10 && streaming.live(40, &theme).len() <= 6, "{}", left.len());
    }

    proptest! {
        #[test]
        fn what_leaves_early_stands_as_it_would_have(
            words in proptest::collection::vec(prop_oneof![
                4 => "[a-z]{1,9}", 1 => Just("**bold words**".to_owned()), 1 => Just("`code`".to_owned()),
                1 => Just("漢字".to_owned()), 1 => Just("snake_case_name".to_owned()), 1 => Just("\n- item".to_owned()),
                1 => Just("\n\nNew".to_owned()), 1 => Just("[link](https://neco.dev)".to_owned()),
            ], 0..60),
            cuts in proptest::collection::vec(0usize..600, 0..8),
            width in 16usize..60,
            most in 2usize..8,
        ) {
            let text = words.join(" ");
            let squeezed = |rows: Vec<String>| rows.concat().replace(' ', "");
            prop_assert_eq!(squeezed(eased(&text, &cuts, width, most)), squeezed(eased(&text, &[], width, usize::MAX)));
        }

        #[test]
        fn the_pieces_do_not_matter(
            parts in proptest::collection::vec(prop_oneof![
                Just("Some words of a paragraph.\n\n"), Just("- one\n- two\n\n"), Just("```rust\nfn a() {}\n\nlet b;\n```\n"),
                Just("# Title\n\n"), Just("| a | b |\n|---|---|\n| 1 | 2 |\n\n"), Just("1. x\n2. y\n\n"), Just("漢字 👍 text\n\n"),
                Just("> quoted\n\n"), Just("~~~\nplain\n~~~\n\n"),
            ], 0..8),
            cuts in proptest::collection::vec(0usize..400, 0..8),
            width in 12usize..60,
        ) {
            let text: String = parts.concat();
            let bare = |rows: Vec<String>| rows.into_iter().filter(|row| !row.is_empty()).collect::<Vec<_>>();
            prop_assert_eq!(bare(streamed(&text, &cuts, width)), bare(streamed(&text, &[], width)));
        }
    }
}
