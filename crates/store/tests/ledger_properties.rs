//! Whatever happens in whatever order to attempts that set money aside (they begin, settle, settle again, die and are
//! settled by others, the clock jumps), no line is passed by more than the estimates were wrong, and no settled
//! nano-dollar is lost or counted twice.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::{collection::vec, prelude::*, test_runner::Config};
use serde_json::json;
use std::collections::BTreeMap;
use switchyard_core::{DispatchId, Nano, Usage};
use switchyard_store::{
    AttemptEnd, Begun, Ceiling, Measure, NewAttempt, NewDispatch, Owner, Reserve, RunStatus, SpendKey, SpendKind,
    Store, sqlite::SqliteStore,
};
use uuid::Uuid;

const LIMIT: i64 = 1000;
const HOUR: i64 = 3600 * 1_000_000;

#[derive(Debug, Clone)]
enum Step {
    /// An attempt that expects to cost so much; it will cost `real`.
    Begin { expects: i64, real: i64 },
    /// One of those that run is settled, by itself or by whoever finds it dead; a part of it may have been told before.
    Settle { which: usize, part: i64 },
    /// One that was settled is told once more, with at most what it has cost.
    Again { which: usize, part: i64 },
    /// The clock goes on, or back.
    Clock(i64),
}

fn step(strict: bool) -> impl Strategy<Value = Step> {
    let begin = (1_i64..400, 0_i64..400).prop_map(move |(expects, real)| {
        // In strict mode the estimate is the most that it can cost.
        Step::Begin { expects, real: if strict { real.min(expects) } else { real } }
    });
    prop_oneof![
        4 => begin,
        4 => (any::<usize>(), 0_i64..=100).prop_map(|(which, part)| Step::Settle { which, part }),
        1 => (any::<usize>(), 0_i64..=100).prop_map(|(which, part)| Step::Again { which, part }),
        1 => (-3 * HOUR..3 * HOUR).prop_map(Step::Clock),
    ]
}

#[derive(Debug, Clone, Copy)]
struct Known {
    expects: i64,
    real: i64,
    told: i64,
}

/// What must be true of the ledger, kept by hand.
#[derive(Default)]
struct Book {
    running: BTreeMap<u128, Known>,
    settled: BTreeMap<u128, Known>,
}

impl Book {
    fn spent(&self) -> i64 {
        self.settled.values().map(|known| known.told).sum()
    }

    fn aside(&self) -> i64 {
        self.running.values().map(|known| known.expects).sum()
    }
}

fn key() -> SpendKey {
    SpendKey::new(SpendKind::Provider, "p")
}

async fn begin(store: &dyn Store, number: u128, expects: i64, now: i64) -> Begun {
    let id = DispatchId(Uuid::from_u128(number));
    let owner = Owner { host: "h".into(), pid: 1, start: 1 };
    let dispatch = NewDispatch {
        id,
        at: now,
        owner,
        mode: "text".into(),
        requested: json!({}),
        route: json!({}),
        directory: "/".into(),
        prompt_chars: 1,
    };
    store.begin_dispatch(&dispatch).await.unwrap();
    // All of time is the window here: a clock that jumps must not open it.
    let ceiling = Ceiling { key: key(), measure: Measure::Cost, from: 0, until: i64::MAX, limit: LIMIT };
    let reserve = Reserve { cost: Nano(expects), tokens: 0, ceilings: vec![ceiling] };
    let attempt = NewAttempt {
        dispatch: id,
        ordinal: 1,
        at: now,
        model: "p/m".into(),
        server: None,
        tier: None,
        task: None,
        batch: None,
        reserve: Some(reserve),
    };
    store.begin_attempt(&attempt).await.unwrap()
}

async fn settle(store: &dyn Store, number: u128, cost: i64, now: i64) {
    let end = AttemptEnd {
        at: now,
        status: RunStatus::Ok,
        error_class: None,
        message: None,
        answered_by: None,
        usage: Usage::default(),
        cost: Nano(cost),
        cost_known: true,
    };
    store.finish_attempt(DispatchId(Uuid::from_u128(number)), 1, &end).await.unwrap();
}

fn pick<V: Copy>(map: &BTreeMap<u128, V>, which: usize) -> Option<(u128, V)> {
    let place = which.checked_rem(map.len())?;
    map.iter().nth(place).map(|(number, value)| (*number, *value))
}

async fn play(steps: Vec<Step>, strict: bool) -> Result<(), TestCaseError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("switchyard.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let mut book = Book::default();
    let mut now = 1_794_700_000_000_000;
    let mut overrun = 0;
    for (index, step) in steps.into_iter().enumerate() {
        let number = index as u128 + 1;
        match step {
            Step::Clock(by) => now += by,
            Step::Begin { expects, real } => {
                let fits = book.spent() + book.aside() + expects <= LIMIT;
                let begun = begin(&store, number, expects, now).await;
                prop_assert_eq!(begun == Begun::Started, fits, "{:?}", begun);
                if fits {
                    book.running.insert(number, Known { expects, real, told: 0 });
                }
            }
            Step::Settle { which, part } => {
                let Some((number, mut known)) = pick(&book.running, which) else { continue };
                // Somebody may tell a part first, and the rest later: together it is the whole, once.
                known.told = known.real * part / 100;
                settle(&store, number, known.told, now).await;
                settle(&store, number, known.real, now).await;
                known.told = known.real;
                overrun += (known.real - known.expects).max(0);
                book.running.remove(&number);
                book.settled.insert(number, known);
            }
            Step::Again { which, part } => {
                let Some((number, known)) = pick(&book.settled, which) else { continue };
                settle(&store, number, known.real * part / 100, now).await;
            }
        }
        let spent = store.spent(&key(), 0, i64::MAX).await.unwrap();
        let reserved = store.reserved(&key()).await.unwrap();
        prop_assert_eq!((spent.cost.0, reserved.cost.0), (book.spent(), book.aside()));
        prop_assert!(book.spent() <= LIMIT + overrun, "passed by more than the estimates were wrong");
        prop_assert!(!strict || book.spent() <= LIMIT, "strict mode passed its line");
    }
    // A process that opens the store anew sees the same.
    drop(store);
    let store = SqliteStore::open_existing(&path).await.unwrap();
    prop_assert_eq!(store.spent(&key(), 0, i64::MAX).await.unwrap().cost.0, book.spent());
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 24, failure_persistence: None, ..Config::default() })]

    #[test]
    fn estimates_bound_how_far_a_line_is_passed(steps in vec(step(false), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps, false))?;
    }

    #[test]
    fn the_worst_case_never_passes_it(steps in vec(step(true), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(steps, true))?;
    }
}
