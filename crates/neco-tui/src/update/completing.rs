//! What may be meant by the word at the cursor: files and resources after `@`, commands after `/`, skills after `$`,
//! and what may follow those.

use neco_proto::app::mcp_use::ResourceList;
use neco_proto::clean::clean_line;
use neco_view::slash::{self, Custom, Row};

use super::effect::Effect;
use crate::input::{Candidate, Completion, Files, Prompt, fits, may_hold_secrets, names_resource, near_resources};
use neco_view::reduce::Agents;

/// Files that are offered, and resources.
const FILES: usize = 40;

/// What can be offered, as far as it is known.
#[derive(Debug, Default)]
pub struct Offers {
    /// The commands that the person or the folder brought along.
    pub custom: Vec<Custom>,
    /// The files of the workspace, once they were asked for.
    files: Option<Files>,
    /// Whether they are being looked for.
    files_asked: bool,
    /// The resources of MCP servers that are known.
    resources: ResourceList,
    /// What may follow commands, once it was asked for: the words before it, and what there is.
    arguments: Option<(String, Vec<Candidate>)>,
}

impl Offers {
    /// Offers what may be meant.
    pub(crate) fn offer(&mut self, prompt: &mut Prompt, agents: &Agents) -> Vec<Effect> {
        prompt.completion = None;
        let text = prompt.text.as_str();
        let (from, word) = prompt.word();
        let before = text.get(..from).unwrap_or_default();
        if let Some(name) = word.strip_prefix('@') {
            let Some(files) = &mut self.files else {
                // They are looked for once, however many letters come meanwhile.
                let asked = std::mem::replace(&mut self.files_asked, true);
                return if asked { Vec::new() } else { vec![Effect::Files] };
            };
            let near = files.near(name, FILES).into_iter();
            let candidate = |file: &str| {
                let help = if may_hold_secrets(file) { "may hold secrets" } else { "" };
                Candidate { text: format!("@{file}"), help: help.to_owned(), ..Candidate::default() }
            };
            let resources = near_resources(&self.resources, name, FILES);
            prompt.completion = Completion::new(from, near.map(candidate).chain(resources).collect());
        } else if let Some(name) = word.strip_prefix('/').filter(|_| from == 0) {
            // There may be new ones, or they may have been trusted meanwhile.
            let looks = name.is_empty();
            prompt.completion = Completion::new(0, near_commands(name, &self.custom));
            return if looks { vec![Effect::Commands(None)] } else { Vec::new() };
        } else if let Some(name) = word.strip_prefix('$').filter(|_| !text.starts_with('!')) {
            // A sign alone may be money.
            if name.is_empty() {
                return vec![Effect::Commands(None)];
            }
            prompt.completion = Completion::new(from, near_skills(name, &self.custom));
        } else if let Some(row) = row_before(text, from) {
            let choices = row.described_choices().into_iter();
            let fitting = choices.filter(|(choice, _)| choice.starts_with(word));
            let candidate = |(choice, about): (&str, &str)| Candidate::new(choice, about);
            prompt.completion = Completion::new(from, exact_first(fitting.map(candidate).collect(), word));
        } else if let Some(agents) = agents_for(before, agents) {
            let near = agents.into_iter().filter(|name| name.starts_with(word));
            let candidates = near.map(|text| Candidate { text, ..Candidate::default() }).collect();
            prompt.completion = Completion::new(from, exact_first(candidates, word));
        } else if takes_argument(before) {
            let (before, word) = (before.to_owned(), word.to_owned());
            return self.offer_arguments(prompt, from, before, &word);
        }
        Vec::new()
    }

    fn offer_arguments(&self, prompt: &mut Prompt, from: usize, before: String, word: &str) -> Vec<Effect> {
        match &self.arguments {
            Some((line, arguments)) if *line == before => {
                let mut near: Vec<(i64, &Candidate)> =
                    arguments.iter().filter_map(|argument| Some((fits(word, &argument.text)?, argument))).collect();
                near.sort_by_key(|(score, _)| std::cmp::Reverse(if word.is_empty() { 0 } else { *score }));
                let near = near.into_iter().map(|(_, one)| one.clone()).collect();
                prompt.completion = Completion::new(from, exact_first(near, word));
                Vec::new()
            }
            Some(_) | None => vec![Effect::Arguments(before)],
        }
    }

