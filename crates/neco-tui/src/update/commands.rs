//! What slash commands do.

use neco_proto::{Command, Mode, Query};
use neco_view::slash::{Outside, Setting, Slash};

use super::effect::Effect;
use super::{going_back, picking, reports};
use crate::app::WindowState;
use crate::host::Wanted;
use crate::panel;
use crate::text::figures;
use crate::theme::{Theme, ThemeName};
use crate::transcript::block::{Drawn, Tone};

impl WindowState {
    /// Runs a slash command.
    pub(super) fn run(&mut self, slash: &Slash) -> Vec<Effect> {
        match slash {
            Slash::Help => {
                let rows = panel::help_rows(&self.keymap, &self.offers.custom, self.width, &self.theme);
                self.transcript.show(rows);
            }
            Slash::Todo => self.todo(),
            Slash::Plan => self.plan(),
            Slash::Cost => {
                let rows = reports::cost_rows(self.standing.usage, &self.agents, self.width, &self.theme);
                self.transcript.show(rows);
            }
            Slash::Tree if self.agents.is_empty() => self.tell("no other agent is at work"),
            Slash::Tree => return picking::panel(self),
            Slash::Expand => return self.expand(),
            Slash::Theme(name) => {
                self.theme = Theme::new(ThemeName::named(name).unwrap_or_default());
                self.tell(format!("theme {name}"));
            }
            Slash::How(setting) => {
                let words = self.how(*setting);
                self.transcript.say(Tone::Plain, words);
            }
            Slash::New => return self.open(Wanted::New),
            Slash::Resume(id) if self.standing.session_id.starts_with(id.as_str()) => {
                self.tell("this window is in that session already");
            }
            Slash::Resume(id) => return self.open(Wanted::Id(id.clone())),
            Slash::Mode(mode) => return send(Command::SetMode { mode: *mode }),
            Slash::Approval(approval) => return send(Command::SetApproval { approval: *approval }),
            Slash::Model(model) => return send(Command::SetModel { model: model.clone() }),
            Slash::Generation(generation) => return send(Command::SetGeneration { generation: *generation }),
            Slash::Compact(focus) => return send(Command::Compact { focus: focus.clone() }),
            Slash::Rename(title) => return send(Command::Rename { title: title.clone() }),
            Slash::Undo => return picking::ask_for_list(self, Effect::Ask(Query::UndoPreview)),
            Slash::Redo => return picking::ask_for_list(self, Effect::Ask(Query::RedoPreview)),
            Slash::Context(view) => {
                self.context_view = *view;
                return vec![Effect::Ask(Query::Context)];
            }
            Slash::Rewind(wanted) => return going_back::go_back_to(self, wanted),
            Slash::Copy if self.last_answer.is_empty() => self.tell("there is no answer yet"),
            Slash::Copy => {
                self.tell("copied");
                return vec![Effect::Copy(self.last_answer.clone())];
            }
            Slash::Exit => return vec![Effect::Quit],
            Slash::Outside(Outside::Sessions, _) => return picking::ask_for_list(self, Effect::Sessions),
            Slash::Outside(Outside::Models, _) => return picking::ask_for_list(self, Effect::Models),
            Slash::Outside(Outside::Permissions, _) => return picking::ask_for_list(self, Effect::Rules),
            Slash::Outside(outside, argument) => return vec![Effect::Outside(*outside, argument.clone())],
            Slash::Custom { name, argument } => {
                self.tried_command = Some(format!("/{name} {argument}").trim_end().to_owned());
                return vec![Effect::Custom(name.clone(), argument.clone())];
            }
        }
        Vec::new()
    }

    fn how(&self, setting: Setting) -> String {
        let standing = &self.standing;
        match setting {
            Setting::Mode => setting.told(standing.mode.name()),
            Setting::Approval => setting.told(standing.approval.name()),
            Setting::Generation => setting.told(&standing.generation.to_string()),
            Setting::Theme => setting.told(self.theme.name.name()),
        }
    }

    /// Opens another session, unless that would stop work.
    pub(super) fn open(&mut self, wanted: Wanted) -> Vec<Effect> {
        let live = self.agents.live();
        if self.standing.works() {
            self.warn("it is at work, and leaving the session would stop it: Esc stops it, then try again");
            return Vec::new();
        }
        if live > 0 {
            let agents = figures::count(live, "agent is", "agents are");
            self.warn(format!("{agents} at work, and leaving the session would pause them: Ctrl-T shows them"));
            return Vec::new();
        }
        self.opening = true;
        vec![Effect::Open(wanted)]
    }

    /// More of what runs; otherwise all that came of a call: the last one first, then those before it.
    pub(super) fn expand(&mut self) -> Vec<Effect> {
        if self.transcript.runs() || self.shell.is_some() {
            self.expanded = !self.expanded;
            return Vec::new();
        }
        let theme = self.theme;
        let with =
            Drawn { width: self.width, theme: &theme, now_ms: self.now_ms, frame: self.frame, expanded: self.expanded };
        match self.transcript.whole(self.expands, with) {
            Some(rows) => {
                self.expands += 1;
                self.transcript.show(rows);
            }
            None => {
                self.tell("no call to show more of");
                self.expands = 0;
            }
        }
        Vec::new()
    }

    fn todo(&mut self) {
        if self.standing.todos.is_empty() {
            self.tell("the todo list is empty");
            return;
        }
        let rows = panel::todo_rows(&self.standing.todos, self.width, usize::MAX, &self.theme);
        self.transcript.show(rows);
    }

    fn plan(&mut self) {
        match &self.standing.plan {
            Some(plan) => {
                let rows = panel::plan_rows(plan, self.width, &self.theme);
                self.transcript.show(rows);
            }
            None if self.standing.mode == Mode::Plan => self.tell("there is no plan yet"),
            None => {
                let mode = self.keymap.keys(crate::input::Action::Mode);
                self.tell(format!("there is no plan; {mode} goes to plan mode"));
            }
        }
    }
}

fn send(command: Command) -> Vec<Effect> {
    vec![Effect::Send(command)]
}
