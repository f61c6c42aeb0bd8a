//! Flags and commands of other agents, and what does the same here.

/// Commands of other tools, and what comes close here. As a message they are too short to be meant.
const COMMANDS: &[(&str, Option<&str>)] = &[
    ("list", Some("neco session list")),
    ("ls", Some("neco session list")),
    ("sessions", Some("neco session list")),
    ("history", Some("neco session list")),
    ("export", Some("neco session export")),
    ("import", Some("neco session import")),
    ("attach", Some("neco session attach")),
    ("rewind", Some("neco session rewind")),
    ("undo", Some("neco session rewind ID --undo")),
    ("fork", Some("neco session fork")),
    ("search", Some("neco session search")),
    ("continue", Some("neco --continue")),
    ("models", Some("neco model list")),
    ("providers", Some("neco auth list")),
    ("status", Some("neco doctor")),
    ("setup", Some("neco doctor")),
    ("configure", Some("neco config show")),
    ("settings", Some("neco config show")),
    ("permissions", Some("neco policy list")),
    ("version", Some("neco --version")),
    ("agent", Some("neco agents list")),
    ("mcp", None),
    ("web", None),
    ("serve", None),
    ("server", None),
    ("acp", None),
    ("tui", Some("neco")),
    ("start", Some("neco")),
    ("update", None),
    ("upgrade", None),
    ("install", None),
    ("uninstall", None),
];

/// Flags of other agents, and what to write here.
const FLAGS: &[(&[&str], &str)] = &[
    (
        &["--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo"],
        "--yes asks only about what is critical; --sandbox full takes the sandbox away",
    ),
    (&["--full-auto", "--auto", "--force"], "--yes asks only about what is critical, and commands stay in the sandbox"),
    (&["--allowedTools", "--allowed-tools", "--allow-tool"], "--allow RULE, such as --allow 'bash(git log *)'"),
    (&["--disallowedTools", "--disallowed-tools", "--deny-tool"], "--deny RULE, such as --deny 'bash(git push *)'"),
    (&["--permission-mode"], "--mode plan|agent and --approval auto|ask_first|manual"),
    (&["--ask-for-approval", "--approval-mode"], "--approval auto|ask_first|manual"),
    (
        &["--system-prompt", "--append-system-prompt"],
        "rules for the model are written in AGENTS.md; `neco init` begins one",
    ),
    (&["--mcp-config", "--strict-mcp-config"], "there are no MCP servers yet"),
    (&["--settings", "--profile"], "-c KEY=VALUE sets one setting; NECO_HOME names another folder of settings"),
    (&["--json"], "--output-format json is one object at the end, --output-format stream-json one event a line"),
    (&["--verbose"], "--debug writes a log file; --output-format stream-json prints every event"),
    (&["--prompt", "--query"], "-m TEXT"),
    (&["--dir", "--directory", "--workdir"], "-C DIR"),
    (&["--search"], "the model has web_search; --network lets commands reach the network, too"),
    (&["--oss", "--local-provider"], "--model ollama/MODEL; `neco doctor` finds local servers"),
    (&["--effort", "--thinking", "--variant"], "--model 'provider/model?reasoning=high'"),
    (&["--max-budget-usd"], "--max-cost USD"),
    (&["--fork-session", "--fork"], "neco session fork ID makes a second session; --resume continues it"),
    (&["--session-id"], "--session ID continues a session; a new one gets its id by itself"),
    (&["--fallback-model"], "[model_groups.NAME] in config.toml lists models that stand in for each other"),
    (&["--skip-git-repo-check"], "it is not needed: any folder will do"),
    (&["--include-partial-messages"], "--output-format stream-json has the words as they come"),
];

/// What comes close to a command of another tool; `None` when it is none, and nothing inside when nothing does.
pub fn command(word: &str) -> Option<Option<&'static str>> {
    COMMANDS.iter().find(|(name, _)| *name == word).map(|(_, instead)| *instead)
}

/// What is written here for a flag of another agent.
pub fn flag(written: &str) -> Option<&'static str> {
    let name = written.split('=').next().unwrap_or(written);
    FLAGS.iter().find(|(names, _)| names.contains(&name)).map(|(_, here)| *here)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    #[test]
    fn nothing_of_ours_is_in_the_lists() {
        let ours = CommandLine::command();
        for command in ours.get_subcommands() {
            let names = std::iter::once(command.get_name()).chain(command.get_all_aliases());
            names.for_each(|name| assert_eq!(self::command(name), None, "{name}"));
        }
        for arg in ours.get_arguments() {
            for name in arg.get_long_and_visible_aliases().unwrap_or_default() {
                assert_eq!(flag(&format!("--{name}")), None, "{name}");
            }
        }
    }

    #[test]
    fn a_flag_is_found_with_its_value() {
        assert!(flag("--permission-mode=plan").unwrap().contains("--mode"));
        assert_eq!(flag("--no-such-flag"), None);
    }
}
