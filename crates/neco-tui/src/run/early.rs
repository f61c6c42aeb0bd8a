//! What is said and asked before the session that it is for is open.

use neco_view::slash::{self, Outside, Slash};

use crate::told::is_command;
use crate::update::Effect;

/// Whether what a window is opened with leads to another session, which the person is still to choose or has named.
pub(super) fn chooses_session(first: &str) -> bool {
    let slash = if is_command(first) { slash::parse(first, &[]).ok() } else { None };
    matches!(slash, Some(Slash::Outside(Outside::Sessions, _) | Slash::Resume(_) | Slash::New))
}

/// Whether something needs the session, so that it waits for one that is being opened. What is said waits too, except
/// for stopping, which is for what is on the screen.
pub(super) fn waits(effect: &Effect) -> bool {
    matches!(effect, Effect::Ask(_) | Effect::Outside(..) | Effect::Look(_) | Effect::Shell(_))
}

/// What is still done where the old session stays, and what is not: an agent that is to be looked at is on the screen,
/// so it is the old one's.
pub(super) fn for_the_old(early: Vec<Effect>) -> (Vec<Effect>, Vec<Effect>) {
    early.into_iter().partition(|effect| !matches!(effect, Effect::Ask(_) | Effect::Outside(..)))
}

#[cfg(test)]
mod tests {
    use neco_proto::{AgentId, Command, Query};

    use super::*;

    #[test]
    fn only_who_chooses_a_session_is_not_told_yet_of_the_one_that_is_open() {
        assert!(["/resume", "/sessions", "/resume c41f2", "/new"].into_iter().all(chooses_session));
        let stays = ["/init", "/review", "/compact", "/ship it", "resume the work", "/model"];
        assert!(!stays.into_iter().any(chooses_session));
    }

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
