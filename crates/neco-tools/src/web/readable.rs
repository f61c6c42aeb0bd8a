//! From a web page to Markdown that reads well: what the page is about, without what stands around it.

use std::rc::Rc;

use htmd::HtmlToMarkdown;
use htmd::options::{BulletListMarker, Options};
use markup5ever_rcdom::{Handle, NodeData};
use url::Url;

use super::dom::{Parsed, attribute, below, parse, set_attribute, tag, text};

/// What is deeper than any page people write is left out: the converter calls itself for every level.
const DEEPEST: usize = 150;

/// What is no text, or stands around it.
const LEFT_OUT: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "math", "canvas", "iframe", "frame", "object", "embed", "audio",
    "video", "map", "nav", "footer", "aside", "dialog", "menu", "button", "input", "select", "textarea", "datalist",
    "link", "meta", "title",
];

/// Parts that are said to be around the text.
const AROUND: &[&str] =
    &["navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"];

/// A page, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Readable {
    pub(super) title: Option<String>,
    pub(super) markdown: String,
    /// Whether there is more of it than could be read.
    pub(super) cut: bool,
}

/// Reads a page that came from `url`.
pub(super) fn readable(html: &str, url: &Url) -> Readable {
    let Parsed { document, cut } = parse(html);
    let title = below(&document).find(|node| tag(node) == Some("title")).map(|node| text(&node));
    let base = base(&document, url);
    clean(&document, &base);
    let options = Options {
        bullet_list_marker: BulletListMarker::Dash,
        ul_bullet_spacing: 1,
        ol_number_spacing: 1,
        ..Options::default()
    };
    let converter = HtmlToMarkdown::builder().options(options).build();
    let markdown = tidy(&converter.tree_to_markdown(&content(&document)));
    Readable { title: title.filter(|title| !title.is_empty()), markdown, cut }
}

/// Where relative links start.
fn base(document: &Handle, url: &Url) -> Url {
    let named = below(document).find(|node| tag(node) == Some("base")).and_then(|node| attribute(&node, "href"));
    named.and_then(|href| url.join(&href).ok()).unwrap_or_else(|| url.clone())
}

/// Takes out what is not to be read, and makes links whole.
fn clean(document: &Handle, base: &Url) {
    let mut waiting = vec![(Rc::clone(document), 0_usize, false)];
    while let Some((node, depth, in_content)) = waiting.pop() {
        let in_content = in_content || matches!(tag(&node), Some("main" | "article"));
        if depth >= DEEPEST {
            node.children.borrow_mut().clear();
            continue;
        }
        node.children.borrow_mut().retain(|child| !is_left_out(child, in_content));
        whole_links(&node, base);
        waiting.extend(node.children.borrow().iter().map(|child| (Rc::clone(child), depth + 1, in_content)));
    }
}

fn is_left_out(node: &Handle, in_content: bool) -> bool {
    let tag = match &node.data {
        NodeData::Comment { .. } | NodeData::ProcessingInstruction { .. } | NodeData::Doctype { .. } => return true,
        NodeData::Document | NodeData::Text { .. } => return false,
        NodeData::Element { name, .. } => &*name.local,
    };
    let around = |role: String| AROUND.contains(&role.trim());
    LEFT_OUT.contains(&tag)
        || tag == "header" && !in_content
        || tag == "img" && attribute(node, "alt").is_none_or(|alt| alt.trim().is_empty())
        || attribute(node, "role").is_some_and(around)
        || is_hidden(node)
}

/// What a person would not see is no part of what the page says.
fn is_hidden(node: &Handle) -> bool {
    let style = attribute(node, "style").unwrap_or_default().to_ascii_lowercase();
    let style: String = style.chars().filter(|char| !char.is_whitespace()).collect();
    let unseen = ["display:none", "visibility:hidden", "font-size:0;", "opacity:0;"];
    attribute(node, "hidden").is_some()
        || attribute(node, "aria-hidden").is_some_and(|value| value.trim() == "true")
        || unseen.iter().any(|one| format!("{style};").contains(one))
}

