use super::*;
use crate::config::Layered;
use std::collections::BTreeMap;

fn catalogue() -> Catalogue {
    let model = |id: &str, image_input: bool, variants: &[&str]| {
        let variants = variants.iter().map(|v| (*v).to_owned()).collect();
        (id.to_owned(), Model { id: id.into(), image_input, tool_calls: true, variants, ..Model::default() })
    };
    let provider = |has_key: bool, models: Vec<(String, Model)>| Provider {
        source: "api".into(),
        has_key,
        models: models.into_iter().collect(),
    };
    Catalogue {
        providers: BTreeMap::from([
            (
                "local".to_owned(),
                provider(true, vec![model("alpha", false, &["low", "high"]), model("eyes", true, &[])]),
            ),
            ("openai".to_owned(), provider(true, vec![model("gpt-6-sol", true, &[])])),
            ("keyless".to_owned(), provider(false, vec![model("m", false, &[])])),
        ]),
        default_model: Some(ModelRef::new("local", "alpha")),
    }
}

fn config() -> Config {
    Layered::merge(&[]).unwrap().config
}

fn chosen(selector: &Selector, needs: Needs) -> Result<String, String> {
    resolve(selector, needs, &catalogue(), &config()).map(|r| r.model.to_string()).map_err(|e| e.to_string())
}

#[test]
fn each_selector_finds_its_model_or_says_why_not() {
    let exact = |text: &str| Selector::Exact(text.parse().unwrap());
    let none = Needs::default();
    let table = [
        (exact("local/alpha"), none, Ok("local/alpha")),
        (exact("local/alpha@low"), none, Ok("local/alpha@low")),
        (exact("local/alpha@medium"), none, Err("model local/alpha has no variant `medium`; it has: low, high")),
        (exact("local/alpa"), none, Err("provider `local` has no model `alpa`; did you mean alpha?")),
        (exact("nope/x"), none, Err("provider `nope` is not connected; connected: keyless, local, openai")),
        (exact("keyless/m"), none, Ok("keyless/m")),
        (
            exact("local/alpha"),
            Needs { images: 1, ..none },
            Err("model local/alpha cannot take images; connected models that can: local/eyes, openai/gpt-6-sol"),
        ),
        (Selector::Default, none, Ok("local/alpha")),
        (Selector::Tier("sonnet".into()), none, Ok("openai/gpt-6-sol")),
        (Selector::TaskType("code-review".into()), none, Ok("openai/gpt-6-sol")),
        (Selector::TaskType("security-review".into()), none, Ok("local/alpha")),
        (
            Selector::TaskType("code-reveiw".into()),
            none,
            Err("unknown task type `code-reveiw`, did you mean `code-review`?; there are: api-analysis"),
        ),
        (Selector::Tier("opsu".into()), none, Err("unknown tier `opsu`, did you mean `opus`?; there are: flash")),
    ];
    for (selector, needs, expected) in table {
        match (chosen(&selector, needs), expected) {
            (Ok(model), Ok(expected)) => assert_eq!(model, expected, "{selector:?}"),
            (Err(message), Err(expected)) => assert!(message.starts_with(expected), "{selector:?}: {message}"),
            (result, _) => panic!("{selector:?} gave {result:?}"),
        }
    }
}

#[test]
fn a_stand_in_is_never_silent() {
    let route =
        resolve(&Selector::TaskType("deep-research".into()), Needs::default(), &catalogue(), &config()).unwrap();
    assert_eq!(route.rule, Rule::TaskType);
    assert_eq!(route.warnings, ["tier opus: none of its models is connected; local/alpha stands in"]);
    assert!(route.reason.contains("stands in"), "{}", route.reason);
    assert!(route.trace.iter().filter(|step| step.chosen).count() == 1);
    assert!(route.trace.len() > 1, "the trace lists what was passed over");
}

#[test]
fn an_explicit_provider_without_a_key_is_allowed_with_a_warning() {
    let exact = Selector::Exact(ModelRef::new("keyless", "m"));
    let route = resolve(&exact, Needs::default(), &catalogue(), &config()).unwrap();
    assert_eq!(route.warnings, ["provider keyless has no key"]);
}

#[test]
fn the_default_tables_hold_together() {
    // The seventeen types are the product's vocabulary; a lost one would break scripts.
    let config = config();
    assert_eq!(config.task_types.len(), 17);
    assert!(config.task_types.values().all(|tier| config.tiers.contains_key(tier)));
}
