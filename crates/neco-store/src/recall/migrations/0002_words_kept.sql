-- An index without its words can't tell how many of them go with an entry, and ranks by those that are gone as well.
-- So the words are kept, and all files are read again.
DROP TABLE words;
CREATE VIRTUAL TABLE words USING fts5(
    title, summary, tags, body,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
DELETE FROM entries;
