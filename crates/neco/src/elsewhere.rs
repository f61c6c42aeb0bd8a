//! Flags and commands of other agents, and what does the same here.

use std::ffi::OsString;

use neco_safety::tools;

use crate::say;

/// What is said of a command that there is not.
const EXTENSIONS: &str =
    "`neco plugin add` installs plugins and extensions of other tools, `neco mcp add` an MCP server.";
const REVIEW: &str = "`neco -p /review` reviews what is not committed, `neco -p \"/review WHAT\"` something else.";
const SERVER: &str =
    "`neco web` opens Neco in the browser, `neco serve` is the server, `neco` opens the window in this terminal.";
const UPDATE: &str = "Neco does not update itself: install the new version as you installed this one.";

/// Commands of other tools, and what comes close here. As a message they are too short to be meant.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["list", "ls", "history"], "`neco session list` comes close."),
    (&["export"], "`neco session export` comes close."),
    (&["rewind"], "`neco session rewind` comes close."),
    (&["undo"], "`neco session rewind ID` goes back to before a message, as /undo does in the window."),
    (&["fork"], "`neco session fork` comes close."),
    (&["search"], "`neco session search` comes close."),
    (&["providers", "provider", "keys", "credentials"], "`neco auth list` comes close."),
    (&["status", "setup", "info"], "`neco doctor` comes close."),
    (&["configure", "settings"], "`neco config show` comes close."),
    (&["permissions", "rules"], "`neco policy list` comes close."),
    (&["stats", "usage", "cost"], "`neco session list` shows the sessions, `/cost` in the window what one has cost."),
    (&["completion"], "`neco completions SHELL` comes close."),
    (&["extension", "extensions"], EXTENSIONS),
    (&["review"], REVIEW),
    (&["server", "app", "desktop", "app-server", "remote-control"], SERVER),
    (&["mcp-server"], "`neco mcp serve` is Neco as an MCP server."),
    (&["tui", "start"], "`neco` alone opens the window."),
    (&["pr", "github"], "There is nothing for pull requests yet: `git` and `gh` work as commands of the agent."),
    (&["apply"], "What the agent changes is in the files already; `git diff` shows it."),
    (&["update", "upgrade", "install", "uninstall", "self-update"], UPDATE),
];

/// Commands of other tools below one of ours, and what comes close here.
const SUBCOMMANDS: &[(&str, &[&str], &str)] = &[
    ("model", &["set", "use", "default", "switch"], "`neco config set model PROVIDER/MODEL` sets the model."),
    ("mcp", &["reset-project-choices"], "`neco trust --remove` deletes what you decided about a folder."),
];

/// Tools of other agents that nothing here does the work of: a rule about one says nothing.
const ABSENT: &[&str] = &["SlashCommand", "ListMcpResourcesTool", "ReadMcpResourceTool"];

/// What another agent sets its approval to, and ours is not.
const APPROVALS: &[&str] = &["untrusted", "on-request", "on-failure", "never"];

