//! What stands in the field and was not sent, as it is kept for whoever comes back after the window was killed.

use neco_proto::SessionId;

use crate::app::WindowState;
use crate::host::Host;
use crate::update::may_be_kept;

/// What was kept last, and the session that it is for.
#[derive(Debug, Default)]
pub(super) struct Draft {
    session: Option<SessionId>,
    kept: String,
}

impl Draft {
    /// What stands in the field is for this session from now on.
    pub(super) fn belongs_to(&mut self, session: SessionId) {
        if self.session.replace(session) != Some(session) {
            self.kept.clear();
        }
    }

    /// Has kept what stands in the field, where that is another text than before.
    pub(super) fn keep(&mut self, window: &WindowState, host: &dyn Host) {
        let Some(session) = self.session else { return };
        let text = window.prompt.draft();
        // What is written may be a key while there is no model, and nobody comes back to a session that is gone.
        if text == self.kept || window.set_up || window.resume.is_none() || window.prompt.searches() {
            return;
        }
        text.clone_into(&mut self.kept);
        let whole = window.prompt.whole_draft();
        host.keep_draft(session, if may_be_kept(&whole) { whole } else { String::new() });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures::FutureExt;
    use futures::future::BoxFuture;
    use neco_proto::Client;
    use neco_proto::app::{AppError, Trouble};

    use super::*;
    use crate::host::Wanted;

    #[derive(Default)]
    struct Kept(Mutex<Vec<(SessionId, String)>>);

    impl Host for Kept {
        fn open(&self, _: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
            async { Err(AppError::new(Trouble::NotFound, "none")) }.boxed()
        }

        fn close(&self, _: Arc<dyn Client>) -> BoxFuture<'_, ()> {
            async {}.boxed()
        }

        fn folder(&self) -> String {
            String::new()
        }

        fn keep_draft(&self, session: SessionId, text: String) {
            self.0.lock().unwrap().push((session, text));
        }
    }

    #[test]
    fn what_is_written_is_kept_once_and_goes_when_it_is_sent() {
        let (host, mut window, mut draft) = (Kept::default(), WindowState::default(), Draft::default());
        let (session, next) = (SessionId::new(), SessionId::new());
        window.resume = Some("neco resume".to_owned());
        window.paste("fix ");
        draft.keep(&window, &host);
        draft.belongs_to(session);
        let long = "line\n".repeat(20);
        window.paste(&long);
        draft.keep(&window, &host);
        draft.keep(&window, &host);
        // What is asked for meanwhile is no draft.
        window.prompt.lend();
        window.paste("why not");
        draft.keep(&window, &host);
        window.prompt.give_back();
        draft.belongs_to(next);
        draft.keep(&window, &host);
        window.prompt.send();
        draft.keep(&window, &host);
        window.paste("/login here-is-my-key");
        draft.keep(&window, &host);
        let whole = format!("fix {long}");
        let expected = [(session, whole.as_str()), (next, whole.as_str()), (next, ""), (next, "")];
        let kept = host.0.into_inner().unwrap();
        assert_eq!(kept.iter().map(|(session, text)| (*session, text.as_str())).collect::<Vec<_>>(), expected);
    }
}
