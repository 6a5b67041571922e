-- Tasks that are seen through: what is wanted, on what it waits, who is at work on it, and what is to be done outside
-- because of it. Ids are text, because people give them; the number is the order in which they came.

CREATE TABLE task_batch (
    name TEXT PRIMARY KEY NOT NULL CHECK (name <> ''),
    concurrency INTEGER NOT NULL CHECK (concurrency >= 0),
    paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

-- The numeral is the number in ids such as t001, so that the next free one is found without looking at all of them.
-- A task without a batch is in the lane with the empty name, because what is absent is in no order.
CREATE TABLE task (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    numeral INTEGER,
    repository TEXT NOT NULL,
    batch TEXT REFERENCES task_batch (name),
    parent TEXT,
    priority INTEGER NOT NULL,
    phase TEXT NOT NULL,
    state TEXT NOT NULL,
    spec TEXT NOT NULL,
    tally TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    version INTEGER NOT NULL,
    wakes_at INTEGER,
    open_blockers INTEGER NOT NULL CHECK (open_blockers >= 0),
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    receipt TEXT,
    lane TEXT NOT NULL GENERATED ALWAYS AS (coalesce(batch, '')) VIRTUAL
) STRICT;

CREATE INDEX task_numeral ON task (numeral) WHERE numeral IS NOT NULL;
CREATE INDEX task_phase ON task (phase);
CREATE INDEX task_of_batch ON task (batch) WHERE batch IS NOT NULL;
CREATE INDEX task_repository ON task (repository);
CREATE INDEX task_due ON task (wakes_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX task_waiting ON task (changed_at) WHERE wakes_at IS NOT NULL;
CREATE INDEX task_ready ON task (repository, lane, priority DESC, number) WHERE phase = 'queued' AND open_blockers = 0;

-- What is needed is no foreign key: it may be added later, and until then it is missing.
CREATE TABLE dependency (
    task TEXT NOT NULL REFERENCES task (id),
    needs TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (task, needs)
) STRICT, WITHOUT ROWID;

CREATE INDEX dependency_needs ON dependency (needs);

-- One claim of a task. The dispatch is no foreign key: money is set aside under its name before it begins.
CREATE TABLE run (
    task TEXT NOT NULL REFERENCES task (id),
    epoch INTEGER NOT NULL,
    dispatch TEXT,
    repository TEXT NOT NULL,
    batch TEXT,
    parent TEXT,
    model TEXT,
    answered TEXT,
    tier TEXT,
    host TEXT NOT NULL,
    worker_host TEXT,
    worker_pid INTEGER,
    worker_start INTEGER,
    claimed_at INTEGER NOT NULL,
    started_at INTEGER,
    progress_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    ended_at INTEGER,
    worktree TEXT,
    branch TEXT,
    base TEXT,
    outcome TEXT,
    failure_mode TEXT,
    detail TEXT,
    cost_nano INTEGER NOT NULL DEFAULT 0,
    cost_known INTEGER NOT NULL DEFAULT 0 CHECK (cost_known IN (0, 1)),
    PRIMARY KEY (task, epoch),
    CHECK ((worker_host IS NULL) = (worker_pid IS NULL) AND (worker_pid IS NULL) = (worker_start IS NULL))
) STRICT;

-- A task is held by one run at most. These few rows are the slots that are taken.
CREATE UNIQUE INDEX run_live ON run (task) WHERE ended_at IS NULL;
CREATE INDEX run_dispatch ON run (dispatch) WHERE dispatch IS NOT NULL AND ended_at IS NULL;
CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL;

-- Nobody takes an effect before it is free: taking it moves that moment to the end of the lease, and a failure to the
-- next try. An id is never given twice, so that what was performed under it is never mixed up.
CREATE TABLE effect (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task TEXT NOT NULL REFERENCES task (id),
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    free_at INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
    done_at INTEGER,
    result TEXT
) STRICT;

CREATE INDEX effect_open ON effect (id, free_at) WHERE done_at IS NULL;

CREATE TABLE mark (
    name TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit of one task. The kinds of its events begin with `task.`, and `/` is the character after the dot.
CREATE INDEX event_task ON event (subject, position) WHERE kind >= 'task.' AND kind < 'task/';

PRAGMA user_version = 5;
