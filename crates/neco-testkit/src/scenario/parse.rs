//! The file format of a scenario.
//!
//! Fenced blocks: `file PATH` (what is in the folder), `setup` (TOML: mode, approval, person,
//! max_turns, tools), `script` (what the model answers), `events` (what must happen, in order) and
//! `expect PATH` (what a file holds at the end). Lines that begin with `> ` are what the person does:
//! `user: TEXT`, `approve`, `approve session`, `edit: JSON`, `reject: REASON`, `steer: TEXT`, `cancel`,
//! `compact: FOCUS`, `editor: JSON` (what is open),
//! `choose: LABEL; TEXT` (an answer to each question), `accept plan`, `accept plan auto`, `revise: COMMENTS`,
//! `drop plan`, `go on`, `go on: TEXT`, `dismiss`, `generation: N`, `mode: MODE`,
//! `agent NAME pause`, `resume`, `cancel`, `redirect: TEXT`, `answer: TEXT`, `task: TEXT` (to an agent of the tree),
//! `write PATH: TEXT` (someone else changes a file); a `when EVENT` at the end makes it wait for that event.

use neco_config::section::GuardsSection;
use neco_proto::event::RewindWhat;
use neco_proto::{AgentOrder, ApprovalMode, Decision, IdeContext, Mode};
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
    /// Most seconds of work.
    pub max_seconds: Option<f64>,
    /// The generation; the highest when it is not said.
    pub generation: Option<u8>,
    /// Whether guards watch: all of them, or none.
    pub guards: bool,
    /// Only these tools.
    pub tools: Vec<String>,
    /// Seconds a tool may take.
    pub tool_timeout: f64,
    /// Tokens of the model's context window.
    pub window: Option<u64>,
    /// Turns that a compaction leaves as they are.
    pub keep_turns: Option<usize>,
    /// Whether a session that ends is looked through for what is worth keeping.
    pub extract: bool,
    /// Whether the states of the folder are kept.
    pub checkpoints: bool,
    /// Whether commands reach the network.
    pub network: bool,
    /// Whether the model makes the session's title.
    pub titles: bool,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            mode: Mode::Agent,
            approval: ApprovalMode::AskFirst,
            person: true,
            max_turns: 50,
            max_tokens: None,
            max_seconds: None,
            generation: None,
            guards: true,
            tools: Vec::new(),
            tool_timeout: 30.0,
            window: None,
            keep_turns: None,
            extract: false,
            checkpoints: false,
            network: true,
            titles: false,
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
    /// Tells an agent of the tree what to do, by its name.
    Agent(String, AgentOrder),
    /// Says something while the agent works.
    Steer(String),
    /// Decides on a call that waits.
    Decide(Decision),
    /// Answers the question that was last asked.
    Reply(Saying),
    /// Chooses another generation.
    Generation(u8),
    /// Chooses another mode.
    Mode(Mode),
    /// Has the conversation made shorter.
    Compact(Option<String>),
    /// Has something else open in the editor.
    Editor(IdeContext),
    /// Stops the work.
    Cancel,
    /// Stops everything.
    StopAll,
    /// Goes back to before the message of this number.
    Rewind(usize, RewindWhat),
    /// Takes the last rewind back.
    UndoRewind,
    /// Puts changes of a file back since the first message, by their numbers; all of the file without any.
    Revert(String, Vec<usize>),
    /// Runs the call once more that ended last.
    RetryCall,
    /// Gives the session a title.
    Rename(String),
    /// Someone else changes a file.
    Write(String, String),
}

/// What a person says to a question.
#[derive(Clone, Debug)]
pub enum Saying {
    /// A label or any other text for each thing that is asked.
    Choose(Vec<String>),
    /// Carry out the plan.
    Accept(Option<ApprovalMode>),
    /// Make the plan better.
    Revise(String),
    /// Nothing is to come of the plan.
    Drop,
    GoOn(Option<String>),
    /// No answer.
    Dismiss,
}

