//! Which tools a hook is for: names of ours or of other agents, or a regular expression over them.

use neco_safety::tools::{self, starts_agents};
use regex::{Regex, RegexBuilder};

/// A compiled expression may not be larger: it comes from a file that anybody may have written.
const MOST_BYTES: usize = 1 << 20;

/// What the tool that starts agents is called elsewhere; `Task` before that.
pub(super) const AGENT: &str = "Agent";

/// Why a matcher can't be read.
#[derive(Clone, Debug, thiserror::Error)]
#[error("matcher {pattern:?} can't be read: {error}")]
pub struct MatcherError {
    pattern: String,
    error: regex::Error,
}

/// Which tools a hook is for.
#[derive(Clone, Debug)]
pub struct Matcher {
    pattern: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    All,
    Names(Vec<String>),
    Expression(Regex),
}

impl Matcher {
    /// Reads a matcher. Empty and `*` fit everything; names, also several with `|` between them, fit
    /// exactly; anything else is a regular expression that may fit anywhere in a name.
    ///
    /// # Errors
    /// When the expression can't be read.
    pub fn new(pattern: &str) -> Result<Self, MatcherError> {
        let trimmed = pattern.trim();
        let kind = if trimmed.is_empty() || trimmed == "*" {
            Kind::All
        } else if trimmed.chars().all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '|' | ' ' | ',')) {
            let names = trimmed.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            Kind::Names(names.map(str::to_owned).collect())
        } else {
            let expression = RegexBuilder::new(trimmed).size_limit(MOST_BYTES).build();
            Kind::Expression(expression.map_err(|error| MatcherError { pattern: trimmed.to_owned(), error })?)
        };
        Ok(Self { pattern: trimmed.to_owned(), kind })
    }

    /// The matcher as it is written.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether it fits a tool, by its own name or by the names that other agents have for it.
    pub fn fits_tool(&self, tool: &str) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::Names(names) => names.iter().any(|name| is_name_of(name, tool)),
            Kind::Expression(expression) => names_of(tool).iter().any(|name| expression.is_match(name)),
        }
    }

    /// The name by which it fits a tool that starts agents: elsewhere there is one such tool, so a hook that names
    /// it must not be told of one that it does not know. Nothing for other tools, and where it fits every one.
    pub fn name_of(&self, tool: &str) -> Option<String> {
        if !starts_agents(tool) {
            return None;
        }
        let known = || names_of(tool).into_iter().rev();
        match &self.kind {
            Kind::All => None,
            // As it is written first: `Task` is another name than `task`.
            Kind::Names(names) => known()
                .find(|name| names.contains(name))
                .or_else(|| known().find(|name| names.iter().any(|named| named.eq_ignore_ascii_case(name)))),
            Kind::Expression(expression) => known().find(|name| expression.is_match(name)),
        }
    }

    /// Whether it fits a word, such as the source of a session.
    pub fn fits_word(&self, word: &str) -> bool {
        match &self.kind {
            Kind::All => true,
            Kind::Names(names) => names.iter().any(|name| name.eq_ignore_ascii_case(word)),
            Kind::Expression(expression) => expression.is_match(word),
        }
    }
}

fn is_name_of(name: &str, tool: &str) -> bool {
    name.eq_ignore_ascii_case(tool)
        || tools::own_name(name) == Some(tool)
        || names_of(tool).iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Every name under which an expression may look for a tool.
fn names_of(tool: &str) -> Vec<String> {
    let mut names = vec![tool.to_owned()];
    names.extend(tools::common_names(tool).iter().map(|name| (*name).to_owned()));
    // Elsewhere there is one way to start an agent, and a hook about it means every one.
    if starts_agents(tool) {
        // The newer one last, which hooks are told where both fit.
        names.extend(["Task".to_owned(), AGENT.to_owned()]);
    // A tool of a server is `server__tool` here and `mcp__server__tool` elsewhere.
    } else if tool.contains("__") && !tool.starts_with("mcp__") {
        names.push(format!("mcp__{tool}"));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ours_and_theirs_fit_and_others_do_not() {
        for (pattern, tool, fits) in [
            ("", "bash", true),
            ("*", "bash", true),
            (" ", "bash", true),
            ("Bash", "bash", true),
            ("bash", "bash", true),
            ("Bash|Edit", "edit_file", true),
            ("Bash|Edit", "write_file", false),
            ("Edit|MultiEdit|Write", "write_file", true),
            ("MultiEdit", "edit_file", true),
            ("Edit | Write", "write_file", true),
            ("run_shell_command", "bash", true),
            ("local_shell", "bash", true),
            ("read_file", "read_file", true),
            ("Read", "read_file", true),
            ("Rea", "read_file", false),
            ("Bas", "bash", false),
            (".*", "bash", true),
            ("^Bash$", "bash", true),
            ("^(Write|Edit)$", "edit_file", true),
            ("Notebook.*", "edit_file", false),
            ("mcp__.*", "bash", false),
            ("mcp__.*", "github__search", true),
            ("mcp__.*", "agent__explore", false),
            ("mcp__github__.*", "github__search", true),
            ("mcp__github__search", "github__search", true),
            ("mcp__memory__.*", "github__search", false),
            ("Bash.*", "bash", true),
            ("(?i)bash.?", "bash", true),
        ] {
            assert_eq!(Matcher::new(pattern).unwrap().fits_tool(tool), fits, "{pattern:?} on {tool}");
        }
        assert!(Matcher::new("(").is_err());
        assert!(Matcher::new(&format!("{}{}", "(a{1000}){1000}", ".")).is_err());
    }

    #[test]
    fn one_name_elsewhere_stands_for_all_that_starts_agents_and_hooks_are_told_it() {
        for (pattern, tool, told) in [
            ("Task", "task", Some("Task")),
            ("Agent", "task", Some("Agent")),
            ("Task|Agent", "spawn_agent", Some("Agent")),
            ("Bash|Task", "agent__explore", Some("Task")),
            ("^Agent$", "workflow", Some("Agent")),
            ("^Ta", "task", Some("Task")),
            ("spawn_agent", "spawn_agent", Some("spawn_agent")),
            ("task", "task", Some("task")),
            ("TASK", "task", Some("Task")),
            ("*", "task", None),
            ("Bash", "bash", None),
        ] {
            let matcher = Matcher::new(pattern).unwrap();
            assert!(matcher.fits_tool(tool), "{pattern:?} on {tool}");
            assert_eq!(matcher.name_of(tool).as_deref(), told, "{pattern:?} on {tool}");
        }
        for tool in ["agent_wait", "report", "bash"] {
            assert!(!Matcher::new("Task|Agent").unwrap().fits_tool(tool), "{tool}");
        }
    }

    #[test]
    fn words_fit_without_aliases() {
        assert!(Matcher::new("startup|resume").unwrap().fits_word("resume"));
        assert!(!Matcher::new("startup").unwrap().fits_word("resume"));
        assert!(Matcher::new("start.*").unwrap().fits_word("startup"));
    }
}
