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

    /// The rows of the panel; `elsewhere` when keys go to the field.
    pub fn rows(&self, elsewhere: bool, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let tints = Tints::of(theme);
        let heading = Line::styled(format!("It repeats itself: {}", clean_line(&self.text)), Modifier::BOLD);
        let indent = Indent::hanging(Span::styled("◆ ", tints.edge));
        let heading = wrap(&heading, width.saturating_sub(1), &indent).into_iter().map(|row| tints.row(row));
        let answer = |key, words: &str| Answer { key: Some(key), words: words.to_owned(), ..Answer::default() };
        let answers = [answer('y', "Yes, go on"), answer('n', "No, stop here")];
        let at = (!elsewhere).then_some(usize::from(self.stays));
        let list = tints.answers(&answers, at, (1, 1), width);
        let keys = if elsewhere { Tints::ELSEWHERE } else { [("↑↓ Enter", "or 1–2"), ("Esc", "no")] };
        heading.chain(list).chain(tints.keys(&keys, width)).collect()
    }
}
