//! What `git status` says, told shortly.

use std::fmt::Write;

/// Names told of each kind.
const MOST_NAMES: usize = 100;

/// The second form of `git status --porcelain` in words.
pub(super) fn told(porcelain: &str) -> String {
    let mut status = Status::default();
    for line in porcelain.lines() {
        status.line(line);
    }
    status.print()
}

#[derive(Default)]
struct Status {
    branch: String,
    upstream: Option<String>,
    ahead: u64,
    behind: u64,
    staged: Vec<String>,
    changed: Vec<String>,
    conflicts: Vec<String>,
    untracked: Vec<String>,
}

impl Status {
    /// Warnings of git stand between its lines; they begin with none of the signs.
    fn line(&mut self, line: &str) {
        let (sign, rest) = line.split_once(' ').unwrap_or((line, ""));
        match sign {
            "#" => self.header(rest),
            "1" => self.entry(rest, rest.splitn(8, ' ').nth(7).unwrap_or_default()),
            "2" => {
                // The new name and the old one, with a tab between them.
                let names = rest.splitn(9, ' ').nth(8).unwrap_or_default();
                let (new, old) = names.split_once('\t').unwrap_or((names, ""));
                self.entry(rest, &format!("{old} → {new}"));
            }
            "u" => self.conflicts.push(rest.splitn(10, ' ').nth(9).unwrap_or_default().to_owned()),
            "?" => self.untracked.push(rest.to_owned()),
            _ => {}
        }
    }

    fn header(&mut self, text: &str) {
        let (key, value) = text.split_once(' ').unwrap_or((text, ""));
        match key {
            "branch.head" => self.branch = value.to_owned(),
            "branch.upstream" => self.upstream = Some(value.to_owned()),
            "branch.ab" => {
                let number =
                    |sign| value.split(' ').find_map(|word| word.strip_prefix(sign)?.parse().ok()).unwrap_or(0);
                (self.ahead, self.behind) = (number('+'), number('-'));
            }
            _ => {}
        }
    }

    fn entry(&mut self, rest: &str, name: &str) {
        let mut states = rest.chars();
        let (index, tree) = (states.next().unwrap_or('.'), states.next().unwrap_or('.'));
        if index != '.' {
            self.staged.push(format!("{index} {name}"));
        }
        if tree != '.' {
            self.changed.push(format!("{tree} {name}"));
        }
    }

    fn print(self) -> String {
        let mut text = match self.branch.as_str() {
            "(detached)" => "HEAD is on no branch".to_owned(),
            branch => format!("on branch {branch}"),
        };
        if let Some(upstream) = &self.upstream {
            let _ = match (self.ahead, self.behind) {
                (0, 0) => write!(text, ", as {upstream}"),
                (ahead, 0) => write!(text, ", {ahead} ahead of {upstream}"),
                (0, behind) => write!(text, ", {behind} behind {upstream}"),
                (ahead, behind) => write!(text, ", {ahead} ahead of and {behind} behind {upstream}"),
            };
        }
        let lists = [
            ("in conflict", self.conflicts),
            ("staged", self.staged),
            ("not staged", self.changed),
            ("untracked", self.untracked),
        ];
        if lists.iter().all(|(_, names)| names.is_empty()) {
            text.push_str("\nnothing to commit, the working tree is clean");
        }
        for (title, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
            let _ = write!(text, "\n{title}:");
            for name in names.iter().take(MOST_NAMES) {
                let _ = write!(text, "\n  {name}");
            }
            if names.len() > MOST_NAMES {
                let _ = write!(text, "\n  … and {} more", names.len() - MOST_NAMES);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_told() {
        let porcelain = "# branch.oid 1234\n# branch.head main\n# branch.upstream origin/main\n# branch.ab +2 -1\n\
            warning: something\n1 M. N... 100644 100644 100644 aa bb src/a b.rs\n1 .M N... 100644 100644 100644 aa bb c\n\
            2 R. N... 100644 100644 100644 aa bb R100 new name\told name\n\
            u UU N... 100644 100644 100644 100644 aa bb cc both.txt\n? not known.txt\n";
        let expected = "on branch main, 2 ahead of and 1 behind origin/main\nin conflict:\n  both.txt\nstaged:\n  M src/a b.rs\n  \
            R old name → new name\nnot staged:\n  M c\nuntracked:\n  not known.txt";
        assert_eq!(told(porcelain), expected);
        assert_eq!(
            told("# branch.head (detached)\n"),
            "HEAD is on no branch\nnothing to commit, the working tree is clean"
        );
    }
}
