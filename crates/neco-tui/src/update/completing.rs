//! What may be meant by the word at the cursor: files after `@`, commands after `/`, and what may follow those.

use neco_proto::slash::{self, Custom, Row};

use super::effect::Effect;
use crate::app::App;
use crate::input::{Candidate, Completion, fits};

/// Files that are offered.
const FILES: usize = 40;

impl App {
    /// Offers what may be meant.
    pub(super) fn offer(&mut self) -> Vec<Effect> {
        self.prompt.completion = None;
        let text = self.prompt.text.as_str();
        let (from, word) = self.prompt.word();
        if let Some(name) = word.strip_prefix('@') {
            let Some(files) = &self.files else { return vec![Effect::Files] };
            self.prompt.completion = Completion::new(from, near_files(files, name));
        } else if let Some(name) = word.strip_prefix('/').filter(|_| from == 0) {
            self.prompt.completion = Completion::new(0, near_commands(name, &self.custom));
        } else if let Some(row) = row_before(text, from) {
            let fitting = row.choices.iter().filter(|choice| choice.starts_with(word) && **choice != word);
            let candidate = |choice: &&str| Candidate { text: (*choice).to_owned(), help: String::new() };
            self.prompt.completion = Completion::new(from, fitting.map(candidate).collect());
        }
        Vec::new()
    }

    /// Takes what is chosen; a command that needs nothing more is run.
    pub(super) fn accept(&mut self) -> Vec<Effect> {
        if self.prompt.complete() { self.offer() } else { Vec::new() }
    }

    /// Whether a command stands there that nothing can follow.
    pub(super) fn wants_nothing_more(&self) -> bool {
        let text = self.prompt.text.as_str().trim_end();
        text.strip_prefix('/')
            .is_some_and(|name| slash::TABLE.iter().any(|row| row.name == name && row.argument.is_empty()))
    }

    /// A command that is written out is run; a list that is open is chosen from.
    pub(super) fn is_written_out(&self) -> bool {
        let text = self.prompt.text.as_str().trim_end();
        let Some(name) = text.strip_prefix('/') else { return false };
        let chosen = self.prompt.completion.as_ref().and_then(Completion::chosen);
        let is_chosen = chosen.is_some_and(|chosen| chosen.text == text);
        let exact =
            slash::TABLE.iter().any(|row| row.name == name) || self.custom.iter().any(|custom| custom.name == name);
        exact && is_chosen || name.contains(' ') && slash::parse(text, &self.custom).is_ok()
    }

    /// The files are known now.
    pub(super) fn found_files(&mut self, files: Vec<String>) -> Vec<Effect> {
        self.files = Some(files);
        self.offer()
    }
}

fn near_files(files: &[String], name: &str) -> Vec<Candidate> {
    let mut near: Vec<(i64, &String)> = files.iter().filter_map(|file| Some((fits(name, file)?, file))).collect();
    near.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(other.1)));
    near.into_iter().take(FILES).map(|(_, file)| Candidate { text: format!("@{file}"), help: String::new() }).collect()
}

/// Those that begin so first, then those that have it somewhere.
fn near_commands(name: &str, custom: &[Custom]) -> Vec<Candidate> {
    let of_table = slash::TABLE.iter().map(|row| (row.name, row.argument, row.help, row.aliases));
    let own = custom
        .iter()
        .map(|custom| (custom.name.as_str(), custom.argument.as_str(), custom.help.as_str(), [].as_slice()));
    let all: Vec<(&str, &str, &str, &[&str])> = of_table.chain(own).collect();
    let begins = |(known, .., aliases): &&(&str, &str, &str, &[&str])| {
        known.starts_with(name) || aliases.iter().any(|alias| !name.is_empty() && alias.starts_with(name))
    };
    let has = |entry: &&(&str, &str, &str, &[&str])| !name.is_empty() && !begins(entry) && entry.0.contains(name);
    // What is written out comes before what it is the beginning of.
    let mut beginning: Vec<&(&str, &str, &str, &[&str])> = all.iter().filter(begins).collect();
    beginning.sort_by_key(|entry| entry.0 != name);
    let candidate = |(name, argument, help, _): &(&str, &str, &str, &[&str])| Candidate {
        text: format!("/{name}"),
        help: format!("{argument} {help}").trim().to_owned(),
    };
    beginning.into_iter().chain(all.iter().filter(has)).map(candidate).collect()
}

/// The command whose argument is being written.
fn row_before(text: &str, from: usize) -> Option<&'static Row> {
    let name = text.strip_prefix('/')?.get(..from.checked_sub(1)?)?.trim();
    slash::TABLE.iter().find(|row| row.is_called(name) && !row.choices.is_empty())
}
