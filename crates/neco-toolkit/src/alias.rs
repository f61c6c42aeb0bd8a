//! Names that other agents use for our tools, so that what was written for them works here.

/// Other names, lower case, and our own.
const ALIASES: &[(&str, &str)] = &[
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
];

/// What other agents call our tools, as they write it: the first name is the one that hooks are told.
const COMMON: &[(&str, &[&str])] = &[
    ("bash", &["Bash"]),
    ("read_file", &["Read"]),
    ("write_file", &["Write"]),
    ("edit_file", &["Edit", "MultiEdit"]),
    ("list_directory", &["LS"]),
    ("glob", &["Glob"]),
    ("grep", &["Grep"]),
    ("process", &["BashOutput", "KillShell"]),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_common_name_leads_back_to_its_tool() {
        for (own, names) in COMMON {
            for name in *names {
                let found = own_name(name).or_else(|| name.eq_ignore_ascii_case(own).then_some(*own));
                assert_eq!(found, Some(*own), "{name}");
            }
        }
        assert!(common_names("teleport").is_empty());
    }
}
