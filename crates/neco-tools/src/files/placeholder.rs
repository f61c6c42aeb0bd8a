//! Lines that stand for text which was left out, as `// ... existing code ...` does.
//!
//! Three dots alone are ordinary: a stub in Python, a spread in JavaScript, prose that trails off. What gives a
//! placeholder away is a comment of nothing but dots, or words that all belong to the few that such lines are
//! made of.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Text like any other.
    Ordinary,
    /// A comment of nothing but dots: it stands for something only where something was before.
    Dots,
    /// Words that say that something was left out.
    Placeholder,
}

/// What a comment begins with, in the languages that have it.
const COMMENTS: [&str; 24] = [
    "//", "#", "--", ";", ";;", "%", "%%", "/*", "{/*", "<!--", "(*", "{-", "--[[", "@*", "{{!--", "{{/*", "<%--",
    "{#", "##", "*", "'", "\"", "\"\"\"", "'''",
];

/// Signs that stand before or after a comment's words.
const SIGNS: &str = "/#-;%*<>!{}()[]@'\"=:,|~`";

/// Says what is left over.
const LEFT: &str = "\
    rest remaining remainder existing previous restlicher restliche restlichen übriger übrige übrigen \
    verbleibender bestehender bestehende vorhandener vorhandene bisheriger reste restant existant existante \
    existants précédent resto restante existente esistente остальной остальная остальные остальное существующий \
    прежний оставшийся";

/// The same, but only in a comment, between dots.
const WEAKLY_LEFT: &str = "other others same original current above earlier old";

/// What is meant without dots too, whatever it is called.
const ALL_OF_IT: &str = "rest remaining remainder code implementation logic content contents file";

/// Says what becomes of it.
const STATE: &str = "\
    unchanged omitted elided truncated snipped snip unmodified untouched abbreviated unverändert unveränderter \
    gekürzt ausgelassen weggelassen inchangé inchangée inchangés identique omis inalterado inalterada omitido \
    omitida invariato invariata omesso изменений";

/// What is left out.
const NOUNS: &str = "\
    code codes implementation implementations content contents file files function functions method methods \
    class classes logic import imports line lines part parts section sections body field fields property \
    properties props test tests style styles rule rules route routes handler handlers component components \
    config configuration settings options entries elements markup html css template script module program \
    definitions declarations statements variables constants types variants block stuff text document rows \
    columns state hooks helpers dependencies setup constructor members attributes keys steps jsx inhalt datei \
    funktionen methoden zeilen teil contenu fichier fonctions méthodes código contenido archivo funciones \
    métodos conteúdo arquivo funções codice contenuto код кода часть содержимое файл файла методы функции";

/// Words that may stand between those.
const BETWEEN: &str = "\
    of the this that these is are as before below here goes go stays stay remains remain kept and in for with to \
    from no not keep keeps leave todo all changes change changed brevity clarity simplicity it its shown continues continue follows \
    everything else exactly without des der die das bleibt bleiben wie bisher zuvor hier oben du de la le les \
    est ici comme avant même sans changement changements modification modifications del el los las se mantiene \
    queda permanece sigue igual aquí como antes sin cambios do da continua sem alterações mudanças aqui rimane \
    resta come prima qui senza modifiche без остаётся остается здесь как было и";

/// Says that it stays, where more than one word is needed for that.
const STAYS: [&[&str]; 8] = [
    &["same"],
    &["here"],
    &["as", "before"],
    &["as", "is"],
    &["no", "changes"],
    &["sin", "cambios"],
    &["sans", "changement"],
    &["sem", "alterações"],
];

/// What a comment says that is about what is not written there, whatever else of these words it has.
const ABOUT_THE_REST: [&[&str]; 11] = [
    &["everything", "else", "as", "is"],
    &["everything", "else", "same"],
    &["rest", "of", "file"],
    &["rest", "of", "code"],
    &["rest", "of", "implementation"],
    &["rest", "of", "function"],
    &["rest", "of", "class"],
    &["keep", "existing", "code"],
    &["keep", "existing", "implementation"],
    &["keep", "existing", "logic"],
    &["existing", "code", "stays"],
];

/// Languages that put no space between words: what such a line has in it.
const UNSPACED: &str = "其余|剩余|现有代码|原有代码|已有代码|其他代码|保持不变|代码不变|省略|既存のコード|残りのコード|残りは|変更なし|以下略|中略|나머지|기존 코드|변경 없음|생략";

/// The most words that such a line has.
const MOST_WORDS: usize = 14;

/// Says what a line is.
pub fn line(text: &str) -> Line {
    let text = text.trim();
    let whole = comment(text);
    match whole {
        Line::Ordinary => behind_code(text),
        Line::Dots | Line::Placeholder => whole,
    }
}

