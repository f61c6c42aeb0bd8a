//! The table of tools: what each is called, here and elsewhere, and what it does that a rule may be about.
//!
//! A rule names an effect, whatever tool has it: who denies `Edit` means `apply_patch` too. So every spelling of
//! every format goes through this table, and so does every name that a model sends.

use std::borrow::Cow;

use serde_json::Value;

/// What tools do that a rule which asks or denies is about, whatever tool does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects(u8);

impl Effects {
    /// Nothing that another tool does too.
    pub const NONE: Self = Self(0);
    /// It tells what is in files and folders: read, list, search, index.
    pub const READS: Self = Self(1);
    /// It changes files: write, edit, patch, delete.
    pub const WRITES: Self = Self(1 << 1);
    /// It runs command lines.
    pub const RUNS: Self = Self(1 << 2);
    /// It runs git.
    pub const GIT: Self = Self(1 << 3);
    /// It starts agents.
    pub const AGENTS: Self = Self(1 << 4);
    /// It tells what is remembered.
    pub const RECALLS: Self = Self(1 << 5);

    /// These and others.
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether some are the same.
    pub const fn overlap(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }
}

/// What the argument called `path` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathArgument {
    None,
    File,
    Folder,
}

/// A tool.
#[derive(Debug)]
pub struct KnownTool {
    /// What it is called here.
    pub name: &'static str,
    /// What hooks are told that it is called, and what they may call it besides.
    pub common: &'static [&'static str],
    /// What else it is called elsewhere, in lower case.
    pub others: &'static [&'static str],
    /// What a rule means that names it and asks or denies; itself in any case.
    pub meant: Effects,
    /// What any call of it does.
    pub has: Effects,
    path: PathArgument,
}

const fn tool(name: &'static str, effects: Effects) -> KnownTool {
    KnownTool { name, common: &[], others: &[], meant: effects, has: effects, path: PathArgument::None }
}

impl KnownTool {
    const fn called(mut self, common: &'static [&'static str], others: &'static [&'static str]) -> Self {
        (self.common, self.others) = (common, others);
        self
    }

    const fn at(mut self, path: PathArgument) -> Self {
        self.path = path;
        self
    }
}

