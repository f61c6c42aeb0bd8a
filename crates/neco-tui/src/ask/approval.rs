//! May this run?

use neco_proto::event::PermissionRequest;
use neco_proto::{Command, Decision, Diff, Risk};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::host::Edited;
use crate::text::wrap::{Indent, cut, cut_front, wrap, wrap_all};
use crate::text::{diff, words};
use crate::theme::{Theme, ThemeName};

/// Rows of what is asked about that a small terminal still shows, and that stay once all of it was shown.
const LEAST_ROWS: usize = 3;

/// Rows of the reason and of each rule at most; `d` shows all of them.
const TEXT_ROWS: usize = 2;

/// Lines of what is asked about that are drawn for the box; no terminal is higher.
const BOX_LINES: usize = 300;

/// Rows of what else waits.
const LISTED: usize = 4;

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
    /// Whether the person changed it: what is shown is theirs.
    revised: bool,
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

impl Approval {
    /// The box of `request`.
    #[must_use]
    pub fn new(request: PermissionRequest) -> Self {
        Self { request, was_shown: false, revised: false, drawn: None }
    }

    /// The person made this of it: no rule is made of that, and it is asked about as it is now.
    pub fn revise(&mut self, edited: Edited) {
        let verb = self.request.summary.split([' ', ',']).next().unwrap_or_default().to_owned();
        let command = edited.arguments.get("command").and_then(serde_json::Value::as_str).map(str::to_owned);
        self.request.summary = format!("{verb}, as you changed it");
        self.request.reason = "it is judged anew: you are asked again if it is riskier than what you saw".to_owned();
        self.request.command = self.request.command.take().and(command);
        self.request.args = edited.arguments;
        self.request.diff = edited.diff;
        self.request.session_rule = None;
        self.request.always_rule = None;
        (self.revised, self.was_shown, self.drawn) = (true, false, None);
    }

    /// Yes to what is shown.
    #[must_use]
    pub fn yes(&self) -> Decision {
        if self.revised { Decision::Edit { arguments: self.request.args.clone() } } else { Decision::Once }
    }

