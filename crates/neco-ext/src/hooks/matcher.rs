//! Which tools a hook is for: names of ours or of other agents, or a regular expression over them.

use neco_safety::tools::{self, starts_agents};
use regex::{Regex, RegexBuilder};

/// A compiled expression may not be larger: it comes from a file that anybody may have written.
const MOST_BYTES: usize = 1 << 20;

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
        names.push("Task".to_owned());
    }
    // A tool of a server is `server__tool` here and `mcp__server__tool` elsewhere.
    if tool.contains("__") && !tool.starts_with("mcp__") {
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
    fn words_fit_without_aliases() {
        assert!(Matcher::new("startup|resume").unwrap().fits_word("resume"));
        assert!(!Matcher::new("startup").unwrap().fits_word("resume"));
        assert!(Matcher::new("start.*").unwrap().fits_word("startup"));
    }
}
