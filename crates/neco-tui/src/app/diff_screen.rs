//! What a session changed in files, as a screen of its own: the files first, then each change.

use neco_proto::app::history::FileDiff;
use neco_proto::clean::clean_line;
use neco_proto::event::FileChangeKind;
use neco_proto::visible::visible;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text::diff::{self, Look};
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::{Theme, ThemeName};

/// Lines of one file's change that are drawn.
const LIMIT: usize = 3000;

/// Rows from which on nothing more is drawn of any change: the screen is drawn in one frame.
const ALL: usize = 20_000;

/// Lines of all changes together up to which the parts of programs have colours.
const COLOURED: usize = 2000;

/// A file that was changed.
#[derive(Clone, Debug)]
struct Changed {
    path: String,
    kind: FileChangeKind,
    by_others: bool,
    added: usize,
    removed: usize,
    /// Its change without a head; what is said of it where there are no lines to compare.
    change: Result<String, String>,
}

/// The screen.
#[derive(Clone, Debug)]
pub struct DiffScreen {
    files: Vec<Changed>,
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
        Self { files, from: 0, page: 0, drawn: None }
    }

    /// So many rows up or down.
    pub fn scroll(&mut self, by: isize) {
        self.from = self.from.saturating_add_signed(by);
    }

    /// So many pages up or down.
    pub fn turn(&mut self, by: isize) {
        self.scroll(by.saturating_mul(isize::try_from(self.page.saturating_sub(1).max(1)).unwrap_or(1)));
    }

    /// To the beginning of the next file, or of the one before.
    pub fn go_to_file(&mut self, next: bool) {
        let Some(Drawn { begins, .. }) = &self.drawn else { return };
        let found = match next {
            true => begins.iter().find(|begin| **begin > self.from),
            false => begins.iter().rev().find(|begin| **begin < self.from),
        };
        self.from = found.copied().unwrap_or(if next { self.from } else { 0 });
    }

    /// Its rows, as many as there is room for; `note` stands before the keys below them.
    pub fn rows(&mut self, width: usize, room: usize, note: &str, theme: &Theme) -> Vec<Line<'static>> {
        let is_old = |drawn: &mut Drawn| (drawn.width, drawn.theme) != (width, theme.name);
        self.drawn.take_if(is_old);
        let files = &self.files;
        let drawn = self.drawn.get_or_insert_with(|| draw(files, width, theme));
        self.page = room.saturating_sub(1);
        self.from = self.from.min(drawn.rows.len().saturating_sub(self.page));
        let until = (self.from + self.page).min(drawn.rows.len());
        let place = match drawn.rows.len() <= self.page {
            true => String::new(),
            false => format!("{} to {until} of {} · ↑↓ PgUp PgDn   ", self.from + 1, drawn.rows.len()),
        };
        let keys = format!("   {note}{place}Tab next file   q close");
        let shown = drawn.rows.iter().skip(self.from).take(self.page).cloned();
        shown.chain([cut(&Line::styled(keys, theme.dim), width)]).collect()
    }
}

impl Changed {
    fn of(file: &FileDiff) -> Self {
        let lines: Vec<&str> = file.diff.lines().skip_while(|line| !line.starts_with("@@")).collect();
        let count = |sign: char| lines.iter().filter(|line| line.starts_with(sign)).count();
        let change = match lines.is_empty() {
            true => Err(clean_line(file.diff.lines().last().unwrap_or_default())),
            false => Ok(visible(&lines.join("\n"))),
        };
        let (path, kind) = (clean_line(&file.path), file.kind);
        Self { path, kind, by_others: file.by_others, added: count('+'), removed: count('-'), change }
    }

    /// Its path and how many lines came and went.
    fn head(&self, theme: &Theme) -> Vec<Span<'static>> {
        let is = match self.kind {
            FileChangeKind::Added => "  new",
            FileChangeKind::Deleted => "  deleted",
            FileChangeKind::Modified => "",
        };
        vec![
            Span::raw(self.path.clone()),
            Span::styled(format!("  +{}", self.added), Style { bg: None, ..theme.added }),
            Span::styled(format!(" −{}", self.removed), Style { bg: None, ..theme.removed }),
            Span::styled(is, theme.dim),
            Span::styled(if self.by_others { "  by others" } else { "" }, theme.dim),
        ]
    }
}

fn draw(files: &[Changed], width: usize, theme: &Theme) -> Drawn {
    let own = files.partition_point(|file| !file.by_others);
    let sum = |count: fn(&Changed) -> usize| files.iter().take(own).map(count).sum::<usize>();
    let (added, removed) = (sum(|file| file.added), sum(|file| file.removed));
    let all = format!("   {} changed in this session", figures::count(own, "file", "files"));
    let theirs = match files.len() - own {
        0 => String::new(),
        theirs => format!("  · {} changed by others", figures::count(theirs, "file", "files")),
    };
    let mut rows = vec![Line::from(vec![
        Span::styled(all, theme.heading),
        Span::styled(format!("  +{added}"), Style { bg: None, ..theme.added }),
        Span::styled(format!(" −{removed}"), Style { bg: None, ..theme.removed }),
        Span::styled(theirs, theme.dim),
    ])];
    let listed = files.iter().filter(|_| files.len() > 1);
    rows.extend(listed.map(|file| Line::from_iter([Span::raw("   ")].into_iter().chain(file.head(theme)))));
    let mut begins = Vec::new();
    let lines: usize = files.iter().flat_map(|file| &file.change).map(|unified| unified.lines().count()).sum();
    for file in files {
        rows.push(Line::default());
        begins.push(rows.len());
        let mark = Span::styled(" ▎ ", theme.accent);
        rows.push(Line::from_iter([mark].into_iter().chain(file.head(theme))));
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
    fn what_others_changed_comes_last_and_is_not_counted_as_the_sessions() {
        let theme = Theme::new(ThemeName::Plain);
        let heading = |files: usize| screen(files, 2).rows(120, 9000, "", &theme).first().map(ToString::to_string);
        assert_eq!(heading(90).as_deref(), Some("   90 files changed in this session  +180 −0"));
        let mixed = Some("   90 files changed in this session  +180 −0  · 2 files changed by others");
        assert_eq!(heading(92).as_deref(), mixed);
        let rows = screen(91, 2).rows(120, 9000, "", &theme);
        assert!(rows.iter().any(|row| row.to_string().contains("src/91.rs  +2 −0  new  by others")));
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
