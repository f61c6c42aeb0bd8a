//! Skills: which count in a folder, what one says, what is wrong with them, and new ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use neco_config::{Env, stays_in};
use neco_ext::folder_files::FolderFiles;
use neco_ext::plugins::Source;
use neco_ext::skills::{
    self as ext, AddedSkill, AddedSkills, FILE, FoundSkills, Head, Skill, SkillNotice, SkillOrigin, SkillPlace,
    copy_to, new_in,
};
use neco_proto::app::agents::{Level, Problem};
use neco_proto::app::settings::{NewSetting, SetSettings};
use neco_proto::app::skills::{
    AddSkills, CheckSkills, CheckedSkills, ListSkills, LookAtSkills, LookedAtSkills, NewSkill, ShowSkill, ShownSkill,
    SkillList, SkillRow, SwitchSkill, SwitchedSkill, WrittenSkills,
};
use neco_proto::app::{AppError, Origin, Trouble};
use neco_view::slash::nearest;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::fetched::{Fetched, Held, fetch, until_dropped};
use crate::opening::on_thread;
use crate::plugins::brings::of_skill;
use crate::settings;
use crate::workspace::plugged::Plugged;

/// Skills that are named to whoever named none.
const MOST_NAMED: usize = 20;

pub(crate) async fn list(app: &StorelessApp, request: ListSkills) -> Result<SkillList, AppError> {
    let app = app.clone();
    on_thread(move || Ok(listed(&app, &looked(&app, &request.folder)))).await
}

fn listed(app: &StorelessApp, plugged: &Plugged) -> SkillList {
    let found = plugged.found_skills();
    let chosen = plugged.skills();
    let mut skills: Vec<SkillRow> = chosen.skills.iter().map(|skill| row(plugged, skill, None)).collect();
    let off = found.skills.iter().filter(|skill| !plugged.may_use(skill));
    skills.extend(off.map(|skill| row(plugged, skill, None)));
    skills.extend(chosen.shadowed.iter().map(|(skill, by)| row(plugged, skill, Some(by))));
    // What can't be read of it is told by who wants to update one.
    let added = AddedSkills::new(app.env.config_dir()).all().unwrap_or_default();
    for row in &mut skills {
        let of = |added: &&AddedSkill| Path::new(&row.file).parent() == Some(&added.folder);
        row.source = added.iter().find(of).map(|added| added.source.to_string());
    }
    let told = |notice: &SkillNotice| format!("{} is left out: {}", app.env.shown(&notice.file), notice.why);
    let others = found.notices.iter().filter(|notice| !is_of_skill(notice));
    SkillList { skills, broken: broken(&app.env, &found.notices), warnings: others.map(told).collect() }
}

/// Whether it is about one skill, and not about a folder of them.
pub(crate) fn is_of_skill(notice: &SkillNotice) -> bool {
    notice.file.file_name().is_some_and(|name| name.eq_ignore_ascii_case(FILE))
}

/// The skills that can't be used, with the line of each that is the reason.
pub(crate) fn broken(env: &Env, notices: &[SkillNotice]) -> Vec<Problem> {
    let line = |file: &Path| {
        let text = ext::text_of(file).ok()?;
        Some(Head::read(&text).err()?.line(&text))
    };
    let problem = |notice: &SkillNotice| Problem {
        file: env.shown(&notice.file),
        line: line(&notice.file).unwrap_or(1),
        level: Level::Error,
        what: notice.why.clone(),
    };
    notices.iter().filter(|notice| is_of_skill(notice)).map(problem).collect()
}

pub(crate) async fn show(app: &StorelessApp, request: ShowSkill) -> Result<ShownSkill, AppError> {
    let app = app.clone();
    on_thread(move || shown(&looked(&app, &request.folder), &request)).await
}

fn shown(plugged: &Plugged, request: &ShowSkill) -> Result<ShownSkill, AppError> {
    let (found, chosen) = (plugged.found_skills(), plugged.skills());
    let name = request.name.trim_start_matches(['$', '/']);
    let of = |skills: &[Skill]| skills.iter().find(|skill| skill.is_called(name)).cloned();
    let skill = of(&chosen.skills).or_else(|| of(&found.skills)).ok_or_else(|| unknown(name, found))?;
    let text = ext::text_of(&skill.file).map_err(failed)?;
    let said = Head::read(&text).map(|(_, said)| said.trim().to_owned()).unwrap_or_default();
    let files = FolderFiles::of(&skill.folder, ext::LIMITS).map(|files| named(&files)).unwrap_or_default();
    Ok(ShownSkill {
        skill: row(plugged, &skill, None),
        allowed_tools: skill.head.allowed_tools.clone(),
        model: skill.head.model.clone(),
        agent: skill.head.fork.then(|| skill.head.agent.clone().unwrap_or_else(|| "general".to_owned())),
        hooks: skill.head.has_hooks,
        files,
        text: said,
    })
}

