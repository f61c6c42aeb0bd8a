//! The skills of a session: which the model is told of, which a text means, and what one says when it is opened.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_agent::Gate;
use neco_agent::skills::{OpenedSkill, SkillLine, SkillShelf, SkillWish};
use neco_config::with_plugin_root;
use neco_proto::ErrorCode;
use neco_proto::event::SkillCause;
use neco_toolkit::ToolError;

use super::find::{Skill, SkillOrigin, trusted_as};
use super::head::{Head, LONGEST_NAME};
use super::triggers::{Request, Triggers};
use super::{FILE, TRUSTED, body, skill_hooks};
use crate::folder_files::FolderFiles;
use crate::hooks::Hook;
use crate::plugins::rooted;

/// Makes the gate that hooks of a skill stand at.
pub type MakeHooks = Arc<dyn Fn(Vec<Hook>) -> Arc<dyn Gate> + Send + Sync>;

/// Who does a skill that names no agent.
const USUAL_AGENT: &str = "general";

/// The skills of a session.
pub struct Skills {
    skills: Arc<[Skill]>,
    listed: Arc<[SkillLine]>,
    /// Whether words of a request bring skills in.
    by_words: bool,
    hooks: MakeHooks,
}

impl fmt::Debug for Skills {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.skills.iter().map(|skill| &skill.name)).finish()
    }
}

impl Skills {
    /// These, of which each has a name of its own and may be used. Words of a request bring them in where `by_words`
    /// says so; `hooks` makes the gate of theirs.
    pub fn new(skills: Arc<[Skill]>, by_words: bool, hooks: MakeHooks) -> Self {
        let line = |skill: &Skill| SkillLine { name: skill.name.clone(), description: skill.head.description.clone() };
        let (own, theirs): (Vec<&Skill>, Vec<&Skill>) = skills
            .iter()
            .filter(|skill| !skill.head.only_person)
            .partition(|skill| skill.origin == SkillOrigin::Person);
        // Where there is no room to describe all, the person's own are described.
        let listed = own.into_iter().chain(theirs).map(line).collect();
        Self { skills, listed, by_words, hooks }
    }

    fn find(&self, name: &str) -> Option<&Skill> {
        let bare = name.trim().trim_start_matches(['$', '/']);
        self.skills.iter().find(|skill| skill.is_called(bare))
    }

    /// The skill of a name, if whoever wants it may use it.
    fn usable(&self, name: &str, cause: SkillCause) -> Result<&Skill, ToolError> {
        let not_found = |words: String| ToolError::new(ErrorCode::ToolNotFound, words);
        let skill = self.find(name).ok_or_else(|| {
            // What is longer than a name can be is meant for none, and takes long to compare.
            let names = self.skills.iter().filter(|_| name.len() <= LONGEST_NAME + 2);
            let near = names.map(|skill| (strsim::damerau_levenshtein(&skill.name, name), skill));
            let near = near.filter(|(slips, _)| *slips <= 2).min_by_key(|(slips, _)| *slips);
            let meant = near.map(|(_, skill)| format!("; did you mean {}?", skill.name)).unwrap_or_default();
            not_found(format!("there is no skill {name:?}{meant}"))
        })?;
        match cause {
            SkillCause::Model | SkillCause::Words if skill.head.only_person => {
                Err(not_found(format!("only the user can have the skill {name} used: ${name} in a message")))
            }
            SkillCause::Person if skill.head.only_model => {
                Err(not_found(format!("only the model uses the skill {name}")))
            }
            SkillCause::Model | SkillCause::Words | SkillCause::Person | SkillCause::Definition => Ok(skill),
        }
    }
}

impl SkillShelf for Skills {
    fn listed(&self) -> Arc<[SkillLine]> {
        Arc::clone(&self.listed)
    }

    fn has_callable(&self) -> bool {
        !self.listed.is_empty() || self.skills.iter().any(|skill| skill.head.fork)
    }

