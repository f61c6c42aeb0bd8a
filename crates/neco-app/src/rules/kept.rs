//! Rules that are kept for good: what a person said "always" to, and what they added.

use std::io;
use std::path::Path;

use neco_proto::app::AppError;
use neco_proto::app::rules::{AddRule, GivenRules, KeptRule, KeptRules, ListKeptRules, RemoveRules};
use neco_proto::visible::visible_line;
use neco_safety::command::Place;
use neco_safety::policy::{self, Rule, RuleReader, Source};

use super::here::Here;
use crate::app::StorelessApp;
use crate::error::invalid;
use crate::workspace::rules::AlwaysFile;

pub(crate) async fn kept(app: &StorelessApp, _: ListKeptRules) -> Result<KeptRules, AppError> {
    let file = AlwaysFile::of(&app.env);
    let texts = policy::kept(file.path()).map_err(|error| unusable(&file, &error))?;
    Ok(told(&file, texts))
}

pub(crate) async fn add(app: &StorelessApp, request: AddRule) -> Result<KeptRules, AppError> {
    if request.folder.is_empty() {
        return Err(invalid("a rule that is kept holds in a folder, and none is named"));
    }
    let (ruling, what) = request.rule.trim().split_once(char::is_whitespace).ok_or_else(|| invalid(HOW))?;
    let what = what.trim();
    let one = vec![what.to_owned()];
    let given = match ruling {
        "allow" => GivenRules { allow: one, ..GivenRules::default() },
        "ask" => GivenRules { ask: one, ..GivenRules::default() },
        "deny" => GivenRules { deny: one, ..GivenRules::default() },
        _ => return Err(invalid(HOW)),
    };
    let flag = format!("--{ruling} ");
    let refused = |error: AppError| invalid(format!("no rule was added: {}", error.message.replace(&flag, "")));
    Here::look(app, &request.folder, &given).map_err(refused)?;
    let folder = Path::new(&request.folder);
    let rule = text_of(ruling, what, folder)?;
    can_be_read(&rule, folder)?;
    let file = AlwaysFile::of(&app.env);
    policy::keep(file.path(), &rule).map_err(|error| unusable(&file, &error))?;
    app.open.renew_kept().await;
    Ok(told(&file, vec![rule]))
}

pub(crate) async fn remove(app: &StorelessApp, request: RemoveRules) -> Result<KeptRules, AppError> {
    let file = AlwaysFile::of(&app.env);
    let texts: Vec<&str> = request.rules.iter().map(String::as_str).collect();
    policy::forget(file.path(), &texts).map_err(|error| unusable(&file, &error))?;
    app.open.renew_kept().await;
    Ok(told(&file, request.rules))
}

fn told(file: &AlwaysFile, texts: Vec<String>) -> KeptRules {
    let rules = texts.into_iter().map(|text| KeptRule { title: title(&text), text }).collect();
    KeptRules { file: file.shown().to_owned(), rules }
}

fn unusable(file: &AlwaysFile, error: &io::Error) -> AppError {
    invalid(format!("{}: {error}", file.shown()))
}

/// Nothing may be kept that the next start could not read: it would not begin at all.
fn can_be_read(rule: &str, folder: &Path) -> Result<(), AppError> {
    let place = Place { workspace: folder.to_owned(), folder: folder.to_owned(), ..Place::default() };
    let read = RuleReader { place: &place }.file(rule, "", Source::User);
    match (read.rules.len(), read.problems.first()) {
        (1, None) => Ok(()),
        (_, problem) => {
            let words = problem.map_or(HOW, |problem| &problem.message);
            Err(invalid(format!("no rule was added: {words}")))
        }
    }
}

const HOW: &str = "a rule is allow, ask or deny, and what it is about: allow bash(cargo test *)";

