//! What a session changed in files, as a screen of its own: the files above, each change below.

use neco_proto::LineCount;
use neco_proto::app::history::FileDiff;
use neco_proto::clean::clean_line;
use neco_proto::event::FileChangeKind;
use neco_proto::visible::visible;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::panel;
use crate::text::diff::{self, Look};
use crate::text::figures;
use crate::text::wrap::{cut, cut_front};
use crate::theme::{Theme, ThemeName};

/// Lines of one file's change that are drawn.
const LIMIT: usize = 3000;

/// Rows from which on nothing more is drawn of any change: the screen is drawn in one frame.
const ALL: usize = 20_000;

/// Lines of all changes together up to which the parts of programs have colours.
const COLOURED: usize = 2000;

/// Rows from which on the changes stand apart from the files.
const ROOMY: usize = 20;

/// A file that was changed.
#[derive(Clone, Debug)]
struct Changed {
    path: String,
    kind: FileChangeKind,
    by_others: bool,
    /// The lines that count as the session's.
    lines: LineCount,
    /// Lines that somebody else changed since.
    since: u64,
    /// Its change without a head; what is said of it where there are no lines to compare.
    change: Result<String, String>,
}

/// The screen.
#[derive(Clone, Debug)]
pub struct DiffScreen {
    files: Vec<Changed>,
    /// The file that is looked at.
    at: usize,
    /// Rows that were scrolled past, and that were shown last.
    from: usize,
    page: usize,
    drawn: Option<Drawn>,
}

#[derive(Clone, Debug)]
struct Drawn {
    width: usize,
    theme: ThemeName,
    rows: Vec<Line<'static>>,
    /// The row in which each file begins.
    begins: Vec<usize>,
}

impl DiffScreen {
    /// The screen of these changes, at its beginning.
    pub fn new(files: &[FileDiff]) -> Self {
        let mut files: Vec<Changed> = files.iter().map(Changed::of).collect();
        files.sort_by_key(|file| file.by_others);
        Self { files, at: 0, from: 0, page: 0, drawn: None }
    }

    /// So many rows up or down. The file is looked at whose change is in the first row; at the end it is the last one.
    pub fn scroll(&mut self, by: isize) {
        let Some(Drawn { rows, begins, .. }) = &self.drawn else { return };
        let last = rows.len().saturating_sub(self.page);
        self.from = self.from.saturating_add_signed(by).min(last);
        let seen = if self.from == last { rows.len() } else { self.from };
        if last > 0 {
            self.at = begins.partition_point(|begin| *begin <= seen).saturating_sub(1);
        }
    }

    /// So many pages up or down.
    pub fn turn(&mut self, by: isize) {
        self.scroll(by.saturating_mul(isize::try_from(self.page.saturating_sub(1).max(1)).unwrap_or(1)));
    }

    /// To the beginning of the next file, or of this one, or of the one before.
    pub fn go_to_file(&mut self, next: bool) {
        let Some(Drawn { begins, .. }) = &self.drawn else { return };
        let is_inside = begins.get(self.at).is_some_and(|begin| self.from > *begin);
        self.at = match next {
            true => (self.at + 1).min(self.files.len().saturating_sub(1)),
            false if is_inside => self.at,
            false => self.at.saturating_sub(1),
        };
        self.from = begins.get(self.at).copied().unwrap_or_default();
    }

