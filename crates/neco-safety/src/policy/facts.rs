//! What is known of a call while it is judged.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use neco_proto::{Mode, Risk, ToolOrigin};
use serde_json::json;

use super::action::{Action, Confinement, SideEffect, Who};
use super::arguments;
use super::canonical::{canonical, canonical_marked};
use crate::command::{Examined, Named, Place, Reached, examine, straighten};
use crate::path::{Shape, is_own_credential, own_credentials};
use crate::tools::{self, Effects, THEIR_FILE};
use crate::world::Freedom;

/// The tool that types into programs.
const TYPES: &str = "process";
/// The tool that tells of files what comes nearest to what it was told is in them.
const PATCHES: &str = "apply_patch";
/// What the git tool runs.
const GIT: &str = "git";

/// Which files are told as arguments.
#[derive(Clone, Copy)]
pub(super) enum Told {
    /// Those that the tool says it would touch.
    Files,
    /// Those that its command names.
    CommandFiles,
}

/// A call, on whose behalf it is made, and what can be found out about both.
pub(super) struct Facts<'a> {
    pub action: &'a Action<'a>,
    pub who: &'a Who<'a>,
    pub place: &'a Place,
    /// The one spelling of the tool's name.
    pub tool: Cow<'a, str>,
    /// What it does that rules are about.
    effects: Effects,
    /// What the command line is made of.
    pub examined: Option<Examined>,
    /// How much harm it could do, the command looked at.
    pub risk: Risk,
    /// Why nobody can tell whether it reaches what a rule closes.
    pub unclear: Option<String>,
    canonical: OnceCell<String>,
    reached: OnceCell<Vec<Reached>>,
    told: [OnceCell<Vec<String>>; 4],
}

