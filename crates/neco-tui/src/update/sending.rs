//! What is written leaves: as a message, a correction, an answer, a command, a note.

use neco_proto::slash;
use neco_proto::{AgentOrder, CallId, Command, Decision, Reply};

use super::effect::Effect;
use crate::app::state::Shell;
use crate::app::{App, Purpose};
use crate::ask::answer;
use crate::input::Written;
use crate::transcript::block::{RAN, Tone};
use crate::transcript::tail::Tail;

impl App {
    /// Sends what is written.
    pub(super) fn send(&mut self, after_work: bool) -> Vec<Effect> {
        self.panels.help = false;
        let written = self.prompt.send();
        match std::mem::take(&mut self.purpose) {
            Purpose::Message => {}
            Purpose::Reason(call_id) => return reject(call_id, written.text),
            Purpose::Revision(question) => {
                return vec![Effect::Send(answer(question, Reply::RevisePlan { comments: written.text }))];
            }
            Purpose::Agent(agent_id) => {
                let order = AgentOrder::Redirect { text: written.text };
                return vec![Effect::Send(Command::AgentCommand { agent_id, order })];
            }
            Purpose::Rule => {
                self.tried_rule = Some(written.text.clone());
                return vec![Effect::AddRule(written.text)];
            }
        }
        let mut effects = vec![Effect::Remember(written.text.clone())];
        effects.extend(self.dispatch(written, after_work));
        effects
    }

    fn dispatch(&mut self, written: Written, after_work: bool) -> Vec<Effect> {
        let text = written.text.trim();
        if let Some(command) = text.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty()) {
            return self.run_shell(command);
        }
        if let Some(note) = note(text) {
            return vec![Effect::Keep(note.to_owned())];
        }
        if is_command(text) {
            return match slash::parse(text, &self.custom) {
                Ok(slash) => self.run(&slash),
                Err(words) => {
                    self.transcript.say(Tone::Warning, words);
                    Vec::new()
                }
            };
        }
        if let Some(effects) = self.answer_in_words(text) {
            return effects;
        }
        vec![Effect::Send(self.message(written, after_work))]
    }

    /// A message, or a correction while the agent works; pictures can only be shown with a message.
    fn message(&mut self, written: Written, after_work: bool) -> Command {
        let content = self.with_what_ran(written.text);
        if self.standing.works() && !after_work && written.pictures.is_empty() {
            Command::Steer { text: content }
        } else {
            Command::UserMessage { content, attachments: written.pictures }
        }
    }

    /// Something that is said to the agent without having been written.
    pub(super) fn say_to_agent(&mut self, text: String) -> Vec<Effect> {
        let command = self.message(Written { text, pictures: Vec::new() }, false);
        vec![Effect::Send(command)]
    }

    fn run_shell(&mut self, command: &str) -> Vec<Effect> {
        if self.shell.is_some() {
            self.tell("your other command still runs; Esc stops it");
            return Vec::new();
        }
        self.shell = Some(Shell { command: command.to_owned(), tail: Tail::default(), output: String::new() });
        vec![Effect::Shell(command.to_owned())]
    }

    /// The message with what the person ran since the last one behind it.
    fn with_what_ran(&mut self, text: String) -> String {
        if self.ran.is_empty() {
            return text;
        }
        let ran: Vec<String> = self.ran.drain(..).map(|ran| fenced(&ran)).collect();
        format!("{text}{RAN}{}", ran.join("\n\n"))
    }
}

fn reject(call_id: CallId, reason: String) -> Vec<Effect> {
    let reason = (!reason.trim().is_empty()).then_some(reason);
    vec![Effect::Send(Command::Approve { call_id, decision: Decision::Reject { reason } })]
}

/// What is to be remembered: one line after `# `. A number after it is an issue, more lines are a document.
fn note(text: &str) -> Option<&str> {
    text.strip_prefix("# ").map(str::trim).filter(|note| !note.is_empty() && !note.contains('\n'))
}

/// Whether a text is a command; a path at the beginning of a sentence is none.
fn is_command(text: &str) -> bool {
    let name = text.strip_prefix('/').map(|rest| rest.split_whitespace().next().unwrap_or_default());
    name.is_some_and(|name| !name.contains('/'))
}

/// In a fence that is longer than any inside.
fn fenced(text: &str) -> String {
    let ticks = |line: &str| line.trim_start().chars().take_while(|char| *char == '`').count();
    let fence = "`".repeat(text.lines().map(ticks).max().unwrap_or_default().max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}
