//! Leases: who uses a server. Only a ready server is lent, and the check and the loan are one
//! statement, so that a server which begins to drain cannot be lent a moment later.

use super::{SqliteStore, fault::failed, row};
use crate::{ErrorKind, Lease, Result, StoreError};
use shuntyard_core::{DispatchId, ServerId};
use sqlx::query;

const TAKE: &str = "
    INSERT INTO lease (server, holder, owner_host, owner_pid, owner_start, at)
    SELECT id, ?2, ?3, ?4, ?5, ?6 FROM server WHERE id = ?1 AND state = 'ready'";

const RELEASE: &str = "DELETE FROM lease WHERE server = ?1 AND holder = ?2";

const OF_SERVER: &str = "SELECT * FROM lease WHERE server = ?1 ORDER BY holder";

pub(super) async fn take(store: &SqliteStore, lease: &Lease) -> Result<()> {
    let mut transaction = store.write().await?;
    let taken = query(TAKE)
        .bind(lease.server.to_string())
        .bind(lease.holder.to_string())
        .bind(&lease.owner.host)
        .bind(lease.owner.pid)
        .bind(lease.owner.start)
        .bind(lease.at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("take the lease"))?;
    if taken.rows_affected() == 0 {
        let what = format!("failed to take the lease: server {} is not ready", lease.server);
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    transaction.commit().await.map_err(failed("take the lease"))
}

pub(super) async fn release(store: &SqliteStore, server: ServerId, holder: DispatchId) -> Result<()> {
    let mut transaction = store.write().await?;
    query(RELEASE)
        .bind(server.to_string())
        .bind(holder.to_string())
        .execute(&mut *transaction)
        .await
        .map_err(failed("release the lease"))?;
    transaction.commit().await.map_err(failed("release the lease"))
}

pub(super) async fn of_server(store: &SqliteStore, server: ServerId) -> Result<Vec<Lease>> {
    let rows = query(OF_SERVER).bind(server.to_string()).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the leases"))?.iter().map(row::lease).collect()
}
