//! JSON with the small mistakes that small models make: line breaks inside of texts, escapes that do
//! not exist, a comma before a closing brace.

/// The same text as JSON, as far as that can be had without guessing at what is meant.
pub(super) fn mended(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut in_text = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                in_text = !in_text;
                out.push('"');
            }
            '\\' if in_text => add_escape(characters.next(), &mut out),
            character if in_text && character.is_control() => add_control(character, &mut out),
            ',' if !in_text => {
                while characters.next_if(|next| next.is_whitespace()).is_some() {}
                if !matches!(characters.peek(), Some('}' | ']')) {
                    out.push(',');
                }
            }
            character => out.push(character),
        }
    }
    out
}

fn add_escape(escaped: Option<char>, out: &mut String) {
    match escaped {
        Some(known @ ('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u')) => out.extend(['\\', known]),
        Some('\'') => out.push('\''),
        Some(control) if control.is_control() => add_control(control, out),
        Some(other) => out.extend(['\\', '\\', other]),
        None => out.push_str("\\\\"),
    }
}

fn add_control(character: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => out.push_str(&format!("\\u{:04x}", u32::from(other))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn small_mistakes_are_mended() {
        for (text, wanted) in [
            ("{\"a\":\"one\ntwo\t\"}", r#"{"a":"one\ntwo\t"}"#),
            (r#"{"a":"it\'s \d",}"#, r#"{"a":"it's \\d"}"#),
            ("{\"a\":[1, 2, ], }", r#"{"a":[1,2]}"#),
            ("{\"a\":\"b\\\nc\"}", r#"{"a":"b\nc"}"#),
        ] {
            let mended: Value = serde_json::from_str(&mended(text)).unwrap();
            assert_eq!(mended, serde_json::from_str::<Value>(wanted).unwrap(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_right_stays_what_it_is(texts in prop::collection::vec("\\PC*|[\\n\\t\"\\\\,}\\]]*", 0..4)) {
            let value = Value::from(texts);
            let mended = mended(&value.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&mended).unwrap(), value);
        }
    }
}
