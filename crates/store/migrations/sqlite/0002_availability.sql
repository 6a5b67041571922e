-- Who can answer now. Both tables hold news that ends by itself: a row that has ended says nothing,
-- and whoever passes by may remove it.

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

-- A target is a provider, or one of its models as `provider/model`. It is no foreign key: who there
-- is to ask changes with the user's logins.
CREATE TABLE cooldown (
    target TEXT PRIMARY KEY NOT NULL,
    trigger TEXT NOT NULL,
    class TEXT NOT NULL,
    message TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    CHECK (until >= since)
) STRICT;

PRAGMA user_version = 2;