fn named(files: &FolderFiles) -> Vec<String> {
    files.names().filter(|name| *name != Path::new(FILE)).map(|name| name.display().to_string()).collect()
}

pub(crate) fn unknown(name: &str, found: &FoundSkills) -> AppError {
    let near = nearest(name, found.skills.iter().map(|skill| skill.name.as_str()));
    let meant = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    AppError::new(Trouble::NotFound, format!("there is no skill {name:?}{meant}"))
        .hint("`neco skill list` lists them; `neco skill validate` says why one is missing.")
}

/// Writes into the person's settings that a skill is on or off.
pub(crate) async fn switch(app: &StorelessApp, request: SwitchSkill) -> Result<SwitchedSkill, AppError> {
    let SwitchSkill { folder, name, enabled } = request;
    let name = name.trim().trim_start_matches(['$', '/']).to_owned();
    let (here, at, wanted) = (app.clone(), folder.clone(), name.clone());
    let off = on_thread(move || {
        let mut off = here.settings(Path::new(&at))?.config.skills.off;
        let plugged = looked(&here, &at);
        let found = plugged.found_skills();
        let named: Vec<&Skill> = found.skills.iter().filter(|skill| skill.is_called(&wanted)).collect();
        // One that is gone may still be written there.
        if named.is_empty() && !(enabled && off.contains(&wanted)) {
            return Err(unknown(&wanted, found));
        }
        let is_meant = |one: &String| *one == wanted || named.iter().any(|skill| skill.is_called(one));
        match enabled {
            true => off.retain(|one| !is_meant(one)),
            false if off.iter().any(is_meant) => {}
            false => off.push(wanted),
        }
        Ok(off)
    })
    .await?;
    let value = if off.is_empty() { Value::Null } else { off.into() };
    let settings = vec![NewSetting { key: "skills.off".to_owned(), value }];
    let written = settings::set(app, SetSettings { folder, settings }).await?;
    Ok(SwitchedSkill { name, file: written.file })
}

fn row(plugged: &Plugged, skill: &Skill, shadowed_by: Option<&PathBuf>) -> SkillRow {
    SkillRow {
        name: skill.name.clone(),
        description: skill.head.description.clone(),
        origin: match skill.origin {
            SkillOrigin::Person => Origin::Person,
            SkillOrigin::Folder(_) => Origin::Folder,
        },
        file: skill.file.display().to_string(),
        trusted: plugged.is_trusted(skill),
        off: plugged.is_off(skill),
        argument: skill.head.argument_hint.clone(),
        by_model: !skill.head.only_person,
        by_person: !skill.head.only_model,
        shadowed_by: shadowed_by.map(|file| file.display().to_string()),
        source: None,
    }
}

/// What the folder brings; with broken settings what it brings all the same.
pub(crate) fn looked(app: &StorelessApp, folder: &str) -> Plugged {
    let folder = Path::new(folder);
    let (loaded, _) = app.settings_to_show(folder);
    Plugged::look(&app.env, folder, &loaded)
}

pub(crate) async fn check(app: &StorelessApp, request: CheckSkills) -> Result<CheckedSkills, AppError> {
    let app = app.clone();
    on_thread(move || Ok(CheckedSkills { problems: problems(&app, &request)? })).await
}

/// What is wrong with the skills that are named, or with all that there are.
fn problems(app: &StorelessApp, request: &CheckSkills) -> Result<Vec<Problem>, AppError> {
    let here = Path::new(&request.folder);
    let plugged = looked(app, &request.folder);
    let found = plugged.found_skills();
    let mut files: Vec<PathBuf> = Vec::new();
    for named in &request.files {
        files.extend(meant(here, named, found).ok_or_else(|| {
            invalid(format!("{named} is no skill: no folder with a {FILE}, and none of {}", names(found)))
        })?);
    }
    if request.files.is_empty() {
        files.extend(
            found.skills.iter().map(|skill| &skill.file).chain(found.notices.iter().map(|one| &one.file)).cloned(),
        );
    }
    let left_out = |file: &PathBuf| found.notices.iter().find(|notice| notice.file == *file);
    Ok(files.iter().flat_map(|file| wrong(app, here, file, left_out(file))).collect())
}

/// The names of skills, for whoever named none of them.
fn names(found: &FoundSkills) -> String {
    let names: Vec<&str> = found.skills.iter().map(|skill| skill.name.as_str()).take(MOST_NAMED).collect();
    format!("the skills here: {}", names.join(", "))
}