impl<'a> Facts<'a> {
    pub fn of(action: &'a Action<'a>, who: &'a Who<'a>, place: &'a Place) -> Self {
        let examined = action.command.map(|line| examine(line, &starting(place, action.folder)));
        let risk = examined.as_ref().map_or(action.risk, |examined| action.risk.max(examined.risk));
        let tool = tools::spelling(action.tool);
        let effects = effects(&tool, examined.as_ref());
        Self {
            action,
            who,
            place,
            tool,
            effects,
            examined,
            risk,
            unclear: None,
            canonical: OnceCell::new(),
            reached: OnceCell::new(),
            told: Default::default(),
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
        straighten(self.action.folder.unwrap_or(&self.place.workspace).to_path_buf())
    }

    /// Whether it is a command that is known to change nothing.
    pub fn is_known_safe(&self) -> bool {
        self.action.risk <= Risk::Low
            && self.examined.as_ref().is_some_and(|examined| examined.risk == Risk::Safe && examined.clean)
    }

    /// Whether its tool knows more against its command than the line tells, as that a link on it leads out: no rule for
    /// the words of a command is about that.
    pub fn is_told_apart(&self) -> bool {
        self.examined.is_some() && self.action.risk == Risk::High && self.action.because.is_some()
    }

    /// Whether its command is typed into a program that runs already.
    pub fn is_typed(&self) -> bool {
        self.examined.is_some() && self.tool == TYPES
    }

    /// What it does that rules are about which ask or deny.
    pub fn effects(&self) -> Effects {
        self.effects
    }

    /// What it may do to files that a rule names: a command reads and writes what it reaches, git shows it, and a patch
    /// that does not fit is told what comes nearest. What is known to change nothing writes nothing. What people plugged
    /// in may do anything.
    pub fn effects_on_files(&self) -> Effects {
        match &self.examined {
            Some(_) if self.is_known_safe() => Effects::READS,
            Some(_) => Effects::READS.and(Effects::WRITES),
            None if self.is_plugged_in() => Effects::READS.and(Effects::WRITES),
            None if self.tool == PATCHES || self.tool == GIT => Effects::READS,
            None => Effects::NONE,
        }
    }

    /// Whether an MCP server offers the tool: what it does happens there, and is no command of ours.
    pub fn is_of_server(&self) -> bool {
        matches!(self.action.origin, ToolOrigin::Mcp { .. })
    }

    /// Whether the tool is a script that somebody wrote.
    pub fn is_script(&self) -> bool {
        matches!(self.action.origin, ToolOrigin::Script { .. })
    }

    /// Whether people plugged the tool in: nobody knows what it does with the files that it is told of.
    fn is_plugged_in(&self) -> bool {
        self.is_of_server() || self.is_script()
    }

    /// Whether it publishes commits, or gives up some that were made.
    pub fn touches_history(&self) -> bool {
        self.examined.as_ref().is_some_and(|examined| examined.history.is_some())
    }

    /// Whether the mode forbids it, so that only a rule that names the mode can say otherwise.
    pub fn is_closed_by_mode(&self) -> bool {
        match self.who.mode {
            Mode::Agent | Mode::Debug => false,
            Mode::Plan => !self.action.touch.changes_nothing() && !self.is_known_safe(),
            Mode::Ask => match self.action.touch {
                SideEffect::Reads => self.risk > Risk::Safe,
                SideEffect::Network => false,
                SideEffect::Writes | SideEffect::Runs => true,
            },
        }
    }

    /// Why it is never done, whatever rules say.
    pub fn never(&self) -> Option<&str> {
        let by_itself = self.examined.as_ref().and_then(|examined| examined.never.as_deref());
        by_itself.or_else(|| self.reaches_credentials().then_some(CREDENTIALS))
    }

    /// Whether it names credentials of Neco's own. Where a box hides them, only a word that surely is a path names one.
    fn reaches_credentials(&self) -> bool {
        let counts = |reached: &&Reached| reached.surely || !self.has_hiding_box();
        let named = || self.reached().iter().filter(counts).any(|reached| is_credential(&reached.named));
        self.action.paths.iter().any(|path| is_own_credential(path)) || named()
    }

    /// Whether the command runs in a box that hides what is closed. One that asks to run without it does not.
    pub fn has_hiding_box(&self) -> bool {
        self.who.confinement == Confinement::Boxed && self.action.freedom != Freedom::Unboxed
    }

    /// The files as the arguments of a tool that takes one, each from the root and from the workspace on: as patterns
    /// over arguments see them, ours or those of Gemini CLI.
    pub fn told(&self, files: Told, gemini: bool) -> &[String] {
        let [own, theirs, own_of_command, theirs_of_command] = &self.told;
        let cell = match (files, gemini) {
            (Told::Files, false) => own,
            (Told::Files, true) => theirs,
            (Told::CommandFiles, false) => own_of_command,
            (Told::CommandFiles, true) => theirs_of_command,
        };
        let argument = |path: &Path| match gemini {
            true => canonical_marked(&json!({ THEIR_FILE: path.to_string_lossy() })),
            false => canonical(&json!({ "path": path.to_string_lossy() })),
        };
        cell.get_or_init(|| {
            let below = |path: &Path| path.strip_prefix(&self.place.workspace).ok().map(argument);
            self.files(files).flat_map(|path| [Some(argument(path)), below(path)]).flatten().collect()
        })
    }

    fn files(&self, files: Told) -> impl Iterator<Item = &Path> {
        let (own, of_command) = match files {
            Told::Files => (self.action.paths, [].as_slice()),
            Told::CommandFiles => ([].as_slice(), self.reached()),
        };
        let named = of_command.iter().filter_map(|reached| match &reached.named {
            Named::Path(path) => Some(path),
            Named::Pattern(_) => None,
        });
        own.iter().chain(named).map(PathBuf::as_path)
    }

    /// The files that the tool says it would touch, and those that what is plugged in is told of.
    pub fn files_of_tool(&self) -> Vec<PathBuf> {
        let told = self.is_plugged_in().then_some(Told::CommandFiles);
        let mut files: Vec<PathBuf> = self.files(Told::Files).map(Path::to_path_buf).collect();
        files.extend(told.into_iter().flat_map(|told| self.files(told)).map(Path::to_path_buf));
        files.dedup();
        files
    }

    /// Every path that the call names, by its words alone.
    pub fn reached(&self) -> &[Reached] {
        self.reached.get_or_init(|| match &self.examined {
            Some(examined) => examined.reached(self.place),
            None if self.is_plugged_in() => self.named_in_arguments(),
            None => Vec::new(),
        })
    }

    /// What a plugged-in tool is told of files. Nobody knows which of them only look, so each may be changed.
    fn named_in_arguments(&self) -> Vec<Reached> {
        let named = arguments::named(self.action.arguments, self.place).into_iter();
        named.map(|named| Reached { named, changes: true, surely: true }).collect()
    }
}

/// Why nothing is done with credentials of Neco's own.
const CREDENTIALS: &str = "it names credentials of Neco itself, which let whoever has them do everything";

fn is_credential(named: &Named) -> bool {
    match named {
        Named::Path(path) => is_own_credential(path),
        Named::Pattern(word) => {
            let all_of = |place: PathBuf| Shape::of_glob(&format!("{}/**", globset::escape(&place.to_string_lossy())));
            own_credentials().into_iter().flat_map(all_of).any(|own| word.may_mean(&own))
        }
    }
}

/// What a call does that rules are about: what its tool does, and what its command line is known to.
fn effects(tool: &str, examined: Option<&Examined>) -> Effects {
    let runs = if examined.is_some() { Effects::RUNS } else { Effects::NONE };
    let runs_git = examined.is_some_and(|examined| examined.mentions(&[GIT.to_owned()]));
    let git = if runs_git { Effects::GIT } else { Effects::NONE };
    tools::effects(tool).and(runs).and(git)
}

/// The place, for a command that starts in `folder`.
pub(super) fn starting(place: &Place, folder: Option<&Path>) -> Place {
    match folder {
        Some(folder) => Place { folder: folder.to_path_buf(), ..place.clone() },
        None => place.clone(),
    }
}
