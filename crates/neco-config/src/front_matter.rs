//! What stands between two lines `---` at the top of a file that people write by hand, field by field.
//!
//! It is YAML, but of the kind that people and other programs write: a description may hold a colon, which
//! YAML does not take. So the fields are told apart by their lines, and whoever needs one reads it for itself: as YAML,
//! as one text or as a list. Every field and every line below it knows its number.

use serde_json::Value;

/// The line around the head.
pub const FENCE: &str = "---";

/// A field of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name in lower case with `_`: `maxTurns` and `max-turns` are `max_turns`.
    pub name: String,
    /// The same as it is written.
    pub written: String,
    /// What follows the colon, and the lines below that belong to it.
    pub text: String,
    /// The line, from 1.
    pub line: usize,
}

/// What a file is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parted<'a> {
    /// A head and what is below it.
    Whole {
        /// The fields, in their order.
        fields: Vec<Field>,
        /// Lines that belong to no field, with their numbers.
        stray: Vec<(usize, &'a str)>,
        /// What is below.
        body: &'a str,
        /// The line at which that begins, from 1.
        body_line: usize,
    },
    /// A head that never ends.
    Open,
    /// No head.
    None,
}

/// Which lines of a head begin a field, and which go on with the one above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// `name: value` with a plain name begins one; everything else goes on, so that a text may stand there unindented.
    Strict,
    /// `name:value` with any letters does, too; what goes on is indented or an item `- a`, the rest is stray.
    Loose,
}

/// Parts a file.
///
/// ```
/// use neco_config::front_matter::{Reading, Parted, part};
///
/// let Parted::Whole { fields, body, .. } = part("---\ntags: [a, 'b, c']\n---\nText.\n", Reading::Strict) else {
///     return;
/// };
/// assert_eq!((fields[0].name.as_str(), fields[0].line, body), ("tags", 2, "Text.\n"));
/// assert_eq!(fields[0].items(), ["a", "b, c"]);
/// ```
pub fn part(text: &str, reading: Reading) -> Parted<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|first| first.trim_end() == FENCE) else { return Parted::None };
    let mut at = first.len();
    let (mut fields, mut stray): (Vec<Field>, Vec<(usize, &str)>) = (Vec::new(), Vec::new());
    let mut indent = None;
    for (number, line) in lines.enumerate().map(|(index, line)| (index + 2, line)) {
        at += line.len();
        let bare = line.trim_end();
        if bare == FENCE {
            let body = text.get(at..).unwrap_or_default();
            return Parted::Whole { fields, stray, body, body_line: number + 1 };
        }
        if says_nothing(bare) && fields.is_empty() {
            continue;
        }
        // A head that is indented as a whole is one.
        let begins = bare.trim_start();
        let indent = *indent.get_or_insert_with(|| bare.strip_suffix(begins).unwrap_or_default());
        let bare = bare.strip_prefix(indent).unwrap_or(bare);
        let goes_on =
            reading == Reading::Strict || says_nothing(bare) || bare.starts_with([' ', '\t']) || bare.starts_with("- ");
        match (field(bare, number, reading), fields.last_mut().filter(|_| goes_on)) {
            (Some(field), _) => fields.push(field),
            (None, Some(last)) => {
                last.text.push('\n');
                last.text.push_str(bare);
            }
            (None, None) => stray.push((number, bare)),
        }
    }
    Parted::Open
}

/// The field that a line begins, if it does: a name at its very beginning, and a colon.
fn field(line: &str, number: usize, reading: Reading) -> Option<Field> {
    let (name, text) = line.split_once(':')?;
    let name = name.trim_end();
    let is_letter = |char: char| match reading {
        Reading::Strict => char.is_ascii_alphabetic(),
        Reading::Loose => char.is_alphanumeric(),
    };
    let is_name = name.starts_with(is_letter)
        && name.chars().all(|char| is_letter(char) || char.is_ascii_digit() || matches!(char, '_' | '-'));
    let parted = reading == Reading::Loose || text.is_empty() || text.starts_with([' ', '\t']);
    (is_name && parted).then(|| Field {
        name: plain(name),
        written: name.to_owned(),
        text: text.trim_start().to_owned(),
        line: number,
    })
}

/// `maxTurns` and `max-turns` are `max_turns`.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 2);
    for char in name.chars() {
        if char.is_ascii_uppercase() && plain.ends_with(|last: char| last.is_ascii_lowercase()) {
            plain.push('_');
        }
        plain.push(if char == '-' { '_' } else { char.to_ascii_lowercase() });
    }
    plain
}