/// Kinds of tools as people write them, and the tools they stand for.
const KINDS: &[(&str, &[&str])] = &[
    ("bash", &["bash", "git", "diagnostics"]),
    ("read", &["read_file", "list_directory", "glob", "grep", "code_search", "code_index"]),
    ("edit", &["edit_file", "write_file", "apply_patch"]),
    ("write", &["write_file", "apply_patch"]),
];

/// The rule as a file has it: the brackets hold a command, a domain or files. It holds in `folder`, as what a
/// person says "always" to does.
fn text_of(ruling: &str, what: &str, folder: &Path) -> Result<String, AppError> {
    let (name, inside) = what.strip_suffix(')').unwrap_or(what).split_once('(').unwrap_or((what, ""));
    let (name, inside) = (name.trim().to_lowercase(), inside.trim());
    let tools = KINDS.iter().find(|(kind, _)| *kind == name).map(|(_, tools)| tools.to_vec());
    let runs = name == "bash";
    let tools = tools.unwrap_or_else(|| vec![name.as_str()]);
    let tools: Vec<String> = tools.into_iter().map(quoted).collect();
    let about = match (inside, inside.strip_prefix("domain:")) {
        ("" | "*", _) => String::new(),
        (_, Some(host)) => format!("host = {}\n", quoted(host)),
        (command, None) if runs => about_command(command)?,
        (path, None) => format!("path = {}\n", quoted(path)),
    };
    let (tools, folder) = (tools.join(", "), quoted(&folder.to_string_lossy()));
    Ok(format!("[[rule]]\ntool = [{tools}]\n{about}decision = \"{ruling}\"\nkept = true\nworkspace = {folder}\n"))
}

/// With ` *` or `:*` at the end every line that begins so, otherwise that line alone.
fn about_command(command: &str) -> Result<String, AppError> {
    let (field, text) = match command.strip_suffix(" *").or_else(|| command.strip_suffix(":*")) {
        Some(beginning) => ("command", beginning),
        None => ("line", command),
    };
    if text.contains('*') {
        return Err(invalid(format!("{command}: a * stands at the end of a command, after a blank")));
    }
    Ok(format!("{field} = {}\n", quoted(text)))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A rule in one line: what it says, or its own text when that can't be told.
fn title(rule: &str) -> String {
    let place = Place::default();
    let read = RuleReader { place: &place }.file(rule, "", Source::User);
    let words = read.rules.first().map_or_else(|| rule.replace('\n', " "), Rule::title);
    visible_line(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_as_people_write_it_is_one_of_the_file() {
        for (ruling, what) in [
            ("allow", "bash(cargo test *)"),
            ("deny", "edit(src/**)"),
            ("ask", "web_fetch(domain:docs.rs)"),
            ("allow", "grep"),
        ] {
            let text = text_of(ruling, what, Path::new("/home/me/a \"b\"")).unwrap();
            can_be_read(&text, Path::new("/home/me")).unwrap();
            let place = Place::default();
            let read = RuleReader { place: &place }.file(&text, "", Source::User);
            assert_eq!((read.rules.len(), read.problems.len()), (1, 0), "{text} {:?}", read.problems);
            assert_eq!(read.rules[0].decision.to_string(), ruling);
            assert_eq!(read.rules[0].when.workspaces, [Path::new("/home/me/a \"b\"")]);
        }
    }

    #[test]
    fn what_the_next_start_could_not_read_is_not_kept() {
        let folder = Path::new("/home/me");
        for what in ["bash(cargo test *)", "bash(git push:*)", "bash(ls)", "edit(src/**)"] {
            let text = text_of("allow", what, folder).unwrap();
            assert!(!text.contains("command = \"cargo test *\""), "{text}");
            assert_eq!(can_be_read(&text, folder), Ok(()), "{text}");
        }
        assert!(text_of("allow", "bash(cargo * test)", folder).is_err());
        let broken = "[[rule]]\ntool = [\"bash\"]\ncommand = \"cargo test *\"\ndecision = \"allow\"\nkept = true\n";
        assert!(can_be_read(broken, folder).is_err());
        assert!(can_be_read("", folder).is_err());
    }
}
