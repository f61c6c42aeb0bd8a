-- Whether every opening was for a single request: a new session begins with 1, and the first window makes it 0.
-- What older versions made is not known to be so. messages is how many messages of the person count; NULL where that
-- must be counted first: in sessions of older versions, in forks, and after going back.
ALTER TABLE sessions ADD COLUMN is_single INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN messages  INTEGER;
