-- An effect may concern no task, such as the notice about a limit. The ids go on where they were, so that none is given
-- twice.
CREATE TABLE effect_next (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT REFERENCES task (id),
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    free_at INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    done_at INTEGER,
    result TEXT
) STRICT;

INSERT INTO effect_next (id, task, epoch, at, kind, data, free_at, tries, done_at, result)
SELECT id, task, epoch, at, kind, data, free_at, tries, done_at, result FROM effect;

DELETE FROM sqlite_sequence WHERE name = 'effect_next';
INSERT INTO sqlite_sequence (name, seq) SELECT 'effect_next', seq FROM sqlite_sequence WHERE name = 'effect';

DROP TABLE effect;
ALTER TABLE effect_next RENAME TO effect;
CREATE INDEX effect_open ON effect (id, free_at) WHERE done_at IS NULL;

PRAGMA user_version = 8;