/// Whether a line is empty or a comment.
fn says_nothing(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

impl Field {
    /// What follows the colon in its own line.
    pub fn first(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// The lines below that say something, with their numbers.
    pub fn below(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.split('\n').enumerate().skip(1);
        lines.filter(|(_, line)| !says_nothing(line)).map(|(index, line)| (self.line + index, line))
    }

    /// Its value as YAML.
    /// The error is the line and what is wrong there, when it is none.
    pub fn value(&self) -> Result<Value, (usize, String)> {
        if self.text.trim().is_empty() {
            return Ok(Value::Null);
        }
        match without_reader(self.text.trim_start_matches(' ').trim_end()) {
            Some(value) => Ok(value),
            None => self.as_yaml(),
        }
    }

    fn as_yaml(&self) -> Result<Value, (usize, String)> {
        let document = format!("value: {}", self.text);
        // A field that is called `n` or `on` is no truth value.
        let read: Result<Value, _> =
            serde_saphyr::from_str_with_options(&document, serde_saphyr::options! { strict_booleans: true });
        read.map(|mut value| value.get_mut("value").map(Value::take).unwrap_or_default()).map_err(|error| {
            let line = error.location().and_then(|place| usize::try_from(place.line()).ok()).unwrap_or(1);
            let bare = error.without_snippet().to_string();
            let words = bare.lines().next().unwrap_or_default().to_owned();
            (self.line + line.saturating_sub(1), words)
        })
    }

    /// Its value as a text; what is no YAML is taken as it stands.
    pub fn words(&self) -> String {
        match self.value() {
            Ok(Value::String(text)) => text.trim().to_owned(),
            Ok(Value::Null) => String::new(),
            Ok(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) | Err(_) => {
                let text = self.text.trim();
                within_quotes(text).unwrap_or(text).trim().to_owned()
            }
        }
    }

    /// All its lines as one, taken as they stand: nothing in them is a comment, and a quoted text is what is quoted.
    pub fn one_line(&self) -> String {
        // `|` and `>` announce lines of text; without them the lines go on all the same.
        let first = Some(self.first()).filter(|first| !matches!(*first, "|" | ">" | "|-" | ">-"));
        let lines = first.into_iter().chain(self.below().map(|(_, line)| line.trim()));
        unquoted(lines.collect::<Vec<_>>().join(" ").trim())
    }

    /// Its items: `[a, b]`, `a, b`, or lines `- a` below.
    pub fn items(&self) -> Vec<String> {
        if self.first().is_empty() && self.below().all(|(_, line)| line.trim_start().starts_with('-')) {
            let item = |(_, line): (usize, &str)| unquoted(line.trim_start().trim_start_matches('-').trim());
            return self.below().map(item).filter(|item| !item.is_empty()).collect();
        }
        let lines = [self.first()].into_iter().chain(self.below().map(|(_, line)| line.trim()));
        let text = lines.collect::<Vec<_>>().join(" ");
        let inner = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        split_items(inner.unwrap_or(&text))
    }
}

/// The parts of a text with commas between them; those in quotes and in braces part nothing.
pub fn split_items(text: &str) -> Vec<String> {
    let (mut items, mut item, mut depth) = (Vec::new(), String::new(), 0_usize);
    let (mut quote, mut escaped) = (None, false);
    for char in text.chars() {
        match quote {
            None if char == ',' && depth == 0 => {
                items.push(std::mem::take(&mut item));
                continue;
            }
            None if matches!(char, '"' | '\'') && item.trim().is_empty() => quote = Some(char),
            None if char == '{' => depth += 1,
            None if char == '}' => depth = depth.saturating_sub(1),
            None => {}
            Some(open) => {
                if char == open && !escaped {
                    quote = None;
                }
                escaped = char == '\\' && open == '"' && !escaped;
            }
        }
        item.push(char);
    }
    items.push(item);
    items.iter().map(|item| unquoted(item.trim())).filter(|item| !item.is_empty()).collect()
}

/// What a value is that needs no reader of YAML: words, a number, or a list of such words in brackets. Most are, and a
/// start reads many.
fn without_reader(text: &str) -> Option<Value> {
    if let Some(items) = text.strip_prefix('[').and_then(|items| items.strip_suffix(']')) {
        let items = items.split(',').map(str::trim);
        return items.map(|item| is_plain(item, b"").then(|| Value::from(item))).collect();
    }
    let digits = |text: &str| (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, rest)) if digits(whole) && digits(rest) => text.parse::<f64>().ok().map(Value::from),
        None if digits(text) && (text == "0" || !text.starts_with('0')) => text.parse::<u32>().ok().map(Value::from),
        _ => is_plain(text, b",").then(|| Value::from(text)),
    }
}

/// Whether a text is words that mean themselves in YAML; `besides` are further characters that may be in it.
fn is_plain(text: &str, besides: &[u8]) -> bool {
    const OTHERS: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-./;()".contains(&byte) || besides.contains(&byte))
        && !OTHERS.iter().any(|other| other.eq_ignore_ascii_case(text))
}

/// A text without the quotes around it.
pub fn unquoted(text: &str) -> String {
    if text.starts_with('"')
        && let Ok(plain) = serde_json::from_str::<String>(text)
    {
        return plain;
    }
    match within_quotes(text) {
        Some(inner) if text.starts_with('\'') => inner.replace("''", "'"),
        Some(inner) => inner.to_owned(),
        None => text.to_owned(),
    }
}

