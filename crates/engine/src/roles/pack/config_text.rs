//! Enters a server under `mcp` in a configuration with comments, and takes it out again. All else keeps its bytes.

use serde_json::Value;
use shuntyard_core::roles::pack::jsonc::{JsoncError, remove_empty, remove_value, set_value, value_at};
use shuntyard_host::former_name::former_name;

const SECTION: &str = "mcp";
const NAME: &str = "shuntyard";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigTextError {
    #[error("it is not text in UTF-8")]
    NotText,
    #[error(transparent)]
    Text(#[from] JsoncError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub text: String,
    /// Whether there was no section yet.
    pub made_section: bool,
}

/// What is entered under our name.
pub fn entry(text: &str) -> Result<Option<Value>, ConfigTextError> {
    Ok(value_at(text, &[SECTION, NAME])?)
}

/// Adds the entry, or gives the one that is there another value.
pub fn register(text: &str, value: &Value) -> Result<Registered, ConfigTextError> {
    let made_section = value_at(text, &[SECTION])?.is_none();
    let text = set_value(text, &[SECTION, NAME], value)?;
    Ok(Registered { text, made_section })
}

/// The text with the entry under our name that it has under the former one; `None` when it has no such entry.
pub fn with_present_name(text: &str, value: &Value) -> Result<Option<String>, ConfigTextError> {
    let former = former_name(NAME);
    if value_at(text, &[SECTION, &former])?.as_ref() != Some(value) {
        return Ok(None);
    }
    let text = set_value(text, &[SECTION, NAME], value)?;
    Ok(Some(remove_value(&text, &[SECTION, &former])?))
}

/// Takes the entry out, and the section too if it was made for it and has nothing else in it.
pub fn unregister(text: &str, made_section: bool) -> Result<String, ConfigTextError> {
    let text = remove_value(text, &[SECTION, NAME])?;
    Ok(if made_section { remove_empty(&text, &[SECTION])? } else { text })
}
