//! The file format of a scenario.
//!
//! Fenced blocks: `file PATH` (what is in the folder), `setup` (TOML: mode, approval, person,
//! max_turns, tools), `script` (what the model answers), `events` (what must happen, in order) and
//! `expect PATH` (what a file holds at the end). Lines that begin with `> ` are what the person does:
//! `user: TEXT`, `approve`, `approve session`, `edit: JSON`, `reject: REASON`, `steer: TEXT`, `cancel`,
//! `write PATH: TEXT` (someone else changes a file); a `when EVENT` at the end makes it wait for that event.

use neco_proto::{ApprovalMode, Decision, Mode};
use serde::Deserialize;

/// A conversation that must play exactly so.
#[derive(Clone, Debug, Default)]
pub struct Scenario {
    /// The heading.
    pub title: String,
    /// What is in the folder: path and content.
    pub files: Vec<(String, String)>,
    /// How the session is opened.
    pub setup: Setup,
    /// The lines of the script block.
    pub script: String,
    /// What the person does, in order.
    pub cues: Vec<Cue>,
    /// Lines of the events block.
    pub events: Vec<String>,
    /// What files hold at the end.
    pub expected_files: Vec<(String, String)>,
}

/// How the session is opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// The mode.
    pub mode: Mode,
    /// When the person is asked.
    pub approval: ApprovalMode,
    /// Whether there is a person.
    pub person: bool,
    /// Most turns.
    pub max_turns: u32,
    /// Most tokens of the session.
    pub max_tokens: Option<u64>,
    /// Only these tools.
    pub tools: Vec<String>,
    /// Seconds a tool may take.
    pub tool_timeout: f64,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            mode: Mode::Agent,
            approval: ApprovalMode::AskFirst,
            person: true,
            max_turns: 50,
            max_tokens: None,
            tools: Vec::new(),
            tool_timeout: 30.0,
        }
    }
}

/// Something the person does.
#[derive(Clone, Debug)]
pub struct Cue {
    /// What.
    pub act: Act,
    /// The event line that it waits for.
    pub when: Option<String>,
}

/// What a person can do.
#[derive(Clone, Debug)]
pub enum Act {
    /// Says something.
    User(String),
    /// Says something while the agent works.
    Steer(String),
    /// Decides on a call that waits.
    Decide(Decision),
    /// Stops the work.
    Cancel,
    /// Someone else changes a file.
    Write(String, String),
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// In words, with the line that is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut scenario = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("# ") {
                title.clone_into(&mut scenario.title);
            } else if let Some(cue) = line.strip_prefix("> ") {
                scenario.cues.push(parse_cue(cue)?);
            } else if let Some(fence) = line.strip_prefix("```") {
                let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                scenario.block(fence.trim(), &block)?;
            }
        }
        if scenario.events.is_empty() {
            return Err("the scenario expects no events".to_owned());
        }
        Ok(scenario)
    }

    fn block(&mut self, kind: &str, lines: &[&str]) -> Result<(), String> {
        let content = || lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        match kind.split_once(' ') {
            Some(("file", path)) => self.files.push((path.to_owned(), content())),
            Some(("expect", path)) => self.expected_files.push((path.to_owned(), content())),
            None if kind == "setup" => {
                self.setup = toml::from_str(&content()).map_err(|error| format!("setup: {error}"))?;
            }
            None if kind == "script" => self.script = content(),
            None if kind == "events" => self.events = lines.iter().map(|line| (*line).to_owned()).collect(),
            Some(_) | None => return Err(format!("a block of kind {kind:?} is not known")),
        }
        Ok(())
    }
}

fn parse_cue(line: &str) -> Result<Cue, String> {
    let (line, when) = match line.rsplit_once(" when ") {
        Some((line, when)) => (line, Some(when.trim().to_owned())),
        None => (line, None),
    };
    let act = match line.split_once(':') {
        Some(("user", text)) => Act::User(text.trim().to_owned()),
        Some(("steer", text)) => Act::Steer(text.trim().to_owned()),
        Some(("reject", reason)) => Act::Decide(Decision::Reject { reason: Some(reason.trim().to_owned()) }),
        Some(("edit", json)) => {
            let arguments = serde_json::from_str(json).map_err(|error| format!("edit: {error}"))?;
            Act::Decide(Decision::Edit { arguments })
        }
        Some((write, text)) if write.starts_with("write ") => {
            Act::Write(write.trim_start_matches("write ").to_owned(), format!("{}\n", text.trim()))
        }
        _ => match line.trim() {
            "approve" => Act::Decide(Decision::Once),
            "approve session" => Act::Decide(Decision::Session),
            "approve always" => Act::Decide(Decision::Always),
            "reject" => Act::Decide(Decision::Reject { reason: None }),
            "cancel" => Act::Cancel,
            other => return Err(format!("what the person does is not known: {other:?}")),
        },
    };
    Ok(Cue { act, when })
}
