//! What is plugged in: the user's own hooks, MCP servers, scripted tools and skills, those of plugins, and what the folder
//! would switch on by itself, which
//! counts only as far as a person trusts it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use neco_agent::context::PromptFile;
use neco_config::{Env, Loaded, PolicyFile, policy_files};
use neco_ext::Hook;
use neco_ext::hooks::find;
use neco_ext::mcp::{self, FoundServer, ServerSettings};
use neco_ext::plugins::{ActivePlugin, PluginStore};
use neco_ext::scripts::{self, Script};
use neco_ext::skills::{self, Chosen, FoundSkills, Skill};
use neco_proto::event::HookEvent;
use neco_proto::visible::visible_line;
use neco_safety::Trust;
use neco_safety::trust::TrustError;
use neco_session::roles::{Definitions, IsTrusted};
use neco_session::sources::prompt_files;
use neco_workspace::Watched;

use crate::workspace::own_commands::{self, OwnCommand, hash};
use crate::workspace::plugged_item::{Item, Kind, agent_hash, skill_hash};
use crate::workspace::told_files::{agent_places, folders_with_prompts};

/// What a person is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All that is there.
    All,
    /// The folders with something that nobody has decided about.
    News,
}

/// The hash of nothing: whatever is said to be trusted as this is not.
const NO_HASH: &str = "";

/// What is plugged in for work in a folder.
pub struct Plugged {
    own: Vec<Hook>,
    items: Vec<Item>,
    /// Those that guard calls in a trusted folder, and of which nobody can say whether they are what was trusted.
    unreadable: Vec<Hook>,
    own_servers: Vec<ServerSettings>,
    /// The folder's servers that are off by its settings or the user's: nobody has to trust them.
    off_servers: Vec<ServerSettings>,
    own_scripts: Vec<Script>,
    plugins: Vec<ActivePlugin>,
    /// Where the folder's commands are looked for.
    place: (Env, PathBuf),
    /// They themselves, once somebody asks: a start has no use for them.
    commands: OnceLock<Vec<Item>>,
    skills: FoundSkills,
    /// The names of those that the person has switched off.
    skills_off: Vec<String>,
    /// Whether there are still the same skills.
    pub(super) skill_files: Watched,
    pub(super) trust: Trust,
    rules: Vec<PolicyFile>,
    /// What is to be said about the files.
    pub notices: Vec<String>,
    /// Which of it says that a plugin is off that the person has on: its hooks guard nothing then.
    pub plugins_off: Vec<String>,
}

