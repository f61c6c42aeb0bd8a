//! Where the lines of one hunk are in a file, read as loosely as it takes.

use std::ops::Range;

use super::hunk::Hunk;
use crate::files::matching::{
    Closest, Fit, LOOK_AFTER, Line, Lines, OldText, Shift, Stop, closest_to, shift_of, trim_end, write_out,
};

/// Places that are gathered at most where a hunk is looked for, and elsewhere.
const MOST_SPOTS: usize = 10_000;
const MOST_OUTSIDE: usize = 100;

/// A place that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Its first line, counted from zero.
    pub first: usize,
    /// How many lines of the file it covers.
    pub count: usize,
    /// How the hunk has to be read there.
    pub reading: Reading,
}

/// How a hunk has to be read to fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    Exact,
    LineEndings,
    TrailingSpace,
    Shifted(Shift),
    /// With these kinds of escaped sequences written out.
    Escaped(Vec<char>),
}

impl Reading {
    /// The same as edits have it.
    pub fn fit(&self) -> Fit {
        match self {
            Self::Exact => Fit::Exact,
            Self::LineEndings => Fit::LineEndings,
            Self::TrailingSpace => Fit::TrailingSpace,
            Self::Shifted(_) => Fit::Indentation,
            Self::Escaped(_) => Fit::Escapes,
        }
    }
}

/// Why a hunk has no place.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// Its lines are nowhere; this is what comes nearest, and the line where its new text is already.
    NotFound { closest: Option<Closest>, already: Option<usize> },
    /// There are several, at these lines.
    NotUnique { fit: Fit, lines: Vec<usize> },
    /// The line that it should stand below is nowhere.
    NoHint(String),
    /// Its lines are at these lines, but not below the line that it names.
    NotBelowHint { hint: String, lines: Vec<usize> },
    /// Its lines are at these lines, but not at the end of the file.
    NotAtEnd(Vec<usize>),
    /// Its lines are at these lines, which another hunk has or which come before those of an earlier hunk.
    Taken(Vec<usize>),
    /// Nothing says where it belongs.
    NoContext,
    /// The file would become too long.
    TooLong,
    /// It was told to stop.
    Stopped,
}

/// Every place where a hunk fits, by the strictest reading that has one.
pub fn spots(content: &[u8], lines: &Lines, hunk: &Hunk, stop: &Stop<'_>) -> Result<Vec<Spot>, Misfit> {
    let old = hunk.old_lines();
    if old.is_empty() {
        return inserted(lines, hunk).map(|first| vec![Spot { first, count: 0, reading: Reading::Exact }]);
    }
    if let Some(one) = exactly_there(content, lines, hunk, &old) {
        return Ok(vec![one]);
    }
    let scopes = outermost(below(content, lines, &hunk.hints)?);
    let look = Look { scopes: &scopes, stop };
    let mut elsewhere = None;
    for find in READINGS {
        let Found { inside, outside, full } = find(content, lines, &old, &look);
        if stop() {
            return Err(Misfit::Stopped);
        }
        let (kept, short): (Vec<Spot>, Vec<Spot>) =
            inside.into_iter().partition(|spot| !hunk.at_end || is_end(content, lines, spot));
        if full && !hunk.at_end {
            // What follows is not known, so neither is whether there is only one.
            let fit = kept.first().map_or(Fit::Exact, |spot| spot.reading.fit());
            return Err(Misfit::NotUnique { fit, lines: numbers(&kept) });
        }
        if !kept.is_empty() {
            return Ok(narrowed(content, lines, hunk, kept));
        }
        if !short.is_empty() {
            elsewhere.get_or_insert(Misfit::NotAtEnd(numbers(&short)));
        } else if let Some(hint) = hunk.hints.last().filter(|_| !outside.is_empty()) {
            elsewhere.get_or_insert(Misfit::NotBelowHint { hint: hint.clone(), lines: numbers(&outside) });
        }
    }
    Err(elsewhere.unwrap_or_else(|| not_found(content, lines, hunk, old)))
}

