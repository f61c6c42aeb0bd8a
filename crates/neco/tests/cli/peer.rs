//! The binary as a program that speaks in lines of JSON on its stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::support::House;

/// A program that is spoken to.
pub struct Peer {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// What came and was not asked for yet.
    pub kept: Vec<Value>,
    requests: u64,
}

impl Peer {
    /// Starts it, without a word.
    pub fn start(house: &House, arguments: &[&str], stderr: Stdio) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
            .env_clear()
            .envs(house.variables())
            .env("CI", "1")
            .current_dir(house.project())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // Whatever is no message fails whoever reads it.
                let _ = sender.send(serde_json::from_str(&line).unwrap_or(Value::String(line)));
            }
        });
        let input = child.stdin.take();
        Self { child, input, lines, kept: Vec::new(), requests: 0 }
    }

    /// Writes a line.
    pub fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The number of the next request.
    pub fn number(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// The next message that fits, which may be one that was kept; others are, and `heard` has each as it comes.
    #[track_caller]
    pub fn find(&mut self, fits: impl Fn(&Value) -> bool, mut heard: impl FnMut(&Value)) -> Value {
        if let Some(at) = self.kept.iter().position(&fits) {
            return self.kept.remove(at);
        }
        loop {
            let Ok(message) = self.lines.recv_timeout(Duration::from_secs(60)) else {
                panic!("it never came; there is {:#?}", self.kept);
            };
            assert!(message.is_object(), "stdout has what is no message: {message}");
            heard(&message);
            if fits(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Nothing more is said to it.
    pub fn say_no_more(&mut self) {
        drop(self.input.take());
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
