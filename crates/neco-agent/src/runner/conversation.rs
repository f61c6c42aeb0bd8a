//! The conversation: all that enters it is in the log first.

use neco_model::History;
use neco_proto::{EventBody, Message, MessageId, Part, Role, ToolCall, ToolResult};
use neco_safety::secrets::Redactor;
use neco_toolkit::Picture;

use super::editor::Editor;
use super::folder_rules::Touched;
use super::reports::Reports;
use crate::ports::SinkError;

/// What was said, and what the model was told with it.
pub(super) struct Conversation {
    pub(super) history: History,
    /// What the person has open.
    pub(super) editor: Editor,
    /// Rules files of folders that were touched.
    pub(super) touched: Touched,
    /// Pictures that follow the results of the present turn.
    pictures: Vec<Picture>,
}

impl Conversation {
    pub(super) fn new(history: History, editor: Editor, touched: Touched) -> Self {
        Self { history, editor, touched, pictures: Vec::new() }
    }

    /// A message enters the conversation.
    pub(super) async fn admit(&mut self, message: Message, reports: &Reports) -> Result<(), SinkError> {
        reports.commit_apart(EventBody::Message(message.clone())).await?;
        self.history.push(message);
        Ok(())
    }

    /// What the person said enters the conversation, and before it what changed in their editor.
    pub(super) async fn admit_said(
        &mut self,
        message: Message,
        redactor: &Redactor,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        if !message.is_neco()
            && let Some((open, text)) = self.editor.news(redactor)
        {
            reports.commit_apart(EventBody::IdeContext(open)).await?;
            self.admit(Message::neco(text), reports).await?;
        }
        self.admit(message, reports).await
    }

    /// What the model said enters the conversation.
    pub(super) async fn answer(&mut self, message: Message, reports: &Reports) -> Result<(), SinkError> {
        reports.emit(EventBody::Message(message.clone())).await?;
        self.history.push(message);
        Ok(())
    }

    /// The results of the last answer's calls enter the conversation; the log has them by their calls.
    pub(super) fn keep_results(&mut self, results: Vec<ToolResult>) {
        if !results.is_empty() {
            let asked = self.history.last().map_or_else(MessageId::new, |message| message.id);
            self.history.push(Message::results_of(asked, results));
        }
    }

    /// A picture follows the results of the turn's calls.
    pub(super) fn show(&mut self, picture: Picture) {
        self.pictures.push(picture);
    }

    /// Pictures enter the conversation after the results that speak of them.
    pub(super) async fn admit_pictures(&mut self, reports: &Reports) -> Result<(), SinkError> {
        for Picture { source, media_type, data } in std::mem::take(&mut self.pictures) {
            let mut message = Message::neco(format!("The picture {source}:"));
            message.parts.push(Part::Image { media_type, data });
            self.admit(message, reports).await?;
        }
        Ok(())
    }

    /// The calls of the last answer.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.history.last().map(|message| message.tool_calls().cloned().collect()).unwrap_or_default()
    }

    /// What the person said last.
    pub(super) fn asked(&self) -> String {
        let said = |message: &&Message| message.role == Role::User && !message.is_neco();
        let asked = self.history.iter().rev().map(|entry| entry.message()).find(said);
        asked.map(Message::text).unwrap_or_default()
    }

    /// The conversation is a shorter one now: what was told may be gone.
    pub(super) fn shorten(&mut self, history: History) {
        self.history = history;
        self.editor.forget();
        self.touched.forget();
    }
}