/// A comment that stands behind something else in its line.
fn behind_code(text: &str) -> Line {
    if !has_dots(text) {
        return Line::Ordinary;
    }
    for begins in ["/*", "//", "# ", "<!--", "-- "] {
        let Some((before, _)) = text.split_once(&format!(" {begins}")) else { continue };
        let comment_text = text.get(before.len()..).unwrap_or_default().trim();
        // In a string it is content; behind a comment it is prose.
        let unescaped = before.replace("\\\"", "").replace("\\'", "");
        let quoted = ['"', '\'', '`'].iter().any(|quote| unescaped.matches(*quote).count() % 2 == 1);
        if !quoted && !before.contains(begins.trim()) {
            let comment_text = comment_text.split_once("*/").map_or(comment_text, |(inner, _)| inner);
            return if comment(comment_text) == Line::Placeholder { Line::Placeholder } else { Line::Ordinary };
        }
    }
    Line::Ordinary
}

fn has_dots(text: &str) -> bool {
    text.contains("...") || text.contains('…')
}

/// A line that is a comment as a whole, or words between dots.
fn comment(text: &str) -> Line {
    let is_sign = |character: char| SIGNS.contains(character);
    let inner = text.trim_start_matches(is_sign);
    let lead = text.strip_suffix(inner).unwrap_or_default();
    // A comment for a document shows how code is written.
    let is_comment = COMMENTS.contains(&lead) && !(matches!(lead, "'" | "\"") && inner.contains(lead));
    let inner = inner.trim_end_matches(|character: char| is_sign(character) || character.is_whitespace());
    let inner = inner.trim_start().trim_start_matches(['[', '(', '{', '<']);
    let (starts, inner) = (begins_with_dots(inner), inner.trim_start_matches(['.', '…']));
    let spaced = inner.is_empty() || inner.starts_with(|character: char| character.is_whitespace() || character == '(');
    let inner = inner.trim();
    let (ends, inner) = (inner.ends_with("...") || inner.ends_with('…'), inner.trim_end_matches(['.', '…']));
    let dots = Dots { starts, ends };
    if inner.trim().is_empty() {
        return if is_comment && dots.any() && lead != "*" { Line::Dots } else { Line::Ordinary };
    }
    let is_bracket = matches!(lead, "" | "[" | "(" | "{" | "<");
    // Without a comment around them words have dots in front; a name right behind them is spread.
    if !is_comment && !(is_bracket && dots.starts && (spaced || !inner.is_ascii())) {
        return Line::Ordinary;
    }
    if says_left_out(inner, dots, is_comment && lead != "*") { Line::Placeholder } else { Line::Ordinary }
}

/// On which sides dots stand.
#[derive(Clone, Copy)]
struct Dots {
    starts: bool,
    ends: bool,
}

impl Dots {
    fn any(self) -> bool {
        self.starts || self.ends
    }
}

fn begins_with_dots(text: &str) -> bool {
    text.starts_with("...") || text.starts_with('…')
}

fn says_left_out(text: &str, dots: Dots, is_comment: bool) -> bool {
    let lower = text.to_lowercase();
    if UNSPACED.split('|').any(|said| lower.contains(said)) {
        let is_short = lower.chars().count() <= 24;
        return is_short && (dots.any() || (is_comment && lower.contains("保持不变")));
    }
    let words: Vec<&str> =
        lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.len() > MOST_WORDS {
        return false;
    }
    let is_in = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let has = |list: &str| words.iter().any(|word| is_in(list, word));
    let both = dots.starts && dots.ends;
    let left = has(LEFT) || (both && is_comment && has(WEAKLY_LEFT));
    let stays = has(STATE) || (left && STAYS.iter().any(|all| all.iter().all(|word| words.contains(word))));
    let known = |word: &&&str| [LEFT, WEAKLY_LEFT, STATE, NOUNS, BETWEEN].iter().any(|list| is_in(list, word));
    let unknown = words.iter().filter(|word| !known(word)).count();
    // A name of what is left out may be among them.
    let names = if both { 3 } else { 0 };
    let holds = |all: &&[&str]| all.iter().all(|word| words.contains(word));
    let about_the_rest = is_comment && unknown == 0 && ABOUT_THE_REST.iter().any(holds);
    let as_before = holds(&["as", "before"].as_slice()) && unknown == 0;
    match dots.any() {
        true if !is_comment => unknown <= names && left && (has(NOUNS) || stays) || omitted(&words),
        true => {
            about_the_rest
                || as_before
                || unknown <= names && (has(STATE) || (left && (has(NOUNS) || stays || words.contains(&"keep"))))
        }
        false if about_the_rest => true,
        // Others that are unchanged are not here.
        false if is_comment && unknown == 0 && has("other others") && has(STATE) && has(NOUNS) => true,
        false => is_comment && unknown == 0 && left && stays && has(ALL_OF_IT),
    }
}

