//! What the types alone cannot check in a configuration: references between its tables, and ranges.

mod agents;
mod jobs;

use crate::{
    ModelRef,
    routing::{Phrase, request::Selector},
    settings::{Config, ConfigError, Layer, Layered, bad_value},
    values::nearest::nearest,
};
use std::time::Duration;

/// A year: a permission request is not kept open for longer.
const LONGEST_WAIT: Duration = Duration::from_secs(365 * 24 * 3600);

pub(super) type Faults = Vec<(String, String)>;

impl Layered {
    /// Merges `layers` over the built-in settings; later ones win.
    pub fn merge(layers: &[Layer]) -> Result<Self, ConfigError> {
        let merged = Self::merge_unchecked(layers)?;
        merged.config.check_changed(|section| merged.is_changed(section)).map_err(|faults| {
            let (key, problem) = faults.into_iter().next().unwrap_or_default();
            bad_value(&key, &problem, &merged.origins)
        })?;
        Ok(merged)
    }
}

impl Config {
    /// The faults, each with the setting that has it.
    pub fn check(&self) -> Result<(), Faults> {
        self.check_changed(|_| true)
    }

    /// The same, when only some sections are not as they are built in: reading all the words of the classifier takes
    /// longer than everything else, and every command does this.
    pub(super) fn check_changed(&self, is_changed: impl Fn(&str) -> bool) -> Result<(), Faults> {
        let mut faults = Vec::new();
        self.check_settings(&mut faults);
        self.check_tiers(&mut faults);
        self.check_tags(&mut faults);
        self.check_chains(&mut faults);
        if ["classifier", "task_types", "tiers"].into_iter().any(is_changed) {
            self.check_classifier(&mut faults);
        }
        self.check_jobs(&mut faults);
        self.check_agent_groups(&mut faults);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn check_settings(&self, faults: &mut Faults) {
        if !(1..=100).contains(&self.dispatch.agent_steps) {
            faults.push((
                "dispatch.agent_steps".into(),
                format!("{} is not between 1 and 100", self.dispatch.agent_steps),
            ));
        }
        for (name, low, high) in [
            ("stop_percent", self.budget.degrade_percent, self.budget.stop_percent),
            ("out_percent", self.budget.warn_percent, self.budget.out_percent),
        ] {
            if low > high || high > 100 {
                faults.push((format!("budget.{name}"), format!("{high} is not between {low} and 100")));
            }
        }
        if self.contest.min_margin > 100 {
            let fault = format!("{} is not between 0 and 100", self.contest.min_margin);
            faults.push(("contest.min_margin".into(), fault));
        }
        self.check_patterns(faults);
        self.check_supervise(faults);
        for (name, repository) in &self.repository {
            if !repository.tier.is_empty() && self.tier_named(&repository.tier).is_none() {
                let fault = format!("there is no tier `{}`", repository.tier);
                faults.push((format!("repository.{name:?}.tier"), fault));
            }
        }
        if !(1..=20).contains(&self.fallback.depth) {
            faults.push(("fallback.depth".into(), format!("{} is not between 1 and 20", self.fallback.depth)));
        }
        if !self.classifier.model.is_empty()
            && let Err(error) = Selector::from_reference(&self.classifier.model, self)
        {
            faults.push(("classifier.model".into(), error.to_string()));
        }
        if !self.default_model.is_empty()
            && let Err(error) = self.default_model.parse::<ModelRef>()
        {
            faults.push(("default_model".into(), error.to_string()));
        }
    }

    fn check_supervise(&self, faults: &mut Faults) {
        let supervise = &self.supervise;
        for (name, value, high) in [
            ("concurrency", supervise.concurrency, if supervise.most == 0 { 1000 } else { supervise.most }),
            ("per_repository", supervise.per_repository, 1000),
            ("per_provider", supervise.per_provider, 1000),
            ("per_model", supervise.per_model, 1000),
            ("siblings", supervise.siblings, 1000),
            ("steps", supervise.steps, 1000),
        ] {
            if !(1..=high).contains(&value) {
                faults.push((format!("supervise.{name}"), format!("{value} is not between 1 and {high}")));
            }
        }
        if supervise.most > 1000 {
            faults.push(("supervise.most".into(), format!("{} is more than 1000", supervise.most)));
        }
        if self.server.call_timeout.0.is_none() {
            faults
                .push(("server.call_timeout".into(), "nothing may wait for ever: this cannot be switched off".into()));
        }
        if self.classifier.deadline.0.is_none() {
            faults
                .push(("classifier.deadline".into(), "nothing may wait for ever: this cannot be switched off".into()));
        }
        if self.permissions.wait.0.is_none_or(|wait| wait > LONGEST_WAIT) {
            faults.push(("permissions.wait".into(), "it needs a duration of at most a year".into()));
        }
        for (name, limits) in [("rests", &supervise.rests), ("trouble_rests", &supervise.trouble_rests)] {
            if limits.is_empty() || limits.iter().any(|limit| limit.0.is_none()) {
                faults.push((format!("supervise.{name}"), "it needs at least one duration, and none that is 0".into()));
            }
        }
        for (name, limit) in [
            ("start_timeout", supervise.start_timeout),
            ("lease", supervise.lease),
            ("effect_lease", supervise.effect_lease),
            ("silence", supervise.silence),
            ("verify_timeout", supervise.verify_timeout),
            ("gh_timeout", supervise.gh_timeout),
            ("deadline_most", supervise.deadline_most),
            ("look_every", supervise.look_every),
        ] {
            if limit.0.is_none() {
                faults.push((
                    format!("supervise.{name}"),
                    "nothing may wait for ever: this cannot be switched off".into(),
                ));
            }
        }
    }

    fn check_patterns(&self, faults: &mut Faults) {
        let patterns = &self.patterns;
        for (name, low, value, high) in [
            ("samples", 1, patterns.samples, 1_000_000),
            ("below_top_percent", patterns.success_percent, patterns.below_top_percent, 100),
            ("explore_percent", 0, patterns.explore_percent, 50),
            ("tolerance_points", 0, patterns.tolerance_points, 100),
            ("drift_warning_percent", patterns.drift_notice_percent, patterns.drift_warning_percent, 100),
        ] {
            if !(low..=high).contains(&value) {
                faults.push((format!("patterns.{name}"), format!("{value} is not between {low} and {high}")));
            }
        }
        if patterns.text_limit > 10_000 {
            faults.push(("patterns.text_limit".into(), format!("{} is more than 10000", patterns.text_limit)));
        }
        for (name, most) in [("at_once", self.batch.at_once), ("at_once_per_provider", self.batch.at_once_per_provider)]
        {
            if !(1..=1000).contains(&most) {
                faults.push((format!("batch.{name}"), format!("{most} is not between 1 and 1000")));
            }
        }
        for phrase in &patterns.hard {
            if Phrase::parse(phrase).is_none() {
                faults.push(("patterns.hard".into(), format!("`{phrase}` is not a phrase")));
            }
        }
    }

    fn check_tiers(&self, faults: &mut Faults) {
        for (tier, models) in &self.tiers {
            for error in models.iter().filter_map(|model| model.parse::<ModelRef>().err()) {
                faults.push((format!("tiers.{tier}"), error.to_string()));
            }
        }
        let tiers: Vec<&String> = self.tiers.keys().collect();
        for (name, tier) in &self.tier_aliases {
            refer(faults, format!("tier_aliases.{name}"), tier, "tier", &tiers);
            if self.tiers.contains_key(name) {
                faults.push((format!("tier_aliases.{name}"), format!("`{name}` is a tier itself")));
            }
        }
        for (index, tier) in self.tier_order.iter().enumerate() {
            refer(faults, "tier_order".into(), tier, "tier", &tiers);
            if self.tier_order[..index].contains(tier) {
                faults.push(("tier_order".into(), format!("`{tier}` is there twice")));
            }
        }
        for (task_type, tier) in &self.task_types {
            refer(faults, format!("task_types.{task_type}"), tier, "tier", &tiers);
        }
        let scores: Vec<&String> = self.scores.keys().collect();
        for (tier, score) in &self.tier_scores {
            refer(faults, format!("tier_scores.{tier}"), tier, "tier", &tiers);
            refer(faults, format!("tier_scores.{tier}"), score, "score", &scores);
        }
    }

    fn check_tags(&self, faults: &mut Faults) {
        let scores: Vec<&String> = self.scores.keys().collect();
        for (name, tag) in &self.tags {
            refer(faults, format!("tags.{name}.score"), &tag.score, "score", &scores);
        }
        for (name, model) in &self.profiles {
            if let Err(error) = Selector::from_reference(model, self) {
                faults.push((format!("profiles.{name}"), error.to_string()));
            }
        }
    }

    fn check_chains(&self, faults: &mut Faults) {
        let named = |table: &str, name: &str| format!("fallback.{table}.{name}");
        let tiers = self.fallback.tiers.iter().map(|(name, chain)| (named("tiers", name), chain));
        let agents = self.fallback.agents.iter().map(|(name, chain)| (named("agents", name), chain));
        let chains = tiers.chain(agents).chain([("fallback.default".to_owned(), &self.fallback.default)]);
        for (key, chain) in chains {
            for entry in chain.iter().filter(|entry| self.tier_named(entry).is_none()) {
                if let Err(error) = entry.parse::<ModelRef>() {
                    faults.push((key.clone(), format!("{error}; or name a tier")));
                }
            }
        }
        let known: Vec<&String> = self.tiers.keys().collect();
        for tier in self.fallback.tiers.keys() {
            refer(faults, format!("fallback.tiers.{tier}"), tier, "tier", &known);
        }
    }

    fn check_classifier(&self, faults: &mut Faults) {
        let classifier = &self.classifier;
        let tiers: Vec<&String> = self.tiers.keys().collect();
        refer(faults, "classifier.default_tier".into(), &classifier.default_tier, "tier", &tiers);
        if classifier.threshold < 1 {
            faults.push(("classifier.threshold".into(), format!("{} is less than 1", classifier.threshold)));
        }
        let task_types: Vec<&String> = self.task_types.keys().collect();
        for (task_type, phrases) in &classifier.words {
            let key = format!("classifier.words.{task_type}");
            refer(faults, key.clone(), task_type, "task type", &task_types);
            for phrase in phrases.iter().filter(|phrase| Phrase::parse(phrase).is_none()) {
                faults.push((key.clone(), format!("`{phrase}` has no word in it")));
            }
        }
        for (sign, points) in &classifier.signs {
            for task_type in points.keys() {
                let key = format!("classifier.signs.{}.{task_type}", sign.as_str());
                refer(faults, key, task_type, "task type", &task_types);
            }
        }
    }
}

pub(super) fn refer(faults: &mut Faults, key: String, name: &String, kind: &str, known: &[&String]) {
    if known.contains(&name) {
        return;
    }
    let near = nearest(name, known.iter().map(|name| name.as_str()), 1);
    let hint = near.first().map_or_else(String::new, |near| format!(", did you mean `{near}`?"));
    let known = known.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    faults.push((key, format!("`{name}` is no {kind}{hint}; there are {known}")));
}