fn within_quotes(text: &str) -> Option<&str> {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\''))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fields(text: &str) -> Vec<Field> {
        match part(text, Reading::Loose) {
            Parted::Whole { fields, .. } => fields,
            other @ (Parted::Open | Parted::None) => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn a_field_goes_on_until_the_next_and_its_lines_have_numbers() {
        let text = "\u{feff}---  \r\n# about\r\n\r\nmaxTurns: 3\r\nnote: one\r\n  two\r\n\r\n# no\r\n - three\r\nx:y\r\n---\r\nbody\r\n";
        let Parted::Whole { fields, stray, body, body_line } = part(text, Reading::Strict) else { panic!() };
        assert_eq!((stray.len(), body, body_line), (0, "body\r\n", 12));
        assert_eq!((fields[0].name.as_str(), fields[0].written.as_str(), fields[0].line), ("max_turns", "maxTurns", 4));
        let note = &fields[1];
        assert_eq!(note.below().collect::<Vec<_>>(), [(6, "  two"), (9, " - three"), (10, "x:y")]);
        assert_eq!(self::fields(text).last().map(|field| (field.written.as_str(), field.line)), Some(("x", 10)));
        let Parted::Whole { stray, .. } = part("---\n- x\na: b\nwhat is this\n---\n", Reading::Loose) else { panic!() };
        assert_eq!(stray, [(2, "- x"), (4, "what is this")]);
        assert_eq!(self::fields("---\n  a: b\n  c:\n    - d\n---\n")[1].items(), ["d"]);
    }

    #[test]
    fn a_head_has_two_lines_around_it() {
        for text in ["", "text", "--- a\nx: y\n---\n", "\n---\na: b\n---\n", "----\na: b\n----\n"] {
            assert_eq!(part(text, Reading::Loose), Parted::None, "{text:?}");
        }
        assert_eq!(part("---\na: b\n --- \n----\n", Reading::Loose), Parted::Open);
        assert!(fields("---\n---").is_empty());
    }

    #[test]
    fn a_text_and_a_list_are_written_in_many_ways() {
        for head in
            ["a: one two", "a: >\n  one\n  two", "a:\n  one\n  # no\n  two", "a: 'one two'", "a: \"one\\u0020two\""]
        {
            assert_eq!(fields(&format!("---\n{head}\n---\n"))[0].one_line(), "one two", "{head}");
        }
        for head in ["a: x, 'y, z'", "a: [x, \"y, z\"]", "a:\n- x\n  - 'y, z'", "a: [x,\n  \"y, z\"]"] {
            assert_eq!(fields(&format!("---\n{head}\n---\n"))[0].items(), ["x", "y, z"], "{head}");
        }
        assert_eq!(split_items("src/**/*.{ts,tsx}, it's, b"), ["src/**/*.{ts,tsx}", "it's", "b"]);
        assert!(fields("---\na: []\nb:\n---\n").iter().all(|field| field.items().is_empty()));
    }

    proptest! {
        #[test]
        fn any_text_is_parted_without_loss(text in "(---\n)?([a-z]{0,3}:? ?(\\PC|\n){0,20}){0,4}(---\n)?(\\PC|\n){0,20}") {
            for reading in [Reading::Strict, Reading::Loose] {
                let Parted::Whole { fields, stray, body, body_line } = part(&text, reading) else { continue };
                prop_assert!(text.ends_with(body));
                let lines = stray.iter().map(|(line, _)| *line).chain(fields.iter().map(|field| field.line));
                prop_assert!(lines.chain(fields.iter().flat_map(|field| field.below().map(|(line, _)| line))).all(|line| line < body_line));
                for field in &fields {
                    let _ = (field.value(), field.words(), field.one_line(), field.items());
                }
            }
        }
    }

    #[test]
    fn what_is_plain_is_what_yaml_says() {
        let field = |text: &str| Field { name: String::new(), written: String::new(), text: text.to_owned(), line: 1 };
        for text in [
            "explore",
            "40",
            "0.2",
            "[a, b-c, d_e]",
            "a, b",
            "Finds (it); reads.",
            "0",
            "007",
            "1e3",
            "[]",
            "[1, a]",
            "Yes",
        ] {
            let field = field(text);
            assert_eq!(field.value(), field.as_yaml(), "{text:?}");
        }
        assert!(
            without_reader("explore").is_some() && without_reader("a: b").is_none() && without_reader("- a").is_none()
        );
        proptest!(|(text in "[a-zA-Z0-9 _.,;/()\\[\\]~:#'\"!&*{}|>%@`\n-]{0,20}")| {
            let field = field(&text);
            if !text.trim().is_empty() {
                prop_assert_eq!(field.value(), field.as_yaml());
            }
        });
        proptest!(|(text in "\\[?([a-z0-9]{1,4}[,. ]{0,2}){1,4}\\]?")| {
            if without_reader(&text).is_some() {
                prop_assert_eq!(field(&text).value(), field(&text).as_yaml());
            }
        });
    }
}
