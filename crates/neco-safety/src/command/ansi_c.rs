//! The escapes of `$'…'`, which can spell any name without a letter of it.

/// What the shell makes of the text between the quotes; none where an escape is not understood.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '\\' {
            decoded.push(character);
            continue;
        }
        let code = match rest.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            plain @ ('\\' | '\'' | '"' | '?') => plain,
            'x' => number(&mut rest, 16, 2, 0)?,
            'u' => number(&mut rest, 16, 4, 0)?,
            'U' => number(&mut rest, 16, 8, 0)?,
            digit @ '0'..='7' => number(&mut rest, 8, 2, digit.to_digit(8)?)?,
            _ => return None,
        };
        decoded.push(code);
    }
    // A zero byte ends the text for the shell, and what follows it is another matter.
    (!decoded.contains('\0')).then_some(decoded)
}

fn number(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, base: u32, most: usize, first: u32) -> Option<char> {
    let mut value = first;
    let mut count = 0;
    while count < most
        && let Some(digit) = rest.peek().and_then(|character| character.to_digit(base))
    {
        value = value.checked_mul(base)?.checked_add(digit)?;
        rest.next();
        count += 1;
    }
    if base == 16 && count == 0 {
        return None;
    }
    // Bytes above ASCII may be half of a character: such text is not understood.
    char::from_u32(value).filter(|character| base == 16 && most > 2 || character.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_letter_is_that_letter() {
        for text in [r"\x72m", r"\162\155", r"\u0072m", r"\U00000072\x6d", "rm", r"\x72\x6D"] {
            assert_eq!(decode(text).as_deref(), Some("rm"), "{text}");
        }
        assert_eq!(decode(r"a\n\t\\\'").as_deref(), Some("a\n\t\\'"));
    }

    #[test]
    fn what_is_not_understood_is_said() {
        for text in [r"\xff", r"\x", r"\cA", r"\0", "\\", r"\q", r"\UFFFFFFFF"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
