//! Who can answer now: health of providers, and cooldowns that end by themselves.

use super::{Backend, concurrency::stores, event::story, sample};
use serde_json::{Value, json};
use shuntyard_core::{ErrorClass, routing::HealthStatus, values::Trigger};
use shuntyard_store::{CooldownRecord, ErrorKind, HealthRecord, HealthSource, Store};
use std::{slice, sync::Arc};
use tokio::task::JoinSet;

pub async fn the_newest_look_at_a_provider_is_kept(backend: &dyn Backend) {
    let store = backend.fresh().await;
    assert_eq!(store.health().await.unwrap(), []);
    let other = sample::healthy("zeta", 50);
    let first = sample::limited("alpha", 100);
    for health in [&other, &first] {
        store.put_health(health).await.unwrap();
    }
    assert_eq!(store.health().await.unwrap(), [first.clone(), other.clone()]);

    store.put_health(&sample::healthy("alpha", 99)).await.unwrap();
    assert_eq!(store.health().await.unwrap(), [first, other.clone()], "an older look changes nothing");

    let newer = sample::healthy("alpha", 101);
    store.put_health(&newer).await.unwrap();
    assert_eq!(backend.reopen().await.health().await.unwrap(), [newer, other.clone()]);

    let same_moment = sample::limited("alpha", 101);
    store.put_health(&same_moment).await.unwrap();
    assert_eq!(store.health().await.unwrap(), [same_moment, other]);
}

pub async fn a_change_of_health_is_told_once(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let again = HealthRecord { source: HealthSource::Dispatch, ..sample::healthy("alpha", 20) };
    for health in [
        &sample::healthy("alpha", 10),
        &again,
        &again,
        &sample::limited("alpha", 15),
        &sample::limited("alpha", 30),
        &sample::limited("alpha", 40),
        &HealthRecord { status: HealthStatus::KeyMissing, ..sample::limited("beta", 5) },
    ] {
        store.put_health(health).await.unwrap();
    }
    let told = |from: Value, to: &str, source: &str, class: Value| json!({ "from": from, "to": to, "source": source, "class": class });
    let expected = [
        (10, "alpha", told(Value::Null, "available", "probe", Value::Null)),
        (30, "alpha", told(json!("available"), "rate_limited", "dispatch", json!("quota_exhausted"))),
        (5, "beta", told(Value::Null, "key_missing", "dispatch", json!("quota_exhausted"))),
    ];
    let expected = expected.map(|(at, subject, data)| (at, "provider.health".to_owned(), subject.to_owned(), data));
    assert_eq!(story(&*store).await, expected);
}

pub async fn health_is_forgotten_for_one_or_for_all(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|provider| sample::healthy(provider, 10));
    for health in [&alpha, &beta, &gamma] {
        store.put_health(health).await.unwrap();
    }
    let told = story(&*store).await;
    for _ in 0..2 {
        store.forget_health(Some("beta")).await.unwrap();
        assert_eq!(store.health().await.unwrap(), [alpha.clone(), gamma.clone()]);
    }
    for _ in 0..2 {
        store.forget_health(None).await.unwrap();
        assert_eq!(store.health().await.unwrap(), []);
    }
    assert_eq!(story(&*store).await, told, "forgetting is no event");

    let older = sample::healthy("beta", 1);
    store.put_health(&older).await.unwrap();
    assert_eq!(store.health().await.unwrap(), [older], "what is forgotten is not in the way of an older look");
}

pub async fn the_cooldown_that_ends_last_stands(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let first = sample::cooldown("far/large", 100, 500);
    store.put_cooldown(&first).await.unwrap();
    for (since, until) in [(200, 400), (200, 500), (100, 500)] {
        store.put_cooldown(&sample::cooldown("far/large", since, until)).await.unwrap();
        assert_eq!(store.cooldowns(250).await.unwrap(), slice::from_ref(&first), "{since} to {until}");
    }
    let longer = CooldownRecord {
        target: "far/large".into(),
        trigger: Trigger::Quota,
        class: ErrorClass::QuotaExhausted,
        message: "the week is used up".into(),
        since: 300,
        until: 501,
    };
    store.put_cooldown(&longer).await.unwrap();
    assert_eq!(store.cooldowns(250).await.unwrap(), [longer]);
    let began = |at, trigger: &str, until| {
        (at, "cooldown.began".to_owned(), "far/large".to_owned(), json!({ "trigger": trigger, "until": until }))
    };
    assert_eq!(story(&*store).await, [began(100, "overloaded", 500), began(300, "quota", 501)]);
}