/// Every tool that exists. One that is not here has no effect that another has.
pub const TABLE: &[KnownTool] = &[
    tool("bash", Effects::RUNS).called(
        &["Bash"],
        &[
            "shell",
            "exec",
            "run",
            "run_command",
            "run_terminal_cmd",
            "run_shell_command",
            "execute_command",
            "local_shell",
            "shell_command",
            "exec_command",
        ],
    ),
    tool("read_file", Effects::READS)
        .called(&["Read"], &["read", "readfile", "view", "cat", "notebookread", "view_file", "view_image"])
        .at(PathArgument::File),
    tool("write_file", Effects::WRITES)
        .called(&["Write"], &["write", "writefile", "create_file", "write_to_file"])
        .at(PathArgument::File),
    tool("edit_file", Effects::WRITES)
        .called(
            &["Edit", "MultiEdit"],
            &["edit", "multiedit", "replace", "str_replace", "search_replace", "replace_in_file"],
        )
        .at(PathArgument::File),
    // What watches edits and writes elsewhere must see patches too: they do both.
    tool("apply_patch", Effects::WRITES)
        .called(&["apply_patch", "Edit", "Write", "MultiEdit"], &["applypatch", "apply_diff", "patch"]),
    tool("delete_file", Effects::WRITES)
        .called(&["delete_file", "Edit", "Write"], &["deletefile", "remove_file"])
        .at(PathArgument::File),
    tool("list_directory", Effects::READS)
        .called(&["LS"], &["ls", "list", "list_dir", "list_files"])
        .at(PathArgument::Folder),
    tool("glob", Effects::READS)
        .called(&["Glob"], &["find", "find_files", "glob_search", "file_search"])
        .at(PathArgument::Folder),
    tool("grep", Effects::READS)
        .called(&["Grep"], &["search", "search_files", "search_file_content", "grep_search", "ripgrep", "grep_files"])
        .at(PathArgument::Folder),
    tool("code_search", Effects::READS).called(&[], &["codebase_search", "semantic_search", "search_code"]),
    tool("code_index", Effects::READS).called(&[], &["find_symbol", "symbols", "list_code_definition_names"]),
    // Who denies git means git, and not every command; who denies commands means git too.
    KnownTool { has: Effects::RUNS.and(Effects::GIT), ..tool("git", Effects::GIT) },
    KnownTool {
        has: Effects::RUNS,
        ..tool("diagnostics", Effects::NONE).called(&[], &["getdiagnostics", "read_lints", "get_errors"])
    },
    // It runs what is typed into a shell: that is known of a call alone.
    tool("process", Effects::NONE).called(&["BashOutput", "KillShell"], &["bashoutput", "killshell", "write_stdin"]),
    tool("web_fetch", Effects::NONE).called(&["WebFetch"], &["webfetch", "fetch", "fetch_url", "read_web_page"]),
    tool("web_search", Effects::NONE).called(&["WebSearch"], &["websearch", "google_web_search", "search_web"]),
    tool("todo_write", Effects::NONE)
        .called(&["TodoWrite"], &["todowrite", "write_todos", "update_plan", "update_todo_list"]),
    tool("ask_user", Effects::NONE).called(
        &["AskUserQuestion"],
        &["askuserquestion", "ask_followup_question", "ask_user_question", "request_user_input"],
    ),
    tool("skill", Effects::NONE).called(&["Skill"], &["activate_skill", "use_skill"]),
    tool("activate", Effects::NONE),
    tool("call", Effects::NONE),
    tool("enter_plan_mode", Effects::NONE).called(&["EnterPlanMode"], &["enterplanmode"]),
    tool("exit_plan_mode", Effects::NONE).called(&["ExitPlanMode"], &["exitplanmode"]),
    tool("task", Effects::AGENTS).called(&[], &["invoke_agent"]),
    tool("spawn_agent", Effects::AGENTS).called(&[], &["sessions_spawn"]),
    // Who denies workflows need not mean single agents.
    KnownTool { meant: Effects::NONE, ..tool("workflow", Effects::AGENTS) },
    tool("agent_message", Effects::NONE).called(&[], &["sessions_send"]),
    tool("agent_status", Effects::NONE).called(&[], &["session_status"]),
    tool("agent_wait", Effects::NONE),
    tool("agent_cancel", Effects::NONE),
    tool("report", Effects::NONE),
    tool("complete_task", Effects::NONE),
    tool("state_get", Effects::NONE),
    tool("state_set", Effects::NONE),
    tool("memory_store", Effects::NONE).called(&[], &["save_memory"]),
    tool("memory_search", Effects::RECALLS),
    tool("memory_get", Effects::RECALLS),
];

/// Names that stand for several tools, also in a rule that allows: none of these does more than the one that others
/// have by that name.
const KINDS: &[(&str, &[&str])] = &[
    // What git and checkers are told is a command line too.
    ("bash", &["bash", "git", "diagnostics"]),
    ("read", &["read_file", "list_directory", "glob", "grep", "code_search", "code_index"]),
    ("edit", &["edit_file", "write_file", "apply_patch", "delete_file"]),
    ("multiedit", &["edit_file", "write_file", "apply_patch"]),
    ("write", &["write_file", "apply_patch"]),
];

/// What the names of tools begin with that start one certain agent, and what else they may begin with.
const OF_AGENTS: &str = "agent__";
const OF_SUBAGENTS: &str = "subagent__";

/// Names of fewer letters are no slip of the finger of one another.
const SHORTEST_MISSPELT: usize = 4;

/// The tools that a name in a rule stands for where it stands for several.
pub fn kind(name: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(kind, _)| kind.eq_ignore_ascii_case(name)).map(|(_, tools)| *tools)
}

/// What any call of a tool does, by our name for it.
pub fn effects(own: &str) -> Effects {
    match find(own) {
        Some(tool) => tool.has,
        None if own.starts_with(OF_AGENTS) => Effects::AGENTS,
        None => Effects::NONE,
    }
}

/// Whether a name, as it is spelt here, is that of a tool of ours.
pub fn is_known(own: &str) -> bool {
    find(own).is_some() || own.starts_with(OF_AGENTS)
}

/// Whether a tool starts agents.
pub fn starts_agents(own: &str) -> bool {
    effects(own).overlap(Effects::AGENTS)
}

