//! May this run?

use neco_proto::event::PermissionRequest;
use neco_proto::{Command, Decision, Risk};
use ratatui::text::{Line, Span};

use crate::text::wrap::{Indent, cut, wrap, wrap_all};
use crate::text::{diff, words};
use crate::theme::Theme;

/// Rows of what is asked about that a small terminal still shows, and that stay once all of it was shown.
const LEAST_ROWS: usize = 3;

/// Rows of the reason and of each rule at most; `d` shows all of them.
const TEXT_ROWS: usize = 2;

/// A command that is shorter is repeated in the rule that allows it.
const SHORT_COMMAND: usize = 40;

/// A key of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Once.
    Yes,
    /// Until the session ends.
    Session,
    /// For good.
    Always,
    /// With other arguments.
    Edit,
    /// Not.
    No,
    /// Show all of it.
    Whole,
    /// Yes to all that wait.
    AllYes,
    /// No to all that wait.
    AllNo,
}

/// What a key came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The answer.
    Send(Command),
    /// The same answer for everything that waits.
    All(Decision),
    /// The person is to say why not.
    AskWhy,
    /// The arguments are to be changed in an editor.
    Edit,
    /// All of it is to be shown.
    Show,
    /// The key means nothing here.
    Nothing,
}

/// The box of one request.
#[derive(Clone, Debug)]
pub struct Approval {
    /// What is asked.
    pub request: PermissionRequest,
    /// Whether all of it was shown above: the box makes room for that.
    pub was_shown: bool,
}

impl Approval {
    /// The box of `request`.
    #[must_use]
    pub fn new(request: PermissionRequest) -> Self {
        Self { request, was_shown: false }
    }

    /// What `key` comes to.
    #[must_use]
    pub fn key(&self, key: Key) -> Outcome {
        let decide = |decision| Outcome::Send(self.command(decision));
        match key {
            Key::Yes => decide(Decision::Once),
            Key::Session if self.request.session_rule.is_some() => decide(Decision::Session),
            Key::Always if self.request.always_rule.is_some() => decide(Decision::Always),
            Key::Edit => Outcome::Edit,
            Key::No => Outcome::AskWhy,
            Key::Whole => Outcome::Show,
            Key::AllYes => Outcome::All(Decision::Once),
            Key::AllNo => Outcome::All(Decision::Reject { reason: None }),
            Key::Session | Key::Always => Outcome::Nothing,
        }
    }

    /// The answer as a command.
    #[must_use]
    pub fn command(&self, decision: Decision) -> Command {
        Command::Approve { call_id: self.request.call_id.clone(), decision }
    }

    /// The rows of the box: its head, the reason and the keys have room before what is asked about, which is cut.
    #[must_use]
    pub fn rows(&self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![self.heading(asks, width, theme)];
        let mut why = first_rows(self.why(width, theme), TEXT_ROWS, width);
        let mut keys = self.keys(asks, width, theme);
        if rows.len() + LEAST_ROWS + why.len() + keys.len() > room {
            keys = self.short_keys(asks, width, theme);
        }
        why.truncate(room.saturating_sub(rows.len() + 1 + keys.len()));
        let what = self.what(width, theme);
        let most = if self.was_shown { LEAST_ROWS } else { usize::MAX };
        let left = room.saturating_sub(rows.len() + why.len() + keys.len()).clamp(1, most);
        let shown = if what.len() > left { left - 1 } else { what.len() };
        let beyond = what.len() - shown;
        rows.extend(what.into_iter().take(shown));
        if beyond > 0 {
            let where_else = if self.was_shown { ", shown above" } else { "; d shows all" };
            let words = format!("    … {}{where_else}", words::count(beyond, "more row", "more rows"));
            rows.push(cut(&Line::styled(words, theme.warning), width));
        }
        rows.extend(why);
        rows.extend(keys);
        rows
    }

    /// All of what is asked about and what the keys would allow, for the scrollback.
    #[must_use]
    pub fn whole(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![cut(&Line::styled(visible_line(&self.request.summary), theme.heading), width)];
        rows.extend(self.what(width, theme));
        rows.extend(self.why(width, theme));
        let rules = [("s  ", &self.request.session_rule), ("a  ", &self.request.always_rule)];
        for (key, rule) in rules.into_iter().filter_map(|(key, rule)| Some((key, rule.as_ref()?))) {
            let indent = Indent::hanging(Span::styled(format!("  {key}"), theme.accent));
            rows.extend(wrap(&Line::raw(self.in_short(rule)), width, &indent));
        }
        rows
    }

    fn why(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let why = Line::styled(visible_line(&self.request.reason), theme.dim);
        wrap(&why, width, &Indent::all(Span::raw("  ")))
    }

