//! What is written leaves: as a message, a correction, an answer, a command, a note.

use neco_proto::{AgentOrder, Attachment, CallId, Command, Decision, Reply};
use neco_view::slash;

use super::effect::Effect;
use crate::app::state::{Naming, Shell};
use crate::app::{Purpose, WindowState};
use crate::ask::answer;
use crate::host::ImageSource;
use crate::input::{Written, named_pictures};
use crate::told::{Output, is_command, with_what_ran};
use crate::transcript::block::Tone;
use crate::transcript::tail::Tail;

impl WindowState {
    /// Sends what is written.
    pub(super) fn send(&mut self, after_work: bool) -> Vec<Effect> {
        let text = self.prompt.text.as_str().trim();
        let is_message = self.purpose == Purpose::Message && !self.is_answer();
        let names = is_message && !is_command(text) && !text.starts_with(['!', '#']);
        match if names { named_pictures(text) } else { Vec::new() } {
            files if files.is_empty() => self.send_now(after_work),
            files => self.look_at(files, after_work),
        }
    }

    /// The pictures that a message names are looked at before it is sent. It leaves the field at once: what happens
    /// meanwhile has nothing to do with it.
    fn look_at(&mut self, files: Vec<(String, String)>, after_work: bool) -> Vec<Effect> {
        self.panels.help = false;
        let written = self.prompt.send();
        self.tell("looking at the pictures …");
        let remembers = Effect::Remember(written.text.clone());
        let looks = files.iter().map(|(file, _)| Effect::Image(ImageSource::File(file.clone())));
        let effects = std::iter::once(remembers).chain(looks).collect();
        self.naming.push(Naming { written, after_work, files });
        effects
    }

    /// A file that a message names was looked at: a picture goes with it, behind its name.
    pub(super) fn looked_at(&mut self, file: &str, found: Result<Option<Attachment>, String>) -> Vec<Effect> {
        let of_file = |naming: &Naming| naming.files.iter().any(|(named, _)| named == file);
        let Some(index) = self.naming.iter().position(of_file) else { return Vec::new() };
        let Some(naming) = self.naming.get_mut(index) else { return Vec::new() };
        let Some(at) = naming.files.iter().position(|(named, _)| named == file) else { return Vec::new() };
        let (_, word) = naming.files.remove(at);
        let is_over = naming.files.is_empty();
        match found {
            Ok(Some(picture)) => naming.written.add_picture(&word, picture),
            // A path may be that of a file that is to be made.
            Err(words) if word.starts_with('@') => self.warn(words),
            Ok(None) | Err(_) => {}
        }
        if is_over {
            let Naming { written, after_work, .. } = self.naming.remove(index);
            return vec![Effect::Send(self.message(written, after_work))];
        }
        Vec::new()
    }

    /// Pictures can't be looked at, by a defect: what names them is sent without.
    pub(super) fn send_named(&mut self) -> Vec<Effect> {
        let naming = std::mem::take(&mut self.naming);
        naming.into_iter().map(|naming| Effect::Send(self.message(naming.written, naming.after_work))).collect()
    }

    fn send_now(&mut self, after_work: bool) -> Vec<Effect> {
        self.panels.help = false;
        self.word = None;
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
        if let Some(command) = text.strip_prefix('!').map(str::trim) {
            return self.run_shell(command);
        }
        if text == "#" {
            self.tell("behind # comes what is to be remembered");
            return Vec::new();
        }
        if let Some(note) = note(text) {
            return vec![Effect::Keep(note.to_owned())];
        }
        if is_command(text) {
            return match slash::parse(text, &self.offers.custom) {
                Ok(slash) => self.run(&slash),
                // Its file may have been made just now: the folders are read again before there is no such command.
                Err(_) if !slash::is_known(text) => vec![Effect::Commands(Some(text.to_owned()))],
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
        if command.is_empty() {
            self.tell("behind ! comes a command of the shell");
            return Vec::new();
        }
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
