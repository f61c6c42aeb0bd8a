//! The rules about what may happen, as a window lists and changes them.

use std::path::Path;

use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::rules::{self, AlwaysFile};
use neco_config::{Env, Loaded};
use neco_proto::app::AppError;
use neco_proto::visible::visible_line;
use neco_safety::command::Place;
use neco_safety::policy::{Rule, RuleReader, Source, forget, keep, kept};
use neco_tui::host::RuleEntry;

use crate::failure::Failure;
use crate::rule_args::RuleArgs;

/// Those that a person can take back first, then all others but the built-in ones, then those.
///
/// # Errors
/// When rules can't be understood.
pub fn list(folder: &Path, args: &RuleArgs, loaded: &Loaded, env: &Env) -> Result<Vec<RuleEntry>, Failure> {
    let plugged = Plugged::look(env, folder, loaded);
    let loaded = rules::load(&args.flags(), env, folder, loaded, &plugged)?;
    let always = AlwaysFile::of(env);
    let own = kept(always.path()).unwrap_or_default();
    let mut entries: Vec<RuleEntry> = own
        .iter()
        .map(|text| RuleEntry { id: Some(text.clone()), rule: title(text), from: "kept by you".to_owned() })
        .collect();
    let shown = always.shown().to_owned();
    let mut others: Vec<_> =
        loaded.policy.rules().iter().filter(|rule| !(rule.kept && rule.place.starts_with(&shown))).collect();
    others.sort_by_key(|rule| rule.source == Source::BuiltIn);
    entries.extend(others.into_iter().map(|rule| RuleEntry {
        id: None,
        rule: format!("{} {}", rule.decision, visible_line(&rule.when.to_string())),
        from: if rule.place.is_empty() { rule.source.to_string() } else { rule.place.clone() },
    }));
    Ok(entries)
}

/// Adds a rule to those that a person said "always" to: `allow`, `ask` or `deny`, and what about, as
/// `--allow` takes it.
///
/// # Errors
/// In words for the person.
pub fn add(line: &str, folder: &Path, loaded: &Loaded, env: &Env) -> Result<String, String> {
    let (ruling, what) = line.trim().split_once(char::is_whitespace).ok_or_else(how)?;
    let what = what.trim();
    let flags = |args: RuleArgs| {
        let plugged = Plugged::look(env, folder, loaded);
        let flag = format!("--{ruling} ");
        let words = |error: AppError| format!("nothing was kept: {}", error.message.replace(&flag, ""));
        rules::load(&args.flags(), env, folder, loaded, &plugged).map(drop).map_err(words)
    };
    let one = vec![what.to_owned()];
    match ruling {
        "allow" => flags(RuleArgs { allow: one, ..RuleArgs::default() })?,
        "ask" => flags(RuleArgs { ask: one, ..RuleArgs::default() })?,
        "deny" => flags(RuleArgs { deny: one, ..RuleArgs::default() })?,
        _ => return Err(how()),
    }
    let rule = text_of(ruling, what, folder)?;
    can_be_read(&rule, folder)?;
    let file = AlwaysFile::of(env);
    keep(file.path(), &rule).map_err(|error| format!("{}: {error}", file.shown()))?;
    Ok(format!("{ruling} {what}: kept for this folder in {}", file.shown()))
}

/// The rules that are kept for good, as they are now.
///
/// # Errors
/// When rules can't be understood.
pub fn kept_now(folder: &Path, args: &RuleArgs, loaded: &Loaded, env: &Env) -> Result<Vec<Rule>, Failure> {
    let plugged = Plugged::look(env, folder, loaded);
    let loaded = rules::load(&args.flags(), env, folder, loaded, &plugged)?;
    Ok(loaded.policy.rules().iter().filter(|rule| rule.kept).cloned().collect())
}

/// Nothing may be kept that the next start could not read: it would not begin at all.
fn can_be_read(rule: &str, folder: &Path) -> Result<(), String> {
    let place = Place { workspace: folder.to_owned(), folder: folder.to_owned(), ..Place::default() };
    let read = RuleReader { place: &place }.file(rule, "", Source::User);
    match (read.rules.len(), read.problems.first()) {
        (1, None) => Ok(()),
        (_, Some(problem)) => Err(format!("nothing was kept: {}", problem.message)),
        (_, None) => Err(format!("nothing was kept: {}", how())),
    }
}

/// Takes back a rule, by its text.
///
/// # Errors
/// In words for the person.
pub fn remove(rule: &str, env: &Env) -> Result<String, String> {
    let file = AlwaysFile::of(env);
    forget(file.path(), &[rule]).map_err(|error| format!("{}: {error}", file.shown()))?;
    Ok(format!("no longer: {}", title(rule)))
}

fn how() -> String {
    "a rule is allow, ask or deny, and what it is about: allow bash(cargo test *)".to_owned()
}

/// Kinds of tools as people write them, and the tools they stand for.
const KINDS: &[(&str, &[&str])] = &[
    ("bash", &["bash", "git", "diagnostics"]),
    ("read", &["read_file", "list_directory", "glob", "grep", "code_search", "code_index"]),
    ("edit", &["edit_file", "write_file", "apply_patch"]),
    ("write", &["write_file", "apply_patch"]),
];

/// The rule as a file has it: the brackets hold a command, a domain or files. It holds in `folder`, as what a
/// person says "always" to does.
fn text_of(ruling: &str, what: &str, folder: &Path) -> Result<String, String> {
    let (name, inside) = what.strip_suffix(')').unwrap_or(what).split_once('(').unwrap_or((what, ""));
    let (name, inside) = (name.trim().to_lowercase(), inside.trim());
    let tools = KINDS.iter().find(|(kind, _)| *kind == name).map(|(_, tools)| tools.to_vec());
    let runs = name == "bash";
    let tools = tools.unwrap_or_else(|| vec![name.as_str()]);
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
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
fn about_command(command: &str) -> Result<String, String> {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (field, text) = match command.strip_suffix(" *").or_else(|| command.strip_suffix(":*")) {
        Some(beginning) => ("command", beginning),
        None => ("line", command),
    };
    if text.contains('*') {
        return Err(format!("{command}: a * stands at the end of a command, after a blank"));
    }
    Ok(format!("{field} = {}\n", quoted(text)))
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