/// Flags of other agents, and what to write here.
const FLAGS: &[(&[&str], &str)] = &[
    (
        &["--dangerously-skip-permissions", "--dangerously-bypass-approvals-and-sandbox", "--yolo"],
        "--yes asks only about what is high risk; --sandbox full takes the sandbox away",
    ),
    (
        &["--allow-dangerously-skip-permissions", "--allow-all-tools", "--allow-all", "--auto", "--force"],
        "--yes asks only about what is high risk, and commands stay in the sandbox",
    ),
    (&["--allowedTools", "--allowed-tools", "--allow-tool"], "--allow RULE, such as --allow 'bash(git log *)'"),
    (&["--disallowedTools", "--disallowed-tools", "--deny-tool"], "--deny RULE, such as --deny 'bash(git push *)'"),
    (
        &["--permission-mode"],
        "--yes is what bypassPermissions means, and commands stay in the sandbox; --mode plan, or --approval \
         auto|accept_edits|ask_first|manual is the rest",
    ),
    (
        &["-a", "--ask-for-approval", "--approval-mode"],
        "--approval ask_first asks before writes and commands, accept_edits before commands, auto only about what is \
         high risk",
    ),
    (&["-s"], "--sandbox read_only|workspace_write|full is the box of commands, --session ID a session"),
    (
        &["--system-prompt", "--system-prompt-file", "--append-system-prompt-file", "--system"],
        "--append-system-prompt TEXT adds to it for this run; rules for the model are written in AGENTS.md (`neco \
         init` begins one), a role in a file for --agent NAME",
    ),
    (&["--agents"], "--agent NAME works as an agent that is defined in a file; `neco agents list` names them"),
    (
        &["--mcp-config", "--strict-mcp-config", "--extensions", "--with-extension", "--plugin-dir", "-e"],
        "MCP servers are added with `neco mcp add`, or written in .mcp.json",
    ),
    (&["--settings", "--profile"], "-c KEY=VALUE sets one setting; NECO_HOME names another folder of settings"),
    (&["--setting-sources"], "`neco config path` names the files that are read; -c KEY=VALUE outranks them"),
    (
        &["--json", "--format"],
        "--output-format json is one object at the end, --output-format stream-json one event a line",
    ),
    (&["--quiet", "-q"], "only the answer goes to stdout; 2>/dev/null leaves the rest out"),
    (&["-v"], "-V prints the version; --debug writes a log file"),
    (&["-d", "--log-level", "--print-logs"], "--debug writes a log file"),
    (&["--dir"], "-C DIR"),
    (&["--include-directories"], "--add-dir DIR, once for each"),
    (
        &["--search"],
        "the model searches when tools.web_search names an engine (`neco config set tools.web_search.engine duckduckgo`)",
    ),
    (&["--oss", "--local-provider"], "--model ollama/MODEL; `neco doctor` finds local servers"),
    (&["--provider"], "--model provider/model"),
    (&["--api-key"], "a key is never an argument, where others see it: `neco login PROVIDER` asks for it"),
    (
        &["--effort", "--thinking", "--variant", "--reasoning-effort", "--max-thinking-tokens"],
        "--model 'provider/model?reasoning=high'",
    ),
    (&["--temperature", "--max-tokens"], "--model 'provider/model?temperature=0&max_tokens=8000'"),
    (&["--fork-session", "--fork"], "neco session fork ID makes a second session; --resume continues it"),
    (&["--session-id"], "--session ID continues a session; a new one gets its id by itself"),
    (&["--list-sessions"], "neco session list"),
    (&["--delete-session"], "neco session rm ID"),
    (&["--list-models"], "neco model list"),
    (&["-l", "--list-extensions"], "neco session list, neco model list"),
    (
        &["--no-session-persistence", "--no-session", "--ephemeral"],
        "sessions are saved; `neco session rm ID` deletes one",
    ),
    (
        &["--from-pr", "--teleport", "--remote"],
        "only sessions of this machine are continued; `neco session import` takes files",
    ),
    (&["--fallback-model"], "[model_groups.NAME] in config.toml lists models that stand in for each other"),
    (&["--include-partial-messages"], "--output-format stream-json has the words as they come"),
    (&["--output-last-message-file"], "-o FILE"),
    (&["-w"], "--worktree works in a git worktree of its own"),
    (&["-t"], "-m TEXT"),
    (&["-f"], "--file FILE"),
    (
        &["--instructions", "--recipe", "--prompt-file"],
        "--file FILE adds a file; `neco - < FILE` takes it as the message",
    ),
    (&["--no-color", "--no-colour", "--color"], "NO_COLOR=1 in the environment takes colours away"),
    (&["--ide", "--chrome"], "there is no link to other programs yet"),
    (
        &["--host", "--hostname", "--port"],
        "`neco serve --bind ADDR:PORT` listens, `neco --server URL` works with a server",
    ),
];

/// Words behind the command of another tool that no sentence goes on with.
const ORDERS: &[&str] = &[
    "add", "auth", "create", "delete", "disable", "enable", "get", "info", "install", "list", "login", "logout", "ls",
    "remove", "rm", "serve", "show", "start", "status", "stop", "update",
];

