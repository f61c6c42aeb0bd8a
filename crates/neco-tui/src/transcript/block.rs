//! The rows of words and of lines.

use neco_proto::Message;
use neco_proto::clean::{clean, clean_line};
pub use neco_view::wording::Tone;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use crate::text::figures;
use crate::text::wrap::{Indent, cut, wrap, wrap_all};
use crate::theme::Theme;

/// Lines of a message that are shown; of a longer one its beginning is.
const SAID_LINES: usize = 24;

/// Rows of a thought while it goes on.
const THOUGHT_ROWS: usize = 4;

/// Bytes of a thought that are looked at while it goes on.
const THOUGHT_TAIL: usize = 1024;

/// What a block is to the one below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words of somebody.
    Words,
    /// A line among others: calls, notes, thoughts.
    Step,
}

/// What a block is drawn with.
#[derive(Clone, Copy, Debug)]
pub struct Drawn<'t> {
    pub width: usize,
    pub theme: &'t Theme,
    /// What running times count to, in milliseconds.
    pub now_ms: i64,
    /// Turns the marks of what runs.
    pub frame: usize,
    /// Whether more is shown of what runs.
    pub expanded: bool,
}

/// What the person said.
pub(super) fn said(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (text, ran) = without_what_ran(text);
    let text = clean(text);
    let all: Vec<&str> = text.lines().collect();
    let most = if all.len() > SAID_LINES { SAID_LINES / 2 } else { all.len() };
    let mut lines: Vec<Line<'static>> =
        all.iter().take(most).map(|line| Line::styled(line.replace('\t', "    "), theme.said)).collect();
    if all.len() > most {
        let beyond = figures::count(all.len() - most, "more line", "more lines");
        lines.push(Line::styled(format!("… {beyond}"), theme.dim));
    }
    if ran > 0 {
        let outputs = figures::count(ran, "command", "commands");
        lines.push(Line::styled(format!("+ what {outputs} of yours printed"), theme.dim));
    }
    wrap_all(&lines, width, &Indent::hanging(Span::styled("› ", theme.accent)))
}

/// What was written, and how many commands the person ran whose output went along: that was on the screen before.
fn without_what_ran(text: &str) -> (&str, usize) {
    let Some((written, ran)) = text.split_once(Message::RAN) else { return (text, 0) };
    let mut lines = ran.lines();
    let mut count = 0;
    // Each output stands in a fence of its own, which ends with the line that it began with.
    while let Some(fence) = lines.by_ref().find(|line| !line.is_empty()) {
        count += 1;
        if !lines.any(|line| line == fence) {
            break;
        }
    }
    (written, count)
}

/// That there was a thought, and how it began.
pub(super) fn thought(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let first = clean_line(text.trim_start().lines().next().unwrap_or_default());
    let style = theme.dim.add_modifier(Modifier::ITALIC);
    let words = first.trim_matches(['*', '#', ' ']).to_owned();
    vec![cut(&Line::from(vec![Span::styled("∴ ", theme.dim), Span::styled(words, style)]), width)]
}

/// The end of a thought that goes on.
pub(super) fn thinking(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let style = theme.dim.add_modifier(Modifier::ITALIC);
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(THOUGHT_TAIL))..).unwrap_or_default();
    let lines: Vec<Line<'static>> =
        clean(tail).trim().lines().map(|line| Line::styled(line.to_owned(), style)).collect();
    let rows = wrap_all(&lines, width, &Indent::hanging(Span::styled("∴ ", theme.dim)));
    let hidden = rows.len().saturating_sub(THOUGHT_ROWS);
    rows.into_iter().skip(hidden).collect()
}

/// A line of Neco itself.
pub(super) fn note(tone: Tone, text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, style) = match tone {
        Tone::Fence => return fence(text, width, theme),
        Tone::Plain => ("i ", theme.dim),
        Tone::Good => ("✓ ", theme.good),
        Tone::Warning => ("! ", theme.warning),
        Tone::Bad => ("✗ ", theme.bad),
    };
    let body = if tone == Tone::Plain { theme.dim } else { Style::default() };
    let lines: Vec<Line<'static>> = clean(text).lines().map(|line| Line::styled(line.to_owned(), body)).collect();
    wrap_all(&lines, width, &Indent::hanging(Span::styled(mark, style)))
}

/// A rule across the window that says what it is for.
pub(super) fn fence(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let words = Line::styled(format!("{} ", clean_line(text)), theme.warning);
    let mut rows = wrap(&words, width, &Indent::hanging(Span::styled("── ", theme.warning)));
    if let Some(last) = rows.last_mut() {
        let rest = width.saturating_sub(last.width());
        last.push_span(Span::styled("─".repeat(rest), theme.warning));
    }
    rows
}
