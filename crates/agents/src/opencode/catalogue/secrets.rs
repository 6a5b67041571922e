//! Which variables hold a secret, and a catalogue without their values. A configuration can put a variable anywhere,
//! also in place of an identifier or a name, and a catalogue is stored and shown.

use shuntyard_core::{
    ModelRef,
    routing::{Catalogue, Model, Provider},
};
use std::collections::BTreeMap;

/// A shorter value is a word that may be in a name by chance.
const LEAST_SECRET: usize = 8;
/// No identifier, name or address is as long; a certificate or a whole login is.
const LONGEST_SHOWN: usize = 200;

/// The values that must not be found in anything that is stored or shown.
#[must_use]
pub fn secret_values(variables: &BTreeMap<String, String>) -> Vec<String> {
    let secret = variables.iter().filter(|(name, _)| names_a_secret(name));
    secret.map(|(_, value)| value.trim()).filter(|value| value.len() >= LEAST_SECRET).map(str::to_owned).collect()
}

/// The catalogue without what holds one of these values: providers by their identifier, models by any of their texts,
/// and of other providers their name. Values that are too short to be recognized are ignored.
#[must_use]
pub fn without_secrets(mut catalogue: Catalogue, secrets: &[String]) -> Catalogue {
    let secrets: Vec<&str> = secrets.iter().map(String::as_str).filter(|value| value.len() >= LEAST_SECRET).collect();
    if secrets.is_empty() {
        return catalogue;
    }
    let tells = |text: &str| secrets.iter().any(|secret| text.contains(secret));
    catalogue.providers.retain(|id, provider| {
        clean(provider, &tells);
        !tells(id)
    });
    let harmless = |model: &ModelRef| !tells(&model.to_string());
    catalogue.default_model = catalogue.default_model.filter(harmless);
    catalogue.small_model = catalogue.small_model.filter(harmless);
    catalogue
}

/// Whether the value of a variable is only to be noted as there.
pub(super) fn is_hidden(name: &str, value: &str) -> bool {
    names_a_secret(name) || value.chars().nth(LONGEST_SHOWN).is_some()
}

/// A sentence for people, without these values.
pub(super) fn masked(mut sentence: String, secrets: &[String]) -> String {
    for secret in secrets {
        if sentence.contains(secret) {
            sentence = sentence.replace(secret, "…");
        }
    }
    sentence
}

fn names_a_secret(name: &str) -> bool {
    // OpenCode's stored logins as one variable.
    const WHOLE: &str = "OPENCODE_AUTH_CONTENT";
    const ENDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"];
    let name = name.to_ascii_uppercase();
    name == WHOLE || ENDS.iter().any(|end| name.ends_with(end))
}

fn clean(provider: &mut Provider, tells: &impl Fn(&str) -> bool) {
    if tells(&provider.name) {
        provider.name.clear();
    }
    provider.env.retain(|name| !tells(name));
    let is_clean = |id: &String, model: &mut Model| {
        let Model { id: own, name, family, variants, .. } = &*model;
        let mut texts = [id, own, name, family].into_iter().chain(variants);
        !texts.any(|text| tells(text))
    };
    provider.models.edit(|models| models.retain(is_clean));
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, secret_values, without_secrets};
    use shuntyard_core::routing::{Catalogue, Model, Provider};

    const VALUE: &str = "sk-marker-0123456789";

    #[test]
    fn a_secret_is_known_by_its_variable() {
        let table = [
            ("OPENAI_API_KEY", VALUE, true),
            ("openai_api_key", VALUE, true),
            ("GITHUB_TOKEN", VALUE, true),
            ("CLIENT_SECRET", VALUE, true),
            ("Db_Password", VALUE, true),
            ("GOOGLE_APPLICATION_CREDENTIALS", VALUE, true),
            ("OPENCODE_AUTH_CONTENT", VALUE, true),
            ("SHORT_KEY", "1234567", false),
            ("EMPTY_KEY", "", false),
            ("OPENAI_BASE_URL", VALUE, false),
            ("MODEL_NAME", VALUE, false),
            ("KEYBOARD", VALUE, false),
        ];
        for (name, value, secret) in table {
            let found = secret_values(&[(name.to_owned(), format!("{value}\n"))].into());
            assert_eq!(found, if secret { vec![value.to_owned()] } else { vec![] }, "{name}");
        }
        assert!(is_hidden("SHORT_KEY", "1") && is_hidden("ANY", &"ü".repeat(201)));
        assert!(!is_hidden("ANY", &"ü".repeat(200)));
    }

    #[test]
    fn nothing_of_a_secret_is_left() {
        let holding = format!("x{VALUE}x");
        let model = |id: &str| Model { id: id.into(), name: "M".into(), ..Model::default() };
        let models = [
            model("kept"),
            model(&holding),
            Model { name: holding.clone(), ..model("name") },
            Model { family: holding.clone(), ..model("family") },
            Model { variants: vec!["low".into(), holding.clone()], ..model("variant") },
        ];
        let provider = Provider {
            name: holding.clone(),
            env: vec!["A_KEY".into(), holding.clone()],
            models: models.into_iter().map(|model| (model.id.clone(), model)).collect(),
            ..Provider::default()
        };
        let other = Provider { name: "Other".into(), ..provider.clone() };
        let catalogue = Catalogue {
            providers: [("a".into(), provider), ("b".into(), other), (holding.clone(), Provider::default())].into(),
            default_model: Some(format!("a/{holding}").parse().unwrap()),
            small_model: Some("a/kept".parse().unwrap()),
        };
        let kept = |name: &str| Provider {
            name: name.into(),
            env: vec!["A_KEY".into()],
            models: [("kept".to_owned(), model("kept"))].into(),
            ..Provider::default()
        };
        let wanted = Catalogue {
            providers: [("a".into(), kept("")), ("b".into(), kept("Other"))].into(),
            default_model: None,
            small_model: Some("a/kept".parse().unwrap()),
        };
        let found = without_secrets(catalogue.clone(), &["not there".into(), VALUE.into()]);
        assert!(!String::from_utf8_lossy(&found.to_bytes()).contains("marker"));
        assert_eq!(found, wanted);
        // What is too short would take everything with it.
        assert_eq!(without_secrets(catalogue.clone(), &[String::new(), "a".into()]), catalogue);
    }
}
