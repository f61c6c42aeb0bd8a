//! Where skills are: in the project, nearest first, then the person's own, then in folders of the settings. Of two with
//! one name the first that may be used counts.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use neco_config::{Env, stays_in};
use neco_safety::path::later::guard_skills;
use neco_safety::path::open_without_links;

use super::head::{Head, HeadError, named};
use super::kept::KeptHeads;
use super::skill_hooks::{self, SkillHooksError};
use super::{FILE, TRUSTED};
use crate::folder_files::{FolderError, FolderFiles, stamp};
use crate::hooks::Hook;

/// The folders of skills in a project.
const OF_PROJECT: [&str; 3] = [".neco/skills", ".agents/skills", ".claude/skills"];

/// The same in the home folder.
const OF_HOME: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The most skills of all places, and entries of a place that are looked at.
const MOST: usize = 2000;
const MOST_ENTRIES: usize = 20_000;

/// Folders between a place and a skill.
const DEPTH: usize = 2;

/// Bytes of all skills of folders that are read in one look to know what trust in them is trust in. What was read is
/// known the next time.
const MOST_HASHED: u64 = 256 * 1024 * 1024;

/// Bytes in which a head has to end, and bytes of a whole file.
const MOST_OF_HEAD: u64 = 16 * 1024;
pub(super) const MOST_OF_FILE: u64 = 256 * 1024;

/// Whose skill it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkillOrigin {
    /// The person's own.
    Person,
    /// That of a folder, which has to be trusted.
    Folder(PathBuf),
}

impl SkillOrigin {
    /// The folder that has to be trusted.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Person => None,
            Self::Folder(folder) => Some(folder),
        }
    }
}

/// A skill, as its head says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// What its head says.
    pub head: Head,
    /// Its folder, every link resolved.
    pub folder: PathBuf,
    /// Its file, as it was found.
    pub file: PathBuf,
    /// Whose it is.
    pub origin: SkillOrigin,
    /// What trust in it is trust in; none for the person's own.
    pub hash: Option<String>,
    /// The folder of the plugin that brings it.
    pub plugin: Option<PathBuf>,
    /// The folder whose files may be read where it is used: its own, or that of all skills beside it.
    pub readable: PathBuf,
}

impl Skill {
    /// Its name with that of the plugin before it, as Claude Code has it; none where no plugin brings it.
    pub fn full_name(&self) -> Option<String> {
        let plugin = self.plugin.as_ref()?.file_name()?.to_string_lossy();
        Some(if self.name.contains(':') { self.name.clone() } else { format!("{plugin}:{}", self.name) })
    }

    /// Whether it has this name, or this one in full.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.full_name().is_some_and(|full| full.eq_ignore_ascii_case(name))
    }
}

/// The skills that there are, trusted or not, nearest first.
#[derive(Clone, Debug, Default)]
pub struct FoundSkills {
    /// The skills.
    pub skills: Vec<Skill>,
    /// What is to be said of files that are no skills.
    pub notices: Vec<SkillNotice>,
}

/// That a file is no skill that could be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillNotice {
    /// The file; the folder of several that are too many.
    pub file: PathBuf,
    /// Why it is left out.
    pub why: String,
}

impl fmt::Display for SkillNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.file.display(), self.why)
    }
}

/// The skills that count, and those whose name another one has.
#[derive(Clone, Debug, Default)]
pub struct Chosen {
    /// Those that count, by name; one of a plugin whose name another one has, by its name in full.
    pub skills: Vec<Skill>,
    /// Those that do not, each with the file of the one that does.
    pub shadowed: Vec<(Skill, PathBuf)>,
}

impl FoundSkills {
    /// Those that count among the ones that are on.
    pub fn choose(&self, is_on: impl Fn(&Skill) -> bool) -> Chosen {
        let mut chosen = Chosen::default();
        let mut by_name: HashMap<Cow<'_, str>, &Skill> = HashMap::new();
        for skill in self.skills.iter().filter(|skill| is_on(skill)) {
            let name = match by_name.get(skill.name.as_str()) {
                None => Cow::Borrowed(skill.name.as_str()),
                Some(known) => match skill.full_name().filter(|full| !by_name.contains_key(full.as_str())) {
                    Some(full) => Cow::Owned(full),
                    None => {
                        chosen.shadowed.push((skill.clone(), known.file.clone()));
                        continue;
                    }
                },
            };
            let mut one = skill.clone();
            if let Cow::Owned(full) = &name {
                one.name.clone_from(full);
            }
            by_name.insert(name, skill);
            chosen.skills.push(one);
        }
        chosen
    }
}

