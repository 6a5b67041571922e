-- Jobs that were handed over, and the workers that carry some of them out. A job is called by its number, which is
-- never given twice.

CREATE TABLE worker (
    name TEXT PRIMARY KEY NOT NULL CHECK (name <> ''),
    profile TEXT NOT NULL,
    directory TEXT NOT NULL,
    backend TEXT NOT NULL,
    reference TEXT NOT NULL,
    model TEXT NOT NULL,
    policy TEXT NOT NULL,
    reason TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    session TEXT,
    server TEXT,
    process_host TEXT,
    process_pid INTEGER,
    process_start INTEGER,
    stopped_at INTEGER,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    CHECK ((process_host IS NULL) = (process_pid IS NULL) AND (process_pid IS NULL) = (process_start IS NULL))
) STRICT;

CREATE INDEX worker_stopped ON worker (stopped_at) WHERE stopped_at IS NOT NULL;

-- The worker is no foreign key: what it did stays when it is forgotten. A job keeps its place from the moment it joins
-- a line, so that one that has to be done again comes before all that came after it.
CREATE TABLE job (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    worker TEXT,
    place INTEGER NOT NULL,
    brief TEXT,
    choice TEXT,
    epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    deaths INTEGER NOT NULL DEFAULT 0,
    owner_host TEXT,
    owner_pid INTEGER,
    owner_start INTEGER,
    dispatch TEXT,
    progress TEXT NOT NULL DEFAULT 'null',
    result TEXT,
    cancel_asked_at INTEGER,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    changed_at INTEGER NOT NULL,
    CHECK ((state IN ('queued', 'running', 'paused')) = (ended_at IS NULL)),
    CHECK ((state = 'running') = (owner_host IS NOT NULL)),
    CHECK ((owner_host IS NULL) = (owner_pid IS NULL) AND (owner_pid IS NULL) = (owner_start IS NULL)),
    CHECK (brief IS NOT NULL OR ended_at IS NOT NULL),
    CHECK (result IS NULL OR ended_at IS NOT NULL)
) STRICT;

-- A worker does one job at a time; those without a worker are not limited by this.
CREATE UNIQUE INDEX job_running ON job (worker) WHERE state = 'running';
CREATE UNIQUE INDEX job_place ON job (place) WHERE ended_at IS NULL;
CREATE INDEX job_queued ON job (place, worker) WHERE state = 'queued';
CREATE INDEX job_line ON job (worker, place) WHERE state = 'queued';
CREATE INDEX job_paused ON job (place) WHERE state = 'paused';
CREATE INDEX job_of_worker ON job (worker) WHERE worker IS NOT NULL;
CREATE INDEX job_ended ON job (ended_at, number) WHERE ended_at IS NOT NULL AND brief IS NOT NULL;

-- What is removed when a job comes to its end.
CREATE INDEX event_job_progress ON event (subject) WHERE kind = 'job.progress';

PRAGMA user_version = 6;
