//! May this run? The panel: a head, what is asked about, why, the answers and the keys.

use neco_proto::Risk;
use neco_proto::event::PermissionRequest;
use neco_proto::visible::visible_line;
use neco_view::ask::{Means, NO_SANDBOX};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::approval::{ApprovalBox, Asks, Esc};
use super::edge::{Answer, Tints, first_rows};
use super::rest::Columns;
use super::subject::{arguments_of, changed, fitted, parted, what};
use crate::text::figures;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::{Theme, ThemeName};

/// Rows of what is asked about that a small terminal still shows.
const LEAST_ROWS: usize = 3;

/// Rows of what is asked about that are worth more than blank rows.
const GOOD_ROWS: usize = 6;

/// Rows of the rule that is chosen, where there is room: it says where it is kept, which may be far. `d` shows all of it.
const RULE_ROWS: usize = 5;

/// The same where there is less.
const TEXT_ROWS: usize = 3;

/// Lines of what is asked about that are drawn for the box; no terminal is higher.
const BOX_LINES: usize = 300;

/// Columns from which on a reason goes on below its words.
const HANGING: usize = 50;

/// What is said of a command that a yes lets into the network.
const NETWORK: [&str; 2] = ["network       ", "it can send and fetch"];

/// What is said of a call that the person changed.
const NOT_CHECKED: &str = "Not checked yet: that is done when you say yes; asked again if it is riskier";

/// Rows of what else waits.
pub(super) const LISTED: usize = 4;

#[derive(Clone, Debug)]
pub(super) struct Drawn {
    width: usize,
    theme: ThemeName,
    is_whole: bool,
    rows: Vec<Line<'static>>,
    beyond: usize,
    /// Of a change only what it adds and removes.
    changed: Vec<Line<'static>>,
}

/// How a panel makes room, step by step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Space {
    /// Blank rows between its parts, and before the answers.
    blanks: bool,
    before_answers: bool,
    /// What else waits.
    others: bool,
    /// Each answer in a row of its own; the chosen one has so many.
    listed: bool,
    chosen: usize,
    /// Why it is asked.
    why: bool,
    /// Rows of what is asked about at least.
    least: usize,
}

const SPACES: [Space; 9] = [
    Space {
        blanks: true,
        before_answers: true,
        others: true,
        listed: true,
        chosen: RULE_ROWS,
        why: true,
        least: usize::MAX,
    },
    Space {
        blanks: false,
        before_answers: true,
        others: true,
        listed: true,
        chosen: TEXT_ROWS,
        why: true,
        least: GOOD_ROWS,
    },
    Space { blanks: false, before_answers: false, others: true, listed: true, chosen: 2, why: true, least: LEAST_ROWS },
    // What one answer covers stays as long as there is room for it: it is not given where that is not seen.
    Space {
        blanks: false,
        before_answers: false,
        others: true,
        listed: false,
        chosen: 1,
        why: true,
        least: LEAST_ROWS,
    },
    Space {
        blanks: false,
        before_answers: false,
        others: true,
        listed: false,
        chosen: 1,
        why: false,
        least: LEAST_ROWS,
    },
    Space { blanks: false, before_answers: false, others: true, listed: false, chosen: 1, why: false, least: 2 },
    Space {
        blanks: false,
        before_answers: false,
        others: false,
        listed: true,
        chosen: 2,
        why: true,
        least: LEAST_ROWS,
    },
    Space { blanks: false, before_answers: false, others: false, listed: false, chosen: 1, why: true, least: 1 },
    Space { blanks: false, before_answers: false, others: false, listed: false, chosen: 1, why: false, least: 0 },
];