    /// Its rows, as many as there is room for; `note` stands before the keys below them.
    pub fn rows(&mut self, width: usize, room: usize, note: &str, theme: &Theme) -> Vec<Line<'static>> {
        let head = self.head(width, room, theme);
        let is_old = |drawn: &mut Drawn| (drawn.width, drawn.theme) != (width, theme.name);
        self.drawn.take_if(is_old);
        let files = &self.files;
        let drawn = self.drawn.get_or_insert_with(|| draw(files, width, theme));
        self.page = room.saturating_sub(head.len() + 1);
        self.from = self.from.min(drawn.rows.len().saturating_sub(self.page));
        let until = (self.from + self.page).min(drawn.rows.len());
        let place = match drawn.rows.len() <= self.page {
            true => String::new(),
            false => format!("{} to {until} of {} · ↑↓ PgUp PgDn   ", self.from + 1, drawn.rows.len()),
        };
        let keys = format!("   {note}{place}←→ file   Esc back");
        let shown = drawn.rows.iter().skip(self.from).take(self.page).cloned();
        head.into_iter().chain(shown).chain([cut(&Line::styled(keys, theme.dim), width)]).collect()
    }

    /// What stands above the changes: how much was changed, and the files, a third of the room at most.
    fn head(&self, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let own = self.files.iter().filter(|file| !file.by_others);
        let (added, removed) =
            own.fold((0, 0), |(added, removed), file| (added + file.lines.added, removed + file.lines.removed));
        let theirs = match self.files.iter().filter(|file| file.by_others).count() {
            0 => String::new(),
            theirs => format!("  · {} changed by others", figures::count(theirs, "file", "files")),
        };
        let about = vec![
            Span::styled("of this session", theme.dim),
            Span::styled(format!("  +{added}"), Style { bg: None, ..theme.added }),
            Span::styled(format!(" −{removed}"), Style { bg: None, ..theme.removed }),
            Span::styled(theirs, theme.dim),
        ];
        let mut rows = vec![panel::heading("Changes", about, None, width, theme)];
        if self.files.len() > 1 {
            let most = (room / 3).max(1);
            let first = (self.at + 1).saturating_sub(most);
            let wide = Wide::of(&self.files, width);
            let listed = self.files.iter().enumerate().skip(first).take(most);
            rows.extend(listed.map(|(index, file)| match index == self.at {
                true => theme.choose(cut(&file.listed(" ❯ ", &wide, theme), width)),
                false => cut(&file.listed("   ", &wide, theme), width),
            }));
            let beyond = self.files.len().saturating_sub(first + most);
            let more = figures::count(beyond, "more file", "more files");
            rows.extend((beyond > 0).then(|| Line::styled(format!("   … {more}"), theme.dim)));
        }
        rows.extend((room >= ROOMY).then(Line::default));
        rows
    }
}

/// How wide the columns of the files are.
struct Wide {
    path: usize,
    added: usize,
    removed: usize,
}

impl Wide {
    fn of(files: &[Changed], width: usize) -> Self {
        let widest = |of: &dyn Fn(&Changed) -> usize| files.iter().map(of).max().unwrap_or_default();
        Self {
            path: widest(&|file: &Changed| file.path.width()).min(width / 2),
            added: widest(&|file: &Changed| file.lines.added.to_string().len()),
            removed: widest(&|file: &Changed| file.lines.removed.to_string().len()),
        }
    }
}

impl Changed {
    fn of(file: &FileDiff) -> Self {
        let lines: Vec<&str> = file.diff.lines().skip_while(|line| !line.starts_with("@@")).collect();
        let change = match lines.is_empty() {
            // There is nothing but the head of the change and the mode of the file.
            true if file.kind != FileChangeKind::Modified && file.diff.lines().count() <= 2 => {
                Err("empty file".to_owned())
            }
            true => Err(clean_line(file.diff.lines().last().unwrap_or_default())),
            false => Ok(visible(&lines.join("\n"))),
        };
        Self {
            path: clean_line(&file.path),
            kind: file.kind,
            by_others: file.by_others,
            lines: file.own.unwrap_or_else(|| LineCount::of(&file.diff)),
            since: file.since,
            change,
        }
    }

