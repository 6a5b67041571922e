//! Places to choose a model in, each with a warm copy of OpenCode's list of models. No server runs in them.

use super::texts::SHORT;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::{
    path::PathBuf,
    process::{Command, Stdio},
};
use switchyard_core::route::Catalogue;
use switchyard_testkit::{TestEnv, environment::finish};

/// The variable that replaces OpenCode's built-in catalogue in a hermetic environment.
const CATALOGUE: &str = "OPENCODE_MODELS_PATH";

/// A copy of the list of models as the binary keeps it. Of what is around the list, nothing is lost.
#[derive(Debug, Serialize, Deserialize)]
pub struct Kept {
    pub catalogue: Catalogue,
    #[serde(flatten)]
    around: Map<String, Value>,
}

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

    /// One configured provider, and what OpenCode itself says when it is asked once.
    pub fn with_public_catalogue(program: &str, scratch: &str) -> Self {
        let world = Self::new("route-public", program, scratch, Knows::PublicCatalogue);
        world.warm(&["--refresh"], "server");
        world.env.stop_servers();
        world
    }

    fn new(name: &str, program: &str, scratch: &str, knows: Knows) -> Self {
        let env = TestEnv::new(name, program, scratch);
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
        files.retain(|file| file.to_string_lossy().ends_with(&format!(".{which}.json")));
        assert_eq!(files.len(), 1, "one copy of what is {which}: {files:?}");
        files.remove(0)
    }

    pub fn copy(&self, which: &str) -> Kept {
        serde_json::from_slice(&std::fs::read(self.copy_file(which)).expect("a copy")).expect("a list of models")
    }

    /// Puts a list that a server gave in the place of the one that a decision reads.
    pub fn replace_copy(&self, copy: &Kept) {
        let file = self.copy_file("connected");
        std::fs::write(file, serde_json::to_vec(copy).expect("JSON")).expect("the copy is replaced");
        self.warm(&[], "server");
    }

    pub fn remove(self) {
        std::fs::remove_dir_all(&self.env.root).expect("the scratch directory is removed");
    }
}

/// The same as if the user had a key for every provider that there is.
pub fn all_connected(mut copy: Kept) -> Kept {
    for provider in copy.catalogue.providers.values_mut() {
        provider.connected = true;
        provider.has_key = true;
    }
    let (providers, models) = (copy.catalogue.providers.len(), copy.catalogue.models().count());
    assert!(providers > 200 && models > 5000, "not the public catalogue: {models} models of {providers} providers");
    copy
}
