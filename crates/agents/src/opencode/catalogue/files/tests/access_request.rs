//! Where a request goes and what it holds.

use super::{
    super::{Access, NoAccess},
    SECRET, Scratch,
    access::{URL, ask, known, model, options},
};
use secrecy::ExposeSecret;
use serde_json::{Value, json};

fn refused(name: &str) -> NoAccess {
    NoAccess::Options(name.to_owned())
}

/// A scratch with one configured model of a provider that needs nothing else.
fn described(provider: &str, id: &str, description: Value) -> Scratch {
    let settings = json!({"env": [], "options": {"baseURL": URL}, "models": {id: description}});
    Scratch::new().cache(json!({})).config(json!({"provider": {provider: settings}}))
}

#[test]
fn the_address_is_the_one_that_opencode_would_use() {
    let at = |url: &str| known().config(options(json!({"baseURL": url})));
    let table = [
        ("the catalogue's", known(), Ok(URL)),
        ("a configured one", at("http://mine:81/api/"), Ok("http://mine:81/api")),
        ("without a path", at("http://mine"), Ok("http://mine")),
        ("an empty one", at(""), Ok(URL)),
        ("a variable", at("https://${HOST}/v1").set("HOST", "mine"), Ok("https://mine/v1")),
        ("a variable that is not set", at("https://${HOST}/v1"), Err(NoAccess::NoBaseUrl)),
        ("half a variable", at("https://${HOST/v1").set("HOST", "mine"), Err(NoAccess::NoBaseUrl)),
        ("a replaced variable", at("{env:MY_URL}").set("MY_URL", "http://mine"), Ok("http://mine")),
        ("another way to name it", known().config(model(json!({"provider": {"api": "http://m"}}))), Ok("http://m")),
        (
            "for all its models",
            known().config(json!({"provider": {"one": {"api": "http://all", "models": {"m": {}}}}})),
            Ok("http://all"),
        ),
        (
            "only for models that it describes",
            known().config(json!({"provider": {"one": {"api": "http://all"}}})),
            Ok(URL),
        ),
        ("a password", at("https://me:sk-marker@host/v1"), Err(NoAccess::BadBaseUrl)),
        ("a user", at("https://me@host/v1"), Err(NoAccess::BadBaseUrl)),
        ("a query", at("https://host/v1?key=sk-marker"), Err(NoAccess::BadBaseUrl)),
        ("a fragment", at("https://host/v1#x"), Err(NoAccess::BadBaseUrl)),
        ("two slashes", at("https://host/v1//"), Err(NoAccess::BadBaseUrl)),
        ("another scheme", at("file:///etc/passwd"), Err(NoAccess::BadBaseUrl)),
        ("no address", at("host/v1"), Err(NoAccess::BadBaseUrl)),
    ];
    for (name, scratch, wanted) in table {
        let found = ask(&scratch, "one/m").map(|access| access.base_url);
        assert_eq!(found, wanted.map(str::to_owned), "{name}");
    }
}

#[test]
fn the_id_is_the_one_that_the_provider_knows() {
    let config = json!({"provider": {"one": {"models": {"nick": {"id": "m"}, "new": {}, "far": {"id": "org/far"}}}}});
    let known = known().config(config);
    for (model, wanted) in [("m", "m"), ("nick", "m"), ("new", "new"), ("far", "org/far")] {
        assert_eq!(ask(&known, &format!("one/{model}")).unwrap().model_id, wanted, "{model}");
    }
    let listed = json!({"one": {"env": [], "api": URL, "models": {"m": {"id": "org/m", "name": "M"}}}});
    let listed = Scratch::new().cache(listed).config(json!({"provider": {"one": {"models": {"m": {}}}}}));
    assert_eq!(ask(&listed, "one/m").unwrap().model_id, "org/m");
}

