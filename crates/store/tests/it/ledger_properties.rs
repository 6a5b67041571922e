//! Whatever happens in whatever order to attempts that set money aside (they begin, settle, are reported again or
//! later, are cancelled, their process dies in the middle of a call, the clock jumps over midnight and back), no line
//! of any day is passed by more than the estimates were wrong, in strict mode by nothing, and no settled nano-dollar is
//! lost or counted twice.

use crate::ledger_book::{Book, DAY, Known, day_of, key_of, keys};
use proptest::{collection::vec, prelude::*, test_runner::Config};
use serde_json::json;
use shuntyard_core::{DispatchId, Nano, Usage};
use shuntyard_store::{
    AttemptEnd, Begun, Ceiling, ErrorKind, Measure, NewAttempt, NewDispatch, Owner, Reserve, RunStatus, SpendKind,
    Store, sqlite::SqliteStore,
};
use std::{
    collections::BTreeMap,
    future::{Future, poll_fn},
    path::Path,
    pin::pin,
    task::Poll,
};
use uuid::Uuid;

/// Two hours before midnight.
const BEGIN: i64 = 20_772 * DAY - 2 * 3_600_000_000;

#[derive(Debug, Clone)]
enum Step {
    /// An attempt that expects to cost so much; it will cost `real`.
    Begin { expects: i64, real: i64, provider: usize, task: usize, dies: Option<u32> },
    /// One of those that run is settled, by itself or by the process that finds it dead. Only a part may be seen at
    /// first, and whether that is all may be unknown.
    Settle { which: usize, part: i64, known: bool, dies: Option<u32> },
    /// One that was settled is reported once more, with at most what it has cost.
    Again { which: usize, part: i64, known: bool },
    /// One that runs is ended before it has cost anything.
    Cancel { which: usize },
    /// A clean-up finds nothing left over.
    Tidy { which: usize },
    /// The process dies, and another one opens the store.
    Crash,
    /// The clock goes on, or back.
    Clock(i64),
}

/// After how many steps of its own a call is cut off, if it is.
fn dies() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![9 => Just(None), 1 => (0_u32..6).prop_map(Some)]
}

fn step(strict: bool) -> impl Strategy<Value = Step> {
    let begin = (1_i64..400, 0_i64..400, 0..2_usize, 0..2_usize, dies());
    let begin = begin.prop_map(move |(expects, real, provider, task, dies)| {
        // In strict mode the estimate is the most that it can cost.
        let real = if strict { real.min(expects) } else { real };
        Step::Begin { expects, real, provider, task, dies }
    });
    // What is reported late is an error of the estimate as well; in strict mode all is known when it is settled.
    let part = if strict { 100_i64..=100 } else { 50_i64..=100 };
    prop_oneof![
        6 => begin,
        4 => (any::<usize>(), part, any::<bool>(), dies())
            .prop_map(|(which, part, known, dies)| Step::Settle { which, part, known, dies }),
        2 => (any::<usize>(), 0_i64..=100, any::<bool>()).prop_map(move |(which, part, known)| {
            // An exact figure that is too low frees money that was spent, which strict mode does not promise to
            // survive.
            Step::Again { which, part: if strict && known { 100 } else { part }, known }
        }),
        1 => any::<usize>().prop_map(|which| Step::Cancel { which }),
        1 => any::<usize>().prop_map(|which| Step::Tidy { which }),
        1 => Just(Step::Crash),
        2 => (-DAY..DAY).prop_map(Step::Clock),
    ]
}

/// A limit on everything, on the provider and on the task, in this order.
fn ceilings(now: i64, known: &Known) -> Vec<Ceiling> {
    let (from, until) = (day_of(now), day_of(now) + DAY);
    let ceiling = |(key, limit)| Ceiling { key, measure: Measure::Cost, from, until, limit };
    keys(known).into_iter().map(ceiling).collect()
}

async fn begin(store: &SqliteStore, number: u128, known: &Known, now: i64) -> Begun {
    let id = DispatchId(Uuid::from_u128(number));
    let dispatch = NewDispatch {
        id,
        at: now,
        owner: Owner { host: "h".into(), pid: 1, start: 1 },
        mode: "text".into(),
        requested: json!({}),
        route: json!({}),
        directory: "/".into(),
        prompt_chars: 1,
    };
    let attempt = NewAttempt {
        dispatch: id,
        ordinal: 1,
        at: now,
        model: format!("{}/m", known.provider),
        server: None,
        tier: None,
        task: Some(known.task.clone()),
        batch: None,
        reserve: Some(Reserve { cost: Nano(known.expects), tokens: 0, ceilings: ceilings(now, known) }),
    };
    // Who died may have come so far already.
    let begun = store.begin_dispatch(&dispatch).await;
    assert!(begun.as_ref().err().is_none_or(|error| error.kind() == ErrorKind::Conflict), "{begun:?}");
    match store.begin_attempt(&attempt).await {
        Err(error) if error.kind() == ErrorKind::Conflict => Begun::Started,
        begun => begun.unwrap(),
    }
}

