-- What contests came to: of tasks, and of prompts that a judge compared. `margin` is in millionths.
CREATE TABLE contest (
    id TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    task TEXT,
    repository TEXT NOT NULL,
    task_type TEXT,
    entries TEXT NOT NULL,
    winner TEXT,
    margin INTEGER NOT NULL CHECK (margin BETWEEN 0 AND 1000000),
    reason TEXT NOT NULL
) STRICT;

CREATE INDEX contest_by_task ON contest (task, at);
CREATE INDEX contest_by_type ON contest (task_type, repository, at);

PRAGMA user_version = 9;