    /// What may follow a command is known now; says whether it is still what is being written.
    pub(super) fn found_arguments(&mut self, prompt: &Prompt, line: String, arguments: Vec<Candidate>) -> bool {
        let before = prompt.text.as_str().get(..prompt.word().0).unwrap_or_default();
        let is_wanted = line == before;
        self.arguments = Some((line, arguments));
        is_wanted
    }

    /// A command that is written out is run; a list that is open is chosen from.
    pub(super) fn is_written_out(&self, prompt: &Prompt) -> bool {
        let text = prompt.text.as_str().trim_end();
        let (chosen, (_, word)) = (prompt.completion.as_ref().and_then(Completion::chosen), prompt.word());
        if word.starts_with('$') && chosen.is_some_and(|chosen| chosen.text == word) {
            return true;
        }
        let Some(name) = text.strip_prefix('/') else { return false };
        let chosen = chosen.and_then(|chosen| chosen.text.strip_prefix('/'));
        // Who writes an other name of a command sees that name.
        let of_table = slash::TABLE.iter().find(|row| row.is_called(name)).map(|row| row.name);
        let own = || self.custom.iter().find(|custom| custom.is_called(name)).map(|custom| custom.name.as_str());
        let known = of_table.or_else(own);
        // A list of what may follow is chosen from, unless what is chosen in it stands there already.
        let listed = prompt.completion.as_ref().filter(|completion| completion.from > 0);
        let offers = listed.and_then(Completion::chosen).is_some_and(|chosen| chosen.text != word);
        known.is_some() && known == chosen || !offers && name.contains(' ') && slash::parse(text, &self.custom).is_ok()
    }

    /// What may follow the command or the skill that was just written, as long as nothing does.
    pub(crate) fn argument(&self, prompt: &Prompt) -> Option<&str> {
        let text = prompt.text.as_str().strip_suffix(' ').filter(|text| !text.ends_with(' '))?;
        let of_skill = || text.rsplit(char::is_whitespace).next()?.strip_prefix('$');
        let command = text.strip_prefix('/');
        let name = command.or_else(of_skill)?;
        let own = self.custom.iter().find(|own| own.is_called(name) && (command.is_some() || own.is_skill))?;
        Some(own.argument.as_str()).filter(|argument| !argument.is_empty())
    }

    /// Whether a model is not among those of its provider that were listed; not where none of those are known.
    pub(super) fn misses_model(&self, model: &str) -> bool {
        let Some((line, listed)) = &self.arguments else { return false };
        let name = model.split('?').next().unwrap_or(model);
        let Some((provider, _)) = name.split_once('/') else { return false };
        let is_of_provider = |one: &Candidate| one.text.split_once('/').is_some_and(|(of, _)| of == provider);
        let lists_models = matches!(line.trim_end(), "/model" | "/models") && listed.iter().any(is_of_provider);
        lists_models && listed.iter().all(|one| one.text != name)
    }

    /// The files are known now.
    pub(super) fn found_files(&mut self, files: Vec<String>) {
        (self.files, self.files_asked) = (Some(Files::new(files)), false);
    }

    /// The resources of MCP servers are known now; says whether one may be what is being written.
    pub(super) fn found_resources(&mut self, prompt: &Prompt, resources: ResourceList) -> bool {
        let is_chosen_from = prompt.completion.as_ref().is_some_and(|completion| completion.moved);
        let is_wanted = prompt.word().1.starts_with('@') && !is_chosen_from && !resources.resources.is_empty();
        self.resources = resources;
        is_wanted
    }

    /// Whether a word names a resource of an MCP server.
    pub(super) fn names_resource(&self, word: &str) -> bool {
        names_resource(&self.resources, word)
    }

    /// There may be new files.
    pub(crate) fn files_changed(&mut self) {
        self.files = None;
    }

    /// What was asked for in another session is not told any more.
    pub(crate) fn forget(&mut self) {
        *self = Self { custom: std::mem::take(&mut self.custom), ..Self::default() };
    }
}

/// What may be meant by a word: what is written out comes first, and where nothing else fits nothing is offered.
fn exact_first(mut candidates: Vec<Candidate>, word: &str) -> Vec<Candidate> {
    if candidates.iter().all(|candidate| candidate.text == word) {
        return Vec::new();
    }
    candidates.sort_by_key(|candidate| candidate.text != word);
    candidates
}

