//! One thing that a folder would switch on by itself: what it is, what trust in it covers, and how it is shown to the
//! person who decides.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use neco_agent::context::PromptFile;
use neco_config::{Env, Layer, PolicyFile, PolicyFormat};
use neco_ext::Hook;
use neco_ext::hooks::FingerprintError;
use neco_ext::mcp::{FoundServer, ServerSettings};
use neco_ext::scripts::{FoundScript, Script};
use neco_ext::skills::{self, Skill, SkillOrigin};
use neco_proto::visible::visible_line;
use neco_session::roles::DefinitionFile;
use neco_view::figures;

use crate::workspace::own_commands::{OwnCommand, hash};

/// Lines of a script, rules or a server that are shown to whoever decides about them: what runs, they see.
const SHOWN_LINES: usize = 200;

/// Files beside the text of a skill that are shown.
const SHOWN_FILES: usize = 20;

/// Lines of a text that is said to an agent.
const SAID_LINES: usize = 20;

/// Characters of the description of a skill where all things are listed.
const SHORT: usize = 100;

/// One thing that a folder would switch on.
#[derive(Clone)]
pub(super) struct Item {
    /// The folder that has to be trusted.
    pub(super) folder: PathBuf,
    /// What trust in it is trust in.
    pub(super) hash: String,
    /// In one line.
    pub(super) words: String,
    /// What it says or runs, as it is written.
    says: String,
    pub(super) kind: Kind,
}

/// What kind of thing it is, with what is made of it where it is on.
#[derive(Clone)]
pub(super) enum Kind {
    Hook(Box<Hook>),
    Rules,
    Prompt(PromptFile),
    /// A definition of an agent that takes the place of another one, or chooses a model.
    Agent,
    Server(Box<ServerSettings>),
    Script(Box<Script>),
    /// A skill, and that what was read to be shown is not what trust in it would be trust in.
    Skill(Box<Skill>, OnceLock<()>),
    /// A command after a slash. It does nothing until a person runs it, so nobody is asked about it beforehand.
    Command,
}

