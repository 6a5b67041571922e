-- A database as version 9 of the tables left it. It stays as it is: every later version must read it.

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
    cost_known INTEGER NOT NULL DEFAULT 0 CHECK (cost_known IN (0, 1)), provider TEXT NOT NULL DEFAULT '', tier TEXT, task TEXT, batch TEXT,
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

CREATE TABLE event (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL
) STRICT;

CREATE TABLE health (
    provider TEXT PRIMARY KEY NOT NULL,
    status TEXT NOT NULL,
    class TEXT,
    message TEXT,
    source TEXT NOT NULL,
    latency_ms INTEGER CHECK (latency_ms >= 0),
    checked_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CHECK (expires_at >= checked_at)
) STRICT;

CREATE TABLE cooldown (
    target TEXT PRIMARY KEY NOT NULL,
    trigger TEXT NOT NULL,
    class TEXT NOT NULL,
    message TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    CHECK (until >= since)
) STRICT;

CREATE TABLE spend (
    bucket INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    tier TEXT NOT NULL,
    cost_nano INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (bucket, provider, model, tier)
) STRICT, WITHOUT ROWID;

CREATE TABLE spend_total (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    cost_nano INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservation (
    dispatch TEXT NOT NULL,
    ordinal INTEGER NOT NULL CHECK (ordinal >= 1),
    at INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    tier TEXT NOT NULL,
    task TEXT,
    batch TEXT,
    cost_nano INTEGER NOT NULL CHECK (cost_nano >= 0),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    PRIMARY KEY (dispatch, ordinal)
) STRICT, WITHOUT ROWID;

CREATE INDEX reservation_provider ON reservation (provider);
CREATE INDEX reservation_tier ON reservation (tier);
CREATE INDEX reservation_task ON reservation (task) WHERE task IS NOT NULL;
CREATE INDEX reservation_batch ON reservation (batch) WHERE batch IS NOT NULL;

CREATE TABLE budget_rule (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    billing TEXT NOT NULL,
    daily_nano INTEGER CHECK (daily_nano >= 0),
    degrade_percent INTEGER CHECK (degrade_percent >= 0),
    stop_percent INTEGER CHECK (stop_percent >= 0),
    unknown_allowed INTEGER CHECK (unknown_allowed IN (0, 1)),
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (kind, name),
    CHECK (kind <> 'overall' OR name = '')
) STRICT;

CREATE TABLE budget_period (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    provider TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER,
    unit TEXT NOT NULL,
    allowance INTEGER NOT NULL CHECK (allowance >= 0),
    rolling_micros INTEGER CHECK (rolling_micros > 0),
    changed_at INTEGER NOT NULL,
    CHECK (ends_at > starts_at)
) STRICT;

CREATE TABLE budget_alert (
    day_start INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    level TEXT NOT NULL,
    PRIMARY KEY (day_start, kind, name, level)
) STRICT, WITHOUT ROWID;

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
CREATE INDEX outcome_moves ON outcome (at, asked_tier, tier);
CREATE INDEX outcome_task_type ON outcome (task_type, at);
CREATE INDEX outcome_model ON outcome (model, at);
CREATE INDEX outcome_repository ON outcome (repository, at);

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

CREATE VIRTUAL TABLE outcome_text USING fts5 (
    text, content = 'outcome', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE task_batch (
    name TEXT PRIMARY KEY NOT NULL CHECK (name <> ''),
    concurrency INTEGER NOT NULL CHECK (concurrency >= 0),
    paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

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

CREATE TABLE dependency (
    task TEXT NOT NULL REFERENCES task (id),
    needs TEXT NOT NULL,
    place INTEGER NOT NULL,
    PRIMARY KEY (task, needs)
) STRICT, WITHOUT ROWID;

CREATE INDEX dependency_needs ON dependency (needs);

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

CREATE UNIQUE INDEX run_live ON run (task) WHERE ended_at IS NULL;
CREATE INDEX run_dispatch ON run (dispatch) WHERE dispatch IS NOT NULL AND ended_at IS NULL;
CREATE INDEX run_ended ON run (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE "effect" (
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

CREATE INDEX effect_open ON effect (id, free_at) WHERE done_at IS NULL;

CREATE TABLE mark (
    name TEXT PRIMARY KEY NOT NULL,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX event_task ON event (subject, position) WHERE kind >= 'task.' AND kind < 'task/';

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

CREATE UNIQUE INDEX job_running ON job (worker) WHERE state = 'running';
CREATE UNIQUE INDEX job_place ON job (place) WHERE ended_at IS NULL;
CREATE INDEX job_queued ON job (place, worker) WHERE state = 'queued';
CREATE INDEX job_line ON job (worker, place) WHERE state = 'queued';
CREATE INDEX job_paused ON job (place) WHERE state = 'paused';
CREATE INDEX job_of_worker ON job (worker) WHERE worker IS NOT NULL;
CREATE INDEX job_ended ON job (ended_at, number) WHERE ended_at IS NOT NULL AND brief IS NOT NULL;

CREATE INDEX event_job_progress ON event (subject) WHERE kind = 'job.progress';

CREATE TABLE spend_sum (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    span TEXT NOT NULL,
    start INTEGER NOT NULL,
    cost_nano INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (kind, name, span, start)
) STRICT, WITHOUT ROWID;

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

INSERT INTO dispatch VALUES
    ('01900000-0000-7000-8000-000000000001', 1760000000000001, 1760000009000002, 'yard', 11, 70011, 'single',
     '{"task_type":"code-review","files":["a.rs",2.5,null]}', '{"chosen":"local/small","trace":["rule 1"]}',
     '/project', 321, 'error', 'rate_limited', '["slow","two \"words\""]'),
    ('01900000-0000-7000-8000-000000000002', 1760000010000000, NULL, 'yard', 12, 70012, 'race',
     '{}', 'null', '/prøject', 0, 'running', NULL, '[]');

INSERT INTO attempt VALUES
    ('01900000-0000-7000-8000-000000000001', 1, 1760000000100000, 1760000003000000, 'local/small@low', 'local/small-2',
     '01900000-0000-7000-8000-0000000000a1', 'ses_1', 'timeout', 'timeout', 'no answer in time',
     100, 20, 3, 40, 5, 3150000, 1, 'local', 'quick', 'task-7', 'batch-3'),
    ('01900000-0000-7000-8000-000000000001', 2, 1760000003100000, 1760000009000000, 'far/large', NULL,
     NULL, NULL, 'abandoned', 'rate_limited', NULL, 9007199254740993, 0, 0, 0, 0, 9223372036854775807, 0,
     'far', NULL, NULL, NULL),
    ('01900000-0000-7000-8000-000000000002', 1, 1760000010100000, NULL, 'local/small', NULL,
     '01900000-0000-7000-8000-0000000000a1', 'ses_2', 'running', NULL, NULL, 0, 0, 0, 0, 0, 0, 0,
     'local', NULL, NULL, 'batch-4');

INSERT INTO session VALUES
    ('ses_1', 'slot-1', '/project', 'local/small@low', 'kept', 1760000003000000),
    ('ses_2', 'http://127.0.0.1:4096', '/project', 'local/small', 'open', 1760000010100000),
    ('ses_3', 'slot-1', '/project', 'local/small', 'archived', 1750000000000000),
    ('ses_4', 'slot-1', '/project', 'local/small', 'deleted', 1750000000000000);

INSERT INTO server VALUES
    ('01900000-0000-7000-8000-0000000000a1', 'slot-1', 'ready', 'http://127.0.0.1:4101', '1.2.3', 'abc',
     'yard', 21, 70021, 'yard', 22, 70022, 1759999990000000, 1759999995000000, NULL),
    ('01900000-0000-7000-8000-0000000000a2', 'slot-2', 'failed', '', '', 'def',
     'yard', 23, 70023, NULL, NULL, NULL, 1759999991000000, 1759999996000000, 'the port was taken'),
    ('01900000-0000-7000-8000-0000000000a3', 'slot-3', 'starting', '', '', 'def',
     'yard', 24, 70024, NULL, NULL, NULL, 1759999992000000, 1759999992000000, NULL),
    ('01900000-0000-7000-8000-0000000000a4', 'slot-4', 'draining', 'http://127.0.0.1:4104', '1.2.2', 'old',
     'yard', 25, 70025, 'yard', 26, 70026, 1759999993000000, 1759999998000000, NULL);

INSERT INTO lease VALUES
    ('01900000-0000-7000-8000-0000000000a1', '01900000-0000-7000-8000-000000000002', 'yard', 12, 70012,
     1760000010050000);

INSERT INTO health VALUES
    ('far', 'rate_limited', 'quota_exhausted', 'the week is used up', 'dispatch', NULL, 1760000009000000,
     1760000309000000),
    ('local', 'available', NULL, NULL, 'probe', 12, 1760000008000000, 1760000068000000);

INSERT INTO cooldown VALUES
    ('far', 'quota', 'quota_exhausted', 'the week is used up', 1760000009000000, 1760003609000000),
    ('local/small', 'timeout', 'timeout', 'no answer in time', 1760000003000000, 1760000033000000);

INSERT INTO spend VALUES
    (1759999500000000, 'far', 'far/large', '', 9223372036854775807, 1, 1, 9007199254740993),
    (1759999500000000, 'local', 'local/small@low', 'quick', 3150000, 1, 0, 168),
    (1760000400000000, 'near', '', '', 2500, 3, 1, 40);

INSERT INTO spend_sum VALUES
    ('overall', '', 'day', 1759968000000000, 9223372036854775807, 5, 2, 9007199254741201),
    ('overall', '', 'quarter', 1759999500000000, 9223372036854775807, 2, 1, 9007199254741161),
    ('overall', '', 'quarter', 1760000400000000, 2500, 3, 1, 40),
    ('provider', 'far', 'day', 1759968000000000, 9223372036854775807, 1, 1, 9007199254740993),
    ('provider', 'far', 'quarter', 1759999500000000, 9223372036854775807, 1, 1, 9007199254740993),
    ('provider', 'local', 'day', 1759968000000000, 3150000, 1, 0, 168),
    ('provider', 'local', 'quarter', 1759999500000000, 3150000, 1, 0, 168),
    ('provider', 'near', 'day', 1759968000000000, 2500, 3, 1, 40),
    ('provider', 'near', 'quarter', 1760000400000000, 2500, 3, 1, 40),
    ('tier', '', 'day', 1759968000000000, 9223372036854775807, 4, 2, 9007199254741033),
    ('tier', '', 'quarter', 1759999500000000, 9223372036854775807, 1, 1, 9007199254740993),
    ('tier', '', 'quarter', 1760000400000000, 2500, 3, 1, 40),
    ('tier', 'quick', 'day', 1759968000000000, 3150000, 1, 0, 168),
    ('tier', 'quick', 'quarter', 1759999500000000, 3150000, 1, 0, 168);

INSERT INTO spend_total VALUES
    ('batch', 'batch-3', 3150000, 1, 0, 168),
    ('task', 'task-7', 3150000, 1, 0, 168);

INSERT INTO reservation VALUES
    ('01900000-0000-7000-8000-000000000002', 1, 1760000010100000, 'local', 'local/small', '', NULL, 'batch-4',
     700000, 2500),
    ('01900000-0000-7000-8000-000000000003', 1, 1760000010000000, 'far', 'far/large', '', 't002.1', 'nightly', 90,
     70);

INSERT INTO budget_rule VALUES
    ('overall', '', 'token', 5000000000, 80, 100, 1, 1760000000000001),
    ('provider', 'far', 'subscription', NULL, NULL, NULL, NULL, 1760000000000002),
    ('tier', 'quick', 'token', 0, NULL, 95, 0, 1760000000000003);

INSERT INTO budget_period VALUES
    (3, 'far', 1759708800000000, NULL, 'requests', 50, 18000000000, 1760000000000004),
    (5, 'far', 1759708800000000, 1760313600000000, 'usd', 20000000000, NULL, 1760000000000005),
    (6, 'far', 1760313600000000, NULL, 'tokens', 0, NULL, 1760000000000006);

INSERT INTO budget_alert VALUES
    (1759968000000000, 'provider', 'far', 'degraded');

INSERT INTO outcome VALUES
    (2, 1760000003000000, '01900000-0000-7000-8000-000000000001', 1, 'task-7', 'batch-3', 'code-review',
     '{"task_type":"code-review"}', 'quick', 'quick', 'local/small@low', 'single', 'failure', 'LOGIC', 'timeout',
     'answered', 0, 168, 3150000, 1, 2900, 1, '/project', 250000, 'Review the parser of dépêches'),
    (3, 1760000009000000, '01900000-0000-7000-8000-000000000001', 2, NULL, NULL, 'code-review',
     '{"task_type":"code-review"}', 'quick', 'deep', 'far/large', 'single', 'failure', 'TRANSIENT', 'rate_limited',
     'answered', NULL, 9007199254740993, 9223372036854775807, 0, 5900, 4294967295, '/project', NULL,
     'Review the parser of dépêches'),
    (5, -1, NULL, NULL, NULL, NULL, '', 'null', NULL, NULL, 'far/large', '', 'success', NULL, NULL, 'reported', 2, 0, 0,
     1, 0, 0, '', NULL, ''),
    (6, 1760000009000001, '01900000-0000-7000-8000-000000000002', 1, NULL, NULL, 'code-review',
     '{"task_type":"code-review"}', NULL, 'deep', 'far/large', 'race', 'success', NULL, NULL, 'verified', NULL, 7, 500,
     1, 900, 0, '/prøject', 1000000, 'Mend the parsers');

INSERT INTO outcome_week VALUES
    ('', '', -604800000000, '', 'far/large', 1, 1, 0, 0, 0, 1, 0, 0, 0, 2, 1),
    ('code-review', '', 1759968000000000, 'deep', 'far/large', 1, 1, 0, 1, 500, 1, 9007199254741000, 6800, 4294967295,
     0, 0),
    ('code-review', '', 1759968000000000, 'quick', 'local/small@low', 0, 0, 1, 0, 3150000, 1, 168, 2900, 1, 0, 1),
    ('code-review', '/project', 1759968000000000, 'deep', 'far/large', 0, 0, 0, 1, 0, 0, 9007199254740993, 5900,
     4294967295, 0, 0),
    ('code-review', '/project', 1759968000000000, 'quick', 'local/small@low', 0, 0, 1, 0, 3150000, 1, 168, 2900, 1, 0, 1),
    ('code-review', '/prøject', 1759968000000000, 'deep', 'far/large', 1, 1, 0, 0, 500, 1, 7, 900, 0, 0, 0);

INSERT INTO outcome_text (rowid, text) VALUES (2, 'Review the parser of dépêches');
INSERT INTO outcome_text (rowid, text) VALUES (3, 'Review the parser of dépêches');
INSERT INTO outcome_text (rowid, text) VALUES (6, 'Mend the parsers');

INSERT INTO task_batch VALUES
    ('nightly', 2, 1, 1760000000000000),
    ('wide', 0, 0, 1760000000000001);

INSERT INTO task VALUES
    (2, 't001', 1, '/project', NULL, NULL, 0, 'done',
     '{"state":"done","delivered":{"how":"branch","branch":"switchyard/t001","head":"abc"}}',
     '{"description":"mend the \"parser\"","repository":"/project","base":"main","agent":{"kind":"opencode","agent":null}}',
     '{"tries":1}', 2, 7, NULL, 0, 1760000000000010, 1760000009000000, '{"good":true,"cost":9223372036854775807}'),
    (3, 't002.1', NULL, '/prøject', 'nightly', 't002', -3, 'running', '{"state":"running"}',
     '{"description":"run it","repository":"/prøject","base":"main","agent":{"kind":"command","command":"make"},"place":"directory","verify":["make test"],"attempts":4,"deliver":"merge","gate":"open","diagnoses":"t001"}',
     '{}', 1, 3, NULL, 0, 1760000000000011, 1760000010000000, NULL),
    (5, 'docs', NULL, '/project', NULL, NULL, 9, 'queued', '{"state":"queued"}',
     '{"description":"describe it","repository":"/project","base":"main","agent":{"kind":"opencode"}}',
     '{"losses":1,"lessons":["look at line 9"]}', 0, 1, NULL, 2, 1760000000000012, 1760000000000012, NULL),
    (6, 't0998', 998, '/project', 'wide', NULL, 0, 'waiting',
     '{"state":"waiting","until":1760000300000000,"wait":"limit","detail":"the week is used up"}',
     '{"description":"wait","repository":"/project","base":"main","agent":{"kind":"opencode"}}',
     '{}', 0, 2, 1760000300000000, 0, 1760000000000013, 1760000000000014, NULL);

INSERT INTO dependency VALUES
    ('docs', 't002.1', 0),
    ('docs', 't001', 1),
    ('docs', 'later', 2);

INSERT INTO run VALUES
    ('t001', 1, NULL, '/project', NULL, NULL, 'local/small@low', NULL, 'quick', 'yard', NULL, NULL, NULL,
     1760000000000020, NULL, 1760000000000020, 1760000060000000, 1760000003000000, NULL, NULL, NULL, 'lost', NULL,
     'gone', 0, 0),
    ('t001', 2, '01900000-0000-7000-8000-000000000001', '/project', NULL, NULL, 'local/small@low', 'local/small-2',
     'quick', 'yard', 'yard', 31, 70031, 1760000003000001, 1760000003000002, 1760000008000000, 1760000068000000,
     1760000009000000, '/trees/t001', 'switchyard/t001', '0123', 'approved', 'LOGIC', 'at last', 3150000, 1),
    ('t002.1', 1, '01900000-0000-7000-8000-000000000003', '/prøject', 'nightly', 't002', 'far/large', NULL, NULL,
     'yard', NULL, NULL, NULL, 1760000010000000, NULL, 1760000010000001, 1760000070000000, NULL, NULL, NULL, NULL,
     NULL, NULL, NULL, 0, 0);

INSERT INTO effect VALUES
    (4, 't001', 2, 1760000009000000, 'learn', '{"kind":"learn","good":true,"failure":null}', 1760000039000000, 1,
     1760000009500000, 'counted'),
    (5, 't001', 2, 1760000009000000, 'notify', '{"kind":"notify","notice":"done","detail":"ready"}', 1760000039000000,
     2, NULL, 'no network'),
    (7, 't001', 2, 1760000009000000, 'mark', '{"kind":"mark","done":true}', 1760000009000000, 0, NULL, NULL),
    (9, NULL, 0, 1760000000000049, 'notify', '{"kind":"notify","notice":"budget","detail":"budget: 80 %"}',
     1760000040000000, 1, NULL, NULL);

INSERT INTO mark VALUES
    ('breaker', 1760000001000000);

INSERT INTO worker VALUES
    ('coder', 'coder', '/prøject', 'agent', 'fast', 'local/small@low', 'dynamic', 'the tag says so', 'abc', 'ses_1',
     '01900000-0000-7000-8000-0000000000a1', 'yard', 22, 70022, NULL, 1760000000000030, 1760000002000000, 4),
    ('coder-2', 'coder', '/project', 'server', 'far/large', 'far/large', 'sticky', '', 'def', NULL, NULL, NULL, NULL,
     NULL, 1760000009000000, 1760000000000031, 1760000000000031, 1);

INSERT INTO job VALUES
    (2, 'dispatch', 'done', NULL, 1, NULL,
     '{"reference":"fast","model":{"provider":"local","model":"small","variant":"low"},"policy":"dynamic","reason":"asked for","warnings":["slow"]}',
     1, 0, NULL, NULL, NULL, '01900000-0000-7000-8000-000000000001', 'null', NULL, NULL, 1760000000000040,
     1760000000000041, 1760000003000000, 1760000003000000),
    (3, 'worker', 'running', 'coder', 2,
     '{"prompt":"mend the \"parser\"","mode":"agent","directory":"/prøject","reference":null,"policy":"dynamic","task_type":null,"system":null,"schema":null,"attachments":[],"timeout_ms":null,"max_cost":null,"session":null,"keep":false,"models":[],"workflow":null,"steps":[],"pause":"never"}',
     NULL, 2, 1, 'yard', 12, 70012, '01900000-0000-7000-8000-000000000002', '{"heard":"a tool"}', NULL,
     1760000011000000, 1760000000000042, 1760000000000043, NULL, 1760000011000000),
    (5, 'worker', 'queued', 'coder', 4,
     '{"prompt":"and test it","mode":"agent","directory":"/prøject","reference":null,"policy":"dynamic","task_type":null,"system":null,"schema":null,"attachments":[],"timeout_ms":null,"max_cost":null,"session":null,"keep":false,"models":[],"workflow":null,"steps":[],"pause":"never"}',
     NULL, 0, 0, NULL, NULL, NULL, NULL, 'null', NULL, NULL, 1760000000000044, NULL, NULL, 1760000000000044),
    (6, 'workflow', 'paused', NULL, 5,
     '{"prompt":"plan it","mode":"agent","directory":"/project","reference":null,"policy":"sticky","task_type":"code-review","system":"be brief","schema":{"type":"object"},"attachments":["/files/j6/one.png"],"timeout_ms":60000,"max_cost":9223372036854775807,"session":"ses_1","keep":true,"models":["fast"],"workflow":"review","steps":[{"name":"plan","profile":"coder","prompt":"plan it"}],"choices":[{"reference":"fast","model":{"provider":"local","model":"small","variant":"low"},"policy":"dynamic","reason":"asked for","warnings":["slow"],"named":true}],"server":"http://127.0.0.1:4096","pause":"each_step"}',
     NULL, 1, 0, NULL, NULL, NULL, NULL, '[{"name":"plan","text":"first this"}]', NULL, NULL, 1760000000000045,
     1760000000000046, NULL, 1760000005000000),
    (7, 'batch', 'failed', 'gone', 6,
     '{"prompt":"compare","mode":"agent","directory":"/project","reference":null,"policy":"dynamic","task_type":null,"system":null,"schema":null,"attachments":[],"timeout_ms":null,"max_cost":null,"session":null,"keep":false,"models":["fast","far/large"],"workflow":null,"steps":[],"pause":"never"}',
     NULL, 1, 2, NULL, NULL, NULL, NULL, 'null', '{"problem":"nobody answered"}', NULL, 1760000000000047,
     1760000000000048, 1760000006000000, 1760000006000000);

INSERT INTO contest VALUES
    ('t001-1760000000000000:1,2', 1760000009000001, 't001', '/prøject', 'code-review',
     '[{"model":"far/large","won":true},{"model":"local/small@low","won":false}]', 'far/large', 300000,
     'local/judge found it the best'),
    ('prompt:1', 1760000009000002, NULL, '', NULL, '[]', NULL, 0, 'none');

INSERT INTO event VALUES
    (4, 1760000000000001, 'dispatch.started', '01900000-0000-7000-8000-000000000001', '{"mode":"single"}'),
    (7, 1759999995000000, 'server.ready', '01900000-0000-7000-8000-0000000000a1', '{"slot":"slot-1"}');

PRAGMA application_id = 1400330596;
PRAGMA user_version = 9;