/// The one spelling of a name that a tool is known by: ours for what others call otherwise, without spaces around it
/// and in lower case. What is no tool of ours stays, but for that.
pub fn spelling(name: &str) -> Cow<'_, str> {
    let name = name.trim();
    if let Some(own) = own_name(name) {
        return Cow::Borrowed(own);
    }
    let of_agent = name.split_at_checked(OF_SUBAGENTS.len());
    if let Some((_, agent)) = of_agent.filter(|(of, _)| of.eq_ignore_ascii_case(OF_SUBAGENTS)) {
        return Cow::Owned(format!("{OF_AGENTS}{}", agent.to_ascii_lowercase()));
    }
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    Cow::Borrowed(name)
}

/// The names that other agents have for our tool `own`, the most common first; none for a tool that
/// only we have.
pub fn common_names(own: &str) -> &'static [&'static str] {
    find(own).map_or(&[], |tool| tool.common)
}

/// Our name for `name`, if it is ours or another agent's name for one of our tools, in any case.
pub fn own_name(name: &str) -> Option<&'static str> {
    let is = |known: &&'static str| known.eq_ignore_ascii_case(name);
    let own = TABLE.iter().find(|tool| is(&tool.name));
    own.or_else(|| TABLE.iter().find(|tool| tool.others.iter().any(is))).map(|tool| tool.name)
}

/// The name that was meant by one that is no tool's but differs from one by a slip of the finger.
pub fn misspelt(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    if own_name(&name).is_some() {
        return None;
    }
    let slips = if name.chars().count() > 5 { 2 } else { 1 };
    let mut known = TABLE.iter().flat_map(|tool| [tool.name].into_iter().chain(tool.others.iter().copied()));
    known.find(|known| known.len() >= SHORTEST_MISSPELT && strsim::damerau_levenshtein(known, &name) <= slips)
}

/// The arguments of a call under the names that Gemini CLI has for them.
pub fn their_arguments(own: &str, arguments: &Value) -> Value {
    let path = match find(own).map_or(PathArgument::None, |tool| tool.path) {
        PathArgument::File => THEIR_FILE,
        PathArgument::Folder => "dir_path",
        PathArgument::None => return arguments.clone(),
    };
    let Some(entries) = arguments.as_object() else { return arguments.clone() };
    let renamed = |name: &String| if name == "path" { path.to_owned() } else { name.clone() };
    entries.iter().map(|(name, value)| (renamed(name), value.clone())).collect()
}

/// What Gemini CLI calls the argument that is a file.
pub(crate) const THEIR_FILE: &str = "file_path";

fn find(own: &str) -> Option<&'static KnownTool> {
    TABLE.iter().find(|tool| tool.name == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_one_tool_and_every_kind_to_tools_that_there_are() {
        for tool in TABLE {
            for name in tool.others {
                assert_eq!(own_name(name), Some(tool.name), "{name}");
                assert_eq!(*name, name.to_lowercase());
                let has = |other: &&KnownTool| other.others.contains(name);
                assert_eq!(TABLE.iter().filter(has).count(), 1, "{name}");
                assert!(find(name).is_none(), "{name} is a tool of ours");
            }
            for name in tool.common {
                let found = own_name(name).map(effects);
                assert_eq!(found, Some(tool.has), "{name}");
            }
        }
        for (kind, tools) in KINDS {
            let own = own_name(kind).unwrap();
            assert!(tools.contains(&own), "{kind}");
            let meant = find(own).unwrap().meant;
            assert!(tools.iter().all(|tool| effects(tool).overlap(meant)), "{kind}");
        }
        assert!(common_names("teleport").is_empty());
    }

    #[test]
    fn a_name_has_one_spelling() {
        for (name, own) in [
            ("bash", "bash"),
            (" BASH\n", "bash"),
            ("Run_Shell_Command", "bash"),
            ("MultiEdit", "edit_file"),
            ("mcp__GitHub__List", "mcp__github__list"),
            ("subagent__Explore", "agent__explore"),
            ("bash\u{200b}", "bash\u{200b}"),
            ("ba sh", "ba sh"),
            ("tas\u{212a}", "tas\u{212a}"),
        ] {
            assert_eq!(spelling(name), own, "{name:?}");
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_told_from_a_tool_of_another_name() {
        for (name, meant) in [("bsh", "bash"), ("edti_file", "edit_file"), ("Wriet", "write"), ("webftch", "web_fetch")]
        {
            assert_eq!(misspelt(name), Some(meant), "{name}");
        }
        for name in ["bash", "Read", "grep", "todo_write", "memory_search", "Task", "Skill", "TodoWrite", "process"] {
            assert_eq!(misspelt(name), None, "{name}");
        }
    }
}
