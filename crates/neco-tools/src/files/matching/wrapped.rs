//! The text without what models put around it: marks of other formats, code fences, blank lines.

/// What is taken away around the old text and, where it is there too, around the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unwrapped {
    /// The text to be found, in whole lines.
    pub old: String,
    /// What comes in its place.
    pub new: String,
}

/// The same replacement without one layer after the other; each counts only if those before it were not found. Marks
/// stay where `marks` says so: in a file that has such marks itself.
pub(super) fn unwrapped(old: &str, new: &str, marks: Marks) -> Vec<Unwrapped> {
    let mut found: Vec<Unwrapped> = Vec::new();
    for peel in [without_marks, without_fences, without_blank_lines].into_iter().skip(marks.layers_that_stay()) {
        let (old, new) = found.last().map_or((old, new), |last| (last.old.as_str(), last.new.as_str()));
        let peeled = peel(old, new).filter(|(peeled, _)| !peeled.trim().is_empty());
        found.extend(peeled.map(|(old, new)| even_ends(&old, &new)));
    }
    found
}

/// Whether marks of a search-and-replace block can be meant as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// They are not of the file, so they stand around a text.
    Around,
    /// The file has such marks, so they are a part of the text.
    OfTheFile,
}

impl Marks {
    /// What marks are in an edit of this content.
    pub fn of(content: &[u8]) -> Self {
        if has_marks(content) { Self::OfTheFile } else { Self::Around }
    }

    /// The marks are the first layer.
    fn layers_that_stay(self) -> usize {
        match self {
            Self::Around => 0,
            Self::OfTheFile => 1,
        }
    }
}

/// The new text without marks of a search-and-replace block, where the old one was given without: one mark at its end
/// and maybe one at its beginning. What has other marks in it is text about such blocks and stays as it is.
pub(super) fn without_marks_in_new(old: &str, new: &str, marks: Marks) -> Option<String> {
    let is_word = new.trim_end().ends_with(" REPLACE") || new.trim_end().ends_with(" UPDATED");
    let is_plain = !has_marks(old.as_bytes()) && Marked::of(old).last != Some(Mark::Middle);
    if marks == Marks::OfTheFile || !is_plain || !is_word || Marked::of(new).last != Some(Mark::End) {
        return None;
    }
    let body = plain(new)?;
    let cut = body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n')).unwrap_or(&body);
    Some(if new.ends_with('\n') { body } else { cut.to_owned() })
}

