//! What came of things that took time.

use neco_proto::clean::clean;
use neco_proto::{Answer, Attachment, ClientError, Command, Decision};
use ratatui::text::Line;

use super::effect::{Effect, News};
use crate::app::state::Shell;
use crate::app::{App, Purpose};
use crate::host::CommandOutcome;
use crate::text::markdown;
use crate::text::wrap::{Indent, wrap};
use crate::transcript::block::Tone;

/// Bytes of a command's output that the model is told.
const TOLD: usize = 16 * 1024;

impl App {
    /// Something came of an effect; gives what is to be done next.
    pub fn news(&mut self, news: News) -> Vec<Effect> {
        match news {
            News::Refused(error, unsent) => self.refused(&error, unsent),
            News::Answered(answer) => return self.answered(answer),
            News::Files(files) => return self.found_files(files),
            News::Branch(branch) => self.standing.branch = branch,
            News::Commands(custom) => {
                self.custom = custom;
                if self.prompt.completion.is_some() {
                    return self.offer();
                }
            }
            News::Sessions(Ok(sessions)) => self.pick_session(sessions),
            News::Models(Ok(models)) => self.pick_model(models),
            News::Rules(Ok(rules)) => self.pick_rule(rules),
            News::RuleChanged(Ok(words)) => {
                self.tried_rule = None;
                self.transcript.say(Tone::Good, words);
                return vec![Effect::Rules];
            }
            News::RuleChanged(Err(words)) => self.rule_refused(words),
            News::Outside(Ok(outcome)) => return self.carried_out(outcome),
            News::Custom(Ok(text)) => return self.say_to_agent(text),
            News::Printed(text) => self.printed(&text),
            News::ShellEnded(ended) => self.shell_ended(ended),
            News::Kept(Ok(words)) => self.transcript.say(Tone::Good, words),
            News::Image(found, otherwise) => self.found_image(found, otherwise),
            News::Prompt(Ok(Some(text))) => self.prompt.text.set(text.trim_end()),
            News::Call(call_id, Ok(Some(arguments))) => {
                return vec![Effect::Send(Command::Approve { call_id, decision: Decision::Edit { arguments } })];
            }
            News::Prompt(Ok(None)) | News::Call(_, Ok(None)) => {}
            News::Status(line) => self.status_line = line,
            News::Sessions(Err(words))
            | News::Models(Err(words))
            | News::Rules(Err(words))
            | News::Outside(Err(words))
            | News::Custom(Err(words))
            | News::Kept(Err(words))
            | News::Prompt(Err(words))
            | News::Call(_, Err(words)) => self.warn(words),
        }
        Vec::new()
    }

    fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        match answer {
            Answer::Context(report) => self.context(&report),
            Answer::RewindPoints { points } => return self.pick_message(points),
            Answer::RewindPreview(preview) => self.previewed(&preview),
            Answer::Tree { nodes } => self.agents.set_nodes(nodes),
            Answer::Workflows { workflows } => self.agents.set_workflows(workflows),
            Answer::Snapshot(_) | Answer::Messages { .. } | Answer::Prompt(_) | Answer::Checkpoints { .. } => {}
        }
        Vec::new()
    }

    /// What was not sent comes back into the field.
    fn refused(&mut self, error: &ClientError, unsent: Option<String>) {
        self.warn(error.to_string());
        if let Some(text) = unsent.filter(|_| self.prompt.text.is_empty()) {
            self.prompt.text.set(text);
        }
    }

    /// A rule that was not kept comes back into the field, to be written better.
    fn rule_refused(&mut self, words: String) {
        self.warn(words);
        if let Some(rule) = self.tried_rule.take().filter(|_| self.prompt.text.is_empty()) {
            self.prompt.text.set(rule);
            self.purpose = Purpose::Rule;
        }
    }

    fn carried_out(&mut self, outcome: CommandOutcome) -> Vec<Effect> {
        match outcome {
            CommandOutcome::Show(text) => {
                let rows = markdown::rows(&clean(&text), self.width, &self.theme);
                self.transcript.show(rows);
            }
            CommandOutcome::Print(text) => self.show_printed(&text),
            CommandOutcome::Say(text) => self.transcript.say(Tone::Plain, text),
            CommandOutcome::Prompt(text) => return self.say_to_agent(text),
            CommandOutcome::Fill(text) => self.prompt.text.set(text),
            CommandOutcome::Send(command) => return vec![Effect::Send(command)],
            CommandOutcome::Open(wanted) => return vec![Effect::Open(wanted)],
            CommandOutcome::Done => {}
        }
        Vec::new()
    }

    fn show_printed(&mut self, text: &str) {
        let lines = clean(text);
        let lines = lines.trim_end().lines().map(|line| Line::raw(line.replace('\t', "    ")));
        let rows = lines.flat_map(|line| wrap(&line, self.width, &Indent::default())).collect();
        self.transcript.show(rows);
    }

    fn printed(&mut self, text: &str) {
        let Some(shell) = &mut self.shell else { return };
        shell.tail.push(text);
        shell.output.push_str(&clean(text));
        if shell.output.len() > 2 * TOLD {
            let cut = shell.output.ceil_char_boundary(shell.output.len() - TOLD);
            shell.output.replace_range(..cut, "…\n");
        }
    }

    fn shell_ended(&mut self, ended: Result<Option<i32>, String>) {
        let Some(Shell { command, output, .. }) = self.shell.take() else { return };
        self.expanded = false;
        let how = match ended {
            Ok(Some(0)) => String::new(),
            Ok(Some(code)) => format!("\n(exit code {code})"),
            Ok(None) => "\n(stopped)".to_owned(),
            Err(words) => return self.warn(words),
        };
        let text = format!("$ {command}\n{}{how}", output.trim_end());
        self.show_printed(&text);
        self.ran.push(text);
    }

    fn found_image(&mut self, found: Result<Option<Attachment>, String>, otherwise: Option<String>) {
        match (found, otherwise) {
            (Ok(Some(picture)), _) => self.prompt.picture(picture),
            (_, Some(text)) => self.prompt.paste(&text),
            (Ok(None), None) => self.tell("there is no picture in the clipboard"),
            (Err(words), None) => self.warn(words),
        }
    }
}
