//! A configuration can put a variable in place of an identifier or a name.

use super::{SECRET, Scratch, connected};
use serde_json::json;

/// The reference in every place whose text comes out.
fn everywhere(reference: &str) -> Scratch {
    let model = json!({"name": reference, "family": reference, "release_date": reference, "variants": {reference: {}}});
    let provider = json!({"name": reference, "env": [reference], "models": {"m": model, reference: {}, "fine": {}}});
    let config = json!({"model": format!("p/{reference}"), "small_model": "p/fine", "enabled_providers": [reference, "p"],
        "provider": {"p": provider, reference: {"models": {"n": {}}}, format!("odd {reference}"): 3}});
    Scratch::new().config(config)
}

#[test]
fn the_value_of_a_secret_is_never_taken() {
    for name in ["A_KEY", "a_token", "CLIENT_SECRET", "DB_PASSWORD", "CLOUD_CREDENTIALS"] {
        // The scratch looks for the marker in all that comes out.
        let found = everywhere(&format!("{{env:{name}}}")).set(name, SECRET).read();
        assert_eq!(connected(&found), ["p config - fine,m,present", "present config - n"], "{name}");
        assert_eq!(found.problems, ["the configuration of the provider `odd present` is not an object"], "{name}");
        assert_eq!(found.catalogue.providers["p"].models["m"].name, "present");
    }
    let found = everywhere("{env:CERTIFICATE}").set("CERTIFICATE", SECRET.repeat(11)).read();
    assert_eq!(found.catalogue.providers["p"].name, "present");
    let found = everywhere("{file:~/key}").file("home/key", SECRET).read();
    assert_eq!(found.catalogue.providers["p"].name, "present");
}

#[test]
fn nor_is_it_taken_under_another_name() {
    let found = everywhere("{env:MODEL_NAME}").set("MODEL_NAME", SECRET).set("A_KEY", SECRET).read();
    assert_eq!(connected(&found), ["p config - fine"]);
    assert_eq!(found.problems, ["the configuration of the provider `odd …` is not an object"]);
    assert_eq!(found.catalogue.default_model, None);
    assert_eq!(found.catalogue.small_model, Some("p/fine".parse().unwrap()));
    let written = everywhere(SECRET).set("A_KEY", SECRET).read();
    assert_eq!(connected(&written), ["p config - fine"]);
}

#[test]
fn a_value_that_is_no_secret_is_taken() {
    let found = everywhere("{env:MODEL_NAME}").set("MODEL_NAME", "big").set("A_KEY", SECRET).read();
    assert_eq!(connected(&found), ["big config - n", "p config - big,fine,m"]);
    assert_eq!(found.catalogue.default_model, Some("p/big".parse().unwrap()));
    // OpenCode's word for no key stays what it is.
    let config = json!({"provider": {"opencode": {"options": {"apiKey": "{env:MY_KEY}"}, "models": {"m": {}}}}});
    let found = Scratch::new().config(config).set("MY_KEY", "public").read();
    assert_eq!(connected(&found), ["opencode config - m"]);
}
