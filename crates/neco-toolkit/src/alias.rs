//! Names that other agents use for our tools, so that what was written for them works here.

/// Other names, lower case, and our own.
const ALIASES: &[(&str, &str)] = &[
    ("invoke_agent", "task"),
    ("read", "read_file"),
    ("readfile", "read_file"),
    ("view", "read_file"),
    ("cat", "read_file"),
    ("write", "write_file"),
    ("writefile", "write_file"),
    ("create_file", "write_file"),
    ("edit", "edit_file"),
    ("multiedit", "edit_file"),
    ("replace", "edit_file"),
    ("str_replace", "edit_file"),
    ("search_replace", "edit_file"),
    ("applypatch", "apply_patch"),
    ("apply_diff", "apply_patch"),
    ("patch", "apply_patch"),
    ("ls", "list_directory"),
    ("list", "list_directory"),
    ("list_dir", "list_directory"),
    ("list_files", "list_directory"),
    ("find", "glob"),
    ("find_files", "glob"),
    ("glob_search", "glob"),
    ("file_search", "glob"),
    ("search", "grep"),
    ("search_files", "grep"),
    ("search_file_content", "grep"),
    ("grep_search", "grep"),
    ("ripgrep", "grep"),
    ("codebase_search", "code_search"),
    ("semantic_search", "code_search"),
    ("search_code", "code_search"),
    ("find_symbol", "code_index"),
    ("symbols", "code_index"),
    ("shell", "bash"),
    ("exec", "bash"),
    ("run", "bash"),
    ("run_command", "bash"),
    ("run_terminal_cmd", "bash"),
    ("run_shell_command", "bash"),
    ("execute_command", "bash"),
    ("local_shell", "bash"),
    ("bashoutput", "process"),
    ("killshell", "process"),
    ("webfetch", "web_fetch"),
    ("fetch", "web_fetch"),
    ("fetch_url", "web_fetch"),
    ("read_web_page", "web_fetch"),
    ("websearch", "web_search"),
    ("google_web_search", "web_search"),
    ("search_web", "web_search"),
    ("todowrite", "todo_write"),
    ("write_todos", "todo_write"),
    ("update_plan", "todo_write"),
    ("askuserquestion", "ask_user"),
    ("ask_followup_question", "ask_user"),
    ("enterplanmode", "enter_plan_mode"),
    ("exitplanmode", "exit_plan_mode"),
    ("getdiagnostics", "diagnostics"),
    ("read_lints", "diagnostics"),
    ("get_errors", "diagnostics"),
    ("notebookread", "read_file"),
    ("view_file", "read_file"),
    ("view_image", "read_file"),
    ("write_to_file", "write_file"),
    ("replace_in_file", "edit_file"),
    ("grep_files", "grep"),
    ("shell_command", "bash"),
    ("exec_command", "bash"),
    ("write_stdin", "process"),
    ("list_code_definition_names", "code_index"),
    ("update_todo_list", "todo_write"),
    ("ask_user_question", "ask_user"),
    ("request_user_input", "ask_user"),
    ("save_memory", "memory_store"),
];

/// What other agents call our tools, as they write it: the first name is the one that hooks are told.
const COMMON: &[(&str, &[&str])] = &[
    ("bash", &["Bash"]),
    ("read_file", &["Read"]),
    ("write_file", &["Write"]),
    ("edit_file", &["Edit", "MultiEdit"]),
    // What watches edits and writes elsewhere must see patches too: they do both.
    ("apply_patch", &["apply_patch", "Edit", "Write", "MultiEdit"]),
    ("list_directory", &["LS"]),
    ("glob", &["Glob"]),
    ("grep", &["Grep"]),
    ("process", &["BashOutput", "KillShell"]),
    ("web_fetch", &["WebFetch"]),
    ("web_search", &["WebSearch"]),
    ("todo_write", &["TodoWrite"]),
    ("ask_user", &["AskUserQuestion"]),
    ("enter_plan_mode", &["EnterPlanMode"]),
    ("exit_plan_mode", &["ExitPlanMode"]),
];

/// The names that other agents have for our tool `own`, the most common first; none for a tool that
/// only we have.
#[must_use]
pub fn common_names(own: &str) -> &'static [&'static str] {
    COMMON.iter().find(|(tool, _)| *tool == own).map_or(&[], |(_, names)| names)
}

/// Our name for `name`, if it is another agent's name for one of our tools.
#[must_use]
pub fn own_name(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    ALIASES.iter().find(|(alias, _)| *alias == name).map(|(_, own)| *own)
}

/// The name that was meant by one that is no tool's but differs from one by a slip of the finger.
#[must_use]
pub fn misspelt(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let known = || ALIASES.iter().flat_map(|(alias, own)| [*own, *alias]);
    if known().any(|known| known == name) {
        return None;
    }
    let slips = if name.chars().count() > 5 { 2 } else { 1 };
    known().find(|known| strsim::damerau_levenshtein(known, &name) <= slips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_name_leads_back_to_its_tool() {
        for (own, names) in COMMON {
            for name in *names {
                let found = own_name(name).or_else(|| name.eq_ignore_ascii_case(own).then_some(*own));
                let writes = ["edit_file", "write_file"];
                let same =
                    found == Some(*own) || (*own == "apply_patch" && found.is_some_and(|it| writes.contains(&it)));
                assert!(same, "{name}");
            }
        }
        assert!(common_names("teleport").is_empty());
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
