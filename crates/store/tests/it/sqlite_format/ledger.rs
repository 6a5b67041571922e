//! The ledger in stored databases: read whole, and made from the attempts of versions that had none.

use super::{
    STORED_V1, STORED_V2, STORED_V3, Yard,
    stored::{assert_first_tables, cooldowns, health, id},
};
use serde_json::json;
use shuntyard_core::{Nano, Usage};
use shuntyard_store::{
    Alert, AttemptEnd, Billing, BudgetPeriod, BudgetRule, ErrorKind, GroupBy, PeriodUnit, RunStatus, SpendKey,
    SpendKind, Spent, Store as _, sqlite::SqliteStore,
};

/// The bucket in which the stored attempts ended.
const BUCKET: i64 = 1_759_999_500_000_000;

fn spent(cost: i64, attempts: u64, unknown: u64, tokens: u64) -> Spent {
    Spent { cost: Nano(cost), attempts, unknown, tokens }
}

async fn grouped(store: &SqliteStore, by: GroupBy) -> Vec<(String, Spent)> {
    store.spending(i64::MIN, i64::MAX, by).await.unwrap()
}

fn named<const N: usize>(rows: [(&str, Spent); N]) -> Vec<(String, Spent)> {
    rows.map(|(name, spent)| (name.to_owned(), spent)).to_vec()
}

#[tokio::test]
async fn version_3_is_read_whole() {
    let yard = Yard::stored(STORED_V3).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_ledger(&store).await;
}

/// All that was there in version 3, and is the same in every later stored database.
pub async fn assert_ledger(store: &SqliteStore) {
    assert_first_tables(store).await;
    assert_eq!(store.health().await.unwrap(), health());
    assert_eq!(store.cooldowns(0).await.unwrap(), cooldowns());

    let small = spent(3_150_000, 1, 0, 168);
    let models = named([
        ("", spent(2_500, 3, 1, 40)),
        ("far/large", spent(i64::MAX, 1, 1, 9_007_199_254_740_993)),
        ("local/small@low", small),
    ]);
    assert_eq!(grouped(store, GroupBy::Model).await, models);
    assert_eq!(store.spent(&SpendKey::new(SpendKind::Tier, "quick"), BUCKET, BUCKET + 1).await.unwrap(), small);
    assert_eq!(grouped(store, GroupBy::Task).await, named([("task-7", small)]));
    assert_eq!(grouped(store, GroupBy::Batch).await, named([("batch-3", small)]));
    let reserved = store.reserved(&SpendKey::new(SpendKind::Batch, "batch-4")).await.unwrap();
    assert_eq!(reserved, spent(700_000, 1, 0, 2_500));

    assert_eq!(store.budget_rules().await.unwrap(), rules());
    assert_eq!(store.budget_periods().await.unwrap(), periods());
    let (day, far) = (1_759_968_000_000_000, SpendKey::new(SpendKind::Provider, "far"));
    assert_eq!(store.raise_alert(day, &far, "degraded", 1, &json!({}), None).await.unwrap(), Alert::Known);
    let raised = store.raise_alert(day, &far, "exhausted", 1, &json!({}), None).await.unwrap();
    assert_eq!(raised, Alert::Raised { effect: None });
}

fn rules() -> [BudgetRule; 3] {
    let at = |number: i64| 1_760_000_000_000_000 + number;
    [
        BudgetRule {
            key: SpendKey::overall(),
            billing: Billing::Token,
            daily: Some(Nano(5_000_000_000)),
            degrade_percent: Some(80),
            stop_percent: Some(100),
            unknown_allowed: Some(true),
            changed_at: at(1),
        },
        BudgetRule {
            key: SpendKey::new(SpendKind::Provider, "far"),
            billing: Billing::Subscription,
            daily: None,
            degrade_percent: None,
            stop_percent: None,
            unknown_allowed: None,
            changed_at: at(2),
        },
        BudgetRule {
            key: SpendKey::new(SpendKind::Tier, "quick"),
            billing: Billing::Token,
            daily: Some(Nano::ZERO),
            degrade_percent: None,
            stop_percent: Some(95),
            unknown_allowed: Some(false),
            changed_at: at(3),
        },
    ]
}

fn periods() -> [BudgetPeriod; 3] {
    let (first, second) = (1_759_708_800_000_000, 1_760_313_600_000_000);
    [
        (3, first, None, PeriodUnit::Requests, 50, Some(18_000_000_000), 4),
        (5, first, Some(second), PeriodUnit::Usd, 20_000_000_000, None, 5),
        (6, second, None, PeriodUnit::Tokens, 0, None, 6),
    ]
    .map(|(id, starts_at, ends_at, unit, allowance, rolling_micros, changed)| BudgetPeriod {
        id,
        provider: "far".into(),
        starts_at,
        ends_at,
        unit,
        allowance,
        rolling_micros,
        changed_at: 1_760_000_000_000_000 + changed,
    })
}

