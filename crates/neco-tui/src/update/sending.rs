//! What is written leaves: as a message, a correction, an answer, a command, a note.

use neco_proto::{AgentOrder, Attachment, CallId, Command, Decision, MessagePiece, Reply};
use neco_view::slash::{self, Slash, SlashError};

use super::effect::Effect;
use super::{asked, commands, menu, stopping};
use crate::app::state::Naming;
use crate::app::{Purpose, WindowState};
use crate::ask::answer;
use crate::custom_commands::SaidByCommand;
use crate::host::ImageSource;
use crate::input::{Written, named_pictures};
use crate::told::{is_command, is_farewell};
use crate::transcript::block::Tone;

/// Sends what is written.
pub(super) fn send(window: &mut WindowState, after_work: bool) -> Vec<Effect> {
    if let Purpose::Agent(agent) = window.purpose
        && !window.agents().is_live(agent)
    {
        return window.only_tell("It has ended and reads no messages; what you wrote stays here");
    }
    let text = window.prompt.text.as_str().trim();
    let is_message = window.purpose == Purpose::Message && !asked::is_answer(window);
    let names = is_message && !is_command(text) && !text.starts_with(['!', '#']);
    let mut files = if names { named_pictures(text) } else { Vec::new() };
    // Those of MCP servers are read where the message goes.
    files.retain(|(_, word)| !window.offers.names_resource(word));
    if files.is_empty() { send_now(window, after_work) } else { look_at(window, files, after_work) }
}

/// The pictures that a message names are looked at before it is sent. It leaves the field at once: what happens
/// meanwhile has nothing to do with it.
fn look_at(window: &mut WindowState, files: Vec<(String, String)>, after_work: bool) -> Vec<Effect> {
    window.panels.help = false;
    let written = window.prompt.send();
    window.tell("Reading the pictures …");
    let remembers = Effect::Remember(written.text.clone());
    let looks = files.iter().map(|(file, _)| Effect::Image(ImageSource::File(file.clone())));
    let effects = std::iter::once(remembers).chain(looks).collect();
    window.naming.push(Naming { written, after_work, files });
    effects
}

/// A file that a message names was looked at: a picture goes with it, behind its name.
pub(super) fn looked_at(
    window: &mut WindowState,
    file: &str,
    found: Result<Option<Attachment>, String>,
) -> Vec<Effect> {
    let of_file = |naming: &Naming| naming.files.iter().any(|(named, _)| named == file);
    let Some(index) = window.naming.iter().position(of_file) else { return Vec::new() };
    let Some(naming) = window.naming.get_mut(index) else { return Vec::new() };
    let Some(at) = naming.files.iter().position(|(named, _)| named == file) else { return Vec::new() };
    let (_, word) = naming.files.remove(at);
    let is_over = naming.files.is_empty();
    match found {
        Ok(Some(picture)) => naming.written.add_picture(&word, picture),
        // A path may be that of a file that is to be made.
        Err(words) if word.starts_with('@') => window.warn(words),
        Ok(None) | Err(_) => {}
    }
    if is_over {
        let Naming { written, after_work, .. } = window.naming.remove(index);
        return vec![Effect::Send(message(window, written, after_work))];
    }
    Vec::new()
}

/// Pictures can't be looked at, by a defect: what names them is sent without.
pub(super) fn send_named(window: &mut WindowState) -> Vec<Effect> {
    let naming = std::mem::take(&mut window.naming);
    naming.into_iter().map(|naming| Effect::Send(message(window, naming.written, naming.after_work))).collect()
}

fn send_now(window: &mut WindowState, after_work: bool) -> Vec<Effect> {
    window.panels.help = false;
    window.word = None;
    let answers = asked::is_answer(window);
    let written = window.prompt.send();
    if !written.pictures.is_empty() && (window.purpose != Purpose::Message || answers) {
        window.warn("Picture not sent: it goes with a message");
    }
    match std::mem::take(&mut window.purpose) {
        Purpose::Message => {}
        Purpose::Reason(call_id) => return asked::answers(window, reject(call_id, written.text)),
        Purpose::Revision(question) => {
            let reply = Reply::RevisePlan { comments: written.text };
            return asked::answers(window, vec![Effect::Send(answer(question, reply))]);
        }
        Purpose::Agent(agent_id) => {
            let order = AgentOrder::Redirect { text: written.text };
            menu::has_written(window, agent_id);
            return vec![Effect::Send(Command::AgentCommand { agent_id, order })];
        }
        Purpose::Rule => {
            window.tried_rule = Some(written.text.clone());
            // The question that stood above it is read before it takes a key.
            window.facing.unseen(window.now_ms);
            return vec![Effect::AddRule(written.text)];
        }
    }
    let mut effects = Vec::new();
    if may_be_kept(&written.text) {
        effects.push(Effect::Remember(written.text.clone()));
    }
    effects.extend(dispatch(window, written, after_work, answers));
    effects
}