    fn named_in(&self, text: &str) -> Vec<SkillWish> {
        let mut wishes: Vec<SkillWish> = Vec::new();
        let mut before = None;
        for (at, char) in text.char_indices() {
            let begins = before.is_none_or(|before: char| before.is_whitespace() || before == '(');
            before = Some(char);
            let Some(rest) = text.get(at + 1..).filter(|_| char == '$' && begins) else { continue };
            let named = |besides: &[char]| {
                let is_part = |char: char| char.is_ascii_alphanumeric() || besides.contains(&char);
                let end = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
                let name = rest.get(..end)?.trim_end_matches(besides);
                let skill = self.find(name).filter(|_| !name.is_empty())?;
                Some((skill, rest.get(name.len()..)?.trim_start_matches('-')))
            };
            // `$plugin:name`, or a name with whatever follows it.
            let Some((skill, after)) = named(&['-', '_', '.', ':']).or_else(|| named(&['-'])) else { continue };
            let in_passing = text.get(..at).is_some_and(|before| !before.trim().is_empty());
            // All that follows belongs to the name that a message begins with; to another one the rest of its line.
            let arguments = if in_passing { after.lines().next().unwrap_or_default() } else { after };
            let arguments = arguments.trim_start_matches([',', '.', ';', ':', '!', '?', ')']).trim().to_owned();
            if !wishes.iter().any(|wish| wish.name == skill.name) {
                wishes.push(SkillWish { name: skill.name.clone(), arguments, in_passing });
            }
        }
        wishes
    }

    fn fitting(&self, text: &str) -> Vec<SkillWish> {
        let request = Request::of(text);
        let skills = self.skills.iter().filter(|skill| {
            // One whose name another has is called up by its name in full alone.
            self.by_words && !skill.head.only_person && !skill.head.fork && !skill.name.contains(':')
        });
        let called = skills
            .map(|skill| (skill, &skill.head.description))
            .filter(|(_, description)| request.may_call(description) && Triggers::of(description).fit(&request));
        called.map(|(skill, _)| SkillWish { name: skill.name.clone(), ..SkillWish::default() }).collect()
    }

    fn open(&self, wish: SkillWish, cause: SkillCause) -> BoxFuture<'static, Result<OpenedSkill, ToolError>> {
        let skill = match self.usable(&wish.name, cause) {
            Ok(skill) => skill.clone(),
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let hooks = Arc::clone(&self.hooks);
        Box::pin(async move {
            let read = tokio::task::spawn_blocking(move || opened(&skill, &wish, &hooks)).await;
            read.unwrap_or_else(|error| Err(ToolError::failed(format!("the skill could not be read: {error}"))))
        })
    }
}

/// What a skill says now. One of a repository says nothing unless it is what was trusted.
fn opened(skill: &Skill, wish: &SkillWish, hooks: &MakeHooks) -> Result<OpenedSkill, ToolError> {
    let failed = |words: String| ToolError::failed(format!("the skill {} can't be used: {words}", skill.name));
    // What is told, and what its hooks run, is what was hashed, whatever is written meanwhile.
    let (text, hash) = match skill.origin {
        SkillOrigin::Person => (skill_hooks::text_of(&skill.file).map_err(|error| failed(error.to_string()))?, None),
        SkillOrigin::Folder(_) => {
            let read = FolderFiles::of(&skill.folder, TRUSTED).and_then(|files| files.hash_and_read(Path::new(FILE)));
            let (hash, bytes) = read.map_err(|error| failed(error.to_string()))?;
            (skill_hooks::text_in(&bytes), Some(hash))
        }
    };
    let (head, said) = Head::read(&text).map_err(|error| failed(error.to_string()))?;
    let found = skill_hooks::of_text(&text, &skill.file, &skill.origin).map_err(|error| failed(error.to_string()))?;
    if hash.map(|hash| trusted_as(&skill.file, &hash, &found)) != skill.hash {
        return Err(failed("it was changed since it was trusted; `neco trust` or /trust shows it".to_owned()));
    }
    let (mut said, mut found, mut allowed_tools) = (Cow::Borrowed(said), found, head.allowed_tools);
    let rules = allowed_tools.iter_mut().flatten();
    rules.for_each(|rule| *rule = body::with_folder(rule, &skill.folder));
    if let Some(plugin) = &skill.plugin {
        allowed_tools.iter_mut().flatten().for_each(|rule| *rule = with_plugin_root(rule, plugin));
        said = with_plugin_root(&said, plugin).into();
        found = found.into_iter().map(|hook| rooted(hook, plugin)).collect();
    }
    Ok(OpenedSkill {
        name: skill.name.clone(),
        file: skill.file.display().to_string(),
        text: body::told(skill, &said, wish),
        folder: skill.folder.clone(),
        agent: head.fork.then(|| head.agent.clone().unwrap_or_else(|| USUAL_AGENT.to_owned())),
        allowed_tools,
        model: head.model,
        gate: (!found.is_empty()).then(|| hooks(found)),
    })
}
