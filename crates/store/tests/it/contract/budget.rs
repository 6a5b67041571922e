//! Rules, periods and alerts of a budget: kept as they are given, and every change is an event.

use super::{Backend, concurrency::stores, event::story, sample};
use serde_json::json;
use shuntyard_core::{
    Nano,
    work::task::{Effect, Notice},
};
use shuntyard_store::{
    Alert, Billing, BudgetPeriod, BudgetRule, EffectRecord, ErrorKind, NewPeriod, PeriodUnit, SpendKey, SpendKind,
    Store,
};
use std::sync::Arc;
use tokio::task::JoinSet;

fn rule(key: SpendKey, changed_at: i64) -> BudgetRule {
    BudgetRule {
        key,
        billing: Billing::Token,
        daily: Some(Nano(5_000)),
        degrade_percent: Some(80),
        stop_percent: Some(110),
        unknown_allowed: Some(false),
        changed_at,
    }
}

fn provider(name: &str) -> SpendKey {
    SpendKey::new(SpendKind::Provider, name)
}

fn period(starts_at: i64, ends_at: Option<i64>) -> NewPeriod {
    NewPeriod {
        provider: "far".into(),
        starts_at,
        ends_at,
        unit: PeriodUnit::Requests,
        allowance: 40,
        rolling_micros: None,
        changed_at: 900 + starts_at,
    }
}

fn kept(id: i64, period: &NewPeriod) -> BudgetPeriod {
    let NewPeriod { provider, starts_at, ends_at, unit, allowance, rolling_micros, changed_at } = period.clone();
    BudgetPeriod { id, provider, starts_at, ends_at, unit, allowance, rolling_micros, changed_at }
}

pub async fn a_rule_is_replaced_and_removed(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(store.budget_rules().await.unwrap(), []);
    let first = rule(provider("far"), 10);
    let task = rule(SpendKey::new(SpendKind::Task, "far"), 11);
    let all = rule(SpendKey::overall(), 12);
    for rule in [&task, &first, &all] {
        store.put_budget_rule(rule).await.unwrap();
    }
    assert_eq!(store.budget_rules().await.unwrap(), [all.clone(), first, task.clone()]);

    let second = BudgetRule {
        key: provider("far"),
        billing: Billing::Subscription,
        daily: None,
        degrade_percent: None,
        stop_percent: None,
        unknown_allowed: None,
        changed_at: 13,
    };
    store.put_budget_rule(&second).await.unwrap();
    assert_eq!(backend.reopen().await.budget_rules().await.unwrap(), [all.clone(), second, task.clone()]);

    assert!(store.remove_budget_rule(&provider("far"), 14).await.unwrap());
    for (key, now) in [(provider("far"), 15), (SpendKey::new(SpendKind::Tier, "far"), 16)] {
        assert!(!store.remove_budget_rule(&key, now).await.unwrap(), "{key}");
    }
    assert_eq!(store.budget_rules().await.unwrap(), [all, task]);
    let put = json!({
        "what": "rule", "change": "put", "billing": "token", "daily_nano": 5_000, "degrade_percent": 80,
        "stop_percent": 110, "unknown_allowed": false,
    });
    let bare = json!({
        "what": "rule", "change": "put", "billing": "subscription", "daily_nano": null, "degrade_percent": null,
        "stop_percent": null, "unknown_allowed": null,
    });
    let expected = [
        (11, "task:far", put.clone()),
        (10, "provider:far", put.clone()),
        (12, "overall", put),
        (13, "provider:far", bare),
        (14, "provider:far", json!({ "what": "rule", "change": "removed" })),
    ];
    let expected = expected.map(|(at, subject, data)| (at, "budget.changed".to_owned(), subject.to_owned(), data));
    assert_eq!(story(store).await, expected);
}

pub async fn there_is_one_overall_rule(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let named = rule(SpendKey::new(SpendKind::Overall, "far"), 10);
    assert_eq!(sample::kind(store.put_budget_rule(&named).await), ErrorKind::Conflict);
    assert_eq!(store.budget_rules().await.unwrap(), []);
    assert_eq!(story(store).await, []);
}

