//! The rows of words and of lines.

use neco_proto::Message;
use neco_proto::clean::{clean, clean_line};
pub use neco_view::wording::Tone;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::ledger::{self, hanging, head};
use crate::text::figures;
use crate::text::wrap::{Indent, wrap, wrap_all};
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
    /// Whether a key sends a command that runs to the background.
    pub sends_away: bool,
}

/// What the person said, on its own ground.
pub(super) fn said(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (text, ran) = without_what_ran(text);
    let (text, attached) = text.split_once(Message::ATTACHED).unwrap_or((text, ""));
    let text = clean(text);
    let all: Vec<&str> = text.lines().collect();
    let most = if all.len() > SAID_LINES { SAID_LINES / 2 } else { all.len() };
    let mut lines: Vec<Line<'static>> =
        all.iter().take(most).map(|line| Line::styled(line.replace('\t', "    "), theme.said)).collect();
    if all.len() > most {
        let beyond = figures::count(all.len() - most, "more line", "more lines");
        lines.push(Line::styled(format!("… {beyond}"), theme.dim));
    }
    if !attached.is_empty() {
        let files = figures::count(fences(attached), "file", "files");
        lines.push(Line::styled(format!("+ {files} attached"), theme.dim));
    }
    if ran > 0 {
        let outputs = figures::count(ran, "command", "commands");
        lines.push(Line::styled(format!("+ what {outputs} of yours printed"), theme.dim));
    }
    let edge = vec![Span::styled("▎", theme.label), Span::raw("  ")];
    let rows = wrap_all(&lines, width.saturating_sub(1), &Indent { first: edge.clone(), rest: edge });
    rows.into_iter().map(|row| row.style(theme.panel)).collect()
}

/// What was written, and how many commands the person ran whose output went along: that was on the screen before.
fn without_what_ran(text: &str) -> (&str, usize) {
    text.split_once(Message::RAN).map_or((text, 0), |(written, ran)| (written, fences(ran)))
}

/// How many fences there are: each ends with the line that it began with.
fn fences(text: &str) -> usize {
    let mut lines = text.lines();
    let mut count = 0;
    while let Some(fence) = lines.by_ref().find(|line| line.starts_with("```")) {
        count += 1;
        if !lines.any(|line| line == fence) {
            break;
        }
    }
    count
}

fn thought_head(theme: &Theme) -> Vec<Span<'static>> {
    head(Span::styled("∴", theme.plan), "Think", theme.dim)
}

/// That there was a thought, how it began, and how long it took.
pub(super) fn thought(text: &str, took_ms: Option<u64>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let first = clean_line(text.trim_start().lines().next().unwrap_or_default());
    let words = first.trim_matches(['*', '#', ' ']).to_owned();
    let words = vec![Span::styled(words, theme.dim.add_modifier(Modifier::ITALIC))];
    vec![ledger::row(thought_head(theme), words, took(took_ms, theme), width)]
}

/// All of a thought.
pub(super) fn whole_thought(text: &str, took_ms: Option<u64>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let style = theme.dim.add_modifier(Modifier::ITALIC);
    let text = clean(text);
    let lines: Vec<Line<'static>> =
        text.trim().lines().map(|line| Line::styled(line.replace('\t', "    "), style)).collect();
    let body = wrap_all(&lines, width, &Indent::all(ledger::edge(theme)));
    let heading = ledger::row(thought_head(theme), Vec::new(), took(took_ms, theme), width);
    [heading].into_iter().chain(body).collect()
}

fn took(ms: Option<u64>, theme: &Theme) -> Vec<Span<'static>> {
    ms.filter(|ms| *ms >= 1000)
        .map(|ms| Span::styled(format!(" · {}", figures::duration(ms)), theme.dim))
        .into_iter()
        .collect()
}

/// The end of a thought that goes on.
pub(super) fn thinking(text: &str, with: Drawn<'_>) -> Vec<Line<'static>> {
    let Drawn { width, theme, frame, .. } = with;
    let style = theme.dim.add_modifier(Modifier::ITALIC);
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(THOUGHT_TAIL))..).unwrap_or_default();
    let lines: Vec<Line<'static>> =
        clean(tail).trim().lines().map(|line| Line::styled(line.to_owned(), style)).collect();
    let mut rows = wrap_all(&lines, width, &hanging(theme));
    let hidden = rows.len().saturating_sub(THOUGHT_ROWS);
    rows.drain(..hidden);
    if let Some(first) = rows.first_mut() {
        // The edge and its blanks make way for what this is.
        let mut head = head(Span::styled(figures::turning(frame), theme.plan), "Think", theme.plan);
        head.extend(first.spans.drain(..).skip(2));
        first.spans = head;
    }
    rows
}

/// A line of Neco itself.
pub(super) fn note(tone: Tone, text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let (mark, style, body) = match tone {
        Tone::Fence => return fence(text, width, theme),
        Tone::Plain => (" ", theme.dim, theme.dim),
        Tone::Note => ("·", theme.dim, theme.dim),
        Tone::Good => ("✓", theme.good, Style::default()),
        Tone::Warning => ("!", theme.label.add_modifier(Modifier::BOLD), theme.label),
        Tone::Bad => ("✕", theme.bad, Style::default()),
        Tone::Stop => ("⊘", theme.label, Style::default()),
        Tone::Pause => ("‖", theme.label, theme.label),
    };
    let lines: Vec<Line<'static>> = clean(text).lines().map(|line| Line::styled(line.to_owned(), body)).collect();
    let indent =
        Indent { first: vec![Span::raw(" "), Span::styled(mark, style), Span::raw(" ")], rest: vec![Span::raw("   ")] };
    wrap_all(&lines, width, &indent)
}

/// A line of Neco itself about something with a name, such as a model or an agent: a row, or more where it says more.
pub(super) fn told(glyph: Span<'static>, verb: &str, words: Vec<Span<'static>>, with: Drawn<'_>) -> Vec<Line<'static>> {
    let style = if glyph.style == with.theme.bad { with.theme.bad } else { with.theme.label };
    let head = head(glyph, verb, style);
    let rest = vec![Span::raw(" ".repeat(head.iter().map(Span::width).sum()))];
    wrap(&Line::from(words), with.width, &Indent { first: head, rest })
}

/// A rule across the window that says what it is for.
pub(super) fn fence(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let words = Line::styled(format!("{} ", clean_line(text)), theme.label);
    let mut rows = wrap(&words, width, &Indent::hanging(Span::styled("── ", theme.line)));
    if let Some(last) = rows.last_mut() {
        let rest = width.saturating_sub(last.width());
        last.push_span(Span::styled("─".repeat(rest), theme.line));
    }
    rows
}
