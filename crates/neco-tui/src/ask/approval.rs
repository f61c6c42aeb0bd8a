//! May this run?

use neco_proto::event::PermissionRequest;
use neco_proto::{Command, Decision, Risk};
use neco_view::ask::Approval;
use ratatui::text::{Line, Span};

use super::rest::{Mark, Other};
use super::subject::{arguments_of, fitted, is_summed_up, visible_line, what};
use crate::host::Edited;
use crate::text::figures;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::{Theme, ThemeName};

/// Rows of what is asked about that a small terminal still shows, and that stay once all of it was shown.
const LEAST_ROWS: usize = 3;

/// Rows of the reason and of each rule at most; `d` shows all of them.
const TEXT_ROWS: usize = 2;

/// Lines of what is asked about that are drawn for the box; no terminal is higher.
const BOX_LINES: usize = 300;

/// Rows of what else waits.
const LISTED: usize = 4;

/// Columns of what is asked about that are worth more than how many others wait.
const LEAST_SUMMARY: usize = 24;

/// A command that is shorter is repeated in the rule that allows it.
const SHORT_COMMAND: usize = 40;

/// A rule that can be made of a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Session,
    Always,
}

impl Rule {
    /// The letter that asks for it.
    pub fn letter(self) -> char {
        match self {
            Self::Session => 's',
            Self::Always => 'a',
        }
    }
}

/// The box of one request.
#[derive(Clone, Debug)]
pub struct ApprovalBox {
    pub asked: Approval,
    /// Whether all of it was shown above: the box makes room for that.
    pub was_shown: bool,
    /// Why it is asked about although the person said something of it before.
    pub note: Option<String>,
    /// What is asked about, as it was drawn last, and how many lines of it were left out.
    drawn: Option<Drawn>,
}

#[derive(Clone, Debug)]
struct Drawn {
    width: usize,
    theme: ThemeName,
    rows: Vec<Line<'static>>,
    beyond: usize,
}

impl ApprovalBox {
    /// The box of `request`.
    pub fn new(request: PermissionRequest) -> Self {
        Self { asked: Approval::new(request), was_shown: false, note: None, drawn: None }
    }

    /// The person made this of it: it is shown as it is now.
    pub fn revise(&mut self, edited: Edited) {
        self.asked.revise(edited.arguments, edited.diff);
        (self.was_shown, self.drawn, self.note) = (false, None, None);
    }

    /// Yes, with a rule.
    pub fn yes_always(&self, rule: Rule) -> Option<Command> {
        let decision = match rule {
            Rule::Session => Decision::Session,
            Rule::Always => Decision::Always,
        };
        self.rule(rule).map(|_| self.asked.decide(decision))
    }

    /// What a rule would allow. None is made of what was not seen.
    pub fn rule(&self, rule: Rule) -> Option<&String> {
        let request = &self.asked.request;
        let rule = match rule {
            Rule::Session => &request.session_rule,
            Rule::Always => &request.always_rule,
        };
        rule.as_ref().filter(|_| !self.is_unseen())
    }

    /// Whether a change is too long for the box to show any of it, and was not shown otherwise.
    fn is_unseen(&self) -> bool {
        !self.was_shown && self.asked.request.diff.iter().any(is_summed_up)
    }

