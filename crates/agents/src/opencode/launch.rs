//! How a managed server is started: the user's own configuration and logins, and on top of them only
//! what an unattended, private server needs.

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::path::Path;

/// The agent of text dispatches: no tools, and none of OpenCode's long instructions for coding.
pub const TEXT_AGENT: &str = "shuntyard-text";

/// The arguments of `opencode`; the port is chosen by the system.
pub const SERVE_ARGUMENTS: [&str; 5] = ["serve", "--port", "0", "--hostname", "127.0.0.1"];

/// Where a program that a managed server starts finds what the variables were before we set them.
pub const OUTER: &str = "SHUNTYARD_OUTER";
/// Of our own settings those that are paths, so that a tool of ours that is started there finds the same
/// store. None of them is a secret.
const PLACES: [&str; 2] = ["SHUNTYARD_DATA_DIR", "SHUNTYARD_CONFIG"];

/// The environment of a managed server: the starter's, without our own settings, plus ours.
pub fn server_environment(
    inherited: impl IntoIterator<Item = (String, String)>,
    database: &Path,
    password: &SecretString,
) -> Vec<(String, String)> {
    let inherited: Vec<(String, String)> = inherited.into_iter().collect();
    let before = |name: &str| inherited.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let mut outer: serde_json::Map<String, Value> =
        PLACES.into_iter().filter_map(|name| Some((name.to_owned(), json!(before(name)?)))).collect();
    let mut variables: Vec<(String, String)> =
        inherited.iter().filter(|(name, _)| !name.starts_with("SHUNTYARD_")).cloned().collect();
    let user_content = variables.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT");
    let content = config_content(user_content.map(|(_, content)| content.as_str()));
    let mut set = |name: &str, value: String| {
        // No program that an agent starts gets the password of the user's own server.
        let earlier = before(name).filter(|_| name != "OPENCODE_SERVER_PASSWORD");
        outer.insert(name.to_owned(), json!(earlier));
        variables.retain(|(existing, _)| existing != name);
        variables.push((name.to_owned(), value));
    };
    set("OPENCODE_CONFIG_CONTENT", content);
    set("OPENCODE_DB", database.to_string_lossy().into_owned());
    set("OPENCODE_SERVER_PASSWORD", password.expose_secret().to_owned());
    set("OPENCODE_SERVER_USERNAME", "opencode".to_owned());
    // Any client but OpenCode's own is not offered the question tool, which would wait for a person.
    set("OPENCODE_CLIENT", "shuntyard".to_owned());
    set("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned());
    set("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".to_owned());
    // A plugin's dependency that cannot be fetched must not hold the first prompt for a minute.
    set("npm_config_fetch_retries", "0".to_owned());
    variables.push((OUTER.to_owned(), Value::Object(outer).to_string()));
    variables
}

/// The user's inline configuration with ours over it. Content that is not JSON stays as it is, so that
/// OpenCode itself reports what is wrong with it.
fn config_content(user: Option<&str>) -> String {
    let parsed = match user.filter(|text| !text.trim().is_empty()) {
        None => Some(json!({})),
        Some(text) => jsonc_parser::parse_to_serde_value::<Value>(text, &jsonc_parser::ParseOptions::default()).ok(),
    };
    let Some(Value::Object(mut config)) = parsed else { return user.unwrap_or_default().to_owned() };
    config.insert("autoupdate".into(), json!(false));
    config.insert("share".into(), json!("disabled"));
    // Snapshots serve undo in OpenCode's own screens; here they would cost a git run for each step.
    config.insert("snapshot".into(), json!(false));
    let agents = config.entry("agent").or_insert_with(|| json!({}));
    if let Value::Object(agents) = agents {
        agents.insert(TEXT_AGENT.into(), text_agent());
    }
    Value::Object(config).to_string()
}

fn text_agent() -> Value {
    json!({
        "mode": "primary",
        "description": "Answers one prompt without tools (used by shuntyard dispatch)",
        "prompt": "Answer the request directly and completely. You have no tools and no files; work from the request alone.",
        "permission": {"*": "deny", "StructuredOutput": "allow"},
    })
}

/// The address in a line like `opencode server listening on http://127.0.0.1:4102`.
#[must_use]
pub fn listening_address(line: &str) -> Option<&str> {
    let (_, address) = line.split_once("listening on ")?;
    let address = address.trim();
    address.starts_with("http://").then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_settings_stay_and_ours_are_added() {
        let content = config_content(Some("{\"model\": \"a/b\", // why\n \"agent\": {\"mine\": {}},}"));
        let value: Value = serde_json::from_str(&content).unwrap();
        assert_eq!(value["model"], "a/b");
        assert!(value["agent"]["mine"].is_object());
        assert_eq!(value["agent"][TEXT_AGENT]["permission"]["*"], "deny");
        assert_eq!(value["snapshot"], false);
        assert_eq!(config_content(Some("{nonsense")), "{nonsense");
    }

    #[test]
    fn our_own_variables_do_not_reach_the_server() {
        let inherited = [
            ("SHUNTYARD_OPENCODE_PASSWORD", "secret"),
            ("PATH", "/bin"),
            ("OPENCODE_DB", "/shared"),
            ("OPENCODE_SERVER_PASSWORD", "secret"),
        ];
        let inherited = inherited.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let found = server_environment(inherited, Path::new("/d/1.db"), &SecretString::from("pw"));
        let value = |name: &str| found.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect::<Vec<_>>();
        assert_eq!(value("SHUNTYARD_OPENCODE_PASSWORD"), Vec::<&str>::new());
        assert_eq!(value("PATH"), ["/bin"]);
        assert_eq!(value("OPENCODE_DB"), ["/d/1.db"]);
        assert_eq!(value("OPENCODE_SERVER_PASSWORD"), ["pw"]);
        let outer: Value = serde_json::from_str(value(OUTER)[0]).unwrap();
        assert_eq!((&outer["OPENCODE_DB"], &outer["OPENCODE_CLIENT"]), (&json!("/shared"), &Value::Null));
        assert!(!outer.to_string().contains("secret"), "no password: {outer}");
    }

    #[test]
    fn the_address_is_read_from_the_announcement() {
        let line = "opencode server listening on http://127.0.0.1:4102\n";
        assert_eq!(listening_address(line), Some("http://127.0.0.1:4102"));
        assert_eq!(listening_address("Warning: OPENCODE_SERVER_PASSWORD is not set"), None);
    }
}
