//! Made-up worlds in which the truth is known: what a task of each kind costs in each tier, and how often it succeeds.

use super::generator::Generator;
use shuntyard_core::settings::Config;

pub const TIERS: usize = 5;
/// What one task costs, in dollars, from the weakest tier to the strongest: in the ratios of list prices.
pub const PRICES: [f64; TIERS] = [0.004, 0.005, 0.012, 0.020, 0.060];
const TOP: usize = TIERS - 1;

/// How many of a thousand tasks are of a kind, and how many of a thousand each tier does well. The built-in table is
/// right for most of them; comments name the kinds that it gets wrong.
const STATED: [(&str, u32, [u32; TIERS]); 17] = [
    ("boilerplate", 110, [970, 972, 976, 976, 976]),
    ("simple-fix", 130, [952, 954, 958, 960, 960]),
    // Too weak: it takes the third tier.
    ("quick-check", 80, [840, 860, 954, 960, 960]),
    ("general-opinion", 30, [972, 974, 978, 980, 980]),
    // Too strong: the weakest is as good.
    ("test-scaffolding", 90, [945, 946, 950, 950, 950]),
    ("logic-verification", 60, [700, 760, 935, 940, 940]),
    ("code-review", 110, [780, 820, 935, 940, 940]),
    // A little too strong.
    ("api-analysis", 40, [850, 944, 950, 950, 950]),
    ("research", 40, [720, 830, 880, 938, 940]),
    // Too weak, and it does not show at once: four of five go well.
    ("architecture", 30, [500, 580, 680, 800, 930]),
    // Too strong by two.
    ("library-comparison", 25, [820, 932, 940, 940, 940]),
    ("docs-lookup", 60, [930, 972, 974, 976, 980]),
    // Too strong: the second is as good.
    ("docs-generation", 50, [948, 952, 956, 958, 960]),
    ("security-review", 25, [350, 450, 700, 820, 920]),
    ("complex-codegen", 50, [300, 380, 720, 840, 930]),
    ("complex-fix", 45, [280, 350, 620, 760, 900]),
    // Too strong by one.
    ("deep-research", 25, [400, 600, 750, 932, 940]),
];
/// What changes: one tier does worse and one better.
const WORSE: (usize, f64) = (2, 0.12);
const BETTER: (usize, f64) = (1, 0.03);

/// Whether something changes in the middle of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    None,
    /// A provider changes something without an announcement.
    Silent,
}

#[derive(Debug, Clone)]
pub struct Kind {
    /// The tier of the built-in table.
    pub table: usize,
    /// Weight among all kinds.
    pub share: f64,
    /// True rates of success, before and after the middle of the time.
    pub rates: [[f64; TIERS]; 2],
}

impl Kind {
    /// The cheapest tier within one point of the best.
    pub fn oracle(&self, half: usize) -> usize {
        let best = self.rates[half].iter().copied().fold(0.0, f64::max);
        self.rates[half].iter().position(|rate| *rate >= best - 0.01 - 1e-9).unwrap_or(TOP)
    }
}

#[derive(Debug, Clone)]
pub struct World {
    pub kinds: Vec<Kind>,
}

impl World {
    pub fn stated(config: &Config, change: Change) -> Self {
        let kinds = STATED.iter().map(|(name, share, thousandths)| {
            let before = thousandths.map(|rate| f64::from(rate) / 1000.0);
            let mut after = before;
            if change == Change::Silent {
                after[WORSE.0] -= WORSE.1;
                after[BETTER.0] = (after[BETTER.0] + BETTER.1).min(before[TOP]);
            }
            Kind { table: table_of(config, name), share: f64::from(*share), rates: [before, after] }
        });
        Self { kinds: kinds.collect() }
    }

    /// From a tier on that is mostly that of the table all do about the same, and below it each does worse.
    pub fn random(config: &Config, change: Change, seed: u64) -> Self {
        let mut generator = Generator::new(seed);
        let worse = generator.below(TOP);
        let points = match change {
            Change::None => 0.0,
            Change::Silent => generator.between(0.02, 0.15),
        };
        let kinds = config.task_types.keys().map(|name| {
            let table = table_of(config, name);
            let enough = match generator.below(10) {
                0..6 => table,
                6 | 7 => table.saturating_sub(1),
                8 => (table + 1).min(TOP),
                _ => generator.below(TIERS),
            };
            let top = generator.between(0.88, 0.99);
            let mut before = [top; TIERS];
            for tier in (0..TOP).rev() {
                let step = if tier >= enough { generator.between(0.0, 0.008) } else { generator.between(0.03, 0.2) };
                before[tier] = (before[tier + 1] - step).max(0.05);
            }
            let mut after = before;
            after[worse] = (after[worse] - points).max(0.05);
            // Kinds that weak tiers do are asked for more often.
            let share = generator.between(0.5, 2.0) / f64::from(u32::try_from(table).unwrap_or_default() + 1);
            Kind { table, share, rates: [before, after] }
        });
        Self { kinds: kinds.collect() }
    }
}

fn table_of(config: &Config, name: &str) -> usize {
    let tier = config.task_types.get(name).unwrap_or_else(|| panic!("there is no kind of task `{name}`"));
    config.tier_order.iter().position(|other| other == tier).unwrap_or_else(|| panic!("{tier} is in no order"))
}
