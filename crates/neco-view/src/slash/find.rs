//! Which command a line asks for, and which one was meant.

use super::command::{Slash, SlashError};
use super::table::{Custom, ELSEWHERE, TABLE};

/// The command that `line` (which begins with a slash) asks for; `custom` are those that a person or a folder
/// brought along, and never stand in for one of the table.
///
/// # Errors
/// When it is no command, or what follows it makes no sense.
pub fn parse(line: &str, custom: &[Custom]) -> Result<Slash, SlashError> {
    let line = line.trim().trim_start_matches('/');
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let argument = argument.trim();
    if let Some(row) = TABLE.iter().find(|row| row.is_called(name)) {
        if row.argument.is_empty() && !row.words && !argument.is_empty() {
            return Err(SlashError::NoArgument { name: name.to_owned(), argument: argument.to_owned() });
        }
        return (row.read)(argument);
    }
    let own = custom.iter().find(|custom| custom.name == name);
    let own = own.or_else(|| custom.iter().find(|custom| custom.is_also_called(name))).map(|custom| &*custom.name);
    if let Some(name) = own.or(Some(name).filter(|name| is_prompt(name))) {
        return Ok(Slash::Custom { name: name.to_owned(), argument: argument.to_owned() });
    }
    if let Some((_, words)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&name)) {
        return Err(SlashError::Elsewhere(words));
    }
    Err(match near(name, custom) {
        Some(near) => SlashError::Misspelt { name: name.to_owned(), near: near.to_owned() },
        None => SlashError::Unknown { name: name.to_owned() },
    })
}

/// Whether `line` begins with a command of the table, whatever follows it.
pub fn is_known(line: &str) -> bool {
    let name = line.trim().trim_start_matches('/').split(char::is_whitespace).next().unwrap_or_default();
    TABLE.iter().any(|row| row.is_called(name))
}

/// Whether a command has the name of a prompt of an MCP server, `mcp__SERVER__PROMPT`: nobody knows the prompts of one
/// that never ran.
pub fn is_prompt(name: &str) -> bool {
    let parts = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    parts.is_some_and(|(server, prompt)| !server.is_empty() && !prompt.is_empty())
}

/// The command that somebody meant who wrote `name`: one that begins so, or one that is a slip of the finger away.
fn near<'a>(name: &str, custom: &'a [Custom]) -> Option<&'a str> {
    let names = || TABLE.iter().map(|row| row.name).chain(custom.iter().map(|custom| custom.name.as_str()));
    let aliases = TABLE.iter().flat_map(|row| row.aliases.iter().copied());
    let begins = names().filter(|_| !name.is_empty()).find(|known| known.starts_with(name));
    begins.or_else(|| nearest(name, names().chain(aliases)))
}

