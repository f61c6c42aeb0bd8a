//! What came of things that took time.

use neco_proto::app::AppError;
use neco_proto::clean::clean;
use neco_proto::{Answer, Attachment, ClientError};
use neco_view::slash;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use super::effect::{Effect, News, Unsent};
use super::reports::context_rows;
use super::{going_back, picking, taking_back, watching};
use crate::app::state::Shell;
use crate::app::{Purpose, WindowState};
use crate::host::CommandOutcome;
use crate::text::wrap::{Indent, wrap};
use crate::text::{figures, markdown};
use crate::told::fenced;
use crate::transcript::block::Tone;

/// Lines of what a person ran that stay on the screen.
const SHOWN_LINES: usize = 200;

impl WindowState {
    /// Something came of an effect; gives what is to be done next.
    pub fn news(&mut self, news: News) -> Vec<Effect> {
        match news {
            News::Refused(error, unsent) => self.refused(&error, unsent),
            News::NotDecided(error, call_id) => {
                self.desk.not_taken();
                let what = self.transcript.summary(&call_id).map(|summary| format!(": {summary}"));
                self.warn(format!("{error}{}", what.unwrap_or_default()));
            }
            News::NotTakenBack(ids) => {
                self.tell("the agent has it already");
                taking_back::settle_coming_back(self, &ids);
            }
            News::Answered(answer) => return self.answered(answer),
            News::Looked(agent, past, last) => watching::looked(self, agent, &past, last),
            News::Arguments(line, arguments) => {
                if self.offers.found_arguments(&self.prompt, line, arguments) && self.picker.is_none() {
                    return self.offer();
                }
            }
            News::Files(files) => {
                self.offers.found_files(files);
                if self.picker.is_none() {
                    return self.offer();
                }
            }
            News::Branch(branch) => self.standing.branch = branch,
            News::Commands(custom, unknown) => {
                self.offers.custom = custom;
                if let Some(line) = unknown {
                    return self.try_again(&line);
                }
                if self.prompt.completion.is_some() {
                    return self.offer();
                }
            }
            News::Sessions(Ok(sessions)) => picking::pick_session(self, sessions),
            News::Models(Ok(models)) => picking::pick_model(self, models),
            News::Rules(Ok(rules)) => picking::pick_rule(self, rules),
            News::RuleChanged(Ok(words)) => {
                self.tried_rule = None;
                self.transcript.say(Tone::Good, words);
                return picking::rules_again(self);
            }
            News::RuleChanged(Err(error)) => self.rule_refused(&error),
            News::Outside(Ok(outcome)) => return self.carried_out(outcome),
            News::Custom(Ok(text)) => {
                self.tried_command = None;
                return self.say_to_agent(text);
            }
            News::Custom(Err(error)) => {
                self.warn(error.words());
                let tried = self.tried_command.take().filter(|_| self.prompt.text.is_empty());
                tried.into_iter().for_each(|text| self.prompt.text.set(text));
            }
            News::Printed(text) => self.printed(&text),
            News::LeftOut(lines) => self.left_out(lines),
            News::ShellEnded(ended) => self.shell_ended(ended),
            News::Kept(Ok(words)) => self.transcript.say(Tone::Good, words),
            News::Image(found, otherwise) => return self.found_image(found, otherwise),
            News::Prompt(Ok(Some(text))) => {
                self.prompt.text.set(text.trim_end());
                self.go_to_field();
            }
            // What they made of it is shown, and asked about again.
            News::Call(call_id, Ok(Some(edited))) => {
                if !self.desk.revise(&call_id, edited) {
                    self.warn("what you changed was answered meanwhile, and is as it was");
                }
                self.facing.unseen(self.now_ms);
            }
            News::Prompt(Ok(None)) | News::Call(_, Ok(None)) => {}
            // A line that could not be made once is not gone.
            News::Status(line) => self.status_line = line.or(self.status_line.take()),
            News::Broken(what) => {
                self.list_asked = None;
                let unsent = self.send_named();
                self.wants(unsent);
                self.warn(format!("{what}: a defect in Neco; please report it with the log of a run with --debug"));
            }
            News::Sessions(Err(error))
            | News::Models(Err(error))
            | News::Rules(Err(error))
            | News::Outside(Err(error))
            | News::Kept(Err(error)) => self.warn(error.words()),
            News::Prompt(Err(words)) | News::Call(_, Err(words)) => self.warn(words),
        }
        Vec::new()
    }

    /// A command that was not known before the folders were read again.
    fn try_again(&mut self, line: &str) -> Vec<Effect> {
        match slash::parse(line, &self.offers.custom) {
            Ok(slash) => self.run(&slash),
            Err(words) => {
                self.warn(words);
                Vec::new()
            }
        }
    }

    fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        match answer {
            Answer::Context(report) => {
                let rows = context_rows(&report, self.context_view, self.width, &self.theme);
                self.transcript.show(rows);
            }
            Answer::RewindPoints { points } => return going_back::pick_message(self, points),
            Answer::RewindPreview(preview) => going_back::previewed(self, &preview),
            Answer::Tree { nodes } => {
                self.agents.set_nodes(nodes);
                let agents = &self.agents;
                self.desk.set_names(|agent| agents.name(agent));
            }
            Answer::Workflows { workflows } => self.agents.set_workflows(workflows),
            Answer::Checkpoints { checkpoints } => return going_back::pick_checkpoint(self, checkpoints),
            Answer::Snapshot(_) | Answer::Messages { .. } | Answer::Prompt(_) => {}
        }
        Vec::new()
    }

    /// What was not sent comes back into the field, before what was written since.
    fn refused(&mut self, error: &ClientError, unsent: Option<Unsent>) {
        self.desk.not_taken();
        (self.standing.going_back, self.said_better) = (None, None);
        self.warn(error.to_string());
        if let Some(Unsent { text, pictures }) = unsent {
            let written = taking_back::keep_what_ran(self, &text);
            self.prompt.restore(&written, pictures);
        }
    }

    /// A rule that was not kept comes back into the field, to be written better.
    fn rule_refused(&mut self, error: &AppError) {
        self.warn(error.words());
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
            CommandOutcome::Open(wanted) => return self.open(wanted),
            CommandOutcome::GoOn(wanted, words) => {
                self.opening = true;
                self.transcript.say(Tone::Plain, words);
                return vec![Effect::GoOn(wanted)];
            }
            CommandOutcome::Done => {}
        }
        Vec::new()
    }

    fn show_printed(&mut self, text: &str) {
        let lines = clean(text);
        let lines = lines.trim_end().lines().map(|line| line.replace('\t', "    "));
        let rows = lines.flat_map(|line| {
            let below = Span::raw(" ".repeat(column_of_text(&line, self.width)));
            wrap(&Line::raw(line), self.width, &Indent { first: Vec::new(), rest: vec![below] })
        });
        let rows = rows.collect();
        self.transcript.show(rows);
    }

    fn printed(&mut self, text: &str) {
        let Some(shell) = &mut self.shell else { return };
        shell.tail.push(text);
        shell.output.push(text);
    }

    fn left_out(&mut self, lines: usize) {
        let Some(shell) = &mut self.shell else { return };
        shell.tail.leave_out(lines);
        shell.output.leave_out();
    }

    fn shell_ended(&mut self, ended: Result<Option<i32>, String>) {
        let Some(Shell { command, output, .. }) = self.shell.take() else { return };
        self.expanded = false;
        let how = match ended {
            Ok(Some(0)) => String::new(),
            Ok(Some(code)) => format!("(exit code {code})"),
            Ok(None) => "(stopped)".to_owned(),
            Err(words) => return self.warn(words),
        };
        let text = output.told(&command, &how);
        self.show_printed(&last_lines(&text));
        self.ran.push(fenced(&text, ""));
    }

    /// A picture was found, or not; a dropped file that is none stays what was pasted.
    fn found_image(&mut self, found: Result<Option<Attachment>, String>, file: Option<String>) -> Vec<Effect> {
        let Some(file) = file else {
            match found {
                Ok(Some(picture)) => {
                    self.prompt.picture(picture);
                    self.go_to_field();
                }
                Ok(None) => self.tell("there is no picture in the clipboard"),
                Err(words) => self.warn(words),
            }
            return Vec::new();
        };
        let Some(index) = self.dropped.iter().position(|(dropped, _)| *dropped == file) else {
            return self.looked_at(&file, found);
        };
        let (_, pasted) = self.dropped.remove(index);
        if let Ok(Some(picture)) = found {
            self.prompt.picture_for(&pasted, picture);
        }
        Vec::new()
    }
}

/// The first line and the last ones of what a command printed: not all of a flood is for the scrollback.
fn last_lines(text: &str) -> String {
    let hidden = text.lines().count().saturating_sub(SHOWN_LINES);
    let Some((first, rest)) = text.split_once('\n').filter(|_| hidden > 0) else { return text.to_owned() };
    let shown: Vec<&str> = rest.lines().skip(hidden).collect();
    format!("{first}\n… {}\n{}", figures::count(hidden, "earlier line", "earlier lines"), shown.join("\n"))
}

/// Where the last column of a table's row begins, so that what does not fit goes on below it; at the margin for what
/// is no such row.
fn column_of_text(line: &str, width: usize) -> usize {
    let indented = line.len() - line.trim_start_matches(' ').len();
    let columns = line.trim_end().rfind("  ").map(|at| line.get(..at + 2).unwrap_or(line).width());
    columns.filter(|column| *column <= width / 2).unwrap_or(indented.min(width / 2))
}
