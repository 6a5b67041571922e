//! What changes the stamp of a credential, and what does not.

use super::{super::credential_stamp, SECRET, Scratch};
use serde_json::{Value, json};

const OTHER: &str = "sk-another-9876543210";

fn stamp(scratch: Scratch) -> String {
    let stamp = credential_stamp(&scratch.places(), "one", &["ONE_KEY".to_owned(), "ONE_OTHER".to_owned()]);
    assert!(stamp.len() == 16 && stamp.bytes().all(|byte| byte.is_ascii_hexdigit()), "{stamp}");
    stamp
}

fn key(key: &str) -> Value {
    json!({"one": {"type": "api", "key": key}})
}

fn options(options: Value) -> Scratch {
    Scratch::new().config(json!({"provider": {"one": {"options": options}}}))
}

#[test]
fn another_credential_has_another_stamp() {
    let oauth = |refresh: &str| json!({"one": {"type": "oauth", "refresh": refresh, "access": "x"}});
    let by_variable = || options(json!({"apiKey": "{env:MINE}"}));
    let by_secret = || options(json!({"apiKey": "{env:MINE_KEY}"}));
    let by_file = || options(json!({"apiKey": "{file:~/key}"}));
    let table = [
        ("no key", Scratch::new(), Scratch::new().logins(key(SECRET))),
        ("a key", Scratch::new().logins(key(SECRET)), Scratch::new().logins(key(OTHER))),
        ("the kind", Scratch::new().logins(key(SECRET)), Scratch::new().logins(oauth(SECRET))),
        ("a lost login", Scratch::new().logins(oauth(SECRET)), Scratch::new().logins(oauth(""))),
        (
            "logins in a variable",
            Scratch::new().set("OPENCODE_AUTH_CONTENT", key(SECRET).to_string()),
            Scratch::new().set("OPENCODE_AUTH_CONTENT", key(OTHER).to_string()),
        ),
        ("a variable", Scratch::new().set("ONE_KEY", SECRET), Scratch::new().set("ONE_KEY", OTHER)),
        ("which variable", Scratch::new().set("ONE_KEY", SECRET), Scratch::new().set("ONE_OTHER", SECRET)),
        ("a written key", options(json!({"apiKey": SECRET})), options(json!({"apiKey": OTHER}))),
        ("an address", options(json!({"baseURL": "http://a"})), options(json!({"baseURL": "http://b"}))),
        ("a named variable", by_variable().set("MINE", "a"), by_variable().set("MINE", "b")),
        ("a named secret", by_secret().set("MINE_KEY", SECRET), by_secret().set("MINE_KEY", OTHER)),
        ("a named file", by_file().file("home/key", SECRET), by_file().file("home/key", OTHER)),
        (
            "a project's options",
            options(json!({"apiKey": SECRET})),
            options(json!({"apiKey": SECRET}))
                .file("project/opencode.json", json!({"provider": {"one": {"options": {"x": 1}}}}).to_string()),
        ),
    ];
    for (name, before, after) in table {
        assert_ne!(stamp(before), stamp(after), "{name}");
    }
    let places = Scratch::new().set("ONE_KEY", SECRET).places();
    let names = ["ONE_KEY".to_owned()];
    assert_ne!(credential_stamp(&places, "one", &names), credential_stamp(&places, "two", &names));
}

#[test]
fn nothing_else_changes_it() {
    let base = || {
        options(json!({"apiKey": "{file:~/key}"})).logins(key(SECRET)).file("home/key", SECRET).set("ONE_KEY", SECRET)
    };
    let both = json!({"one": key(SECRET)["one"], "two": {"type": "api", "key": OTHER}});
    let config = json!({"model": "a/b", "provider": {"one": {"name": "Uno", "options": {"apiKey": "{file:~/key}"},
        "models": {"m": {}}}, "two": {"options": {"apiKey": OTHER}}}});
    let table = [
        ("nothing", base()),
        ("the path", base().set("PATH", "/elsewhere")),
        ("another variable", base().set("TWO_KEY", OTHER)),
        ("an empty variable", base().set("ONE_OTHER", "")),
        ("another login", base().logins(both)),
        ("other settings", base().config(config)),
        ("white space around a key", base().file("home/key", format!("\n{SECRET}\n"))),
        ("a broken file", base().file("project/opencode.json", "{")),
    ];
    let wanted = stamp(base());
    for (name, scratch) in table {
        assert_eq!(stamp(scratch), wanted, "{name}");
    }
    let login = |token: &str, expires: u64| {
        let login = json!({"type": "oauth", "refresh": token, "access": token, "expires": expires});
        stamp(Scratch::new().logins(json!({"one": login})))
    };
    assert_eq!(login(SECRET, 1), login(OTHER, 2));
    let places = base().set("ONE_OTHER", "x").places();
    let in_order = |names: [&str; 2]| credential_stamp(&places, "one", &names.map(str::to_owned));
    assert_eq!(in_order(["ONE_KEY", "ONE_OTHER"]), in_order(["ONE_OTHER", "ONE_KEY"]));
}