/// The files of the skills that are meant by a path or by a name; nothing where there is no such skill.
fn meant(here: &Path, named: &str, found: &FoundSkills) -> Option<Vec<PathBuf>> {
    let path = here.join(named);
    let folder = if path.ends_with(FILE) { path.parent()?.to_owned() } else { path };
    let below: Vec<PathBuf> = below(&folder).iter().map(|folder| folder.join(FILE)).collect();
    if folder.is_dir() && !below.is_empty() {
        return Some(below);
    }
    let name = named.trim_start_matches(['$', '/']);
    let is_named = |folder: &Path| folder.parent().and_then(Path::file_name).is_some_and(|own| own == name);
    let off = found.notices.iter().map(|notice| &notice.file).filter(|file| is_named(file));
    let on = found.skills.iter().filter(|skill| skill.is_called(name)).map(|skill| &skill.file);
    Some(on.chain(off).cloned().collect()).filter(|files: &Vec<PathBuf>| !files.is_empty())
}

/// What is wrong with the skill of a file, and why it is left out, unless that was said.
pub(crate) fn wrong(app: &StorelessApp, here: &Path, file: &Path, left_out: Option<&SkillNotice>) -> Vec<Problem> {
    let shown = file.strip_prefix(here).map_or_else(|_| app.env.shown(file), |inside| inside.display().to_string());
    let problem = |line, level, what| Problem { file: shown.clone(), line, level, what };
    let error = |what: String| problem(1, Level::Error, what);
    if let Some(notice) = left_out.filter(|notice| !notice.file.ends_with(FILE)) {
        return vec![error(notice.why.clone())];
    }
    let text = match ext::text_of(file) {
        Ok(text) => text,
        Err(why) => return vec![error(left_out.map_or_else(|| why.to_string(), |notice| notice.why.clone()))],
    };
    let folder = file.parent().unwrap_or(file);
    let found = ext::check(&fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()), &text);
    let level = |problem: &ext::SkillProblem| if problem.is_error { Level::Error } else { Level::Warning };
    let found: Vec<Problem> = found.into_iter().map(|one| problem(one.line, level(&one), one.what)).collect();
    let is_told = found.iter().any(|problem| problem.level == Level::Error);
    let untold = left_out.filter(|_| !is_told).map(|notice| error(notice.why.clone()));
    found.into_iter().chain(untold).collect()
}

pub(crate) async fn new(app: &StorelessApp, request: NewSkill) -> Result<WrittenSkills, AppError> {
    let place = place(app, &request.folder, request.project)?;
    let written = move || new_in(&place, &request.name, request.description.as_deref()).map_err(invalid);
    let file = on_thread(written).await?;
    Ok(WrittenSkills { files: vec![file.display().to_string()] })
}

/// Where new skills go: in a project nowhere but there, wherever a link that it brings leads.
fn place(app: &StorelessApp, folder: &str, project: bool) -> Result<PathBuf, AppError> {
    let folder = Path::new(folder);
    let place = if project { folder.join(".neco/skills") } else { app.env.config_dir().join("skills") };
    let there = place.ancestors().find(|above| above.symlink_metadata().is_ok());
    match there.filter(|there| project && !stays_in(there, folder)) {
        Some(link) => Err(invalid(format!("{} leads out of the project: nothing is written there", link.display()))),
        None => Ok(place),
    }
}

pub(crate) async fn look(app: &StorelessApp, request: LookAtSkills) -> Result<LookedAtSkills, AppError> {
    let env = app.env.clone();
    until_dropped(move |gone| {
        let wanted = Wanted::fetch(&env, &request, gone)?;
        let brings = wanted.skills()?.iter().flat_map(|skill| of_skill(skill, None)).collect();
        Ok(LookedAtSkills { brings, seen: wanted.seen() })
    })
    .await
}

pub(crate) async fn add(app: &StorelessApp, request: AddSkills) -> Result<WrittenSkills, AppError> {
    let (env, place) = (app.env.clone(), place(app, &request.folder, request.project)?);
    until_dropped(move |gone| {
        let AddSkills { folder, from, names, all, seen, .. } = request;
        let wanted = Wanted::fetch(&env, &LookAtSkills { folder, from, names, all }, gone)?;
        if wanted.seen() != seen {
            return Err(invalid("the skills are not what was looked at any more: look at them again"));
        }
        // All of those that were named, or none.
        let is_there = |one: &&Taken| place.join(name_of(&one.held.folder)).exists();
        let there: Vec<String> = wanted.taken.iter().filter(is_there).map(|one| name_of(&one.held.folder)).collect();
        if !there.is_empty() && (!all || there.len() == wanted.taken.len()) {
            let words = format!("{} lies in {} already", there.join(", "), place.display());
            return Err(
                invalid(words).hint("`neco skill update` takes it from where it came; `neco skill remove` removes it.")
            );
        }
        let mut files = Vec::new();
        for one in wanted.taken.iter().filter(|one| !is_there(one)) {
            let to = place.join(copy_to(&place, &one.held.folder, &one.hash).map_err(invalid)?);
            files.push(to.join(FILE).display().to_string());
            AddedSkills::new(env.config_dir()).keep(wanted.added(to, one)).map_err(failed)?;
        }
        Ok(WrittenSkills { files })
    })
    .await
}

