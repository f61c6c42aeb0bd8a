//! Sessions as files: out, and in again.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::request::request;
use crate::ids::SessionId;
use crate::mode::names;

/// Writes a session to a file, which is whole or not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportSession {
    /// The session, by the beginning of its id; the last one of the folder when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder that is worked in: keys that its settings name are taken out.
    pub folder: String,
    /// What is written.
    pub format: ExportFormat,
    /// The file.
    pub file: String,
    /// Whether a file that is there is written over.
    #[serde(default)]
    pub over: bool,
    /// Whether it is written as it is in the log, also keys that became known since.
    #[serde(default)]
    pub with_keys: bool,
}

request!(ExportSession => ExportedSession, "sessions.export", Post "/sessions/export", Manage, once);

/// A format of files that sessions are written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// Every event, one a line; it can be imported again.
    Jsonl,
    /// Every event in one YAML document, for other programs.
    Yaml,
    /// For a pull request or a bug report.
    Markdown,
    /// One page to read.
    Html,
}

/// A session that was written to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportedSession {
    /// The session.
    pub session: SessionId,
    /// How many events it has.
    pub events: u64,
}

/// Finds the sessions that another program has of a folder, the one used last first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FindForeignSessions {
    /// The program.
    pub program: Program,
    /// The folder, by its old name should it have been moved.
    pub folder: String,
    /// How many at most.
    #[serde(default = "many")]
    pub limit: usize,
}

request!(
    FindForeignSessions => ForeignSessions,
    "sessions.find_foreign", Get "/sessions/foreign/{program}", Read, repeatable
);

/// As many sessions of another program as anybody looks through.
const fn many() -> usize {
    200
}

names! {
    /// A program whose sessions can be read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum Program {
        /// Neco itself.
        Neco = "neco",
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        GeminiCli = "gemini-cli",
        /// opencode, its database included.
        Opencode = "opencode",
        /// OpenClaw, its databases included.
        Openclaw = "openclaw",
    }
}

impl Program {
    /// Those that are not Neco.
    pub const FOREIGN: [Self; 5] = [Self::ClaudeCode, Self::Codex, Self::GeminiCli, Self::Opencode, Self::Openclaw];
}

/// Sessions that another program has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignSessions {
    /// The sessions.
    pub sessions: Vec<ForeignSession>,
}

/// A session that another program has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignSession {
    /// The file or database that it lies in.
    pub file: String,
    /// Where in a database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Its id there.
    pub id: Option<String>,
    /// What it is called, or the first words of the person.
    pub title: String,
    /// How many messages it has.
    pub messages: usize,
    /// When something last happened in it.
    #[schemars(with = "Option<String>")]
    pub last: Option<Timestamp>,
    /// Whether it was imported.
    pub imported: bool,
}

/// Takes in a session that Neco exported, or one of another program. The other program's files stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSession {
    /// The file, or the database.
    pub file: String,
    /// Where in the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// What the file is called where that is not its path, as with what was piped in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The program that wrote it; the file tells when nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
    /// The folder that is worked in.
    pub folder: String,
    /// Whether the session goes on in that folder, and not in its own.
    #[serde(default)]
    pub moves: bool,
    /// Whether a session that is here already comes in a second time.
    #[serde(default)]
    pub again: bool,
}

request!(ImportSession => ImportedSession, "sessions.import", Post "/sessions/import", Manage, once);

/// A session that was taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedSession {
    /// The session.
    pub session: SessionId,
    /// The program that wrote the file.
    pub program: Known<Program>,
    /// The session's title.
    pub title: String,
    /// How many events it has.
    pub events: u64,
    /// Whether it was there before.
    #[serde(default)]
    pub already: bool,
    /// What should be known of it besides.
    #[serde(default)]
    pub notes: Vec<ImportNote>,
}

/// What should be known of a session that was taken in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ImportNote {
    /// Records have no place here.
    Skipped {
        /// How many of which kind, the most frequent kind first.
        records: Vec<SkippedRecords>,
    },
    /// It works in its own folder, which is another one than the one that is worked in.
    OwnFolder {
        /// Its folder.
        folder: String,
    },
    /// Its folder is not here, so it works in another one from now on.
    OtherFolder {
        /// Its folder; nothing when it does not say where it worked.
        own: Option<String>,
        /// The folder that it works in from now on.
        folder: String,
    },
    /// The file is cut off.
    CutOff {
        /// How many events it should have.
        promised: u64,
        /// How many of those are not there.
        missing: u64,
    },
    /// States of files are no part of it, though it had some.
    WithoutFiles,
    /// The session that the file is of is here and went another way, so this one has an id of its own.
    OwnId {
        /// The session that is here.
        session: SessionId,
    },
    /// A part of it was here.
    GoesOn {
        /// How many events were here.
        had: u64,
        /// How many were added.
        added: u64,
    },
    /// It comes from the repository of checkpoints, which holds the conversation that counts and no more.
    FromRepository {
        /// How many big outputs of calls are nowhere any more.
        outputs: u64,
    },
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Records that were skipped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedRecords {
    /// Their kind.
    pub kind: String,
    /// How many.
    pub count: u64,
}
