//! JSON that was cut off because it is longer than anyone reads.

use serde_json::Value;

/// No escape is longer, and none that needs another one after it: a text that was cut in the middle of one is read
/// without its last bytes.
const LONGEST_ESCAPE: usize = 12;

/// What `text` says as far as it goes; nothing when it is no beginning of JSON.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    endings(text).find_map(|text| serde_json::from_str(&text).ok())
}

/// What `text` may have been the beginning of: closed as it is, and without its last bytes.
pub(super) fn endings(text: &[u8]) -> impl Iterator<Item = String> + '_ {
    let text = text.trim_ascii_start();
    let is_json = matches!(text.first(), Some(b'{' | b'['));
    let cuts = if is_json { 0..LONGEST_ESCAPE } else { 0..0 };
    cuts.filter_map(|less| text.len().checked_sub(less).and_then(|end| text.get(..end)))
        .map(|text| closed(&String::from_utf8_lossy(text)))
}

/// `text` with everything closed that is open at its end.
fn closed(text: &str) -> String {
    let mut open: Vec<char> = Vec::new();
    let (mut in_text, mut escaped) = (false, false);
    for character in text.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '{' if !in_text => open.push('}'),
            '[' if !in_text => open.push(']'),
            '}' | ']' if !in_text => drop(open.pop()),
            _ => {}
        }
    }
    // The replacement of half a character is no part of the text.
    let mut text = text.trim_end_matches(char::REPLACEMENT_CHARACTER).to_owned();
    if escaped {
        text.pop();
    }
    if in_text {
        text.push('"');
    }
    text.extend(open.iter().rev());
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_before_the_cut_is_read() {
        let read = |text: &str| parse(text.as_bytes());
        assert_eq!(read(r#"{"error":{"code":"x","message":"lo"#), Some(json!({"error":{"code":"x","message":"lo"}})));
        assert_eq!(read(r#"[{"a":"b\"#), Some(json!([{"a":"b"}])));
        assert_eq!(parse(b"{\"a\":\"\xe6\x97"), Some(json!({"a":""})));
        assert_eq!(read(r#"{"a":"b\ud83d\ude0"#), Some(json!({"a":"b"})));
        assert_eq!(read("plain"), None);
        assert_eq!(read(r#"{"abcdefghijklmnopq":"#), None);
    }

    proptest! {
        #[test]
        fn any_cut_inside_of_the_last_text_is_read(message in "[a-z\\\\\"\u{e9}\u{65e5}\n\u{1}]{0,20}", at in any::<prop::sample::Index>()) {
            let whole = json!({ "error": { "code": "context_length_exceeded", "message": message } }).to_string();
            let begin = whole.find("\"message\":\"").unwrap() + "\"message\":\"".len();
            let cut = begin + at.index(whole.len() - begin);
            let read = parse(&whole.as_bytes()[..cut]).unwrap();
            prop_assert_eq!(&read["error"]["code"], "context_length_exceeded");
        }
    }
}