async fn settle(store: &SqliteStore, number: u128, (cost, cost_known): (i64, bool), now: i64, status: RunStatus) {
    let end = AttemptEnd {
        at: now,
        status,
        error_class: None,
        message: None,
        answered_by: None,
        usage: Usage::default(),
        usage_known: true,
        cost: Nano(cost),
        cost_known,
    };
    store.finish_attempt(DispatchId(Uuid::from_u128(number)), 1, &end).await.unwrap();
}

/// Does it a few steps far, as a process that is killed.
async fn cut_off(call: impl Future, steps: u32) {
    let (mut call, mut left) = (pin!(call), steps);
    poll_fn(|context| {
        if left == 0 || call.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        left -= 1;
        Poll::Pending
    })
    .await;
}

fn pick(map: &BTreeMap<u128, Known>, which: usize) -> Option<(u128, Known)> {
    let place = which.checked_rem(map.len())?;
    map.iter().nth(place).map(|(number, known)| (*number, known.clone()))
}

/// Another process, while the connections of the one that died are still there.
async fn reopened(dead: SqliteStore, path: &Path) -> SqliteStore {
    drop(dead);
    SqliteStore::open_existing(path).await.unwrap()
}

async fn play(steps: Vec<Step>, strict: bool) -> Result<(), TestCaseError> {
    let directory = shuntyard_testkit::Scratch::of_test();
    let path = directory.path().join("shuntyard.db");
    let mut store = SqliteStore::open(&path).await.unwrap();
    let mut book = Book::default();
    let (mut now, mut latest) = (BEGIN, BEGIN);
    for (index, step) in steps.into_iter().enumerate() {
        match step {
            // A clock that is set back by more than a day is beyond what is promised.
            Step::Clock(by) => {
                now = (now + by).max(latest - DAY + 1);
                latest = latest.max(now);
            }
            Step::Begin { expects, real, provider, task, dies } => {
                let number = index as u128 + 1;
                let known = Known::new(expects, real, provider, task, now);
                if let Some(steps) = dies {
                    cut_off(begin(&store, number, &known, now), steps).await;
                    store = reopened(store, &path).await;
                }
                let fits = book.fits(&known, now);
                let begun = begin(&store, number, &known, now).await;
                prop_assert_eq!(begun == Begun::Started, fits, "{:?} of {:?} at {}", begun, known, now);
                if fits {
                    book.running.insert(number, known);
                }
            }
            Step::Settle { which, part, known, dies } => {
                let Some((number, attempt)) = pick(&book.running, which) else { continue };
                let told = (attempt.real * part / 100, known);
                if let Some(steps) = dies {
                    cut_off(settle(&store, number, told, now, RunStatus::Ok), steps).await;
                    store = reopened(store, &path).await;
                }
                settle(&store, number, told, now, RunStatus::Ok).await;
                book.settle(number, told, now);
            }
            Step::Again { which, part, known } => {
                let Some((number, attempt)) = pick(&book.settled, which) else { continue };
                let told = (attempt.real * part / 100, known);
                settle(&store, number, told, now, RunStatus::Ok).await;
                book.tell(number, told);
            }
            Step::Cancel { which } => {
                let Some((number, _)) = pick(&book.running, which) else { continue };
                settle(&store, number, (0, true), now, RunStatus::Error).await;
                book.cancel(number, now);
            }
            Step::Tidy { which } => {
                let Some((number, _)) = pick(&book.settled, which) else { continue };
                store.drop_reservation(DispatchId(Uuid::from_u128(number)), 1).await.unwrap();
                prop_assert_eq!(store.stale_reservations(i64::MAX).await.unwrap(), []);
            }
            Step::Crash => store = reopened(store, &path).await,
        }
        compare(&store, &book, strict).await?;
    }
    Ok(())
}

/// The store agrees with the book, and no line is exceeded by more than it may be.
async fn compare(store: &SqliteStore, book: &Book, strict: bool) -> Result<(), TestCaseError> {
    for (key, limit) in crate::ledger_book::all_keys() {
        let reserved = store.reserved(&key).await.unwrap();
        prop_assert_eq!(reserved.cost.0, book.aside(&key), "{}", key);
        let is_daily = !matches!(key.kind, SpendKind::Task);
        let days = if is_daily { book.days() } else { vec![0] };
        for day in days {
            let (from, until) = if is_daily { (day, day + DAY) } else { (i64::MIN, i64::MAX) };
            let spent = store.spent(&key, from, until).await.unwrap().cost.0;
            prop_assert_eq!(spent, book.spent(&key, from, until), "{} on {}", key, day);
            let most = if strict { limit } else { limit + book.overrun(&key, from, until) };
            prop_assert!(spent <= most, "{} is passed on {}: {} of {}", key, day, spent, most);
        }
    }
    let all = store.spent(&key_of(SpendKind::Overall, ""), i64::MIN, i64::MAX).await.unwrap();
    prop_assert_eq!(all.cost.0, book.settled.values().map(|known| known.told).sum::<i64>(), "a cent is lost");
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: Config::default().cases / 16, failure_persistence: None, ..Config::default() })]

    #[test]
    fn estimates_bound_how_far_a_line_is_passed(steps in vec(step(false), 1..50)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps, false))?;
    }

    #[test]
    fn the_worst_case_never_passes_it(steps in vec(step(true), 1..50)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps, true))?;
    }
}
