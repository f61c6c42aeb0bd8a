//! What the person does while a session is being opened waits for it.

use super::window::Window;
use crate::transcript::block::Tone;
use crate::update::Effect;

/// What is said where something was asked of a session that could not be opened.
const DROPPED: &str = "what you asked for meanwhile was meant for that session: ask again";

impl Window {
    /// What was said and asked while a session was being opened is said and asked now.
    pub(super) fn send_early(&mut self) {
        let early = std::mem::take(&mut self.early);
        self.app.wants(early);
    }

    /// A session could not be opened, and the one before it stays: it hears what was said meanwhile, and is asked nothing
    /// that was meant for the other.
    pub(super) fn stay(&mut self) {
        let (kept, dropped) = for_the_old(std::mem::take(&mut self.early));
        if !dropped.is_empty() {
            self.app.transcript.say(Tone::Warning, DROPPED);
        }
        self.app.wants(kept);
    }
}

/// Whether something needs the session, so that it waits for one that is being opened. What is said waits too, except
/// for stopping, which is for what is on the screen.
pub(super) fn waits(effect: &Effect) -> bool {
    matches!(effect, Effect::Ask(_) | Effect::Outside(..) | Effect::Look(_))
}

/// What is still done where the old session stays, and what is not: an agent that is to be looked at is on the screen,
/// so it is the old one's.
fn for_the_old(early: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    early.into_iter().partition(|effect| !matches!(effect, Effect::Ask(_) | Effect::Outside(..)))
}

#[cfg(test)]
mod tests {
    use neco_proto::{AgentId, Command, Query};
    use neco_view::slash::Outside;

    use super::*;

    #[test]
    fn nothing_is_asked_of_a_session_that_was_asked_of_another() {
        let say = Effect::Send(Command::UserMessage { content: "hello".to_owned(), attachments: Vec::new() });
        let look = Effect::Look(AgentId::new());
        let (undo, outside) = (Effect::Ask(Query::UndoPreview), Effect::Outside(Outside::Diff, String::new()));
        assert!([&look, &undo, &outside].into_iter().all(waits) && !waits(&Effect::Branch));
        let early = vec![undo.clone(), say.clone(), outside.clone(), look.clone()];
        assert_eq!(for_the_old(early), (vec![say, look], vec![undo, outside]));
    }
}