/// A folder of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillPlace {
    /// The folder.
    pub path: PathBuf,
    /// Whose skills these are.
    pub origin: SkillOrigin,
    /// The folder of the plugin that brings them.
    pub plugin: Option<PathBuf>,
    /// Whether only skills lie there: a folder of the settings may hold anything besides.
    pub is_all_skills: bool,
}

impl SkillPlace {
    /// A folder of the person's own skills.
    pub fn of_person(path: PathBuf) -> Self {
        Self { path, origin: SkillOrigin::Person, plugin: None, is_all_skills: true }
    }

    /// A folder of a plugin: the person said yes to it, so its skills are their own.
    pub fn of_plugin(path: PathBuf, plugin: &Path) -> Self {
        Self { plugin: Some(plugin.to_owned()), ..Self::of_person(path) }
    }
}

/// Keeps agents from making or changing skills without a question that count as the person's own: those of these places,
/// and those that were found where links lead.
pub fn guard(places: &[SkillPlace], found: &FoundSkills) {
    let real = |path: &Path| {
        let above = |above: &Path| Some(above.canonicalize().ok()?.join(path.strip_prefix(above).ok()?));
        path.ancestors().find_map(above).unwrap_or_else(|| path.to_owned())
    };
    let own = places.iter().filter(|place| place.origin == SkillOrigin::Person && place.plugin.is_none());
    let places: HashSet<PathBuf> = own.map(|place| real(&place.path)).collect();
    places.iter().cloned().for_each(guard_skills);
    let own = found.skills.iter().filter(|skill| skill.origin == SkillOrigin::Person && skill.plugin.is_none());
    let mut guarded: Option<&Path> = None;
    for skill in own {
        // Most lie beside each other.
        let around = skill.folder.parent();
        if around.is_some() && around == guarded && skill.file.starts_with(&skill.folder) {
            continue;
        }
        guarded = around.filter(|around| places.contains(*around));
        guard_skills(skill.folder.clone());
        // A link may lead elsewhere with the file alone.
        if !skill.file.starts_with(&skill.folder) {
            guard_skills(real(&skill.file));
        }
    }
}

/// The folders of skills for work in `cwd`, nearest first; `more` are those of the settings.
pub fn places(env: &Env, cwd: &Path, more: &[PathBuf]) -> Vec<SkillPlace> {
    let own = std::iter::once(env.config_dir().join("skills")).chain(OF_HOME.map(|name| env.home().join(name)));
    let more = more.iter().map(|path| SkillPlace { is_all_skills: false, ..SkillPlace::of_person(whole(env, path)) });
    let own: Vec<SkillPlace> = own.map(SkillPlace::of_person).chain(more).collect();
    let theirs = project_folders(cwd).into_iter().flat_map(|folder| {
        let origin = SkillOrigin::Folder(folder.clone());
        OF_PROJECT.map(|name| SkillPlace { origin: origin.clone(), ..SkillPlace::of_person(folder.join(name)) })
    });
    // In the home folder the person's own skills lie where a project's would.
    let theirs: Vec<SkillPlace> = theirs.filter(|place| own.iter().all(|own| own.path != place.path)).collect();
    theirs.into_iter().chain(own).collect()
}

/// Where a folder of the settings is: below the home folder where it begins with `~`, else below that of the settings.
pub fn whole(env: &Env, path: &Path) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(below) => env.home().join(below),
        Err(_) => env.config_dir().join(path),
    }
}

/// The folders from `cwd` up to the root of its repository; outside of one only the folder itself counts, as the folders
/// above may be anybody's.
fn project_folders(cwd: &Path) -> Vec<PathBuf> {
    let Ok(cwd) = std::path::absolute(cwd) else { return Vec::new() };
    let root = cwd.ancestors().find(|folder| folder.join(".git").exists());
    let above = cwd.ancestors().take_while(|folder| root.is_some_and(|root| folder.starts_with(root)));
    let folders: Vec<PathBuf> = above.map(Path::to_owned).collect();
    if folders.is_empty() { vec![cwd] } else { folders }
}

