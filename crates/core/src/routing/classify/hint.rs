//! The routing hints in a text: `#code-review`, `tier:opus`, `model:sonnet`.
//!
//! Only a known name is a hint. The first of each kind counts.

use super::reading::Reading;
use crate::settings::Config;

#[derive(Debug, Default)]
pub(super) struct Hints<'a> {
    pub(super) task_type: Option<&'a str>,
    /// The tier's own name.
    pub(super) tier: Option<String>,
    /// The hints as they would be written, in the order above.
    pub(super) said: Vec<String>,
}

impl<'a> Hints<'a> {
    pub(super) fn find(reading: &Reading<'_>, config: &'a Config) -> Self {
        let mut hints = Self::default();
        let mut tier_said = None;
        for token in reading.talk.iter().flat_map(|line| line.split_whitespace()) {
            let token = token
                .trim_start_matches(['(', '[', '{', '"', '\'', '`', '*'])
                .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '`', '*']);
            if hints.task_type.is_none() {
                hints.task_type = token.strip_prefix('#').and_then(|name| task_type(name, config));
            }
            if hints.tier.is_none()
                && let Some((key, tier)) = tier(token, config)
            {
                tier_said = Some(format!("{key}:{tier}"));
                hints.tier = Some(tier);
            }
        }
        hints.said = hints.task_type.map(|name| format!("#{name}")).into_iter().chain(tier_said).collect();
        hints
    }
}

fn task_type<'a>(name: &str, config: &'a Config) -> Option<&'a str> {
    let same = |known: &&String| known.to_lowercase() == name.to_lowercase();
    config.task_types.keys().find(same).map(String::as_str)
}

fn tier(token: &str, config: &Config) -> Option<(&'static str, String)> {
    let (key, value) = token.split_once(':')?;
    let key = ["tier", "model"].into_iter().find(|known| key.eq_ignore_ascii_case(known))?;
    let lower = value.to_lowercase();
    let tier = config.tier_named(value).or_else(|| config.tier_named(&lower))?;
    Some((key, tier.to_owned()))
}
