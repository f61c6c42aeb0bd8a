//! A change of a file as coloured lines, with every character of it.

use neco_proto::Diff;
use neco_proto::visible::{visible, visible_line};

use crate::paint::colour::Paint;

/// Lines of one file's change that a card shows.
pub const CARD: usize = 60;

/// The change of `file`: a heading and at most `most` lines of it.
pub fn lines(file: &Diff, paint: Paint, most: usize) -> Vec<String> {
    let unified = visible(&file.unified);
    let mut lines = vec![paint.bold(&heading(file))];
    let total = unified.lines().count();
    let shown = if is_cut(file, most) { most } else { total };
    lines.extend(unified.lines().take(shown).map(|line| coloured(line, paint)));
    if shown < total {
        lines.push(paint.dim(&format!("… {} more lines", total - shown)));
    }
    lines
}

/// Whether [`lines`] leaves something out. One line more is shown rather than replaced by the line
/// that says so.
pub fn is_cut(file: &Diff, most: usize) -> bool {
    file.unified.lines().count() > most.saturating_add(1)
}

/// `src/a.rs (+3 −1)`, with `new file` or `deleted` when it is that.
pub fn heading(file: &Diff) -> String {
    let kind = match (file.created, file.deleted) {
        (_, true) => ", deleted",
        (true, false) => ", new file",
        (false, false) => "",
    };
    format!("{} (+{} −{}{kind})", visible_line(&file.path), file.added, file.removed)
}

/// A line of a unified diff in its colour.
pub fn coloured(line: &str, paint: Paint) -> String {
    match line.chars().next() {
        Some('+') => paint.green(line),
        Some('-') => paint.red(line),
        Some('@') => paint.cyan(line),
        Some(_) | None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_change_is_cut_and_says_so() {
        let unified: String = (0..100).map(|number| format!("+line {number}\n")).collect();
        let file =
            Diff { path: "a\u{1b}[2J.txt".into(), unified, added: 100, removed: 0, created: true, deleted: false };
        let lines = lines(&file, Paint::default(), 60);
        assert_eq!(lines[0], "a\\x1b[2J.txt (+100 −0, new file)");
        assert_eq!((lines.len(), lines[61].as_str()), (62, "… 40 more lines"));
    }

    #[test]
    fn nothing_of_a_change_is_hidden() {
        let unified = "+ok \u{1b}]0;\u{7}rm -rf ~\u{202e}\n".to_owned();
        let file = Diff { path: "a".into(), unified, added: 1, removed: 0, created: false, deleted: false };
        assert_eq!(lines(&file, Paint::default(), 60)[1], "+ok \\x1b]0;\\x07rm -rf ~\\u{202e}");
    }
}
