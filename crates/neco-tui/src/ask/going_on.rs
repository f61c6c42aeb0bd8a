//! May it go on, although it repeats itself?

use neco_proto::Reply;
use neco_proto::clean::clean_line;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::edge::{Answer, Tints};
use crate::text::wrap::{Indent, wrap};
use crate::theme::Theme;

/// An agent that waits for a word before it goes on.
#[derive(Clone, Debug)]
pub struct LoopBox {
    text: String,
    stays: bool,
}

impl LoopBox {
    pub fn new(text: String) -> Self {
        Self { text, stays: false }
    }

    /// The other of the two answers.
    pub fn step(&mut self) {
        self.stays = !self.stays;
    }

    /// What an answer sends: that of a number from 1, or the chosen one.
    pub fn reply(&self, number: Option<usize>) -> Option<Reply> {
        match number.unwrap_or(1 + usize::from(self.stays)) {
            1 => Some(Reply::GoOn { comments: None }),
            2 => Some(Reply::Dismiss),
            _ => None,
        }
    }

    /// The rows of the panel; `who` is the agent, when it is not the root, and `elsewhere` when keys go to the field.
    pub fn rows(&self, who: Option<&str>, elsewhere: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let inner = width.saturating_sub(1);
        let name = who.map_or_else(|| "It".to_owned(), clean_line);
        let head = Line::styled(format!("{name} repeats itself"), Modifier::BOLD);
        let head = wrap(&head, inner, &Indent::hanging(Span::styled("◆ ", tints.edge)));
        let asks = wrap(&Line::raw(self.asks(who)), inner, &Indent::all(Span::raw("  ")));
        let heading = head.into_iter().chain(asks).map(|row| tints.row(row));
        let answer = |key, words: &str| Answer { key: Some(key), words: words.to_owned(), ..Answer::default() };
        let answers = [answer('y', "Yes, go on"), answer('n', "No, stop here")];
        let at = (!elsewhere).then_some(usize::from(self.stays));
        let list = tints.answers(&answers, at, (1, 1), width);
        let keys = if elsewhere { Tints::ELSEWHERE } else { [("↑↓ Enter", "or 1–2"), ("Esc", "no")] };
        heading.chain(list).chain(tints.keys(&keys, width)).collect()
    }

    /// What it did over and over, and what is asked about that. Its name stands above.
    fn asks(&self, who: Option<&str>) -> String {
        let named = who.and_then(|who| self.text.strip_prefix(who)).and_then(|rest| rest.strip_prefix(": "));
        let text = clean_line(named.unwrap_or(&self.text));
        match text.trim().trim_end_matches('.') {
            "" => "Let it go on?".to_owned(),
            text => format!("{text}. Let it go on?"),
        }
    }
}