pub async fn periods_of_the_same_kind_do_not_overlap(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let mut expected = vec![];
    for period in [
        period(100, Some(200)),
        period(200, Some(300)),
        period(400, None),
        NewPeriod { provider: "near".into(), ..period(150, None) },
        NewPeriod { unit: PeriodUnit::Tokens, ..period(150, None) },
        NewPeriod { unit: PeriodUnit::Usd, allowance: 0, ..period(150, Some(151)) },
        NewPeriod { rolling_micros: Some(5), ..period(150, None) },
        NewPeriod { rolling_micros: Some(7), ..period(150, None) },
    ] {
        expected.push(kept(store.put_budget_period(&period).await.unwrap(), &period));
    }
    let told = story(store).await;
    for refused in [
        period(100, Some(200)),
        period(199, Some(200)),
        period(50, Some(101)),
        period(120, Some(130)),
        period(50, Some(350)),
        period(50, None),
        period(500, Some(600)),
        period(300, Some(401)),
        NewPeriod { rolling_micros: Some(7), ..period(50, Some(151)) },
        period(350, Some(350)),
        period(350, Some(340)),
        NewPeriod { allowance: -1, ..period(350, Some(360)) },
        NewPeriod { rolling_micros: Some(0), ..period(350, Some(360)) },
    ] {
        assert_eq!(sample::kind(store.put_budget_period(&refused).await), ErrorKind::Conflict, "{refused:?}");
    }
    assert_eq!(story(store).await, told, "what is refused is not told");
    let between = period(300, Some(400));
    expected.push(kept(store.put_budget_period(&between).await.unwrap(), &between));
    expected.sort_by_key(|period| (period.provider.clone(), period.starts_at, period.id));
    assert_eq!(backend.reopen().await.budget_periods().await.unwrap(), expected);
}

pub async fn a_removed_period_makes_room_and_its_id_is_not_given_again(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let first = store.put_budget_period(&period(100, Some(200))).await.unwrap();
    assert!(store.remove_budget_period(first, 5).await.unwrap());
    assert!(!store.remove_budget_period(first, 6).await.unwrap());
    let second = store.put_budget_period(&period(100, Some(200))).await.unwrap();
    assert!(second > first, "{second} after {first}");
    assert_eq!(store.budget_periods().await.unwrap(), [kept(second, &period(100, Some(200)))]);
    let put = |id| {
        json!({
            "what": "period", "change": "put", "id": id, "starts_at": 100, "ends_at": 200, "unit": "requests",
            "allowance": 40, "rolling_micros": null,
        })
    };
    let removed = json!({ "what": "period", "change": "removed", "id": first });
    let expected = [(1_000, put(first)), (5, removed), (1_000, put(second))];
    let expected = expected.map(|(at, data)| (at, "budget.changed".to_owned(), "provider:far".to_owned(), data));
    assert_eq!(story(store).await, expected);
}

const RAISED: Alert = Alert::Raised { effect: None };

pub async fn an_alert_is_raised_once_a_day(backend: &dyn Backend) {
    let stores = stores(backend).await;
    let mut tasks = JoinSet::new();
    for now in 0..12 {
        for store in &stores {
            let store: Arc<dyn Store> = Arc::clone(store);
            let data = json!({ "percent": now });
            tasks.spawn(async move {
                store.raise_alert(100, &provider("far"), "degraded", now, &data, None).await.unwrap()
            });
        }
    }
    assert_eq!(tasks.join_all().await.into_iter().filter(|raised| *raised == RAISED).count(), 1);
    let store = &*stores[0];
    let data = json!({ "spent": 7 });
    for (day, key, level) in [
        (200, provider("far"), "degraded"),
        (100, provider("near"), "degraded"),
        (100, SpendKey::new(SpendKind::Tier, "far"), "degraded"),
        (100, provider("far"), "exhausted"),
    ] {
        for expected in [RAISED, Alert::Known] {
            let raised = store.raise_alert(day, &key, level, 50, &data, None).await.unwrap();
            assert_eq!(raised, expected, "{day} {key} {level}");
        }
    }
    let story = story(store).await;
    let told: Vec<_> = story.iter().map(|(_, kind, subject, _)| (kind.as_str(), subject.as_str())).collect();
    let subjects = ["provider:far", "provider:far", "provider:near", "tier:far", "provider:far"];
    assert_eq!(told, subjects.map(|subject| ("budget.alert", subject)));
    assert_eq!(story[0].3, json!({ "percent": story[0].0 }), "told by the one that was first");
    assert_eq!(story[1], (50, "budget.alert".to_owned(), "provider:far".to_owned(), data));
}

pub async fn the_notice_of_an_alert_is_for_others_only_when_its_process_has_died(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    let effect = Effect::Notify { notice: Notice::Budget, detail: "80 %".to_owned() };
    let raise = async |level: &str| {
        store.raise_alert(100, &provider("far"), level, 50, &json!({}), Some((&effect, 90))).await.unwrap()
    };
    let effect_of = |raised| if let Alert::Raised { effect } = raised { effect } else { None };
    let first = effect_of(raise("degraded").await).unwrap();
    let second = effect_of(raise("exhausted").await).unwrap();
    assert_eq!(raise("degraded").await, Alert::Known, "and nothing more is to be done");
    assert_eq!(store.take_effects(89, 100, 9).await.unwrap(), []);
    store.finish_effect(first, 60, "told").await.unwrap();
    let taken = backend.reopen().await.take_effects(90, 100, 9).await.unwrap();
    let expected = EffectRecord { id: second, task: None, epoch: 0, at: 50, effect: effect.clone(), tries: 2 };
    assert_eq!(taken, [expected]);
}
