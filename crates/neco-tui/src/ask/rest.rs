//! What else will be asked about, and what one key said of it before its turn came.

use neco_proto::event::{AskedAhead, PermissionRequest, Says};
use neco_proto::visible::visible_line;
use neco_proto::{CallId, Decision, Diff, Risk};
use neco_view::ask::NO_SANDBOX;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::subject::{counted, fitted, parted};
use crate::text::figures::padded;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// Rows of a call that `Y` covers.
const COVERED_ROWS: usize = 2;

/// Columns from which on it is said that a change stays in the folder.
const WIDE: usize = 78;

/// Columns below which its mark alone says that a call is asked about by itself.
const NARROW: usize = 56;

/// Columns before what a call is about: its mark and its verb.
const LEAD: usize = 11;

/// Whether yes to all says yes to it: what could do much harm is looked at by itself.
pub fn is_mild(risk: Option<Risk>) -> bool {
    risk.is_some_and(|risk| risk < Risk::High)
}

/// How a call stands that is named below the one that is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `Y` says yes to it too.
    Covered,
    /// It is asked about by itself.
    Alone,
    /// The person said yes to it already.
    Said,
}

impl Mark {
    /// How a call of this risk stands whose line says so much. A command is seen whole only in a box of its own, and so
    /// is a change of more files than its line names.
    pub fn of(risk: Option<Risk>, says: Says) -> Self {
        if is_mild(risk) && says == Says::Whole { Self::Covered } else { Self::Alone }
    }
}

/// A call that is named below the one that is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    pub call: CallId,
    /// How it stands.
    pub mark: Mark,
    /// Who wants it, when that is not the root.
    pub who: Option<String>,
    /// How much harm it could do, once that is known.
    pub risk: Option<Risk>,
    /// How many lines it adds and removes, where that is known of it.
    pub counts: String,
    /// How the sandbox holds it, in short; nothing where that is not known of it.
    pub held: &'static str,
    /// The call in one line.
    pub summary: String,
    /// How much of it that line says.
    pub says: Says,
}

