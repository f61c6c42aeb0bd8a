//! What is wrong with a skill, for whoever writes one: as strict as the format is, so that other agents take it too.

use std::path::Path;

use neco_config::front_matter::{Field, Parted, Reading, part};
use neco_safety::policy::RuleReader;
use neco_safety::{Policy, Ruling, tools};

use super::head::{self, LONGEST_DESCRIPTION, LONGEST_NAME, is_name};
use super::{FILE, TRUSTED, skill_hooks};
use crate::arguments::is_argument_name;
use crate::folder_files::FolderFiles;
use crate::hooks::Origin;

/// Fields of the format.
const FIELDS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed_tools"];

/// Fields that Neco and other agents know besides.
const MORE: [&str; 9] = [
    "disable_model_invocation",
    "user_invocable",
    "argument_hint",
    "arguments",
    "model",
    "context",
    "agent",
    "hooks",
    "version",
];

/// The longest text about what it needs.
const LONGEST_COMPATIBILITY: usize = 500;

/// Lines of a text past which others advise to put parts into files of their own.
const LONG: usize = 500;

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProblem {
    /// The line, from 1.
    pub line: usize,
    /// Whether others refuse the skill for it.
    pub is_error: bool,
    /// What is wrong.
    pub what: String,
}

/// What is wrong with the skill of a folder whose file says this.
pub fn check(folder: &Path, text: &str) -> Vec<SkillProblem> {
    let mut problems = Problems(Vec::new());
    match part(text, Reading::Strict) {
        Parted::Whole { fields, stray, body, body_line } => {
            stray.iter().for_each(|(line, _)| problems.error(*line, "this line belongs to no field"));
            problems.fields(&fields, folder);
            if body.trim().is_empty() {
                problems.warning(body_line, "there is no text below the head: it is what the model is told");
            }
            if let Some((at, line)) = body.lines().enumerate().find(|(_, line)| has_command(line)) {
                let words = "Neco does not run what stands in `!` and backquotes: the model is told it as it stands";
                problems.warning(body_line + at, format!("{words}: {}", line.trim()));
            }
            if body.lines().count() > LONG {
                problems.warning(body_line, "the text is long: what is needed seldom belongs into files beside it");
            }
        }
        Parted::Open => problems.error(1, "the head that begins here has no end: a line --- is missing"),
        Parted::None => problems.error(1, "it does not begin with a line ---, then name and description"),
    }
    if let Err(error) = FolderFiles::of(folder, TRUSTED).and_then(|files| files.hash()) {
        problems.warning(1, format!("as a project's skill it can't be trusted: {error}"));
    }
    problems.0.sort_by_key(|problem| problem.line);
    problems.0
}

/// Whether others would run a command in a line of a text.
fn has_command(line: &str) -> bool {
    let before = |at: usize| line.get(..at).and_then(|before| before.chars().next_back());
    line.starts_with("```!") || line.match_indices("!`").any(|(at, _)| before(at).is_none_or(char::is_whitespace))
}

struct Problems(Vec<SkillProblem>);

impl Problems {
    fn error(&mut self, line: usize, what: impl Into<String>) {
        self.0.push(SkillProblem { line, is_error: true, what: what.into() });
    }

    fn warning(&mut self, line: usize, what: impl Into<String>) {
        self.0.push(SkillProblem { line, is_error: false, what: what.into() });
    }

    fn fields(&mut self, fields: &[Field], folder: &Path) {
        let get = |name: &str| fields.iter().find(|field| field.name == name);
        for field in fields {
            if let Err((line, words)) = field.value() {
                self.error(line, format!("{} is no YAML, so others can't read it: {words}", field.written));
            }
            if MORE.contains(&field.name.as_str()) {
                self.warning(
                    field.line,
                    format!("{} is known here, but is no field of the format: agentskills refuses it", field.written),
                );
            } else if !FIELDS.contains(&field.name.as_str()) {
                self.error(field.line, format!("there is no field {}", field.written));
            }
        }
        let hooks = skill_hooks::of_fields(fields, &Origin::User { file: FILE.into() });
        if let (Some(field), Err(error)) = (get("hooks").filter(|field| field.value().is_ok()), hooks) {
            self.error(field.line, format!("the skill is left out: {error}"));
        }
        if let Some(field) = get("allowed_tools") {
            self.allowed_tools(field);
        }
        if let Some(field) = get("arguments") {
            for name in head::tools(field).into_iter().filter(|name| !is_argument_name(name)) {
                let words = format!("{name:?} is no name of an argument: letters, digits, `_` and `-`");
                self.error(line_of(field, &name), words);
            }
        }
        self.name(get("name"), folder);
        match get("description").map(|field| (field.line, field.words())) {
            None => self.error(1, "description is missing: skills are chosen by it"),
            Some((line, text)) if text.trim().is_empty() => self.error(line, "description is empty"),
            Some((line, text)) if text.chars().count() > LONGEST_DESCRIPTION => {
                self.error(line, format!("description is longer than {LONGEST_DESCRIPTION} characters"));
            }
            Some(_) => {}
        }
        if let Some(field) = get("compatibility").filter(|field| field.words().chars().count() > LONGEST_COMPATIBILITY)
        {
            self.error(field.line, format!("compatibility is longer than {LONGEST_COMPATIBILITY} characters"));
        }
    }

