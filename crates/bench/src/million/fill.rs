//! Half a year of work in twenty repositories with thirty models of six providers, and what it cost.

use shuntyard_core::{
    Nano,
    experience::{Evidence, FailureMode, Verdict},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{NewOutcome, SpendKey, Store as _, sqlite::SqliteStore};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::Path;

pub const DAY: i64 = 86_400_000_000;
pub const PROVIDERS: usize = 6;
const WORDS: [&str; 16] = [
    "parser", "timeout", "retry", "schema", "cache", "index", "worker", "lease", "ledger", "budget", "router",
    "prompt", "session", "stream", "token", "ranking",
];

/// Attempts in one statement: through the store they would take longer than all measurements. The sums are made of them
/// as the store makes them, and are checked through the store afterwards.
const ATTEMPTS: &str = "
    CREATE TEMP TABLE made AS
        WITH RECURSIVE number(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i + 1 < ?1)
        SELECT i, printf('0190%04x-%04x-7000-8000-%012x', i >> 16, i & 65535, i) AS id,
            ?2 - i * (180 * 86400000000 / ?1) AS at, 'provider' || (i % 6) AS provider,
            'provider' || (i % 6) || '/model' || (i * 31 % 30) AS model,
            CASE i % 3 WHEN 0 THEN 'haiku' WHEN 1 THEN 'sonnet' ELSE 'opus' END AS tier
        FROM number;
    INSERT INTO dispatch
        SELECT id, at - 4000000, at, 'bench', 1, 1, 'text', '{}', '{}', '/', 100, 'ok', NULL, '[]' FROM made;
    INSERT INTO attempt (dispatch, ordinal, began_at, ended_at, model, status, input_tokens, output_tokens, cost_nano,
            cost_known, provider, tier)
        SELECT id, 1, at - 4000000, at, model, 'ok', 900, 300, 3000000 + i % 1000, 1, provider, tier FROM made;
    INSERT INTO spend (bucket, provider, model, tier, cost_nano, attempts, unknown, tokens)
        SELECT at / 900000000 * 900000000 AS bucket, provider, model, tier, sum(3000000 + i % 1000), count(*), 0,
            1200 * count(*)
        FROM made GROUP BY 1, 2, 3, 4;
    INSERT INTO spend_sum (kind, name, span, start, cost_nano, attempts, unknown, tokens)
        SELECT kind, name, span, bucket / length * length, sum(cost_nano), sum(attempts), 0, sum(tokens)
        FROM (SELECT 'overall' AS kind, '' AS name, * FROM spend UNION ALL SELECT 'provider', provider, * FROM spend
              UNION ALL SELECT 'tier', tier, * FROM spend)
            CROSS JOIN (SELECT 'quarter' AS span, 900000000 AS length UNION ALL SELECT 'day', 86400000000)
        GROUP BY 1, 2, 3, 4;
    DROP TABLE made;";

pub async fn fill(path: &Path, count: usize) {
    let store = SqliteStore::open(path).await.expect("a store");
    let mut next = 0;
    while next < count {
        let batch: Vec<NewOutcome> = (next..(next + 1000).min(count)).map(|index| outcome(index, count)).collect();
        store.record_outcomes(&batch).await.expect("recorded");
        next += batch.len();
    }
    store.close().await;
    let now = now_micros();
    let mut connection =
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path)).await.expect("the file");
    let number = i64::try_from(count).expect("small");
    let mut transaction = connection.begin().await.expect("a transaction");
    sqlx::query(ATTEMPTS).bind(number).bind(now).execute(&mut *transaction).await.expect("filled");
    transaction.commit().await.expect("written");
    connection.close().await.expect("closed");
    let store = SqliteStore::open_existing(path).await.expect("a store");
    for (from, until) in [(0, i64::MAX), (1, now + DAY)] {
        let all = store.spent(&SpendKey::overall(), from, until).await.expect("a sum");
        assert_eq!(usize::try_from(all.attempts).expect("small"), count, "every attempt is in the sums");
    }
    store.close().await;
}

/// The same outcome for the same number, spread over half a year.
pub fn outcome(index: usize, count: usize) -> NewOutcome {
    let kinds = ["code-review", "simple-fix", "docs-generation", "complex-fix", "research", "quick-check"];
    let place = i64::try_from(index).expect("small");
    let age = 180 * DAY / i64::try_from(count).expect("small") * place;
    let model = index * 31 % 30;
    let failed = index.is_multiple_of(11);
    let word = |step: usize| WORDS[(index / step + index % (step + 3)) % WORDS.len()];
    NewOutcome {
        at: now_micros() - age,
        attempt: None,
        task: None,
        batch: None,
        task_type: kinds[index % kinds.len()].to_owned(),
        requested: serde_json::json!({ "task_type": kinds[index % kinds.len()] }),
        asked_tier: Some("sonnet".to_owned()),
        tier: Some(["haiku", "sonnet", "opus"][model % 3].to_owned()),
        model: format!("provider{}/model{model}", model % PROVIDERS),
        strategy: "text".to_owned(),
        verdict: if failed { Verdict::Failure } else { Verdict::Success },
        failure_mode: failed.then_some(FailureMode::Logic),
        error_class: None,
        evidence: if index.is_multiple_of(3) { Evidence::Verified } else { Evidence::Answered },
        quality: None,
        tokens: 1200,
        cost: Nano(3_000_000),
        cost_known: true,
        duration_ms: 4000,
        retries: 0,
        repository: format!("/srv/repository{}", index % 20),
        propensity: None,
        text: format!("{} the {} of the {} when the {} fails", word(2), word(3), word(5), word(7)),
    }
}
