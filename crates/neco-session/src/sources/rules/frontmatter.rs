//! What stands between `---` lines at the top of a rule: for which files it is.

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
    let Some((head, rest)) = split(text) else {
        let unclosed = text.lines().next().is_some_and(|line| line == "---");
        let broken = unclosed.then(|| "its header has no second --- line, so all of it is told".to_owned());
        return (Frontmatter { broken, ..Frontmatter::default() }, text);
    };
    let mut found = Frontmatter::default();
    let mut in_globs = false;
    for line in head.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ").filter(|_| in_globs) {
            found.globs.extend(unquoted(item));
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        in_globs = false;
        match key.trim() {
            "description" => found.description = unquoted(value),
            "globs" | "applyTo" | "paths" => {
                in_globs = value.trim().is_empty();
                let (whole, broken): (Vec<_>, Vec<_>) = list(value).into_iter().partition(|glob| is_whole(glob));
                found.globs.extend(whole);
                if !broken.is_empty() {
                    found.broken = Some(not_understood(&format!("{} {}", key.trim(), broken.join(", "))));
                }
            }
            "alwaysApply" => {
                found.always = value.trim().parse().ok();
                if found.always.is_none() && !value.trim().is_empty() {
                    found.broken = Some(not_understood(line.trim()));
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

fn split(text: &str) -> Option<(&str, &str)> {
    let after = text.strip_prefix("---")?;
    let after = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n'))?;
    let mut at = 0;
    for line in after.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((after.get(..at)?, after.get(at + line.len()..)?));
        }
        at += line.len();
    }
    None
}

/// `a, b`, `[a, b]`, `"a"` or `"a, b"`. Commas in braces part nothing.
fn list(value: &str) -> Vec<String> {
    let inner = ['"', '\''].iter().find_map(|quote| value.trim().strip_prefix(*quote)?.strip_suffix(*quote));
    let value = inner.filter(|inner| !inner.contains(['"', '\''])).unwrap_or(value.trim());
    let value = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
    let mut depth = 0_usize;
    let parts = value.split(|char| {
        match char {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == ',' && depth == 0
    });
    parts.filter_map(unquoted).collect()
}

fn unquoted(value: &str) -> Option<String> {
    let value = value.trim();
    let bare = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote)).unwrap_or(value);
    (!bare.trim().is_empty()).then(|| bare.trim().to_owned())
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
