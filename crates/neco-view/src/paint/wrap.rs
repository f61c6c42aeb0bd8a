//! Lines of our own, broken between words where a terminal would break inside of them.

use unicode_width::UnicodeWidthChar;

/// How many columns `text` takes; colours take none.
pub fn columns(text: &str) -> usize {
    let mut in_colour = false;
    let mut columns = 0;
    for char in text.chars() {
        match char {
            '\u{1b}' => in_colour = true,
            'm' if in_colour => in_colour = false,
            _ if in_colour => {}
            _ => columns += char.width().unwrap_or_default(),
        }
    }
    columns
}

/// The start of `text`, which has no colours, that fits into `most` columns.
pub fn fitting(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut left = most.saturating_sub(1);
    let fits = |char: &char| {
        let wide = char.width().unwrap_or_default();
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    let cut: String = text.chars().take_while(fits).collect();
    format!("{cut}…")
}

/// `line` broken between words so that no part is wider than `width`; what follows the first part
/// stands as far to the right as the line does, and two columns more. A word that is wider than the
/// terminal stays whole: it can still be copied.
pub fn wrap(line: &str, width: usize) -> String {
    let indent = line.chars().take_while(|char| *char == ' ').count();
    wrap_under(line, width, indent + 2)
}

/// The same, with what follows the first part `hanging` columns from the left where there is room.
pub fn wrap_under(line: &str, width: usize, hanging: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let indent = line.chars().take_while(|char| *char == ' ').count();
    let hanging = " ".repeat(if hanging < width / 2 { hanging } else { 2.min(width / 4) });
    let mut wrapped = " ".repeat(indent);
    let mut used = indent;
    let mut is_first = true;
    for word in line.trim_start_matches(' ').split(' ') {
        let wide = columns(word);
        if is_first {
            is_first = false;
        } else if !word.is_empty() && used + 1 + wide > width {
            wrapped.truncate(wrapped.trim_end_matches(' ').len());
            wrapped.push('\n');
            wrapped.push_str(&hanging);
            used = hanging.len();
        } else {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += wide;
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_what_a_terminal_shows() {
        assert_eq!((columns("漢字 a"), columns("\u{1b}[31mred\u{1b}[0m"), columns("e\u{301}")), (6, 3, 1));
        assert_eq!(fitting("漢字漢字", 6), "漢字…");
        assert_eq!(fitting("abc", 3), "abc");
    }

    #[test]
    fn words_stay_whole_and_keep_the_indent() {
        assert_eq!(wrap("  one two three", 11), "  one two\n    three");
        assert_eq!(wrap("short", 11), "short");
        assert_eq!(wrap("a veryveryverylongword b", 10), "a\n  veryveryverylongword\n  b");
        assert_eq!(wrap_under("ok    model  one two three", 20, 8), "ok    model  one two\n        three");
        assert_eq!(wrap_under("ok    model  one two three", 12, 8), "ok    model\n  one two\n  three");
        assert_eq!(wrap("\u{1b}[2mdim words here\u{1b}[0m", 10), "\u{1b}[2mdim words\n  here\u{1b}[0m");
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_wide(line in "[a-c漢 ]{0,80}", width in 8usize..40) {
            let wrapped = wrap(&line, width);
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            prop_assert_eq!(words(&wrapped), words(&line));
            for part in wrapped.lines() {
                prop_assert!(columns(part.trim_end()) <= width || part.split_whitespace().count() <= 1, "{:?}", part);
            }
        }
    }
}
