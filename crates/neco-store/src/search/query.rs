//! What is asked and what is found.

use std::fmt;
use std::ops::Range;

use neco_proto::app::sessions::FoundRole;
use neco_proto::{Seq, SessionId};

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchQuery {
    /// The words, as a person types them; all of them must stand in a hit.
    pub words: String,
    /// Only in sessions of this folder, as it stands in [`SessionRecord::cwd`](crate::SessionRecord::cwd).
    pub cwd: Option<String>,
    /// Only what was said at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only what was said before this time, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    /// Only what comes after this hit.
    pub after: Option<SearchCursor>,
    /// Most hits.
    pub limit: usize,
}

impl SearchQuery {
    /// `words` anywhere and at any time.
    pub fn new(words: impl Into<String>, limit: usize) -> Self {
        Self { words: words.into(), cwd: None, since_ms: None, until_ms: None, after: None, limit }
    }
}

/// Where a hit stands among all hits: a time alone would not do, since much can be said within one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchCursor {
    /// When it was said, or when the session was last used.
    pub ts_ms: i64,
    /// The session that it was said in, which is another one than the hit's where a fork shows it.
    pub session: SessionId,
    /// The event; 0 for a title.
    pub seq: Seq,
}

impl fmt::Display for SearchCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}.{}", self.ts_ms, self.session, self.seq)
    }
}

impl SearchCursor {
    /// Reads what was written of one.
    pub fn read(text: &str) -> Option<Self> {
        let (ts_ms, rest) = text.split_once('.')?;
        let (session, seq) = rest.split_once('.')?;
        Some(Self { ts_ms: ts_ms.parse().ok()?, session: session.parse().ok()?, seq: seq.parse().ok()? })
    }
}

/// A few words around what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The words in one line; `…` where something was left out.
    pub text: String,
    /// Where in `text` the words of the question stand, as bytes, in order and apart from each other.
    pub marks: Vec<Range<usize>>,
}

/// One place where all words of a question stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The session.
    pub session: SessionId,
    /// The event; 0 for a title.
    pub seq: Seq,
    /// When it was said, in milliseconds since 1970; for a title, when the session was last used.
    pub ts_ms: i64,
    /// Who said it.
    pub role: FoundRole,
    /// The words around it.
    pub snippet: Snippet,
    /// The session's title.
    pub title: String,
    /// The session's folder.
    pub cwd: String,
    /// Where it stands among all hits.
    pub cursor: SearchCursor,
}
