//! Tables for what a server may answer, and the client against a server without its longer list.

use super::{AllProviders, ConfiguredModels, ConfiguredProviders, connected, full};
use crate::opencode::{Client, Endpoint};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    routing::{Catalogue, Model, Provider, Source, Status},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn reduced(providers: Value) -> Catalogue {
    connected(read(json!({"providers": providers})), &ConfiguredModels::default())
}

fn one_model(model: Value) -> Model {
    let mut found = reduced(json!([{"id": "a", "models": {"m": model}}]));
    found.providers.get_mut("a").unwrap().models.edit(|models| models.remove("m")).unwrap()
}

#[test]
fn keys_are_noted_and_never_kept() {
    let used: ConfiguredProviders = read(json!({"providers": [
        {"id": "a", "source": "config", "options": {"apiKey": "sk-secret-1"}},
        {"id": "b", "source": "api", "key": "sk-secret-2"},
        {"id": "c", "source": "api", "key": null, "options": null, "models": null},
        {"id": "d", "source": "env", "env": ["D_KEY"]},
        {"id": "e", "source": "config", "options": {"apiKey": "", "headers": {"x": "secret-3"}}},
        {"id": "f", "source": "config", "options": {"apiKey": "public"}},
        {"id": "opencode", "source": "custom", "options": {"apiKey": "public"}},
        {"id": "new", "source": "a-new-source", "options": {"apiKey": {"command": "secret-4"}}}]}));
    assert!(!format!("{used:?}").contains("secret"));
    let found = connected(used, &ConfiguredModels::default());
    let keys: Vec<_> = found.providers.iter().map(|(id, p)| (id.as_str(), p.source.as_str(), p.has_key)).collect();
    let wanted = [
        ("a", "config", true),
        ("b", "api", true),
        ("c", "api", false),
        ("d", "env", true),
        ("e", "config", false),
        ("f", "config", true),
        ("new", "api", true),
        ("opencode", "custom", false),
    ];
    assert_eq!(keys, wanted);
    assert!(found.providers.values().all(|provider| provider.connected));
    assert_eq!(found.providers["d"].env, ["D_KEY"]);
    assert!(!format!("{found:?}{}", String::from_utf8_lossy(&found.to_bytes())).contains("secret"));
}

#[test]
fn every_field_of_a_model_is_filled() {
    let model = one_model(json!({
        "id": "m", "providerID": "a", "name": "Em", "family": "ems", "structured_output": true, "status": "beta",
        "release_date": "2026-07-06", "limit": {"context": 128_000, "input": 100, "output": 8192},
        "cost": {"input": 3, "output": 15, "cache": {"read": 0.3, "write": 3.75}, "tiers": []},
        "variants": {"low": {"reasoningEffort": "low"}, "high": {}},
        "capabilities": {"toolcall": true, "reasoning": true, "attachment": false, "interleaved": {"field": "x"},
            "input": {"text": true, "image": true, "pdf": true}, "output": {"text": false}}}));
    let mut wanted = Model {
        id: "m".into(),
        name: "Em".into(),
        family: "ems".into(),
        image_input: true,
        tool_calls: true,
        reasoning: true,
        attachments: true,
        structured_output: true,
        text_output: false,
        context: 128_000,
        output: 8192,
        variants: vec!["high".into(), "low".into()],
        status: Status::Beta,
        release_date: "2026-07-06".into(),
        ..Model::default()
    };
    wanted.price.input = Nano(3_000_000_000);
    wanted.price.output = Nano(15_000_000_000);
    wanted.price.cache_read = Nano(300_000_000);
    wanted.price.cache_write = Nano(3_750_000_000);
    assert_eq!(model, wanted);
}

#[test]
fn shapes_that_we_do_not_know_count_as_not_said() {
    let nothing = Model { id: "m".into(), text_output: true, ..Model::default() };
    let unknown = [
        json!({}),
        json!({"variants": null, "cost": null, "limit": null, "capabilities": null, "status": null, "family": null}),
        json!({"variants": [], "cost": "free", "limit": [], "capabilities": true, "status": "retired", "name": 7}),
        json!({"cost": {"input": null, "cache": 3}, "limit": {"context": "many"}, "capabilities": {"input": ["text"]}}),
    ];
    for shape in unknown {
        assert_eq!(one_model(shape.clone()), nothing, "{shape}");
    }
    // One field that cannot be read does not affect the others.
    let model = one_model(json!({"cost": {"input": 2, "output": "x"}, "limit": {"context": 9, "output": null}}));
    assert_eq!((model.price.input, model.price.output, model.context), (Nano(2_000_000_000), Nano(0), 9));
}

