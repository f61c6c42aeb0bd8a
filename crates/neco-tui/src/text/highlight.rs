//! Programs in colours, line by line.

use std::sync::LazyLock;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::theme::{Syntax, Theme};

/// Longer programs are shown without colours: they would hold up the frame.
const MOST: usize = 64 * 1024;

/// A longer line is data, not a program.
const LONGEST_LINE: usize = 2000;

/// The languages; read when the first program is shown, not when the window opens.
static LANGUAGES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Languages in which a name that begins with a capital is that of a type, also where their files do not say so.
const CAPITAL_TYPES: [&str; 8] = ["C#", "Dart", "Java", "Kotlin", "Python", "Rust", "Scala", "Swift"];

/// What the parts of programs are called, and what they are to us; the first that fits counts.
static PARTS: LazyLock<Vec<(Scope, Part)>> = LazyLock::new(|| {
    let named = [
        ("markup.inserted", Part::String),
        ("markup.deleted", Part::Constant),
        ("meta.diff", Part::Comment),
        ("comment", Part::Comment),
        ("string", Part::String),
        ("constant", Part::Constant),
        ("keyword.operator", Part::Plain),
        ("keyword", Part::Keyword),
        ("storage", Part::Keyword),
        ("entity.name.function", Part::Function),
        ("support.function", Part::Function),
        ("variable.function", Part::Function),
        ("entity.name", Part::Type),
        ("support.type", Part::Type),
        ("support.class", Part::Type),
    ];
    named.into_iter().filter_map(|(name, part)| Some((Scope::new(name).ok()?, part))).collect()
});

#[derive(Clone, Copy)]
enum Part {
    Plain,
    Comment,
    String,
    Constant,
    Keyword,
    Function,
    Type,
}

/// Reads the languages, so that the first program does not wait for them.
pub fn warm() {
    LazyLock::force(&LANGUAGES);
    LazyLock::force(&PARTS);
}

/// Colours a program that comes line by line.
#[derive(Clone, Debug)]
pub struct Painter {
    state: Option<(ParseState, ScopeStack)>,
    /// Whether names that begin with a capital are those of types.
    capitals: bool,
    painted: usize,
}

impl Painter {
    /// For a language as it stands behind the fence, or the ending of a file.
    pub fn new(language: &str) -> Self {
        let syntax = find(language);
        let capitals = syntax.is_some_and(|syntax| CAPITAL_TYPES.contains(&syntax.name.as_str()));
        Self { state: syntax.map(|syntax| (ParseState::new(syntax), ScopeStack::new())), capitals, painted: 0 }
    }

    /// The next line, without its end.
    pub fn line(&mut self, line: &str, theme: &Theme) -> Line<'static> {
        self.painted += line.len();
        if self.painted > MOST || line.len() > LONGEST_LINE {
            self.state = None;
        }
        let plain = || Line::raw(shown(line));
        let capitals = self.capitals;
        let Some((state, scopes)) = &mut self.state else { return plain() };
        let whole = format!("{line}\n");
        let Ok(changes) = state.parse_line(&whole, &LANGUAGES) else { return plain() };
        let mut spans = Vec::new();
        let mut begin = 0;
        for (at, change) in changes {
            push(&mut spans, whole.get(begin..at), scopes, capitals, &theme.syntax);
            begin = at;
            // A language file that contradicts itself costs colours, nothing else.
            let _ = scopes.apply(&change);
        }
        push(&mut spans, whole.get(begin..), scopes, capitals, &theme.syntax);
        Line::from(spans)
    }
}

/// `code` line by line.
pub fn highlight(code: &str, language: &str, theme: &Theme) -> Vec<Line<'static>> {
    let mut painter = Painter::new(language);
    code.lines().map(|line| painter.line(line, theme)).collect()
}

fn find(language: &str) -> Option<&'static SyntaxReference> {
    let name = language.split([',', ' ', '{']).next().unwrap_or_default();
    if name.is_empty() || matches!(name, "text" | "txt" | "plain" | "output") {
        return None;
    }
    LANGUAGES.find_syntax_by_token(name)
}

fn push(spans: &mut Vec<Span<'static>>, text: Option<&str>, scopes: &ScopeStack, capitals: bool, styles: &Syntax) {
    let text = text.unwrap_or_default().trim_end_matches('\n');
    let part = part(scopes);
    if !capitals || part.is_some() {
        return add(spans, text, style(part, styles));
    }
    let is_of_name = |char: char| char.is_alphanumeric() || char == '_';
    for word in text.split_inclusive(|char: char| !is_of_name(char)) {
        let (name, rest) = word.split_at(word.find(|char: char| !is_of_name(char)).unwrap_or(word.len()));
        let is_type = name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
        add(spans, name, style(is_type.then_some(Part::Type), styles));
        add(spans, rest, Style::default());
    }
}

fn add(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    if text.is_empty() {
        return;
    }
    match spans.last_mut().filter(|last| last.style == style) {
        Some(last) => last.content.to_mut().push_str(&shown(text)),
        None => spans.push(Span::styled(shown(text), style)),
    }
}

/// Tabs have no width of their own in a row that is measured.
fn shown(text: &str) -> String {
    text.replace('\t', "    ")
}

/// The innermost scope that means something to us.
fn part(scopes: &ScopeStack) -> Option<Part> {
    let named = |scope: &Scope| PARTS.iter().find(|(prefix, _)| prefix.is_prefix_of(*scope)).map(|(_, part)| *part);
    scopes.as_slice().iter().rev().find_map(named)
}

fn style(part: Option<Part>, styles: &Syntax) -> Style {
    match part {
        Some(Part::Comment) => styles.comment,
        Some(Part::String) => styles.string,
        Some(Part::Constant) => styles.constant,
        Some(Part::Keyword) => styles.keyword,
        Some(Part::Function) => styles.function,
        Some(Part::Type) => styles.type_name,
        Some(Part::Plain) | None => Style::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::ThemeName;

    #[test]
    fn a_program_keeps_its_text_and_gets_colours() {
        let theme = Theme::new(ThemeName::Dark);
        let lines = highlight("fn main() {\n\tlet x = \"a\"; // b\n}\n", "rust", &theme);
        let text: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(text, ["fn main() {", "    let x = \"a\"; // b", "}"]);
        assert_eq!(lines[0].spans[0].style, theme.syntax.keyword);
        assert!(lines[1].spans.iter().any(|span| span.style == theme.syntax.comment));
        assert!(highlight("x", "no-such-language", &theme)[0].spans.len() == 1);
    }

    #[test]
    fn a_name_that_begins_with_a_capital_is_that_of_a_type() {
        let theme = Theme::new(ThemeName::Dark);
        let types = |code: &str, language: &str| -> Vec<String> {
            let lines = highlight(code, language, &theme);
            let spans = lines.iter().flat_map(|line| &line.spans);
            spans.filter(|span| span.style == theme.syntax.type_name).map(|span| span.content.to_string()).collect()
        };
        assert!(types("    pub timeout: Duration,\n", "rs").contains(&"Duration".to_owned()));
        assert!(!types("Words are no types\n", "md").contains(&"Words".to_owned()));
    }
}
