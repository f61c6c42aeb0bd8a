-- "Neco" in ASCII, so that a database of another program is told apart from one of ours.
PRAGMA application_id = 0x4e65636f;

-- One row for each file of the memory. All of it comes from the files and can be made again.
CREATE TABLE entries (
    key         INTEGER PRIMARY KEY,
    folder      TEXT    NOT NULL,
    file        TEXT    NOT NULL,
    modified_ns INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    hash        BLOB    NOT NULL,
    read_ns     INTEGER NOT NULL,
    id          TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    summary     TEXT    NOT NULL,
    category    TEXT    NOT NULL,
    topic       TEXT    NOT NULL,
    tags        TEXT    NOT NULL,
    source      TEXT    NOT NULL,
    reach       TEXT    NOT NULL,
    created_ms  INTEGER NOT NULL,
    trouble     TEXT    NOT NULL,
    UNIQUE (folder, file)
);

-- How often and when an entry was of use. It changes with every session, so it is not in the files,
-- which people commit; it only ranks, so little is lost with it.
CREATE TABLE uses (
    folder  TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    uses    INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (folder, id)
) WITHOUT ROWID;

-- The words of an entry, cut beforehand so that scripts without spaces are found too.
CREATE VIRTUAL TABLE words USING fts5(
    title, summary, tags, body,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
