//! What a tool gives back.

use std::ops::{Bound, Range, RangeBounds};
use std::path::PathBuf;

use neco_proto::event::KnownFile;
use neco_proto::{Display, ErrorCode, QuestionItem, ResultPart, TodoStatus};
use neco_safety::path::Located;
use neco_safety::path::later::Later;

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// The text for the model.
    pub model: String,
    /// What else there is, for windows; what the model reads of it stands in `model`.
    pub parts: Vec<ResultPart>,
    /// Which part of that text came from outside.
    pub outside: Option<Outside>,
    /// The picture for the person.
    pub display: Option<Display>,
    /// The file that holds all of an output that was too big for `model`.
    pub spilled_to: Option<String>,
    /// Set when the tool did its work but the outcome is a failure the model must see as one, such
    /// as a command that timed out with output to show.
    pub error_code: Option<ErrorCode>,
    /// The agent that it started, by its name: it goes on by itself, or has ended with the call.
    pub agent: Option<String>,
    /// What the tool wants of the agent.
    pub intents: Vec<Intent>,
    /// What the model knows of files by this call; kept with its result and handed to [`crate::Tool::recall`]
    /// when the session is opened again.
    pub known: Vec<KnownFile>,
    /// Files that it changed and that act later without being called: the person is told of them.
    pub acting: Vec<ActingFile>,
    /// Files of which it shows something besides those that its plan names: what a search found. Relative ones are
    /// the workspace's.
    pub touched: Vec<PathBuf>,
    /// Which bytes of the text are the hits of a search, in order and apart from each other.
    pub hits: Vec<Range<usize>>,
}

/// A piece of what something outside gave.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputPart {
    /// Text.
    Text(String),
    /// A picture.
    Picture(Picture),
    /// Something else.
    More(ResultPart),
}

/// A file that a call changed and that acts later without being called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActingFile {
    /// Where it is, as it is shown.
    pub path: String,
    /// What it does.
    pub does: Later,
}

/// The part of a text that came from outside: what a file holds or a command printed. The model gets
/// it as data; the rest are words of the tool's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Where it came from.
    pub source: String,
    /// Which bytes of the text it is.
    pub part: Range<usize>,
}