impl Plugged {
    /// Looks at what is there. Runs nothing.
    pub fn look(env: &Env, folder: &Path, loaded: &Loaded) -> Self {
        let found = find(env, folder, loaded);
        let mut notices = found.notices;
        let (plugins, said) = PluginStore::new(env.config_dir()).active(folder);
        let plugins_off: Vec<String> = said.iter().map(ToString::to_string).collect();
        notices.extend(plugins_off.iter().cloned());
        let trust = Trust::open(env.config_dir()).unwrap_or_else(|error| {
            notices.push(format!("No folder is trusted: {error}"));
            Trust::none()
        });
        let (theirs, mut own): (Vec<Hook>, Vec<Hook>) =
            found.hooks.into_iter().partition(|hook| hook.origin.folder().is_some());
        for plugin in &plugins {
            let (hooks, said) = plugin.hooks();
            own.extend(hooks);
            notices.extend(said);
        }
        let (mut items, mut unreadable) = (Vec::new(), Vec::new());
        for hook in theirs {
            match Item::of_hook(env, &hook) {
                Ok(item) => items.extend(item),
                Err(error) => {
                    notices.push(format!("The hook {:?} is left out: {error}", hook.command));
                    let is_trusted = hook.origin.folder().is_some_and(|folder| trust.is_trusted(folder));
                    unreadable.extend((is_trusted && hook.event == HookEvent::PreToolUse).then_some(hook));
                }
            }
        }
        let rules = policy_files(env, folder);
        items.extend(rules.iter().filter_map(Item::of_rules));
        for folder in folders_with_prompts(folder) {
            match prompt_files(&folder.join(".neco/prompts")) {
                Ok(prompts) => items.extend(prompts.into_iter().map(|prompt| Item::of_prompt(env, &folder, prompt))),
                Err(error) => notices.push(format!("Prompts are left out: {error}")),
            }
        }
        let definitions = Definitions::load(&agent_places(env, &plugins), folder);
        items.extend(definitions.untrusted().iter().map(|(file, wants)| Item::of_agent(env, file, wants)));
        let found = mcp::find(env, folder, loaded, &plugins);
        notices.extend(found.notices);
        let (theirs, own_servers): (Vec<FoundServer>, Vec<FoundServer>) =
            found.servers.into_iter().partition(|server| server.folder.is_some());
        let (on, off): (Vec<FoundServer>, Vec<FoundServer>) =
            theirs.into_iter().partition(|server| server.settings.enabled);
        let settings =
            |found: Vec<FoundServer>| found.into_iter().map(|server| server.settings).collect::<Vec<ServerSettings>>();
        let (own_servers, off_servers) = (settings(own_servers), settings(off));
        items.extend(on.into_iter().filter_map(|server| Item::of_server(server, &own_servers)));
        let mut own_scripts = Vec::new();
        let found = scripts::find(env, folder, loaded, &plugins);
        notices.extend(found.notices);
        for script in found.scripts {
            match &script.folder {
                Some(_) => items.extend(Item::of_script(script)),
                None => own_scripts.push(script.script),
            }
        }
        let more: Vec<PathBuf> = loaded.config.skills.folders.iter().map(PathBuf::from).collect();
        let mut places = skills::places(env, folder, &more);
        places.extend(plugins.iter().flat_map(ActivePlugin::skill_places));
        let mut skill_files = Watched::default();
        let skills = skills::find(&places, env.data_dir(), |path, found| match found {
            Some(file) => skill_files.add_found(path, file),
            None => skill_files.add(path),
        });
        skills::guard(&places, &skills);
        let skills_off = loaded.config.skills.off.clone();
        let on = skills.skills.iter().filter(|skill| !is_off(&skills_off, skill));
        items.extend(on.filter_map(|skill| Item::of_skill(env, skill, &skills.skills)));
        // Which server or skill takes the place of another is told where servers are looked at, not with every command.
        let (place, commands) = ((env.clone(), folder.to_owned()), OnceLock::new());
        Self {
            own,
            items,
            unreadable,
            own_servers,
            off_servers,
            own_scripts,
            plugins,
            skills,
            skills_off,
            skill_files,
            place,
            commands,
            trust,
            rules,
            notices,
            plugins_off,
        }
    }

    /// The plugins that are on.
    pub fn plugins(&self) -> &[ActivePlugin] {
        &self.plugins
    }

    /// The folders whose files are there to be read and run, although they may lie among the settings: those of plugins
    /// and of skills that may be used, one for all that lie beside each other.
    pub fn readable(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.plugins.iter().map(|plugin| plugin.folder.clone()).collect();
        for skill in self.skills.skills.iter().filter(|skill| skill.plugin.is_none() && self.may_use(skill)) {
            if !folders.contains(&skill.readable) {
                folders.push(skill.readable.clone());
            }
        }
        folders
    }

    /// The files of rules, as they were when they were looked at: what was shown and trusted is what counts.
    pub fn rules(&self) -> &[PolicyFile] {
        &self.rules
    }

    /// Whether the folder would switch on something that no person has decided about.
    pub fn has_news(&self) -> bool {
        self.items.iter().any(|item| self.is_new(item))
    }

    /// The hooks that may run, and those of a trusted folder that guard calls and are not what was trusted: they don't
    /// run, and a person is asked about the calls instead.
    pub fn hooks(&self) -> Vec<Hook> {
        let theirs = self.items.iter().filter_map(|item| match &item.kind {
            Kind::Hook(hook) if self.is_on(item) => Some((hook, item.hash.clone())),
            Kind::Hook(hook) if self.is_unseen_guard(item, hook) => Some((hook, NO_HASH.to_owned())),
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent | Kind::Server(_) => None,
            Kind::Script(_) | Kind::Skill(..) | Kind::Command => None,
        });
        let theirs = theirs.map(|(hook, hash)| Hook { trusted_as: Some(hash), ..(**hook).clone() });
        let unreadable = self.unreadable.iter().cloned();
        let unreadable = unreadable.map(|hook| Hook { trusted_as: Some(NO_HASH.to_owned()), ..hook });
        self.own.iter().cloned().chain(theirs).chain(unreadable).collect()
    }

