//! The built-in settings as JSON: every command begins by reading them, and TOML takes ten times as long.

use std::{env, error::Error, fs, path::PathBuf};

const SETTINGS: &str = "src/settings/defaults.toml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SETTINGS}");
    let settings: toml::Table = fs::read_to_string(SETTINGS)?.parse()?;
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("defaults.json"), serde_json::to_string(&settings)?)?;
    Ok(())
}