#[test]
fn headers_are_those_of_the_model_over_those_of_the_provider() {
    let with = |provider: Value, of_model: Value| {
        let settings = json!({"options": {"headers": provider}, "models": {"m": {"headers": of_model}}});
        ask(&known().config(json!({"provider": {"one": settings}})), "one/m").map(|access: Access| {
            let shown = access.headers.iter().map(|(name, value)| format!("{name}: {}", value.expose_secret()));
            shown.collect::<Vec<_>>()
        })
    };
    let found = with(json!({"X-One": "provider", "x-two": SECRET}), json!({"x-one": " model "}));
    assert_eq!(found, Ok(vec!["x-one: model".to_owned(), format!("x-two: {SECRET}")]));
    let refusals = [
        json!({"Host": "evil"}),
        json!({"content-length": "0"}),
        json!({"X-One": "a", "x-one": "b"}),
        json!({"not a name": SECRET}),
        json!({"x-one": format!("{SECRET}\nx-two: y")}),
        json!({"x-one": 5}),
    ];
    for headers in refusals {
        assert_eq!(with(headers.clone(), json!({})), Err(refused("headers")), "{headers}");
        assert_eq!(with(json!({}), headers.clone()), Err(refused("headers")), "{headers}");
    }
}

#[test]
fn an_option_is_understood_or_refused() {
    let of_provider = |name: &str, value: Value| ask(&known().config(options(json!({name: value}))), "one/m");
    for name in ["timeout", "headerTimeout", "chunkTimeout", "setCacheKey", "includeUsage"] {
        assert_eq!(
            of_provider(name, json!(true)).map(|access| access.body),
            Ok(json!({}).as_object().unwrap().clone()),
            "{name}"
        );
    }
    let odd =
        [("includeUsage", json!(false)), ("queryParams", json!({"v": "1"})), ("fetch", json!(1)), ("apiKey", json!(7))];
    for (name, value) in odd {
        assert_eq!(of_provider(name, value).map(|_| ()), Err(refused(name)), "{name}");
    }
    let of_model = |given: Value| ask(&known().config(model(json!({"options": given}))), "one/m");
    let given = json!({"reasoningEffort": "low", "textVerbosity": "high", "user": "u", "temperature": 0.1, "seed": 7,
        "chat_template_kwargs": {"enable_thinking": false}});
    let wanted = json!({"reasoning_effort": "low", "verbosity": "high", "user": "u", "temperature": 0.1, "seed": 7,
        "chat_template_kwargs": {"enable_thinking": false}});
    assert_eq!(Value::Object(of_model(given).unwrap().body), wanted);
    // These OpenCode drops, overrides or gives another meaning, or they are no part of a text prompt.
    for name in [
        "reasoning_effort",
        "verbosity",
        "max_tokens",
        "model",
        "messages",
        "stream",
        "tools",
        "strictJsonSchema",
        "camelCase",
    ] {
        assert_eq!(of_model(json!({name: "x"})).map(|_| ()), Err(refused(name)), "{name}");
    }
    assert_eq!(of_model(json!({"reasoningEffort": {"a": 1}})).map(|_| ()), Err(refused("reasoningEffort")));
    assert_eq!(of_model(json!({"seed": null})).map(|_| ()), Err(refused("seed")));
    // A name that is made of a secret is not shown.
    let hidden = known().config(model(json!({"options": {"{env:ONE_KEY}": 1}})));
    assert_eq!(ask(&hidden, "one/m").map(|_| ()), Err(refused("…")));
    let plain = known().set("PLAIN_KEY", "marker0123456789").config(options(json!({"{env:PLAIN_KEY}": 1})));
    assert_eq!(ask(&plain, "one/m").map(|_| ()), Err(refused("…")));
}

