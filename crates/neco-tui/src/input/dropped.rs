//! The file that a terminal means when one is dropped on it, each writing its name in another way, and those that a text
//! names.

/// Endings of files that are pictures.
const PICTURES: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];

/// The file that `pasted` is the name of, if it is one line and ends as the names of pictures do: in quotes, with
/// blanks written as `\\ `, or as an address of a file. An address of somewhere else is none.
pub fn picture_file(pasted: &str) -> Option<String> {
    let text = pasted.trim();
    let bare = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    let path = match (bare, text.strip_prefix("file://")) {
        (Some(bare), _) => bare.to_owned(),
        (None, Some(address)) => decoded(address.strip_prefix("localhost").unwrap_or(address))?,
        (None, None) if text.contains("://") => return None,
        (None, None) => unescaped(text),
    };
    let lower = path.to_lowercase();
    let is_one = !path.contains(['\n', '\r']) && PICTURES.iter().any(|ending| lower.ends_with(ending));
    is_one.then_some(path)
}

/// The pictures that `text` names, each with how it stands there: behind an `@`, as a path with a `/`, or alone.
pub fn named_pictures(text: &str) -> Vec<(String, String)> {
    let words = words(text);
    let alone = words.len() == 1;
    let named = |word: &&str| {
        let bare = word.trim_start_matches('(').trim_end_matches([',', ';', '.', ':', '?', '!', ')']);
        let file = picture_file(bare.strip_prefix('@').unwrap_or(bare))?;
        (alone || bare.starts_with('@') || file.contains('/')).then(|| (file, bare.to_owned()))
    };
    words.iter().filter_map(named).collect()
}

/// The words of a text; what stands in quotes is one.
fn words(text: &str) -> Vec<&str> {
    let (mut words, mut begin, mut quote) = (Vec::new(), None, None);
    for (at, char) in text.char_indices() {
        let before = begin.and_then(|begin| text.get(begin..at)).unwrap_or_default();
        match (char, quote) {
            (_, Some(open)) if char == open => quote = None,
            ('"' | '\'', None) if matches!(before, "" | "@") => quote = Some(char),
            (_, None) if char.is_whitespace() => {
                words.extend(Some(before).filter(|word| !word.is_empty()));
                begin = None;
                continue;
            }
            _ => {}
        }
        begin.get_or_insert(at);
    }
    words.extend(begin.and_then(|begin| text.get(begin..)));
    words
}

/// Without the strokes that shells want before blanks.
fn unescaped(text: &str) -> String {
    let mut path = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        path.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    path
}

/// An address with `%20` for a blank.
fn decoded(address: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = address.bytes();
    while let Some(byte) = rest.next() {
        let byte = match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminal_is_understood() {
        for (pasted, file) in [
            ("/tmp/a.png", Some("/tmp/a.png")),
            ("'/tmp/a b.PNG' ", Some("/tmp/a b.PNG")),
            ("\"/tmp/a b.png\"", Some("/tmp/a b.png")),
            (r"/tmp/a\ b\(1\).jpg", Some("/tmp/a b(1).jpg")),
            ("file:///tmp/a%20b.webp", Some("/tmp/a b.webp")),
            ("file://localhost/a.gif", Some("/a.gif")),
            ("https://example.com/a.png", None),
            ("two lines\na.png", None),
            ("file:///a%2.png", None),
            ("a.txt", None),
        ] {
            assert_eq!(picture_file(pasted).as_deref(), file, "{pasted}");
        }
    }

    #[test]
    fn a_text_names_pictures() {
        for (text, files) in [
            ("what is in /tmp/a.png, please?", vec!["/tmp/a.png"]),
            ("see @p.png and @\"pic two.PNG\".", vec!["p.png", "pic two.PNG"]),
            ("p.png", vec!["p.png"]),
            ("rename p.png to q.png", vec![]),
            ("it's in \"a b\" and don't ask", vec![]),
            ("https://example.com/a.png is broken", vec![]),
            ("", vec![]),
        ] {
            let found: Vec<String> = named_pictures(text).into_iter().map(|(file, _)| file).collect();
            assert_eq!(found, files, "{text}");
        }
    }
}