/// Whether later windows may show what was written: behind this command somebody may have put their key.
pub(crate) fn may_be_kept(text: &str) -> bool {
    text.split_whitespace().next() != Some("/login")
}

fn dispatch(window: &mut WindowState, written: Written, after_work: bool, answers: bool) -> Vec<Effect> {
    let text = written.text.trim();
    // What was pasted begins with whatever it begins with.
    if written.begins_with_paste {
        return answer_or_message(window, written, after_work, answers);
    }
    if is_farewell(text) && !answers {
        return stopping::leave(window);
    }
    if let Some(command) = text.strip_prefix('!').map(str::trim) {
        return run_shell(window, command);
    }
    if text == "#" {
        return window.only_tell("# is followed by what to remember");
    }
    if let Some(note) = note(text) {
        return vec![Effect::Keep(note.to_owned())];
    }
    if is_command(text) {
        return match slash::parse(text, &window.offers.custom) {
            Ok(slash) => {
                // A command of the person's own is seen once its file was read, with what it says.
                if !matches!(slash, Slash::Custom { .. } | Slash::Exit) && !commands::only_lists(&slash) {
                    window.transcript.echo(text);
                }
                commands::run(window, &slash)
            }
            // Its file may have been made just now: the folders are read again before there is no such command.
            Err(_) if !slash::is_known(text) => vec![Effect::Commands(Some(text.to_owned()))],
            Err(error) => {
                window.transcript.say(Tone::Warning, error.to_string());
                // It is there to be corrected; what may be a key is nowhere.
                if error != SlashError::KeyShown && window.prompt.is_free() {
                    window.prompt.text.set(text);
                }
                Vec::new()
            }
        };
    }
    answer_or_message(window, written, after_work, answers)
}

/// Says what the window was opened with; a command is carried out as if it had been typed.
pub(crate) fn say_first(window: &mut WindowState, text: String) -> Vec<Effect> {
    match is_command(&text) {
        true => dispatch(window, Written { text, ..Written::default() }, false, false),
        false => vec![Effect::Send(Command::UserMessage { content: text, attachments: Vec::new() })],
    }
}

fn answer_or_message(window: &mut WindowState, written: Written, after_work: bool, answers: bool) -> Vec<Effect> {
    let answer = if answers { asked::answer_in_words(window, written.text.trim()) } else { None };
    match answer {
        Some(effects) => asked::answers(window, effects),
        None => vec![Effect::Send(message(window, written, after_work))],
    }
}

/// A message, or a correction while the agent works; pictures can only be shown with a message.
fn message(window: &mut WindowState, written: Written, after_work: bool) -> Command {
    let content = window.shell.tell_with(written.text);
    if window.standing().works() && !after_work && written.pictures.is_empty() {
        Command::Steer { text: content }
    } else {
        Command::UserMessage { content, attachments: written.pictures }
    }
}

/// Something that is said to the agent without having been written.
pub(super) fn say_to_agent(window: &mut WindowState, text: String) -> Vec<Effect> {
    let command = message(window, Written { text, ..Written::default() }, false);
    vec![Effect::Send(command)]
}

/// What a command of the person says to the agent. A session that begins with it is called what the person wrote.
pub(super) fn say_for_command(window: &mut WindowState, mut said: SaidByCommand) -> Vec<Effect> {
    let view = &window.transcript.view;
    let begins = view.title.is_none() && !view.was_spoken_to() && view.unread().next().is_none();
    if !begins {
        window.tried_command = None;
    }
    let names = window.tried_command.clone().map(|title| Effect::Send(Command::Rename { title }));
    // What they ran before goes along behind it.
    let ran = window.shell.tell_with(String::new());
    said.pieces.extend((!ran.is_empty()).then(|| MessagePiece::said(ran)));
    names.into_iter().chain([Effect::Send(said.command(window.standing().works()))]).collect()
}

fn run_shell(window: &mut WindowState, command: &str) -> Vec<Effect> {
    if command.is_empty() {
        return window.only_tell("! is followed by a shell command");
    }
    if window.shell.runs() {
        return window.only_tell("Your other command is still running; Esc stops it");
    }
    window.shell.start(command);
    vec![Effect::Shell(command.to_owned())]
}

fn reject(call_id: CallId, reason: String) -> Vec<Effect> {
    let reason = (!reason.trim().is_empty()).then_some(reason);
    vec![Effect::Send(Command::Approve { call_id, decision: Decision::Reject { reason } })]
}

/// What is to be remembered: one line after `# `. A number after it is an issue, more lines are a document.
fn note(text: &str) -> Option<&str> {
    text.strip_prefix("# ").map(str::trim).filter(|note| !note.is_empty() && !note.contains('\n'))
}
