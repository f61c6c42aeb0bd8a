-- Who made the title: 'first_words', 'model' or 'person'. folder identifies the workspace wherever it lies.
-- The log of a fork begins with the events of parent_id up to parent_seq, which are read there; its own
-- go on after that. A session that was removed while forks need it stays, without what they do not need.
ALTER TABLE sessions ADD COLUMN title_by   TEXT;
ALTER TABLE sessions ADD COLUMN folder     TEXT;
ALTER TABLE sessions ADD COLUMN parent_id  BLOB;
ALTER TABLE sessions ADD COLUMN parent_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN is_removed INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET title_by = 'first_words' WHERE title <> '';

CREATE INDEX forks ON sessions (parent_id, parent_seq) WHERE parent_id IS NOT NULL;
CREATE INDEX folders ON sessions (folder) WHERE folder IS NOT NULL;

-- Big strings of events, each once: in the body of an event stands the character 1 and the hash in hex
-- instead. The content is what stands between the quotes in the JSON text; packed as `packing` says:
-- 0 as it is, 1 zstd. hash is the SHA-256 of what is unpacked, size its length.
CREATE TABLE blobs (
    id      INTEGER PRIMARY KEY,
    hash    BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
    size    INTEGER NOT NULL,
    packing INTEGER NOT NULL,
    content BLOB    NOT NULL
);

-- Which sessions' own events have a blob, so that one nobody has any more can go.
CREATE TABLE blob_uses (
    session_id BLOB    NOT NULL,
    blob       INTEGER NOT NULL,
    PRIMARY KEY (session_id, blob)
) WITHOUT ROWID;
CREATE INDEX blob_users ON blob_uses (blob);