    /// What `key` comes to.
    #[must_use]
    pub fn key(&self, key: Key) -> Outcome {
        let decide = |decision| Outcome::Send(self.command(decision));
        match key {
            Key::Yes => decide(self.yes()),
            Key::Session if self.session_rule().is_some() => decide(Decision::Session),
            Key::Always if self.always_rule().is_some() => decide(Decision::Always),
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

    /// What "for this session" would allow. No rule is made of what was not seen.
    fn session_rule(&self) -> Option<&String> {
        self.request.session_rule.as_ref().filter(|_| !self.is_unseen())
    }

    /// What "always" would allow.
    fn always_rule(&self) -> Option<&String> {
        self.request.always_rule.as_ref().filter(|_| !self.is_unseen())
    }

    /// Whether a change is too long for the box to show any of it, and was not shown otherwise.
    fn is_unseen(&self) -> bool {
        !self.was_shown && self.request.diff.iter().any(is_summed_up)
    }

    /// The rows of the box: its head, the reason and the keys have room before what is asked about, which is cut.
    /// Gives as well how many of those that wait besides it are named.
    #[must_use]
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        let mut rows = vec![self.heading(asks, width, theme)];
        if asks.answered {
            rows.push(cut(&Line::styled("  answered", theme.dim), width));
            return (rows, 0);
        }
        let mut why = first_rows(self.why(width, theme), TEXT_ROWS, width);
        let mut keys = self.keys(asks, width, theme);
        let mut others = listed(asks, width, theme);
        if rows.len() + LEAST_ROWS + why.len() + others.len() + keys.len() > room {
            others.clear();
        }
        if rows.len() + LEAST_ROWS + why.len() + keys.len() > room {
            keys = self.short_keys(asks, width, theme);
        }
        let named = others.len();
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
            let words = format!("    … {}{where_else}", words::count(beyond, "more row", "more rows"));
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
        let request = &self.request;
        self.drawn.get_or_insert_with(|| {
            let (rows, beyond) = what(request, width, BOX_LINES, theme);
            Drawn { width, theme: theme.name, rows, beyond }
        })
    }

    /// All of what is asked about and what the keys would allow, for the scrollback.
    #[must_use]
    pub fn whole(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = vec![cut(&Line::styled(visible_line(&self.request.summary), theme.heading), width)];
        rows.extend(what(&self.request, width, usize::MAX, theme).0);
        if self.request.diff.iter().any(is_summed_up) {
            rows.extend(arguments_of(&self.request, width, usize::MAX, theme).0);
        }
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
        if asks.waiting > 0 {
            spans.push(Span::styled(format!(" · {} more wait", asks.waiting), theme.dim));
        }
        spans.push(Span::styled(" · ", theme.dim));
        spans.push(Span::styled(visible_line(&self.request.summary), theme.accent));
        cut(&Line::from(spans), width)
    }

    fn keys(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        let indent = Indent { first: Vec::new(), rest: vec![Span::raw("     ")] };
        let mut row = |key: &'static str, words: String| {
            let line = Line::from(vec![Span::styled(format!("  {key}  "), theme.accent), Span::raw(words)]);
            rows.extend(first_rows(wrap(&line, width, &indent), TEXT_ROWS, width));
        };
        if let Some((letter, rule)) = self.armed(asks) {
            row(letter, self.in_short(rule));
            row("Enter", "so it is · Esc  not so".to_owned());
            return rows;
        }
        row("y", if self.revised { "yes, as you changed it" } else { "yes, once" }.to_owned());
        if let Some(rule) = self.session_rule() {
            row("s", format!("yes, for this session: {}", self.in_short(rule)));
        }
        if let Some(rule) = self.always_rule() {
            row("a", format!("always: {}", self.in_short(rule)));
        }
        row("n", "no, and say why".to_owned());
        let all = if asks.others.is_empty() { "" } else { " · Y  all with + · N  none" };
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
    fn armed(&self, asks: Asks<'_>) -> Option<(&'static str, &String)> {
        match asks.armed? {
            Key::Session => Some(("s", self.session_rule()?)),
            Key::Always => Some(("a", self.always_rule()?)),
            Key::Yes | Key::Edit | Key::No | Key::Whole | Key::AllYes | Key::AllNo => None,
        }
    }

    /// The keys in as few rows as they can be told.
    fn short_keys(&self, asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if let Some((letter, rule)) = self.armed(asks) {
            let words = format!("Enter: {letter}, {} · Esc: not so", self.in_short(rule));
            let rows = wrap(&Line::styled(words, theme.accent), width, &Indent::all(Span::raw("  ")));
            return first_rows(rows, TEXT_ROWS, width);
        }
        let mut keys = vec!["y yes", "n no"];
        keys.extend(self.session_rule().is_some().then_some("s session"));
        keys.extend(self.always_rule().is_some().then_some("a always"));
        keys.extend(["e change", "d all of it"]);
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

/// The change, the command, or the arguments: at most `most` lines, and how many there are beyond.
fn what(request: &PermissionRequest, width: usize, most: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
    if !request.diff.is_empty() {
        return changes(request, width, most, theme);
    }
    let mut rows = Vec::new();
    let mut beyond = 0;
    if let Some(command) = request.command.as_deref() {
        let prompt = Indent { first: vec![Span::styled("  $ ", theme.dim)], rest: vec![Span::raw("    ")] };
        let text = visible(command);
        let lines: Vec<Line<'static>> = text.lines().take(most).map(|line| Line::raw(line.to_owned())).collect();
        beyond = text.lines().count() - lines.len();
        rows.extend(wrap_all(&lines, width, &prompt));
    }
    let (arguments, further) = arguments_of(request, width, most, theme);
    rows.extend(arguments);
    (rows, beyond + further)
}

/// The arguments, to the last character.
fn arguments_of(request: &PermissionRequest, width: usize, most: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
    let indent = Indent { first: vec![Span::raw("    ")], rest: vec![Span::raw("      ")] };
    let text = visible(&arguments(&request.args, request.command.as_deref()));
    let lines = text.lines().take(most).map(|line| Line::styled(line.to_owned(), theme.dim));
    let rows = lines.flat_map(|line| wrap(&line, width, &indent)).collect();
    (rows, text.lines().count().saturating_sub(most))
}

fn changes(request: &PermissionRequest, width: usize, most: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
    let mut rows = Vec::new();
    let mut beyond = 0;
    for file in &request.diff {
        let what = if file.deleted {
            " (deleted)"
        } else if file.created {
            " (new)"
        } else {
            ""
        };
        let counts = format!("{what} +{} −{}", file.added, file.removed);
        let path = cut_front(&visible_line(&file.path), width.saturating_sub(counts.width() + 2));
        let heading = format!("  {path}{counts}");
        rows.push(cut(&Line::styled(heading, theme.dim), width));
        if is_summed_up(file) {
            let words = "  too long to show as a change; d shows what would be written";
            rows.push(cut(&Line::styled(words, theme.warning), width));
        } else {
            let (drawn, further) = diff::rows(&visible(&file.unified), width, most.saturating_sub(rows.len()), theme);
            rows.extend(drawn);
            beyond += further;
        }
    }
    (rows, beyond)
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
    /// What else would be decided with `Y`, a line each: what waits, then the calls of the turn not come to yet.
    pub others: &'a [String],
    /// Whether the root works, so that Esc stops it.
    pub works: bool,
    /// The rule that was asked for and waits for Enter.
    pub armed: Option<Key>,
    /// Whether the person has answered, and the session has not taken it yet.
    pub answered: bool,
}

/// What else waits, as far as there is room.
fn listed(asks: Asks<'_>, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let lines = asks.others.iter().take(LISTED);
    lines.map(|line| cut(&Line::styled(format!("  {line}"), theme.dim), width)).collect()
}

/// Whether a change was too long to be told line by line: no hunk is there although something would change.
fn is_summed_up(file: &Diff) -> bool {
    !file.deleted && file.added + file.removed > 0 && !file.unified.lines().any(|line| line.starts_with("@@ "))
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

/// The same as one line.
#[must_use]
pub fn visible_line(text: &str) -> String {
    visible(text.trim()).replace('\n', "⏎").replace('\t', " ")
}

fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{fff9}'..='\u{fffb}' | '\u{fe00}'..='\u{fe0e}'
            | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{3000}')
}
