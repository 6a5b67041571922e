-- The ledger: what was spent, what is set aside for work under way, and the rules of a budget.

ALTER TABLE attempt ADD COLUMN provider TEXT NOT NULL DEFAULT '';
ALTER TABLE attempt ADD COLUMN tier TEXT;
ALTER TABLE attempt ADD COLUMN task TEXT;
ALTER TABLE attempt ADD COLUMN batch TEXT;

UPDATE attempt SET provider = substr(model, 1, instr(model, '/') - 1) WHERE instr(model, '/') > 0;

-- A bucket is the beginning of the quarter of an hour in which an attempt ended. What had no tier has
-- the empty one, because a primary key cannot hold an absent part.
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

CREATE INDEX spend_provider ON spend (provider, bucket);
CREATE INDEX spend_tier ON spend (tier, bucket);

-- The same sums over all time, for each task and each batch.
CREATE TABLE spend_total (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    cost_nano INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    unknown INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

-- It is no foreign key to the attempt: one that is left over must be seen and dropped, not hidden.
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

-- An id is never given twice, even after the newest period was removed.
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

-- What was told already, so that it is told once a day.
CREATE TABLE budget_alert (
    day_start INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    level TEXT NOT NULL,
    PRIMARY KEY (day_start, kind, name, level)
) STRICT, WITHOUT ROWID;

-- A sum of whole numbers fails when it is too large. Those of the halves do not; and a product or sum
-- that is too large becomes a float, of which the smaller is the greatest whole number.
INSERT INTO spend (bucket, provider, model, tier, cost_nano, attempts, unknown, tokens)
SELECT bucket, provider, model, '',
    min(sum(cost_nano >> 32) * 4294967296 + sum(cost_nano & 4294967295), 9223372036854775807),
    count(*),
    sum(NOT cost_known),
    min(sum(tokens >> 32) * 4294967296 + sum(tokens & 4294967295), 9223372036854775807)
FROM (
    SELECT (ended_at / 900000000 - (ended_at % 900000000 < 0)) * 900000000 AS bucket, provider, model, cost_nano,
        cost_known,
        min(input_tokens + output_tokens + reasoning_tokens + cache_read_tokens + cache_write_tokens,
            9223372036854775807) AS tokens
    FROM attempt WHERE ended_at IS NOT NULL
)
GROUP BY bucket, provider, model;

PRAGMA user_version = 3;
