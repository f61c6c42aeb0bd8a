//! What is known of a call while it is judged.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use neco_proto::{Mode, Risk};

use super::action::{Action, Touch, Who};
use super::canonical::canonical;
use super::pattern::{TASK, starts_agents};
use super::rule::Ruling;
use crate::command::{Examined, Place, Reached, examine};

/// The tool that types into programs, and the one that runs what is typed.
const TYPES: &str = "process";
const RUNS: &str = "bash";

/// A call, on whose behalf it is made, and what can be found out about both.
pub(super) struct Facts<'a> {
    pub action: &'a Action<'a>,
    pub who: &'a Who<'a>,
    pub place: &'a Place,
    /// The name of the tool in lower case.
    pub tool: String,
    /// What the command line is made of.
    pub examined: Option<Examined>,
    /// How much harm it could do, the command looked at.
    pub risk: Risk,
    /// Why nobody can tell whether it reaches what a rule closes.
    pub unclear: Option<String>,
    canonical: OnceCell<String>,
    reached: OnceCell<Vec<Reached>>,
}

impl<'a> Facts<'a> {
    pub fn of(action: &'a Action<'a>, who: &'a Who<'a>, place: &'a Place) -> Self {
        let examined = action.command.map(|line| examine(line, &starting(place, action.folder)));
        let risk = examined.as_ref().map_or(action.risk, |examined| action.risk.max(examined.risk));
        Self {
            action,
            who,
            place,
            tool: action.tool.to_lowercase(),
            examined,
            risk,
            unclear: None,
            canonical: OnceCell::new(),
            reached: OnceCell::new(),
        }
    }

    /// Nobody can tell whether it reaches what a rule closes: a person has to.
    pub fn make_unclear(&mut self, why: String) {
        self.risk = Risk::Critical;
        self.unclear = Some(why);
    }

    /// The arguments with their names sorted.
    pub fn canonical(&self) -> &str {
        self.canonical.get_or_init(|| canonical(self.action.arguments))
    }

    /// The folder that the command would start in.
    pub fn folder(&self) -> PathBuf {
        straight(self.action.folder.unwrap_or(&self.place.workspace))
    }

    /// Whether it is a command that is known to change nothing.
    pub fn is_known_safe(&self) -> bool {
        self.action.risk <= Risk::Low
            && self.examined.as_ref().is_some_and(|examined| examined.risk == Risk::Safe && examined.clean)
    }

    /// Whether its command is typed into a program that runs already.
    pub fn is_typed(&self) -> bool {
        self.examined.is_some() && self.tool == TYPES
    }

    /// The tools that a rule may mean which asks or denies: what is typed into a shell is run by it.
    pub fn tools(&self, decision: Ruling) -> impl Iterator<Item = &str> {
        let narrows = decision != Ruling::Allow;
        let typed = (narrows && self.is_typed()).then_some(RUNS);
        // Elsewhere there is one way to start an agent, and a rule against it means every one.
        let starts = (narrows && starts_agents(&self.tool)).then_some(TASK);
        std::iter::once(self.tool.as_str()).chain(typed).chain(starts)
    }

    /// Whether it publishes commits, or gives up some that were made.
    pub fn touches_history(&self) -> bool {
        self.examined.as_ref().is_some_and(|examined| examined.history)
    }

    /// Whether the mode forbids it, so that only a rule that names the mode can say otherwise.
    pub fn is_closed_by_mode(&self) -> bool {
        match self.who.mode {
            Mode::Agent | Mode::Debug => false,
            Mode::Plan => !self.action.touch.changes_nothing() && !self.is_known_safe(),
            Mode::Ask => match self.action.touch {
                Touch::Reads => self.risk > Risk::Safe,
                Touch::Network => false,
                Touch::Writes | Touch::Runs => true,
            },
        }
    }

    /// Why it is never done, whatever rules say.
    pub fn never(&self) -> Option<&str> {
        self.examined.as_ref().and_then(|examined| examined.never.as_deref())
    }

    /// Every path that the call names, by its words alone.
    pub fn reached(&self) -> &[Reached] {
        self.reached
            .get_or_init(|| self.examined.as_ref().map(|examined| examined.reached(self.place)).unwrap_or_default())
    }
}

/// The place, for a command that starts in `folder`.
pub(super) fn starting(place: &Place, folder: Option<&Path>) -> Place {
    match folder {
        Some(folder) => Place { folder: folder.to_path_buf(), ..place.clone() },
        None => place.clone(),
    }
}

/// A path without `.` and `..`.
pub(super) fn straight(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut straight = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                straight.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => straight.push(component),
        }
    }
    straight
}