impl Item {
    /// A hook of the folder; none where it is the user's own.
    ///
    /// # Errors
    /// When nobody can say what it runs.
    pub(super) fn of_hook(env: &Env, hook: &Hook) -> Result<Option<Self>, FingerprintError> {
        let Some(folder) = hook.origin.folder() else { return Ok(None) };
        let fingerprint = hook.fingerprint()?;
        let matcher = if hook.matcher.pattern().is_empty() { "" } else { " " };
        let unknown = unwatched_words(&fingerprint.unknown);
        let words = format!(
            "hook {}{matcher}{}: {}  ({}){unknown}",
            hook.event,
            hook.matcher.pattern(),
            hook.command,
            env.shown(hook.origin.file())
        );
        let kind = Kind::Hook(Box::new(hook.clone()));
        let script = |file: &PathBuf| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).ok();
        let says = fingerprint.files.iter().filter_map(script).collect::<Vec<_>>().join("\n");
        Ok(Some(Self { folder: folder.to_owned(), hash: fingerprint.hash, words, says, kind }))
    }

    /// A server of the folder, which may take the place of one of the user's `own`. Two of one name in different files
    /// are two: each is trusted by itself.
    pub(super) fn of_server(found: FoundServer, own: &[ServerSettings]) -> Option<Self> {
        let FoundServer { settings, folder, hash, says, unwatched } = found;
        let replaced = own.iter().find(|own| own.enabled && own.name == settings.name);
        let replaces = replaces(replaced.map(|own| own.file.clone()));
        let unknown = unwatched_words(&unwatched);
        let words = format!("MCP server {}{replaces}  ({}){unknown}", settings.name, settings.file);
        Some(Self { folder: folder?, hash, words, says, kind: Kind::Server(Box::new(settings)) })
    }

    /// A scripted tool of the folder.
    pub(super) fn of_script(found: FoundScript) -> Option<Self> {
        let FoundScript { script, folder, hash, says } = found;
        let words = format!("scripted tool {}: {}  ({})", script.name, script.description, script.file);
        Some(Self { folder: folder?, hash, words, says, kind: Kind::Script(Box::new(script)) })
    }

    /// A command of the folder, which may take the place of one of the user's `own`.
    pub(super) fn of_command(env: &Env, command: &OwnCommand, own: &[OwnCommand]) -> Self {
        // Whatever is shown of its text: what it runs is told.
        let lines = command.lines().iter().map(|line| format!("`{line}`")).collect::<Vec<_>>().join(", ");
        let runs = if lines.is_empty() { lines } else { format!(", which runs {lines}") };
        let model = command.model.as_ref().map(|model| format!(", which wants the model {model}")).unwrap_or_default();
        let name = &command.custom.name;
        let replaced = own.iter().find(|own| own.custom.name == *name).map(|own| env.shown(&own.file));
        let words = format!("command /{name}{runs}{model}{}  ({})", replaces(replaced), env.shown(&command.file));
        let folder = command.folder.clone().unwrap_or_default();
        Self { folder, hash: command.hash.clone(), words, says: command.text().to_owned(), kind: Kind::Command }
    }

    /// A skill of the folder, which may take the place of another one of `all`; none where it is the user's own. What
    /// it says is read when it is shown.
    pub(super) fn of_skill(env: &Env, skill: &Skill, all: &[Skill]) -> Option<Self> {
        let (folder, hash) = (skill.origin.folder()?.to_owned(), skill_hash(skill)?);
        let runs = |hook: Hook| format!("`{}`", visible_line(&hook.command));
        let hooks = match skills::hooks_brought(skill) {
            hooks if hooks.is_empty() => String::new(),
            hooks => {
                let commands = hooks.into_iter().map(runs).collect::<Vec<_>>().join(", ");
                format!(", whose hooks run with your rights, outside the sandbox: {commands}")
            }
        };
        let own = all.iter().find(|other| other.origin == SkillOrigin::Person && other.name == skill.name);
        let replaces = replaces(own.map(|own| env.shown(&own.file)));
        let Skill { name, head, file, .. } = skill;
        let words = format!("skill {name}: {}{hooks}{replaces}  ({})", head.description, env.shown(file));
        Some(Self {
            folder,
            hash,
            words,
            says: String::new(),
            kind: Kind::Skill(Box::new(skill.clone()), OnceLock::new()),
        })
    }

    /// A file of the folder in the place of a prompt: what it says decides how the agent works.
    pub(super) fn of_prompt(env: &Env, folder: &Path, prompt: PromptFile) -> Self {
        let shown = env.shown(Path::new(&prompt.file));
        let hash = hash(&format!("prompt\0{shown}\0{}", prompt.text));
        let words = format!("prompt {}: {} bytes in its place  ({shown})", prompt.name, prompt.text.len());
        let says = prompt.text.to_string();
        Self { folder: folder.to_owned(), hash, words, says, kind: Kind::Prompt(prompt) }
    }

    /// A definition of the folder that takes the place of another one, or chooses a model.
    pub(super) fn of_agent(env: &Env, file: &DefinitionFile, wants: &str) -> Self {
        let words = format!("agent: {wants}  ({})", env.shown(&file.path));
        let (folder, says) = (file.folder.clone(), file.text.to_string());
        Self { folder, hash: agent_hash(file), words, says, kind: Kind::Agent }
    }

    /// A file of the folder's own rules about what may happen.
    pub(super) fn of_rules(file: &PolicyFile) -> Option<Self> {
        let text = file.text.as_ref().ok()?;
        if file.layer != Layer::Project || !holds_rules(file.format, text) {
            return None;
        }
        let hash = hash(&format!("{}\0{text}", file.shown));
        let words = rules_words(file);
        Some(Self { folder: file.folder.clone(), hash, words, says: rules_say(file.format, text), kind: Kind::Rules })
    }

    /// Whether both are about the same thing, whatever it says.
    pub(super) fn is_the_same_as(&self, other: &Self) -> bool {
        self.folder == other.folder && self.words == other.words
    }

    /// Whether it is about the rules of a file.
    pub(super) fn is_of(&self, file: &PolicyFile) -> bool {
        file.layer == Layer::Project && self.folder == file.folder && self.words == rules_words(file)
    }

    /// What a yes to all that was shown of it is a yes to; nothing where it was changed before it could be shown.
    pub(super) fn shown_hash(&self) -> Option<&String> {
        match &self.kind {
            Kind::Skill(_, is_other) if is_other.get().is_some() => None,
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent => Some(&self.hash),
            Kind::Server(_) | Kind::Script(_) | Kind::Skill(..) | Kind::Command => Some(&self.hash),
        }
    }

    /// What it is and what it runs, in one line. What runs is never shortened; how a skill is described is.
    pub(super) fn in_short(&self) -> String {
        match &self.kind {
            Kind::Server(_) => {
                let lines: Vec<&str> = self.says.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
                format!("{}: {}", self.words, lines.join("; "))
            }
            Kind::Skill(skill, _) => {
                let described = &skill.head.description;
                let short: String = described.chars().take(SHORT).collect();
                let whole = short.len() == described.len();
                let short = if whole { short } else { format!("{}…", short.trim_end()) };
                self.words.replacen(described.as_str(), &short, 1)
            }
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent => self.words.clone(),
            Kind::Script(_) | Kind::Command => self.words.clone(),
        }
    }

    /// The first lines of what it says or runs, for whoever decides about it.
    pub(super) fn excerpt(&self) -> String {
        let most = self.kind.shown_lines();
        match &self.kind {
            Kind::Skill(skill, is_other) => {
                let (says, is_shown) = skill_says(skill, most);
                if !is_shown {
                    is_other.get_or_init(|| ());
                }
                says
            }
            Kind::Hook(_) | Kind::Rules | Kind::Prompt(_) | Kind::Agent => excerpt(&self.says, most),
            Kind::Server(_) | Kind::Script(_) | Kind::Command => excerpt(&self.says, most),
        }
    }
}

