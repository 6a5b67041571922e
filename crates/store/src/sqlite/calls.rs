//! The contract, call by call. Each call goes to the file of the table that it is about.

use super::{
    SqliteStore, alert, attempt, charged, cooldown, dispatch, event, health, lease, listing, outcome, period,
    reservation, rule, server, session, settle, similar, spend, tally,
};
use crate::{
    Alert, AttemptEnd, AttemptRecord, Begun, BudgetPeriod, BudgetRule, CooldownRecord, DispatchEnd, DispatchRecord,
    Event, GroupBy, HealthRecord, Judgement, Lease, NewAttempt, NewDispatch, NewOutcome, NewPeriod, NewSpend,
    OutcomeFilter, OutcomeOrder, OutcomeRecord, Result, ServerRecord, ServerState, SessionRecord, Settled, SpendKey,
    Spent, Store,
};
use async_trait::async_trait;
use serde_json::Value;
use shuntyard_core::{
    DispatchId, ServerId,
    experience::{Move, Past, Tally},
    work::task::Effect,
};

#[async_trait]
impl Store for SqliteStore {
    async fn begin_dispatch(&self, dispatch: &NewDispatch) -> Result<()> {
        dispatch::begin(self, dispatch).await
    }

    async fn begin_dispatch_with(&self, dispatch: &NewDispatch, first: &NewAttempt) -> Result<Begun> {
        let begun = dispatch::begin_with(self, dispatch, first).await?;
        self.sync().await?;
        Ok(begun)
    }

    async fn begin_attempt(&self, attempt: &NewAttempt) -> Result<Begun> {
        let begun = attempt::begin(self, attempt).await?;
        self.sync().await?;
        Ok(begun)
    }

    async fn set_attempt_session(&self, dispatch: DispatchId, ordinal: u32, session: &str) -> Result<()> {
        attempt::set_session(self, dispatch, ordinal, session).await
    }

    async fn finish_attempt(&self, dispatch: DispatchId, ordinal: u32, end: &AttemptEnd) -> Result<Settled> {
        settle::finish(self, dispatch, ordinal, end).await
    }

    async fn finish_dispatch(&self, dispatch: DispatchId, end: &DispatchEnd) -> Result<()> {
        dispatch::finish(self, dispatch, end).await
    }

    async fn dispatch(&self, dispatch: DispatchId) -> Result<DispatchRecord> {
        dispatch::one(self, dispatch).await
    }

    async fn recent_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>> {
        dispatch::recent(self, limit).await
    }

    async fn unfinished_dispatches(&self, limit: u32) -> Result<Vec<DispatchRecord>> {
        dispatch::unfinished(self, limit).await
    }

    async fn put_session(&self, session: &SessionRecord) -> Result<()> {
        session::put(self, session).await
    }

    async fn session(&self, session: &str) -> Result<SessionRecord> {
        session::one(self, session).await
    }

    async fn claim_session(&self, session: &str, now: i64) -> Result<()> {
        session::claim(self, session, now).await
    }

    async fn session_attempts(&self, session: &str) -> Result<Vec<(DispatchId, AttemptRecord)>> {
        session::attempts(self, session).await
    }

    async fn sessions_of_unknown_cost(&self, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
        session::of_unknown_cost(self, home, limit).await
    }

    async fn stale_sessions(&self, home: &str, before: i64, limit: u32) -> Result<Vec<SessionRecord>> {
        session::stale(self, home, before, limit).await
    }

    async fn doomed_sessions(&self, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
        session::doomed(self, home, limit).await
    }

    async fn put_server(&self, server: &ServerRecord) -> Result<()> {
        server::put(self, server).await
    }

    async fn set_server_state(&self, server: ServerId, state: ServerState, now: i64) -> Result<()> {
        server::set_state(self, server, state, now).await
    }

    async fn servers(&self) -> Result<Vec<ServerRecord>> {
        server::all(self).await
    }

    async fn remove_server(&self, server: ServerId, now: i64) -> Result<()> {
        server::remove(self, server, now).await
    }

    async fn take_lease(&self, lease: &Lease) -> Result<()> {
        lease::take(self, lease).await
    }

    async fn release_lease(&self, server: ServerId, holder: DispatchId) -> Result<()> {
        lease::release(self, server, holder).await
    }

    async fn leases(&self, server: ServerId) -> Result<Vec<Lease>> {
        lease::of_server(self, server).await
    }

    async fn put_health(&self, health: &HealthRecord) -> Result<()> {
        health::put(self, health).await
    }

    async fn health(&self) -> Result<Vec<HealthRecord>> {
        health::all(self).await
    }

    async fn forget_health(&self, provider: Option<&str>) -> Result<()> {
        health::forget(self, provider).await
    }

