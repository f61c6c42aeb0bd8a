//! Messages that were said at another window.

use std::collections::HashSet;

use neco_proto::event::Admission;
use neco_proto::{Message, MessageId};

use super::clean::clean;
use super::paint::Paint;

/// Which messages of people are to be shown: all but the one that this process was started with.
#[derive(Debug, Default)]
pub struct Others {
    /// Whether the first message has come.
    begun: bool,
    /// Those that wait and need not be shown again.
    waiting: HashSet<MessageId>,
}

impl Others {
    /// Shows the first one too.
    pub fn show_all(&mut self) {
        self.begun = true;
    }

    /// The line of a message that waits for its turn.
    pub fn queued(&mut self, when: Admission, message: &Message, paint: Paint) -> Option<String> {
        self.waiting.insert(message.id);
        let when = match when {
            Admission::TurnBoundary => "(the agent reads it at its next turn)",
            Admission::AfterWork => "(the agent reads it when its present work is done)",
            Admission::Withdrawn => "(taken back: the agent does not read it)",
        };
        let is_first = !std::mem::replace(&mut self.begun, true);
        (!is_first).then(|| format!("{} {}", said(message, paint), paint.dim(when)))
    }

    /// The line of a message that enters the conversation, unless it was shown before.
    pub fn admitted(&mut self, message: &Message, paint: Paint) -> Option<String> {
        if message.is_neco() || self.waiting.remove(&message.id) {
            return None;
        }
        let is_first = !std::mem::replace(&mut self.begun, true);
        (!is_first).then(|| said(message, paint))
    }
}

fn said(message: &Message, paint: Paint) -> String {
    let lines: Vec<String> = clean(&message.text()).trim().lines().map(|line| format!("> {line}")).collect();
    paint.bold(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_process_was_started_with_is_not_repeated() {
        let (mut others, paint) = (Others::default(), Paint::default());
        assert_eq!(others.admitted(&Message::neco("a hint"), paint), None);
        assert_eq!(others.admitted(&Message::user("mine"), paint), None);
        assert_eq!(others.admitted(&Message::user("two\nlines \u{1b}[31m"), paint).unwrap(), "> two\n> lines");
        let later = Message::user("later");
        assert_eq!(
            others.queued(Admission::AfterWork, &later, paint).unwrap(),
            "> later (the agent reads it when its present work is done)"
        );
        assert_eq!(others.admitted(&later, paint), None, "it was shown when it was said");
    }

    #[test]
    fn a_first_message_that_waits_for_a_hook_is_not_repeated_either() {
        let (mut others, paint) = (Others::default(), Paint::default());
        let mine = Message::user("mine");
        assert_eq!(others.queued(Admission::TurnBoundary, &mine, paint), None);
        assert_eq!(others.admitted(&mine, paint), None);
        let mut guest = Others::default();
        guest.show_all();
        assert_eq!(guest.admitted(&mine, paint).unwrap(), "> mine");
    }
}