/// Looks for the skills of these places. Of a file that was looked at before nothing is read. `looked` is told each path
/// that decided about what was found before it is read, and what the system said of it where it was asked.
pub fn find(
    places: &[SkillPlace],
    data_dir: &Path,
    mut looked: impl FnMut(&Path, Option<&fs::Metadata>),
) -> FoundSkills {
    let search = Search::of(places, KeptHeads::new(data_dir), &mut looked);
    search.kept.close();
    search.found
}

/// The same for places that are only looked at once: nothing is known of them, and nothing is kept.
pub fn look(places: &[SkillPlace]) -> FoundSkills {
    Search::of(places, KeptHeads::default(), &mut |_, _| {}).found
}

struct Search<'l> {
    kept: KeptHeads,
    found: FoundSkills,
    /// Folders that were looked at: two places may be one.
    seen: HashSet<OsString>,
    /// Bytes that may still be read to know what trust in skills of folders is trust in.
    left: u64,
    looked: &'l mut dyn FnMut(&Path, Option<&fs::Metadata>),
}

/// Why a folder is no skill that could be used.
#[derive(Debug, thiserror::Error)]
enum LeftOut {
    #[error("{0}")]
    Head(#[from] HeadError),
    #[error("{0}")]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Hooks(#[from] SkillHooksError),
    #[error("it can't be read: {0}")]
    Io(#[from] io::Error),
    #[error("it leads out of its folder")]
    LeadsOut,
    #[error("it is no file")]
    NoFile,
    #[error("it has no name that could be one: letters, digits and hyphens, at most 64")]
    NoName,
    #[error("its head is longer than {} KB", MOST_OF_HEAD / 1024)]
    LongHead,
    #[error("the folders of these skills have more than {} MB; the rest is looked at the next time", MOST_HASHED / 1024 / 1024)]
    TooMuch,
}

/// What trust in the skill of a file is trust in, whose folder has this hash and which brings these hooks.
pub(super) fn trusted_as(file: &Path, folder: &str, hooks: &[Hook]) -> String {
    format!("skill {} {folder}{}", file.display(), skill_hooks::fingerprint(hooks))
}

/// The hooks that a skill brings; none where they are not understood, as it can't be used then.
pub fn hooks_brought(skill: &Skill) -> Vec<Hook> {
    if !skill.head.has_hooks {
        return Vec::new();
    }
    let Ok(text) = skill_hooks::text_of(&skill.file) else { return Vec::new() };
    skill_hooks::of_text(&text, &skill.file, &skill.origin).unwrap_or_default()
}

/// Reads all files of a skill of a folder, and hands them to `each`; says whether they are, to the byte, what was found.
///
/// # Errors
/// When they can't be read.
pub fn read_as_found(skill: &Skill, mut each: impl FnMut(&Path, &[u8])) -> Result<bool, FolderError> {
    let mut text = Vec::new();
    let hash = FolderFiles::of(&skill.folder, TRUSTED)?.hash_with(|name, bytes| {
        if name == Path::new(FILE) {
            text = bytes.to_vec();
        }
        each(name, bytes);
    })?;
    let hooks = skill_hooks::of_text(&skill_hooks::text_in(&text), &skill.file, &skill.origin);
    Ok(hooks.is_ok_and(|hooks| Some(trusted_as(&skill.file, &hash, &hooks)) == skill.hash))
}

impl<'l> Search<'l> {
    /// However many a repository has, the person's own are found; those of the repository are nearer.
    fn of(places: &[SkillPlace], kept: KeptHeads, looked: &'l mut dyn FnMut(&Path, Option<&fs::Metadata>)) -> Self {
        let (found, seen) = (FoundSkills::default(), HashSet::new());
        let mut search = Self { kept, found, seen, left: MOST_HASHED, looked };
        let (own, theirs): (Vec<&SkillPlace>, Vec<&SkillPlace>) =
            places.iter().partition(|place| place.origin == SkillOrigin::Person);
        own.into_iter().for_each(|place| search.place(place));
        let of_person = search.found.skills.len();
        theirs.into_iter().for_each(|place| search.place(place));
        search.found.skills.rotate_left(of_person);
        search
    }

    fn place(&mut self, place: &SkillPlace) {
        // A manifest may name a skill itself.
        if let Some(file) = place.plugin.as_ref().and_then(|_| fs::symlink_metadata(place.path.join(FILE)).ok()) {
            let path = place.path.join(FILE);
            (self.looked)(&path, None);
            return self.skill(&place.path, None, path, &file, place);
        }
        // A link of the person's own leads where they like.
        if place.origin.folder().is_some_and(|folder| !stays_in(&place.path, folder)) {
            (self.looked)(&place.path, None);
            return self.leave_out_place(place);
        }
        // Each with every link resolved, too.
        let resolved = fs::canonicalize(&place.path).unwrap_or_else(|_| place.path.clone());
        let (mut open, mut looked_at) = (vec![(place.path.clone(), resolved, 0)], 0);
        while let Some((here, resolved_here, depth)) = open.pop() {
            (self.looked)(&here, None);
            let Ok(entries) = fs::read_dir(&here) else { continue };
            let mut entries: Vec<fs::DirEntry> = entries.flatten().take(MOST_ENTRIES).collect();
            looked_at += entries.len();
            if looked_at >= MOST_ENTRIES {
                let why = format!("{MOST_ENTRIES} files and folders were looked at, and no more are");
                return self.found.notices.push(SkillNotice { file: here, why });
            }
            entries.sort_by_cached_key(fs::DirEntry::file_name);
            for entry in entries {
                let Ok(kind) = entry.file_type() else { continue };
                // What looks like a skill and is none is told.
                if depth > 0 && kind.is_file() && is_misspelt(&entry.file_name()) {
                    let why = format!("its file has to be called {FILE}");
                    self.found.notices.push(SkillNotice { file: entry.path(), why });
                }
                if !(kind.is_dir() || kind.is_symlink()) {
                    continue;
                }
                if self.found.skills.len() >= MOST {
                    let why = format!("there are more than {MOST} skills, and the person's own are taken first");
                    self.found.notices.push(SkillNotice { file: here, why });
                    return;
                }
                let folder = entry.path();
                let path = folder.join(FILE);
                let file = fs::symlink_metadata(&path);
                match file {
                    Ok(file) => {
                        (self.looked)(&path, Some(&file).filter(|file| !file.is_symlink()));
                        let resolved = (!kind.is_symlink()).then(|| resolved_here.join(entry.file_name()));
                        self.skill(&folder, resolved, path, &file, place);
                    }
                    Err(_) if kind.is_dir() && depth < DEPTH => {
                        let resolved = resolved_here.join(entry.file_name());
                        open.push((folder, resolved, depth + 1));
                    }
                    Err(_) => (self.looked)(&path, None),
                }
            }
        }
    }

    /// A folder of skills that a repository has elsewhere; one that is not there is none.
    fn leave_out_place(&mut self, place: &SkillPlace) {
        if fs::symlink_metadata(&place.path).is_ok() {
            self.found.notices.push(SkillNotice { file: place.path.clone(), why: LeftOut::LeadsOut.to_string() });
        }
    }

    fn skill(
        &mut self,
        folder: &Path,
        resolved: Option<PathBuf>,
        file: PathBuf,
        found: &fs::Metadata,
        place: &SkillPlace,
    ) {
        match self.read(folder, resolved, file, found, place) {
            Ok(Some(skill)) => self.found.skills.push(skill),
            Ok(None) => {}
            Err(why) => {
                self.found.notices.push(SkillNotice { file: folder.join(FILE), why: why.to_string() });
            }
        }
    }

    fn read(
        &mut self,
        folder: &Path,
        resolved: Option<PathBuf>,
        file: PathBuf,
        found: &fs::Metadata,
        place: &SkillPlace,
    ) -> Result<Option<Skill>, LeftOut> {
        // Links of a person lead where they like; those of a repository stay in it.
        let resolved = match resolved.filter(|_| place.origin.folder().is_none()) {
            Some(resolved) => resolved,
            None => fs::canonicalize(folder)?,
        };
        if let Some(of) = place.origin.folder() {
            let inside = fs::canonicalize(of).is_ok_and(|of| resolved.starts_with(of));
            if !inside {
                return Err(LeftOut::LeadsOut);
            }
        }
        if !self.seen.insert(resolved.clone().into_os_string()) {
            return Ok(None);
        }
        let (file, found) = match (&place.origin, found.is_symlink()) {
            (_, false) => (file, found.clone()),
            (SkillOrigin::Person, true) => (fs::canonicalize(&file)?, fs::metadata(&file)?),
            // It could be any file of the machine.
            (SkillOrigin::Folder(_), true) => return Err(LeftOut::LeadsOut),
        };
        if !found.is_file() {
            return Err(LeftOut::NoFile);
        }
        let head = self.kept.head(&file, stamp(&found), || head_of(&file))?;
        let of_folder = || named(&folder.file_name()?.to_string_lossy());
        let name = head.name.clone().or_else(of_folder).ok_or(LeftOut::NoName)?;
        let hash = match &place.origin {
            SkillOrigin::Person => None,
            SkillOrigin::Folder(_) => Some(self.hash(&file, &resolved, &head, &place.origin)?),
        };
        let (origin, plugin) = (place.origin.clone(), place.plugin.clone());
        let is_beside = |folder: &&Path| place.is_all_skills && folder.as_os_str() == resolved;
        let beside = file.parent().filter(is_beside).and_then(Path::parent);
        let readable = beside.unwrap_or(&resolved).to_owned();
        Ok(Some(Skill { name, head, folder: resolved, file, origin, hash, plugin, readable }))
    }

    /// What trust in a skill is trust in: where it is, its files, and what its hooks run besides.
    fn hash(&mut self, file: &Path, folder: &Path, head: &Head, origin: &SkillOrigin) -> Result<String, LeftOut> {
        let files = FolderFiles::of(folder, TRUSTED)?;
        let left = &mut self.left;
        let hash = self.kept.hash(file, files.stamp(), || {
            *left = left.checked_sub(files.bytes()).ok_or(LeftOut::TooMuch)?;
            Ok::<_, LeftOut>(files.hash()?)
        })?;
        let hooks = match head.has_hooks {
            true => skill_hooks::of_text(&skill_hooks::text_of(file)?, file, origin)?,
            false => Vec::new(),
        };
        Ok(trusted_as(file, &hash, &hooks))
    }
}

/// Whether a file is called as that of a skill is, but for capitals.
fn is_misspelt(name: &std::ffi::OsStr) -> bool {
    name != FILE && name.to_str().is_some_and(|name| name.eq_ignore_ascii_case(FILE))
}

/// The name of the skill of a folder; none where it is no skill.
pub fn read_one(folder: &Path) -> Option<String> {
    let own = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    head_of(&folder.join(FILE)).ok()?.name.or_else(|| named(&own))
}

/// The head of a file, of which no more is read than that.
fn head_of(file: &Path) -> Result<Head, LeftOut> {
    let mut bytes = Vec::new();
    open_without_links(file)?.take(MOST_OF_HEAD).read_to_end(&mut bytes)?;
    let is_cut = bytes.len() as u64 == MOST_OF_HEAD;
    match Head::read(&String::from_utf8_lossy(&bytes)) {
        Ok((head, _)) => Ok(head),
        Err(HeadError::Open) if is_cut => Err(LeftOut::LongHead),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(place: &Path, name: &str, description: &str) {
        fs::create_dir_all(place.join(name)).unwrap();
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nDo it.\n");
        fs::write(place.join(name).join(FILE), text).unwrap();
    }

    struct House {
        _kept: tempfile::TempDir,
        env: Env,
        cwd: PathBuf,
        root: PathBuf,
    }

    fn house() -> House {
        let kept = tempfile::tempdir().unwrap();
        let base = kept.path().canonicalize().unwrap();
        let root = base.join("project");
        let cwd = root.join("deep/er");
        fs::create_dir_all(&cwd).unwrap();
        fs::create_dir(root.join(".git")).unwrap();
        let env = Env::for_test([("NECO_HOME", base.join("neco").to_str().unwrap())], base.join("home"));
        House { _kept: kept, env, cwd, root }
    }

    impl House {
        fn find(&self) -> FoundSkills {
            find(&places(&self.env, &self.cwd, &["more".into()]), self.env.data_dir(), |_, _| {})
        }
    }

    #[test]
    fn the_nearest_counts_and_only_what_is_on_shadows() {
        let house = house();
        let places = [
            house.cwd.join(".neco/skills"),
            house.cwd.join(".agents/skills"),
            house.root.join(".claude/skills"),
            house.env.config_dir().join("skills"),
            house.env.home().join(".agents/skills"),
            house.env.home().join(".claude/skills"),
            house.env.config_dir().join("more"),
        ];
        for (number, place) in places.iter().enumerate() {
            write(place, "same", &number.to_string());
        }
        write(&house.root.parent().unwrap().join(".claude/skills"), "above", "outside of the repository");
        write(&house.root.join(".claude/skills/group"), "grouped", "in a folder of its own");
        let found = house.find();
        assert_eq!(found.notices, []);
        let names: Vec<&str> = found.skills.iter().map(|skill| skill.head.description.as_str()).collect();
        assert_eq!(names, ["0", "1", "2", "in a folder of its own", "3", "4", "5", "6"]);
        let all = found.choose(|_| true);
        assert_eq!((all.skills.len(), all.shadowed.len()), (2, 6));
        assert_eq!(all.shadowed[0].1, all.skills[0].file);
        let own = found.choose(|skill| skill.origin == SkillOrigin::Person);
        assert_eq!((own.skills[0].head.description.as_str(), own.skills.len()), ("3", 1));
    }

    #[test]
    fn of_one_name_those_of_plugins_are_called_in_full() {
        let house = house();
        write(&house.env.config_dir().join("skills"), "review", "mine");
        let plugins: Vec<PathBuf> = ["one", "two"].map(|name| house.root.join("installed").join(name)).into();
        plugins.iter().for_each(|plugin| write(&plugin.join("skills"), "review", "theirs"));
        write(&plugins[0].join("skills"), "ship", "theirs");
        let mut places = places(&house.env, &house.cwd, &[]);
        places.extend(plugins.iter().map(|plugin| SkillPlace::of_plugin(plugin.join("skills"), plugin)));
        let chosen = look(&places).choose(|_| true);
        let names: Vec<&str> = chosen.skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!((names, chosen.shadowed.len()), (vec!["review", "one:review", "ship", "two:review"], 0));
        let called = |name: &str| chosen.skills.iter().find(|skill| skill.is_called(name)).map(|skill| &skill.folder);
        assert_eq!(called("ONE:review"), Some(&plugins[0].join("skills/review")));
        assert_eq!(called("two:review"), Some(&plugins[1].join("skills/review")));
        assert!(called("one:ship") == called("ship") && called("two:ship").is_none());
    }

    #[test]
    fn a_file_that_is_as_it_was_is_not_read() {
        let house = house();
        write(&house.env.config_dir().join("skills"), "mine", "as it is written");
        assert_eq!(house.find().skills[0].head.description, "as it is written");
        let kept = house.env.data_dir().join("skills.json");
        let text = fs::read_to_string(&kept).unwrap().replace("as it is written", "as it is kept");
        fs::write(&kept, text).unwrap();
        assert_eq!(house.find().skills[0].head.description, "as it is kept");
        write(&house.env.config_dir().join("skills"), "mine", "as it was edited");
        assert_eq!(house.find().skills[0].head.description, "as it was edited");
        fs::write(&kept, "{ broken").unwrap();
        assert_eq!(house.find().skills[0].head.description, "as it was edited");
    }

    #[test]
    fn a_hash_is_of_every_file_and_the_persons_own_have_none() {
        let house = house();
        write(&house.env.config_dir().join("skills"), "mine", "d");
        write(&house.root.join(".neco/skills"), "theirs", "d");
        let hash = |house: &House| house.find().skills.into_iter().filter_map(|skill| skill.hash).collect::<Vec<_>>();
        let before = hash(&house);
        assert_eq!((before.len(), &before), (1, &hash(&house)));
        fs::write(house.root.join(".neco/skills/theirs/more.md"), "x").unwrap();
        assert_ne!(before, hash(&house));
    }

    #[test]
    fn what_lies_in_a_folder_of_programs_is_trusted_too() {
        let house = house();
        write(&house.root.join(".neco/skills"), "theirs", "d");
        let hash = || house.find().skills.remove(0).hash;
        let mut before = hash();
        for folder in ["node_modules/x", ".venv/bin", "scripts/__pycache__", ".git/hooks"] {
            let folder = house.root.join(".neco/skills/theirs").join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("run"), "x").unwrap();
            let now = hash();
            assert_ne!(before, now, "{}", folder.display());
            before = now;
        }
    }

    #[test]
    fn a_repository_with_many_leaves_the_persons_own_their_places() {
        let house = house();
        for number in 0..MOST + 3 {
            write(&house.root.join(".neco/skills"), &format!("theirs-{number}"), "d");
        }
        write(&house.env.config_dir().join("skills"), "mine", "d");
        let found = house.find();
        assert_eq!(
            (found.skills.len(), found.skills[MOST - 1].name.as_str()),
            (MOST, "mine"),
            "the nearest stays first"
        );
        assert_eq!(found.notices.len(), 1);
        assert_eq!(found.notices[0].file, house.root.join(".neco/skills"));
        assert!(found.notices[0].why.contains("more than 2000"), "{}", found.notices[0]);
    }

    #[test]
    fn a_folder_that_is_a_link_is_the_repositorys_only_inside_of_it_and_the_persons_anywhere() {
        let house = house();
        let elsewhere = house.root.parent().unwrap().join("elsewhere");
        write(&elsewhere, "out", "d");
        write(&house.root.join("shared"), "in", "d");
        fs::create_dir_all(house.root.join(".neco")).unwrap();
        fs::create_dir_all(house.root.join(".claude")).unwrap();
        fs::create_dir_all(house.env.config_dir()).unwrap();
        std::os::unix::fs::symlink("../../elsewhere", house.root.join(".neco/skills")).unwrap();
        std::os::unix::fs::symlink("../shared", house.root.join(".claude/skills")).unwrap();
        let found = house.find();
        let names: Vec<&str> = found.skills.iter().map(|skill| skill.name.as_str()).collect();
        assert_eq!(names, ["in"]);
        assert!(found.notices[0].to_string().contains(".neco/skills is left out: it leads out"), "{:?}", found.notices);
        std::os::unix::fs::symlink(&elsewhere, house.env.config_dir().join("skills")).unwrap();
        assert_eq!(house.find().skills.len(), 2);
    }

    #[test]
    fn a_place_of_empty_folders_is_left_in_time() {
        let house = house();
        let place = house.root.join(".neco/skills");
        for number in 0..=MOST_ENTRIES {
            fs::create_dir_all(place.join(number.to_string())).unwrap();
        }
        let found = house.find();
        assert!(found.notices[0].why.contains("no more are"), "{:?}", found.notices);
    }

    #[test]
    fn what_is_read_to_be_shown_is_what_was_found_or_it_is_told() {
        let house = house();
        let place = house.root.join(".neco/skills");
        write(&place, "theirs", "d");
        fs::write(place.join("theirs/run.sh"), "one").unwrap();
        let skill = house.find().skills.remove(0);
        let mut seen = Vec::new();
        assert!(read_as_found(&skill, |name, bytes| seen.push((name.to_owned(), bytes.to_vec()))).unwrap());
        assert_eq!((seen.len(), seen[1].1.as_slice()), (2, b"one".as_slice()));
        fs::write(place.join("theirs/run.sh"), "two").unwrap();
        assert!(!read_as_found(&skill, |_, _| ()).unwrap());
    }

    #[test]
    fn a_file_with_another_spelling_is_told() {
        let house = house();
        let folder = house.env.config_dir().join("skills/small");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("skill.md"), "---\ndescription: d\n---\n").unwrap();
        let found = house.find();
        assert!(found.skills.is_empty() && found.notices.len() == 1, "{:?}", found.notices);
        assert!(
            found.notices[0].to_string().ends_with("small/skill.md is left out: its file has to be called SKILL.md")
        );
    }

    #[test]
    fn nothing_is_kept_where_there_is_nothing() {
        let house = house();
        assert!(house.find().skills.is_empty());
        assert!(!house.env.data_dir().join("skills.json").exists());
    }
}
