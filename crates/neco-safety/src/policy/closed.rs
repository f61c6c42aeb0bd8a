//! What rules close to reading, for tools that walk where nobody named a file.

use std::path::Path;

use super::judge::Policy;
use super::pattern::PathPattern;
use super::rule::{Rule, Ruling, Source};

/// The tool that stands for everything that reads files.
const READS: &str = "read_file";

/// Files that rules close to reading whatever the call: searches leave them out.
#[derive(Clone, Debug, Default)]
pub struct Closed {
    closed: Vec<PathPattern>,
    /// What flags of this run open again.
    open: Vec<PathPattern>,
}

impl Closed {
    /// Whether a file is closed.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        let fits = |patterns: &[PathPattern]| patterns.iter().any(|pattern| pattern.fits(path));
        fits(&self.closed) && !fits(&self.open)
    }

    /// Whether nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.closed.is_empty()
    }
}

impl Policy {
    /// What rules close to reading, in every mode and for everybody.
    #[must_use]
    pub fn closed(&self) -> Closed {
        let about_reading = |rule: &&Rule| rule.when.paths_alone_of(rule.decision, READS, &self.place().workspace);
        let patterns = |wanted: &dyn Fn(&Rule) -> bool| {
            let rules = self.rules().iter().filter(about_reading).filter(|rule| wanted(rule));
            rules.flat_map(|rule| rule.when.paths.iter().cloned()).collect()
        };
        Closed {
            closed: patterns(&|rule| rule.decision == Ruling::Deny),
            open: patterns(&|rule| rule.decision == Ruling::Allow && rule.source >= Source::CommandLine),
        }
    }
}
