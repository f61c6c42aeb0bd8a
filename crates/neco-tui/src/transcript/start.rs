//! The first rows above a session: what it is, where, and how it stands, each with what changes it.

use neco_proto::SessionSnapshot;
use neco_proto::clean::clean_line;
use neco_view::short_id::short_id;
use neco_view::wording::notices;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::looks::{Fact, Looks};
use crate::text::figures::{count, padded};
use crate::text::wrap::{Indent, cut, cut_front, wrap};
use crate::theme::Theme;

/// Rows of a terminal below which only the first two are shown.
const TALL: usize = 20;

/// Columns of what is said of something, at most.
const SAID: usize = 62;

/// Columns before that.
const LABEL: usize = 13;

/// Columns of the folder at least, whatever stands behind it.
const SHORTEST: usize = 12;

/// What is said where there is no model yet.
const NO_MODEL: &str = "needs a model. The one you choose is tried once, then kept.";

/// What is known of the folder besides the session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// The branch, if there is one.
    pub branch: Option<String>,
    /// What the session before was about, and when that was.
    pub earlier: Option<String>,
    /// How many files are not committed, once that is known.
    pub uncommitted: Option<usize>,
    /// What agents know from the beginning, once that is known.
    pub knows: String,
}

/// The first rows of a window. Finding out what they tell takes time: they are alive until all of it is known, or
/// something else comes.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    looks: Looks,
    snapshot: SessionSnapshot,
    beside: Beside,
    height: usize,
    is_known: bool,
}

impl Start {
    /// The first rows of a window that is so high. Without a model, and of a session that goes on, all is known.
    pub(crate) fn new(looks: &Looks, snapshot: &SessionSnapshot, beside: &Beside, height: usize) -> Self {
        let is_known = looks.set_up || goes_on(snapshot);
        Self { looks: looks.clone(), snapshot: snapshot.clone(), beside: beside.clone(), height, is_known }
    }

    /// So many files are not committed, and agents know this from the beginning.
    pub(super) fn know(&mut self, uncommitted: Option<usize>, knows: String) {
        (self.beside.uncommitted, self.beside.knows, self.is_known) = (uncommitted, knows, true);
    }

    /// Nothing more is waited for.
    pub(super) fn settle(&mut self) {
        self.is_known = true;
    }

    /// Whether nothing more comes.
    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    pub(super) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        rows(&self.looks, &self.snapshot, &self.beside, (width, self.height), theme)
    }
}

/// The rows of a window of this size. A session that goes on has only two of them, below the blank one that keeps them
/// from the shell's prompt.
fn rows(
    looks: &Looks,
    snapshot: &SessionSnapshot,
    beside: &Beside,
    (width, height): (usize, usize),
    theme: &Theme,
) -> Vec<Line<'static>> {
    let (name, version) = looks.greeting.split_once(' ').unwrap_or((&looks.greeting, ""));
    if looks.set_up && name.is_empty() {
        return Vec::new();
    }
    let name = if name.is_empty() { "Neco" } else { name };
    let face = Span::raw("   █████ ▂▂  ");
    let below = match looks.set_up {
        true => wrap(&Line::from(Span::styled(NO_MODEL, theme.label)), width, &Indent::hanging(face)),
        false => {
            let place = place(looks, snapshot, beside, width.saturating_sub(LABEL + 1), theme);
            vec![Line::from([vec![face], place].concat())]
        }
    };
    let mut rows = vec![
        Line::default(),
        Line::from(vec![
            Span::raw("   ▙▖ ▗▟     "),
            Span::styled(clean_line(name), theme.heading),
            Span::styled(format!(" {}", clean_line(version)), theme.dim),
        ]),
    ];
    rows.extend(below);
    if !looks.set_up && !goes_on(snapshot) && height >= TALL {
        let own = [
            ("Model", model(looks, &snapshot.model), "/model"),
            ("Asks", notices::asks(snapshot.approval).to_owned(), "Shift-Tab"),
        ];
        let knows = (!beside.knows.is_empty()).then(|| ("Knows", clean_line(&beside.knows), "/context"));
        let earlier = beside.earlier.as_ref().map(|earlier| ("Earlier", clean_line(earlier), "/resume"));
        rows.push(Line::default());
        let said = SAID.min(width.saturating_sub(LABEL + 12));
        rows.extend(
            own.iter().chain(&looks.facts).chain(&knows).chain(&earlier).map(|fact| fact_row(fact, said, theme)),
        );
    }
    rows.iter().map(|row| cut(row, width)).collect()
}

/// `deepseek-chat · first of the group think`, or the name of the one model that is asked.
fn model(looks: &Looks, name: &str) -> String {
    let of_group = looks.groups.iter().find(|(group, _)| group == name);
    clean_line(of_group.map_or(name, |(_, words)| words))
}

/// The row above a session that takes the place of another one in a window.
pub(crate) fn next_row(
    looks: &Looks,
    snapshot: &SessionSnapshot,
    beside: &Beside,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
    let which = match goes_on(snapshot) {
        true => format!("   Session {}  ", short_id(snapshot.session_id)),
        false => "   New session  ".to_owned(),
    };
    let room = width.saturating_sub(which.width());
    let mut spans = vec![Span::styled(which, theme.heading)];
    spans.extend(place(looks, snapshot, beside, room, theme));
    cut(&Line::from(spans), width)
}

/// Whether something happened in it already.
fn goes_on(snapshot: &SessionSnapshot) -> bool {
    snapshot.usage.input + snapshot.usage.output > 0
}

