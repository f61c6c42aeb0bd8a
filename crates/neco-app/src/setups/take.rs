//! One piece of a set-up after the other.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;

use neco_ext::folder_files::FolderFiles;
use neco_ext::skills::LIMITS;
use neco_port::setups::places::project_of;
use neco_port::setups::{Level, Piece, Take};
use neco_proto::app::AppError;
use neco_proto::app::setups::{SetupAgent, SetupOutcome, SetupRow};
use neco_proto::clean::clean_line;

use super::{copied, kept, plugin, written};
use crate::app::LocalApp;
use crate::error::invalid;

/// What is wanted of a set-up.
pub(super) struct Wanted {
    pub(super) agent: SetupAgent,
    /// The folder that is worked in.
    pub(super) folder: String,
    /// Whether sessions come in.
    pub(super) sessions: bool,
    /// Whether anything is written.
    pub(super) writes: bool,
}

/// A set-up that is being taken over.
pub(super) struct Taking<'a> {
    pub(super) app: &'a LocalApp,
    pub(super) wanted: Wanted,
    project: Option<PathBuf>,
    /// What a preview would have written, by its place: an import finds it there when the next piece comes.
    planned: RefCell<BTreeMap<String, String>>,
}

/// What became of a piece.
pub(super) struct Done {
    pub(super) outcome: SetupOutcome,
    /// Where it is now.
    pub(super) to: Option<String>,
    /// What is to be said besides.
    pub(super) words: Option<String>,
}

impl Done {
    pub(super) fn taken(to: String) -> Self {
        Self { outcome: SetupOutcome::Taken, to: Some(to), words: None }
    }

    pub(super) fn already(to: String) -> Self {
        Self { outcome: SetupOutcome::Already, to: Some(to), words: None }
    }

    /// Something else is in its place, and stays.
    pub(super) fn stays(to: String, words: impl Into<String>) -> Self {
        Self { outcome: SetupOutcome::Yours, to: Some(to), words: Some(words.into()) }
    }

    fn only(outcome: SetupOutcome) -> Self {
        Self { outcome, to: None, words: None }
    }
}

impl<'a> Taking<'a> {
    pub(super) fn new(app: &'a LocalApp, wanted: Wanted) -> Self {
        let project = project_of(&app.env, std::path::Path::new(&wanted.folder));
        Self { app, wanted, project, planned: RefCell::default() }
    }

    /// Takes one piece, and tells what became of it.
    pub(super) async fn take(&self, piece: Piece) -> SetupRow {
        let Piece { kind, name, from, take, mut words } = piece;
        let places = if self.wanted.writes { Vec::new() } else { places(&name, &take) };
        let plugin = if let Take::Plugin(wanted) = &take { Some(wanted.clone()) } else { None };
        let done = self.done(&name, take).await.unwrap_or_else(|error| {
            let words = Some(error.message);
            Done { outcome: SetupOutcome::Failed, to: None, words }
        });
        let done = self.as_planned(places, done);
        let outcome = match done.outcome {
            SetupOutcome::Taken if !words.is_empty() => SetupOutcome::Changed,
            outcome => outcome,
        };
        words.extend(done.words);
        let plugin = plugin.filter(|_| outcome == SetupOutcome::Yours);
        SetupRow {
            add: plugin.and_then(|wanted| plugin::to_add(self, &wanted)),
            kind: kind.into(),
            name: clean_line(&name),
            from: self.app.env.shown(&from),
            outcome: outcome.into(),
            to: done.to,
            words: clean_line(&words.join("; ")),
        }
    }

