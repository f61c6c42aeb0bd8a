//! Markdown as rows of a terminal.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::highlight::highlight;
use super::table::Table;
use super::wrap::{Indent, unfolded, wrap, wrap_words};
use crate::term::ansi::is_steering;
use crate::theme::{Syntax, Theme};

/// A longer draft is drawn without the colours of programs.
const DRAFT: usize = 2 * 1024;

/// Words are read best in rows of no more than this; programs and tables have all of the window.
const READABLE: usize = 108;

/// So many quotes and lists inside each other are told apart.
const DEEP: usize = 8;

/// `text` in rows of `width` columns that leave for good. Long words and the lines of programs may be wider: the
/// terminal folds them, so that they are copied as they were written.
pub fn rows(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    draw(text, Drawing::new(width.max(8), theme))
}

/// The same in rows of at most `width` columns, for a text that is drawn anew with every piece that comes: programs in a
/// long one have no colours yet.
pub fn draft_rows(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let plain = Theme { syntax: Syntax::default(), ..*theme };
    let theme = if text.len() > DRAFT { &plain } else { theme };
    draw(text, Drawing { draft: true, ..Drawing::new(width.max(8), theme) })
}

fn draw(text: &str, mut drawing: Drawing<'_>) -> Vec<Line<'static>> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(text, options) {
        drawing.event(event);
    }
    drawing.end()
}

/// How much of an answer that is still being written can't change any more: everything up to the last
/// blank line that is not inside a fence. Lists, quotes and tables go on after blank lines, so the
/// block behind the line must begin at the margin as something else. A fence at the margin ends whatever
/// stands before it.
pub fn settled(text: &str) -> usize {
    let mut fence: Option<(char, usize)> = None;
    let (mut at, mut settled, mut blank) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let marks = marks(line);
        if fence.is_none() && ((blank && begins_anew(line)) || (marks.is_some() && !line.starts_with(' '))) {
            settled = at;
        }
        match (fence, marks) {
            (None, Some((char, count, _))) => fence = Some((char, count)),
            (Some((mark, least)), Some((char, count, true))) if mark == char && count >= least => fence = None,
            (Some(_) | None, _) => {}
        }
        blank = line.trim().is_empty();
        at += line.len();
    }
    settled
}

/// The mark of a fence that a line begins with, how often it stands there, and whether nothing follows it.
fn marks(line: &str) -> Option<(char, usize, bool)> {
    let bare = line.trim();
    let first = bare.chars().next().filter(|char| matches!(char, '`' | '~'))?;
    let rest = bare.trim_start_matches(first);
    let count = bare.len() - rest.len();
    // A tick in the line makes it code inside a sentence.
    (count >= 3 && !(first == '`' && rest.contains('`'))).then_some((first, count, rest.is_empty()))
}

/// Whether a line that follows a blank one begins a block that has nothing to do with those before it.
fn begins_anew(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    // A number may be the next of a list; so may the beginning of one.
    !first.is_whitespace() && !first.is_ascii_digit() && !matches!(first, '-' | '*' | '+' | '>' | '|')
}

/// A list that is open.
struct List {
    /// The number of the next item; none for bullets.
    next: Option<u64>,
    /// Whether it has an item.
    begun: bool,
}

struct Drawing<'t> {
    width: usize,
    /// Whether it is drawn anew, so that no row may be wider.
    draft: bool,
    theme: &'t Theme,
    rows: Vec<Line<'static>>,
    /// What is being written, line by line.
    spans: Vec<Vec<Span<'static>>>,
    styles: Vec<Style>,
    lists: Vec<List>,
    quotes: usize,
    /// What stands before the first row of the next block: the mark of an item.
    mark: Option<Span<'static>>,
    code: Option<(String, String)>,
    links: Vec<(String, usize)>,
    table: Option<Table>,
    /// Whether the next block wants a blank row before it.
    apart: bool,
}

impl<'t> Drawing<'t> {
    fn new(width: usize, theme: &'t Theme) -> Self {
        Self {
            width,
            draft: false,
            theme,
            rows: Vec::new(),
            spans: vec![Vec::new()],
            styles: Vec::new(),
            lists: Vec::new(),
            quotes: 0,
            mark: None,
            code: None,
            links: Vec::new(),
            table: None,
            apart: false,
        }
    }