impl ToolOutput {
    /// Text for the model and nothing special for the person.
    pub fn text(model: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            parts: Vec::new(),
            outside: None,
            display: None,
            spilled_to: None,
            error_code: None,
            agent: None,
            intents: Vec::new(),
            known: Vec::new(),
            acting: Vec::new(),
            touched: Vec::new(),
            hits: Vec::new(),
        }
    }

    /// What something outside gave, in order. Every piece has its text for the model; windows get the pieces.
    ///
    /// ```
    /// use neco_proto::ResultPart;
    /// use neco_toolkit::{OutputPart, ToolOutput};
    ///
    /// let link = ResultPart::Link {
    ///     uri: "file:///a.csv".to_owned(),
    ///     name: "a.csv".to_owned(),
    ///     description: None,
    ///     media_type: None,
    /// };
    /// let output = ToolOutput::of_parts([OutputPart::Text("Two rows:".to_owned()), OutputPart::More(link)], "the server");
    /// assert_eq!(output.model, "Two rows:\n[a.csv: file:///a.csv]");
    /// assert_eq!(output.parts.len(), 1);
    /// ```
    pub fn of_parts(parts: impl IntoIterator<Item = OutputPart>, source: impl Into<String>) -> Self {
        let mut output = Self::text(String::new());
        for part in parts {
            output.add(part);
        }
        output.outside(.., source)
    }

    fn add(&mut self, part: OutputPart) {
        let text = match part {
            OutputPart::Text(text) => text,
            OutputPart::Picture(picture) => {
                let (source, media_type) = (picture.source.clone(), picture.media_type.clone());
                self.intents.push(Intent::OfferPicture(picture));
                self.keep(ResultPart::Picture { source, media_type })
            }
            // What has a form for programs is often told as text too.
            OutputPart::More(ResultPart::Data { value }) if self.says(&value) => {
                self.parts.push(ResultPart::Data { value });
                return;
            }
            OutputPart::More(part) => self.keep(part),
        };
        if !self.model.is_empty() {
            self.model.push('\n');
        }
        self.model.push_str(&text);
    }

    /// Whether the text says this value already: as JSON, or as the only thing in it.
    fn says(&self, value: &serde_json::Value) -> bool {
        let mut fields = value.as_object().into_iter().flatten().map(|(_, field)| field.as_str());
        let is_wrapped = matches!((fields.next(), fields.next()), (Some(Some(only)), None) if only == self.model);
        is_wrapped || serde_json::from_str::<serde_json::Value>(&self.model).is_ok_and(|said| said == *value)
    }

    fn keep(&mut self, part: ResultPart) -> String {
        let text = part.to_string();
        self.parts.push(part);
        text
    }

    /// A failure together with what something outside said about it, which the model gets as data. The words
    /// of the error should end with a colon.
    pub fn failure(error: &ToolError, said: &str, source: impl Into<String>) -> Self {
        let head = format!("Error {}: {}\n", error.code, error.message);
        let start = head.len();
        let output = Self::text(head + said).outside(start.., source);
        Self { error_code: Some(error.code), ..output }
    }

    /// The same, of which these bytes came from `source`.
    #[must_use]
    pub fn outside(mut self, part: impl RangeBounds<usize>, source: impl Into<String>) -> Self {
        let start = match part.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(before) => before + 1,
            Bound::Unbounded => 0,
        };
        let end = match part.end_bound() {
            Bound::Included(last) => last + 1,
            Bound::Excluded(end) => *end,
            Bound::Unbounded => self.model.len(),
        };
        self.outside = Some(Outside { source: source.into(), part: start..end });
        self
    }

    /// The same of a call that ended before its time because it was told to stop: what it got is told, and it is no
    /// success.
    #[must_use]
    pub fn interrupted(self) -> Self {
        Self { error_code: Some(ErrorCode::ToolFailed), ..self }
    }

    /// The same with something that is wanted of the agent.
    #[must_use]
    pub fn with_intent(mut self, intent: Intent) -> Self {
        self.intents.push(intent);
        self
    }

    /// The same with what the model now knows of files.
    #[must_use]
    pub fn with_known(mut self, known: impl IntoIterator<Item = KnownFile>) -> Self {
        self.known.extend(known);
        self
    }

    /// The same with a file that was changed, which is told if it acts later.
    #[must_use]
    pub fn with_changed(mut self, file: &Located) -> Self {
        self.acting.extend(file.later().map(|does| ActingFile { path: file.shown(), does }));
        self
    }

    /// The same with files of which it shows something.
    #[must_use]
    pub fn with_touched(mut self, touched: impl IntoIterator<Item = PathBuf>) -> Self {
        self.touched.extend(touched);
        self
    }

    /// The same, of which these bytes are the hits of a search: in order, and apart from each other.
    #[must_use]
    pub fn with_hits(mut self, hits: Vec<Range<usize>>) -> Self {
        self.hits = hits;
        self
    }

    /// The hits of a search, in order.
    pub fn hit_texts(&self) -> impl Iterator<Item = &str> {
        self.hits.iter().map(|hit| self.model.get(hit.clone()).unwrap_or_default())
    }

    /// The same with the hits in another order: what stood at `order[0]` comes first, and so on. An order that does
    /// not name every hit once changes nothing.
    ///
    /// ```
    /// use neco_toolkit::ToolOutput;
    ///
    /// let found = ToolOutput::text("1. one\n2. three\n(2 hits)").with_hits(vec![3..6, 10..15]);
    /// assert_eq!(found.reordered(&[1, 0]).model, "1. three\n2. one\n(2 hits)");
    /// ```
    #[must_use]
    pub fn reordered(mut self, order: &[usize]) -> Self {
        let mut named: Vec<usize> = order.to_vec();
        named.sort_unstable();
        if !named.iter().copied().eq(0..self.hits.len()) {
            return self;
        }
        let hits: Vec<&str> = self.hit_texts().collect();
        let (mut text, mut placed, mut end) = (String::new(), Vec::new(), 0);
        for (slot, from) in self.hits.iter().zip(order) {
            text.push_str(self.model.get(end..slot.start).unwrap_or_default());
            let start = text.len();
            text.push_str(hits.get(*from).copied().unwrap_or_default());
            placed.push(start..text.len());
            end = slot.end;
        }
        text.push_str(self.model.get(end..).unwrap_or_default());
        if let Some(Display::List { items, .. }) = &mut self.display
            && items.len() == order.len()
        {
            *items = order.iter().filter_map(|from| items.get(*from).cloned()).collect();
        }
        (self.model, self.hits) = (text, placed);
        self
    }

    /// The same with a picture for the person.
    #[must_use]
    pub fn with_display(mut self, display: Display) -> Self {
        self.display = Some(display);
        self
    }
}