/// Lines as people count them.
pub fn numbers(spots: &[Spot]) -> Vec<usize> {
    spots.iter().map(|spot| spot.first + 1).collect()
}

/// A hunk of nothing but new lines says where it belongs only at the ends of a file.
fn inserted(lines: &Lines, hunk: &Hunk) -> Result<usize, Misfit> {
    let end = lines.len();
    match hunk.line {
        _ if !hunk.hints.is_empty() => Err(Misfit::NoContext),
        _ if hunk.at_end || end == 0 => Ok(end),
        None => Ok(end),
        Some(0) => Ok(0),
        Some(line) if line == end => Ok(end),
        Some(_) => Err(Misfit::NoContext),
    }
}

/// Line numbers and every byte agree: that is the place, wherever else the lines are.
fn exactly_there(content: &[u8], lines: &Lines, hunk: &Hunk, old: &[&[u8]]) -> Option<Spot> {
    let first = hunk.line?.checked_sub(1)?;
    let window = lines.get(first..first + old.len());
    let agrees = window.len() == old.len() && window.iter().zip(old).all(|(line, old)| whole(content, line) == *old);
    agrees.then_some(Spot { first, count: old.len(), reading: Reading::Exact })
}

/// Where several fit, those below the heading.
fn narrowed(content: &[u8], lines: &Lines, hunk: &Hunk, spots: Vec<Spot>) -> Vec<Spot> {
    let Some(heading) = hunk.heading.clone().filter(|_| spots.len() > 1) else { return spots };
    let Ok(scopes) = below(content, lines, &[heading]) else { return spots };
    let below = |spot: &&Spot| scopes.iter().any(|scope| scope.contains(&spot.first));
    let kept: Vec<Spot> = spots.iter().filter(below).cloned().collect();
    if kept.is_empty() { spots } else { kept }
}

/// Whether nothing but empty lines follows.
fn is_end(content: &[u8], lines: &Lines, spot: &Spot) -> bool {
    let rest = lines.get(spot.first + spot.count..lines.len());
    rest.iter().all(|line| line.text(content).trim_ascii().is_empty())
}

/// Where is looked, and until when.
struct Look<'a> {
    /// In order and apart from each other.
    scopes: &'a [Range<usize>],
    stop: &'a Stop<'a>,
}

impl Look<'_> {
    fn holds(&self, first: usize, count: usize) -> bool {
        let after = self.scopes.partition_point(|scope| scope.start <= first);
        let scope = after.checked_sub(1).and_then(|at| self.scopes.get(at));
        scope.is_some_and(|scope| scope.contains(&first) && scope.end >= first + count)
    }
}

/// What one reading found.
#[derive(Default)]
struct Found {
    /// Where it was looked.
    inside: Vec<Spot>,
    /// A few of those elsewhere.
    outside: Vec<Spot>,
    /// Whether there are more than were gathered.
    full: bool,
}

type Find = fn(&[u8], &Lines, &[&[u8]], &Look<'_>) -> Found;

const READINGS: [Find; 5] = [exact, line_endings, trailing_space, shifted, escaped];

/// A line with the carriage return that is in front of its newline.
fn whole<'c>(content: &'c [u8], line: &Line) -> &'c [u8] {
    let end = if line.has_ending() { line.next - 1 } else { line.end };
    content.get(line.start..end).unwrap_or_default()
}

fn exact(content: &[u8], lines: &Lines, old: &[&[u8]], look: &Look<'_>) -> Found {
    search(lines, old.len(), look, |window| {
        window.iter().zip(old).all(|(line, old)| whole(content, line) == *old).then_some(Reading::Exact)
    })
}

fn line_endings(content: &[u8], lines: &Lines, old: &[&[u8]], look: &Look<'_>) -> Found {
    search(lines, old.len(), look, |window| {
        let mut pairs = window.iter().zip(old);
        pairs.all(|(line, old)| line.text(content) == plain(old)).then_some(Reading::LineEndings)
    })
}

