//! Whether a migration kept what was there: a sound file, whole references, and no fewer rows.

use super::fault::failed;
use crate::{ErrorKind, Result, StoreError};
use sqlx::{AssertSqlSafe, SqliteConnection};
use std::collections::BTreeMap;

/// How many rows each table holds. An index of words, and the tables in which it keeps itself, count none: their rows
/// become fewer whenever it tidies up, and all that is in them can be made again.
pub(super) async fn rows(connection: &mut SqliteConnection) -> sqlx::Result<BTreeMap<String, i64>> {
    let tables: Vec<(String, String)> = sqlx::query_as(
        "SELECT name, type FROM pragma_table_list
         WHERE schema = 'main' AND type <> 'view' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut rows = BTreeMap::new();
    for (table, kind) in tables {
        if kind != "table" {
            rows.insert(table, 0);
            continue;
        }
        // A table's name cannot be a parameter. This one is the database's own, and is quoted.
        let count = format!("SELECT count(*) FROM \"{}\"", table.replace('"', "\"\""));
        rows.insert(table, sqlx::query_scalar(AssertSqlSafe(count)).fetch_one(&mut *connection).await?);
    }
    Ok(rows)
}

/// Compares with the rows of before; a table that is gone holds none.
pub(super) async fn verify(connection: &mut SqliteConnection, before: &BTreeMap<String, i64>) -> Result<()> {
    let problems: Vec<String> = sqlx::query_scalar("SELECT integrity_check FROM pragma_integrity_check")
        .fetch_all(&mut *connection)
        .await
        .map_err(failed("check the tables"))?;
    if problems != ["ok"] {
        return Err(unsound(format!("the tables are damaged: {}", problems.join("; "))));
    }
    let orphans: i64 = sqlx::query_scalar("SELECT count(*) FROM pragma_foreign_key_check")
        .fetch_one(&mut *connection)
        .await
        .map_err(failed("check the references"))?;
    if orphans > 0 {
        return Err(unsound(format!("{orphans} rows refer to rows that are not there")));
    }
    let after = rows(connection).await.map_err(failed("count the rows"))?;
    for (table, &count) in before {
        let left = after.get(table).copied().unwrap_or(0);
        if left < count {
            return Err(unsound(format!("table {table} had {count} rows and would have {left}")));
        }
    }
    Ok(())
}

fn unsound(what: String) -> StoreError {
    StoreError::new(ErrorKind::Corrupt, what)
}