    async fn put_cooldown(&self, cooldown: &CooldownRecord) -> Result<()> {
        cooldown::put(self, cooldown).await
    }

    async fn cooldowns(&self, now: i64) -> Result<Vec<CooldownRecord>> {
        cooldown::active(self, now).await
    }

    async fn end_cooldowns(&self, targets: &[&str], began_by: i64, now: i64) -> Result<u64> {
        cooldown::end(self, targets, began_by, now).await
    }

    async fn spent(&self, key: &SpendKey, from: i64, until: i64) -> Result<Spent> {
        spend::settled(self, key, from, until).await
    }

    async fn reserved(&self, key: &SpendKey) -> Result<Spent> {
        reservation::of(self, key).await
    }

    async fn standings(&self, wanted: &[(SpendKey, i64, i64)]) -> Result<Vec<(Spent, Spent)>> {
        reservation::standings(self, wanted).await
    }

    async fn spending(&self, from: i64, until: i64, by: GroupBy) -> Result<Vec<(String, Spent)>> {
        spend::grouped(self, from, until, by).await
    }

    async fn usual(&self, model: &str, mode: &str, from: i64) -> Result<Spent> {
        charged::usual(self, model, mode, from).await
    }

    async fn charged(&self, key: &SpendKey, from: i64, until: i64) -> Result<(Option<i64>, Spent)> {
        charged::to(self, key, from, until).await
    }

    async fn record_spend(&self, spend: &NewSpend) -> Result<()> {
        spend::record(self, spend).await
    }

    async fn stale_reservations(&self, before: i64) -> Result<Vec<(DispatchId, u32)>> {
        reservation::stale(self, before).await
    }

    async fn drop_reservation(&self, dispatch: DispatchId, ordinal: u32) -> Result<()> {
        reservation::release_alone(self, dispatch, ordinal).await
    }

    async fn budget_rules(&self) -> Result<Vec<BudgetRule>> {
        rule::all(self).await
    }

    async fn put_budget_rule(&self, rule: &BudgetRule) -> Result<()> {
        rule::put(self, rule).await
    }

    async fn remove_budget_rule(&self, key: &SpendKey, now: i64) -> Result<bool> {
        rule::remove(self, key, now).await
    }

    async fn budget_periods(&self) -> Result<Vec<BudgetPeriod>> {
        period::all(self).await
    }

    async fn put_budget_period(&self, period: &NewPeriod) -> Result<i64> {
        period::put(self, period).await
    }

    async fn remove_budget_period(&self, id: i64, now: i64) -> Result<bool> {
        period::remove(self, id, now).await
    }

    async fn raise_alert(
        &self,
        day_start: i64,
        key: &SpendKey,
        level: &str,
        now: i64,
        data: &Value,
        notice: Option<(&Effect, i64)>,
    ) -> Result<Alert> {
        alert::raise(self, day_start, key, level, now, data, notice).await
    }

    async fn record_outcomes(&self, outcomes: &[NewOutcome]) -> Result<u64> {
        outcome::record(self, outcomes).await
    }

    async fn judge_outcome(
        &self,
        dispatch: DispatchId,
        ordinal: Option<u32>,
        now: i64,
        judgement: &Judgement,
    ) -> Result<Option<OutcomeRecord>> {
        outcome::judge(self, dispatch, ordinal, now, judgement).await
    }

    async fn outcome_tallies(
        &self,
        task_type: Option<&str>,
        repository: Option<&str>,
        from: i64,
    ) -> Result<Vec<Tally>> {
        tally::of(self, task_type, repository, from).await
    }

    async fn outcomes(&self, filter: &OutcomeFilter, order: OutcomeOrder) -> Result<Vec<OutcomeRecord>> {
        listing::of(self, filter, order).await
    }

    async fn similar_outcomes(&self, words: &[String], limit: u32) -> Result<Vec<OutcomeRecord>> {
        similar::to(self, words, limit).await
    }

    async fn tier_moves(&self, from: i64, until: i64) -> Result<Vec<Move>> {
        tally::moves(self, from, until).await
    }

    async fn outcome_history(&self, from: i64, until: i64) -> Result<Vec<Past>> {
        tally::history(self, from, until).await
    }

    async fn append_event(&self, at: i64, kind: &str, subject: &str, data: &Value) -> Result<i64> {
        event::append_alone(self, at, kind, subject, data).await
    }

    async fn events_after(&self, after: i64, limit: u32) -> Result<Vec<Event>> {
        event::after(self, after, limit).await
    }

    async fn newest_event(&self) -> Result<i64> {
        event::newest(self).await
    }

    async fn data_version(&self) -> Result<i64> {
        event::data_version(self).await
    }
}
