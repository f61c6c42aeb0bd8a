-- "Neco" in ASCII, so that a database of another program is told apart from one of ours.
PRAGMA application_id = 0x4e65636f;

-- last_seq is the number of events, as a log has no gaps and begins at 1. No index on updated_ms:
-- it changes with every append, and sorting all sessions for a list is cheaper than keeping one.
CREATE TABLE sessions (
    id         BLOB    NOT NULL PRIMARY KEY CHECK (length(id) = 16),
    cwd        TEXT    NOT NULL,
    title      TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

-- body is the event as its JSON text. Nearly all events are far below a page, and without a rowid
-- a commit touches one tree instead of two and a session's events lie side by side.
CREATE TABLE events (
    session_id BLOB    NOT NULL,
    seq        INTEGER NOT NULL,
    kind       TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
