//! What an expansion does besides standing for text: arithmetic on a variable runs the commands its
//! value holds, and `${X:=…}` sets a variable.

use super::scan::is_name;

/// What the expansions in a text do.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Effects {
    /// Whether the shell may work out a value, with the commands in it: `a[$(id)]` is a number to it.
    pub(crate) computes: bool,
    /// The variables that are set.
    pub(crate) sets: Vec<String>,
}

/// Looks at every expansion in a text, nested ones included. Quotes are not looked at: what would be
/// text between them counts too.
pub(crate) fn effects(text: &str) -> Effects {
    let mut found = Effects::default();
    for (at, _) in text.match_indices('$') {
        let Some(rest) = text.get(at + 1..) else { continue };
        if let Some(inside) = rest.strip_prefix("((") {
            found.computes |= !is_sum_of_numbers(inside);
        } else if let Some(inside) = rest.strip_prefix('{') {
            braced(inside, &mut found);
        } else {
            found.computes |= rest.starts_with('[');
        }
    }
    found
}

/// Digits and signs up to the end of the sum: no name in it, so nothing is looked up.
fn is_sum_of_numbers(inside: &str) -> bool {
    let end =
        inside.trim_start_matches(|letter: char| letter.is_ascii_digit() || " \t+-*/%()<>&|^~!=?:,".contains(letter));
    let sum = inside.len() - end.len();
    inside.get(..sum).is_some_and(|sum| sum.contains("))"))
}

/// `${…`: only forms that are known to look nothing else up are harmless.
fn braced(inside: &str, found: &mut Effects) {
    let inside = inside.strip_prefix('#').filter(|rest| !rest.starts_with('}')).unwrap_or(inside);
    let rest = inside.trim_start_matches(|letter: char| letter == '_' || letter.is_ascii_alphanumeric());
    let name = inside.get(..inside.len() - rest.len()).unwrap_or_default();
    if let Some(subscript) = rest.strip_prefix('[') {
        let (index, after) = subscript.split_once(']').unwrap_or((subscript, ""));
        let plain = matches!(index, "@" | "*") || is_number(index);
        found.computes |= !plain || !after.starts_with('}');
    } else if let Some(word) = rest.strip_prefix(':') {
        match word.chars().next() {
            Some('-' | '+' | '?') => {}
            Some('=') => sets(name, found),
            _ => found.computes |= !is_cut(word),
        }
    } else {
        match rest.chars().next() {
            Some('}') => found.computes |= name.is_empty() && !is_special(inside),
            Some('-' | '+' | '?' | '#' | '%' | '/' | '^' | ',') => {}
            Some('=') => sets(name, found),
            _ => found.computes |= !is_special(inside),
        }
    }
}

fn sets(name: &str, found: &mut Effects) {
    found.computes |= !is_name(name);
    found.sets.push(name.to_owned());
}

/// `${@}` and its like.
fn is_special(inside: &str) -> bool {
    ["@}", "*}", "?}", "$}", "#}", "!}", "-}"].iter().any(|special| inside.starts_with(special))
}

/// `${x:2:3}`, told in digits.
fn is_cut(word: &str) -> bool {
    word.split_once('}').is_some_and(|(places, _)| places.split(':').all(is_number))
}

pub(super) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_nothing_up_is_harmless() {
        for text in [
            "",
            "$x",
            "${x}",
            "$((1 + 2))",
            "$(( (3*4) ))",
            "${#x}",
            "${x:-a}",
            "${x:+a}",
            "${x#*/}",
            "${x%%.*}",
            "${x/a/b}",
            "${x:1}",
            "${x:1:2}",
            "${a[0]}",
            "${a[@]}",
            "${#a[@]}",
            "${@}",
            "${#}",
            "${x^^}",
            "$(date)",
        ] {
            assert_eq!(effects(text), Effects::default(), "{text}");
        }
    }

    #[test]
    fn what_looks_a_name_up_computes() {
        for text in [
            "$((x))",
            "$(( $x ))",
            "$((1+a[0]))",
            "$((`id`))",
            "${a[x]}",
            "${a[$x]}",
            "${a[0]:y}",
            "${x:y}",
            "${x:$y}",
            "${x:1:y}",
            "${x: -1}",
            "${!x}",
            "${!x*}",
            "${x@Q}",
            "$[x]",
            "$[1]",
            "${x:-${!y}}",
            "${x:-$((y))}",
            "$((1",
            "${x",
        ] {
            assert!(effects(text).computes, "{text}");
        }
    }

    #[test]
    fn names_that_are_set_are_told() {
        assert_eq!(effects("${PATH:=a} ${b=c} ${d:-${e:=f}}").sets, ["PATH", "b", "e"]);
        assert!(effects("${1:=x}").computes);
    }
}