/// Words that make a sentence of a few.
const OF_SENTENCES: &[&str] = &[
    "a", "all", "an", "and", "any", "every", "for", "from", "how", "in", "it", "me", "my", "of", "on", "our", "that",
    "the", "these", "this", "to", "what", "where", "why", "with",
];

/// Lines of other agents that say exactly what a line of ours does.
const SAME: &[(&[&str], &[&str])] = &[
    (&["version"], &["--version"]),
    (&["continue"], &["--continue"]),
    (&["sessions"], &["session", "list"]),
    (&["models"], &["model", "list"]),
    (&["providers"], &["auth", "list"]),
    (&["providers", "list"], &["auth", "list"]),
    (&["login", "status"], &["auth", "list"]),
];

/// Flags of other agents with a value, where both together say exactly what ours do.
const SAME_FLAGS: &[(&str, &str, &[&str])] = &[
    ("--permission-mode", "plan", &["--mode", "plan"]),
    ("--permission-mode", "default", &["--approval", "ask_first"]),
    ("--permission-mode", "acceptEdits", &["--approval", "accept_edits"]),
    ("-s", "read-only", &["--sandbox", "read_only"]),
    ("-s", "workspace-write", &["--sandbox", "workspace_write"]),
    ("-s", "danger-full-access", &["--sandbox", "full"]),
    ("-s", "read_only", &["--sandbox", "read_only"]),
    ("-s", "workspace_write", &["--sandbox", "workspace_write"]),
    ("-s", "full", &["--sandbox", "full"]),
];

/// What stands behind `models` here; elsewhere it is a provider.
const OF_MODELS: &[&str] = &["list", "show", "test", "set", "help", "-h", "--help"];

/// Flags of other agents behind which rules are listed, and ours, which takes one of them.
const RULES: &[(&[&str], &str)] = &[
    (&["--allowedTools", "--allowed-tools", "--allow-tool"], "--allow"),
    (&["--disallowedTools", "--disallowed-tools", "--deny-tool"], "--deny"),
];

/// How names of models begin, and providers whose models are written behind a slash.
const MODELS: &[&str] = &[
    "claude-",
    "codex-",
    "deepseek-",
    "gemini-",
    "gemma",
    "glm-",
    "gpt-",
    "grok-",
    "haiku",
    "kimi-",
    "llama",
    "mistral-",
    "o1",
    "o3",
    "o4-",
    "opus",
    "qwen",
    "sonnet",
];
const PROVIDERS: &[&str] =
    &["anthropic", "deepseek", "gemini", "github-copilot", "google", "ollama", "openai", "openrouter", "xai"];

/// Whether a word reads like the name of a model, which elsewhere stands behind `-m`.
pub fn is_model(word: &str) -> bool {
    let plain = word.chars().all(|char| char.is_ascii_alphanumeric() || "-_./:@?=&".contains(char));
    let of_provider =
        word.split_once('/').is_some_and(|(provider, model)| PROVIDERS.contains(&provider) && !model.is_empty());
    plain && (of_provider || (!word.contains('/') && MODELS.iter().any(|begin| word.starts_with(begin))))
}

/// What is said of a command of another tool; none where the words are no such command.
pub fn command(words: &[String]) -> Option<&'static str> {
    let (first, rest) = words.split_first()?;
    let (_, instead) = COMMANDS.iter().find(|(names, _)| names.contains(&first.as_str()))?;
    let is = |list: &[&str], word: &String| list.contains(&word.to_lowercase().as_str());
    let orders = rest.first().is_some_and(|word| is(ORDERS, word));
    let short =
        rest.len() <= 2 && !rest.iter().any(|word| is(OF_SENTENCES, word) || word.contains(char::is_whitespace));
    (orders || short).then_some(*instead)
}

/// What is written here for a flag of another agent.
pub fn flag(written: &str) -> Option<&'static str> {
    let name = written.split('=').next().unwrap_or(written);
    FLAGS.iter().find(|(names, _)| names.contains(&name)).map(|(_, here)| *here)
}

