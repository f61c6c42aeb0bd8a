//! Skills that are there: fetched anew from where they were added, and removed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_ext::folder_files::FolderFiles;
use neco_ext::skills::{
    self as ext, AddedSkill, AddedSkills, FILE, LIMITS, SkillOrigin, SkillPlace, places, replace, whole,
};
use neco_proto::app::skills::{
    LookAtSkillRemoval, LookAtSkillUpdate, RemoveSkill, SkillRemoval, SkillUpdate, UpdateSkill, WrittenSkills,
};
use neco_proto::app::{AppError, Trouble};
use tokio_util::sync::CancellationToken;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::fetched::{Fetched, fetch, until_dropped};
use crate::opening::on_thread;
use crate::plugins::candidate::file_change;
use crate::skills::{is_of_skill, looked, unknown};

/// A skill that was fetched anew.
struct Anew {
    added: AddedSkill,
    fetched: Fetched,
    /// Its folder there.
    folder: PathBuf,
    /// What it is there and here, to the byte.
    there: String,
    here: String,
}

impl Anew {
    fn fetch(env: &Env, file: &str, gone: &CancellationToken) -> Result<Self, AppError> {
        let here = Path::new(file).parent().unwrap_or(Path::new(file));
        let added = AddedSkills::new(env.config_dir()).all().map_err(failed)?;
        let added = added.into_iter().find(|added| added.folder == here).ok_or_else(|| {
            let words = format!("nothing is known of where {} comes from", env.shown(here));
            AppError::new(Trouble::NotFound, words)
                .hint("`neco skill add FOLDER|ADDRESS` keeps where a skill comes from.")
        })?;
        let (fetched, at) = fetch(env, &added.source, gone)?;
        let folder = at.join(&added.below);
        let inside = folder.canonicalize().is_ok_and(|folder| at.canonicalize().is_ok_and(|at| folder.starts_with(at)));
        if !inside || !folder.join(FILE).is_file() {
            let hint = "It stays as it is; `neco skill remove` removes it.";
            let words = format!("{} has no skill {} any more", added.source, added.below.display());
            return Err(AppError::new(Trouble::NotFound, words).hint(hint));
        }
        let found = ext::look(&[SkillPlace::of_plugin(folder.clone(), &folder)]);
        if let Some(notice) = found.notices.first() {
            return Err(invalid(format!("{} can't be used: {}", added.source, notice.why)));
        }
        let (there, here) = (hash_of(&folder)?, hash_of(&added.folder)?);
        Ok(Self { added, fetched, folder, there, here })
    }

    fn seen(&self) -> String {
        format!("{} {}", self.there, self.here)
    }

    /// What is other, file by file.
    fn changes(&self) -> Result<Vec<String>, AppError> {
        let files = |folder: &Path| FolderFiles::of(folder, LIMITS).map_err(invalid);
        let (old, new) = (files(&self.added.folder)?, files(&self.folder)?);
        let names: BTreeSet<&Path> = old.names().chain(new.names()).collect();
        Ok(names.into_iter().flat_map(|name| file_change(name, &self.added.folder, &self.folder)).collect())
    }
}

fn hash_of(folder: &Path) -> Result<String, AppError> {
    FolderFiles::of(folder, LIMITS).and_then(|files| files.hash()).map_err(invalid)
}

pub(crate) async fn look_at_update(app: &StorelessApp, request: LookAtSkillUpdate) -> Result<SkillUpdate, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let anew = Anew::fetch(&env, &request.file, gone)?;
        Ok(SkillUpdate { changes: anew.changes()?, edited: anew.here != anew.added.hash, seen: anew.seen() })
    })
    .await
}

pub(crate) async fn update(app: &StorelessApp, request: UpdateSkill) -> Result<WrittenSkills, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let anew = Anew::fetch(&env, &request.file, gone)?;
        if anew.seen() != request.seen {
            return Err(invalid("the skill is not what was looked at any more: look at it again"));
        }
        replace(&anew.added.folder, &anew.folder, &anew.there).map_err(invalid)?;
        let files = vec![anew.added.folder.join(FILE).display().to_string()];
        let added = AddedSkill { commit: anew.fetched.commit, hash: anew.there, ..anew.added };
        AddedSkills::new(env.config_dir()).keep(added).map_err(failed)?;
        Ok(WrittenSkills { files })
    })
    .await
}

pub(crate) async fn look_at_removal(app: &StorelessApp, request: LookAtSkillRemoval) -> Result<SkillRemoval, AppError> {
    let app = app.clone();
    on_thread(move || removal(&app, &request.folder, &request.name)).await
}

