//! A hermetic place to run the binary in: its own home, data directory, OpenCode configuration and
//! scripted provider. Nothing of the machine's own settings reaches it, and its processes end with it.

use crate::{Outcome, Scratch, SharedProvider, opencode};
use serde_json::{Value, json};
use shuntyard_host::tree::end_marked;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// The key in the test configuration; it must never be seen anywhere else.
pub const API_KEY: &str = "sk-test-0123456789abcdef";

/// A command that has not ended after this long hangs, however busy the machine is.
const HANGS: Duration = Duration::from_secs(480);

#[derive(Debug)]
pub struct TestEnv {
    pub root: PathBuf,
    pub provider: SharedProvider,
    program: PathBuf,
    variables: BTreeMap<String, String>,
    /// Everything of the environment is in there, the logs of its servers and tasks too.
    _scratch: Scratch,
}

impl TestEnv {
    /// With the fake OpenCode. `program` is the binary under test.
    pub fn new(name: &str, program: &str) -> Self {
        Self::with_provider(name, program, SharedProvider::start())
    }

    pub fn with_provider(name: &str, program: &str, provider: SharedProvider) -> Self {
        Self::with_opencode(name, program, provider, &opencode::fake())
    }

    /// With the real OpenCode; `shared` is a directory that outlives the tests, where it is installed if need be.
    pub fn real(name: &str, program: &str, shared: &str) -> Self {
        let binary = opencode::binary(&Path::new(shared).join("opencode"));
        Self::with_opencode(name, program, SharedProvider::start(), &binary)
    }

    fn with_opencode(name: &str, program: &str, provider: SharedProvider, binary: &Path) -> Self {
        let scratch = Scratch::new(name);
        let root = scratch.path().to_owned();
        for directory in ["home/.config/opencode", "home/.config/shuntyard", "project", "tmp"] {
            std::fs::create_dir_all(root.join(directory)).expect("a scratch directory");
        }
        let git = Command::new("git").args(["init", "-q"]).arg(root.join("project")).status().expect("git");
        assert!(git.success());
        std::fs::write(root.join("models.json"), "{}").expect("a file");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let variables = [
            ("PATH", std::env::var("PATH").unwrap_or_default()),
            ("HOME", text(&root.join("home"))),
            ("TMPDIR", text(&root.join("tmp"))),
            ("SHUNTYARD_OPENCODE_BIN", text(binary)),
            ("SHUNTYARD_SERVER_OWNER_PID", std::process::id().to_string()),
            // A machine that is busy with other tests is no server that hangs.
            ("SHUNTYARD_SERVER_START_TIMEOUT", "240s".into()),
            ("SHUNTYARD_SERVER_CALL_TIMEOUT", "40s".into()),
            ("OPENCODE_MODELS_PATH", text(&root.join("models.json"))),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".into()),
            ("OPENCODE_DISABLE_CLAUDE_CODE", "1".into()),
            ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1".into()),
        ];
        let env = Self {
            root,
            provider,
            program: PathBuf::from(program),
            variables: variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            _scratch: scratch,
        };
        env.write_opencode_config(env.opencode_config());
        env
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn data_dir(&self) -> PathBuf {
        self.root.join("home/.local/share/shuntyard")
    }

    /// Sets a variable for every command of this environment.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    pub fn variables(&self) -> impl Iterator<Item = (&String, &String)> {
        self.variables.iter()
    }

    pub fn write_opencode_config(&self, config: Value) {
        let file = self.root.join("home/.config/opencode/opencode.json");
        std::fs::write(file, config.to_string()).expect("the configuration is written");
    }

    pub fn write_config(&self, toml: &str) {
        std::fs::write(self.root.join("home/.config/shuntyard/config.toml"), toml)
            .expect("the configuration is written");
    }

    /// Gives OpenCode this public catalogue of providers and models in place of none.
    pub fn write_public_catalogue(&self, catalogue: &Value) {
        std::fs::write(self.root.join("models.json"), catalogue.to_string()).expect("the catalogue is written");
    }