/// Skills that were fetched, and are wanted.
struct Wanted {
    fetched: Fetched,
    source: Source,
    taken: Vec<Taken>,
}

/// One of them.
struct Taken {
    /// Where it is looked at and copied from.
    held: Held,
    /// Its folder below what was fetched.
    below: PathBuf,
    hash: String,
}

impl Wanted {
    fn fetch(env: &Env, request: &LookAtSkills, gone: &CancellationToken) -> Result<Self, AppError> {
        let source = Source::parse(&request.from, Path::new(&request.folder), env).map_err(invalid)?;
        let (fetched, at) = fetch(env, &source, gone)?;
        let folders = below(&at);
        let names: Vec<String> = folders.iter().map(|folder| name_of(folder)).collect();
        let missing: Vec<&str> =
            request.names.iter().filter(|name| !names.contains(name)).map(String::as_str).collect();
        if folders.is_empty() {
            return Err(invalid(format!("{} has no skill: no folder of it has a {FILE}", request.from)));
        }
        if !missing.is_empty() || folders.len() > 1 && request.names.is_empty() && !request.all {
            let words = match missing.is_empty() {
                true => format!("{} has {} skills", request.from, names.len()),
                false => format!("{} has no skill {}", request.from, missing.join(", ")),
            };
            let hint = format!("It has: {}. Name those that you want, or say --all.", names.join(", "));
            return Err(AppError::new(Trouble::Invalid, words).hint(hint));
        }
        let is_wanted = |name: &String| request.names.is_empty() || request.names.contains(name);
        // A skill may lie there more than once, for several agents.
        let (mut taken, mut seen) = (Vec::new(), BTreeSet::new());
        for (folder, name) in folders.into_iter().zip(&names).filter(|(_, name)| is_wanted(name)) {
            let below = folder.strip_prefix(&at).unwrap_or(&folder).to_owned();
            let held = fetched.hold(folder, ext::LIMITS)?;
            let hash = FolderFiles::of(&held.folder, ext::LIMITS).and_then(|files| files.hash()).map_err(invalid)?;
            if seen.insert((name.clone(), hash.clone())) {
                taken.push(Taken { held, below, hash });
            }
        }
        Ok(Self { fetched, source, taken })
    }

    /// What a yes to them is a yes to.
    fn seen(&self) -> String {
        self.taken.iter().map(|one| one.hash.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// What is kept of one that is there now, so that it can be fetched anew.
    fn added(&self, folder: PathBuf, one: &Taken) -> AddedSkill {
        let (commit, hash) = (self.fetched.commit.clone(), one.hash.clone());
        AddedSkill { folder, source: self.source.clone(), below: one.below.clone(), commit, hash }
    }

    /// The skills, read as they will be when they are used.
    fn skills(&self) -> Result<Vec<Skill>, AppError> {
        let places: Vec<SkillPlace> =
            self.taken.iter().map(|one| SkillPlace::of_plugin(one.held.folder.clone(), &one.held.folder)).collect();
        let found = ext::look(&places);
        match found.notices.is_empty() {
            true => Ok(found.skills),
            false => Err(invalid(found.notices.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))),
        }
    }
}

/// What a skill of a folder is called.
fn name_of(folder: &Path) -> String {
    let own = || folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    ext::read_one(folder).unwrap_or_else(own)
}

/// The folders of skills in a folder, itself included.
fn below(folder: &Path) -> Vec<PathBuf> {
    const DEPTH: usize = 4;
    const MOST: usize = 500;
    let (mut found, mut open) = (Vec::new(), vec![(folder.to_owned(), 0)]);
    while let Some((here, depth)) = open.pop() {
        if here.join(FILE).is_file() {
            found.push(here);
            continue;
        }
        let entries = fs::read_dir(&here).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let inside = folders.filter(|entry| entry.file_name() != ".git").map(|entry| (entry.path(), depth + 1));
        open.extend(inside.filter(|(_, depth)| *depth <= DEPTH && found.len() < MOST));
    }
    found.sort();
    found
}
