//! OpenCode as people start it, and its reports of what it has loaded. A managed server would not do: in one of those
//! our MCP server refuses to run.

#![expect(clippy::panic, reason = "a test stops at the first surprise")]

use serde_json::Value;
use shuntyard_testkit::TestEnv;
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
};

#[derive(Debug)]
pub struct Served {
    child: Child,
    address: String,
    directory: String,
}

impl Served {
    pub fn start(env: &TestEnv) -> Self {
        let binary = env.variables().find(|(name, _)| *name == "SHUNTYARD_OPENCODE_BIN").expect("a binary").1;
        let mut command = Command::new(binary);
        command.args(["serve", "--port", "0", "--hostname", "127.0.0.1"]).env_clear().envs(env.variables());
        command.current_dir(env.project()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("OpenCode starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut lines = lines.map_while(Result::ok);
        let listening = lines.find_map(|line| line.split_once("http://").map(|(_, address)| address.trim().to_owned()));
        // Whatever comes later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let directory = env.project().to_string_lossy().into_owned();
        Self { child, address: listening.expect("OpenCode listens"), directory }
    }

    pub fn get(&self, path: &str) -> Value {
        let Self { address, directory, .. } = self;
        let mut stream = TcpStream::connect(address).expect("the server listens");
        // In this version of the protocol an answer ends with the connection, whatever its length.
        let ask = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nx-opencode-directory: {directory}\r\n\r\n");
        stream.write_all(ask.as_bytes()).expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}\n{head}\n{body}"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