/// Whether the chosen word of a list is meant: the person wrote something of it, or went to it. What is offered first
/// to an impatient Enter is not; a file is one word of many.
pub(super) fn is_meant(prompt: &Prompt) -> bool {
    let Some(completion) = &prompt.completion else { return false };
    let is_file = completion.chosen().is_some_and(|chosen| chosen.text.starts_with('@'));
    (completion.moved || !prompt.word().1.is_empty()) && !is_file
}

/// Whether a command stands there with the one word that may follow it.
pub(super) fn is_whole(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let name = words.next().and_then(|word| word.strip_prefix('/'));
    let takes_one = |name: &str| slash::TABLE.iter().any(|row| row.is_called(name) && row.takes_one_word());
    name.is_some_and(takes_one) && words.count() == 1
}

/// The names that may follow `/agents VERB`.
fn agents_for(before: &str, agents: &Agents) -> Option<Vec<String>> {
    let mut words = before.split_whitespace();
    let of_agents = matches!(words.next(), Some("/agents" | "/agent")) && words.next().is_some();
    let names = agents.outline().into_iter().map(|(_, node)| clean_line(&node.name));
    (of_agents && words.next().is_none()).then(|| names.collect())
}

/// Whether a command stands there that nothing can follow.
pub(super) fn wants_nothing_more(text: &str) -> bool {
    let name = text.trim_end().strip_prefix('/');
    name.is_some_and(|name| slash::TABLE.iter().any(|row| row.name == name && row.argument.is_empty()))
}

/// Whether a command stands there that something may follow which only the host knows.
fn takes_argument(before: &str) -> bool {
    let Some(name) = before.strip_prefix('/').and_then(|line| line.split_whitespace().next()) else { return false };
    before.ends_with(' ') && slash::TABLE.iter().any(|row| row.is_called(name) && !row.argument.is_empty())
}

/// Those that begin so first, then those that have it somewhere.
fn near_commands(name: &str, custom: &[Custom]) -> Vec<Candidate> {
    let of_table = slash::TABLE.iter().map(|row| (row.name, row.argument, row.help, row.aliases));
    let other: Vec<Option<String>> = custom.iter().map(Custom::other_name).collect();
    let other: Vec<Vec<&str>> = other.iter().map(|name| name.iter().map(String::as_str).collect()).collect();
    let own = custom.iter().zip(&other).map(|(custom, other)| {
        (custom.name.as_str(), custom.argument.as_str(), custom.help.as_str(), other.as_slice())
    });
    let all: Vec<(&str, &str, &str, &[&str])> = of_table.chain(own).collect();
    let begins = |(known, .., aliases): &&(&str, &str, &str, &[&str])| {
        known.starts_with(name) || aliases.iter().any(|alias| !name.is_empty() && alias.starts_with(name))
    };
    let has = |entry: &&(&str, &str, &str, &[&str])| !name.is_empty() && !begins(entry) && entry.0.contains(name);
    // What is written out comes before what it is the beginning of.
    let mut beginning: Vec<&(&str, &str, &str, &[&str])> = all.iter().filter(begins).collect();
    // An other name of something comes last: who writes a few letters hardly means that.
    beginning.sort_by_key(|entry| (entry.0 != name && !entry.3.contains(&name), !entry.0.starts_with(name)));
    let candidate = |(name, argument, help, _): &(&str, &str, &str, &[&str])| {
        Candidate::new(&format!("/{name}"), help).taking(argument)
    };
    beginning.into_iter().chain(all.iter().filter(has)).map(candidate).collect()
}

/// The skills that begin so, then those that have it somewhere; what is written out comes first.
fn near_skills(name: &str, custom: &[Custom]) -> Vec<Candidate> {
    let is_near = |own: &&Custom| {
        own.name.contains(name) || own.also.as_ref().is_some_and(|also| !name.is_empty() && also.starts_with(name))
    };
    let mut near: Vec<&Custom> = custom.iter().filter(|own| own.is_skill).filter(is_near).collect();
    near.sort_by_key(|own| (own.name != name, !own.name.starts_with(name)));
    near.iter().map(|own| Candidate::new(&format!("${}", own.name), &own.help).taking(&own.argument)).collect()
}

/// The command whose argument is being written.
fn row_before(text: &str, from: usize) -> Option<&'static Row> {
    let name = text.strip_prefix('/')?.get(..from.checked_sub(1)?)?.trim();
    slash::TABLE.iter().find(|row| row.is_called(name) && !row.choices().is_empty())
}
