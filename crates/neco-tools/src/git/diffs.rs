//! What git prints as a diff, file by file, for people.

use neco_proto::Diff;

/// Lines kept of one file, bytes of one line, bytes of all, and files.
const MOST_LINES: usize = 2000;
const LONGEST_LINE: usize = 2000;
const MOST_BYTES: usize = 256 * 1024;
const MOST_FILES: usize = 500;

/// What a diff is made of.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// Its files, each with what is shown of it; there may be fewer than `count`.
    pub(super) files: Vec<Diff>,
    /// How many there are.
    pub(super) count: usize,
    /// Lines added in all.
    pub(super) added: u64,
    /// Lines removed in all.
    pub(super) removed: u64,
}

/// The files of a diff.
pub(super) fn split(text: &str) -> Split {
    let mut split = Split::default();
    for file in each(text) {
        split.count += 1;
        split.added += u64::from(file.added);
        split.removed += u64::from(file.removed);
        split.files.push(file);
    }
    let mut room = MOST_BYTES;
    split.files.truncate(MOST_FILES);
    for file in &mut split.files {
        let end = file.unified.floor_char_boundary(room);
        if end < file.unified.len() {
            file.unified.truncate(end);
            file.unified.push_str("\n(there is more)\n");
        }
        room = room.saturating_sub(end);
    }
    split
}

fn each(text: &str) -> Vec<Diff> {
    let mut files: Vec<Diff> = Vec::new();
    let (mut in_hunks, mut kept) = (false, 0);
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("diff --git ") {
            let path = names.rsplit_once(" b/").map_or(names, |(_, path)| path).to_owned();
            files.push(Diff { path, unified: String::new(), added: 0, removed: 0, created: false, deleted: false });
            (in_hunks, kept) = (false, 0);
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        file.created |= !in_hunks && line.starts_with("new file mode ");
        file.deleted |= !in_hunks && line.starts_with("deleted file mode ");
        in_hunks |= line.starts_with("@@");
        if !in_hunks {
            continue;
        }
        file.added += u32::from(line.starts_with('+'));
        file.removed += u32::from(line.starts_with('-'));
        kept += 1;
        if kept <= MOST_LINES {
            file.unified.push_str(line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or_default());
            file.unified.push('\n');
        } else if kept == MOST_LINES + 1 {
            file.unified.push_str("(there is more)\n");
        }
    }
    files
}

/// The diff without the files that `hidden` names, and what was left out.
pub(super) fn without(text: &str, hidden: impl Fn(&str) -> bool) -> (String, Vec<String>) {
    let (mut kept, mut out) = (String::with_capacity(text.len()), Vec::new());
    let mut is_hidden = false;
    for line in text.split_inclusive('\n') {
        if let Some(names) = names(line) {
            let found = names.into_iter().find(|name| hidden(name));
            is_hidden = found.is_some();
            out.extend(found);
        }
        if !is_hidden {
            kept.push_str(line);
        }
    }
    (kept, out)
}

/// The names in the line that begins a file of a diff, be it one of a merge.
fn names(line: &str) -> Option<Vec<String>> {
    let line = line.trim_end_matches(['\r', '\n']);
    if let Some(name) = line.strip_prefix("diff --cc ").or_else(|| line.strip_prefix("diff --combined ")) {
        return Some(vec![plain(name)]);
    }
    let both = line.strip_prefix("diff --git ")?;
    // Names may hold anything, so every way to cut the line in two counts.
    let cuts = both.match_indices(' ').filter_map(|(at, _)| both.split_at_checked(at));
    Some(cuts.flat_map(|(one, other)| [plain(one), plain(other.trim_start())]).collect())
}

fn plain(name: &str) -> String {
    let name = name.trim_matches('"');
    let name = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        let text = "commit 1\n\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\
            diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n";
        let Split { files, count, added, removed } = split(text);
        assert_eq!((count, added, removed), (2, 2, 1));
        let shown: Vec<_> =
            files.iter().map(|file| (file.path.as_str(), file.added, file.removed, file.created)).collect();
        assert_eq!(shown, [("x", 1, 1, false), ("n.txt", 1, 0, true)]);
        assert_eq!(files[0].unified, "@@ -1 +1 @@\n-a\n+b\n");
    }

    #[test]
    fn a_huge_diff_is_counted_whole_and_shown_in_part() {
        let line = format!("+{}\n", "é".repeat(100_000));
        let file = |name: usize| format!("diff --git a/{name} b/{name}\n@@ -0,0 +1,2 @@\n{line}+y\n");
        let split = split(&(0..600).map(file).collect::<String>());
        assert_eq!((split.count, split.added, split.files.len()), (600, 1200, MOST_FILES));
        let shown: usize = split.files.iter().map(|file| file.unified.len()).sum();
        assert!(shown < MOST_BYTES + MOST_FILES * 20, "{shown}");
        let last = each("diff --git a/x b/x\ndeleted file mode 100644\n@@ -1 +0,0 @@\n-a\n");
        assert!(last[0].deleted && !last[0].created);
    }

    #[test]
    fn what_is_hidden_is_left_out_and_named() {
        let text = "commit 1\n\ndiff --git a/.env b/.env\n@@ -0,0 +1 @@\n+KEY=1\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n\
            diff --git a/old b/.env\nrename from old\ndiff --cc .env\n++KEY=2\n";
        let (kept, out) = without(text, |name| name == ".env");
        assert_eq!(kept, "commit 1\n\ndiff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(out, [".env", ".env", ".env"]);
    }
}