/// `~/code/harbor on retry-uploads · 3 files not committed`.
fn place(looks: &Looks, snapshot: &SessionSnapshot, beside: &Beside, room: usize, theme: &Theme) -> Vec<Span<'static>> {
    let branch = beside.branch.as_ref().map(|branch| clean_line(branch)).unwrap_or_default();
    let on = if branch.is_empty() { "" } else { " on " };
    let room = room.saturating_sub(on.len() + branch.width());
    let uncommitted = beside.uncommitted.filter(|files| *files > 0);
    let uncommitted = uncommitted.map(|files| format!(" · {} not committed", count(files, "file", "files")));
    // Where there is no room for both, the folder is told.
    let uncommitted = uncommitted.filter(|words| words.width() + SHORTEST <= room).unwrap_or_default();
    let room = room.saturating_sub(uncommitted.width()).max(SHORTEST);
    let cwd = cut_front(&shortened(&clean_line(&snapshot.cwd), looks.home.as_deref()), room);
    vec![
        Span::styled(cwd, theme.label),
        Span::styled(on, theme.dim),
        Span::styled(branch, theme.label),
        Span::styled(uncommitted, theme.dim),
    ]
}

/// A folder as the person would write it.
pub(crate) fn shortened(folder: &str, home: Option<&str>) -> String {
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

#[cfg(test)]
mod tests {
    use neco_proto::{AgentId, SessionId};
    use serde_json::json;

    use super::*;
    use crate::theme::ThemeName;

    fn snapshot(input: u64) -> SessionSnapshot {
        serde_json::from_value(json!({
            "session_id": SessionId::new(), "root_agent": AgentId::new(), "last_seq": 0, "cwd": "/home/mia/harbor",
            "model": "think", "mode": "agent", "approval": "ask_first", "state": "idle",
            "usage": { "input": input, "output": 0 }, "pending": []
        }))
        .unwrap()
    }

    fn told(looks: &Looks, input: u64) -> Vec<String> {
        let beside = Beside { branch: Some("main".to_owned()), ..Beside::default() };
        let theme = Theme::new(ThemeName::Plain);
        rows(looks, &snapshot(input), &beside, (80, 40), &theme).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_window_begins_below_a_blank_row_and_the_next_session_has_one() {
        let looks = Looks { greeting: "Neco 1.2".into(), home: Some("/home/mia".into()), ..Looks::default() };
        let first = told(&looks, 0);
        assert_eq!(first.len(), 6, "{first:?}");
        assert_eq!(first[..3], ["", "   ▙▖ ▗▟     Neco 1.2", "   █████ ▂▂  ~/harbor on main"]);
        assert_eq!(told(&looks, 9).len(), 3, "one that goes on");
        let (beside, theme) = (Beside::default(), Theme::new(ThemeName::Plain));
        let next = next_row(&looks, &snapshot(0), &beside, 80, &theme);
        assert_eq!(next.to_string(), "   New session  ~/harbor");
        assert!(next_row(&looks, &snapshot(9), &beside, 80, &theme).to_string().starts_with("   Session "));
    }

    #[test]
    fn what_takes_time_to_find_out_comes_into_its_place() {
        let looks = Looks { greeting: "Neco 1.2".into(), home: Some("/home/mia".into()), ..Looks::default() };
        let beside =
            Beside { branch: Some("main".to_owned()), earlier: Some("“a”".to_owned()), ..Beside::default() };
        let theme = Theme::new(ThemeName::Plain);
        let mut start = Start::new(&looks, &snapshot(0), &beside, 40);
        let told = |start: &Start, width: usize| -> Vec<String> {
            start.rows(width, &theme).iter().map(|row| row.to_string().trim_end().to_owned()).collect()
        };
        let before = told(&start, 80);
        assert!(!start.is_known() && !before.iter().any(|row| row.contains("Knows")), "{before:?}");
        start.know(Some(3), "AGENTS.md, 2 memory entries".to_owned());
        let after = told(&start, 80);
        assert!(start.is_known());
        assert_eq!(after[2], "   █████ ▂▂  ~/harbor on main · 3 files not committed");
        let rows: Vec<&str> = after[4..].iter().filter_map(|row| row.split_whitespace().next()).collect();
        assert_eq!(rows, ["Model", "Asks", "Knows", "Earlier"]);
        assert!(told(&start, 40)[2].ends_with("~/harbor on main"), "the folder has room first");
        start.know(Some(0), String::new());
        assert_eq!(told(&start, 80), before, "nothing is said of nothing");
        assert!(Start::new(&looks, &snapshot(9), &beside, 40).is_known(), "one that goes on waits for nothing");
    }

    #[test]
    fn of_a_group_it_says_who_answers() {
        let groups = vec![("think".to_owned(), "chat · first of the group think".to_owned())];
        let looks = Looks { groups, ..Looks::default() };
        let rows = told(&looks, 0);
        assert!(rows.iter().any(|row| row.contains("   Model     chat · first of the group think ")), "{rows:?}");
    }

    #[test]
    fn without_a_model_it_says_so_once() {
        let looks = Looks { greeting: "Neco 1.2".into(), set_up: true, ..Looks::default() };
        assert_eq!(told(&looks, 0)[2], format!("   █████ ▂▂  {NO_MODEL}"));
        assert_eq!(told(&looks, 0).len(), 3);
        let narrow = rows(&looks, &snapshot(0), &Beside::default(), (50, 40), &Theme::new(ThemeName::Plain));
        let narrow: Vec<String> = narrow.iter().skip(2).map(ToString::to_string).collect();
        assert!(narrow.len() == 2 && narrow[1].starts_with(&" ".repeat(LABEL)), "{narrow:?}");
        let words: Vec<&str> = narrow.iter().flat_map(|row| row.split_whitespace()).skip(2).collect();
        assert_eq!(words.join(" "), NO_MODEL);
        assert!(told(&Looks { greeting: String::new(), ..looks }, 0).is_empty());
    }
}
