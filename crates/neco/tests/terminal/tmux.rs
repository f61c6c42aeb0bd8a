//! A terminal with `neco` in it.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::House;

/// How long anything may take. Nothing is judged by it but that it happens.
const PATIENCE: Duration = Duration::from_secs(40);

/// Longer than any of the times in which the window takes a key for one that was not meant as an answer.
const UNHURRIED: Duration = Duration::from_millis(700);

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A terminal.
pub struct Pane {
    socket: String,
    folder: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// Whether tmux is there. Says so when it is not; that it has to be in CI is seen to by `cargo xtask test`.
pub fn is_there() -> bool {
    let there = Command::new("tmux").arg("-V").output().is_ok_and(|output| output.status.success());
    if !there {
        eprintln!("SKIPPED: tmux is not there, so the terminal window was not tried");
    }
    there
}

/// A house whose model plays `turns`, and nothing but them: no title, no look at the end.
pub fn house(turns: Value) -> House {
    let house = House::playing(turns);
    let script = house.path("script.json");
    house.configure(&format!(
        "model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n[sessions]\nmodel_title = \
         false\n[memory]\nextract = false\n",
        script.display()
    ));
    house
}

/// A house whose model starts an agent, which says something and waits for so many seconds.
pub fn one_waits(seconds: &str) -> House {
    let house = house(json!([]));
    let command = format!("sleep {seconds}");
    let script = json!({
        "turns": [
            { "calls": [{ "name": "spawn_agent", "arguments": { "agent": "coder", "task": "wait for me" } }] },
            { "say": "It is at it." }
        ],
        "loop_last": true,
        "agents": [{ "role": "coder", "turns": [
            { "say": "I begin to wait.", "calls": [{ "name": "bash", "arguments": { "command": command } }] },
            { "say": "heard" }
        ] }]
    });
    std::fs::write(house.path("script.json"), script.to_string()).unwrap();
    house
}

impl Pane {
    /// A terminal of this size with a shell in the project of `house`.
    pub fn shell(house: &House, width: u16, height: u16) -> Self {
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let socket = format!("neco-{}-{number}", std::process::id());
        let pane = Self { socket, folder: house.project(), variables: house.variables() };
        let (width, height) = (width.to_string(), height.to_string());
        pane.tmux(&["new-session", "-d", "-x", &width, "-y", &height, "env", "PS1=$ ", "sh"]);
        pane.tmux(&["set-option", "-g", "history-limit", "20000"]);
        pane.shows("$");
        pane
    }

    /// The same with `neco` started in it.
    pub fn neco(house: &House, arguments: &str, width: u16, height: u16) -> Self {
        let pane = Self::shell(house, width, height);
        pane.write(&format!("{} {arguments}", env!("CARGO_BIN_EXE_neco")));
        pane.press("Enter");
        pane
    }

    /// The usual one, once it waits for a message.
    pub fn ready(house: &House, arguments: &str) -> Self {
        let pane = Self::neco(house, arguments, 100, 30);
        pane.waits();
        pane
    }

    /// The window waits for a message.
    pub fn waits(&self) -> &Self {
        let is_ready = |pane: &Self| {
            ["Ask, or say", "Enter alone continues", "Enter alone tries again"]
                .iter()
                .any(|hint| pane.screen().contains(hint))
        };
        self.until("the field to wait", is_ready)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.env_clear().envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh").current_dir(&self.folder);
        command.args(["-u", "-L", &self.socket, "-f", "/dev/null"]).args(arguments);
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    }

    /// Types text.
    pub fn write(&self, text: &str) -> &Self {
        self.tmux(&["send-keys", "-l", text]);
        self
    }

    /// Presses keys, by tmux's names.
    pub fn press(&self, keys: &str) -> &Self {
        let keys: Vec<&str> = std::iter::once("send-keys").chain(keys.split(' ')).collect();
        self.tmux(&keys);
        self
    }

    /// Answers a question with a key, after a pause: the window has no sign for it, but takes no key for an answer that
    /// comes right behind what was typed before, or while the question can't have been read yet.
    pub fn answer(&self, key: &str) -> &Self {
        std::thread::sleep(UNHURRIED);
        self.press(key)
    }

    /// Types a message and sends it.
    pub fn say(&self, text: &str) -> &Self {
        self.write(text).shows(text.rsplit('\n').next().unwrap());
        self.press("Enter")
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// What is on the screen and above it.
    pub fn everything(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Pastes text as terminals do that mark what is pasted.
    pub fn paste(&self, text: &str) -> &Self {
        self.tmux(&["set-buffer", text]);
        self.tmux(&["paste-buffer", "-p"]);
        self
    }

    /// Another size.
    pub fn resize(&self, width: u16, height: u16) -> &Self {
        self.tmux(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
        self
    }

    /// Waits until `words` are on the screen.
    #[track_caller]
    pub fn shows(&self, words: &str) -> &Self {
        self.until(&format!("{words:?} to be shown"), |pane| pane.screen().contains(words))
    }

    /// Waits until `words` are on the screen or above it.
    #[track_caller]
    pub fn showed(&self, words: &str) -> &Self {
        self.until(&format!("{words:?} to have been shown"), |pane| pane.everything().contains(words))
    }

    /// Waits until `words` are not on the screen any more.
    #[track_caller]
    pub fn hides(&self, words: &str) -> &Self {
        self.until(&format!("{words:?} to be gone"), |pane| !pane.screen().contains(words))
    }

    #[track_caller]
    pub fn until(&self, what: &str, is: impl Fn(&Self) -> bool) -> &Self {
        let begun = Instant::now();
        while !is(self) {
            assert!(begun.elapsed() < PATIENCE, "waited for {what}; there is\n{}", self.everything());
            std::thread::sleep(Duration::from_millis(30));
        }
        self
    }

    /// The process of the window.
    pub fn neco_pid(&self) -> Option<i32> {
        let shell = self.tmux(&["display-message", "-p", "#{pane_pid}"]).trim().to_owned();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    }

    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    /// The shell has the terminal again, as it was: what is typed is shown, and lines are edited.
    #[track_caller]
    pub fn is_given_back(&self) -> &Self {
        self.until("the window to end", |pane| pane.neco_pid().is_none());
        let look = "case $(stty -a) in *-icanon*|*-isig*|*-echo\\ *) echo mode-''broken;; *) echo mode-''fine;; esac";
        self.write(look).press("Enter").until("the modes of the terminal", |pane| {
            ["mode-fine", "mode-broken"].iter().any(|mode| pane.everything().contains(mode))
        });
        assert!(self.everything().contains("mode-fine"), "{}", self.everything());
        let cursor =
            self.tmux(&["display-message", "-p", "#{cursor_flag} #{mouse_any_flag} #{alternate_on} #{wrap_flag}"]);
        assert_eq!(cursor.trim(), "1 0 0 1", "cursor, mouse, alternate screen, folding of rows");
        // A paste comes without the marks that were asked for.
        self.paste("true pasted").shows("true pasted");
        assert!(!self.screen().contains("200~"), "{}", self.screen());
        self
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