fn trailing_space(content: &[u8], lines: &Lines, old: &[&[u8]], look: &Look<'_>) -> Found {
    if !says_something(old) {
        return Found::default();
    }
    search(lines, old.len(), look, |window| {
        let mut pairs = window.iter().zip(old);
        pairs.all(|(line, old)| trim_end(line.text(content)) == trim_end(old)).then_some(Reading::TrailingSpace)
    })
}

fn shifted(content: &[u8], lines: &Lines, old: &[&[u8]], look: &Look<'_>) -> Found {
    if !says_something(old) {
        return Found::default();
    }
    let old = as_text(old);
    search(lines, old.lines.len(), look, |window| shift_of(content, window, &old).map(Reading::Shifted))
}

fn escaped(content: &[u8], lines: &Lines, old: &[&[u8]], look: &Look<'_>) -> Found {
    let mut kinds = Vec::new();
    let mut written = |line: &&[u8]| {
        // A line has no newline in it, whatever it says.
        write_out(&String::from_utf8_lossy(plain(line)), |kind| {
            let wanted = !matches!(kind, 'n' | 'r');
            kinds.extend(Some(kind).filter(|_| wanted));
            wanted
        })
    };
    let written: Vec<String> = old.iter().map(&mut written).collect();
    if kinds.is_empty() {
        return Found::default();
    }
    search(lines, written.len(), look, |window| {
        let mut pairs = window.iter().zip(&written);
        let fits = pairs.all(|(line, old)| line.text(content) == old.as_bytes());
        fits.then(|| Reading::Escaped(kinds.clone()))
    })
}

fn search(lines: &Lines, count: usize, look: &Look<'_>, fits: impl Fn(&[Line]) -> Option<Reading>) -> Found {
    let mut found = Found::default();
    for (first, window) in lines.windows(count) {
        if first % LOOK_AFTER == 0 && (look.stop)() {
            break;
        }
        let Some(reading) = fits(window) else { continue };
        let spot = Spot { first, count, reading };
        match look.holds(first, count) {
            true if found.inside.len() >= MOST_SPOTS => {
                found.full = true;
                break;
            }
            true => found.inside.push(spot),
            false if found.outside.len() < MOST_OUTSIDE => found.outside.push(spot),
            false => {}
        }
    }
    found
}

fn plain(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn as_text<'a>(old: &[&'a [u8]]) -> OldText<'a> {
    OldText { lines: old.iter().map(|line| plain(line)).collect(), ends_with_newline: true }
}

fn says_something(old: &[&[u8]]) -> bool {
    as_text(old).has_words()
}

fn not_found(content: &[u8], lines: &Lines, hunk: &Hunk, old: Vec<&[u8]>) -> Misfit {
    let new = hunk.new_lines();
    let all = 0..lines.len();
    let everywhere = Look { scopes: std::slice::from_ref(&all), stop: &|| false };
    let already = if new.is_empty() { Vec::new() } else { line_endings(content, lines, &new, &everywhere).inside };
    let already = already.first().filter(|_| already.len() == 1 && says_something(&new)).map(|spot| spot.first + 1);
    Misfit::NotFound { closest: closest_to(content, lines, &as_text(&old)), already }
}

/// The stretches of lines that stand below these lines, one inside the other; without any, all lines.
/// The error is the first of them that is nowhere.
pub fn below(content: &[u8], lines: &Lines, hints: &[String]) -> Result<Vec<Range<usize>>, Misfit> {
    let whole = 0..lines.len();
    let mut scopes = vec![whole];
    for hint in hints {
        let inner: Vec<Range<usize>> = heads(content, lines, hint)
            .into_iter()
            .filter(|head| scopes.iter().any(|scope| scope.contains(head)))
            .map(|head| scope_of(content, lines, head))
            .collect();
        if inner.is_empty() {
            return Err(Misfit::NoHint(hint.clone()));
        }
        scopes = inner;
    }
    Ok(scopes)
}