#[test]
fn what_opencode_adds_of_its_own_accord_is_added() {
    let warm = || json!({"temperature": true});
    let table = [
        ("p", "plain", warm(), json!({})),
        ("p", "GLM-4.6", warm(), json!({"temperature": 1.0})),
        ("p", "glm-4.7", json!({}), json!({})),
        ("p", "kimi-k2", warm(), json!({"temperature": 0.6})),
        ("p", "kimi-k2-thinking", warm(), json!({"temperature": 1.0})),
        ("p", "Kimi-K2.5", warm(), json!({"temperature": 1.0, "top_p": 0.95})),
        ("p", "minimax-m2", json!({}), json!({"top_p": 0.95})),
        ("p", "gemini-2.5-pro", warm(), json!({"temperature": 1.0, "top_p": 0.95})),
        ("p", "gemini-3-flash-lite", warm(), json!({"temperature": 1.0, "top_p": 0.95})),
        ("p", "gemini-3.5-flash-lite", warm(), json!({})),
        ("p", "gemini-1.5-pro", warm(), json!({})),
        ("p", "gemini-2.55", warm(), json!({})),
        ("p", "claude-glm-4.6", warm(), json!({})),
        ("p", "deepseek-v4-flash", warm(), json!({})),
        ("p", "deepseek-v4-flash-0731", warm(), json!({"top_p": 0.95})),
        ("deepseek", "deepseek-v4-flash", warm(), json!({"top_p": 0.95})),
        ("p", "gpt-5.2", json!({}), json!({"reasoning_effort": "medium"})),
        ("p", "gpt-5.2", json!({"options": {"reasoningEffort": "high"}}), json!({"reasoning_effort": "high"})),
        ("p", "gpt-5-chat-latest", json!({}), json!({})),
        ("p", "gpt-5-pro", json!({}), json!({})),
        ("p", "GPT-5", json!({}), json!({})),
        ("my-zai", "glm", json!({}), json!({"thinking": {"type": "enabled", "clear_thinking": false}})),
        (
            "zhipuai",
            "glm",
            json!({"options": {"thinking": {"type": "disabled"}}}),
            json!({"thinking": {"type": "disabled", "clear_thinking": false}}),
        ),
        ("alibaba-cn", "q", json!({"reasoning": true}), json!({"enable_thinking": true})),
        ("alibaba-cn", "q", json!({}), json!({})),
        ("baseten", "b", json!({}), json!({"chat_template_args": {"enable_thinking": true}})),
    ];
    for (provider, id, description, wanted) in table {
        let found = ask(&described(provider, id, description), &format!("{provider}/{id}")).unwrap();
        assert_eq!(Value::Object(found.body), wanted, "{provider}/{id}");
    }
    // The name on the wire decides, not the one that it is listed under.
    let nick = described("p", "nick", json!({"id": "gpt-5"}));
    assert_eq!(ask(&nick, "p/nick").unwrap().body["reasoning_effort"], "medium");
}

#[test]
fn the_limit_of_an_answer_is_the_smaller_one() {
    const VARIABLE: &str = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX";
    let table = [
        (json!({}), None, 32_000),
        (json!({"context": 9, "output": 500}), None, 500),
        (json!({"context": 9, "output": 64_000}), None, 32_000),
        (json!({"context": 9, "output": 64_000}), Some("50000"), 50_000),
        (json!({}), Some("50000"), 50_000),
        (json!({}), Some("0"), 32_000),
        (json!({}), Some("many"), 32_000),
    ];
    for (limit, most, wanted) in table {
        let scratch = described("p", "m", json!({"limit": limit}));
        let scratch = most.into_iter().fold(scratch, |scratch, most| scratch.set(VARIABLE, most));
        assert_eq!(ask(&scratch, "p/m").unwrap().max_output_tokens, wanted, "{limit} {most:?}");
    }
}

#[test]
fn a_mode_of_the_catalogue_is_asked_as_it_says() {
    let modes = json!({"quick": {"provider": {"body": {"service_tier": "fast"}}},
        "deep": {"provider": {"body": {"reasoning_effort": "high"}, "headers": {"X-Mode": "deep"}}}, "same": {}});
    let models = json!({"m": {"id": "m", "name": "M", "experimental": {"modes": modes}}});
    let scratch = Scratch::new().cache(json!({"one": {"env": ["ONE_KEY"], "api": URL, "models": models}}));
    let scratch = scratch.set("ONE_KEY", SECRET);
    let deep = ask(&scratch, "one/m-deep").unwrap();
    assert_eq!((deep.model_id.as_str(), deep.headers.len()), ("m", 1));
    assert_eq!(Value::Object(deep.body), json!({"reasoning_effort": "high"}));
    assert_eq!(ask(&scratch, "one/m-quick").map(|_| ()), Err(refused("serviceTier")));
    assert!(ask(&scratch, "one/m-same").unwrap().body.is_empty());
}