impl ApprovalBox {
    /// The rows of the panel: its head, the reason and the answers have room before what is asked about, which is cut.
    /// Gives as well how many of those that wait besides it are named.
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        let tints = Tints::of(theme);
        let mut rows = vec![self.heading(asks, width, &tints, theme)];
        if asks.answered {
            rows.push(tints.row(Line::styled("  Answered", tints.meta)));
            return (rows, 0);
        }
        let drawn = self.draw(width.saturating_sub(1), theme);
        let count = drawn.rows.len() + drawn.beyond;
        let covers = asks.covered(LISTED) > 0;
        let spaces = SPACES.into_iter().filter(|space| covers || space.listed || !space.others);
        let spaced: Vec<(Space, Vec<Line<'static>>)> =
            spaces.map(|space| (space, self.below(asks, space, width, theme))).collect();
        let is_whole = self.details.is_whole();
        let fits = |(space, below): &&(Space, Vec<Line<'static>>)| {
            // Whoever wants to see all of it sees more of it where the answers take one row.
            let least = if is_whole && space.listed { usize::MAX } else { space.least };
            1 + usize::from(space.blanks) + below.len() + count.min(least) <= room
        };
        let Some((space, below)) = spaced.iter().find(fits).or(spaced.last()).cloned() else { return (rows, 0) };
        let below = match self.must_say_why(asks) && !space.why {
            true => {
                let spare = room.saturating_sub(1 + below.len() + count.min(LEAST_ROWS));
                let spare = spare.max(usize::from(room > 2 + below.len()));
                self.some_of_why(spare, width.saturating_sub(1), &tints).into_iter().chain(below).collect()
            }
            false => below,
        };
        let named = if space.others { LISTED.min(asks.others.len()) } else { 0 };
        self.offered = self.answers(asks, named).into_iter().map(|answer| answer.means).collect();
        rows.extend((space.blanks && count > 0).then(|| tints.blank()));
        let left = room.saturating_sub(rows.len() + below.len()).max(1);
        rows.extend(self.seen(left, &tints));
        rows.extend(below);
        (rows, named)
    }

    /// What stands below what is asked about.
    fn below(&self, asks: Asks<'_>, space: Space, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let inner = width.saturating_sub(1);
        let blank = |wanted: bool| wanted.then(|| tints.blank());
        let note = self.note.iter().map(|note| cut(&Line::styled(format!("  {note}"), tints.edge), inner));
        let named = if space.others { LISTED } else { 0 };
        let offered = self.answers(asks, named);
        let means: Vec<Means> = offered.iter().map(|answer| answer.means).collect();
        let answers: Vec<Answer> = offered.into_iter().map(Answer::from).collect();
        let at = match asks.refuses {
            true => means.iter().position(|means| *means == Means::No),
            false => self.at(&means).filter(|_| !asks.elsewhere),
        };
        // Where the answers have no rows of their own, what would hold for longer is seen in place of the reason.
        let holds = at.filter(|at| !space.listed && means.get(*at).is_some_and(|means| means.rule().is_some()));
        let why = match holds.and_then(|at| answers.get(at)) {
            Some(answer) => {
                let about = format!("  {}{}", answer.about, answer.saved);
                let spans = vec![Span::raw(answer.words.clone()), Span::styled(about, tints.label)];
                let rows = wrap(&Line::from(spans), inner, &Indent::all(Span::raw("  ")));
                first_rows(rows, if space.why { TEXT_ROWS } else { 2 }, inner)
            }
            None if self.details.is_whole() || !space.why => Vec::new(),
            None => {
                let task = asks.task.filter(|_| space.blanks).map(|task| {
                    let spans =
                        vec![Span::styled("  Its task   ", tints.meta), Span::styled(task.to_owned(), tints.label)];
                    cut(&Line::from(spans), inner)
                });
                task.into_iter().chain(self.why(inner, &tints)).collect()
            }
        };
        let why: Vec<Line<'static>> = note.chain(why).map(|row| tints.row(row)).collect();
        let mut rows: Vec<Line<'static>> = blank(space.blanks && !why.is_empty()).into_iter().chain(why).collect();
        if named > 0 && !asks.others.is_empty() {
            rows.extend(blank(space.blanks));
            rows.extend((space.chosen > 2).then(|| tints.row(Line::styled("  After it", tints.meta))));
            rows.extend(listed(asks, inner, theme).into_iter().map(|row| tints.row(row)));
        }
        rows.extend(blank(space.before_answers));
        rows.extend(match space.listed {
            true => tints.answers(&answers, at, (1, space.chosen), width),
            false => tints.short_answers(&answers, at, width),
        });
        rows.extend(blank(space.blanks));
        let numbers = means.iter().filter(|means| means.is_numbered()).count();
        let has_more = space.least < usize::MAX || self.has_more();
        rows.extend(self.keys(asks, &Tints::choosing(space.listed, numbers), has_more, width, &tints));
        rows
    }

