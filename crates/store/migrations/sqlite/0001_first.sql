-- Ids are text: they sort by time as UUIDv7 do, an id's shown prefix is a range of the primary
-- key, and a dump can be read. Times are microseconds since the Unix epoch, money is whole
-- nano-dollars, structured values are JSON text.

CREATE TABLE dispatch (
    id TEXT PRIMARY KEY NOT NULL,
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    mode TEXT NOT NULL,
    requested TEXT NOT NULL,
    route TEXT NOT NULL,
    directory TEXT NOT NULL,
    prompt_chars INTEGER NOT NULL CHECK (prompt_chars >= 0),
    status TEXT NOT NULL,
    error_class TEXT,
    warnings TEXT NOT NULL,
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;

CREATE INDEX dispatch_recent ON dispatch (began_at, id);
CREATE INDEX dispatch_unfinished ON dispatch (began_at, id) WHERE ended_at IS NULL;

-- The server is no foreign key: what was spent outlives the server that spent it.
CREATE TABLE attempt (
    dispatch TEXT NOT NULL REFERENCES dispatch (id),
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    model TEXT NOT NULL,
    answered_by TEXT,
    server TEXT,
    session TEXT,
    status TEXT NOT NULL,
    error_class TEXT,
    message TEXT,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_nano INTEGER NOT NULL DEFAULT 0,
    cost_known INTEGER NOT NULL DEFAULT 0 CHECK (cost_known IN (0, 1)),
    PRIMARY KEY (dispatch, ordinal),
    CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;

CREATE INDEX attempt_session ON attempt (session) WHERE session IS NOT NULL;

CREATE TABLE session (
    id TEXT PRIMARY KEY NOT NULL,
    home TEXT NOT NULL,
    directory TEXT NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL,
    used_at INTEGER NOT NULL
) STRICT;

CREATE INDEX session_kept ON session (home, used_at, id) WHERE state = 'kept';
CREATE INDEX session_doomed ON session (home, used_at, id) WHERE state = 'doomed';

CREATE TABLE server (
    id TEXT PRIMARY KEY NOT NULL,
    slot TEXT NOT NULL,
    state TEXT NOT NULL,
    url TEXT NOT NULL,
    version TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    keeper_host TEXT NOT NULL,
    keeper_pid INTEGER NOT NULL,
    keeper_start INTEGER NOT NULL,
    process_host TEXT,
    process_pid INTEGER,
    process_start INTEGER,
    started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    problem TEXT,
    CHECK ((process_host IS NULL) = (process_pid IS NULL) AND (process_pid IS NULL) = (process_start IS NULL))
) STRICT;

CREATE TABLE lease (
    server TEXT NOT NULL REFERENCES server (id) ON DELETE CASCADE,
    holder TEXT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_pid INTEGER NOT NULL,
    owner_start INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (server, holder)
) STRICT;

-- A position is never given twice, even after the newest events were removed.
CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;

PRAGMA application_id = 1400330596;
PRAGMA user_version = 1;