    /// The MCP servers that may be used, and those that are switched off, by name: the user's own, or one of the folder
    /// that is trusted in its place. One that is off stands in for nobody.
    pub fn servers(&self) -> Vec<ServerSettings> {
        let trusted = self.items.iter().filter_map(|item| match &item.kind {
            Kind::Server(server) if self.is_on(item) => Some(&**server),
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent | Kind::Server(_) => None,
            Kind::Script(_) | Kind::Skill(..) | Kind::Command => None,
        });
        let all = self.off_servers.iter().chain(&self.own_servers).chain(trusted);
        let by_name: BTreeMap<&str, &ServerSettings> = all.map(|server| (server.name.as_str(), server)).collect();
        by_name.into_values().cloned().collect()
    }

    /// The folder's files in the place of prompts that count.
    pub fn prompts(&self) -> Vec<PromptFile> {
        let on = self.items.iter().filter(|item| self.is_on(item));
        on.filter_map(|item| match &item.kind {
            Kind::Prompt(prompt) => Some(prompt.clone()),
            Kind::Hook(_) | Kind::Rules | Kind::Agent | Kind::Server(_) => None,
            Kind::Script(_) | Kind::Skill(..) | Kind::Command => None,
        })
        .collect()
    }

    /// The scripted tools that may be used: the user's own, and those of the folder that are trusted.
    pub fn scripts(&self) -> Vec<Script> {
        let on = self.items.iter().filter(|item| self.is_on(item));
        let trusted = on.filter_map(|item| match &item.kind {
            Kind::Script(script) => Some((**script).clone()),
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent | Kind::Server(_) => None,
            Kind::Skill(..) | Kind::Command => None,
        });
        self.own_scripts.iter().cloned().chain(trusted).collect()
    }

    /// How many hooks the user has, how many the folder has that may run, and how many that may not.
    pub fn counts(&self) -> (usize, usize, usize) {
        let hooks: Vec<bool> =
            self.items.iter().filter(|item| matches!(item.kind, Kind::Hook(_))).map(|item| self.is_on(item)).collect();
        let on = hooks.iter().filter(|on| **on).count();
        (self.own.len(), on, hooks.len() - on)
    }

    /// Which definitions of agents may do what only trust lets them.
    pub fn trusted_agents(&self) -> IsTrusted {
        let on = self.items.iter().filter(|item| matches!(item.kind, Kind::Agent) && self.is_on(item));
        let hashes: BTreeSet<String> = on.map(|item| item.hash.clone()).collect();
        Arc::new(move |file| hashes.contains(&agent_hash(file)))
    }

    /// Whether a command of the folder may be run: it was seen and trusted as it is.
    pub fn may_run(&self, command: &OwnCommand) -> bool {
        command.folder.as_ref().is_none_or(|folder| self.trust.covers(folder, &command.hash))
    }

    /// Whether a skill may be used: it is trusted, and not switched off.
    pub fn may_use(&self, skill: &Skill) -> bool {
        !self.is_off(skill) && self.is_trusted(skill)
    }

    /// Whether the person has switched a skill off.
    pub fn is_off(&self, skill: &Skill) -> bool {
        is_off(&self.skills_off, skill)
    }

    /// Whether a skill is the person's own, or was seen and trusted as it is.
    pub fn is_trusted(&self, skill: &Skill) -> bool {
        let folder = skill.origin.folder();
        folder.is_none_or(|folder| skill_hash(skill).is_some_and(|hash| self.trust.covers(folder, &hash)))
    }

    /// The skills that may be used, nearest first.
    pub fn skills(&self) -> Chosen {
        self.skills.choose(|skill| self.may_use(skill))
    }

    /// All skills that there are.
    pub fn found_skills(&self) -> &FoundSkills {
        &self.skills
    }

