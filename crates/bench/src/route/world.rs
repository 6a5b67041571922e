//! Places to choose a model in, each with a warm copy of OpenCode's list of models. No server runs in them.

use super::texts::SHORT;
use serde_json::json;
use shuntyard_core::routing::Catalogue;
use shuntyard_testkit::{TestEnv, environment::finish};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The variable that replaces OpenCode's built-in catalogue in a hermetic environment.
const CATALOGUE: &str = "OPENCODE_MODELS_PATH";

#[derive(Debug)]
pub struct World {
    env: TestEnv,
    knows: Knows,
}

/// What OpenCode knows besides the user's own provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Knows {
    Nothing,
    PublicCatalogue,
}

impl World {
    /// One configured provider, read from OpenCode's files.
    pub fn with_one_provider(name: &str, program: &str, scratch: &str) -> Self {
        let world = Self::new(name, program, scratch, Knows::Nothing);
        world.warm(&[], "files");
        world
    }

    /// One configured provider, and the catalogue that OpenCode itself reports when it is asked once.
    pub fn with_public_catalogue(program: &str, scratch: &str) -> Self {
        let world = Self::new("route-public", program, scratch, Knows::PublicCatalogue);
        world.warm(&["--refresh"], "server");
        world.env.stop_servers();
        world
    }

    fn new(name: &str, program: &str, scratch: &str, knows: Knows) -> Self {
        let env = TestEnv::real(name, program, scratch);
        let mut config = env.opencode_config();
        if let Some(fields) = config.as_object_mut() {
            // A list of enabled providers would hide all others.
            fields.remove("enabled_providers");
        }
        if let Some(providers) = config["provider"].as_object_mut() {
            providers.retain(|id, _| id == "scripted");
        }
        env.write_opencode_config(config);
        Self { env, knows }
    }

    fn warm(&self, args: &[&str], from: &str) {
        for args in [args, &[]] {
            let args = [&["route", SHORT, "--json"], args].concat();
            let mut command = self.command(&args);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let outcome = finish(command.spawn().expect("the binary starts"));
            let decision = outcome.expect_code(0).json();
            assert_eq!(decision["catalogue"], json!({"from": from, "problems": []}), "{decision:#}");
        }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.env.command(args);
        if self.knows == Knows::PublicCatalogue {
            command.env_remove(CATALOGUE);
        }
        command
    }

    /// The file of the one copy: `connected` is what a decision reads, `all` holds what is only known of too.
    pub fn copy_file(&self, which: &str) -> PathBuf {
        let entries = std::fs::read_dir(self.env.data_dir().join("catalogues")).expect("the copies");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.to_string_lossy().ends_with(&format!(".{which}.models")));
        assert_eq!(files.len(), 1, "one copy of what is {which}: {files:?}");
        files.remove(0)
    }

    pub fn copy(&self, which: &str) -> Catalogue {
        read_copy(&self.copy_file(which)).1
    }

    /// Puts another list in the place of the one that a decision reads.
    pub fn replace_copy(&self, catalogue: &Catalogue) {
        let file = self.copy_file("connected");
        let (header, _) = read_copy(&file);
        std::fs::write(file, [header, catalogue.to_bytes()].concat()).expect("the copy is replaced");
        self.warm(&[], "files");
    }

    pub fn remove(self) {
        std::fs::remove_dir_all(&self.env.root).expect("the scratch directory is removed");
    }
}

/// The first line of a copy, with its line break, and the list of models that follows it.
pub fn read_copy(file: &Path) -> (Vec<u8>, Catalogue) {
    let mut header = std::fs::read(file).expect("a copy");
    let end = header.iter().position(|byte| *byte == b'\n').expect("a first line");
    let catalogue = header.split_off(end + 1);
    (header, Catalogue::from_bytes(catalogue).expect("a list of models"))
}

/// The same as if the user had a key for every provider that there is.
pub fn all_connected(mut catalogue: Catalogue) -> Catalogue {
    for provider in catalogue.providers.values_mut() {
        provider.connected = true;
        provider.has_key = true;
    }
    let (providers, models) = (catalogue.providers.len(), catalogue.models().count());
    assert!(providers > 200 && models > 5000, "not the public catalogue: {models} models of {providers} providers");
    catalogue
}
