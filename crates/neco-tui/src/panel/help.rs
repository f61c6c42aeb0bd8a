//! The keys and the commands.

use neco_view::slash::{Custom, TABLE};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::app::Picked;
use crate::app::picker::Entry;
use crate::input::{ACTIONS, Action, Keymap};
use crate::text::wrap::{Indent, wrap};
use crate::theme::Theme;
use crate::transcript::ledger::WORDS;

/// A row of the help.
#[derive(Clone, Copy)]
enum Tip {
    /// What a key does.
    Key(Action),
    /// Something else to write or press.
    Other(&'static str, &'static str),
}

impl Tip {
    fn is_command(self) -> bool {
        matches!(self, Self::Other(keys, _) if keys.len() > 1 && keys.starts_with('/'))
    }
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

/// The least columns of a group.
const COLUMN: usize = 40;

/// Columns between a key and what it does.
const GAP: usize = 2;

/// A group as it is told: its name, and each key with what it does.
type Group = (&'static str, Vec<(String, &'static str)>);

/// Where a column of groups begins, and how many columns of the terminal it and its keys have.
#[derive(Clone, Copy)]
struct Column {
    from: usize,
    wide: usize,
    key: usize,
}

/// The keys by what they are for, in as many columns as the width allows.
pub fn key_rows(keymap: &Keymap, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let groups = GROUPS.map(|(name, tips)| (name, shown(tips, keymap)));
    let count = (width / COLUMN).clamp(1, 3);
    let columns = columns(&groups, count, width);
    let mut rows: Vec<Line<'static>> = Vec::new();
    for groups in groups.chunks(count) {
        if !rows.is_empty() && count > 1 {
            rows.push(Line::default());
        }
        let blocks: Vec<(Column, Vec<Line<'static>>)> =
            columns.iter().zip(groups).map(|(column, group)| (*column, block(group, *column, theme))).collect();
        let high = blocks.iter().map(|(_, block)| block.len()).max().unwrap_or_default();
        for index in 0..high {
            let mut row = Line::default();
            for (column, block) in &blocks {
                let blanks = column.from.saturating_sub(row.width());
                row.push_span(Span::raw(" ".repeat(blanks)));
                row.spans.extend(block.get(index).cloned().unwrap_or_default().spans);
            }
            rows.push(row);
        }
    }
    rows
}

/// Every column is as wide as what stands in it, where that has room; otherwise all are alike, and texts are folded.
fn columns(groups: &[Group], count: usize, width: usize) -> Vec<Column> {
    let of = |column: usize| groups.iter().skip(column).step_by(count).flat_map(|(_, tips)| tips);
    let key = |column: usize| of(column).map(|(keys, _)| keys.width()).max().unwrap_or_default() + GAP;
    let needs = |column: usize| {
        let help = of(column).map(|(_, help)| help.width()).max().unwrap_or_default();
        WORDS + key(column) + help
    };
    let needed: Vec<usize> = (0..count).map(needs).collect();
    let spare = width.checked_sub(needed.iter().sum());
    let wide = |column: usize| match (spare, needed.get(column)) {
        (Some(spare), Some(needed)) => needed + spare / count,
        _ => width / count,
    };
    (0..count)
        .map(|column| Column { from: (0..column).map(wide).sum(), wide: wide(column), key: key(column) })
        .collect()
}

/// One group: its name, then a row for each of its keys.
fn block((name, tips): &Group, column: Column, theme: &Theme) -> Vec<Line<'static>> {
    let name = Line::from(Span::styled(format!("   {name}"), theme.heading));
    let rows = tips.iter().flat_map(|(keys, help)| {
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw(" ".repeat(WORDS + column.key))] };
        wrap(&row(keys, help, column.key, theme), column.wide, &indent)
    });
    std::iter::once(name).chain(rows).collect()
}

/// The rows of a group: the first key of each, and what it does.
fn shown(tips: &[Tip], keymap: &Keymap) -> Vec<(String, &'static str)> {
    let tips = tips.iter().map(|tip| told(*tip, keymap)).filter(|(keys, _)| !keys.is_empty());
    tips.map(|(keys, help)| (keys.split(", ").next().unwrap_or_default().to_owned(), help)).collect()
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
        // Commands stand below, with what goes behind them.
        let keys = tips.iter().filter(|tip| !tip.is_command()).map(|tip| told(*tip, keymap));
        let keys = keys.filter(|(keys, _)| !keys.is_empty());
        entries.extend(keys.map(|(keys, help)| Entry::new(&keys, help, Picked::Nothing)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn three_columns_have_room_for_every_text() {
        let rows = key_rows(&Keymap::default(), 120, &Theme::new(ThemeName::Plain));
        let high = |groups: &[(&str, &[Tip])]| groups.iter().map(|(_, tips)| tips.len() + 1).max().unwrap_or_default();
        assert_eq!(rows.len(), GROUPS.chunks(3).map(high).sum::<usize>() + 1, "{rows:#?}");
        assert!(rows.iter().all(|row| row.width() <= 120), "{rows:#?}");
    }

    #[test]
    fn a_command_is_found_once() {
        let entries = help_entries(&Keymap::default(), &[]);
        let undoes = entries.iter().filter(|entry| entry.picked == Picked::Fill("/undo".to_owned()));
        assert_eq!(undoes.count(), 1);
    }
}
