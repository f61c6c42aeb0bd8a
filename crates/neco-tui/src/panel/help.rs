//! The keys and the commands.

use neco_view::slash::{Custom, TABLE};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::input::{ACTIONS, Keymap};
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// What begins a text that is no message.
const BEGINNINGS: [(&str, &str); 4] =
    [("@", "name a file"), ("/", "a command"), ("!", "run this yourself, and tell the model"), ("# ", "remember this")];

/// The keys in as few rows as the width allows.
pub fn key_rows(keymap: &Keymap, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let first = |keys: String| keys.split(", ").next().unwrap_or_default().to_owned();
    let entries: Vec<(String, &str)> = entries(keymap).into_iter().map(|(keys, help)| (first(keys), help)).collect();
    if width < 100 {
        return entries.iter().map(|(keys, help)| cut(&row(keys, help, 12, theme), width)).collect();
    }
    let half = width / 2;
    let (left, right) = entries.split_at(entries.len().div_ceil(2));
    let both = |(index, (keys, help)): (usize, &(String, &str))| {
        let mut line = cut(&row(keys, help, 12, theme), half - 2);
        if let Some((keys, help)) = right.get(index) {
            let blanks = half.saturating_sub(line.width());
            line.push_span(Span::raw(" ".repeat(blanks)));
            line.spans.extend(cut(&row(keys, help, 12, theme), width - half).spans);
        }
        line
    };
    left.iter().enumerate().map(both).collect()
}

/// The keys, the commands and the person's own, for the scrollback.
pub fn help_rows(keymap: &Keymap, custom: &[Custom], width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let mut rows = vec![Line::styled("Keys", theme.heading)];
    let wide = if width < 60 { 14 } else { 34 };
    let mut add = |name: String, help: &str| {
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw(" ".repeat(wide + 2))] };
        rows.extend(wrap(&row(&name, help, wide, theme), width, &indent));
    };
    for (keys, help) in entries(keymap) {
        add(keys, help);
    }
    add(String::new(), "");
    for command in TABLE {
        add(format!("/{} {}", command.name, command.argument), command.help);
    }
    for command in custom {
        add(format!("/{} {}", command.name, command.argument), &command.help);
    }
    rows
}

fn entries(keymap: &Keymap) -> Vec<(String, &'static str)> {
    let keys =
        ACTIONS.iter().map(|(action, _, _, help)| (keymap.keys(*action), *help)).filter(|(keys, _)| !keys.is_empty());
    let beginnings = BEGINNINGS.iter().map(|(begins, help)| ((*begins).to_owned(), *help));
    keys.chain(beginnings).collect()
}

fn row(keys: &str, help: &str, wide: usize, theme: &Theme) -> Line<'static> {
    let blanks = " ".repeat(wide.saturating_sub(keys.width()).max(1));
    Line::from(vec![Span::styled(format!("  {keys}{blanks}"), theme.accent), Span::raw(help.to_owned())])
}