    /// As much of what is asked about as there is room for.
    fn seen(&mut self, room: usize, tints: &Tints) -> Vec<Line<'static>> {
        let Some(Drawn { rows, beyond, changed, .. }) = &self.drawn else { return Vec::new() };
        let all = rows.len() + beyond;
        if all <= room {
            self.details.first(all, room);
            return rows.iter().map(|row| tints.row(row.clone())).collect();
        }
        let most = room.saturating_sub(1);
        let from = self.details.first(all, most);
        // Lines that stay as they are make room for those that change.
        let last_change = rows.iter().rposition(|row| Some(row) == changed.last());
        let makes_room = !changed.is_empty() && last_change.is_none_or(|last| last >= most);
        let rows = if !self.details.is_whole() && makes_room { changed } else { rows };
        let shown: Vec<Line<'static>> = rows.iter().skip(from).take(most).cloned().collect();
        let more = match self.details.is_whole() {
            true => format!("  {}", self.details.seen(all)),
            false => format!("    … {} · d", figures::count(all - shown.len(), "more row", "more rows")),
        };
        shown.into_iter().chain([Line::styled(more, tints.meta)]).map(|row| tints.row(row)).collect()
    }

    /// What is asked about is drawn once, and its beginning not further than any panel is high.
    fn draw(&mut self, width: usize, theme: &Theme) -> &Drawn {
        let is_whole = self.details.is_whole();
        let is_old = |drawn: &mut Drawn| (drawn.width, drawn.theme, drawn.is_whole) != (width, theme.name, is_whole);
        self.drawn.take_if(is_old);
        let (rows, beyond) = match &self.drawn {
            Some(_) => (Vec::new(), 0),
            None if is_whole => (self.whole(width, theme), 0),
            None => what(&self.asked.request, width, BOX_LINES, theme),
        };
        let changed = match &self.drawn {
            None if !is_whole => changed(&self.asked.request, width, BOX_LINES, theme),
            Some(_) | None => Vec::new(),
        };
        self.drawn.get_or_insert(Drawn { width, theme: theme.name, is_whole, rows, beyond, changed })
    }

    /// All of what is asked about, why, and what the rules would allow.
    fn whole(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let request = &self.asked.request;
        let mut rows = what(request, width, usize::MAX, theme).0;
        if self.asked.is_summed_up() {
            rows.extend(arguments_of(request, width, usize::MAX, theme).0);
        }
        rows.extend(self.why(width, &tints));
        let session = ("This session  ", &request.session_rule, String::new());
        let always = ("Always  ", &request.always_rule, self.asked.saved());
        for (name, rule, saved) in [session, always] {
            let Some(rule) = rule else { continue };
            let indent = Indent::hanging(Span::styled(format!("  {name}"), tints.meta));
            let words = format!("{}{saved}", self.asked.in_short(rule));
            rows.extend(wrap(&Line::styled(words, tints.label), width, &indent));
        }
        rows
    }

    /// Why it is asked about: a row or more for each thing, all of it. What could do most harm is told in rows with `!`.
    fn why(&self, width: usize, tints: &Tints) -> Vec<Line<'static>> {
        let request = &self.asked.request;
        // Nobody has looked yet at what the person made of it.
        if self.asked.revised {
            return wrap(&Line::styled(NOT_CHECKED, tints.label), width, &Indent::all(Span::raw("  ")));
        }
        let indent = Indent { first: vec![Span::styled("  ! ", tints.alarm)], rest: vec![Span::raw("    ")] };
        let network = match self.opens_network() {
            true => {
                let [name, says] = NETWORK;
                wrap(&Line::from(vec![Span::styled(name, tints.alarm), Span::raw(says)]), width, &indent)
            }
            false => Vec::new(),
        };
        let lines = request.reason.lines().map(visible_line).filter(|line| !line.is_empty());
        if request.risk >= Risk::Critical {
            return network.into_iter().chain(lines.flat_map(|line| wrap(&Line::raw(line), width, &indent))).collect();
        }
        let lead = "Asked because ";
        let below = "  ".len() + lead.width();
        let rows = lines.enumerate().flat_map(|(index, line)| {
            // What does not fit goes on below the words, unless that would leave too few columns.
            if width < HANGING {
                let lead = if index == 0 { lead } else { "" };
                let spans = vec![Span::styled(lead, tints.meta), Span::styled(line, tints.label)];
                return wrap(&Line::from(spans), width, &Indent::all(Span::raw("  ")));
            }
            let lead = if index == 0 { lead.to_owned() } else { " ".repeat(lead.width()) };
            let first = vec![Span::raw("  "), Span::styled(lead, tints.meta)];
            let indent = Indent { first, rest: vec![Span::raw(" ".repeat(below))] };
            wrap(&Line::styled(line, tints.label), width, &indent)
        });
        network.into_iter().chain(rows).collect()
    }

    /// Whether some of the reasons are shown however little room there is: what could do much harm does not look
    /// harmless in a small terminal. The rule that waits for Enter stands in their place.
    fn must_say_why(&self, asks: Asks<'_>) -> bool {
        let is_grave = self.asked.request.risk >= Risk::Critical || self.opens_network();
        let shows_rule = !asks.refuses && !asks.elsewhere && self.chosen().is_some_and(|means| means.rule().is_some());
        is_grave && !self.asked.revised && !self.details.is_whole() && !shows_rule
    }

    /// As many of the reasons as there is room for, and how many rows of them are missing.
    fn some_of_why(&self, room: usize, width: usize, tints: &Tints) -> Vec<Line<'static>> {
        if room == 0 {
            return Vec::new();
        }
        let all = self.why(width, tints);
        let hidden = if all.len() > room { all.len() + 1 - room } else { 0 };
        let more = (hidden > 0).then(|| {
            let words = format!("  ! … {} · d", figures::count(hidden, "more row", "more rows"));
            cut(&Line::styled(words, tints.alarm), width)
        });
        let shown = all.len() - hidden;
        all.into_iter().take(shown).chain(more).map(|row| tints.row(row)).collect()
    }

    /// Whether a yes lets a command out of its sandbox into the network. Without a sandbox the head says more than that.
    fn opens_network(&self) -> bool {
        let request = &self.asked.request;
        // A server has its network whatever is answered.
        let is_opened = request.network && request.sandboxed == Some(true) && request.command.is_some();
        is_opened && !self.asked.revised
    }

    fn heading(&self, asks: Asks<'_>, width: usize, tints: &Tints, theme: &Theme) -> Line<'static> {
        let request = &self.asked.request;
        let left = |room: usize| {
            let mark = Span::styled("◆ ", tints.edge);
            let summary = asks.who.and_then(|who| request.summary.strip_prefix(&format!("{who}: ")));
            let summary = summary.unwrap_or(&request.summary);
            let counts = if self.asked.revised { Vec::new() } else { counts(request, theme) };
            let taken = counts.iter().map(Span::width).sum::<usize>();
            let (verb, what) = parted(summary);
            let lead = match asks.who {
                Some(who) => format!("{who}  would {} ", verb.to_lowercase()),
                None => format!("{verb:<6} "),
            };
            let changed = if self.asked.revised { ", as you changed it" } else { "" };
            let left = room.saturating_sub(lead.width() + taken + changed.width() + 2);
            let what = match request.command.is_some() {
                true => format!("a command{changed}"),
                false => format!("{}{changed}", fitted(&what, request.says(), left)),
            };
            let bold = Span::styled(lead, Modifier::BOLD);
            [mark, bold, Span::raw(what)].into_iter().chain(counts).collect()
        };
        let others = match asks.done + asks.others.len() {
            0 => None,
            count => {
                let at = asks.done + asks.before + 1;
                Some(Span::styled(format!("   {at} of {}", count + 1), tints.edge))
            }
        };
        let mut right: Vec<Vec<Span<'static>>> = Vec::new();
        for words in self.held(tints) {
            right.push(words.iter().cloned().chain(others.clone()).collect());
            right.push(words);
        }
        tints.head(left, &right, width)
    }

    /// Whether the sandbox holds it, from many words to few; what could do most harm says so.
    fn held(&self, tints: &Tints) -> Vec<Vec<Span<'static>>> {
        let request = &self.asked.request;
        let alarm = |words: &'static str| Span::styled(words, tints.alarm);
        // Nobody has looked yet at what the person made of it, which is told below.
        if self.asked.revised {
            return vec![Vec::new()];
        }
        let critical = request.risk >= Risk::Critical;
        let label = |words: &'static str| Span::styled(words, tints.label);
        let meta = |words: &'static str| Span::styled(words, tints.meta);
        match self.asked.held() {
            Some(NO_SANDBOX) if critical => vec![vec![alarm("no sandbox · high risk")]],
            Some(NO_SANDBOX) => vec![vec![alarm(NO_SANDBOX)]],
            Some(held) => {
                let (first, rest) = held.split_at(held.find(" · ").unwrap_or(held.len()));
                let risk = || critical.then(|| alarm(" · high risk"));
                let opens_network = self.opens_network();
                let rest = if opens_network { alarm(rest) } else { meta(rest) };
                let whole = [label(first), rest].into_iter().chain(risk()).collect();
                // What makes it less safe is never left out; that it is sandboxed may be.
                let short = match (opens_network, request.opens) {
                    (true, _) => vec![label(first), alarm(" · with network")],
                    (false, true) => vec![alarm("opens more files")],
                    (false, false) => vec![label(first)],
                };
                let least = opens_network.then(|| std::iter::once(alarm("network")).chain(risk()).collect());
                let short = short.into_iter().chain(risk()).collect();
                [whole, short].into_iter().chain(least).collect()
            }
            None if critical => vec![vec![alarm("high risk")]],
            None if !request.diff.is_empty() => vec![vec![label("in this folder")], Vec::new()],
            None => vec![Vec::new()],
        }
    }

    /// Whether the details say more of it than the panel does where there is room for everything.
    fn has_more(&self) -> bool {
        let request = &self.asked.request;
        let has_rules = request.session_rule.is_some() || request.always_rule.is_some();
        has_rules || self.asked.is_summed_up() || !request.diff.is_empty()
    }

    /// The keys of the last row; `choosing` is what the arrows and Enter are for.
    fn keys(&self, asks: Asks<'_>, choosing: &str, has_more: bool, width: usize, tints: &Tints) -> Vec<Line<'static>> {
        if asks.elsewhere {
            return tints.keys(&Tints::ELSEWHERE, width);
        }
        if asks.refuses {
            return tints
                .keys(&[("Enter", "says no, with or without a reason"), ("Esc", "back to the answers")], width);
        }
        if asks.armed.is_some_and(|rule| self.rule(rule).is_some()) {
            return tints.keys(&[("Enter", "confirm"), ("Esc", "cancel")], width);
        }
        let mut keys = vec![("↑↓ Enter", choosing)];
        if asks.waiting > 0 {
            keys.push(("←→", "the other questions"));
        }
        keys.extend(match (self.details.is_whole(), self.asked.request.diff.is_empty()) {
            (true, _) => Some(("Esc or d", "back")),
            (false, true) => has_more.then_some(("d", "details")),
            (false, false) => Some(("d", "whole diff")),
        });
        if self.details.is_whole() {
            return tints.keys(&keys, width);
        }
        let (long, short) = match asks.esc {
            Esc::No => ("no", "no"),
            Esc::StopsShell => ("stop your command", "stop !"),
            Esc::StopsCall => ("no, stop the turn", "no, stop"),
            Esc::StopsRoot => ("stop the turn", "stop"),
            Esc::Pauses => return tints.keys(&keys, width),
        };
        let with =
            |does: &'static str| tints.keys(&keys.iter().copied().chain([("Esc", does)]).collect::<Vec<_>>(), width);
        let rows = with(long);
        if rows.len() > 1 { with(short) } else { rows }
    }
}

/// How many lines a change adds and removes.
fn counts(request: &PermissionRequest, theme: &Theme) -> Vec<Span<'static>> {
    if request.diff.is_empty() {
        return Vec::new();
    }
    let (added, removed) =
        request.diff.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let is = match request.diff.as_slice() {
        [file] if file.deleted => "  deleted",
        [file] if file.created => "  new",
        _ => "",
    };
    vec![
        Span::styled(format!("  +{added}"), Style { bg: None, ..theme.added }),
        Span::styled(format!(" −{removed}"), Style { bg: None, ..theme.removed }),
        Span::styled(is, theme.dim),
    ]
}

/// What else waits, as far as there is room.
fn listed(asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let more = asks.others.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| cut(&Line::styled(format!("    … and {more} more"), theme.dim), width));
    let named = asks.others.get(..LISTED).unwrap_or(asks.others);
    let columns = Columns::of(named, width, theme);
    named.iter().flat_map(|other| other.rows(width, columns, theme)).chain(more).collect()
}