    /// What `opencode auth login` would have stored.
    pub fn write_logins(&self, logins: &Value) {
        let directory = self.root.join("home/.local/share/opencode");
        std::fs::create_dir_all(&directory).expect("a directory");
        std::fs::write(directory.join("auth.json"), logins.to_string()).expect("the logins are written");
    }

    /// A directory beside the project, a repository of its own.
    pub fn repository(&self, name: &str) -> PathBuf {
        let directory = self.root.join("work").join(name);
        std::fs::create_dir_all(&directory).expect("a directory");
        let git = Command::new("git").args(["init", "-q"]).arg(&directory).status().expect("git");
        assert!(git.success());
        directory
    }

    /// Several models of one provider with a key, and the same provider without one.
    pub fn opencode_config(&self) -> Value {
        let model = |extra: Value| {
            let mut model = json!({"limit": {"context": 128_000, "output": 8192}, "tool_call": true,
                "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}});
            if let (Some(model), Some(extra)) = (model.as_object_mut(), extra.as_object()) {
                model.extend(extra.clone());
            }
            model
        };
        self.provider.price("odd", [0.0375, 0.15, 0.00375]);
        let models = json!({
            "alpha": model(json!({})),
            "beta": model(json!({"variants": {"low": {"reasoningEffort": "low"}}, "reasoning": true})),
            "eyes": model(json!({"attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}})),
            "odd": model(json!({"cost": {"input": 0.0375, "output": 0.15, "cache_read": 0.00375}})),
            "priceless": {"limit": {"context": 128_000, "output": 8192}},
            "small": model(json!({"limit": {"context": 9000, "output": 1000}})),
        });
        let url = self.provider.base_url();
        json!({
            "model": "scripted/alpha", "small_model": "scripted/alpha", "share": "disabled", "autoupdate": false,
            "enabled_providers": ["scripted", "keyless"],
            "command": {
                "greet": {"template": "Greet $ARGUMENTS"},
                "delegate": {"template": "Delegate $ARGUMENTS"},
            },
            "provider": {
                "scripted": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url, "apiKey": API_KEY}, "models": models},
                "keyless": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": url}, "models": {"alpha": model(json!({}))}},
            },
        })
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).env_clear().envs(&self.variables).current_dir(self.project()).stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub fn run(&self, args: &[&str]) -> Outcome {
        finish(self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts"))
    }

    /// The same with some more variables, for this command alone.
    pub fn run_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Outcome {
        let mut command = self.command(args);
        command.envs(variables.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(command.spawn().expect("the binary starts"))
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> Outcome {
        use std::io::Write;
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("the input is taken");
        finish(child)
    }

    /// `dispatch --json` with the given arguments.
    pub fn dispatch(&self, args: &[&str]) -> Outcome {
        self.run(&[&["dispatch", "--json"], args].concat())
    }

    /// Starts the binary and leaves it running.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
    }

    /// The managed servers, as `opencode status --json` shows them.
    pub fn servers(&self) -> Vec<Value> {
        let status = self.run(&["opencode", "status", "--json"]);
        status.json()["servers"].as_array().cloned().unwrap_or_default()
    }

    pub fn stop_servers(&self) {
        self.run(&["opencode", "stop"]).expect_code(0);
    }
}

/// Its servers and workers would write on into a directory that is about to be removed.
impl Drop for TestEnv {
    fn drop(&mut self) {
        end_marked("HOME", &self.variables["HOME"], Duration::ZERO);
    }
}

/// Waits for a command, but not for ever: a hang is a failure, not a wait.
pub fn finish(child: Child) -> Outcome {
    let id = child.id();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    let output = receiver.recv_timeout(HANGS).unwrap_or_else(|_| {
        drop(Command::new("kill").args(["-9", &id.to_string()]).status());
        panic!("the command did not end within {HANGS:?}");
    });
    let output = output.expect("the output is read");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is text");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}