/// Whether a line of it begins or ends a search-and-replace block. One that divides it may be that of a heading.
fn has_marks(content: &[u8]) -> bool {
    let mut lines = content.split(|byte| *byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    lines.any(|line| matches!(mark(line), Some(Mark::Start | Mark::End)))
}

/// The new text without the marks around it; nothing where there are more of them than stand around one text, because
/// what is between them would be lost.
fn plain(new: &str) -> Option<String> {
    let inner = unfenced(new);
    let marked = Marked::of(inner.as_deref().unwrap_or(new));
    let (begins, ends) = (marked.first == Some(Mark::Middle), marked.last == Some(Mark::End));
    let (starts, middles, closings) = (marked.count(Mark::Start), marked.count(Mark::Middle), marked.count(Mark::End));
    if !begins && starts == 0 && closings == 0 {
        return Some(new.to_owned());
    }
    let is_one = starts == 0 && middles == usize::from(begins) && closings == usize::from(ends);
    is_one.then(|| marked.between(begins.then_some(Mark::Middle), ends.then_some(Mark::End)))
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

    fn count(&self, wanted: Mark) -> usize {
        self.lines.iter().filter(|line| mark(line) == Some(wanted)).count()
    }

    fn between(&self, from: Option<Mark>, to: Option<Mark>) -> String {
        let from = from.and_then(|from| self.at(from)).map_or(0, |at| at + 1);
        let to = to.and_then(|to| self.at(to)).unwrap_or(self.lines.len());
        self.lines.get(from..to).unwrap_or_default().concat()
    }
}

/// A block as a whole in the old text, or its marks around the two. Several blocks are several edits, so nothing then.
fn without_marks(old: &str, new: &str) -> Option<(String, String)> {
    let marked = Marked::of(old);
    let (starts, middles, closings) = (marked.count(Mark::Start), marked.count(Mark::Middle), marked.count(Mark::End));
    if marked.first == Some(Mark::Start) && marked.last == Some(Mark::End) {
        let search = marked.between(Some(Mark::Start), Some(Mark::Middle));
        let replace = marked.between(Some(Mark::Middle), Some(Mark::End));
        let is_said_once = new.trim().is_empty() || new.trim() == replace.trim();
        let is_one = starts == 1 && middles == 1 && closings == 1;
        return (is_said_once && is_one).then_some((search, replace));
    }
    let (begins, is_closed) = (marked.first == Some(Mark::Start), marked.last == Some(Mark::Middle));
    if !(begins || is_closed && Marked::of(new).last == Some(Mark::End)) {
        return None;
    }
    if starts != usize::from(begins) || closings > 0 || (is_closed && middles > 1) {
        return None;
    }
    let old = marked.between(begins.then_some(Mark::Start), is_closed.then_some(Mark::Middle));
    Some((old, plain(new)?))
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
            let last = unwrapped(old, new, Marks::Around).pop();
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
            assert_eq!(unwrapped(old, new, Marks::Around), [], "{old:?}");
        }
    }

    #[test]
    fn several_blocks_are_not_one() {
        let block = "<<<<<<< SEARCH\na();\n=======\nb();\n>>>>>>> REPLACE\n";
        let two = block.repeat(2);
        for (old, new) in [
            (two.as_str(), ""),
            ("<<<<<<< SEARCH\na();\n", two.as_str()),
            ("<<<<<<< SEARCH\na();\n", block),
            ("<<<<<<< SEARCH\na();\n=======\n", "b();\n>>>>>>> REPLACE\nc();\n>>>>>>> REPLACE\n"),
            ("<<<<<<< SEARCH\na();\n=======\nc();\n=======\n", "b();\n>>>>>>> REPLACE\n"),
            ("<<<<<<< SEARCH\na();\n=======\n", "b();\n=======\nc();\n>>>>>>> REPLACE\n"),
        ] {
            assert_eq!(unwrapped(old, new, Marks::Around), [], "{old:?} {new:?}");
        }
        assert_eq!(unwrapped(block, "", Marks::OfTheFile), [], "the file is about such blocks");
        assert_eq!(Marks::of(block.as_bytes()), Marks::OfTheFile);
        assert_eq!(Marks::of(b"Title\n=======\n<<<<<<< HEAD\n>>>>>>> main\n\xff\n"), Marks::Around);
    }

    #[test]
    fn the_new_text_alone_loses_only_marks_around_all_of_it() {
        let taken = |old: &str, new: &str| without_marks_in_new(old, new, Marks::Around);
        assert_eq!(taken("a();", "b();\n>>>>>>> REPLACE\n"), Some("b();\n".to_owned()));
        assert_eq!(taken("a();", "=======\nb();\n>>>>>>> REPLACE"), Some("b();".to_owned()));
        assert_eq!(taken("a();", "b();\r\n>>>>>>> REPLACE"), Some("b();".to_owned()));
        assert_eq!(taken("a();", "b();\n>>>>>>> main\n"), None, "a conflict that a file may have");
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        assert_eq!(taken("a();", block), None);
        assert_eq!(taken("a();", &block.repeat(2)), None);
        assert_eq!(taken("a();", "b\n>>>>>>> REPLACE\nc\n>>>>>>> REPLACE"), None);
        assert_eq!(taken("a();", "a\n=======\nb\n>>>>>>> REPLACE"), None);
        assert_eq!(taken("a\n>>>>>>> REPLACE", "b\n>>>>>>> REPLACE"), None, "the old text has them too");
        assert_eq!(without_marks_in_new("a();", "b();\n>>>>>>> REPLACE", Marks::OfTheFile), None);
    }
}