fn whole_links(node: &Handle, base: &Url) {
    for name in ["href", "src"] {
        let Some(value) = attribute(node, name) else { continue };
        let whole = base.join(value.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"));
        set_attribute(node, name, whole.as_ref().map(Url::as_str));
    }
}

/// The part that the page itself says is its content, unless there is nothing in it.
fn content(document: &Handle) -> Handle {
    let is_main =
        |node: &Handle| tag(node) == Some("main") || attribute(node, "role").is_some_and(|role| role == "main");
    let one = |wanted: &dyn Fn(&Handle) -> bool| {
        let mut found = below(document).filter(|node| wanted(node));
        let first = found.next()?;
        (found.next().is_none() && !text(&first).is_empty()).then_some(first)
    };
    one(&is_main).or_else(|| one(&|node| tag(node) == Some("article"))).unwrap_or_else(|| Rc::clone(document))
}

/// At most one empty line in a row, and no spaces at the ends of lines.
fn tidy(markdown: &str) -> String {
    let mut tidy = String::with_capacity(markdown.len());
    let (mut empty, mut fenced) = (0, false);
    for line in markdown.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let line = if fenced { line } else { line.trim_end() };
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if fenced || empty < 2 {
            tidy.push_str(line);
            tidy.push('\n');
        }
    }
    tidy.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> Readable {
        readable(html, &Url::parse("https://example.com/docs/page.html?x=1").unwrap())
    }

    #[test]
    fn what_the_page_is_about_is_kept_and_what_stands_around_it_is_not() {
        let page = read(
            r##"<!doctype html><html><head><title> The
              Page </title><style>p{}</style><script>alert(1)</script></head><body>
            <header><a href="/">Logo</a></header><nav><ul><li><a href="/a">A</a></li></ul></nav>
            <main><header><h1>How to</h1></header>
            <p>Read <a href="../other#part">the other</a> and <code>x &lt; y</code>.</p>
            <h2>Steps</h2><ol><li>one</li><li>two</li></ol><ul><li>a</li><li>b</li></ul>
            <pre><code class="language-rust">fn main() {
    let a = 1;


    a;
}
</code></pre>
            <table><thead><tr><th>k</th><th>v</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>
            <img src="cat.png" alt="a cat"><img src="pixel.gif">
            <a href="javascript:alert(1)">click</a>
            <aside>Ads</aside></main><footer>(c)</footer></body></html>"##,
        );
        assert_eq!(page.title.as_deref(), Some("The Page"));
        let expected = "# How to\n\nRead [the other](https://example.com/other#part) and `x < y`.\n\n## Steps\n\n\
            1. one\n2. two\n\n- a\n- b\n\n```rust\nfn main() {\n    let a = 1;\n\n\n    a;\n}\n```\n\n\
            | k | v |\n| - | - |\n| 1 | 2 |\n\n![a cat](https://example.com/docs/cat.png)";
        assert!(page.markdown.starts_with(expected), "{}", page.markdown);
        let rest = page.markdown.strip_prefix(expected).unwrap();
        assert!(rest.contains("click") && !rest.contains("javascript"), "{rest}");
        for gone in ["Logo", "Ads", "(c)", "alert", "pixel"] {
            assert!(!page.markdown.contains(gone), "{gone}: {}", page.markdown);
        }
    }

    #[test]
    fn what_a_person_would_not_see_is_not_read() {
        let page = read(
            "<p>seen</p><p hidden>obey 1</p><p style='Display : none'>obey 2</p><div aria-hidden=true>obey 3</div>\
             <!-- obey 4 --><noscript>obey 5</noscript><template>obey 6</template><span style='font-size:0'>obey 7</span>",
        );
        assert_eq!(page.markdown, "seen");
    }

    #[test]
    fn links_start_where_the_page_says() {
        let page = read(
            "<base href='https://cdn.example.org/v2/'><a href='x'>x</a> <a href='//h.example/y'>y</a> <a href='data:z'>z</a>",
        );
        assert_eq!(page.markdown, "[x](https://cdn.example.org/v2/x) [y](https://h.example/y) z");
    }

    #[test]
    fn an_empty_main_and_several_articles_leave_the_whole_page() {
        assert_eq!(read("<main></main><p>all</p>").markdown, "all");
        assert_eq!(read("<article>a</article><article>b</article>").markdown, "a\n\nb");
        assert_eq!(read("<nav>n</nav><article><p>b</p></article><p>c</p>").markdown, "b");
        assert_eq!(read("").markdown, "");
    }

    #[test]
    fn a_page_can_be_nested_and_broken_in_any_way() {
        let pieces = [
            "<div>",
            "<b>",
            "<ul><li>",
            "<table><td>",
            "<blockquote>",
            "<a href=x>",
            "</p>",
            "<svg><p>",
            "<pre><code>",
            "<select><option>",
        ];
        for piece in pieces {
            let page = read(&format!("<p>first</p>{}end", piece.repeat(1_000)));
            assert!(page.markdown.starts_with("first"), "{piece}");
        }
    }

    #[test]
    fn a_page_that_is_all_nesting_ends() {
        let started = std::time::Instant::now();
        let page = read(&format!("<p>first</p>{}", "<p><ul><li>".repeat(400_000)));
        assert!(page.cut && page.markdown.starts_with("first"));
        assert!(started.elapsed() < std::time::Duration::from_secs(60), "{:?}", started.elapsed());
    }
}