/// The text of a skill, and the beginning of each file beside it, which it may run, and true: what is told is what was
/// hashed. Where that can't be, why not.
fn skill_says(skill: &Skill, most: usize) -> (String, bool) {
    let (mut says, mut beside, mut count) = (String::new(), String::new(), 0);
    let read = skills::read_as_found(skill, |name, bytes| {
        let text = || excerpt(&String::from_utf8_lossy(bytes), most);
        if name == Path::new(skills::FILE) {
            says = text();
            return;
        }
        count += 1;
        if count <= SHOWN_FILES {
            let _ = write!(beside, "    {}\n{}", visible_line(&name.display().to_string()), text());
        }
    });
    let more = match count.saturating_sub(SHOWN_FILES) {
        0 => String::new(),
        more => format!("    and {}\n", figures::count(more as u64, "more file")),
    };
    match read {
        Ok(true) => (says + &beside + &more, true),
        Ok(false) => ("    it was changed while it was looked at, and stays off: look again\n".to_owned(), false),
        Err(error) => (format!("    it can't be shown, and stays off: {error}\n"), false),
    }
}

/// The text of a file; nothing of one that is none. Whoever calls knows that it lies where it should.
pub(crate) fn text_of_file(file: &Path) -> String {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

impl Kind {
    /// How many lines of it are shown to whoever decides.
    fn shown_lines(&self) -> usize {
        match self {
            Self::Hook(_) | Self::Rules | Self::Server(_) | Self::Script(_) | Self::Skill(..) => SHOWN_LINES,
            Self::Prompt(_) | Self::Agent | Self::Command => SAID_LINES,
        }
    }
}

fn rules_words(file: &PolicyFile) -> String {
    format!("rules: {}", file.shown)
}

/// The first lines of what something says.
pub(crate) fn excerpt(says: &str, most: usize) -> String {
    let lines: Vec<&str> = says.lines().filter(|line| !line.trim().is_empty()).collect();
    let mut text = String::new();
    for line in lines.iter().take(most) {
        let said = line.trim_start();
        let before: String = line.chars().take_while(|char| char.is_whitespace()).collect();
        let _ = writeln!(text, "    | {}{}", before.replace('\t', "    "), visible_line(said));
    }
    let more = lines.len().saturating_sub(most);
    if more > 0 {
        let _ = writeln!(text, "    | … and {} in the file", figures::count(more as u64, "more line"));
    }
    text
}

/// That something takes the place of the user's own of a file, behind the rest of its line.
fn replaces(own: Option<String>) -> String {
    own.map(|file| format!(": replaces yours of {file}")).unwrap_or_default()
}

/// What something runs that trust in it does not cover, behind the rest of its line; nothing where all of it is known.
fn unwatched_words(unknown: &[String]) -> String {
    match unknown.is_empty() {
        true => String::new(),
        false => format!("  (what it runs is not all known beforehand, and not watched: {})", unknown.join(" ")),
    }
}

/// What trust in a skill is trust in; nothing for the person's own.
pub(super) fn skill_hash(skill: &Skill) -> Option<String> {
    skill.hash.as_deref().map(hash)
}

/// What trust in a definition of an agent is trust in.
pub(super) fn agent_hash(file: &DefinitionFile) -> String {
    hash(&format!("agent\0{}\0{}", file.path.display(), file.text))
}

/// The settings file of another agent may hold other things only.
fn holds_rules(format: PolicyFormat, text: &str) -> bool {
    match format {
        PolicyFormat::Toml => true,
        PolicyFormat::ClaudeSettings => !permissions(text).is_null(),
    }
}

/// The rules in a settings file of another agent.
fn permissions(text: &str) -> serde_json::Value {
    let settings: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    settings["permissions"].clone()
}

/// What a file of rules says: a settings file of another agent is told in a line for each rule, those with an effect
/// first, as everything else in it is no rule.
fn rules_say(format: PolicyFormat, text: &str) -> String {
    let PolicyFormat::ClaudeSettings = format else { return text.to_owned() };
    let permissions = permissions(text);
    let Some(permissions) = permissions.as_object() else { return text.to_owned() };
    let told = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut lines = Vec::new();
    for (name, value) in permissions {
        let rank = ["deny", "ask", "allow"].iter().position(|known| known == name).unwrap_or(usize::MAX);
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        lines.extend(values.iter().map(|value| (rank, format!("{name} {}", visible_line(&told(value))))));
    }
    lines.sort_by_key(|(rank, _)| *rank);
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_the_settings_of_another_agent_are_told_in_lines() {
        let settings = r#"{"hooks": {}, "permissions": {"allow": ["Bash(ls:*)"], "defaultMode": "plan",
            "ask": ["Bash(git push:*)"], "deny": ["WebFetch", "Read(a\nb)"]}}"#;
        assert_eq!(
            rules_say(PolicyFormat::ClaudeSettings, settings),
            "deny WebFetch\ndeny Read(a⏎b)\nask Bash(git push:*)\nallow Bash(ls:*)\ndefaultMode plan"
        );
        assert!(!holds_rules(PolicyFormat::ClaudeSettings, r#"{"hooks": {}}"#));
        assert!(!holds_rules(PolicyFormat::ClaudeSettings, "[1]"));
        assert_eq!(rules_say(PolicyFormat::Toml, "[[rule]]\n"), "[[rule]]\n");
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        assert_eq!(excerpt("a\n\nb\n", 2), "    | a\n    | b\n");
        assert_eq!(excerpt("a\nb\n", 1), "    | a\n    | … and 1 more line in the file\n");
        assert!(excerpt("a\nb\nc\n", 1).contains("… and 2 more lines"));
    }
}