impl Other {
    /// Why `Y` does not say yes to it, in a word or two.
    pub fn why_alone(&self) -> &'static str {
        match (self.risk, self.says) {
            (None, _) => "not checked yet",
            (Some(Risk::Critical), _) => "high risk",
            (Some(_), Says::Command) => "commands",
            (Some(_), Says::Part | Says::Whole) if !is_mild(self.risk) => "high risk",
            (Some(_), Says::Part | Says::Whole) => "not shown whole here",
        }
    }

    /// What `Y` covers is shown to the last character; where there is no room for that, it is asked about by itself.
    #[must_use]
    pub fn in_width(self, width: usize, theme: &Theme) -> Self {
        let whole = || self.whole(width, Columns::default(), theme).len();
        let is_cut = self.mark == Mark::Covered && whole() > COVERED_ROWS;
        if is_cut { Self { mark: Mark::Alone, ..self } } else { self }
    }

    /// Its rows: one, or two of what `Y` covers.
    pub fn rows(&self, width: usize, columns: Columns, theme: &Theme) -> Vec<Line<'static>> {
        match self.mark {
            Mark::Covered => self.whole(width, columns, theme),
            Mark::Alone | Mark::Said => {
                let end = self.end(width, columns, theme);
                let taken: usize = end.iter().map(Span::width).sum();
                let (verb, what) = self.words();
                let counts = self.counts_beside();
                let what = fitted(&what, self.says, width.saturating_sub(taken + LEAD + counts.width()));
                let row = cut(&Line::from(self.lead(&verb, what + &counts, theme)), width.saturating_sub(taken));
                vec![Line::from_iter(row.spans.into_iter().chain(end))]
            }
        }
    }

    fn whole(&self, width: usize, columns: Columns, theme: &Theme) -> Vec<Line<'static>> {
        let (verb, what) = self.words();
        let lead = self.lead(&verb, what + &self.counts_beside(), theme);
        let line = Line::from_iter(lead.into_iter().chain(self.end(width, columns, theme)));
        wrap(&line, width, &Indent { first: Vec::new(), rest: vec![Span::raw("    ")] })
    }

    /// Its verb, and what that is done to: all of it where `Y` covers it.
    fn words(&self) -> (String, String) {
        match self.mark {
            Mark::Covered => {
                let summary = visible_line(&self.summary);
                let (verb, what) = summary.split_once(' ').unwrap_or((&summary, ""));
                (verb.to_owned(), what.to_owned())
            }
            Mark::Alone | Mark::Said => parted(&self.summary),
        }
    }

    /// How many lines it adds and removes, where its words do not say so.
    fn counts_beside(&self) -> String {
        let said = counted(&self.summary).unwrap_or_default();
        let counts = match self.mark {
            Mark::Covered if !said.is_empty() => "",
            Mark::Covered | Mark::Alone | Mark::Said if !self.counts.is_empty() => self.counts.as_str(),
            Mark::Covered | Mark::Alone | Mark::Said => said,
        };
        if counts.is_empty() { String::new() } else { format!("  {counts}") }
    }

    /// The columns that what it is about takes.
    fn lead_width(&self, theme: &Theme) -> usize {
        let (verb, what) = self.words();
        self.lead(&verb, what + &self.counts_beside(), theme).iter().map(Span::width).sum()
    }

    fn lead(&self, verb: &str, what: String, theme: &Theme) -> Vec<Span<'static>> {
        let mark = match self.mark {
            Mark::Covered => "+",
            Mark::Alone => "·",
            Mark::Said => "✓",
        };
        vec![Span::styled(format!("  {mark} "), theme.dim), Span::raw(format!("{verb:<6} ")), Span::raw(what)]
    }

    /// How risky it is, who wants it, and what becomes of it.
    fn end(&self, width: usize, columns: Columns, theme: &Theme) -> Vec<Span<'static>> {
        let (risk, end) = (self.risk_word(width), self.becomes(width));
        let style = if self.risk == Some(Risk::Critical) { theme.bad } else { theme.dim };
        if columns == Columns::default() {
            let gap = if risk.is_empty() { "" } else { " · " };
            return vec![Span::raw("  "), Span::styled(risk, style), Span::styled(format!("{gap}{end}"), theme.dim)];
        }
        let before = columns.what.saturating_sub(self.lead_width(theme)) + 2;
        let gap = if columns.risk > 0 { "  " } else { "" };
        vec![
            Span::raw(" ".repeat(before)),
            Span::styled(padded(risk, columns.risk), style),
            Span::styled(format!("{gap}{end}"), theme.dim),
        ]
    }

    fn risk_word(&self, width: usize) -> &'static str {
        match self.risk {
            Some(Risk::Critical) => "high risk",
            Some(_) if width < WIDE => "",
            Some(_) if self.says == Says::Command && self.held.is_empty() => "runs a command",
            Some(_) if self.says == Says::Command => self.held,
            Some(_) => "in this folder",
            None => "not checked yet",
        }
    }

    /// Who wants it, and what becomes of it.
    fn becomes(&self, width: usize) -> String {
        let becomes = match self.mark {
            Mark::Alone if width < NARROW => "",
            Mark::Covered => "with Y",
            Mark::Alone => "asked by itself",
            Mark::Said => "you said yes",
        };
        self.who.iter().map(|who| format!("{who} · ")).chain([becomes.to_owned()]).collect()
    }
}

/// How the sandbox holds a call, in short; nothing of what runs nothing.
pub fn held(request: &PermissionRequest) -> &'static str {
    match (request.sandboxed, request.network) {
        (Some(false), _) => NO_SANDBOX,
        (Some(true), true) => "with network",
        (Some(true), false) => "sandboxed",
        (None, _) => "",
    }
}

/// How many lines a change adds and removes; nothing of what changes no file.
pub fn counts(diff: &[Diff]) -> String {
    let (added, removed) =
        diff.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    if diff.is_empty() { String::new() } else { format!("+{added} −{removed}") }
}

