//! What a window and a session say to each other: one JSON object a line, or a message of a WebSocket, each with the id
//! of the request that it is or belongs to.

use neco_proto::app::opening::OpenSession;
use neco_proto::app::{AppError, Call, Caller};
use neco_proto::{Actor, Answer, ClientError, Command, ErrorCode, Event, MessageId, Query, Seq, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The oldest protocol that this build still speaks. What both sides speak is the lower of their newest, and it decides
/// one thing: whether they talk at all. Within a version nobody has to know what the other side can do: a request, a call,
/// an event or a value that only one side knows is refused by its number, passed over or shown as something newer.
pub(super) const OLDEST: u32 = 1;

/// What helps two versions of Neco that have no protocol in common.
pub(super) const ALIKE: &str = "close that one, or use the same version of neco for both";

/// A line with the id of its request.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Numbered<T> {
    pub id: u64,
    /// The session that a request is about, where that is not the one of the hello.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What something that changes something is done once for, however often it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub says: T,
}

/// What a window wants.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// Always the first.
    Hello {
        protocol: u32,
        /// The session that all is about that names no other; a program without sessions of its own may be asked too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The version of the program; older ones do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// [`neco_proto::Client::send`].
    Send(Sent),
    /// [`neco_proto::Client::ask`].
    Ask(Query),
    /// [`neco_proto::Client::events`].
    Events { since: Seq },
    /// [`neco_proto::app::App::call`].
    Call(Asked),
    /// [`neco_proto::app::App::stream`].
    Watch(Asked),
    /// [`neco_proto::app::App::open`]; the session stays open when the connection ends.
    Open(Box<OpenSession>),
    /// Whoever made the request of this id does not wait for its answer any more. A command that was sent stays sent.
    Cancel,
}

/// A call, with who makes it: the person where nobody says otherwise. Whoever may talk to the session could be the
/// person, so it is believed when it says that it may do less.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asked {
    #[serde(default = "Caller::person", skip_serializing_if = "is_all_of_the_person")]
    pub caller: Caller,
    #[serde(flatten)]
    pub call: Call,
}

/// A command, with whom it came from: the person where nobody says otherwise. Whoever may talk to the session could be the
/// person, so it is believed when it says that it speaks for somebody else.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    #[serde(default, skip_serializing_if = "is_person")]
    pub by: Actor,
    #[serde(flatten)]
    pub command: Command,
}

/// What a session answers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// To a hello that is fine.
    Welcome { protocol: u32, version: String, pid: u32 },
    /// To a hello that is not.
    NotWelcome { why: String },
    /// A command was accepted.
    Taken { seq: Seq, message_id: Option<MessageId> },
    /// The answer to a question.
    Answer(Box<Answer>),
    /// The answer to a call.
    Called(Value),
    /// The next bit of an answer.
    Item(Value),
    /// A session was opened.
    Opened(Opened),
    /// A call, or an opening, failed.
    NotCalled(AppError),
    /// The next event of a stream.
    Event(Box<Event>),
    /// A stream is over: that of events because the session is.
    End,
    /// Something was not done.
    Error(Trouble),
}

/// A session that was opened, as wires carry it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Opened {
    /// The session.
    pub id: SessionId,
    /// Where it works.
    pub folder: String,
    /// Its last event before: what came of opening it comes after that.
    pub since: Seq,
    /// Whether it was open already: what was said of its model, mode, tools, rules and limits does not hold then.
    pub was_open: bool,
    /// What the person should know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// [`ClientError`] as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Trouble {
    Gone,
    Refused(String),
    /// The code as a number: a newer version may have others.
    Failed {
        code: u16,
        message: String,
    },
}

fn is_person(by: &Actor) -> bool {
    *by == Actor::Person
}

fn is_all_of_the_person(caller: &Caller) -> bool {
    *caller == Caller::person()
}

/// The line of something that is said, with its end.
pub(super) fn line<T: Serialize>(id: u64, says: T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(&Numbered { id, session: None, key: None, says })?;
    line.push(b'\n');
    Ok(line)
}

/// The id of a line that can't be read otherwise.
pub(super) fn id_of(line: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Id {
        id: u64,
    }
    serde_json::from_slice::<Id>(line).ok().map(|read| read.id)
}

impl Reply {
    /// Whether nothing was done, since the server is about to end.
    pub(super) fn is_of_ending(&self) -> bool {
        match self {
            Self::Error(Trouble::Failed { code, .. }) => *code == ErrorCode::ServerEnding.number(),
            Self::NotCalled(error) => error.code == Some(ErrorCode::ServerEnding),
            _ => false,
        }
    }
}

impl From<Result<Self, ClientError>> for Reply {
    fn from(reply: Result<Self, ClientError>) -> Self {
        reply.unwrap_or_else(|error| Self::Error(error.into()))
    }
}

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Gone => Self::Gone,
            ClientError::Refused(words) => Self::Refused(words),
            ClientError::Failed { code, message } => Self::Failed { code: code.number(), message },
        }
    }
}