    /// What is said of a tool that is not here is a warning: another agent may have it.
    fn allowed_tools(&mut self, field: &Field) {
        let policy = Policy::default();
        let reader = RuleReader { place: policy.place() };
        for rule in head::tools(field) {
            let line = line_of(field, &rule);
            if let Some(name) = unknown_tool(&rule) {
                let meant = tools::misspelt(name).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                self.warning(line, format!("there is no tool {name} here, so {rule} leaves nothing{meant}"));
            } else if let Some(problem) = reader.flag(Ruling::Allow, &rule).problems.first() {
                self.error(line, format!("{}: {}", field.written, problem.message));
            }
        }
    }

    fn name(&mut self, field: Option<&Field>, folder: &Path) {
        let Some(field) = field else { return self.error(1, "name is missing") };
        let (name, line) = (field.words(), field.line);
        if !is_name(&name) {
            let words =
                format!("{name:?} is no name: small letters, digits and single hyphens, at most {LONGEST_NAME}");
            return self.error(line, words);
        }
        if folder.file_name().is_some_and(|folder| folder != name.as_str()) {
            self.error(line, format!("the folder of {FILE} has to be called {name} too"));
        }
    }
}

/// The tool that a rule names where there is none of that name; a server's may come.
fn unknown_tool(rule: &str) -> Option<&str> {
    let name = rule.split('(').next().unwrap_or_default().trim();
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_') && !name.contains("__");
    let is_known = tools::is_known(&tools::spelling(name)) || tools::kind(name).is_some();
    (is_plain && !name.is_empty() && !is_known).then_some(name)
}

/// The line of a field that a text stands in.
fn line_of(field: &Field, text: &str) -> usize {
    field.line + field.text.lines().position(|line| line.contains(text)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn wrong(text: &str) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("pdf");
        fs::create_dir(&folder).unwrap();
        check(&folder, text).into_iter().filter(|problem| problem.is_error).map(|problem| problem.what).collect()
    }

    #[test]
    fn the_format_is_held_to_the_letter() {
        assert!(wrong("---\nname: pdf\ndescription: Reads PDFs.\nmetadata:\n  a: b\n---\nDo it.\n").is_empty());
        for (text, said) in [
            ("Do it.", "does not begin"),
            ("---\nname: pdf\n", "no end"),
            ("---\nname: Pdf\ndescription: d\n---\nx", "is no name"),
            ("---\nname: other\ndescription: d\n---\nx", "has to be called other"),
            ("---\nname: pdf\n---\nx", "description is missing"),
            ("---\nname: pdf\ndescription: d\ncolour: red\n---\nx", "there is no field colour"),
            ("---\nname: pdf\ndescription: a: b\n---\nx", "no YAML"),
        ] {
            let found = wrong(text);
            assert!(found.iter().any(|what| what.contains(said)), "{text:?}: {found:?}");
        }
        let long = format!("---\nname: pdf\ndescription: {}\n---\nx", "d".repeat(1025));
        assert!(wrong(&long)[0].contains("longer than 1024"));
    }

    #[test]
    fn allowed_tools_are_looked_at_one_by_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("pdf");
        fs::create_dir(&folder).unwrap();
        let of = |tools: &str| {
            let found = check(&folder, &format!("---\nname: pdf\ndescription: d\nallowed-tools:{tools}\n---\nx"));
            found.into_iter().map(|one| (one.line, one.is_error, one.what)).collect::<Vec<_>>()
        };
        for known in [
            " Bash(git:*) Bash(git *) Read, Grep",
            " [Bash(ls), mcp__db, mcp__db__*, \"mcp__db__query\"]",
            "\n  - Task\n  - WebFetch(domain:example.com)\n  - Edit(src/**)",
            " \"*\"",
        ] {
            assert_eq!(of(known), [], "{known}");
        }
        let found = of("\n  - Read\n  - Bsh(ls)\n  - NotebookTidy");
        assert_eq!((found.len(), found[0].0, found[0].1, found[1].0), (2, 6, false, 7), "{found:?}");
        assert!(found[0].2.contains("there is no tool Bsh here") && found[0].2.contains("did you mean bash?"));
        let found = of(" Read Bash(git");
        assert!(found.len() == 1 && found[0].1 && found[0].2.contains("closing bracket"), "{found:?}");
    }

    #[test]
    fn what_only_some_agents_know_is_told_and_is_no_error() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("pdf");
        fs::create_dir(&folder).unwrap();
        let found = check(&folder, "---\nname: pdf\ndescription: d\nmodel: opus\n---\nx");
        assert!(found.len() == 1 && !found[0].is_error && found[0].line == 4, "{found:?}");
        for text in ["Do it.\nNow: !`git status`", "Do it.\n```!\nls\n```"] {
            let found = check(&folder, &format!("---\nname: pdf\ndescription: d\n---\n{text}"));
            assert!(found.len() == 1 && !found[0].is_error && found[0].line == 6, "{found:?}");
        }
        assert_eq!(check(&folder, "---\nname: pdf\ndescription: d\n---\nSay `yes!` and wow!`no`"), []);
    }
}
