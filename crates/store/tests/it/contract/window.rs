//! A window of any length and place is what was spent in it, however the store keeps its sums.

use super::Backend;
use shuntyard_core::Nano;
use shuntyard_store::{BUCKET_MICROS, GroupBy, NewSpend, SpendKey, SpendKind, Spent, Store, bucket};

const DAY: i64 = 86_400_000_000;
/// Not the beginning of a day of UTC.
const BEGIN: i64 = 20_370 * DAY + 7 * 3_600_000_000;

/// Numbers that look random and are the same in every run.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, count: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        i64::try_from((mixed ^ (mixed >> 31)) % count.unsigned_abs()).unwrap()
    }

    fn name(&mut self) -> String {
        ["north", "acme", "local"][usize::try_from(self.below(3)).unwrap()].to_owned()
    }

    /// Often on the edge of a day or beside it.
    fn moment(&mut self) -> i64 {
        let day = BEGIN + (self.below(12) - 2) * DAY;
        match self.below(5) {
            0 => day.div_euclid(DAY) * DAY,
            1 => day.div_euclid(DAY) * DAY - 1,
            2 => day.div_euclid(DAY) * DAY - BUCKET_MICROS,
            _ => day + self.below(DAY),
        }
    }
}

fn plain<'a>(spends: impl Iterator<Item = &'a NewSpend>, from: i64, until: i64) -> Spent {
    let within = |at: i64| (from..until).contains(&bucket(at));
    spends.filter(|spend| within(spend.at)).fold(Spent::default(), |sum, spend| sum + spend.spent)
}

async fn compare(store: &dyn Store, spends: &[NewSpend], from: i64, until: i64) {
    let window = format!("from {from} until {until}, {} spends", spends.len());
    let all = store.spent(&SpendKey::overall(), from, until).await.unwrap();
    assert_eq!(all, plain(spends.iter(), from, until), "overall {window}");
    for name in ["north", "acme", "local", ""] {
        let of_provider = plain(spends.iter().filter(|spend| spend.provider == name), from, until);
        let key = SpendKey::new(SpendKind::Provider, name);
        assert_eq!(store.spent(&key, from, until).await.unwrap(), of_provider, "provider {name} {window}");
        let of_tier =
            plain(spends.iter().filter(|spend| spend.tier.as_deref().unwrap_or_default() == name), from, until);
        let key = SpendKey::new(SpendKind::Tier, name);
        assert_eq!(store.spent(&key, from, until).await.unwrap(), of_tier, "tier {name} {window}");
    }
    let wanted = ["north", ""].map(|name| (SpendKey::new(SpendKind::Tier, name), from, until));
    let mut together = Vec::new();
    for (key, from, until) in &wanted {
        together.push((store.spent(key, *from, *until).await.unwrap(), store.reserved(key).await.unwrap()));
    }
    assert_eq!(store.standings(&wanted).await.unwrap(), together, "{window}");
    for by in [GroupBy::Provider, GroupBy::Tier, GroupBy::Model, GroupBy::Bucket] {
        let groups = store.spending(from, until, by).await.unwrap();
        let sum = groups.iter().fold(Spent::default(), |sum, (_, spent)| sum + *spent);
        assert_eq!(sum, all, "{by:?} {window}");
        assert!(groups.is_sorted_by(|a, b| a.0 < b.0 || by == GroupBy::Bucket), "{groups:?}");
    }
}

pub async fn any_window_is_the_sum_of_what_was_spent_in_it(backend: &dyn Backend) {
    let store = &*backend.fresh().await;
    assert_eq!(store.standings(&[]).await.unwrap(), []);
    let mut drawn = Drawn(7);
    let mut spends: Vec<NewSpend> = Vec::new();
    for round in 0..120 {
        let (provider, tier) = (drawn.name(), drawn.name());
        let spend = NewSpend {
            at: drawn.moment(),
            model: format!("{provider}/model{}", drawn.below(2)),
            provider,
            tier: (drawn.below(4) > 0).then_some(tier),
            task: None,
            batch: None,
            spent: Spent {
                cost: Nano(drawn.below(9_000) - 50),
                attempts: drawn.below(3).unsigned_abs(),
                unknown: drawn.below(2).unsigned_abs(),
                tokens: drawn.below(5_000).unsigned_abs(),
            },
        };
        store.record_spend(&spend).await.unwrap();
        spends.push(spend);
        if round % 4 == 0 {
            let (from, until) = (bucket(drawn.moment()), bucket(drawn.moment()));
            compare(store, &spends, from, until).await;
            compare(store, &spends, from, from + BUCKET_MICROS * drawn.below(200)).await;
        }
    }
    for (from, until) in [(i64::MIN, i64::MAX), (0, i64::MAX), (i64::MIN, BEGIN), (BEGIN, i64::MAX), (DAY, -DAY)] {
        compare(store, &spends, from, until).await;
    }
}
