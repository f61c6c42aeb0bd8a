-- "Neco" in ASCII, so that a database of another program is told apart from one of ours.
PRAGMA application_id = 0x4e65636f;

-- What of each session is in the index: its own events up to seq, its title, its folder. All of it comes
-- from the store and can be made again.
CREATE TABLE indexed (
    key        INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    title      TEXT    NOT NULL,
    cwd        TEXT    NOT NULL
);

CREATE TABLE places (
    key INTEGER PRIMARY KEY,
    cwd TEXT    NOT NULL UNIQUE
);

-- A text that was said. The number is the second it was said in, with 12 bits to tell texts of one
-- second apart.
CREATE TABLE said (
    number  INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    ts_ms   INTEGER NOT NULL
);
CREATE INDEX said_in ON said (session, seq);

-- The words of what was said and of titles, cut beforehand so that scripts without spaces are found too.
-- place is the letter p and the key of the folder.
CREATE VIRTUAL TABLE words USING fts5(
    text, place,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
CREATE VIRTUAL TABLE titles USING fts5(
    title,
    content = '', contentless_delete = 1,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
