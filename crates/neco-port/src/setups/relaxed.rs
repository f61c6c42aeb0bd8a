//! JSON as people write it: with comments, commas at the end, names without quotes, quotes of either kind.

use serde_json::{Map, Number, Value};

/// Objects and lists inside each other.
const DEPTH: usize = 64;

/// Why a text is no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not JSON: line {line}")]
pub struct NoJson {
    /// The line.
    pub line: usize,
}

/// Reads a text that may be less strict than JSON is.
pub fn parse(text: &str) -> Result<Value, NoJson> {
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut parser = Parser { rest: text };
    let value = parser.value(DEPTH).filter(|_| parser.next().is_none());
    let read = text.len().saturating_sub(parser.rest.len());
    value.ok_or_else(|| NoJson { line: text.bytes().take(read).filter(|byte| *byte == b'\n').count() + 1 })
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// The next character that says something.
    fn next(&mut self) -> Option<char> {
        loop {
            self.rest = self.rest.trim_start();
            self.rest = if let Some(line) = self.rest.strip_prefix("//") {
                line.split_once('\n').map_or("", |(_, rest)| rest)
            } else if let Some(block) = self.rest.strip_prefix("/*") {
                block.split_once("*/").map_or("", |(_, rest)| rest)
            } else {
                return self.rest.chars().next();
            };
        }
    }

    /// Takes a character if it is the next.
    fn takes(&mut self, wanted: char) -> bool {
        let is_next = self.next() == Some(wanted);
        if is_next {
            self.advance(wanted.len_utf8());
        }
        is_next
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        match self.next()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            quote @ ('"' | '\'') => self.string(quote).map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.advance(1);
        let mut fields = Map::new();
        while !self.takes('}') {
            let name = match self.next()? {
                quote @ ('"' | '\'') => self.string(quote)?,
                _ => self.bare(|char| char.is_alphanumeric() || matches!(char, '_' | '$' | '-'))?,
            };
            if !self.takes(':') {
                return None;
            }
            let value = self.value(depth)?;
            fields.insert(name, value);
            if !self.takes(',') && self.next()? != '}' {
                return None;
            }
        }
        Some(Value::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        self.advance(1);
        let mut items = Vec::new();
        while !self.takes(']') {
            items.push(self.value(depth)?);
            if !self.takes(',') && self.next()? != ']' {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    fn bare(&mut self, fits: impl Fn(char) -> bool) -> Option<String> {
        let end = self.rest.find(|char| !fits(char)).unwrap_or(self.rest.len());
        let word = self.rest.get(..end).filter(|word| !word.is_empty())?.to_owned();
        self.advance(end);
        Some(word)
    }

    fn word(&mut self) -> Option<Value> {
        let word = self.bare(|char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.'))?;
        match word.as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "null" => Some(Value::Null),
            number => {
                let whole = number.trim_start_matches('+').parse::<i64>().ok().map(Number::from);
                whole.or_else(|| Number::from_f64(number.parse().ok()?)).map(Value::Number)
            }
        }
    }

    fn string(&mut self, quote: char) -> Option<String> {
        self.advance(quote.len_utf8());
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    'u' => {
                        let digits: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                        // Halves of a pair stand for nothing by themselves.
                        let point = u32::from_str_radix(&digits, 16).ok()?;
                        text.push(char::from_u32(point).unwrap_or('\u{fffd}'));
                    }
                    // A line that goes on.
                    '\n' => {}
                    other => text.push(other),
                },
                end if end == quote => {
                    self.advance(at + quote.len_utf8());
                    return Some(text);
                }
                '\n' => return None,
                other => text.push(other),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn what_people_write_is_read() {
        let text = "// mine\n{ a: 1, 'b': [true, null, /* two */ -2.5,], \"c\\n\": 'it\\'s // no \\u00e9', }\n// end";
        assert_eq!(parse(text), Ok(json!({ "a": 1, "b": [true, null, -2.5], "c\n": "it's // no é" })));
        assert_eq!(parse("\u{feff}{\"a\":{}}"), Ok(json!({ "a": {} })));
        assert_eq!(parse("{a:1}\nb"), Err(NoJson { line: 2 }));
        for broken in ["", "{", "{a}", "{a:}", "[1 2]", "'open", "{\"a\":\"\n\"}", "/* open", "nul", "{a:1,,}"] {
            assert!(parse(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_deep_document_is_refused() {
        assert!(parse(&format!("{}//", "[".repeat(100_000))).is_err());
        assert!(parse(&format!("{}{} //", "[".repeat(30), "]".repeat(30))).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\[\\]{}:,'\"/*\\\\ua1 \n.é-]{0,60}") {
            let _ = parse(&text);
        }
    }
}
