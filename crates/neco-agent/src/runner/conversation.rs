//! The conversation: all that enters it is in the log first.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_model::History;
use neco_model::tokens::{Family, estimate};
use neco_proto::event::{GivenPiece, PiecesGiven, RulesTold};
use neco_proto::{CallId, EventBody, IdeContext, Message, MessageId, Part, Role, ToolCall, ToolResult};
use neco_safety::policy::Telling;
use neco_safety::secrets::Redactor;
use neco_toolkit::Picture;

use super::reports::Reports;
use crate::context::{Given, editor_told, pieces_told, tokens_of};
use crate::ports::{FolderRules, FoundRules, PiecesWish, RequestFiles, RulesTouch, SinkError};

/// What was said, and what the model was told with it.
pub(super) struct Conversation {
    pub(super) history: History,
    /// What the person has open.
    pub(super) editor: Editor,
    /// Rules files of folders that were touched.
    pub(super) touched: Touched,
    /// Pieces of files that fit what the person says.
    pub(super) pieces: Pieces,
    /// Pictures that follow the results of the present turn.
    pictures: Vec<Picture>,
    /// The results that calls of the last answer had before the turn was handed over.
    earlier: Vec<ToolResult>,
}

impl Conversation {
    pub(super) fn new(history: History, editor: Editor, touched: Touched, pieces: Pieces) -> Self {
        Self { history, editor, touched, pieces, pictures: Vec::new(), earlier: Vec::new() }
    }

    /// Goes on with a turn of which these calls have results; says whether others have none.
    pub(super) fn take_up(&mut self, results: Vec<ToolResult>) -> bool {
        self.earlier = results;
        !self.calls().is_empty()
    }

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

    /// Pieces of files enter the conversation after the message that they fit.
    pub(super) async fn give_pieces(
        &mut self,
        text: String,
        pieces: Vec<GivenPiece>,
        family: Family,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        let message = Message::neco(text);
        let given = PiecesGiven { message_id: message.id, pieces, tokens: tokens_of(&message, family) };
        self.pieces.given.give(&given);
        // Told first: no piece is in the conversation of which the log does not say where it is from.
        reports.emit_apart(EventBody::PiecesGiven(given)).await?;
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
        let earlier = std::mem::take(&mut self.earlier);
        let mut results = [earlier, results].concat();
        if results.is_empty() {
            return;
        }
        let order: Vec<CallId> = self.calls().into_iter().map(|call| call.id).collect();
        results.sort_by_key(|result| order.iter().position(|id| *id == result.call_id));
        let asked = self.history.last().map_or_else(MessageId::new, |message| message.id);
        self.history.push(Message::results_of(asked, results));
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

    /// Rules files of folders that a turn touched for the first time enter the conversation, in `room` tokens for all that
    /// is told of such.
    pub(super) async fn tell_folder_rules(
        &mut self,
        paths: BTreeSet<PathBuf>,
        room: u64,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        let Some(found) = self.touched.find(paths, room).await else { return Ok(()) };
        for notice in &found.notices {
            reports.warn(notice).await?;
        }
        if found.text.is_empty() {
            return Ok(());
        }
        // Told first: what a crash leaves without its note is told again, and not taken for told.
        self.admit(Message::neco(&found.text), reports).await?;
        // Also what was not read, so that a resumed session does not say so again.
        let told = RulesTold { files: found.files, unread: found.unread };
        reports.commit_apart(EventBody::RulesTold(told)).await
    }

    /// The calls of the last answer that had no results before.
    pub(super) fn calls(&self) -> Vec<ToolCall> {
        let calls = self.history.last().into_iter().flat_map(|message| message.tool_calls());
        calls.filter(|call| self.earlier.iter().all(|result| result.call_id != call.id)).cloned().collect()
    }

    /// A call of any answer that is still in the conversation, and whether it failed.
    pub(super) fn call(&self, id: &CallId) -> Option<(ToolCall, bool)> {
        let messages = || self.history.iter().map(|entry| entry.message());
        let call = messages().flat_map(|message| message.tool_calls()).find(|call| call.id == *id)?;
        let is_failure = |part: &Part| match part {
            Part::ToolResult(result) => result.call_id == *id && result.error_code.is_some(),
            Part::Text { .. } | Part::Reasoning { .. } | Part::Image { .. } | Part::ToolCall(_) => false,
        };
        Some((call.clone(), messages().flat_map(|message| &message.parts).any(is_failure)))
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
        self.pieces.given.forget();
    }
}

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

/// How long a turn waits for rules files; a disk that takes longer must not hold up the work.
const LONGEST: Duration = Duration::from_secs(2);

/// What the model was told of rules files below the workspace.
#[derive(Default)]
pub(super) struct Touched {
    rules: Option<Arc<dyn FolderRules>>,
    told: Arc<BTreeSet<String>>,
    looked: Arc<BTreeSet<PathBuf>>,
    /// Tokens of what was told.
    tokens: u64,
}

impl Touched {
    /// As it was left in an earlier run.
    pub(super) fn new(rules: Option<Arc<dyn FolderRules>>, told: BTreeSet<String>) -> Self {
        Self { rules, told: Arc::new(told), ..Self::default() }
    }

    /// From now on rules files are found so.
    pub(super) fn look_with(&mut self, rules: Option<Arc<dyn FolderRules>>) {
        self.rules = rules;
    }

    /// What was told may be gone, so that it is told again when its folder is touched again.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.rules.take(), BTreeSet::new());
    }

    /// Those of the folders that `paths` lie in and that were not told yet, in `room` tokens for all that is told.
    pub(super) async fn find(&mut self, paths: BTreeSet<PathBuf>, room: u64) -> Option<FoundRules> {
        let rules = self.rules.clone().filter(|_| !paths.is_empty())?;
        let room = room.saturating_sub(self.tokens);
        let (looked, told) = (Arc::clone(&self.looked), Arc::clone(&self.told));
        let found = rules.touched(RulesTouch { paths, looked, told, room });
        let found = tokio::time::timeout(LONGEST, found).await.ok()??;
        Arc::make_mut(&mut self.looked).extend(found.looked.iter().cloned());
        Arc::make_mut(&mut self.told).extend(found.files.iter().chain(&found.unread).cloned());
        if !found.text.is_empty() {
            self.tokens += estimate(&found.text, Family::Other);
        }
        Some(found)
    }
}

/// How long a message waits for pieces of files that fit it.
const LONGEST_SEARCH: Duration = Duration::from_millis(400);

/// Pieces of files that fit what the person says.
#[derive(Default)]
pub(super) struct Pieces {
    /// What finds them.
    pub(super) files: Option<Arc<dyn RequestFiles>>,
    /// What was given.
    pub(super) given: Given,
}

impl Pieces {
    /// Takes note of files that calls opened.
    pub(super) fn hear(&mut self, body: &EventBody) {
        if let EventBody::ToolCallEnd(end) = body {
            end.known.iter().for_each(|file| self.given.open(&file.path));
        }
    }

    /// What the model is to be told of those that fit a request, in `room` tokens, and where they stand.
    pub(super) async fn find(
        &self,
        request: &str,
        telling: Telling,
        room: u64,
        family: Family,
        redactor: &Redactor,
    ) -> Option<(String, Vec<GivenPiece>)> {
        let files = self.files.clone().filter(|_| !request.trim().is_empty())?;
        let found = files.fitting(PiecesWish { request: request.to_owned(), telling, has: self.given.has().clone() });
        let pieces = tokio::time::timeout(LONGEST_SEARCH, found).await.ok()?;
        pieces_told(pieces, room, family, redactor)
    }
}