    /// Whether the folder's own rules count: every file of them was seen and trusted.
    pub fn rules_count(&self) -> bool {
        self.items.iter().filter(|item| matches!(item.kind, Kind::Rules)).all(|item| self.is_on(item))
    }

    /// Keeps the rules and the guarding hooks that `before` had, that are still trusted, and that were changed or taken
    /// away since without a person's consent: whoever can edit a file must not be able to switch off what it forbids.
    pub(crate) fn keep_guards(&mut self, before: &Self) {
        let still_trusted = |item: &&Item| before.is_on(item) && self.is_on(item);
        let guards = |item: &&Item| matches!(&item.kind, Kind::Hook(hook) if hook.event == HookEvent::PreToolUse);
        let rules = before.items.iter().filter(|item| matches!(item.kind, Kind::Rules)).filter(still_trusted);
        let rules: Vec<Item> = rules.cloned().collect();
        let hooks: Vec<Item> = before.items.iter().filter(guards).filter(still_trusted).cloned().collect();
        if !rules.is_empty() {
            // One that nobody has seen would keep all of them from counting.
            let (off, on): (Vec<Item>, Vec<Item>) =
                self.items.drain(..).partition(|item| matches!(item.kind, Kind::Rules) && !covers(&self.trust, item));
            self.items = on;
            self.rules.retain(|file| off.iter().all(|item| !item.is_of(file)));
            self.notices.extend(off.iter().map(|item| {
                format!(
                    "New or changed, and not trusted: {}; `neco trust` or /trust shows it and switches it on",
                    item.words
                )
            }));
        }
        for rule in rules {
            if !self.items.iter().any(|item| item.is_the_same_as(&rule)) {
                self.rules.retain(|file| !rule.is_of(file));
                self.rules.extend(before.rules.iter().filter(|file| rule.is_of(file)).cloned());
                self.keep(rule);
            }
        }
        for hook in hooks {
            if !self.items.iter().any(|item| item.is_the_same_as(&hook)) {
                self.keep(hook);
            }
        }
    }

    fn keep(&mut self, item: Item) {
        let words = format!("Changed or gone: {}; what you trusted stays in effect until Neco ends", item.words);
        self.notices.push(words);
        self.items.push(item);
    }

    /// All that the folder would switch on, its commands too. Reads those the first time.
    fn all(&self) -> impl Iterator<Item = &Item> {
        let read = || {
            let (env, folder) = &self.place;
            let own = own_commands::of_person(env);
            let usable = own_commands::of_folder(folder).into_iter().filter(|command| command.broken.is_none());
            let mut items: Vec<Item> = usable.map(|command| Item::of_command(env, &command, &own)).collect();
            items.sort_by(|one, other| one.words.cmp(&other.words));
            items
        };
        self.items.iter().chain(self.commands.get_or_init(read))
    }

    /// Whether the folder would switch on anything at all.
    pub fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// Whether all that the folder would switch on is on.
    pub fn is_all_on(&self) -> bool {
        self.all().all(|item| self.is_on(item))
    }

    /// What exactly [`Self::describe`] describes: another text when anything of it is another, or could not be shown.
    pub fn fingerprint(&self) -> String {
        let shown = |item: &Item| format!("{}\0{:?}", item.folder.display(), item.shown_hash());
        let items: BTreeSet<String> = self.all().map(shown).collect();
        hash(&items.into_iter().collect::<Vec<_>>().join("\n"))
    }