/// Why a call failed, in words the model can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened and what to do about it, for the model.
    pub message: String,
    /// What of that the model alone is advised to do.
    pub advice: Option<&'static str>,
}

impl ToolError {
    /// An error with a code and words for the model.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), advice: None }
    }

    /// [`ErrorCode::ToolFailed`] with words for the model.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ToolFailed, message)
    }

    /// The same, with what the model alone is advised to do: people are shown the error without it.
    #[must_use]
    pub fn advising(self, advice: &'static str) -> Self {
        Self { message: format!("{}; {advice}", self.message), advice: Some(advice), ..self }
    }
}

impl From<neco_safety::PathError> for ToolError {
    fn from(error: neco_safety::PathError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// What a tool wants of the agent that called it.
/// A tool has no hand on its agent: it says what it wants, the agent does it or refuses, and the call's result says
/// which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Change the todo list.
    WriteTodos(TodoChange),
    /// Keep what was found out, with the plan.
    NoteFindings(Vec<String>),
    /// Tell how these tools are called.
    LookUpTools(Vec<String>),
    /// Bring in a skill; what it says is the call's result.
    UseSkill {
        /// Its name.
        name: String,
        /// What is said with it.
        arguments: String,
    },
    /// Ask the person and wait; the answer is the call's result.
    AskPerson(Vec<QuestionItem>),
    /// Go into plan mode, for this reason.
    EnterPlanMode(String),
    /// Put this plan before the person and wait; what they decide is the call's result.
    ProposePlan(String),
    /// Put a picture before the model, in a message that follows the results of the turn's calls.
    ShowPicture(Picture),
    /// The same where the model sees such pictures; where it does not, the call is no failure.
    OfferPicture(Picture),
}

/// A picture for the model. Whoever makes one has looked whether it is whole: a vendor would refuse the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Where it is from, such as the path of a file. It is told in words of our own, so nobody outside may write it.
    pub source: String,
    /// Such as `image/png`.
    pub media_type: String,
    /// The file's bytes in base64.
    pub data: String,
}

/// A change of the todo list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoChange {
    /// Whether todos that are not named go away; where that is not said, the todos tell whether they are the list.
    pub replace: Option<bool>,
    /// Todos that are new or change, in order.
    pub items: Vec<TodoItem>,
}

/// A todo that is new or changes; what is not said stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TodoItem {
    /// Which; a todo of the same text when it is not said, otherwise a new one.
    pub id: Option<String>,
    /// What is to be done.
    pub text: Option<String>,
    /// How it stands.
    pub status: Option<TodoStatus>,
    /// The todo that it is a part of.
    pub parent: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_text_for_the_model_and_pieces_for_windows() {
        let value = serde_json::json!({ "degrees": 21 });
        let text = OutputPart::Text("{ \"degrees\": 21 }".to_owned());
        let data = OutputPart::More(ResultPart::Data { value: value.clone() });
        let said_twice = ToolOutput::of_parts([text, data.clone()], "weather");
        assert_eq!((said_twice.model.as_str(), said_twice.parts.len()), ("{ \"degrees\": 21 }", 1));
        let picture =
            Picture { source: "weather".to_owned(), media_type: "image/png".to_owned(), data: "AAAA".to_owned() };
        let output = ToolOutput::of_parts([data, OutputPart::Picture(picture.clone())], "weather");
        assert_eq!(output.model, "{\"degrees\":21}\n[a picture: weather, image/png]");
        assert_eq!((output.parts.len(), output.intents), (2, vec![Intent::OfferPicture(picture)]));
        assert_eq!(output.outside.map(|outside| outside.part), Some(0..output.model.len()));
    }
}
