//! The first rows above a session: what it is, where, and how it stands, each with what changes it.

use neco_proto::clean::clean_line;
use neco_proto::{ApprovalMode, SessionSnapshot};
use ratatui::text::{Line, Span};

use crate::looks::Fact;
use crate::text::figures::padded;
use crate::text::wrap::{cut, cut_front};
use crate::theme::Theme;

/// Rows of a terminal below which only the first two are shown.
const TALL: usize = 20;

/// Columns of what is said of something, at most.
const SAID: usize = 62;

/// Columns before that.
const LABEL: usize = 13;

/// The first rows above a session in a window of this size. One that goes on has only two of them.
pub(crate) fn rows(
    greeting: &str,
    snapshot: &SessionSnapshot,
    facts: &[Fact],
    (width, height): (usize, usize),
    theme: &Theme,
) -> Vec<Line<'static>> {
    let (name, version) = greeting.split_once(' ').unwrap_or((greeting, ""));
    let name = if name.is_empty() { "Neco" } else { name };
    let cwd = cut_front(&clean_line(&snapshot.cwd), width.saturating_sub(LABEL + 1));
    let mut rows = vec![
        Line::from(vec![
            Span::raw("   ▙▖ ▗▟     "),
            Span::styled(clean_line(name), theme.heading),
            Span::styled(format!(" {}", clean_line(version)), theme.dim),
        ]),
        Line::from(vec![Span::raw("   █████ ▂▂  "), Span::styled(cwd, theme.label)]),
    ];
    let goes_on = snapshot.usage.input + snapshot.usage.output > 0;
    if !goes_on && height >= TALL {
        let own = [("Model", clean_line(&snapshot.model), "/model"), ("Asks", asks(snapshot.approval), "/approval")];
        rows.push(Line::default());
        let said = SAID.min(width.saturating_sub(LABEL + 12));
        rows.extend(own.iter().chain(facts).map(|fact| fact_row(fact, said, theme)));
    }
    rows.iter().map(|row| cut(row, width)).collect()
}

fn fact_row((label, says, changes): &Fact, room: usize, theme: &Theme) -> Line<'static> {
    let says = cut(&Line::raw(says.clone()), room).to_string();
    Line::from(vec![
        Span::styled(padded(&format!("   {label}"), LABEL), theme.dim),
        Span::raw(padded(&says, room + 2)),
        Span::styled(*changes, theme.dim),
    ])
}

/// What it asks before.
fn asks(approval: ApprovalMode) -> String {
    let words = match approval.to_string().as_str() {
        "auto" => "only before what is critical",
        "accept_edits" => "before commands, not before edits",
        "manual" => "before everything that does more than read",
        _ => "before edits and commands",
    };
    words.to_owned()
}