impl From<Trouble> for ClientError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Gone => Self::Gone,
            Trouble::Refused(words) => Self::Refused(words),
            Trouble::Failed { code, message } => match ErrorCode::from_number(code) {
                Some(code) => Self::Failed { code, message },
                None => Self::Refused(format!("error {code}: {message}")),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn says<T: Serialize>(says: T) -> String {
        String::from_utf8(line(7, says).unwrap()).unwrap()
    }

    #[test]
    fn lines_look_like_this() {
        let session_id: SessionId = "0199c0de-0000-7000-8000-000000000001".parse().unwrap();
        assert_eq!(
            says(Request::Hello { protocol: 1, session_id: Some(session_id), version: None }),
            "{\"id\":7,\"says\":{\"hello\":{\"protocol\":1,\"session_id\":\"0199c0de-0000-7000-8000-000000000001\"}}}\n"
        );
        assert_eq!(
            says(Request::Send(Sent { by: Actor::Person, command: Command::Cancel })),
            "{\"id\":7,\"says\":{\"send\":{\"type\":\"cancel\"}}}\n"
        );
        let older: Request = serde_json::from_str(r#"{"send":{"type":"cancel"}}"#).unwrap();
        assert_eq!(older, Request::Send(Sent { by: Actor::Person, command: Command::Cancel }), "nobody else is named");
        let call = || Call { name: "keys.list".to_owned(), arguments: serde_json::json!({}) };
        let asked = says(Request::Call(Asked { caller: Caller::person(), call: call() }));
        assert_eq!(asked, "{\"id\":7,\"says\":{\"call\":{\"name\":\"keys.list\",\"arguments\":{}}}}\n");
        let older: Request = serde_json::from_str(r#"{"call":{"name":"keys.list","arguments":{}}}"#).unwrap();
        assert_eq!(older, Request::Call(Asked { caller: Caller::person(), call: call() }), "nobody else is named");
        let watched = says(Request::Watch(Asked { caller: Caller::person(), call: call() }));
        assert_eq!(watched, "{\"id\":7,\"says\":{\"watch\":{\"name\":\"keys.list\",\"arguments\":{}}}}\n");
        assert_eq!(says(Request::Cancel), "{\"id\":7,\"says\":\"cancel\"}\n");
        assert_eq!(says(Request::Events { since: 3 }), "{\"id\":7,\"says\":{\"events\":{\"since\":3}}}\n");
        assert_eq!(says(Reply::End), "{\"id\":7,\"says\":\"end\"}\n");
        let failed = Trouble::Failed { code: 6001, message: "full".into() };
        assert_eq!(
            says(Reply::Error(failed)),
            "{\"id\":7,\"says\":{\"error\":{\"failed\":{\"code\":6001,\"message\":\"full\"}}}}\n"
        );
    }

    #[test]
    fn the_id_of_a_line_that_makes_no_sense_is_found_all_the_same() {
        assert_eq!(id_of(br#"{"id":4,"says":{"dance":{}}}"#), Some(4));
        assert_eq!(id_of(br#"{"id":4,"#), None);
        assert_eq!(id_of(b"\xff"), None);
    }

    #[test]
    fn an_error_of_a_newer_version_keeps_its_words() {
        let line = br#"{"id":4,"says":{"error":{"failed":{"code":7001,"message":"the moon is full"}}}}"#;
        let Numbered { says: Reply::Error(trouble), .. } = serde_json::from_slice(line).unwrap() else { panic!() };
        assert_eq!(ClientError::from(trouble), ClientError::Refused("error 7001: the moon is full".into()));
    }

    proptest! {
        #[test]
        fn a_line_is_one_line_and_reads_back(id: u64, content in ".*", since: u64) {
            for request in [
                Request::Send(Sent {
                    by: Actor::Device { name: content.clone() },
                    command: Command::UserMessage { content: content.clone(), attachments: Vec::new() },
                }),
                Request::Events { since },
            ] {
                let line = line(id, &request).unwrap();
                prop_assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
                prop_assert_eq!(id_of(&line), Some(id));
                let back: Numbered<Request> = serde_json::from_slice(&line).unwrap();
                prop_assert_eq!(back, Numbered { id, session: None, key: None, says: request });
            }
        }

        #[test]
        fn errors_survive_the_way(words in ".*") {
            for error in [
                ClientError::Gone,
                ClientError::Refused(words.clone()),
                ClientError::Failed { code: ErrorCode::StoreFailed, message: words.clone() },
            ] {
                prop_assert_eq!(ClientError::from(Trouble::from(error.clone())), error);
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = serde_json::from_slice::<Numbered<Request>>(&bytes);
            let _ = serde_json::from_slice::<Numbered<Reply>>(&bytes);
            let _ = id_of(&bytes);
        }
    }
}
