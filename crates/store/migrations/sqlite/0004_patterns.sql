-- What was learned: how each piece of work ended, the same counted by week, and the words of its text.

-- The attempt is no foreign key: what was learned from it outlives it, and may come from another machine.
-- An id is never given twice, so that whoever reads on misses nothing.
CREATE TABLE outcome (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    dispatch TEXT,
    ordinal INTEGER CHECK (ordinal >= 1),
    task TEXT,
    batch TEXT,
    task_type TEXT NOT NULL,
    requested TEXT NOT NULL,
    asked_tier TEXT,
    tier TEXT,
    model TEXT NOT NULL,
    strategy TEXT NOT NULL,
    verdict TEXT NOT NULL,
    failure_mode TEXT,
    error_class TEXT,
    evidence TEXT NOT NULL,
    quality INTEGER CHECK (quality BETWEEN 0 AND 2),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    cost_nano INTEGER NOT NULL,
    cost_known INTEGER NOT NULL CHECK (cost_known IN (0, 1)),
    duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
    retries INTEGER NOT NULL CHECK (retries >= 0),
    repository TEXT NOT NULL,
    propensity INTEGER CHECK (propensity BETWEEN 0 AND 1000000),
    text TEXT NOT NULL,
    CHECK ((dispatch IS NULL) = (ordinal IS NULL))
) STRICT;

CREATE UNIQUE INDEX outcome_attempt ON outcome (dispatch, ordinal) WHERE dispatch IS NOT NULL;
-- It holds all that is asked of a window's moves, so that those are counted without the rows.
CREATE INDEX outcome_moves ON outcome (at, asked_tier, tier);
CREATE INDEX outcome_task_type ON outcome (task_type, at);
CREATE INDEX outcome_model ON outcome (model, at);
CREATE INDEX outcome_repository ON outcome (repository, at);

-- Each outcome is counted in its repository, if it has one, and in the empty one, which means everywhere.
-- What had no tier has the empty one, because a primary key cannot hold an absent part.
CREATE TABLE outcome_week (
    task_type TEXT NOT NULL,
    repository TEXT NOT NULL,
    week INTEGER NOT NULL,
    tier TEXT NOT NULL,
    model TEXT NOT NULL,
    successes INTEGER NOT NULL,
    proven INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    uncounted INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL,
    priced INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    quality INTEGER NOT NULL,
    rated INTEGER NOT NULL,
    PRIMARY KEY (task_type, repository, week, tier, model)
) STRICT, WITHOUT ROWID;

-- The words only: the text itself is read from the outcome. One without a text is not in it.
CREATE VIRTUAL TABLE outcome_text USING fts5 (
    text, content = 'outcome', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);

PRAGMA user_version = 4;
