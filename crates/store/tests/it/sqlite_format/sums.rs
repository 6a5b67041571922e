//! The sums of the ledger in stored databases: read whole, and made from what versions have that had none.

use super::{
    STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, STORED_V6, STORED_V7, Yard, jobs::assert_jobs, raw,
};
use shuntyard_core::Nano;
use shuntyard_store::{GroupBy, NewSpend, SpendKey, SpendKind, Spent, Store as _, sqlite::SqliteStore};

/// The day in which the stored attempts ended, and its length.
const DAY: i64 = 1_759_968_000_000_000;
const LENGTH: i64 = 86_400_000_000;

type Row = (String, String, String, i64, i64, i64, i64, i64);

/// The sums that are kept, and the same made of what was spent by each model.
async fn sums(yard: &Yard) -> [Vec<Row>; 2] {
    let kept = "SELECT * FROM spend_sum ORDER BY kind, name, span, start";
    let made = "
        SELECT kind, name, span, bucket - ((bucket % length) + length) % length AS start,
            cast(min(total(cost_nano), 9223372036854775807) AS INTEGER), sum(attempts), sum(unknown), sum(tokens)
        FROM (SELECT 'overall' AS kind, '' AS name, * FROM spend UNION ALL SELECT 'provider', provider, * FROM spend
              UNION ALL SELECT 'tier', tier, * FROM spend)
            CROSS JOIN (SELECT 'quarter' AS span, 900000000 AS length UNION ALL SELECT 'day', 86400000000)
        GROUP BY kind, name, span, start ORDER BY kind, name, span, start";
    let mut connection = raw(&yard.path).await;
    let mut found = [const { Vec::new() }; 2];
    for (sql, rows) in [kept, made].into_iter().zip(&mut found) {
        *rows = sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap();
    }
    found
}

#[tokio::test]
async fn version_7_is_read_whole() {
    let yard = Yard::stored(STORED_V7).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    assert_jobs(&store).await;
    assert_eq!(store.spent(&SpendKey::new(SpendKind::Tier, "quick"), DAY, DAY + LENGTH).await.unwrap().attempts, 1);
    assert_eq!(store.spending(DAY, DAY + LENGTH, GroupBy::Provider).await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_sums_of_older_versions_are_made_of_what_they_have() {
    // Before and after the beginning of the epoch, on both edges of a day.
    const MORE: &str = "
        INSERT INTO attempt (dispatch, ordinal, began_at, ended_at, model, status, cost_nano, cost_known)
        SELECT '01900000-0000-7000-8000-000000000001', column1, 1, column2, 'edge/model', 'ok', column3, 1
        FROM (VALUES (13, 1759968000000000, 1), (14, 1759967999999999, 2), (15, -1, 4), (16, 0, 8), (17, -86400000000, 16));";
    let stored = [STORED_V1, STORED_V2, STORED_V3, STORED_V4, STORED_V5, STORED_V6];
    for (version, sql) in (1..).zip(stored) {
        let yard = Yard::stored(sql).await;
        if version < 3 {
            yard.execute(MORE).await;
        }
        SqliteStore::open_existing(&yard.path).await.unwrap().close().await;
        let [kept, made] = sums(&yard).await;
        assert_eq!(kept, made, "version {version}");
        assert!(kept.len() >= 12, "version {version}: {kept:?}");
        let is_edge = |row: &&Row| (row.0.as_str(), row.1.as_str(), row.2.as_str()) == ("provider", "edge", "day");
        let edges: Vec<i64> = kept.iter().filter(is_edge).map(|row| row.3).collect();
        let expected: &[i64] = if version < 3 { &[-LENGTH, 0, DAY - LENGTH, DAY] } else { &[] };
        assert_eq!(edges, expected, "version {version}");
        let [stored, _] = sums(&Yard::stored(STORED_V7).await).await;
        assert!(version < 3 || kept == stored, "version {version}");
    }
}

#[tokio::test]
async fn a_sum_goes_on_with_what_is_spent_next() {
    let yard = Yard::stored(STORED_V6).await;
    let store = SqliteStore::open_existing(&yard.path).await.unwrap();
    let new = |at, cost| NewSpend {
        at,
        provider: "near".into(),
        model: "near/one".into(),
        tier: Some("quick".into()),
        task: None,
        batch: None,
        spent: Spent { cost: Nano(cost), attempts: 1, unknown: 0, tokens: 1 },
    };
    for (at, cost) in [(DAY + LENGTH - 1, 5), (DAY + LENGTH, 7), (DAY, 9)] {
        store.record_spend(&new(at, cost)).await.unwrap();
    }
    store.close().await;
    let [kept, made] = sums(&yard).await;
    assert_eq!(kept, made);
    let quick: Vec<&Row> = kept.iter().filter(|row| row.1 == "quick" && row.2 == "day").collect();
    assert_eq!(quick.iter().map(|row| row.4).collect::<Vec<_>>(), [3_150_000 + 5 + 9, 7]);
}