/// What says by itself that something was left out.
fn omitted(words: &[&str]) -> bool {
    matches!(words, ["unchanged"] | ["omitted", "for", "brevity"] | ["omitted"] | ["code", "omitted", ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_in_the_comments_of_many_languages() {
        for text in [
            "# ... rest of the code remains unchanged ...",
            "/* keep everything else as is */",
            "// (other functions unchanged)",
            "# ... (same as before)",
            "<!-- rest of file -->",
            "// TODO: keep existing implementation",
            "-- existing code stays",
            "// ... keep the rest ...",
            "// ... existing code ...",
            "    // ... existing code ...",
            "//...existing code...",
            "// … existing code …",
            "/* ... existing code ... */",
            "/* … rest of the file … */",
            "{/* ... existing JSX ... */}",
            "<!-- ... rest of the page unchanged ... -->",
            "<!-- existing content here ... -->",
            "-- ... rest of the query unchanged ...",
            "-- ... existing code ...",
            "; ... rest unchanged ...",
            "% ... remaining code omitted ...",
            "(* ... rest of the file unchanged ... *)",
            "{- ... existing code ... -}",
            "'... existing code ...",
            "\"\"\"... existing code ...\"\"\"",
            "# ... (rest of the function stays the same)",
            "# [... unchanged ...]",
            "// ... other methods ...",
            "// ... other methods of UserService ...",
            "// ... remaining methods",
            "// rest of the code...",
            "// Rest of the code remains the same",
            "# Rest of file unchanged",
            "// existing code here",
            "# previous code remains unchanged",
            "// ... same as before ...",
            "... rest of the code ...",
            "… existing code …",
            "[... rest of the file unchanged ...]",
            "(... omitted for brevity ...)",
            "// ... unchanged",
            "# ... omitted ...",
            "// ... code omitted for brevity ...",
            "# ... Rest des Codes bleibt unverändert ...",
            "// ... bestehender Code ...",
            "// ... reste du code inchangé ...",
            "# ... code existant ...",
            "// ... resto del código sin cambios ...",
            "# ... restante do código ...",
            "// ... resto del codice invariato ...",
            "// ... остальной код без изменений ...",
            "// ... 其余代码保持不变 ...",
            "// 其余代码保持不变",
            "# ……省略……",
            "// ... 既存のコード ...",
            "// ... 나머지 코드는 동일 ...",
            "function a() { /* ... existing code ... */ }",
            "    return x; // ... rest of the function unchanged ...",
        ] {
            assert_eq!(line(text), Line::Placeholder, "{text}");
        }
        for text in ["// ...", "#...", "# …", "/* … */", "/* ... */", "<!-- ... -->", "-- ...", "{/* ... */}", "; ..."]
        {
            assert_eq!(line(text), Line::Dots, "{text}");
        }
    }

    #[test]
    fn ordinary_lines_with_dots() {
        for text in [
            "...",
            "    ...",
            "def f(): ...",
            "def f(self) -> int: ...  # noqa",
            "…",
            "...rest",
            "...existing, code",
            "[...existing, code]",
            "{ ...existing }",
            "const all = [...existing, ...rest];",
            "function f(...rest) {",
            "for i in 0...remaining {",
            "// ... and so on",
            "// ... and all that",
            "// first, second, ...",
            "// Loading...",
            "// Wait for the rest of the workers to finish...",
            "# Installing remaining packages...",
            "echo \"Copying the rest of the files...\"",
            "print(\"... existing code ...\")",
            "assert_eq!(a, \"// ... existing code ...\");",
            "let text = \"x // ... existing code ...\";",
            "/// ...",
            "/// // ... existing code ...",
            "//! // ...",
            " * ...",
            "// the rest of the arguments are passed on",
            "// the existing code must stay",
            "// keep the existing methods",
            "// keep the rest",
            "// keep the rest of the arguments",
            "// same as before",
            "// TODO: keep the existing settings of the user",
            "# unchanged",
            "// other methods",
            "// Existing files are left alone.",
            "int printf(const char *format, ...);",
            "#define log(...) printf(__VA_ARGS__)",
            "..= ...",
            "// etc...",
            "match x { .. }",
            "- ... and the rest of the story",
            "    ... do more stuff ...",
            "    ... run your tests ...",
            "    ... SNIP ...",
            " * ... other option types ...",
            "# Existing field unchanged.",
            "# ... your code here ...",
            "",
        ] {
            assert_eq!(line(text), Line::Ordinary, "{text}");
        }
    }
}
