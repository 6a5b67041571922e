use super::*;
use crate::settings::DEFAULTS;
use boon::{Compiler, SchemaIndex, Schemas};

fn compiled() -> (Schemas, SchemaIndex) {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.add_resource("config.json", schema()).unwrap();
    let index = compiler.compile("config.json", &mut schemas).unwrap();
    (schemas, index)
}

fn json(text: &str) -> Json {
    let table: Table = text.parse().unwrap();
    serde_json::to_value(table).unwrap()
}

#[test]
fn it_is_a_schema_of_its_draft() {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    let draft = "https://json-schema.org/draft/2020-12/schema";
    assert_eq!(schema()["$schema"], draft);
    let index = compiler.compile(draft, &mut schemas).unwrap();
    schemas.validate(&schema(), index).unwrap();
}

#[test]
fn the_built_in_settings_fit() {
    let (schemas, index) = compiled();
    schemas.validate(&json(DEFAULTS), index).unwrap();
}

#[test]
fn it_accepts_and_refuses_what_a_merge_does() {
    use crate::settings::{Layer, Layered, Origin};
    let (schemas, index) = compiled();
    let table = [
        ("", true),
        ("[dispatch]\ntext_timeout = \"1h30m\"\n", true),
        ("[dispatch]\ntext_timeout = \"none\"\n", true),
        ("[dispatch]\ntext_timeout = \"soon\"\n", false),
        ("[dispatch]\ntext_timeout = 5\n", false),
        ("[dispatch]\ntext_timout = \"5s\"\n", false),
        ("[dispatch]\nagent_steps = -1\n", false),
        ("[dispatch]\npermission_answer = \"once\"\n", true),
        ("[dispatch]\npermission_answer = \"ask\"\n", false),
        ("nonsense = 1\n", false),
        ("[nonsense]\n", false),
        ("[tiers]\nmine = [\"a/b\"]\n", true),
        ("[tiers]\nmine = \"a/b\"\n", false),
        ("[via]\nacme = \"direct\"\n", true),
        ("[via]\nacme = \"pigeon\"\n", false),
        ("[tags.mine]\nscore = \"cheap\"\nneeds = [\"vision\"]\n", true),
        ("[tags.mine]\nscore = \"cheap\"\nneeds = [\"wings\"]\n", false),
        ("[tags.mine]\nscore = \"cheap\"\nodd = 1\n", false),
        ("[repository.\"/app\"]\nsetup = \"npm ci\"\nhooks = true\n", true),
        ("[repository.\"/app\"]\nhooks = \"yes\"\n", false),
        ("[classifier.signs.diff]\nresearch = 3\n", true),
        ("[classifier.signs.odd]\nresearch = 3\n", false),
        ("[supervise]\nrests = [\"5m\", \"1h\"]\n", true),
        ("[supervise]\nrests = [\"5m\", \"soon\"]\n", false),
        ("[consensus]\nthresholds = [{ at_least = { count = 1 }, then = \"fix\" }]\n", true),
        ("[consensus]\nthresholds = [{ at_least = { much = 1 }, then = \"fix\" }]\n", false),
        ("[fallback]\ntriggers = [\"quota\"]\n", true),
        ("[fallback]\ntriggers = [\"weather\"]\n", false),
    ];
    for (text, fits) in table {
        assert_eq!(schemas.validate(&json(text), index).is_ok(), fits, "{text}");
        let layer = Layer { origin: Origin::File("config.toml".into()), text: text.into() };
        assert_eq!(Layered::merge(&[layer]).is_ok(), fits, "{text}");
    }
}

#[test]
fn settings_have_their_words_kind_and_default() {
    let schema = schema();
    let dispatch = &schema["properties"]["dispatch"]["properties"];
    let answer = json!({"type": "string", "enum": ["reject", "once"], "default": "reject",
        "description": "What a permission question of a headless run is answered with: \"reject\" or \"once\"."});
    assert_eq!(dispatch["permission_answer"], answer);
    assert_eq!(dispatch["agent_steps"]["type"], "integer");
    for (path, part) in [
        ("/properties/workers", "How the workers of each profile work"),
        ("/properties/repository", "by its top directory"),
        ("/properties/fallback/properties/cooldowns", "in cooldown"),
        ("/properties/classifier/properties/signs", "What the signs of a text give"),
    ] {
        let words = schema.pointer(path).map(|found| found["description"].to_string()).unwrap_or_default();
        assert!(words.contains(part), "{path}: {words}");
    }
    let mut unknown = Vec::new();
    without_kind("", &schema, &mut unknown);
    assert_eq!(unknown, Vec::<String>::new(), "the types were asked in a way that they do not understand");
}

/// Places that the schema does not describe.
fn without_kind(path: &str, schema: &Json, found: &mut Vec<String>) {
    if schema.get("type").is_none() && schema.get("oneOf").is_none() {
        found.push(path.to_owned());
    }
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        without_kind(&format!("{path}.{name}"), inner, found);
    }
    for name in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get(name).filter(|inner| inner.is_object()) {
            without_kind(&format!("{path}.{name}"), inner, found);
        }
    }
}
