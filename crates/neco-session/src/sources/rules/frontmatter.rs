//! What stands between `---` lines at the top of a rule: for which files it is.

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
    let Some((head, rest)) = split(text) else { return (Frontmatter::default(), text) };
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
                if value.trim().starts_with('[') && !value.trim().ends_with(']') {
                    found.broken = Some(format!("{} in its header is not understood and was left out", key.trim()));
                } else {
                    found.globs.extend(list(value));
                }
            }
            "alwaysApply" => found.always = value.trim().parse().ok(),
            _ => {}
        }
    }
    (found, rest)
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

/// `a, b`, `[a, b]` or `"a"`. Commas in braces part nothing.
fn list(value: &str) -> Vec<String> {
    let value = value.trim();
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
        let broken = part("---\nglobs: [broken\n---\nx").0;
        assert!(broken.globs.is_empty() && broken.broken.unwrap().contains("globs in its header"));
    }

    #[test]
    fn what_is_no_frontmatter_is_text() {
        for text in ["", "Use tabs.", "--- a rule\nx", "---\nnever closed\n", "\n---\na: b\n---\n"] {
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