pub(crate) async fn remove(app: &StorelessApp, request: RemoveSkill) -> Result<SkillRemoval, AppError> {
    let app = app.clone();
    on_thread(move || {
        let found = removal(&app, &request.folder, &request.name)?;
        if found.seen != request.seen {
            return Err(invalid("the skill is not what was looked at any more: look at it again"));
        }
        let at = Path::new(&found.at);
        let removed = if found.leads_to.is_some() { fs::remove_file(at) } else { fs::remove_dir_all(at) };
        removed.map_err(|error| failed(format!("{}: {error}", found.at)))?;
        AddedSkills::new(app.env.config_dir()).forget(at).map_err(failed)?;
        Ok(found)
    })
    .await
}

/// What goes with a skill of a name: one of the person's own, also one that can't be used.
fn removal(app: &StorelessApp, folder: &str, name: &str) -> Result<SkillRemoval, AppError> {
    let name = name.trim_start_matches(['$', '/']);
    let plugged = looked(app, folder);
    let found = plugged.found_skills();
    let own = own_places(app, folder);
    let is_named = |file: &Path| file.parent().and_then(Path::file_name).is_some_and(|own| own == name);
    let is_own = |file: &Path| own.iter().any(|place| file.starts_with(place));
    let skills = || found.skills.iter().filter(|skill| skill.is_called(name));
    let mine = skills().find(|skill| skill.origin == SkillOrigin::Person && skill.plugin.is_none());
    let broken = found.notices.iter().filter(|notice| is_of_skill(notice)).map(|notice| &notice.file);
    let broken = broken.filter(|file| is_named(file) && is_own(file)).find_map(|file| file.parent());
    let at = match (mine, broken) {
        (Some(skill), _) => match skill.file.parent().filter(|parent| is_link(parent)) {
            Some(link) => link.to_owned(),
            None => skill.folder.clone(),
        },
        (None, Some(folder)) => folder.to_owned(),
        (None, None) => {
            return Err(skills().next().map_or_else(|| unknown(name, found), |other| not_yours(app, other)));
        }
    };
    if !is_own(&at) {
        let words = format!("{} lies outside of your folders of skills: a link leads there", app.env.shown(&at));
        return Err(invalid(words).hint("Remove the link yourself."));
    }
    if is_link(&at) {
        let leads_to = fs::read_link(&at).map_err(failed)?.display().to_string();
        let seen = leads_to.clone();
        return Ok(SkillRemoval { at: at.display().to_string(), leads_to: Some(leads_to), files: Vec::new(), seen });
    }
    let files = all_files(&at).map_err(|error| failed(format!("{}: {error}", at.display())))?;
    let seen = files.join("\0");
    Ok(SkillRemoval { at: at.display().to_string(), leads_to: None, files, seen })
}

/// The folders that the person's own skills lie in.
fn own_places(app: &StorelessApp, folder: &str) -> Vec<PathBuf> {
    let (loaded, _) = app.settings_to_show(Path::new(folder));
    let more: Vec<PathBuf> = loaded.config.skills.folders.iter().map(|path| whole(&app.env, Path::new(path))).collect();
    let places = places(&app.env, Path::new(folder), &more);
    places.into_iter().filter(|place| place.origin == SkillOrigin::Person).map(|place| place.path).collect()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.is_symlink())
}

/// Why a skill is not removed that is not the person's own.
fn not_yours(app: &StorelessApp, skill: &ext::Skill) -> AppError {
    let file = app.env.shown(&skill.file);
    let name = &skill.name;
    match (&skill.plugin, skill.origin.folder()) {
        (Some(plugin), _) => {
            let plugin = plugin.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            invalid(format!("{name} comes with the plugin {plugin}")).hint(format!(
                "`neco plugin remove {plugin}` removes the plugin with all that it brings, `neco plugin disable {plugin}` \
                 switches it off."
            ))
        }
        (None, Some(_)) | (None, None) => invalid(format!("{name} belongs to this project: {file}"))
            .hint("Delete its folder in the project yourself; a skill that is not trusted is off anyway."),
    }
}

/// The files below a folder; what is no folder is one, and links are not followed.
fn all_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let (mut files, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(here) = open.pop() {
        for entry in fs::read_dir(&here)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else {
                files.push(path.strip_prefix(folder).unwrap_or(&path).display().to_string());
            }
        }
    }
    files.sort();
    Ok(files)
}
