//! Headers of a unified diff: line numbers, and names of files as git writes them.

/// The numbers of one side of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// The first line, counted from one; with a count of zero, the line before.
    pub start: usize,
    /// How many lines.
    pub count: usize,
}

/// The old side of ` -1,4 +1,5 @@ heading` and the heading; `None` when it is nothing of the kind.
pub fn range_of(text: &str) -> Option<(LineRange, &str)> {
    let rest = text.trim_start().strip_prefix('-')?;
    let (old, rest) = rest.split_once(' ')?;
    let (new, heading) = rest.trim_start().strip_prefix('+')?.split_once("@@")?;
    side_of(new.trim())?;
    Some((side_of(old)?, heading.trim()))
}

fn side_of(text: &str) -> Option<LineRange> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some(LineRange { start: start.parse().ok()?, count: count.parse().ok()? })
}

/// A name after `--- `, `+++ `, `rename from ` and the like; quoted as C does it, or up to a tab.
pub fn name_of(text: &str) -> String {
    let text = text.trim_end_matches('\r');
    match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => text.split('\t').next().unwrap_or(text).trim_end().to_owned(),
    }
}

fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => break,
            '\\' => match characters.next() {
                Some('n') => bytes.push(b'\n'),
                Some('t') => bytes.push(b'\t'),
                Some('r') => bytes.push(b'\r'),
                Some(first @ '0'..='7') => {
                    let mut value = first.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(digit) = characters.peek().and_then(|next| next.to_digit(8)) else { break };
                        value = value * 8 + digit;
                        characters.next();
                    }
                    bytes.push(u8::try_from(value).unwrap_or(b'?'));
                }
                Some(other) => bytes.extend(other.to_string().as_bytes()),
                None => {}
            },
            other => bytes.extend(other.to_string().as_bytes()),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both names of a file without the `a/` and `b/` that git puts before them.
pub fn without_prefixes(old: Option<String>, new: Option<String>) -> (Option<String>, Option<String>) {
    const PAIRS: [(&str, &str); 6] =
        [("a/", "b/"), ("i/", "w/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/"), ("b/", "a/")];
    let fits = |name: &Option<String>, prefix: &str| name.as_ref().is_none_or(|name| name.starts_with(prefix));
    let pair = PAIRS.iter().find(|(first, second)| fits(&old, first) && fits(&new, second));
    let Some((first, second)) = pair else { return (old, new) };
    let cut =
        |name: Option<String>, prefix: &str| name.map(|name| name.strip_prefix(prefix).unwrap_or(&name).to_owned());
    (cut(old, first), cut(new, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_names_and_prefixes() {
        let range = |start, count| LineRange { start, count };
        assert_eq!(range_of(" -1,4 +1,5 @@ fn main() {"), Some((range(1, 4), "fn main() {")));
        assert_eq!(range_of(" -7 +8 @@"), Some((range(7, 1), "")));
        assert_eq!(range_of(" class A"), None);
        assert_eq!(range_of(" -x +y @@"), None);
        assert_eq!(name_of("a/x y.txt\t2024-01-01"), "a/x y.txt");
        assert_eq!(name_of("\"a/\\303\\244\\\"\\t.txt\""), "a/ä\"\t.txt");
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(without_prefixes(some("a/x"), some("b/x")), (some("x"), some("x")));
        assert_eq!(without_prefixes(None, some("b/x")), (None, some("x")));
        assert_eq!(without_prefixes(some("a/x"), some("a/x")), (some("a/x"), some("a/x")));
        assert_eq!(without_prefixes(some("src/x"), some("src/x")), (some("src/x"), some("src/x")));
    }
}