    fn heading(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Line<'static> {
        let risk = self.request.risk;
        let style = if risk >= Risk::High { theme.bad } else { theme.warning };
        let mut spans = vec![Span::styled("? ", theme.accent)];
        if let Some(name) = asks.who {
            spans.push(Span::styled(format!("{name} · "), theme.dim));
        }
        // What must be seen comes first: a long command is cut, and shown whole below.
        spans.push(Span::styled(format!("{risk} risk"), style));
        if asks.others > 0 {
            spans.push(Span::styled(format!(" · {} more wait", asks.others), theme.dim));
        }
        spans.push(Span::styled(" · ", theme.dim));
        spans.push(Span::styled(visible_line(&self.request.summary), theme.accent));
        cut(&Line::from(spans), width)
    }

    /// The change, the command, or the arguments.
    fn what(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if !self.request.diff.is_empty() {
            return self.changes(width, theme);
        }
        let mut rows = Vec::new();
        let command = self.request.command.as_deref();
        if let Some(command) = command {
            let prompt = Indent { first: vec![Span::styled("  $ ", theme.dim)], rest: vec![Span::raw("    ")] };
            let lines: Vec<Line<'static>> = visible(command).lines().map(|line| Line::raw(line.to_owned())).collect();
            rows.extend(wrap_all(&lines, width, &prompt));
        }
        let indent = Indent { first: vec![Span::raw("    ")], rest: vec![Span::raw("      ")] };
        for line in visible(&arguments(&self.request.args, command)).lines() {
            rows.extend(wrap(&Line::styled(line.to_owned(), theme.dim), width, &indent));
        }
        rows
    }

    fn changes(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        for file in &self.request.diff {
            let what = if file.deleted {
                " (deleted)"
            } else if file.created {
                " (new)"
            } else {
                ""
            };
            let heading = format!("  {}{what} +{} −{}", visible_line(&file.path), file.added, file.removed);
            rows.push(cut(&Line::styled(heading, theme.dim), width));
            rows.extend(diff::rows(&visible(&file.unified), width, usize::MAX, theme).0);
        }
        rows
    }

    fn keys(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw("     ")] };
        let mut row = |key: &'static str, words: String| {
            let line = Line::from(vec![Span::styled(format!("  {key}  "), theme.accent), Span::raw(words)]);
            rows.extend(first_rows(wrap(&line, width, &indent), TEXT_ROWS, width));
        };
        row("y", "yes, once".to_owned());
        if let Some(rule) = &self.request.session_rule {
            row("s", format!("yes, for this session: {}", self.in_short(rule)));
        }
        if let Some(rule) = &self.request.always_rule {
            row("a", format!("always: {}", self.in_short(rule)));
        }
        row("n", "no, and say why".to_owned());
        let all = match (asks.others, asks.further) {
            (0, 0) => String::new(),
            (others, 0) => format!(" · Y N  all {}", others + 1),
            (_, _) => " · Y N  with the other calls of this turn".to_owned(),
        };
        let esc = if asks.works { " · Esc  stop the work" } else { "" };
        row("e", format!("change it first · d  all of it{all}{esc}"));
        rows
    }

    /// The keys in as few rows as they can be told.
    fn short_keys(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut keys = vec!["y yes", "n no"];
        keys.extend(self.request.session_rule.is_some().then_some("s session"));
        keys.extend(self.request.always_rule.is_some().then_some("a always"));
        keys.extend(["e change", "d all of it"]);
        keys.extend((asks.others + asks.further > 0).then_some("Y N all"));
        keys.extend(asks.works.then_some("Esc stop"));
        wrap(&Line::styled(keys.join(" · "), theme.accent), width, &Indent::all(Span::raw("  ")))
    }

    /// A rule that does not repeat a long command: it is shown above.
    fn in_short(&self, rule: &str) -> String {
        let rule = visible_line(rule);
        let command = self.request.command.as_deref().map(visible_line).unwrap_or_default();
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

/// Who asks, and how many others wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asks<'a> {
    /// The agent, when it is not the root.
    pub who: Option<&'a str>,
    /// How many others wait.
    pub others: usize,
    /// How many calls of the turn were not come to yet.
    pub further: usize,
    /// Whether the root works, so that Esc stops it.
    pub works: bool,
}

/// Arguments as people read them: a name and a value a line; without the command that is shown above them.
fn arguments(args: &serde_json::Value, command: Option<&str>) -> String {
    let Some(fields) = args.as_object() else { return args.to_string() };
    let value = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let new = |field: &serde_json::Value| command.is_none() || field.as_str() != command;
    let fields = fields.iter().filter(|(_, field)| new(field));
    fields.map(|(name, field)| format!("{name}: {}\n", value(field))).collect()
}

/// The text with everything written out that a terminal obeys or does not show.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char == '\t' {
            shown.push_str("    ");
        } else if char == '\n' || !is_hidden(char) {
            shown.push(char);
        } else {
            shown.extend(char.escape_unicode());
        }
    }
    shown
}

fn visible_line(text: &str) -> String {
    visible(text.trim()).replace('\n', "⏎").replace('\t', " ")
}

fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}