    fn end(mut self) -> Vec<Line<'static>> {
        self.block();
        self.rows
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.finish(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(code) if self.theme.has_washes() => {
                self.span(code.into_string(), self.style().patch(self.theme.code));
            }
            Event::Code(code) => self.span(format!("`{code}`"), self.style()),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.spans.push(Vec::new()),
            Event::Rule => {
                self.gap();
                self.rows.push(Line::styled("─".repeat(self.width.min(40)), self.theme.line));
                self.apart = true;
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            Event::Html(html) | Event::InlineHtml(html) => self.text(&html),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]")),
            Event::InlineMath(math) | Event::DisplayMath(math) => self.text(&math),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.block();
                self.styles.push(self.theme.heading);
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => {
                self.block();
                // An inner list follows its item closely.
                self.apart &= self.lists.is_empty();
                self.lists.push(List { next: first, begun: false });
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.push_style(Modifier::ITALIC),
            Tag::Strong => self.push_style(Modifier::BOLD),
            Tag::Strikethrough => self.push_style(Modifier::CROSSED_OUT),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.spans.last().map_or(0, Vec::len)));
                self.styles.push(self.style().patch(self.theme.link));
            }
            Tag::Table(alignments) => {
                self.block();
                self.table = Some(Table { alignments, cells: Vec::new() });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.cells.push(Vec::new());
                }
            }
            Tag::Paragraph if !self.lists.is_empty() && self.mark.is_none() => self.block(),
            // The rest is told by its text alone.
            _ => {}
        }
    }

    fn finish(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.block();
            }
            TagEnd::BlockQuote(_) => {
                self.block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.program(),
            TagEnd::List(_) => {
                self.block();
                self.lists.pop();
                self.apart = true;
            }
            TagEnd::Item => {
                self.block();
                self.mark = None;
                self.apart = false;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => drop(self.styles.pop()),
            TagEnd::Link | TagEnd::Image => self.link(),
            TagEnd::TableCell => {
                let cell = Line::from(std::mem::replace(&mut self.spans, vec![Vec::new()]).concat());
                if let Some(row) = self.table.as_mut().and_then(|table| table.cells.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.draw_table(),
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.block(),
            _ => {}
        }
    }

    fn item(&mut self) {
        self.block();
        let Some(list) = self.lists.last_mut() else { return };
        self.apart &= !std::mem::replace(&mut list.begun, true);
        let mark = match &mut list.next {
            Some(number) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            None => "• ".to_owned(),
        };
        self.mark = Some(Span::styled(mark, self.theme.dim));
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, modifier: Modifier) {
        self.styles.push(self.style().add_modifier(modifier));
    }

    fn text(&mut self, text: &str) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        let style = self.style();
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.spans.push(Vec::new());
            }
            self.span(line.replace('\t', "    "), style);
        }
    }

    fn span(&mut self, mut text: String, style: Style) {
        // What was written as an entity is only now what it stands for.
        text.retain(|char| !is_steering(char));
        if let Some(line) = self.spans.last_mut().filter(|_| !text.is_empty()) {
            line.push(Span::styled(text, style));
        }
    }

    /// The address of a link stands behind its words, unless it is its words.
    fn link(&mut self) {
        self.styles.pop();
        let Some((address, begin)) = self.links.pop() else { return };
        let words: String = self
            .spans
            .last()
            .map(|line| line.iter().skip(begin).map(|span| span.content.as_ref()).collect())
            .unwrap_or_default();
        if !address.is_empty() && words != address && !address.starts_with('#') {
            self.span(format!(" ({address})"), self.theme.dim);
        }
    }

    /// What stands before the rows of a block here.
    fn indent(&mut self) -> Indent {
        // However deep it is, half of the row is for the words.
        let deep = DEEP.min(self.width / 8);
        let quote = "▏ ".repeat(self.quotes.min(deep));
        let marks: usize = self.lists.len().saturating_sub(1).min(deep) * 2;
        let mut first = vec![Span::styled(quote.clone(), self.theme.line), Span::raw(" ".repeat(marks))];
        let mut rest = first.clone();
        match self.mark.take() {
            Some(mark) => {
                rest.push(Span::raw(" ".repeat(mark.width())));
                first.push(mark);
            }
            None if !self.lists.is_empty() => {
                first.push(Span::raw("  "));
                rest.push(Span::raw("  "));
            }
            None => {}
        }
        Indent { first, rest }
    }

    fn gap(&mut self) {
        if std::mem::take(&mut self.apart) && !self.rows.is_empty() {
            self.rows.push(Line::default());
        }
    }

    /// Ends what is being written.
    fn block(&mut self) {
        let lines = std::mem::replace(&mut self.spans, vec![Vec::new()]);
        if lines.iter().all(Vec::is_empty) {
            return;
        }
        self.gap();
        let mut indent = self.indent();
        let folded = if self.draft { wrap } else { wrap_words };
        for line in lines {
            self.rows.extend(folded(&Line::from(line), self.width.min(READABLE), &indent));
            indent.first.clone_from(&indent.rest);
        }
        self.apart = true;
    }

    fn program(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        self.gap();
        let mut indent = self.indent();
        for spans in [&mut indent.first, &mut indent.rest] {
            // The ground of a program begins where its words would.
            spans.iter_mut().for_each(|span| span.style.bg = span.style.bg.or(Some(Color::Reset)));
            spans.push(program_margin(self.theme));
        }
        let language = if self.theme.syntax != Syntax::default() { language } else { String::new() };
        for line in highlight(&code, &language, self.theme) {
            let line = line.style(self.theme.panel);
            if self.draft {
                self.rows.extend(wrap(&line, self.width, &indent));
            } else {
                self.rows.push(unfolded(&line, &indent.first));
            }
            indent.first.clone_from(&indent.rest);
        }
        self.apart = true;
    }

    fn draw_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.gap();
        self.rows.extend(table.rows(self.width, self.theme));
        self.apart = true;
    }
}

