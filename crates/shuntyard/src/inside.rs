//! Being started by OpenCode, as its MCP server or in its shell: the environment is then not the user's alone.
//!
//! What OpenCode sets for whatever it starts, and what we set for a managed OpenCode, would otherwise make every server
//! that we start from there another one than those that the user's own commands start.

use shuntyard_agents::opencode::launch::OUTER;
use std::collections::BTreeMap;

/// The variables that OpenCode sets for the programs that it starts.
const MARKS: [&str; 3] = ["OPENCODE", "OPENCODE_PID", "AGENT"];

/// Whether a managed OpenCode server has started this.
pub fn is_managed() -> bool {
    std::env::var_os(OUTER).is_some()
}

/// Whether an OpenCode has started this, managed or the user's own.
pub fn is_inside() -> bool {
    is_managed() || std::env::var_os("OPENCODE_PID").is_some()
}

/// The environment as the user has it.
pub fn as_outside(mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    if environment.contains_key("OPENCODE_PID") {
        for mark in MARKS {
            environment.remove(mark);
        }
    }
    let outer =
        environment.remove(OUTER).and_then(|text| serde_json::from_str::<BTreeMap<String, Option<String>>>(&text).ok());
    for (name, value) in outer.unwrap_or_default() {
        match value {
            Some(value) => drop(environment.insert(name, value)),
            None => drop(environment.remove(&name)),
        }
    }
    environment
}

#[cfg(test)]
mod tests {
    use super::as_outside;
    use secrecy::SecretString;
    use shuntyard_agents::opencode::launch::server_environment;
    use std::{collections::BTreeMap, path::Path};

    #[test]
    fn what_a_managed_server_starts_finds_the_users_environment_again() {
        let users = BTreeMap::from(
            [
                ("PATH", "/bin"),
                ("HOME", "/home/ann"),
                ("OPENCODE_CONFIG_CONTENT", "{\"model\":\"a/b\"}"),
                ("SHUNTYARD_DATA_DIR", "/data"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        let mut inner: BTreeMap<String, String> =
            server_environment(users.clone(), Path::new("/d/1.db"), &SecretString::from("pw")).into_iter().collect();
        inner.insert("OPENCODE_PID".into(), "7".into());
        inner.insert("OPENCODE".into(), "1".into());
        inner.insert("AGENT".into(), "1".into());
        assert_eq!(as_outside(inner), users);
        assert_eq!(as_outside(users.clone()), users);
    }
}