    /// One line about what is off, if anything is.
    pub fn note(&self) -> Option<String> {
        type Named = (fn(&Kind) -> bool, &'static str, &'static str);
        // Commands alone are no reason to speak: whoever uses one is told.
        let first = self.items.iter().find(|item| !self.is_on(item))?;
        let off: Vec<&Item> = self.all().filter(|item| !self.is_on(item)).collect();
        let folder = visible_line(&first.folder.display().to_string());
        let kinds: [Named; 8] = [
            (|kind| matches!(kind, Kind::Hook(_)), "hook", "hooks"),
            (|kind| matches!(kind, Kind::Rules), "file of rules", "files of rules"),
            (|kind| matches!(kind, Kind::Prompt(_)), "prompt", "prompts"),
            (|kind| matches!(kind, Kind::Agent), "definition of an agent", "definitions of agents"),
            (|kind| matches!(kind, Kind::Server(_)), "MCP server", "MCP servers"),
            (|kind| matches!(kind, Kind::Script(_)), "scripted tool", "scripted tools"),
            (|kind| matches!(kind, Kind::Skill(..)), "skill", "skills"),
            (|kind| matches!(kind, Kind::Command), "command", "commands"),
        ];
        let counted = kinds.map(|(is, one, several)| match off.iter().filter(|item| is(&item.kind)).count() {
            0 => None,
            1 => Some(format!("1 {one}")),
            count => Some(format!("{count} {several}")),
        });
        let of_trusted: Vec<&&Item> = off.iter().filter(|item| self.trust.is_trusted(&item.folder)).collect();
        let why = match of_trusted.iter().any(|item| !self.trust.has_seen(&item.folder, &item.hash)) {
            true => "new or changed since it was trusted",
            false if of_trusted.is_empty() => "the folder is not trusted",
            false => "you left that off",
        };
        let (is, them) = if off.len() == 1 { ("is", "it") } else { ("are", "them") };
        let counted: Vec<String> = counted.into_iter().flatten().collect();
        let what = match counted.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            one => one.concat(),
        };
        Some(format!("{what} of {folder} {is} off: {why}; `neco trust` or /trust shows {them} and switches {them} on"))
    }

    /// Keeps what a person decided about all that was described.
    ///
    /// # Errors
    /// When it can't be kept.
    pub fn decide(&mut self, scope: Scope, trusted: bool) -> Result<(), TrustError> {
        let shown: Vec<(PathBuf, BTreeSet<String>)> = self
            .by_folder(scope)
            .into_iter()
            .map(|(folder, items)| {
                (folder.to_owned(), items.into_iter().filter_map(Item::shown_hash).cloned().collect())
            })
            .collect();
        for (folder, hashes) in shown {
            self.trust.decide(&folder, trusted, hashes)?;
        }
        Ok(())
    }

    /// Keeps that a person takes only some parts of all that was described, by their places in [`Self::parts`].
    ///
    /// # Errors
    /// When it can't be kept.
    pub fn decide_parts(&mut self, scope: Scope, taken: &[usize]) -> Result<(), TrustError> {
        let mut folders: BTreeMap<PathBuf, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for (place, part) in self.grouped(scope).into_iter().enumerate() {
            for item in part {
                let (on, off) = folders.entry(item.folder.clone()).or_default();
                let side = if taken.contains(&place) { on } else { off };
                side.extend(item.shown_hash().cloned());
            }
        }
        for (folder, (on, off)) in folders {
            match on.is_empty() {
                true => self.trust.decide(&folder, false, off)?,
                false => self.trust.decide_parts(&folder, on, off)?,
            }
        }
        Ok(())
    }

    pub(super) fn is_on(&self, item: &Item) -> bool {
        covers(&self.trust, item)
    }

    /// Whether a hook is new or was changed since its folder was trusted, and guards calls: whoever can change it must
    /// not be able to switch it off.
    fn is_unseen_guard(&self, item: &Item, hook: &Hook) -> bool {
        hook.event == HookEvent::PreToolUse && self.trust.is_trusted(&item.folder) && self.is_new(item)
    }

    fn is_new(&self, item: &Item) -> bool {
        !matches!(item.kind, Kind::Command) && !self.trust.has_seen(&item.folder, &item.hash)
    }

    pub(super) fn by_folder(&self, scope: Scope) -> BTreeMap<&Path, Vec<&Item>> {
        let mut folders: BTreeMap<&Path, Vec<&Item>> = BTreeMap::new();
        for item in self.all() {
            folders.entry(&item.folder).or_default().push(item);
        }
        folders.retain(|_, items| scope == Scope::All || items.iter().any(|item| self.is_new(item)));
        folders
    }
}

fn is_off(names: &[String], skill: &Skill) -> bool {
    names.iter().any(|name| skill.is_called(name))
}

fn covers(trust: &Trust, item: &Item) -> bool {
    trust.covers(&item.folder, &item.hash)
}