/// The stretches that lie in no other, in order. They never overlap otherwise: blocks lie in one another.
pub fn outermost(mut scopes: Vec<Range<usize>>) -> Vec<Range<usize>> {
    scopes.sort_by_key(|scope| (scope.start, std::cmp::Reverse(scope.end)));
    let mut kept: Vec<Range<usize>> = Vec::with_capacity(scopes.len());
    for scope in scopes {
        if kept.last().is_none_or(|last| scope.end > last.end) {
            kept.push(scope);
        }
    }
    kept
}

/// The lines that say this, but for white space around it; if there are none, those that have it in them.
fn heads(content: &[u8], lines: &Lines, hint: &str) -> Vec<usize> {
    let hint = hint.trim().as_bytes();
    let find = |fits: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
        lines.iter().enumerate().filter(|(_, line)| fits(line.text(content).trim_ascii())).map(|(at, _)| at).collect()
    };
    let whole = find(&|line| line == hint);
    if whole.is_empty() { find(&|line| memchr::memmem::find(line, hint).is_some()) } else { whole }
}

/// A line that opens a block stands above what is in the block, any other above all that follows. It
/// belongs to what it stands above: patches repeat it as often as not.
fn scope_of(content: &[u8], lines: &Lines, head: usize) -> Range<usize> {
    let text = |at: usize| lines.get(at..at + 1).first().map_or(&b""[..], |line| line.text(content));
    let depth = |at: usize| text(at).len() - text(at).trim_ascii_start().len();
    let is_blank = |at: usize| text(at).trim_ascii().is_empty();
    let goes_on = |at: usize| {
        let first = text(at).trim_ascii_start().first();
        is_blank(at) || depth(at) > depth(head) || first.is_some_and(|byte| b"{}()[]#".contains(byte))
    };
    let next = (head + 1..lines.len())
        .find(|at| !is_blank(*at) && !b"{(".contains(text(*at).trim_ascii_start().first().unwrap_or(&b' ')));
    if next.is_none_or(|next| depth(next) <= depth(head)) {
        return head..lines.len();
    }
    head..(head + 1..lines.len()).find(|at| !goes_on(*at)).unwrap_or(lines.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below_of(content: &str, hints: &[&str]) -> Result<Vec<Range<usize>>, Misfit> {
        let hints: Vec<String> = hints.iter().map(|hint| (*hint).to_owned()).collect();
        below(content.as_bytes(), &Lines::of(content.as_bytes()), &hints)
    }

    fn one(range: Range<usize>) -> Vec<Range<usize>> {
        Vec::from([range])
    }

    #[test]
    fn blocks_end_where_their_indentation_does() {
        let python = "class A:\n    def f(\n        self,\n    ):\n        x\n\n    def g(self):\n        x\n\nclass B:\n    def f(self):\n        x\n";
        assert_eq!(below_of(python, &["class A:"]), Ok(one(0..9)));
        assert_eq!(below_of(python, &["class A:", "def g(self):"]), Ok(one(6..9)));
        assert_eq!(below_of(python, &["class A:", "def f("]), Ok(one(1..6)));
        assert_eq!(below_of(python, &["class B"]), Ok(one(9..12)));
        assert_eq!(below_of(python, &["class C"]), Err(Misfit::NoHint("class C".to_owned())));
        assert_eq!(below_of(python, &["class B:", "def g(self):"]), Err(Misfit::NoHint("def g(self):".to_owned())));
        let c = "int f(void)\n{\n    x;\n#ifdef A\n    y;\n#endif\n}\n\nint g(void)\n{\n    x;\n}\n";
        assert_eq!(below_of(c, &["int f(void)"]), Ok(one(0..8)));
        assert_eq!(below_of("import a\nimport b\nx\n", &["import a"]), Ok(one(0..3)), "it opens nothing");
        assert_eq!(below_of("a\n", &[]), Ok(one(0..1)));
    }
}
