//! What a person reads before they decide about what a folder would switch on: every thing by its name, all that it says
//! and runs, and the parts that can be taken or left.

use std::fmt::Write;

use neco_proto::visible::visible_line;

use crate::workspace::plugged::{Plugged, Scope};
use crate::workspace::plugged_item::{Item, Kind};

/// Stands below the rules of a project.
const RULES: &str = "    Rules of a project ask and deny; what they allow has no effect: a project can't allow\n";

impl Plugged {
    /// What is switched on, for the person who decides: of every folder in question all of it, with the first lines of
    /// what it says or runs.
    pub fn describe(&self, scope: Scope) -> String {
        self.written(scope, |item| {
            let rules = if matches!(item.kind, Kind::Rules) { RULES } else { "" };
            (item.words.clone(), format!("{}{rules}", item.excerpt()))
        })
    }

    /// The same in a line for each thing: what it is, and what it runs.
    pub fn names(&self, scope: Scope) -> String {
        self.written(scope, |item| (item.in_short(), String::new()))
    }

    /// All that is in question, each with a line and with what stands below that.
    fn written(&self, scope: Scope, of: impl Fn(&Item) -> (String, String)) -> String {
        let mut text = String::new();
        let folders = self.by_folder(scope);
        let has_hooks = folders.values().flatten().any(|item| matches!(item.kind, Kind::Hook(_)));
        for (folder, items) in folders {
            let known = self.trust.is_trusted(folder);
            let was = if known { ", which you trusted as it was," } else { "" };
            let _ = writeln!(text, "{}{was} would switch on:", visible_line(&folder.display().to_string()));
            for item in items {
                let new = match (known, self.is_on(item)) {
                    (true, false) if self.trust.has_seen(&item.folder, &item.hash) => "  (you left it off)",
                    (true, false) => "  (new or changed)",
                    (true, true) | (false, _) => "",
                };
                let (line, below) = of(item);
                let _ = writeln!(text, "  {}{new}", visible_line(&line));
                text.push_str(&below);
            }
        }
        if has_hooks {
            text.push_str("Hooks run commands with your rights, outside the sandbox.\n");
        }
        text
    }

    /// The same in parts that can be taken or left one by one, in a line each. Rules of a folder count together or not
    /// at all, and its commands wait for the person anyway.
    pub fn parts(&self, scope: Scope) -> Vec<String> {
        let line = |part: Vec<&Item>| {
            let words: Vec<String> = part.iter().map(|item| visible_line(&item.words)).collect();
            words.join("; ")
        };
        self.grouped(scope).into_iter().map(line).collect()
    }

    pub(super) fn grouped(&self, scope: Scope) -> Vec<Vec<&Item>> {
        let mut parts: Vec<Vec<&Item>> = Vec::new();
        for item in self.by_folder(scope).into_values().flatten() {
            let goes_with = |other: &&Item| {
                let is_of_kind = match item.kind {
                    Kind::Rules => matches!(other.kind, Kind::Rules),
                    Kind::Command => matches!(other.kind, Kind::Command),
                    Kind::Hook(_) | Kind::Prompt(_) | Kind::Agent | Kind::Server(_) => false,
                    Kind::Script(_) | Kind::Skill(..) => false,
                };
                is_of_kind && other.folder == item.folder
            };
            match parts.iter_mut().find(|part| part.iter().any(goes_with)) {
                Some(part) => part.push(item),
                None => parts.push(vec![item]),
            }
        }
        parts
    }
}
