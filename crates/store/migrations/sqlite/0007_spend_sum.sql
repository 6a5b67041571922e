-- What was spent in each quarter of an hour and on each day of UTC, overall and for each provider and tier: a window is
-- the sum of its whole days and of the quarters at its two ends, however much was spent in it. A span is one of the
-- words `quarter` and `day`.

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

-- Summed by halves, so that a sum which is too large stays at the greatest number.
INSERT INTO spend_sum (kind, name, span, start, cost_nano, attempts, unknown, tokens)
SELECT kind, name, span, bucket - ((bucket % length) + length) % length AS start,
    min(sum(cost_nano >> 32) * 4294967296 + sum(cost_nano & 4294967295), 9223372036854775807),
    min(sum(attempts >> 32) * 4294967296 + sum(attempts & 4294967295), 9223372036854775807),
    min(sum(unknown >> 32) * 4294967296 + sum(unknown & 4294967295), 9223372036854775807),
    min(sum(tokens >> 32) * 4294967296 + sum(tokens & 4294967295), 9223372036854775807)
FROM (
    SELECT 'overall' AS kind, '' AS name, bucket, cost_nano, attempts, unknown, tokens FROM spend
    UNION ALL
    SELECT 'provider', provider, bucket, cost_nano, attempts, unknown, tokens FROM spend
    UNION ALL
    SELECT 'tier', tier, bucket, cost_nano, attempts, unknown, tokens FROM spend
) CROSS JOIN (SELECT 'quarter' AS span, 900000000 AS length UNION ALL SELECT 'day', 86400000000)
GROUP BY kind, name, span, start;

-- Nobody asks for these any more.
DROP INDEX spend_provider;
DROP INDEX spend_tier;

PRAGMA user_version = 7;