/// What comes close to a command of another tool below one of ours.
pub fn subcommand(of: &str, written: &str) -> Option<&'static str> {
    SUBCOMMANDS.iter().find(|(ours, names, _)| *ours == of && names.contains(&written)).map(|(.., here)| *here)
}

/// What is said of an approval that another agent has.
pub fn approval(value: &str) -> Option<String> {
    let here = flag("--ask-for-approval").filter(|_| APPROVALS.contains(&value))?;
    Some(format!("there is no --approval {value}: {here}"))
}

/// The values that a flag of another agent is taken with, each once: `plan, default or acceptEdits`; none where it is not
/// taken at all.
pub fn values(name: &str) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    let mut seen: Vec<&[&str]> = Vec::new();
    for (_, value, ours) in SAME_FLAGS.iter().filter(|(flag, _, _)| *flag == name) {
        if !seen.contains(ours) {
            seen.push(ours);
            values.push(value);
        }
    }
    let (last, first) = values.split_last()?;
    Some(if first.is_empty() { (*last).to_owned() } else { format!("{} or {last}", first.join(", ")) })
}

/// A command line in our words, where somebody else's say exactly the same.
pub fn translated(words: Vec<OsString>) -> Vec<OsString> {
    let lines: Vec<&str> = words.iter().skip(1).filter_map(|word| word.to_str()).collect();
    if let Some((_, ours)) = SAME.iter().find(|(theirs, _)| *theirs == lines.as_slice()) {
        return words.into_iter().take(1).chain(ours.iter().map(OsString::from)).collect();
    }
    let mut words = with_json(flags(words));
    // `exec resume` continues a session with one request.
    let is = |at: usize, names: &[&str]| {
        words.get(at).and_then(|word| word.to_str()).is_some_and(|word| names.contains(&word))
    };
    if is(1, &["exec", "run"]) && is(2, &["resume"]) {
        words.splice(1..3, ["resume".into(), "--print".into()]);
    } else if is(1, &["models"]) && words.len() > 2 && !is(2, OF_MODELS) {
        words.splice(1..2, ["model".into(), "list".into()]);
    }
    words
}

/// Spells `exec --json`, which prints one event a line, as ours.
fn with_json(words: Vec<OsString>) -> Vec<OsString> {
    if !words.get(1).is_some_and(|word| word == "exec" || word == "run") {
        return words;
    }
    let ends = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let spell = |(at, word): (usize, OsString)| match at < ends && word == "--json" {
        true => OsString::from("--output-format=stream-json"),
        false => word,
    };
    words.into_iter().enumerate().map(spell).collect()
}

/// Spells flags of other agents that say exactly what ours do as ours.
fn flags(words: Vec<OsString>) -> Vec<OsString> {
    let same = |flag: &str, value: &str| {
        let fits = |(theirs, of, _): &&(&str, &str, &[&str])| *theirs == flag && *of == value;
        SAME_FLAGS.iter().find(fits).map(|(_, _, ours)| ours.iter().map(OsString::from).collect::<Vec<_>>())
    };
    let rule_flag = |flag: &str| RULES.iter().find(|(theirs, _)| theirs.contains(&flag)).map(|(_, ours)| *ours);
    let mut spelt = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        if word == "--" {
            spelt.push(word);
            spelt.extend(words.by_ref());
            break;
        }
        let text = word.to_str().unwrap_or_default();
        let (flag, joined) = text.split_once('=').map_or((text, None), |(flag, value)| (flag, Some(value)));
        let next = words.peek().and_then(|next| next.to_str());
        if let Some(ours) = rule_flag(flag) {
            let mut listed: Vec<String> = joined.into_iter().flat_map(rules_in).collect();
            // Several words may follow; what does not read like a rule is the message.
            while let Some(next) = words.next_if(|next| joined.is_none() && next.to_str().is_some_and(are_rules)) {
                listed.extend(next.to_str().into_iter().flat_map(rules_in));
            }
            let follows = words.peek().and_then(|next| next.to_str()).filter(|next| !next.starts_with('-'));
            let goes_on = listed.last().is_some_and(|last| is_everyday(last));
            // A rule must not become the message, nor the message a rule: what may be either is asked for in our words.
            let is_unsure =
                follows.is_some_and(|next| may_be_rules(next) || (goes_on && !next.contains(char::is_whitespace)));
            if listed.is_empty() || is_unsure {
                spelt.push(word);
                continue;
            }
            let (absent, there): (Vec<String>, Vec<String>) = listed.into_iter().partition(|rule| is_absent(rule));
            absent.iter().for_each(|tool| say::note(&format!("there is no tool {tool} here; it is left out")));
            spelt.extend(there.into_iter().flat_map(|rule| [OsString::from(ours), rule.into()]));
        } else if let Some(ours) = joined.or(next).and_then(|value| same(flag, value)) {
            if joined.is_none() {
                words.next();
            }
            spelt.extend(ours);
        } else {
            spelt.push(word);
        }
    }
    spelt
}