/// The columns of calls that are named below one another: of what they are about, and of how risky they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    what: usize,
    risk: usize,
}

impl Columns {
    /// The columns of these calls; none of a single one, and where one of them would need a second row for that.
    pub fn of(others: &[Other], width: usize, theme: &Theme) -> Self {
        let widest = |wide: &dyn Fn(&Other) -> usize| others.iter().map(wide).max().unwrap_or_default();
        let what = widest(&|other: &Other| other.lead_width(theme));
        let risk = widest(&|other: &Other| other.risk_word(width).width());
        let end = widest(&|other: &Other| other.becomes(width).width());
        if others.len() > 1 && what + risk + end + 4 <= width { Self { what, risk } } else { Self::default() }
    }
}

/// What was said of calls that nobody was asked about yet.
#[derive(Clone, Debug)]
pub struct Rest {
    decision: Decision,
    /// What it holds for, as it was shown.
    covered: Vec<AskedAhead>,
    /// What it does not hold for, as it was shown.
    left: Vec<AskedAhead>,
}

impl Rest {
    /// Yes to those that were named and do no great harm.
    pub fn yes(ahead: &[AskedAhead], named: &[CallId]) -> Self {
        let is_named = |ahead: &AskedAhead| is_mild(ahead.risk) && named.contains(&ahead.call_id);
        let (covered, left) = ahead.iter().cloned().partition(is_named);
        Self { decision: Decision::Once, covered, left }
    }

    /// What was said before stays said.
    #[must_use]
    pub fn after(mut self, before: Option<Self>) -> Self {
        let Some(before) = before.filter(|before| before.decision == self.decision) else { return self };
        self.left.retain(|left| !before.covered.iter().any(|covered| covered.call_id == left.call_id));
        self.covered.extend(before.covered);
        self
    }

    /// No to all.
    pub fn no(ahead: &[AskedAhead]) -> Self {
        Self { decision: Decision::Reject { reason: None }, covered: ahead.to_vec(), left: Vec::new() }
    }

    /// Whether yes was said to this call.
    pub fn says_yes(&self, call: &CallId) -> bool {
        self.decision == Decision::Once && self.covered.iter().any(|covered| covered.call_id == *call)
    }

    /// What was said of this call, or why it is asked about all the same; nothing when it was not spoken of.
    pub fn of(&self, request: &PermissionRequest) -> Option<Result<Decision, String>> {
        let find = |calls: &[AskedAhead]| calls.iter().find(|shown| shown.call_id == request.call_id).cloned();
        let Some(shown) = find(&self.covered) else {
            return find(&self.left).map(|shown| Err(not_covered(shown.risk)));
        };
        if self.decision != Decision::Once {
            return Some(Ok(self.decision.clone()));
        }
        // A hook may have made something else of it; what a child wants is asked about with its name before it.
        let is_same =
            request.summary.strip_suffix(&shown.summary).is_some_and(|name| name.is_empty() || name.ends_with(": "));
        if !is_same {
            return Some(Err(format!("You said yes to “{}”; it was changed since", visible_line(&shown.summary))));
        }
        Some(match shown.risk {
            Some(risk) if request.risk > risk => Err(match request.risk {
                Risk::Critical => "It is high risk now; you said yes to less".to_owned(),
                Risk::Safe | Risk::Low | Risk::Medium | Risk::High => {
                    "It does more now than what you said yes to".to_owned()
                }
            }),
            Some(_) | None => Ok(self.decision.clone()),
        })
    }
}

/// Why yes to all was not yes to this.
pub fn not_covered(risk: Option<Risk>) -> String {
    let words = match risk {
        Some(Risk::Critical) => "Asked by itself: it is high risk",
        Some(Risk::High) => "Your yes to all was not for this command",
        Some(_) => "Asked by itself: it could not be shown whole",
        None => "Asked by itself: it was not checked yet",
    };
    words.to_owned()
}