#[test]
fn the_full_catalogue_is_what_is_used_and_what_is_known() {
    let used = json!({"providers": [{"id": "a", "source": "env", "models": {"kept": {}}}], "default": {"a": "kept"}});
    let known = json!({"default": {}, "connected": ["a", "b"], "all": [
        {"id": "a", "source": "custom", "models": {"kept": {}, "refused": {}}},
        {"id": "b", "source": "api", "key": "sk-secret", "models": {"m": {}}},
        {"id": "c", "name": "Sea", "env": ["C_KEY"], "source": "custom", "options": {"apiKey": "sk-secret"}, "models": {"m": {}}}]});
    let found = full(read(used.clone()), read(known), &ConfiguredModels::default());
    let model = |id: &str| Model { id: id.into(), text_output: true, ..Model::default() };
    let provider = |source, has_key, models: &[&str]| Provider {
        source,
        has_key,
        connected: true,
        models: models.iter().map(|id| ((*id).to_owned(), model(id))).collect(),
        ..Provider::default()
    };
    let mut c = provider(Source::Api, false, &["m"]);
    (c.connected, c.name, c.env) = (false, "Sea".into(), vec!["C_KEY".into()]);
    let a = provider(Source::Env, true, &["kept"]);
    let providers = [("a", a.clone()), ("b", provider(Source::Api, true, &["m"])), ("c", c)];
    assert_eq!(found.providers, providers.map(|(id, provider)| (id.to_owned(), provider)).into());

    for known in [json!({}), json!({"all": null, "connected": null}), json!({"all": [], "connected": {"a": true}})] {
        let found = full(read(used.clone()), read::<AllProviders>(known), &ConfiguredModels::default());
        assert_eq!(found.providers, [("a".to_owned(), a.clone())].into());
    }
}

#[test]
fn the_models_of_the_configuration_are_taken_or_nothing() {
    let table = [
        (json!({"model": "a/b", "small_model": "c/d@low", "provider": {"x": 1}}), Some("a/b"), Some("c/d@low")),
        (json!({"model": "half"}), None, None),
        (json!({"model": null, "small_model": 3}), None, None),
        (json!({}), None, None),
    ];
    for (config, model, small_model) in table {
        let found = connected(read(json!({"providers": []})), &read::<ConfiguredModels>(config.clone()));
        assert_eq!(found.default_model, model.map(|name| name.parse().unwrap()), "{config}");
        assert_eq!(found.small_model, small_model.map(|name| name.parse().unwrap()), "{config}");
    }
}

#[tokio::test]
async fn a_server_without_the_longer_list_still_has_a_catalogue() {
    let page = ("200 OK", "text/html", "<!doctype html>".to_owned());
    let listed = json!({"all": [{"id": "b", "models": {"m": {}}}], "connected": []}).to_string();
    let table = [
        (("404 Not Found", "application/json", "{}".to_owned()), vec!["a"]),
        (("500 Oops", "text/plain", "no".to_owned()), vec!["a"]),
        (page, vec!["a"]),
        (("200 OK", "application/json", listed), vec!["a", "b"]),
    ];
    for (answer, wanted) in table {
        let status = answer.0;
        let client = Client::new(&Endpoint { url: server(answer).await, password: None }).unwrap();
        let found = client.full_catalogue().await.unwrap();
        assert_eq!(found.providers.keys().collect::<Vec<_>>(), wanted, "{status}");
        assert_eq!(found.small_model, Some("a/small".parse().unwrap()));
        assert_eq!(client.catalogue().await.unwrap().providers.keys().collect::<Vec<_>>(), ["a"]);
    }
}

/// A server with one provider that answers `/provider` as given. It ends with the test's runtime.
async fn server(provider: (&'static str, &'static str, String)) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await.unwrap());
            }
            let path = String::from_utf8(request).unwrap().split(' ').nth(1).unwrap().to_owned();
            let json = |value: Value| ("200 OK", "application/json", value.to_string());
            let (status, kind, body) = match path.as_str() {
                "/config/providers" => json(json!({"providers": [{"id": "a", "source": "config", "models": {}}]})),
                "/config" => json(json!({"small_model": "a/small"})),
                "/provider" => provider.clone(),
                other => panic!("{other} was asked for"),
            };
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\n");
            let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}
