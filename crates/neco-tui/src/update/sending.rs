//! What is written leaves: as a message, a correction, an answer, a command, a note.

use neco_proto::slash;
use neco_proto::{AgentOrder, CallId, Command, Decision, Reply};

use super::effect::Effect;
use crate::app::state::Shell;
use crate::app::{App, Purpose};
use crate::ask::answer;
use crate::input::Written;
use crate::told::{Output, is_command, with_what_ran};
use crate::transcript::block::Tone;
use crate::transcript::tail::Tail;

impl App {
    /// Sends what is written.
    pub(super) fn send(&mut self, after_work: bool) -> Vec<Effect> {
        self.panels.help = false;
        let answers = self.is_answer();
        let written = self.prompt.send();
        if !written.pictures.is_empty() && (self.purpose != Purpose::Message || answers) {
            self.warn("the picture was not sent: it can only go with a message");
        }
        match std::mem::take(&mut self.purpose) {
            Purpose::Message => {}
            Purpose::Reason(call_id) => return self.answers(reject(call_id, written.text)),
            Purpose::Revision(question) => {
                let reply = Reply::RevisePlan { comments: written.text };
                return self.answers(vec![Effect::Send(answer(question, reply))]);
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
        effects.extend(self.dispatch(written, after_work, answers));
        effects
    }

    fn dispatch(&mut self, written: Written, after_work: bool, answers: bool) -> Vec<Effect> {
        let text = written.text.trim();
        // What was pasted begins with whatever it begins with.
        if written.begins_with_paste {
            return self.answer_or_message(written, after_work, answers);
        }
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
        self.answer_or_message(written, after_work, answers)
    }

    fn answer_or_message(&mut self, written: Written, after_work: bool, answers: bool) -> Vec<Effect> {
        let answer = if answers { self.answer_in_words(written.text.trim()) } else { None };
        match answer {
            Some(effects) => self.answers(effects),
            None => vec![Effect::Send(self.message(written, after_work))],
        }
    }

    /// A message, or a correction while the agent works; pictures can only be shown with a message.
    fn message(&mut self, written: Written, after_work: bool) -> Command {
        let content = with_what_ran(written.text, &std::mem::take(&mut self.ran));
        if self.standing.works() && !after_work && written.pictures.is_empty() {
            Command::Steer { text: content }
        } else {
            Command::UserMessage { content, attachments: written.pictures }
        }
    }

    /// Something that is said to the agent without having been written.
    pub(super) fn say_to_agent(&mut self, text: String) -> Vec<Effect> {
        let command = self.message(Written { text, ..Written::default() }, false);
        vec![Effect::Send(command)]
    }

    fn run_shell(&mut self, command: &str) -> Vec<Effect> {
        if self.shell.is_some() {
            self.tell("your other command still runs; Esc stops it");
            return Vec::new();
        }
        self.shell = Some(Shell { command: command.to_owned(), tail: Tail::default(), output: Output::default() });
        vec![Effect::Shell(command.to_owned())]
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
