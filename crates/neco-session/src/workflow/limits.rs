//! How much a template may make of little. What it writes is counted while it is written. What it only computes can't
//! be counted, so nothing that makes a text longer again and again is left to it: no variables of its own, few texts
//! put together in one template, and filters that look at what they would give first.

use std::io;

use minijinja::value::{Kwargs, StringInput};
use minijinja::{Environment, Error, ErrorKind, State, Value, filters};

/// Steps that a template may take: anybody can write one that would never end.
pub(super) const MOST_STEPS: u64 = 1_000_000;

/// Bytes that a template which stands alone may make.
pub(super) const LONGEST_ALONE: usize = 256 * 1024;

/// Bytes that a template of a task may make: what several earlier tasks gave fits.
pub(super) const LONGEST: usize = 2 * 1024 * 1024;

/// Most times that a template puts texts or lists together with `~` or `+`.
const MOST_JOINED: usize = 100;

/// Most times that it repeats one with `*`, and digits of the number beside that.
const MOST_REPEATED: usize = 2;
const MOST_DIGITS: usize = 3;

/// Statements that a template may have; each of the others keeps what was written, or computed, for later.
const STATEMENTS: &[&str] = &["if", "elif", "else", "endif", "for", "endfor"];

/// Filters that fill up to any length.
const FILLING: &[&str] = &["batch", "slice", "format", "indent"];

/// Takes from an environment what could give texts of any length.
pub(super) fn limit(environment: &mut Environment<'_>) {
    environment.set_fuel(Some(MOST_STEPS));
    FILLING.iter().for_each(|name| environment.remove_filter(name));
    environment.add_filter("join", join);
    environment.add_filter("replace", replace);
}

/// Whether a template can grow no further than its own length and what it reads allow.
pub(super) fn check(text: &str) -> Result<(), Error> {
    Code::read(text, Place::Text).check()
}

/// The same of what is computed as an expression, whatever its texts hold.
pub(super) fn check_expression(text: &str) -> Result<(), Error> {
    Code::read(text, Place::Expression).check()
}

/// A template that is filled in, up to `longest` bytes.
pub(super) fn render(
    environment: &Environment<'_>,
    text: &str,
    values: Value,
    longest: usize,
) -> Result<String, Error> {
    check(text)?;
    let mut filled = Filled { bytes: Vec::new(), longest, is_full: false };
    let done = environment.template_from_str(text)?.render_captured_to(values, &mut filled).map(drop);
    if filled.is_full {
        return Err(too_long(longest));
    }
    done.map(|()| String::from_utf8_lossy(&filled.bytes).into_owned())
}

fn too_long(longest: usize) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("it makes a text of more than {} KiB", longest / 1024))
}

/// What a template has made so far.
struct Filled {
    bytes: Vec<u8>,
    longest: usize,
    is_full: bool,
}

impl io::Write for Filled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.longest {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What is between many parts may be far more than the parts.
fn join(
    state: &mut State,
    value: &Value,
    joiner: Option<StringInput<'_>>,
    attribute: Option<&str>,
    kwargs: Kwargs,
) -> Result<Value, Error> {
    let between = joiner.as_ref().map_or(0, |joiner| joiner.as_str().len());
    let parts = value.as_str().map(str::len).or_else(|| value.len()).unwrap_or(LONGEST);
    if between.saturating_mul(parts) > LONGEST {
        return Err(too_long(LONGEST));
    }
    filters::join(state, value, joiner, attribute, kwargs)
}

/// What comes instead may be far more than what it takes the place of.
fn replace(
    state: &mut State,
    value: StringInput<'_>,
    from: StringInput<'_>,
    to: StringInput<'_>,
) -> Result<Value, Error> {
    let places = value.as_str().matches(from.as_str()).count();
    if places.saturating_mul(to.as_str().len()) > LONGEST {
        return Err(too_long(LONGEST));
    }
    filters::replace(state, value, from, to)
}

/// What of a template is neither text outside of tags nor text in quotes, as far as can be told without reading it as
/// a template: what is taken for code too many is refused too early, never too late.
#[derive(Default)]
pub(super) struct Code {
    /// The first words of its statements.
    statements: Vec<String>,
    /// The names of its filters.
    pub(super) filters: Vec<String>,
    has_comment: bool,
    is_recursive: bool,
    joined: usize,
    repeated: usize,
    /// Whether a `*` stands beside no small number.
    repeats_at_will: bool,
}

/// Where in a template something stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Outside of tags.
    Text,
    /// In an expression without tags, which ends with the text.
    Expression,
    /// Between `{{` and `}}`.
    Output,
    /// Between `{%` and `%}`.
    Statement,
}

