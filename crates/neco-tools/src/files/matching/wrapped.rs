//! The text without what models put around it: marks of other formats, code fences, blank lines.

/// What is taken away around the old text and, where it is there too, around the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unwrapped {
    /// The text to be found, in whole lines.
    pub old: String,
    /// What comes in its place.
    pub new: String,
}

/// The same replacement without one layer after the other; each counts only if those before it were not found.
pub(super) fn unwrapped(old: &str, new: &str) -> Vec<Unwrapped> {
    let mut found: Vec<Unwrapped> = Vec::new();
    for peel in [without_marks, without_fences, without_blank_lines] {
        let (old, new) = found.last().map_or((old, new), |last| (last.old.as_str(), last.new.as_str()));
        let peeled = peel(old, new).filter(|(peeled, _)| !peeled.trim().is_empty());
        found.extend(peeled.map(|(old, new)| even_ends(&old, &new)));
    }
    found
}

/// The new text without marks of a search-and-replace block: the old one may have been given without.
pub(super) fn without_marks_in_new(new: &str) -> Option<String> {
    let marked = Marked::of(new);
    let is_word = new.trim_end().ends_with(" REPLACE") || new.trim_end().ends_with(" UPDATED");
    if marked.last != Some(Mark::End) || !is_word {
        return None;
    }
    let middle = marked.first.filter(|first| *first == Mark::Middle);
    let body = marked.between(middle, Some(Mark::End));
    Some(if new.ends_with('\n') { body } else { body.strip_suffix('\n').unwrap_or(&body).to_owned() })
}

/// The body of a text that is one code fence and nothing else.
pub(in crate::files) fn unfenced(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let filled = |line: &&str| !line.trim().is_empty();
    let (first, last) = (lines.iter().position(filled)?, lines.iter().rposition(filled)?);
    let (open, close) = (lines.get(first)?.trim(), lines.get(last)?.trim());
    let sign = open.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let fence: String = open.chars().take_while(|character| *character == sign).collect();
    let info = open.strip_prefix(fence.as_str())?;
    let is_fence = fence.len() >= 3 && close == fence && !info.contains(sign) && last > first;
    let body = lines.get(first + 1..last)?;
    // A fence inside would leave half of another one.
    let is_one = !body.iter().any(|line| line.trim_start().starts_with(fence.as_str()));
    (is_fence && is_one).then(|| body.concat())
}

fn without_fences(old: &str, new: &str) -> Option<(String, String)> {
    Some((unfenced(old)?, unfenced(new).unwrap_or_else(|| new.to_owned())))
}

/// A line that marks a part of a search-and-replace block. One of a conflict that a file may have has other words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Start,
    Middle,
    End,
}

fn mark(line: &str) -> Option<Mark> {
    let line = line.trim();
    let sign = line.chars().next()?;
    let word = line.trim_start_matches(sign);
    let is_long = (5..=9).contains(&(line.len() - word.len()));
    match (sign, word.trim()) {
        ('<', "" | "SEARCH" | "ORIGINAL") if is_long => Some(Mark::Start),
        ('=', "") if is_long => Some(Mark::Middle),
        ('>', "" | "REPLACE" | "UPDATED") if is_long => Some(Mark::End),
        _ => None,
    }
}

/// A text as lines, with the mark that it begins and the one that it ends with.
struct Marked<'a> {
    lines: Vec<&'a str>,
    first: Option<Mark>,
    last: Option<Mark>,
}

impl<'a> Marked<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        // A fence may be around all of it.
        let is_said = |line: &&&str| !line.trim().is_empty() && !line.trim().starts_with("```");
        let first = lines.iter().find(is_said).and_then(|line| mark(line));
        let last = lines.iter().rfind(is_said).and_then(|line| mark(line));
        Self { lines, first, last }
    }

    fn at(&self, wanted: Mark) -> Option<usize> {
        self.lines.iter().position(|line| mark(line) == Some(wanted))
    }

    fn between(&self, from: Option<Mark>, to: Option<Mark>) -> String {
        let from = from.and_then(|from| self.at(from)).map_or(0, |at| at + 1);
        let to = to.and_then(|to| self.at(to)).unwrap_or(self.lines.len());
        self.lines.get(from..to).unwrap_or_default().concat()
    }
}

