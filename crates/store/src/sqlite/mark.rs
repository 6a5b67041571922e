//! Named moments. The newest recorded one stands.

use super::{SqliteStore, fault::failed};
use crate::Result;
use sqlx::{query, query_scalar};

pub(super) const ONE: &str = "SELECT at FROM mark WHERE name = ?";

const SET: &str = "INSERT INTO mark (name, at) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET at = excluded.at";

pub(super) async fn one(store: &SqliteStore, name: &str) -> Result<Option<i64>> {
    query_scalar(ONE).bind(name).fetch_optional(&store.connections.readers).await.map_err(failed("read the mark"))
}

pub(super) async fn set(store: &SqliteStore, name: &str, at: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    query(SET).bind(name).bind(at).execute(&mut *transaction).await.map_err(failed("set the mark"))?;
    transaction.commit().await.map_err(failed("set the mark"))
}