    async fn done(&self, name: &str, take: Take) -> Result<Done, AppError> {
        Ok(match take {
            Take::Set(settings) => written::set(self, settings).await?,
            Take::Server(level, server) => written::server(self, name, level, server).await?,
            Take::Hook(hook) => written::hook(self, &hook)?,
            Take::Rule(level, text) => written::rule(self, level, &text)?,
            Take::File(level, file) => copied::file(self, level, &file)?,
            Take::Skill(level, folder) => copied::skill(self, level, &folder)?,
            Take::Remember(memory) => kept::remember(self, memory).await?,
            Take::Sessions(program) => kept::sessions(self, program).await?,
            Take::Plugin(wanted) => plugin::plugin(self, &wanted)?,
            Take::Marketplace(name, from) => plugin::marketplace(self, &name, &from)?,
            Take::InPlace => Done::only(SetupOutcome::InPlace),
            Take::Already => Done::only(SetupOutcome::Already),
            Take::Yours => Done::only(SetupOutcome::Yours),
            Take::NotSupported => Done::only(SetupOutcome::NotSupported),
            Take::Failed => Done::only(SetupOutcome::Failed),
        })
    }

    /// What becomes of a piece whose places others of the same set-up would have taken by then.
    fn as_planned(&self, places: Vec<(String, String)>, done: Done) -> Done {
        let mut planned = self.planned.borrow_mut();
        let is_new = matches!(done.outcome, SetupOutcome::Taken | SetupOutcome::Changed);
        if !is_new || places.is_empty() {
            return done;
        }
        let found = |(place, what): &(String, String)| planned.get(place).map(|other| other == what);
        let found: Vec<Option<bool>> = places.iter().map(found).collect();
        if found.contains(&Some(false)) {
            return Done::stays(
                done.to.unwrap_or_default(),
                "another piece of this set-up is there by then, and stays",
            );
        }
        planned.extend(places);
        if found.iter().all(Option::is_some) { Done::already(done.to.unwrap_or_default()) } else { done }
    }

    /// The project that pieces of a project go to.
    pub(super) fn project(&self) -> Result<&PathBuf, AppError> {
        self.project.as_ref().ok_or_else(|| invalid("there is no project here"))
    }

    /// Neco's folder that pieces go to. In a project no link may lead elsewhere.
    pub(super) fn own_folder(&self, level: Level) -> Result<PathBuf, AppError> {
        match level {
            Level::Person => Ok(self.app.env.config_dir().to_owned()),
            Level::Project => {
                let folder = self.project()?.join(".neco");
                if folder == *self.app.env.config_dir() || folder.symlink_metadata().is_ok_and(|facts| !facts.is_dir())
                {
                    return Err(invalid(format!("{} is no folder of the project", self.app.env.shown(&folder))));
                }
                Ok(folder)
            }
        }
    }
}

/// Where a piece is written, each place with what is written there.
fn places(name: &str, take: &Take) -> Vec<(String, String)> {
    let one = |place: String, what: &str| vec![(place, what.to_owned())];
    match take {
        Take::Set(settings) => settings.iter().map(|new| (new.key.clone(), new.value.to_string())).collect(),
        Take::Server(level, server) => {
            one(format!("server {level:?} {name}"), &serde_json::Value::Object(server.clone()).to_string())
        }
        Take::Hook(hook) => one(format!("hook {} {:?} {:?}", hook.event, hook.matcher, hook.command), ""),
        Take::Rule(level, text) => one(format!("rule {level:?} {text}"), ""),
        Take::File(level, file) => one(format!("file {level:?} {}", file.path.display()), &file.content),
        Take::Skill(level, folder) => {
            let own = folder.file_name().unwrap_or_default().display();
            let hash = FolderFiles::of(folder, LIMITS).and_then(|files| files.hash()).unwrap_or_default();
            one(format!("skill {level:?} {own}"), &hash)
        }
        Take::Remember(memory) => one(format!("memory {}", memory.title), &memory.content),
        Take::Plugin(_) | Take::Marketplace(..) => Vec::new(),
        Take::Sessions(_) | Take::InPlace | Take::Already | Take::Yours | Take::NotSupported | Take::Failed => {
            Vec::new()
        }
    }
}