    /// The rows of the box: its head, the reason and the keys have room before what is asked about, which is cut.
    /// Gives as well how many of those that wait besides it are named.
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        let mut rows = vec![self.heading(asks, width, theme)];
        if asks.answered {
            rows.push(cut(&Line::styled("  answered", theme.dim), width));
            return (rows, 0);
        }
        let note = self.note.iter().map(|note| cut(&Line::styled(format!("  {note}"), theme.warning), width));
        let mut why: Vec<Line<'static>> = note.chain(first_rows(self.why(width, theme), TEXT_ROWS, width)).collect();
        let mut others = listed(asks, width, theme);
        let mut keys = self.keys(asks, LISTED, width, theme);
        if rows.len() + LEAST_ROWS + why.len() + others.len() + keys.len() > room {
            others.clear();
            keys = self.keys(asks, 0, width, theme);
        }
        if rows.len() + LEAST_ROWS + why.len() + keys.len() > room {
            keys = self.short_keys(asks, width, theme);
        }
        let named = if others.is_empty() { 0 } else { LISTED.min(asks.others.len()) };
        keys.splice(0..0, others);
        why.truncate(room.saturating_sub(rows.len() + 1 + keys.len()));
        let was_shown = self.was_shown;
        let Drawn { rows: what, beyond: left_out, .. } = self.draw(width, theme);
        let most = if was_shown { LEAST_ROWS } else { usize::MAX };
        let left = room.saturating_sub(rows.len() + why.len() + keys.len()).clamp(1, most);
        let shown = if what.len() + *left_out > left { (left - 1).min(what.len()) } else { what.len() };
        let beyond = what.len() - shown + *left_out;
        rows.extend(what.iter().take(shown).cloned());
        if beyond > 0 {
            let where_else = if was_shown { ", shown above" } else { "; d shows all" };
            let words = format!("    … {}{where_else}", figures::count(beyond, "more row", "more rows"));
            rows.push(cut(&Line::styled(words, theme.warning), width));
        }
        rows.extend(why);
        rows.extend(keys);
        (rows, named)
    }

    /// What is asked about is drawn once, and not further than any box is high.
    fn draw(&mut self, width: usize, theme: &Theme) -> &Drawn {
        let is_old = |drawn: &mut Drawn| (drawn.width, drawn.theme) != (width, theme.name);
        self.drawn.take_if(is_old);
        let request = &self.asked.request;
        self.drawn.get_or_insert_with(|| {
            let (rows, beyond) = what(request, width, BOX_LINES, theme);
            Drawn { width, theme: theme.name, rows, beyond }
        })
    }

    /// All of what is asked about and what the keys would allow, for the scrollback.
    pub fn whole(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![cut(&Line::styled(visible_line(&self.asked.request.summary), theme.heading), width)];
        rows.extend(what(&self.asked.request, width, usize::MAX, theme).0);
        if self.asked.request.diff.iter().any(is_summed_up) {
            rows.extend(arguments_of(&self.asked.request, width, usize::MAX, theme).0);
        }
        rows.extend(self.why(width, theme));
        let rules = [("s  ", &self.asked.request.session_rule), ("a  ", &self.asked.request.always_rule)];
        for (key, rule) in rules.into_iter().filter_map(|(key, rule)| Some((key, rule.as_ref()?))) {
            let indent = Indent::hanging(Span::styled(format!("  {key}"), theme.accent));
            rows.extend(wrap(&Line::raw(self.in_short(rule)), width, &indent));
        }
        rows
    }

    fn why(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let why = Line::styled(visible_line(&self.asked.request.reason), theme.dim);
        wrap(&why, width, &Indent::all(Span::raw("  ")))
    }

    fn heading(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Line<'static> {
        let risk = self.asked.request.risk;
        // Nobody has judged yet what the person made of it.
        let (label, style) = match self.asked.revised {
            true => ("changed, not judged yet".to_owned(), theme.warning),
            false => (format!("{risk} risk"), if risk >= Risk::High { theme.bad } else { theme.warning }),
        };
        let mut spans = vec![Span::styled("? ", theme.accent)];
        if let Some(name) = asks.who {
            spans.push(Span::styled(format!("{name} · "), theme.dim));
        }
        // What must be seen comes first: a long command is cut, and shown whole below.
        spans.push(Span::styled(label, style));
        let waiting = Span::styled(format!(" · {} more wait", asks.waiting), theme.dim);
        let taken: usize = spans.iter().map(Span::width).sum::<usize>() + 3;
        if asks.waiting > 0 && taken + waiting.width() + LEAST_SUMMARY <= width {
            spans.push(waiting);
        }
        spans.push(Span::styled(" · ", theme.dim));
        let room = width.saturating_sub(spans.iter().map(Span::width).sum());
        spans.push(Span::styled(fitted(&self.asked.request.summary, self.asked.request.says(), room), theme.accent));
        cut(&Line::from(spans), width)
    }

    /// The keys, with the first `named` of what else waits above them.
    fn keys(&self, asks: Asks<'_>, named: usize, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if asks.elsewhere {
            return elsewhere(width, theme);
        }
        let mut rows = Vec::new();
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw("     ")] };
        let mut row = |key: &str, words: String| {
            let line = Line::from(vec![Span::styled(format!("  {key}  "), theme.accent), Span::raw(words)]);
            rows.extend(first_rows(wrap(&line, width, &indent), TEXT_ROWS, width));
        };
        if let Some((letter, rule)) = self.armed(asks) {
            row(letter.encode_utf8(&mut [0; 4]), self.in_short(rule));
            row("Enter", "or y  so it is · Esc  not so".to_owned());
            return rows;
        }
        row("y", if self.asked.revised { "yes, as you changed it" } else { "yes, once" }.to_owned());
        if let Some(rule) = self.rule(Rule::Session) {
            row("s", format!("yes, for this session: {}", self.in_short(rule)));
        }
        if let Some(rule) = self.rule(Rule::Always) {
            row("a", format!("always: {}", self.in_short(rule)));
        }
        row("n", "no, and say why".to_owned());
        let all = match (asks.covered(named), asks.open()) {
            (0, 0) => String::new(),
            (0, 1..) => " · N  none of them".to_owned(),
            (covered @ 1.., _) => format!(" · Y  this and {covered} with + · N  none"),
        };
        let esc = match (asks.works, all.is_empty()) {
            (true, true) => " · Esc  stop the work",
            (true, false) => " · Esc  stop",
            (false, _) => "",
        };
        let edit = if all.is_empty() { "change it first" } else { "change" };
        row("e", format!("{edit} · d  all of it{all}{esc}"));
        rows
    }

    /// The rule that waits for Enter, with the letter that it was asked for with.
    fn armed(&self, asks: Asks<'_>) -> Option<(char, &String)> {
        let rule = asks.armed?;
        Some((rule.letter(), self.rule(rule)?))
    }

    /// The keys in as few rows as they can be told.
    fn short_keys(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if asks.elsewhere {
            return elsewhere(width, theme);
        }
        if let Some((letter, rule)) = self.armed(asks) {
            let words = format!("Enter or y: {letter}, {} · Esc: not so", self.in_short(rule));
            let rows = wrap(&Line::styled(words, theme.accent), width, &Indent::all(Span::raw("  ")));
            return first_rows(rows, TEXT_ROWS, width);
        }
        let more = format!("{} more after it", asks.open());
        let mut keys = vec!["y yes", "n no"];
        keys.extend(self.rule(Rule::Session).is_some().then_some("s session"));
        keys.extend(self.rule(Rule::Always).is_some().then_some("a always"));
        keys.extend(["e change", "d all of it"]);
        keys.extend(asks.works.then_some("Esc stop"));
        keys.extend((asks.open() > 0).then_some(more.as_str()));
        wrap(&Line::styled(keys.join(" · "), theme.accent), width, &Indent::all(Span::raw("  ")))
    }

    /// A rule that does not repeat a long command: it is shown above.
    fn in_short(&self, rule: &str) -> String {
        let rule = visible_line(rule);
        let command = self.asked.request.command.as_deref().map(visible_line).unwrap_or_default();
        if command.chars().count() < SHORT_COMMAND {
            return rule;
        }
        rule.replace(&format!("`{command}`"), "this command")
    }
}