    /// Its row among the files.
    fn listed(&self, pointer: &'static str, wide: &Wide, theme: &Theme) -> Line<'static> {
        let path = cut_front(&self.path, wide.path);
        let (added, removed) = (format!("+{}", self.lines.added), format!("−{}", self.lines.removed));
        let signed = |style: Style, count: u64| if count == 0 { theme.dim } else { Style { bg: None, ..style } };
        Line::from(vec![
            Span::styled(pointer, theme.accent),
            Span::raw(figures::padded(&path, wide.path)),
            Span::styled(format!("  {added:>0$}", wide.added + 1), signed(theme.added, self.lines.added)),
            Span::styled(format!("  {removed:>0$}", wide.removed + 1), signed(theme.removed, self.lines.removed)),
            Span::styled(self.note(), theme.dim),
        ])
    }

    /// What is to be known of it, behind blanks.
    fn note(&self) -> String {
        let is = match self.kind {
            FileChangeKind::Added => Some("new file".to_owned()),
            FileChangeKind::Deleted => Some("deleted".to_owned()),
            FileChangeKind::Modified => None,
        };
        let others = self.by_others.then(|| "by others".to_owned());
        let count = usize::try_from(self.since).unwrap_or(usize::MAX);
        let lines = figures::count(count, "line", "lines");
        let since = (count > 0 && !self.by_others).then(|| format!("you or another program changed {lines} since"));
        let notes: Vec<String> = [is, others, since].into_iter().flatten().collect();
        if notes.is_empty() { String::new() } else { format!("   {}", notes.join(" · ")) }
    }

    /// What stands above its change.
    fn head(&self, theme: &Theme) -> Vec<Span<'static>> {
        vec![
            Span::styled(" ▎ ", theme.accent),
            Span::raw(self.path.clone()),
            Span::styled(format!("  +{}", self.lines.added), Style { bg: None, ..theme.added }),
            Span::styled(format!(" −{}", self.lines.removed), Style { bg: None, ..theme.removed }),
            Span::styled(self.note(), theme.dim),
        ]
    }
}

fn draw(files: &[Changed], width: usize, theme: &Theme) -> Drawn {
    let (mut rows, mut begins) = (Vec::new(), Vec::new());
    let lines: usize = files.iter().flat_map(|file| &file.change).map(|unified| unified.lines().count()).sum();
    for file in files {
        rows.extend((!rows.is_empty()).then(Line::default));
        begins.push(rows.len());
        rows.push(Line::from(file.head(theme)));
        match &file.change {
            Ok(unified) => {
                let language = file.path.rsplit('.').next().filter(|_| lines <= COLOURED).unwrap_or_default();
                let limit = LIMIT.min(ALL.saturating_sub(rows.len()));
                let (shown, beyond) = first_lines(unified, limit);
                let look = Look { theme, width, limit, edge: Vec::new(), language, cuts: false, context: true };
                rows.extend(diff::painted(shown, look).0);
                let more = figures::count(beyond, "more line", "more lines");
                rows.extend((beyond > 0).then(|| Line::styled(format!("     … {more}"), theme.dim)));
            }
            Err(words) => rows.push(Line::styled(format!("     {words}"), theme.dim)),
        }
    }
    let rows = rows.into_iter().map(|row| if row.width() > width { cut(&row, width) } else { row }).collect();
    Drawn { width, theme: theme.name, rows, begins }
}

