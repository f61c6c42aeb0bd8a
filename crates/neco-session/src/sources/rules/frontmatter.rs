//! What stands between `---` lines at the top of a rule: for which files it is.

use neco_config::front_matter::{self, Parted, Reading, split_items};

/// Characters of a header that are said again.
const SHOWN: usize = 60;

/// What a rule says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Frontmatter {
    /// What it is about.
    pub description: Option<String>,
    /// The files it is for.
    pub globs: Vec<String>,
    /// Whether it always holds.
    pub always: Option<bool>,
    /// What could not be understood, in words.
    pub broken: Option<String>,
}

/// Parts a rule into what it says about itself and the rest. A text without such lines is all rest.
pub(super) fn part(text: &str) -> (Frontmatter, &str) {
    let mut found = Frontmatter::default();
    let (fields, rest) = match front_matter::part(text, Reading::Loose) {
        Parted::Whole { fields, body, .. } => (fields, body),
        Parted::Open => {
            found.broken = Some("its header has no second --- line, so all of it is told".to_owned());
            return (found, text);
        }
        Parted::None => return (found, text),
    };
    for field in fields {
        match field.name.as_str() {
            "description" => found.description = Some(field.one_line()).filter(|text| !text.is_empty()),
            "globs" | "apply_to" | "paths" => {
                // `"a, b"` are two.
                let items = field.items().into_iter().flat_map(|item| split_items(&item));
                let (whole, broken): (Vec<_>, Vec<_>) = items.partition(|glob| is_whole(glob));
                found.globs.extend(whole);
                if !broken.is_empty() {
                    found.broken = Some(not_understood(&format!("{} {}", field.written, broken.join(", "))));
                }
            }
            "always_apply" => {
                let value = field.one_line();
                found.always = value.parse().ok();
                if found.always.is_none() && !value.is_empty() {
                    found.broken = Some(not_understood(&format!("{}: {value}", field.written)));
                }
            }
            _ => {}
        }
    }
    (found, rest)
}

fn not_understood(what: &str) -> String {
    let mut shown: String = what.chars().take(SHOWN).collect();
    if shown.len() < what.len() {
        shown.push('…');
    }
    format!("{shown} in its header is not understood and was left out")
}

/// Whether every bracket and brace of a pattern is closed.
fn is_whole(glob: &str) -> bool {
    let count = |char| glob.matches(char).count();
    count('[') == count(']') && count('{') == count('}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_editors_write_is_understood() {
        let text = "---\ndescription: \"For TypeScript\"\nglobs: src/**/*.{ts,tsx}, 'web/*.ts'\nalwaysApply: \
                    false\n---\nUse tabs.\n";
        let (found, rest) = part(text);
        assert_eq!(found.description.as_deref(), Some("For TypeScript"));
        assert_eq!(found.globs, ["src/**/*.{ts,tsx}", "web/*.ts"]);
        assert_eq!((found.always, rest), (Some(false), "Use tabs.\n"));
        let (listed, rest) = part("---\r\nglobs:\r\n  - a/*.rs\r\n  - \"b\"\r\nalwaysApply: true\r\n---\r\nx");
        assert_eq!((listed.globs, listed.always, rest), (vec!["a/*.rs".into(), "b".into()], Some(true), "x"));
        assert_eq!(part("---\nglobs: [a, b]\n---\n").0.globs, ["a", "b"]);
        assert_eq!(part("---\nglobs: \"a/*.ts, b/*.ts\"\n---\n").0.globs, ["a/*.ts", "b/*.ts"]);
        assert_eq!(part("---\nglobs: 'a', \"b\"\n---\n").0.globs, ["a", "b"]);
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for (head, globs, said) in [
            ("globs: [broken", &[][..], "globs [broken in its header"),
            ("globs: \"src/**/*.ts, [bad\"", &["src/**/*.ts"], "globs [bad in its header"),
            ("alwaysApply: [bad", &[], "alwaysApply: [bad in its header"),
        ] {
            let text = format!("---\n{head}\n---\nx");
            let (found, rest) = part(&text);
            assert_eq!((found.globs, rest), (globs.iter().map(ToString::to_string).collect(), "x"), "{head}");
            assert!(found.broken.as_deref().is_some_and(|broken| broken.contains(said)), "{:?}", found.broken);
        }
        let long = format!("---\nalwaysApply: {}\n---\nx", "y".repeat(500));
        assert!(part(&long).0.broken.unwrap().len() < 150);
        let (unclosed, rest) = part("---\nnever closed\n");
        assert_eq!((unclosed.broken.is_some(), rest), (true, "---\nnever closed\n"));
    }

    #[test]
    fn what_is_empty_is_no_mistake() {
        assert_eq!(part("---\nalwaysApply:\nglobs:\n---\nx").0, Frontmatter::default());
    }

    #[test]
    fn what_is_no_frontmatter_is_text() {
        for text in ["", "Use tabs.", "--- a rule\nx", "\n---\na: b\n---\n"] {
            assert_eq!(part(text), (Frontmatter::default(), text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parted_without_loss(text in "(---\n)?(\\PC|\n){0,80}(---\n)?(\\PC|\n){0,20}") {
            let (_, rest) = part(&text);
            prop_assert!(text.ends_with(rest));
        }
    }
}