/// The first rows, with `…` where something is missing.
fn first_rows(mut rows: Vec<Line<'static>>, most: usize, width: usize) -> Vec<Line<'static>> {
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.pop() {
            let spans = last.spans.into_iter().chain([Span::raw(" …")]);
            rows.push(cut(&Line::from_iter(spans), width));
        }
    }
    rows
}

/// Who asks, and how things stand besides.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asks<'a> {
    /// The agent, when it is not the root.
    pub who: Option<&'a str>,
    /// How many other questions wait.
    pub waiting: usize,
    /// What else will be asked about: what waits, then the calls of the turn not come to yet.
    pub others: &'a [Other],
    /// Whether the root works, so that Esc stops it.
    pub works: bool,
    /// The rule that was asked for and waits for Enter.
    pub armed: Option<Rule>,
    /// Whether the person has answered, and the session has not taken it yet.
    pub answered: bool,
    /// Whether keys go to the field, where something was being written when it came.
    pub elsewhere: bool,
}

impl Asks<'_> {
    /// How many of the first `named` others `Y` says yes to.
    fn covered(&self, named: usize) -> usize {
        self.others.iter().take(named.min(LISTED)).filter(|other| other.mark == Mark::Covered).count()
    }

    /// How many others nobody has said anything of.
    fn open(&self) -> usize {
        self.others.iter().filter(|other| other.mark != Mark::Said).count()
    }
}

/// What else waits, as far as there is room.
fn listed(asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let more = asks.others.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| cut(&Line::styled(format!("    … and {more} more"), theme.dim), width));
    asks.others.iter().take(LISTED).flat_map(|other| other.rows(width, theme)).chain(more).collect()
}

/// The keys of a box whose keys go elsewhere.
fn elsewhere(width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let words = "  your keys write the message below · Esc  answer this";
    wrap(&Line::styled(words, theme.warning), width, &Indent { first: Vec::new(), rest: vec![Span::raw("  ")] })
}
