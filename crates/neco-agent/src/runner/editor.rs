//! What the person has open in an editor: the model is told with what the person says next.

use neco_proto::IdeContext;
use neco_safety::secrets::Redactor;

use crate::context::editor_told;

/// What is open, and what the model was told of it.
#[derive(Debug, Default)]
pub(super) struct Editor {
    open: Option<IdeContext>,
    told: Option<IdeContext>,
}

impl Editor {
    /// As it was left in an earlier run.
    pub(super) fn new(told: Option<IdeContext>) -> Self {
        Self { open: None, told }
    }

    /// Something else is open now.
    pub(super) fn set(&mut self, open: IdeContext) {
        self.open = Some(open);
    }

    /// What was told may be gone, so the next time all of it is told.
    pub(super) fn forget(&mut self) {
        self.told = None;
    }

    /// What changed since, with the words for it.
    pub(super) fn news(&mut self, redactor: &Redactor) -> Option<(IdeContext, String)> {
        let open = self.open.as_ref()?;
        let text = editor_told(self.told.as_ref(), open, redactor)?;
        self.told = Some(open.clone());
        Some((open.clone(), text))
    }
}
