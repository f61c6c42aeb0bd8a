//! The first rows above a session: what it is, where, and how it stands, each with what changes it.

use neco_proto::SessionSnapshot;
use neco_proto::clean::clean_line;
use neco_view::wording::notices;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::looks::{Fact, Looks};
use crate::text::figures::padded;
use crate::text::wrap::{cut, cut_front};
use crate::theme::Theme;

/// Rows of a terminal below which only the first two are shown.
const TALL: usize = 20;

/// Columns of what is said of something, at most.
const SAID: usize = 62;

/// Columns before that.
const LABEL: usize = 13;

/// Columns of the folder at least, whatever stands behind it.
const SHORTEST: usize = 12;

/// What is known of the folder besides the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// The branch, if there is one.
    pub branch: Option<String>,
    /// What the session before was about, and when that was.
    pub earlier: Option<String>,
}

/// The first rows above a session in a window of this size. One that goes on has only two of them.
pub(crate) fn rows(
    looks: &Looks,
    snapshot: &SessionSnapshot,
    beside: &Beside,
    (width, height): (usize, usize),
    theme: &Theme,
) -> Vec<Line<'static>> {
    let (name, version) = looks.greeting.split_once(' ').unwrap_or((&looks.greeting, ""));
    let name = if name.is_empty() { "Neco" } else { name };
    let branch = beside.branch.as_ref().map(|branch| clean_line(branch)).unwrap_or_default();
    let on = if branch.is_empty() { "" } else { " on " };
    let room = width.saturating_sub(LABEL + 1 + on.len() + branch.width());
    let cwd = cut_front(&shortened(&clean_line(&snapshot.cwd), looks.home.as_deref()), room.max(SHORTEST));
    let mut rows = vec![
        Line::from(vec![
            Span::raw("   ▙▖ ▗▟     "),
            Span::styled(clean_line(name), theme.heading),
            Span::styled(format!(" {}", clean_line(version)), theme.dim),
        ]),
        Line::from(vec![
            Span::raw("   █████ ▂▂  "),
            Span::styled(cwd, theme.label),
            Span::styled(on, theme.dim),
            Span::styled(branch, theme.label),
        ]),
    ];
    let goes_on = snapshot.usage.input + snapshot.usage.output > 0;
    if !goes_on && height >= TALL {
        let own = [
            ("Model", clean_line(&snapshot.model), "/model"),
            ("Asks", notices::asks(snapshot.approval).to_owned(), "Shift-Tab"),
        ];
        let earlier = beside.earlier.as_ref().map(|earlier| ("Earlier", clean_line(earlier), "/resume"));
        rows.push(Line::default());
        let said = SAID.min(width.saturating_sub(LABEL + 12));
        rows.extend(own.iter().chain(&looks.facts).chain(&earlier).map(|fact| fact_row(fact, said, theme)));
    }
    rows.iter().map(|row| cut(row, width)).collect()
}

/// A folder as the person would write it.
fn shortened(folder: &str, home: Option<&str>) -> String {
    let home = home.map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty());
    match home.and_then(|home| folder.strip_prefix(home)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => folder.to_owned(),
    }
}

fn fact_row((label, says, changes): &Fact, room: usize, theme: &Theme) -> Line<'static> {
    let says = cut(&Line::raw(says.clone()), room).to_string();
    Line::from(vec![
        Span::styled(padded(&format!("   {label}"), LABEL), theme.dim),
        Span::raw(padded(&says, room + 2)),
        Span::styled(*changes, theme.dim),
    ])
}