pub async fn a_cooldown_that_is_over_is_replaced(backend: &dyn Backend) {
    let store = backend.fresh().await;
    store.put_cooldown(&sample::cooldown("far", 100, 500)).await.unwrap();
    for (since, until) in [(501, 502), (502, 510), (700, 800)] {
        let next = sample::cooldown("far", since, until);
        store.put_cooldown(&next).await.unwrap();
        assert_eq!(store.cooldowns(since).await.unwrap(), [next]);
    }
    assert_eq!(story(&*store).await.len(), 4, "each of them is told");
}

pub async fn another_store_sees_a_cooldown_until_it_is_over(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let other = backend.reopen().await;
    let (model, provider) = (sample::cooldown("far/large", 100, 500), sample::cooldown("far", 100, 300));
    store.put_cooldown(&model).await.unwrap();
    other.put_cooldown(&provider).await.unwrap();
    for store in [&store, &other] {
        assert_eq!(store.cooldowns(299).await.unwrap(), [provider.clone(), model.clone()]);
        assert_eq!(store.cooldowns(300).await.unwrap(), slice::from_ref(&model), "over at its very end");
        assert_eq!(store.cooldowns(500).await.unwrap(), []);
    }
    other.put_cooldown(&sample::cooldown("far/large", 200, 400)).await.unwrap();
    assert_eq!(other.cooldowns(300).await.unwrap(), slice::from_ref(&model), "the other's longer one stands");
    assert_eq!(other.end_cooldowns(&["far/large"], 310, 310).await.unwrap(), 1);
    assert_eq!(store.cooldowns(0).await.unwrap(), []);
}

pub async fn a_success_ends_cooldowns_and_tells(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let stays = sample::cooldown("near/small", 10, 900);
    for cooldown in [
        &sample::cooldown("far/large", 20, 500),
        &sample::cooldown("far", 10, 600),
        &stays,
        &sample::cooldown("named/over", 10, 50),
        &sample::cooldown("over", 10, 100),
    ] {
        store.put_cooldown(cooldown).await.unwrap();
    }
    let began = story(&*store).await.len();
    let targets = ["far/large", "far", "far", "named/over", "unknown"];
    assert_eq!(store.end_cooldowns(&targets, 100, 100).await.unwrap(), 2);
    assert_eq!(store.cooldowns(0).await.unwrap(), slice::from_ref(&stays), "what is over is dropped as well");
    let ended = |target: &str, until| {
        let data = json!({ "trigger": "overloaded", "until": until });
        (100, "cooldown.ended".to_owned(), target.to_owned(), data)
    };
    let told = [ended("far", 600), ended("far/large", 500)];
    assert_eq!(story(&*store).await[began..], told);

    assert_eq!(store.end_cooldowns(&targets, 101, 101).await.unwrap(), 0, "nothing is left to end");
    assert_eq!(store.end_cooldowns(&[], 102, 102).await.unwrap(), 0);
    assert_eq!(store.cooldowns(102).await.unwrap(), [stays]);
    assert_eq!(store.end_cooldowns(&[], 900, 900).await.unwrap(), 0, "an end by itself is not told");
    assert_eq!(store.cooldowns(0).await.unwrap(), []);
    assert_eq!(story(&*store).await[began..], told);
}

pub async fn what_ends_before_it_begins_is_refused(backend: &dyn Backend) {
    let store = backend.fresh().await;
    let health = HealthRecord { expires_at: 99, ..sample::healthy("far", 100) };
    assert_eq!(sample::kind(store.put_health(&health).await), ErrorKind::Conflict);
    assert_eq!(sample::kind(store.put_cooldown(&sample::cooldown("far", 100, 99)).await), ErrorKind::Conflict);
    assert_eq!(store.health().await.unwrap(), []);
    assert_eq!(store.cooldowns(0).await.unwrap(), []);
    assert_eq!(story(&*store).await, []);
}

pub async fn many_who_put_a_cooldown_leave_the_longest(backend: &dyn Backend) {
    const EACH: i64 = 12;
    let stores = stores(backend).await;
    let mut tasks = JoinSet::new();
    let mut longest = 0;
    for (store, first) in stores.iter().zip(1_000..) {
        for round in 0..EACH {
            // Scattered, so that the longest is neither the first nor the last to be put.
            let until = first + (round * 7 % EACH) * 10;
            longest = longest.max(until);
            let store: Arc<dyn Store> = Arc::clone(store);
            tasks.spawn(async move { store.put_cooldown(&sample::cooldown("far", 100, until)).await.unwrap() });
        }
    }
    tasks.join_all().await;
    for store in &stores {
        assert_eq!(store.cooldowns(100).await.unwrap(), [sample::cooldown("far", 100, longest)]);
    }
    let told: Vec<i64> =
        story(&*stores[0]).await.iter().map(|(_, _, _, data)| data["until"].as_i64().unwrap()).collect();
    assert!(told.is_sorted_by(|earlier, later| earlier < later), "each one told is longer: {told:?}");
    assert_eq!(told.last(), Some(&longest));
}
