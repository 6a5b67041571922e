//! The binary on a terminal of its own, with a scripted user who reads what it shows and presses keys.
//!
//! The terminal is made by `script`, so that the program under test is in a session of its own and has a real one: a
//! Ctrl-C is a signal there, and a Ctrl-D the end of the input.

use crate::{Outcome, TestEnv, environment::finish, eventually};
use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

pub const CTRL_C: &str = "\x03";
pub const CTRL_D: &str = "\x04";

/// Until a question is there; some come after a server was started.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Terminal {
    running: Child,
    keyboard: ChildStdin,
    screen: Arc<Mutex<String>>,
    reader: JoinHandle<()>,
    /// How much of the screen was read already.
    seen: usize,
}

impl Terminal {
    pub fn start(env: &TestEnv, args: &[&str]) -> Self {
        let program = env.command(&[]).get_program().to_string_lossy().into_owned();
        let words = [program.as_str()].into_iter().chain(args.iter().copied());
        let line: Vec<String> = words.map(|word| format!("'{word}'")).collect();
        // The process that runs the tests may ignore interrupts, as a shell does in the background, and that is
        // inherited.
        let line = format!("exec env --default-signal=INT {}", line.join(" "));
        let mut command = std::process::Command::new("script");
        command.args(["-qefc", &line, "/dev/null"]).env_clear().envs(env.variables()).env("TERM", "dumb");
        command.current_dir(env.project()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = command.spawn().expect("a terminal");
        let keyboard = running.stdin.take().expect("a keyboard");
        let mut output = running.stdout.take().expect("a screen");
        let screen = Arc::new(Mutex::new(String::new()));
        let shared = screen.clone();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let mut piece = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut piece) {
                bytes.extend_from_slice(&piece[..read]);
                let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
                *shared.lock().unwrap_or_else(PoisonError::into_inner) = text;
            }
        });
        Self { running, keyboard, screen, reader, seen: 0 }
    }

    /// Waits until this is shown, below what an earlier wait has found.
    #[track_caller]
    pub fn shows(&mut self, text: &str) -> &mut Self {
        let mut end = None;
        eventually(text, PATIENCE, || {
            let over = self.reader.is_finished();
            let screen = self.screen();
            end = screen[self.seen..].find(text).map(|at| self.seen + at + text.len());
            assert!(end.is_some() || !over, "it ended without {text:?}:\n{screen}");
            end.is_some()
        });
        self.seen = end.unwrap_or(self.seen);
        self
    }

    pub fn press(&mut self, keys: &str) -> &mut Self {
        self.keyboard.write_all(keys.as_bytes()).expect("a keyboard");
        self
    }

    /// Waits for the end. What was shown is the standard output; a program that a signal ended has 128 and its number.
    pub fn ended(self) -> Outcome {
        let Self { running, keyboard, screen, reader, .. } = self;
        let mut outcome = finish(running);
        drop(keyboard);
        drop(reader.join());
        outcome.stdout = std::mem::take(&mut screen.lock().unwrap_or_else(PoisonError::into_inner));
        outcome
    }

    fn screen(&self) -> String {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