impl Code {
    pub(super) fn of(text: &str) -> Self {
        Self::read(text, if is_template(text) { Place::Text } else { Place::Expression })
    }

    /// Tags begin and end here where they do in a template: one ends outside of quotes and brackets alone.
    fn read(text: &str, mut place: Place) -> Self {
        let mut code = Self::default();
        let (mut quote, mut brackets): (Option<char>, isize) = (None, 0);
        let mut rest = text;
        while let Some(char) = rest.chars().next() {
            let mut after = rest.get(char.len_utf8()..).unwrap_or_default();
            let before = text.get(..text.len() - rest.len()).unwrap_or_default();
            match (quote, place, char) {
                (Some(_), _, '\\') => after = without_first(after),
                (Some(open), _, close) => quote = quote.filter(|_| close != open),
                (None, Place::Text, '{') => {
                    place = match after.chars().next() {
                        Some('{') => Place::Output,
                        Some('%') => Place::Statement,
                        Some(_) | None => Place::Text,
                    };
                    match place {
                        Place::Statement => code.statements.push(word(after.trim_start_matches(['%', '-', '+']))),
                        Place::Text => code.has_comment |= after.starts_with('#'),
                        Place::Output | Place::Expression => {}
                    }
                    if place != Place::Text {
                        after = without_first(after);
                    }
                }
                (None, Place::Text, _) => {}
                (None, Place::Output, '}') | (None, Place::Statement, '%')
                    if brackets == 0 && after.starts_with('}') =>
                {
                    place = Place::Text;
                    after = without_first(after);
                }
                (None, _, '(' | '[' | '{') => brackets += 1,
                (None, _, ')' | ']' | '}') => brackets -= 1,
                (None, _, '\'' | '"') => quote = Some(char),
                (None, _, '|') => code.filters.push(word(after)),
                (None, _, '~' | '+') => code.joined += 1,
                (None, _, '*') => {
                    code.repeated += 1;
                    code.repeats_at_will |= !is_beside_small_number(before, after);
                }
                (None, _, 'r') => code.is_recursive |= word(rest) == "recursive" && !is_in_name(before),
                (None, _, _) => {}
            }
            rest = after;
        }
        code.filters.retain(|name| !name.is_empty());
        code
    }

    fn check(&self) -> Result<(), Error> {
        if let Some(word) = self.statements.iter().find(|word| !STATEMENTS.contains(&word.as_str())) {
            let words = format!("there is no {{% {word} %}} here, only conditions and loops");
            return Err(Error::new(ErrorKind::SyntaxError, words));
        }
        if self.has_comment {
            return Err(Error::new(ErrorKind::SyntaxError, "there are no comments {# #} here"));
        }
        if self.is_recursive {
            return Err(Error::new(ErrorKind::SyntaxError, "there are no recursive loops here"));
        }
        if self.joined > MOST_JOINED {
            let words = format!("it joins more than {MOST_JOINED} texts with ~ or +");
            return Err(Error::new(ErrorKind::SyntaxError, words));
        }
        if self.repeated > MOST_REPEATED || self.repeats_at_will {
            let words = format!("it may use * {MOST_REPEATED} times, beside a number of at most {MOST_DIGITS} digits");
            return Err(Error::new(ErrorKind::SyntaxError, words));
        }
        Ok(())
    }
}

fn without_first(text: &str) -> &str {
    text.get(text.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default()
}

/// Whether what comes next goes on with a name, or is a field's.
fn is_in_name(before: &str) -> bool {
    before.ends_with(|char: char| char.is_alphabetic() || "_.".contains(char))
}

fn is_beside_small_number(before: &str, after: &str) -> bool {
    let is_small = |chars: &mut dyn Iterator<Item = char>| {
        let digits = chars.skip_while(|char| char.is_whitespace());
        let mut count = 0;
        for char in digits {
            match char {
                '0'..='9' => count += 1,
                char => return count > 0 && count <= MOST_DIGITS && !char.is_alphanumeric() && !"_.".contains(char),
            }
        }
        count > 0 && count <= MOST_DIGITS
    };
    is_small(&mut before.chars().rev()) || is_small(&mut after.chars())
}

/// Compiling costs more than looking.
pub(super) fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

fn word(text: &str) -> String {
    text.trim_start().chars().take_while(|char| char.is_ascii_alphanumeric() || *char == '_').collect()
}
