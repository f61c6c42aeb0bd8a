//! A home, a project and the binary, apart from everything of the machine's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with a scripted model, and a project folder.
pub struct House {
    folder: TempDir,
}

/// What a run gave.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl House {
    /// A house whose model plays `turns`.
    pub fn playing(turns: Value) -> Self {
        let house = Self::empty();
        house.script("script.json", turns);
        house.configure(&house.playing_config("script.json"));
        house
    }

    /// A house without a model.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "project"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.path("project").canonicalize().unwrap()
    }

    pub fn configure(&self, config: &str) {
        fs::write(self.path("home/config.toml"), config).unwrap();
    }

    pub fn script(&self, name: &str, turns: Value) {
        fs::write(self.path(name), json!({ "turns": turns }).to_string()).unwrap();
    }

    fn playing_config(&self, script: &str) -> String {
        let script = self.path(script);
        format!("model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n", script.display())
    }

    /// The variables that the binary gets, and no others.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("PATH", std::env::var("PATH").unwrap()),
            ("HOME", self.path("home").display().to_string()),
            ("NECO_HOME", self.path("home").display().to_string()),
            ("TMPDIR", self.folder.path().display().to_string()),
            ("LANG", "C.UTF-8".to_owned()),
        ]
    }

    /// The binary, with nobody to ask.
    pub fn neco(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neco"));
        command.env_clear().envs(self.variables()).env("CI", "1").current_dir(self.project()).args(arguments);
        command.timeout(Duration::from_secs(60));
        command
    }

    /// The same in another folder than the project.
    pub fn neco_in(&self, arguments: &[&str], folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neco"));
        command.env_clear().envs(self.variables()).env("CI", "1").current_dir(folder).args(arguments);
        command.timeout(Duration::from_secs(60));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&mut self.neco(arguments))
    }

    /// The same, not waited for.
    pub fn start(&self, arguments: &[&str]) -> std::process::Child {
        std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
            .env_clear()
            .envs(self.variables())
            .env("CI", "1")
            .current_dir(self.project())
            .args(arguments)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts the exit code; gives itself back.
    #[track_caller]
    pub fn ended_with(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, words: &str) -> Self {
        let said = format!("{}{}", self.stdout, self.stderr);
        assert!(said.contains(words), "{words:?} is not in\n{said}");
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    /// Every line of stdout as JSON.
    pub fn events(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A call of the scripted model.
pub fn call(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// Words of the scripted model.
pub fn say(words: &str) -> Value {
    json!({ "say": words })
}

/// Waits until `is` holds; a test that waits longer fails.
#[track_caller]
pub fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(30), "never came true: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process with this argument lives.
pub fn lives(argument: &str) -> bool {
    let has = |folder: &Path| {
        let line = fs::read(folder.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())
    };
    fs::read_dir("/proc").unwrap().flatten().any(|entry| has(&entry.path()))
}