/// The one of `known` that is `name` but for a slip of the finger.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slips = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
    // Of a short name one letter may be wrong; with two it is another word.
    let near = slips.filter(|(slips, _)| *slips <= (name.chars().count() / 3).max(1));
    // Letters that changed places are likelier than one that is missing.
    near.min_by_key(|(slips, known)| (*slips, known.len().abs_diff(name.len()))).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::super::command::Outside;
    use super::*;
    use crate::setting::Setting;

    #[test]
    fn every_row_is_read_and_every_choice_is_taken() {
        for row in TABLE {
            assert!(!row.help.is_empty());
            for choice in row.choices() {
                assert!(parse(&format!("/{} {choice}", row.name), &[]).is_ok(), "{} {choice}", row.name);
            }
            for alias in row.aliases {
                assert_eq!(TABLE.iter().filter(|other| other.is_called(alias)).count(), 1, "{alias}");
            }
        }
        // The numbers of generations are a range in the help.
        for row in TABLE.iter().filter(|row| row.setting.is_some_and(|setting| setting != Setting::Generation)) {
            assert_eq!(row.argument, format!("[{}]", row.choices().join("|")));
        }
        assert_eq!(parse("/compact keep the figures", &[]), Ok(Slash::Compact(Some("keep the figures".into()))));
        assert_eq!(parse("/sessions", &[]), Ok(Slash::Outside(Outside::Sessions, String::new())));
        assert_eq!(parse("/mod", &[]).unwrap_err().to_string(), "There is no /mod; did you mean /model?");
        assert_eq!(parse("/hepl", &[]).unwrap_err().to_string(), "There is no /hepl; did you mean /help?");
        assert_eq!(parse("/claer", &[]).unwrap_err().to_string(), "There is no /claer; did you mean /clear?");
        assert_eq!(parse("/mcp restart x", &[]), Ok(Slash::Outside(Outside::Mcp, "restart x".into())));
        // What looks like another command only because both are short is none of it.
        for (line, words) in [
            ("/yolo", "/approval auto asks only about what could do most harm"),
            ("/tofu", "There is no /tofu; /help lists the commands"),
            ("/hlep", "There is no /hlep; did you mean /help?"),
            ("/permisions", "There is no /permisions; did you mean /permissions?"),
            ("/release-notes", "CHANGELOG.md of Neco's sources says what is new; neco --version is yours"),
            ("/model a/b /mod", "The name of a model has no blanks, and got `a/b /mod`; /model lists the models"),
        ] {
            assert_eq!(parse(line, &[]).unwrap_err().to_string(), words);
        }
        for (other, ours) in [("/stats", "/cost"), ("/tasks", "/ps"), ("/summarize", "/compact"), ("/quit", "/exit")] {
            assert_eq!(parse(other, &[]), parse(ours, &[]), "{other}");
        }
        assert_eq!(parse("/skills", &[]), Ok(Slash::Outside(Outside::Skills, String::new())));
        assert_eq!(parse("/effort high", &[]), Ok(Slash::Outside(Outside::Effort, "high".into())));
        assert_eq!(parse("/reasoning", &[]), parse("/effort", &[]));
        assert!(parse("/effort huge", &[]).unwrap_err().to_string().contains("xhigh or max"));
        for line in ["/think", "/fast"] {
            assert!(parse(line, &[]).unwrap_err().to_string().contains("/effort"), "{line}");
        }
        for line in ["/terminal-setup", "/upgrade", "/pr-comments", "/btw"] {
            assert!(!parse(line, &[]).unwrap_err().to_string().starts_with("There is no"), "{line}");
        }
        assert_eq!(parse("/xyzzy", &[]).unwrap_err().to_string(), "There is no /xyzzy; /help lists the commands");
    }

    #[test]
    fn what_there_is_not_is_named_and_nothing_tells_what_is_set() {
        assert_eq!(
            parse("/mode bogus", &[]).unwrap_err().to_string(),
            "There is no `bogus`: /mode agent, plan, ask or debug"
        );
        assert_eq!(
            parse("/theme pink", &[]).unwrap_err().to_string(),
            "There is no `pink`: /theme auto, dark, light, 16 or none"
        );
        assert_eq!(parse("/approval", &[]), Ok(Slash::How(Setting::Approval)));
        for (line, words) in [
            ("/cost now", "/cost takes no argument, and got `now`"),
            ("/sandbox off", "There is no `off`: /sandbox read_only, workspace_write or full"),
            ("/trust maybe", "There is no `maybe`: /trust, /trust show, /trust yes or /trust no"),
        ] {
            assert_eq!(parse(line, &[]).unwrap_err().to_string(), words);
        }
        let settings = [Setting::Mode, Setting::Approval, Setting::Generation, Setting::Theme, Setting::Sandbox];
        for (setting, count) in settings.into_iter().zip([4, 4, 8, 5, 3]) {
            assert_eq!(setting.choices().len(), count, "{setting:?}");
        }
        assert_eq!(Setting::Theme.told("dark"), "theme is dark; /theme auto, dark, light, 16 or none");
    }

    #[test]
    fn a_command_of_ones_own_never_stands_in_for_one_of_the_table() {
        let custom = |name: &str| Custom { name: name.into(), ..Custom::default() };
        let custom = [custom("ship"), custom("exit")];
        let ship = Slash::Custom { name: "ship".into(), argument: "it now".into() };
        assert_eq!(parse("/ship  it now ", &custom), Ok(ship));
        assert_eq!(parse("/exit", &custom), Ok(Slash::Exit));
        assert_eq!(parse("/shi", &custom).unwrap_err().to_string(), "There is no /shi; did you mean /ship?");
    }

    #[test]
    fn a_skill_of_a_plugin_goes_by_its_name_in_full_too() {
        let custom = |name: &str, also: Option<&str>| Custom {
            name: name.into(),
            also: also.map(str::to_owned),
            ..Custom::default()
        };
        let custom = [custom("greet", Some("kit:greet")), custom("ship", None)];
        let greet = Ok(Slash::Custom { name: "greet".into(), argument: "all".into() });
        assert_eq!((parse("/greet all", &custom), parse("/kit:greet all", &custom)), (greet.clone(), greet));
        assert!(parse("/kit:ship", &custom).is_err());
    }

    #[test]
    fn a_prompt_of_a_server_goes_by_two_names() {
        let custom = |name: &str| Custom { name: name.into(), ..Custom::default() };
        let custom = [custom("mcp__git__review"), custom("git:commit")];
        let review = Ok(Slash::Custom { name: "mcp__git__review".into(), argument: "a.rs".into() });
        assert_eq!(parse("/mcp__git__review a.rs", &custom), review);
        assert_eq!(parse("/git:review a.rs", &custom), review);
        assert_eq!(
            parse("/git:commit", &custom),
            Ok(Slash::Custom { name: "git:commit".into(), argument: String::new() })
        );
        // Of a server that never ran nobody knows the prompts.
        assert_eq!(parse("/mcp__git__review a.rs", &[]), review);
        for line in ["/git:review", "/mcp__git", "/mcp____x", "/mcp__git__"] {
            assert!(parse(line, &[]).is_err(), "{line}");
        }
    }
}