/// More of the same model: on both edges of a bucket, of unknown cost, too much for a sum, and nameless.
const MORE_ATTEMPTS: &str = "
    INSERT INTO attempt (dispatch, ordinal, began_at, ended_at, model, status, input_tokens, output_tokens,
                         reasoning_tokens, cache_read_tokens, cache_write_tokens, cost_nano, cost_known)
    SELECT '01900000-0000-7000-8000-000000000001', column1, 1, column2, column3, 'ok', 1, 20, 300, 4000, 50000,
        column4, column5
    FROM (VALUES
        (3, 1759999500000000, 'local/small@low', 1, 0),
        (4, 1760000399999999, 'local/small@low', 2, 1),
        (5, 1760000400000000, 'local/small@low', 4, 1),
        (6, 1759999499999999, 'gate/org/small', 8, 0),
        (7, 1760000000000000, 'far/large', 16, 1),
        (8, 1760000000000000, 'nameless', 32, 1),
        (9, -1, 'local/small', 64, 1));";

#[tokio::test]
async fn the_attempts_of_older_versions_are_summed() {
    for sql in [STORED_V1, STORED_V2] {
        let yard = Yard::stored(sql).await;
        yard.execute(MORE_ATTEMPTS).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let (more, large) = (54_321, 9_007_199_254_740_993 + 54_321);
        let buckets = [
            (-900_000_000, spent(64, 1, 0, more)),
            (BUCKET - 900_000_000, spent(8, 1, 1, more)),
            (BUCKET, spent(i64::MAX, 6, 2, 168 + 3 * more + large)),
            (BUCKET + 900_000_000, spent(4, 1, 0, more)),
        ];
        let buckets = buckets.map(|(bucket, spent)| (bucket.to_string(), spent)).to_vec();
        assert_eq!(grouped(&store, GroupBy::Bucket).await, buckets);
        let providers = named([
            ("", spent(32, 1, 0, more)),
            ("far", spent(i64::MAX, 2, 1, large)),
            ("gate", spent(8, 1, 1, more)),
            ("local", spent(3_150_000 + 1 + 2 + 4 + 64, 5, 1, 168 + 4 * more)),
        ]);
        assert_eq!(grouped(&store, GroupBy::Provider).await, providers);
        let local = SpendKey::new(SpendKind::Provider, "local");
        let sum = store.spent(&local, BUCKET, BUCKET + 900_000_000).await.unwrap();
        assert_eq!(sum, spent(3_150_003, 3, 1, 168 + 2 * more));
        assert_eq!(grouped(&store, GroupBy::Tier).await.len(), 1);
        assert_eq!(grouped(&store, GroupBy::Task).await, []);
    }
}

#[tokio::test]
async fn an_older_attempt_is_counted_once() {
    let yard = Yard::stored(STORED_V2).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let end = |cost| AttemptEnd {
        at: BUCKET + 5 * 900_000_000,
        status: RunStatus::Ok,
        error_class: None,
        message: None,
        answered_by: None,
        usage: Usage { input: 101, ..Usage::default() },
        usage_known: true,
        cost: Nano(cost),
        cost_known: true,
    };
    let local = SpendKey::new(SpendKind::Provider, "local");
    // Settled before the ledger was there: only what is more is added, to the bucket of then.
    store.finish_attempt(id("01"), 1, &end(3_150_007)).await.unwrap();
    let sum = store.spent(&local, BUCKET, BUCKET + 900_000_000).await.unwrap();
    assert_eq!(sum, spent(3_150_007, 1, 0, 169));
    // Begun before, and settled now.
    store.finish_attempt(id("02"), 1, &end(9)).await.unwrap();
    let sum = store.spent(&local, BUCKET + 900_000_000, i64::MAX).await.unwrap();
    assert_eq!(sum, spent(9, 1, 0, 101));
}

#[tokio::test]
async fn unknown_words_of_a_budget_are_damage() {
    for sql in [
        "UPDATE budget_rule SET kind = 'whim' WHERE kind = 'tier'",
        "UPDATE budget_rule SET billing = 'barter'",
        "UPDATE budget_period SET unit = 'hours'",
    ] {
        let yard = Yard::stored(STORED_V3).await;
        yard.execute(sql).await;
        let store = SqliteStore::open_existing(&yard.path).await.unwrap();
        let errors = [store.budget_rules().await.map(drop), store.budget_periods().await.map(drop)].map(Result::err);
        let kinds: Vec<ErrorKind> = errors.iter().flatten().map(|error| error.kind()).collect();
        assert_eq!(kinds, [ErrorKind::Corrupt], "{sql}: {errors:?}");
    }
}
