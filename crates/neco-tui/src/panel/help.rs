//! The keys and the commands.

use neco_view::slash::{Custom, TABLE};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::app::Picked;
use crate::app::picker::Entry;
use crate::input::{ACTIONS, Action, Keymap};
use crate::text::wrap::{Indent, wrap};
use crate::theme::Theme;

/// A row of the help.
#[derive(Clone, Copy)]
enum Tip {
    /// What a key does.
    Key(Action),
    /// Something else to write or press.
    Other(&'static str, &'static str),
}

/// What people want to do, and how.
const GROUPS: [(&str, &[Tip]); 6] = [
    (
        "Write",
        &[
            Tip::Key(Action::Submit),
            Tip::Key(Action::Later),
            Tip::Key(Action::Newline),
            Tip::Other("↑", "take back, then history"),
            Tip::Key(Action::Search),
            Tip::Key(Action::Editor),
            Tip::Key(Action::Picture),
        ],
    ),
    (
        "Stop and rewind",
        &[
            Tip::Key(Action::Cancel),
            Tip::Other("Esc Esc", "at rest: rewind"),
            Tip::Key(Action::Interrupt),
            Tip::Key(Action::Leave),
            Tip::Key(Action::Suspend),
            Tip::Key(Action::Background),
            Tip::Other("/undo", "undo the last turn"),
            Tip::Other("/redo", "redo what was undone"),
        ],
    ),
    (
        "See more",
        &[
            Tip::Key(Action::Expand),
            Tip::Key(Action::Panel),
            Tip::Other("/diff", "what was changed"),
            Tip::Other("/context", "what fills the context"),
            Tip::Other("/cost", "tokens and money"),
            Tip::Other("/status", "what holds here"),
            Tip::Key(Action::Copy),
        ],
    ),
    (
        "Begin with",
        &[
            Tip::Other("/", "a command"),
            Tip::Other("@", "attach a file or folder"),
            Tip::Other("!", "run it yourself"),
            Tip::Other("#", "remember it"),
            Tip::Key(Action::Help),
        ],
    ),
    (
        "When it asks",
        &[
            Tip::Other("↑↓ Enter", "choose, or by number"),
            Tip::Other("y s a", "once, this session, always"),
            Tip::Other("n Esc", "no; Esc stops too"),
            Tip::Other("e d", "edit first, all of it"),
            Tip::Other("Y N", "all that wait"),
        ],
    ),
    (
        "Set",
        &[
            Tip::Key(Action::Mode),
            Tip::Key(Action::Model),
            Tip::Other("/approval", "when it asks"),
            Tip::Other("/permissions", "your rules"),
            Tip::Other("/theme", "colours"),
        ],
    ),
];

/// Columns of a key and of what it does.
const KEY: usize = 13;
const COLUMN: usize = 40;

/// The keys by what they are for, in as many columns as the width allows.
pub fn key_rows(keymap: &Keymap, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let columns = (width / COLUMN).clamp(1, 3);
    let wide = if columns == 1 { width } else { width / columns };
    let mut rows: Vec<Line<'static>> = Vec::new();
    for groups in GROUPS.chunks(columns) {
        if !rows.is_empty() && columns > 1 {
            rows.push(Line::default());
        }
        let blocks: Vec<Vec<Line<'static>>> = groups.iter().map(|group| block(group, keymap, wide, theme)).collect();
        let high = blocks.iter().map(Vec::len).max().unwrap_or_default();
        for index in 0..high {
            let mut row = Line::default();
            for (column, block) in blocks.iter().enumerate() {
                let blanks = (column * wide).saturating_sub(row.width());
                row.push_span(Span::raw(" ".repeat(blanks)));
                row.spans.extend(block.get(index).cloned().unwrap_or_default().spans);
            }
            rows.push(row);
        }
    }
    rows
}

/// One group: its name, then a row for each of its keys.
fn block((name, tips): &(&str, &[Tip]), keymap: &Keymap, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let name = Line::from(Span::styled(format!("   {name}"), theme.heading));
    let tips = tips.iter().map(|tip| told(*tip, keymap)).filter(|(keys, _)| !keys.is_empty());
    let rows = tips.flat_map(|(keys, help)| {
        let first = keys.split(", ").next().unwrap_or_default();
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw(" ".repeat(KEY + 3))] };
        wrap(&row(first, help, KEY, theme), width.saturating_sub(1), &indent)
    });
    std::iter::once(name).chain(rows).collect()
}

/// A row of the help: the keys, as the person has them, and what they do.
fn told(tip: Tip, keymap: &Keymap) -> (String, &'static str) {
    match tip {
        Tip::Key(action) => {
            let help = ACTIONS.iter().find(|(known, ..)| *known == action).map_or("", |(.., help)| *help);
            (keymap.keys(action), help)
        }
        Tip::Other(keys, help) => (keys.to_owned(), help),
    }
}

/// The keys and the commands, the person's own among them, to be searched: each group with its name above it.
pub fn help_entries(keymap: &Keymap, custom: &[Custom]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (name, tips) in GROUPS {
        entries.push(Entry::heading(name));
        let keys = tips.iter().map(|tip| told(*tip, keymap)).filter(|(keys, _)| !keys.is_empty());
        entries.extend(keys.map(|(keys, help)| match keys.strip_prefix('/').filter(|name| !name.is_empty()) {
            Some(_) => Entry::new(&keys, help, Picked::Fill(keys.clone())),
            None => Entry::new(&keys, help, Picked::Nothing),
        }));
    }
    entries.push(Entry::heading("Commands"));
    let command = |name: &str, argument: &str, help: &str| {
        let blank = if argument.is_empty() { "" } else { " " };
        Entry::new(&format!("/{name}{blank}{argument}"), help, Picked::Fill(format!("/{name}{blank}")))
    };
    entries.extend(TABLE.iter().map(|row| command(row.name, row.argument, row.help)));
    entries.extend(custom.iter().map(|own| command(&own.name, &own.argument, &own.help)));
    entries
}

fn row(keys: &str, help: &str, wide: usize, theme: &Theme) -> Line<'static> {
    let blanks = " ".repeat(wide.saturating_sub(keys.width()).max(1));
    Line::from(vec![Span::styled(format!("   {keys}{blanks}"), theme.accent), Span::raw(help.to_owned())])
}