/// The first lines of a change, and how many lines of the file come after them. What is left out is not even compared.
fn first_lines(unified: &str, limit: usize) -> (&str, usize) {
    let end: usize = unified.split_inclusive('\n').take(limit).map(str::len).sum();
    let (first, rest) = unified.split_at_checked(end).unwrap_or((unified, ""));
    (first, rest.lines().filter(|line| !line.starts_with("@@ ") && !line.starts_with('\\')).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(files: usize, lines: usize) -> DiffScreen {
        let body = "+let a = 1;\n".repeat(lines);
        let file = |number: usize| FileDiff {
            path: format!("src/{number}.rs"),
            kind: FileChangeKind::Added,
            diff: format!("--- /dev/null\n+++ b/src/{number}.rs\n@@ -0,0 +1,{lines} @@\n{body}"),
            by_others: number > 90,
            own: (number == 3).then_some(LineCount { added: 1, removed: 0 }),
            since: u64::from(number == 3),
        };
        DiffScreen::new(&(1..=files).map(file).collect::<Vec<_>>())
    }

    #[test]
    fn many_changes_have_one_limit_and_each_file_says_what_is_left_out() {
        let rows = screen(9, 3500).rows(80, 30_000, "", &Theme::new(ThemeName::Plain));
        assert!(rows.len() < ALL + 100, "{}", rows.len());
        let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
        let more: Vec<&str> = text.iter().map(|row| row.trim()).filter(|row| row.ends_with("more lines")).collect();
        assert_eq!(more.len(), 9, "{more:?}");
        assert_eq!((more.first(), more.last()), (Some(&"… 501 more lines"), Some(&"… 3500 more lines")));
    }

    #[test]
    fn an_empty_file_is_called_that() {
        let file = FileDiff {
            path: "a.txt".to_owned(),
            kind: FileChangeKind::Added,
            diff: "diff --git a/a.txt b/a.txt\nnew file mode 100644\n".to_owned(),
            by_others: false,
            own: None,
            since: 0,
        };
        let rows = DiffScreen::new(&[file]).rows(80, 30, "", &Theme::new(ThemeName::Plain));
        let text: Vec<String> = rows.iter().map(ToString::to_string).collect();
        assert!(text.iter().any(|row| row.trim() == "empty file"), "{text:?}");
    }

    #[test]
    fn what_others_changed_comes_last_and_is_not_counted_as_the_sessions() {
        let theme = Theme::new(ThemeName::Plain);
        let heading = |files: usize| {
            let rows = screen(files, 2).rows(120, 9000, "", &theme);
            rows.first().map(|row| row.to_string().trim_matches(['─', ' ']).to_owned()).unwrap_or_default()
        };
        // A line of the third was changed by hand.
        assert_eq!(heading(90), "Changes  of this session  +179 −0");
        assert_eq!(heading(92), "Changes  of this session  +179 −0  · 2 files changed by others");
        let rows = screen(91, 2).rows(120, 9000, "", &theme);
        assert!(rows.iter().any(|row| row.to_string().contains("src/91.rs  +2 −0   new file · by others")));
    }

    #[test]
    fn the_file_that_is_looked_at_is_marked_among_all_with_their_lines() {
        let theme = Theme::new(ThemeName::Plain);
        let mut screen = screen(12, 20);
        let marked = |screen: &mut DiffScreen| {
            let rows = screen.rows(90, 20, "", &theme);
            assert_eq!(rows.len(), 20);
            rows.iter().map(ToString::to_string).find(|row| row.starts_with(" ❯ ")).unwrap_or_default()
        };
        assert_eq!(marked(&mut screen), " ❯ src/1.rs   +20  −0   new file");
        screen.go_to_file(true);
        screen.go_to_file(true);
        assert_eq!(
            marked(&mut screen),
            " ❯ src/3.rs    +1  −0   new file · you or another program changed 1 line since"
        );
        screen.scroll(30);
        assert_eq!(marked(&mut screen), " ❯ src/4.rs   +20  −0   new file", "it follows what is seen");
        screen.go_to_file(false);
        assert_eq!(marked(&mut screen), " ❯ src/4.rs   +20  −0   new file", "its beginning");
        screen.scroll(isize::MAX);
        assert_eq!(marked(&mut screen), " ❯ src/12.rs  +20  −0   new file");
        screen.scroll(isize::MIN);
        assert_eq!(marked(&mut screen), " ❯ src/1.rs   +20  −0   new file");
    }

    #[test]
    fn a_long_change_has_no_colours_of_its_language() {
        let theme = Theme::new(ThemeName::Dark);
        let parts = |lines: usize| {
            let rows = screen(1, lines).rows(80, 30_000, "", &theme);
            let row = rows.iter().find(|row| row.to_string().contains("let a = 1;"));
            row.map_or(0, |row| row.spans.len())
        };
        assert!(parts(10) > parts(COLOURED + 1), "{} {}", parts(10), parts(COLOURED + 1));
    }
}
