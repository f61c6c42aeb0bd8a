//! Identifiers: UUID v7 newtypes, so that sorting by id is sorting by time.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Position of an event in its session's log: starts at 1, no gaps. `0` means "before everything".
pub type Seq = u64;

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(#[schemars(with = "String")] Uuid);

        impl $name {
            /// A fresh id.
            #[must_use]
            #[allow(clippy::new_without_default, reason = "a default id would not be a default")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The id as a UUID, for stores that keep it in sixteen bytes.
            #[must_use]
            pub fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    };
}

uuid_id!(
    /// One conversation with its log, tree and workspace.
    SessionId
);
uuid_id!(
    /// One node of a session's agent tree.
    AgentId
);
uuid_id!(
    /// One iteration of an agent's loop: a model call and the tool calls it asked for.
    TurnId
);
uuid_id!(
    /// One message of the conversation.
    MessageId
);
uuid_id!(
    /// One question to a person.
    QuestionId
);
uuid_id!(
    /// One run of a workflow.
    WorkflowId
);

impl MessageId {
    /// The id of the message that holds the results of this one's calls: it follows from the log
    /// without being in it.
    #[must_use]
    pub fn of_results(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() ^ 1))
    }
}

/// A tool call's id: the model's own when it is unique in the session, otherwise `tool-<uuid>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// An id of our own, for calls that came without one or with one already taken.
    #[must_use]
    pub fn generate() -> Self {
        Self(format!("tool-{}", Uuid::now_v7()))
    }

    /// The id as the model and the vendor see it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for CallId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

impl From<&str> for CallId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