/// Whether all of a word is rules about tools that are known: `Read`, `Bash(git log:*),Edit`, `mcp__github__get_me`.
/// Of several everyday words between blanks nobody knows whether they are meant so.
fn are_rules(word: &str) -> bool {
    let rules: Vec<String> = rules_in(word).collect();
    let is_sure = !word.contains(char::is_whitespace) || !rules.iter().any(|rule| is_everyday(rule));
    is_sure && !rules.is_empty() && rules.iter().all(|rule| is_rule(rule))
}

/// Whether a word that is no rules about known tools may still be meant as some: it is no sentence, and has signs in it
/// that everyday words lack.
fn may_be_rules(word: &str) -> bool {
    let has_signs = |text: &str| {
        let inner_capital = |two: &[u8]| matches!(two, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
        text.contains("__") || text.contains(['(', ',', '*']) || text.as_bytes().windows(2).any(inner_capital)
    };
    let rules: Vec<String> = rules_in(word).collect();
    let is_one_word = !word.contains(char::is_whitespace);
    let are_signed = !rules.is_empty() && rules.iter().all(|rule| is_rule(rule) || has_signs(rule));
    are_signed || (is_one_word && has_signs(word))
}

/// Whether a rule is about a tool that is known, by any of its names, or about one of an MCP server.
fn is_rule(rule: &str) -> bool {
    let name = rule.split('(').next().unwrap_or_default();
    let is_of_server = name.strip_prefix("mcp__").is_some_and(|rest| {
        !rest.is_empty() && rest.chars().all(|char| char.is_ascii_alphanumeric() || "_-.*".contains(char))
    });
    let is_known = is_of_server || is_absent(rule) || tools::is_known(&tools::spelling(name));
    is_known && rule.contains('(') == rule.ends_with(')')
}

/// Whether a rule is about a tool that only others have.
fn is_absent(rule: &str) -> bool {
    ABSENT.contains(&rule.split('(').next().unwrap_or_default())
}

/// Whether a rule could as well be a word of a sentence: `find` and `List`, but not `Read`, which is written as other
/// agents write it.
fn is_everyday(rule: &str) -> bool {
    let is_written_as_name = is_absent(rule) || tools::TABLE.iter().any(|tool| tool.common.contains(&rule));
    !is_written_as_name && rule.chars().all(|char| char.is_ascii_alphabetic())
}

/// The rules of a list: they stand between commas or blanks, except for what is in parentheses.
fn rules_in(list: &str) -> impl Iterator<Item = String> {
    let mut depth = 0_usize;
    let apart = list.split(move |char: char| {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (char == ',' || char.is_whitespace())
    });
    apart.filter(|rule| !rule.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::CommandLine;

    fn told(line: &str) -> Option<&'static str> {
        command(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn nothing_of_ours_is_in_the_lists() {
        let ours = CommandLine::command();
        for command in ours.get_subcommands() {
            let names = std::iter::once(command.get_name()).chain(command.get_all_aliases());
            names.for_each(|name| assert_eq!(told(name), None, "{name}"));
        }
        for arg in ours.get_arguments() {
            for name in arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default()) {
                assert_eq!(flag(&format!("--{name}")), None, "{name}");
            }
            if let Some(name) = arg.get_short() {
                assert_eq!(flag(&format!("-{name}")), None, "{name}");
            }
        }
    }

    #[test]
    fn a_flag_is_found_with_its_value() {
        assert!(flag("--permission-mode=plan").unwrap().contains("--mode"));
        assert_eq!(flag("--no-such-flag"), None);
    }

    #[test]
    fn a_command_of_another_tool_is_told_from_a_sentence() {
        for line in ["extensions install files x y", "update"] {
            assert!(told(line).is_some(), "{line}");
        }
        for line in ["list the files", "update all dependencies", "search for dead code here", "explain mcp"] {
            assert_eq!(told(line), None, "{line}");
        }
    }

    #[test]
    fn what_says_the_same_is_taken_for_it() {
        for (theirs, ours) in [
            ("sessions", "session list"),
            ("version", "--version"),
            ("exec resume --last fix", "resume --print --last fix"),
            ("-p x --permission-mode plan", "-p x --mode plan"),
            ("--permission-mode=acceptEdits -p x", "--approval accept_edits -p x"),
            ("--permission-mode bypassPermissions", "--permission-mode bypassPermissions"),
            ("-p -- --permission-mode plan", "-p -- --permission-mode plan"),
            ("exec -s workspace-write fix", "exec --sandbox workspace_write fix"),
            ("-s c41f", "-s c41f"),
            ("exec -s read_only fix", "exec --sandbox read_only fix"),
            ("models anthropic", "model list anthropic"),
            ("models show x", "models show x"),
            ("-p x --allowedTools Skill", "-p x --allow Skill"),
            ("-p x --allowedTools Skill(commit),Read fix", "-p x --allow Skill(commit) --allow Read fix"),
            ("-p --allowedTools Read,Bash(git:*) Edit fix", "-p --allow Read --allow Bash(git:*) --allow Edit fix"),
            ("-p x --disallowedTools=Bash(rm:*)", "-p x --deny Bash(rm:*)"),
            ("-p x --allowedTools", "-p x --allowedTools"),
            (
                "-p x --disallowedTools Read mcp__github__delete_repo run_shell_command",
                "-p x --deny Read --deny mcp__github__delete_repo --deny run_shell_command",
            ),
            ("-p --allowedTools Read Explain", "-p --allow Read Explain"),
            ("-p x --disallowedTools bash grep", "-p x --deny bash --deny grep"),
            // Nobody can tell what is a rule here: the flag stays, and is refused with what to write.
            ("-p x --disallowedTools Read server__delete", "-p x --disallowedTools server__delete"),
            ("-p x --disallowedTools Read NotebookEdit", "-p x --disallowedTools NotebookEdit"),
            ("-p x --disallowedTools Read Teleport(a)", "-p x --disallowedTools Teleport(a)"),
            ("-p --allowedTools Read find the bug", "-p --allowedTools the bug"),
            ("sessions list", "sessions list"),
        ] {
            let words =
                |line: &str| ["neco"].into_iter().chain(line.split(' ')).map(OsString::from).collect::<Vec<_>>();
            assert_eq!(translated(words(theirs)), words(ours), "{theirs}");
        }
        let listed = |list: &str| rules_in(list).collect::<Vec<_>>();
        assert_eq!(listed("Bash(git log:*), Read Edit(src/**)"), ["Bash(git log:*)", "Read", "Edit(src/**)"]);
        assert!(are_rules("Read") && !are_rules("fix it") && !are_rules("Fix the test.") && !are_rules(""));
        assert!(are_rules("Read mcp__my-server__*") && !are_rules("list search") && may_be_rules("list search"));
        assert!(!may_be_rules("rename foo(bar), then test") && !may_be_rules("explain") && !may_be_rules(""));
    }
}
