//! Which tools of a server exist: those that the settings let.

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::settings::ServerSettings;

/// The tools of a server that the settings let.
pub(super) struct WantedTools {
    /// All where there is nothing.
    include: Option<Names>,
    exclude: Option<Names>,
}

impl WantedTools {
    /// Those of a server.
    pub(super) fn of(settings: &ServerSettings) -> Self {
        Self { include: Names::of(&settings.include), exclude: Names::of(&settings.exclude) }
    }

    /// Whether a tool of this name is one of them.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.include.as_ref().is_none_or(|names| names.have(tool))
            && !self.exclude.as_ref().is_some_and(|names| names.have(tool))
    }
}

/// Names, some of them written as globs. What is plain is compared as it is, which costs nothing at the start.
struct Names {
    plain: Vec<String>,
    globs: GlobSet,
}

impl Names {
    /// Nothing where there are none. A glob that is broken is a name.
    fn of(patterns: &[String]) -> Option<Self> {
        if patterns.is_empty() {
            return None;
        }
        let (globs, plain): (Vec<&String>, Vec<&String>) = patterns.iter().partition(|pattern| is_glob(pattern));
        let globs = if globs.is_empty() { GlobSet::empty() } else { built(&globs).unwrap_or_default() };
        Some(Self { plain: plain.into_iter().cloned().collect(), globs })
    }

    fn have(&self, tool: &str) -> bool {
        self.plain.iter().any(|name| name == tool) || self.globs.is_match(tool)
    }
}

/// Whether a name means others than itself.
fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?', '[', '{', '\\']) && Glob::new(pattern).is_ok()
}

fn built(patterns: &[&String]) -> Result<GlobSet, globset::Error> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern)?);
    }
    set.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::settings::{Reach, ServerAddress};

    #[test]
    fn names_and_globs_say_which_tools_exist() {
        let has = |include: &[&str], exclude: &[&str], tool: &str| {
            let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let reach = Reach::Address(ServerAddress::new("https://example.com/mcp"));
            let (include, exclude) = (names(include), names(exclude));
            WantedTools::of(&ServerSettings { include, exclude, ..ServerSettings::new("x", reach) }).has(tool)
        };
        assert!(has(&[], &[], "a") && has(&["a"], &[], "a") && !has(&["a"], &[], "b"));
        assert!(has(&["read_*", "b"], &[], "read_file") && has(&["read_*", "b"], &[], "b"));
        assert!(!has(&["*"], &["write_*"], "write_file") && !has(&[], &["a"], "a"));
        assert!(has(&["a[b"], &[], "a[b") && !has(&["a[b"], &[], "ab"), "what is no glob is a name");
    }
}