impl Setup {
    /// The guards' switches.
    pub fn switches(&self) -> GuardsSection {
        let on = self.guards;
        GuardsSection {
            complexity: on,
            findings: on,
            errors: on,
            anti_pattern: on,
            loops: on,
            stop_check: on,
            advice: on,
        }
    }
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
        Some(("choose", answers)) => {
            Act::Reply(Saying::Choose(answers.split(';').map(|answer| answer.trim().to_owned()).collect()))
        }
        Some(("revise", comments)) => Act::Reply(Saying::Revise(comments.trim().to_owned())),
        Some(("go on", comments)) => Act::Reply(Saying::GoOn(Some(comments.trim().to_owned()))),
        Some(("generation", number)) => Act::Generation(number.trim().parse().map_err(|_| "not a generation")?),
        Some(("mode", mode)) => Act::Mode(word(mode)?),
        Some(("rename", title)) => Act::Rename(title.trim().to_owned()),
        Some((back, number)) if back.starts_with("rewind ") => Act::Rewind(
            number.trim().parse().map_err(|_| "not the number of a message")?,
            word(back.trim_start_matches("rewind "))?,
        ),
        Some(("revert", path)) => Act::Revert(path.trim().to_owned(), Vec::new()),
        Some((revert, path)) if revert.starts_with("revert ") => {
            let number = revert.trim_start_matches("revert ").trim().parse();
            Act::Revert(path.trim().to_owned(), vec![number.map_err(|_| "not the number of a change")?])
        }
        Some(("compact", focus)) => Act::Compact(Some(focus.trim().to_owned())),
        Some(("editor", json)) => Act::Editor(serde_json::from_str(json).map_err(|error| format!("editor: {error}"))?),
        Some(("edit", json)) => {
            let arguments = serde_json::from_str(json).map_err(|error| format!("edit: {error}"))?;
            Act::Decide(Decision::Edit { arguments })
        }
        Some((agent, text)) if agent.starts_with("agent ") => told(agent, text.trim())?,
        Some((write, text)) if write.starts_with("write ") => {
            Act::Write(write.trim_start_matches("write ").to_owned(), format!("{}\n", text.trim()))
        }
        _ => match line.trim() {
            "approve" => Act::Decide(Decision::Once),
            "approve session" => Act::Decide(Decision::Session),
            "approve always" => Act::Decide(Decision::Always),
            "reject" => Act::Decide(Decision::Reject { reason: None }),
            "accept plan" => Act::Reply(Saying::Accept(None)),
            "accept plan auto" => Act::Reply(Saying::Accept(Some(ApprovalMode::Auto))),
            "drop plan" => Act::Reply(Saying::Drop),
            "go on" => Act::Reply(Saying::GoOn(None)),
            "dismiss" => Act::Reply(Saying::Dismiss),
            "cancel" => Act::Cancel,
            "stop all" => Act::StopAll,
            agent if agent.starts_with("agent ") => told(agent, "")?,
            "undo rewind" => Act::UndoRewind,
            "retry" => Act::RetryCall,
            "compact" => Act::Compact(None),
            other => return Err(format!("what the person does is not known: {other:?}")),
        },
    };
    Ok(Cue { act, when })
}

/// `agent NAME pause`, `agent NAME redirect` with a text.
fn told(line: &str, text: &str) -> Result<Act, String> {
    let mut words = line.split_whitespace().skip(1);
    let (name, order) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = text.to_owned();
    let order = match order {
        "pause" => AgentOrder::Pause,
        "resume" => AgentOrder::Resume,
        "cancel" => AgentOrder::Cancel,
        "retry" => AgentOrder::Retry,
        "redirect" => AgentOrder::Redirect { text },
        "answer" => AgentOrder::Answer { text },
        "task" => AgentOrder::Task { text },
        other => return Err(format!("an agent can't be told to {other:?}")),
    };
    Ok(Act::Agent(name.to_owned(), order))
}

/// A word of an enum as files write it.
fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.trim().into()).map_err(|error| error.to_string())
}
