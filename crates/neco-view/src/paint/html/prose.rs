//! Markdown as markup. Raw HTML in it is text, pictures from elsewhere are links, and links lead to
//! pages and mail addresses only.

use neco_proto::clean::clean;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::page::Page;

/// Writes `markdown`.
pub(super) fn prose(page: &mut Page, markdown: &str) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    // As a whole: a sequence may be cut where the parser cuts.
    let markdown = clean(markdown);
    let mut prose = Prose { page, in_head: false, in_diff: false, links: Vec::new() };
    Parser::new_ext(&markdown, options).for_each(|event| prose.event(event));
}

struct Prose<'a> {
    page: &'a mut Page,
    in_head: bool,
    /// Whether it is in a block of changes.
    in_diff: bool,
    /// Whether each open link is one, or only its words.
    links: Vec<bool>,
}

impl Prose<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_diff => changes(self.page, &text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                self.page.text(&text);
            }
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.page.element("<code>", &code, "</code>");
            }
            Event::FootnoteReference(name) => {
                self.page.element("[", &name, "]");
            }
            Event::SoftBreak => {
                self.page.tag("\n");
            }
            Event::HardBreak => {
                self.page.tag("<br>\n");
            }
            Event::Rule => {
                self.page.tag("<hr>\n");
            }
            Event::TaskListMarker(true) => {
                self.page.tag("<span class=\"task\">☑</span> ");
            }
            Event::TaskListMarker(false) => {
                self.page.tag("<span class=\"task\">☐</span> ");
            }
        }
    }

    fn begin(&mut self, tag: &Tag<'_>) {
        let markup = match tag {
            Tag::Paragraph => "<p dir=\"auto\">",
            Tag::Heading { level, .. } => heading(*level).0,
            Tag::BlockQuote(_) => "<blockquote dir=\"auto\">",
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if ["diff", "patch"].contains(&language.as_ref()) => {
                self.in_diff = true;
                "<pre class=\"diff\" dir=\"ltr\"><code>"
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => "<pre dir=\"ltr\"><code>",
            Tag::List(Some(first)) => {
                self.page.element("<ol dir=\"auto\" start=\"", &first.to_string(), "\">\n");
                ""
            }
            Tag::List(None) => "<ul dir=\"auto\">\n",
            Tag::Item => "<li>",
            Tag::Table(_) => "<div class=\"wide\"><table>\n",
            Tag::TableHead => {
                self.in_head = true;
                "<tr>"
            }
            Tag::TableRow => "<tr>",
            Tag::TableCell if self.in_head => "<th>",
            Tag::TableCell => "<td>",
            Tag::Emphasis => "<em>",
            Tag::Strong => "<strong>",
            Tag::Strikethrough => "<s>",
            Tag::Link { dest_url, .. } => return self.link(dest_url),
            // What is not in this file is not shown by it.
            Tag::Image { dest_url, .. } => {
                self.page.tag("🖼 ");
                return self.link(dest_url);
            }
            Tag::HtmlBlock => "<p>",
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => "<p>",
        };
        self.page.tag(markup);
    }

    fn end(&mut self, tag: TagEnd) {
        let markup = match tag {
            TagEnd::Paragraph => "</p>\n",
            TagEnd::Heading(level) => heading(level).1,
            TagEnd::BlockQuote(_) => "</blockquote>\n",
            TagEnd::CodeBlock => {
                self.in_diff = false;
                "</code></pre>\n"
            }
            TagEnd::List(true) => "</ol>\n",
            TagEnd::List(false) => "</ul>\n",
            TagEnd::Item => "</li>\n",
            TagEnd::Table => "</table></div>\n",
            TagEnd::TableHead => {
                self.in_head = false;
                "</tr>\n"
            }
            TagEnd::TableRow => "</tr>\n",
            TagEnd::TableCell if self.in_head => "</th>",
            TagEnd::TableCell => "</td>",
            TagEnd::Emphasis => "</em>",
            TagEnd::Strong => "</strong>",
            TagEnd::Strikethrough => "</s>",
            TagEnd::Link | TagEnd::Image => match self.links.pop() {
                Some(true) => "</a>",
                Some(false) | None => return,
            },
            TagEnd::HtmlBlock
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => "</p>\n",
        };
        self.page.tag(markup);
    }

    fn link(&mut self, address: &str) {
        let leads_out = is_address(address) && !self.links.contains(&true);
        self.links.push(leads_out);
        if leads_out {
            self.page.element("<a rel=\"noopener noreferrer\" href=\"", address, "\">");
        }
    }
}

/// Lines of a change, coloured.
pub(super) fn changes(page: &mut Page, text: &str) {
    for line in text.lines() {
        let begin = match line.as_bytes().first() {
            Some(b'+') => "<span class=\"add\">",
            Some(b'-') => "<span class=\"del\">",
            Some(b'@') => "<span class=\"hunk\">",
            Some(_) | None => "<span>",
        };
        // An empty block has no height.
        page.element(begin, if line.is_empty() { " " } else { line }, "</span>");
    }
}

/// Whether it is the address of a page or of a person, as opposed to a script or a file.
fn is_address(address: &str) -> bool {
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

/// The page has one first heading, which is its title.
fn heading(level: HeadingLevel) -> (&'static str, &'static str) {
    match level {
        HeadingLevel::H1 => ("<h2 dir=\"auto\">", "</h2>\n"),
        HeadingLevel::H2 => ("<h3 dir=\"auto\">", "</h3>\n"),
        HeadingLevel::H3 => ("<h4 dir=\"auto\">", "</h4>\n"),
        HeadingLevel::H4 => ("<h5 dir=\"auto\">", "</h5>\n"),
        HeadingLevel::H5 | HeadingLevel::H6 => ("<h6 dir=\"auto\">", "</h6>\n"),
    }
}