/// A block as a whole in the old text, or its marks around the two.
fn without_marks(old: &str, new: &str) -> Option<(String, String)> {
    let (marked, new_marked) = (Marked::of(old), Marked::of(new));
    if marked.first == Some(Mark::Start) && marked.last == Some(Mark::End) {
        let search = marked.between(Some(Mark::Start), Some(Mark::Middle));
        let replace = marked.between(Some(Mark::Middle), Some(Mark::End));
        let is_one = new.trim().is_empty() || new.trim() == replace.trim();
        return (is_one && marked.at(Mark::Middle).is_some()).then_some((search, replace));
    }
    let is_closed = marked.last == Some(Mark::Middle);
    if marked.first != Some(Mark::Start) && !(is_closed && new_marked.last == Some(Mark::End)) {
        return None;
    }
    let old = marked.between(marked.first, Some(Mark::Middle).filter(|_| is_closed));
    let middle = new_marked.first.filter(|first| *first == Mark::Middle);
    let end = new_marked.last.filter(|last| *last == Mark::End);
    Some((old, new_marked.between(middle, end)))
}

/// Blank lines before and after; as many of the new text go with them.
fn without_blank_lines(old: &str, new: &str) -> Option<(String, String)> {
    let lines = |text: &str| -> Vec<String> { text.split_inclusive('\n').map(str::to_owned).collect() };
    let blank = |line: &&String| line.trim().is_empty();
    let (old, new) = (lines(old), lines(new));
    let before = old.iter().take_while(blank).count();
    let after = old.iter().rev().take_while(blank).count();
    if before + after == 0 || before == old.len() {
        return None;
    }
    let new_before = new.iter().take_while(blank).count().min(before);
    let rest = new.get(new_before..)?;
    let new_after = rest.iter().rev().take_while(blank).count().min(after);
    let old = old.get(before..old.len() - after)?.concat();
    Some((old, rest.get(..rest.len() - new_after)?.concat()))
}

/// Both end with a newline or neither does, so that no line is joined with the next.
fn even_ends(old: &str, new: &str) -> Unwrapped {
    let (old_ends, new_ends) = (old.ends_with('\n'), new.ends_with('\n'));
    let cut = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    match (old_ends, new_ends) {
        (true, false) if !new.is_empty() => Unwrapped { old: cut(old), new: new.to_owned() },
        (false, true) => Unwrapped { old: old.to_owned(), new: cut(new) },
        (true | false, _) => Unwrapped { old: old.to_owned(), new: new.to_owned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_are_taken_away_one_after_the_other() {
        let table = [
            ("```rust\na();\n```", "```rust\nb();\n```", "a();\n", "b();\n"),
            ("```\na();\n```\n", "b();", "a();", "b();"),
            ("~~~~py\na()\n~~~~", "~~~~py\nb()\n~~~~", "a()\n", "b()\n"),
            ("\n\na();\n\n", "\n\nb();\n\n", "a();\n", "b();\n"),
            ("\na();", "b();", "a();", "b();"),
            ("\na();\n\n", "", "a();\n", ""),
            ("<<<<<<< SEARCH\na();\n=======\nb();\n>>>>>>> REPLACE", "", "a();\n", "b();\n"),
            ("<<<<<<< SEARCH\na();\n", "b();\n>>>>>>> REPLACE\n", "a();\n", "b();\n"),
            ("<<<<<<< SEARCH\na();\n=======", "b();\n", "a();\n", "b();\n"),
            ("a();\n=======\n", "=======\nb();\n>>>>>>> REPLACE", "a();\n", "b();\n"),
            ("```\n<<<<<<< SEARCH\na();\n=======\nb();\n>>>>>>> REPLACE\n```", "", "a();\n", "b();\n"),
            ("```\n\na();\n```", "```\nb();\n```", "a();\n", "b();\n"),
        ];
        for (old, new, wanted_old, wanted_new) in table {
            let last = unwrapped(old, new).pop();
            let last = last.map(|last| (last.old, last.new)).unwrap_or_default();
            assert_eq!(last, (wanted_old.to_owned(), wanted_new.to_owned()), "{old:?}");
        }
    }

    #[test]
    fn what_says_two_things_is_left_as_it_is() {
        for (old, new) in [
            ("<<<<<<< SEARCH\na();\n=======\nb();\n>>>>>>> REPLACE", "c();"),
            ("a();", "b();"),
            ("```\na();", "```\nb();"),
            ("```\na\n```\n\n```\nb\n```", "c"),
            ("<<<<<<< HEAD\na();\n=======\nb();\n>>>>>>> main", ""),
            ("Title\n=======", "Other\n======="),
            ("Title\n=======\ntext", "Other\n=======\ntext"),
        ] {
            assert_eq!(unwrapped(old, new), [], "{old:?}");
        }
        assert_eq!(without_marks_in_new("b();\n>>>>>>> REPLACE\n"), Some("b();\n".to_owned()));
        assert_eq!(without_marks_in_new("=======\nb();\n>>>>>>> REPLACE"), Some("b();".to_owned()));
        assert_eq!(without_marks_in_new("b();\n>>>>>>> main\n"), None, "a conflict that a file may have");
    }
}
