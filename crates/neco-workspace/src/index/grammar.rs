//! The grammars, each made ready when the first file needs it.

use std::sync::OnceLock;

use tree_sitter::{Language as TreeLanguage, Query};

use super::kind::SymbolKind;
use super::language::Language;

/// A grammar and what is asked of its trees.
pub(super) struct Grammar {
    pub(super) language: TreeLanguage,
    pub(super) query: Query,
    /// What each capture of the query stands for.
    pub(super) roles: Vec<Role>,
}

/// What a capture of a query stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The name of what the pattern is about.
    Name,
    /// The name of the type that it belongs to, where that does not stand around it.
    Container,
    Definition(SymbolKind),
    /// A declaration of C or C++, whose name has to be found.
    Declared,
    /// Something that holds definitions and is none itself.
    Scope,
    /// A call, a type, an import: surely a use.
    Reference,
    /// Any name; it may well be a variable of the function around it.
    Identifier,
    /// Nothing: no query has such a capture.
    Unknown,
}

static GRAMMARS: [OnceLock<Option<Grammar>>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];

impl Grammar {
    pub(super) fn of(language: Language) -> Option<&'static Self> {
        GRAMMARS.get(language as usize)?.get_or_init(|| Self::new(language)).as_ref()
    }

    fn new(language: Language) -> Option<Self> {
        let tree_language = tree_language(language);
        let query = Query::new(&tree_language, &queries(language).concat()).ok()?;
        let roles = query.capture_names().iter().map(|name| role(name)).collect();
        Some(Self { language: tree_language, query, roles })
    }
}

fn role(name: &str) -> Role {
    match name {
        "name" => Role::Name,
        "container" => Role::Container,
        "scope" => Role::Scope,
        "declared" => Role::Declared,
        "reference" => Role::Reference,
        "identifier" => Role::Identifier,
        _ => {
            let kind = name.strip_prefix("definition.").and_then(SymbolKind::from_name);
            kind.map_or(Role::Unknown, Role::Definition)
        }
    }
}

fn tree_language(language: Language) -> TreeLanguage {
    match language {
        Language::Rust => tree_sitter_rust::LANGUAGE,
        Language::Python => tree_sitter_python::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::Go => tree_sitter_go::LANGUAGE,
        Language::Java => tree_sitter_java::LANGUAGE,
        Language::C => tree_sitter_c::LANGUAGE,
        Language::Cpp => tree_sitter_cpp::LANGUAGE,
        Language::Bash => tree_sitter_bash::LANGUAGE,
    }
    .into()
}

/// The grammars bring queries of their own, but those know neither constants nor most uses, and give
/// some definitions twice.
fn queries(language: Language) -> &'static [&'static str] {
    const ECMA: &str = include_str!("queries/ecma.scm");
    const JSX: &str = include_str!("queries/jsx.scm");
    const TYPESCRIPT: &str = include_str!("queries/typescript.scm");
    const C: &str = include_str!("queries/c.scm");
    match language {
        Language::Rust => &[include_str!("queries/rust.scm")],
        Language::Python => &[include_str!("queries/python.scm")],
        Language::TypeScript => &[TYPESCRIPT, ECMA],
        Language::Tsx => &[TYPESCRIPT, ECMA, JSX],
        Language::JavaScript => &[include_str!("queries/javascript.scm"), ECMA, JSX],
        Language::Go => &[include_str!("queries/go.scm")],
        Language::Java => &[include_str!("queries/java.scm")],
        Language::C => &[C],
        Language::Cpp => &[C, include_str!("queries/cpp.scm")],
        Language::Bash => &[include_str!("queries/bash.scm")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_fits_its_grammar() {
        for language in Language::ALL {
            let error = Query::new(&tree_language(language), &queries(language).concat()).err();
            assert!(error.is_none(), "{}: {error:?}", language.name());
            let grammar = Grammar::of(language).unwrap();
            assert!(!grammar.roles.contains(&Role::Unknown), "{}", language.name());
            assert_eq!(Language::ALL[language as usize], language);
        }
    }
}