/// What stands before the lines of a program: a little of its ground, or blanks where there is none.
pub(super) fn program_margin(theme: &Theme) -> Span<'static> {
    Span::raw(if theme.has_washes() { " " } else { "  " })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::theme::ThemeName;

    fn drawn(text: &str, width: usize) -> String {
        let rows = rows(text, width, &Theme::new(ThemeName::Plain));
        rows.iter().map(|row| row.to_string().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn everything_people_write() {
        let text = "# Title\n\nSome **bold** words and `code`, with a [link](https://neco.dev) in a paragraph that is \
                    longer than the row.\n\n- one\n- two\n  - inner\n- [x] done\n\n3. three\n4. four\n\n> quoted\n> text\n\n\
                    ```rust\nfn main() {}\n```\n\n| a | number |\n|---|---:|\n| x | 12 |\n| 漢字 | 3 |\n\n---\nend";
        insta::assert_snapshot!(drawn(text, 40));
    }

    #[test]
    fn what_is_settled_never_changes() {
        let text = "First.\n\nSecond\n\n```\na\n\nb\n```\n\nThird.\n\n- x\n\n- y\n\nFourth";
        assert_eq!(settled("one line"), 0);
        let theme = Theme::new(ThemeName::Plain);
        for (end, _) in text.char_indices() {
            let at = settled(&text[..end]);
            let (Some(before), Some(after)) = (text.get(..at), text.get(at..)) else { panic!("inside a character") };
            let whole: Vec<Line<'_>> = rows(text, 40, &theme).into_iter().filter(|row| row.width() > 0).collect();
            let pieces = [rows(before, 40, &theme), rows(after, 40, &theme)].concat();
            let pieces: Vec<Line<'_>> = pieces.into_iter().filter(|row| row.width() > 0).collect();
            assert_eq!(pieces, whole, "cut after {before:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_much(text in "[-#*`|>a-z0-9 \n\\[\\]()漢👍]{0,200}", width in 8usize..60) {
            let theme = Theme::new(ThemeName::Dark);
            for row in draft_rows(&text, width, &theme) {
                prop_assert!(row.width() <= width + 8, "{row:?}");
            }
            prop_assert!(text.is_char_boundary(settled(&text)));
        }
    }
}
