//! The order of readings: exact first, then looser ones, each only if exactly one place fits.

use std::ops::Range;

use super::closest::{self, Closest};
use super::lines::{Lines, OldText, line_numbers};
use super::wrapped::{Marks, Unwrapped, unwrapped, without_marks_in_new};
use super::{escapes, exact, indentation, trailing};

/// More places than this are not looked for.
pub const MOST_PLACES: usize = 1000;
/// A content that would become longer is not made.
pub(in crate::files) const MOST_BYTES: usize = 64 * 1024 * 1024;
/// How many places are looked at between two looks at whether to stop.
pub(in crate::files) const LOOK_AFTER: usize = 256;

/// Says whether to give up.
pub(in crate::files) type Stop<'a> = dyn Fn() -> bool + 'a;

#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    /// The text to be replaced.
    pub old: &'a str,
    /// What comes in its place.
    pub new: &'a str,
    /// Whether every occurrence is meant.
    pub all: bool,
}

/// How the text had to be read to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    Exact,
    /// With other line endings.
    LineEndings,
    /// Without regard to white space at the ends of lines.
    TrailingSpace,
    /// Shifted as a whole.
    Indentation,
    /// With `\n`, `\t`, `\"` and the like written out.
    Escapes,
    /// Without what was put around it: blank lines, code fences, marks of a search-and-replace block.
    Wrapping,
    /// In one of the looser ways, and the new text was taken without marks of a search-and-replace block around it.
    NewMarks,
}

/// A successful replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new content.
    pub content: Vec<u8>,
    /// How the text was found.
    pub fit: Fit,
    /// How many places were replaced.
    pub count: usize,
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq)]
pub enum Misfit {
    /// The text is nowhere; this is what comes nearest.
    NotFound(Option<Closest>),
    /// The text is in several places.
    NotUnique {
        /// How it was read.
        fit: Fit,
        /// How many places there are; not more than [`MOST_PLACES`] are counted.
        count: usize,
        /// The lines where the first of them begin.
        lines: Vec<usize>,
    },
    /// The content would become too long.
    TooLong,
    /// It was told to stop.
    Stopped,
}

/// A place that fits and the text for it, adapted to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub range: Range<usize>,
    pub new: Vec<u8>,
}

/// Places that fit one reading, in the order of the content.
#[derive(Debug, Default)]
pub(super) struct Places {
    starts: Vec<usize>,
    /// Only one place is ever used, so only the first is worked out.
    first: Option<Place>,
}

impl Places {
    pub fn add(&mut self, start: usize, place: impl FnOnce() -> Place) {
        self.starts.push(start);
        self.first.get_or_insert_with(place);
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Whether looking for more makes no difference.
    pub fn is_full(&self) -> bool {
        self.starts.len() >= MOST_PLACES
    }
}

/// Replaces `old` by `new` in `content`, unless `stop` says to give up.
/// Fails when no place fits, or several do.
pub fn apply(content: &[u8], replacement: &Replacement<'_>, stop: &Stop<'_>) -> Result<Edited, Misfit> {
    if replacement.old.is_empty() {
        return Err(Misfit::NotFound(None));
    }
    if replacement.all
        && let Some(edited) = exact::replace_all(content, replacement, stop)?
    {
        return Ok(edited);
    }
    let exact = exact::find(content, replacement.old, replacement.new);
    if !exact.is_empty() {
        return take(content, exact, Fit::Exact);
    }
    // What is found exactly is replaced by exactly what was given; only beyond that the new text is looked into.
    let marks = Marks::of(content);
    let plain = without_marks_in_new(replacement.old, replacement.new, marks);
    let replacement = &Replacement { new: plain.as_deref().unwrap_or(replacement.new), ..*replacement };
    let lines = Lines::of(content);
    for (fit, find) in LOOSER {
        let places = find(content, &lines, replacement, stop);
        if stop() {
            return Err(Misfit::Stopped);
        }
        if !places.is_empty() {
            let told = |edited: Edited| if plain.is_some() { Edited { fit: Fit::NewMarks, ..edited } } else { edited };
            return take(content, places, fit).map(told);
        }
    }
    let layers = unwrapped(replacement.old, replacement.new, marks);
    for Unwrapped { old, new } in &layers {
        let places = in_whole_lines(content, &lines, &Replacement { old, new, all: false }, stop);
        if stop() {
            return Err(Misfit::Stopped);
        }
        if !places.is_empty() {
            return take(content, places, Fit::Wrapping);
        }
    }
    let old = layers.last().map_or(replacement.old, |inner| inner.old.as_str());
    Err(Misfit::NotFound(closest::find(content, &lines, &OldText::of(old))))
}

/// What something was put around has whole lines in it, so a part of a line is none of its places.
fn in_whole_lines(content: &[u8], lines: &Lines, replacement: &Replacement<'_>, stop: &Stop<'_>) -> Places {
    let places = indentation::find(content, lines, replacement, stop);
    if places.is_empty() { trailing::find(content, lines, replacement, stop) } else { places }
}

type Find = fn(&[u8], &Lines, &Replacement<'_>, &Stop<'_>) -> Places;

const LOOSER: [(Fit, Find); 4] = [
    (Fit::LineEndings, |content, _, replacement, _| {
        exact::find_with_any_line_ending(content, replacement.old, replacement.new)
    }),
    (Fit::TrailingSpace, trailing::find),
    (Fit::Indentation, indentation::find),
    (Fit::Escapes, |content, _, replacement, _| escapes::find(content, replacement)),
];

fn take(content: &[u8], places: Places, fit: Fit) -> Result<Edited, Misfit> {
    match (places.first, places.starts.len()) {
        (Some(place), 1) => {
            let (before, after) = around(content, &place.range);
            Ok(Edited { content: [before, &place.new, after].concat(), fit, count: 1 })
        }
        (_, count) => Err(Misfit::NotUnique { fit, count, lines: line_numbers(content, &places.starts) }),
    }
}

fn around<'a>(content: &'a [u8], range: &Range<usize>) -> (&'a [u8], &'a [u8]) {
    (content.get(..range.start).unwrap_or_default(), content.get(range.end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::lines::Endings;
    use super::*;

    fn edit<'a>(old: &'a str, new: &'a str) -> Replacement<'a> {
        Replacement { old, new, all: false }
    }

    fn done(content: &str, old: &str, new: &str) -> (String, Fit) {
        let edited = apply(content.as_bytes(), &edit(old, new), &|| false)
            .unwrap_or_else(|misfit| panic!("{old:?}: {misfit:?}"));
        (String::from_utf8(edited.content).unwrap(), edited.fit)
    }

    #[test]
    fn each_reading_does_what_it_says() {
        let table = [
            // content, old, new, expected, fit
            ("let a = 1;\nlet b = 2;\n", "a = 1", "a = 9", "let a = 9;\nlet b = 2;\n", Fit::Exact),
            ("one\r\ntwo\r\nthree\r\n", "two", "2\ntwice", "one\r\n2\r\ntwice\r\nthree\r\n", Fit::Exact),
            ("one\ntwo\n", "two", "2\r\ntwice", "one\n2\ntwice\n", Fit::Exact),
            ("one", "one", "1\r\n2", "1\r\n2", Fit::Exact),
            ("one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", "1\r\n2\r\nthree\r\n", Fit::LineEndings),
            ("one\r\ntwo\r\n", "one\ntwo\n", "1\n", "1\r\n", Fit::LineEndings),
            ("one\ntwo\n", "one\r\ntwo\r\n", "1\r\n2\r\n", "1\n2\n", Fit::LineEndings),
            ("if a {  \n    b\t\n}\n", "if a {\n    b\n}", "c", "c\n", Fit::TrailingSpace),
            ("fn x() {\n    a\n}\n", "fn x() { \n    a  \n}\n", "gone\n", "gone\n", Fit::TrailingSpace),
            ("x\nlast line", "last line\n", "end\n", "x\nend", Fit::TrailingSpace),
            ("    call(a,  \n        b)\n", "call(a,\n        b)", "call(c)", "    call(c)\n", Fit::TrailingSpace),
            (
                "        if a {\n            b\n        }\n",
                "if a {\n    b\n}",
                "if c {\n    d\n}",
                "        if c {\n            d\n        }\n",
                Fit::Indentation,
            ),
            (
                "if a {\n    b\n}\n",
                "    if a {\n        b\n    }\n",
                "    if c {\n\n        d\n    }\n",
                "if c {\n\n    d\n}\n",
                Fit::Indentation,
            ),
            (
                "\tif a {\n\t\tb\n\t}\n",
                "    if a {\n        b\n    }",
                "    if a {\n        b\n        c\n    }",
                "\tif a {\n\t\tb\n\t\tc\n\t}\n",
                Fit::Indentation,
            ),
            ("  if a {\n    b\n  }\n", "\tif a {\n\t\tb\n\t}", "\tc", "  c\n", Fit::Indentation),
            (
                "\tif a {\r\n\t\tb\r\n\t}\r\n",
                "  if a {\n    b\n  }",
                "  c\n    d",
                "\tc\r\n\t\td\r\n",
                Fit::Indentation,
            ),
            ("say(\"hi\");\n", "say(\\\"hi\\\");", "say(\\\"a\\nb\\\");", "say(\"a\\nb\");\n", Fit::Escapes),
            ("one\n\ttwo\n", "one\\n\\ttwo", "1\\n\\t2", "1\n\t2\n", Fit::Escapes),
            ("one\r\ntwo\r\n", "one\\ntwo", "1\\n2", "1\r\n2\r\n", Fit::Escapes),
            (
                "def f():\n    if a:\n        b\n    c\n",
                "def f():\n  if a:\n    b\n  c\n",
                "def f():\n  if a:\n    b\n    d(1,\n      2)\n  c\n",
                "def f():\n    if a:\n        b\n        d(1,\n            2)\n    c\n",
                Fit::Indentation,
            ),
            (
                "{\n  a {\n    b\n  }\n}\n",
                "    a {\n        b\n    }",
                "    a {\n        b\n        c {\n            d\n        }\n    }",
                "{\n  a {\n    b\n    c {\n      d\n    }\n  }\n}\n",
                Fit::Indentation,
            ),
            (
                "\t\tif a {\n\t\t\tb\n\t\t}\n",
                "if a {\n  b\n}",
                "if a {\n  b\n  c\n}\nd",
                "\t\tif a {\n\t\t\tb\n\t\t\tc\n\t\t}\n\t\td\n",
                Fit::Indentation,
            ),
            ("x\none\ntwo\ny\n", "\n\none\ntwo\n\n", "\n\n1\n\n", "x\n1\ny\n", Fit::Wrapping),
            ("  one\n", "```js\none\n```", "```js\n1\n2\n```", "  1\n  2\n", Fit::Wrapping),
            ("a\nb\n", "<<<<<<< SEARCH\na\n=======\nc\n>>>>>>> REPLACE", "", "c\nb\n", Fit::Wrapping),
            ("a\nb\n", "a", "c\n>>>>>>> REPLACE", "c\n>>>>>>> REPLACE\nb\n", Fit::Exact),
            ("a  \nb\nx\n", "a\nb", "c\n>>>>>>> REPLACE", "c\nx\n", Fit::NewMarks),
        ];
        for (content, old, new, expected, fit) in table {
            assert_eq!(done(content, old, new), (expected.to_owned(), fit), "{old:?} in {content:?}");
        }
    }

    #[test]
    fn a_text_about_blocks_is_written_as_it_is() {
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        let two = format!("{block}and\n{block}");
        let written = format!("before\n{two}after\n");
        assert_eq!(done("before\nPLACE\nafter\n", "PLACE\n", &two), (written.clone(), Fit::Exact));
        assert_eq!(done("before\nPLACE  \nafter\n", "before\nPLACE\n", &format!("before\n{two}")).0, written);
        let (found, _) = done(&format!("x  \ny\n{block}"), "x\ny\n", "z\n>>>>>>> REPLACE\n");
        assert_eq!(found, format!("z\n>>>>>>> REPLACE\n{block}"), "the file has such marks");
    }

    #[test]
    fn a_wrong_place_is_never_taken() {
        let table = [
            // Nearly the same, but not by one of the readings.
            ("foo(1);\nfoo(2);\n", "foo(3);"),
            ("total = sum(a)\n", "total = sum(b)"),
            ("myfoo\nbar\n", "foo  \nbar"),
            ("foo\nbarn\n", "foo \nbar"),
            ("returns\n", "return "),
            // A shift that is not the same for all lines changes the meaning.
            ("if a:\n        b\n    c\n", "if a:\n    b\n    c"),
            ("}\n", "        }"),
            ("a\n\nb\n", "a\nb"),
            ("A = 1\n", "a = 1"),
            // Steps of indentation that are not the same everywhere.
            ("if a:\n    b\n      c\n", "if a:\n  b\n    c"),
            ("if a:\n    if b:\n        c\n    d\n", "if a:\n  if b:\n    c\n    d"),
            // Only whole lines are meant by what stands between blank lines or fences.
            ("myfoo\nbar\n", "\nfoo\n"),
            ("foo()\n", "```\nfoo\n```"),
            ("a\nb\n", "\na\n\nb\n"),
            ("", "x"),
            ("x", ""),
        ];
        for (content, old) in table {
            let result = apply(content.as_bytes(), &edit(old, "WRONG"), &|| false);
            assert!(matches!(result, Err(Misfit::NotFound(_))), "{old:?} in {content:?}: {result:?}");
        }
    }

    #[test]
    fn several_places_are_counted_and_named_at_every_reading() {
        let table = [
            ("a\nb\na\nc\na\n", "a", Fit::Exact, 3, vec![1, 3, 5]),
            ("aaa", "aa", Fit::Exact, 2, vec![1, 1]),
            ("x\r\ny\r\nx\r\ny\r\n", "x\ny\n", Fit::LineEndings, 2, vec![1, 3]),
            ("x = 1 \ny\nx = 1\t\ny\n", "x = 1\ny", Fit::TrailingSpace, 2, vec![1, 3]),
            ("  if a {\n    b\n  }\n    if a {\n      b\n    }\n", "if a {\n  b\n}", Fit::Indentation, 2, vec![1, 4]),
            ("\"x\"\n\"x\"\n", "\\\"x\\\"", Fit::Escapes, 2, vec![1, 2]),
        ];
        for (content, old, fit, count, lines) in table {
            let misfit = apply(content.as_bytes(), &edit(old, ""), &|| false).unwrap_err();
            assert_eq!(misfit, Misfit::NotUnique { fit, count, lines }, "{old:?} in {content:?}");
        }
    }

    #[test]
    fn all_occurrences_are_replaced_only_when_exact() {
        let all = |content: &str, old, new| apply(content.as_bytes(), &Replacement { old, new, all: true }, &|| false);
        let edited = all("a b a\r\na", "a", "c\nd").unwrap();
        assert_eq!((edited.content.as_slice(), edited.count), (&b"c\r\nd b c\r\nd\r\nc\r\nd"[..], 3));
        assert!(matches!(all("x \ny\nx\t\ny\n", "x\ny", ""), Err(Misfit::NotUnique { count: 2, .. })));
        assert_eq!(all("x \ny\n", "x\ny", "z").unwrap().fit, Fit::TrailingSpace);
    }

    #[test]
    fn a_long_line_is_replaced_in_one_pass() {
        // Half a megabyte in one line with thousands of places: quadratic work would take minutes.
        let content = "{\"a\":1},".repeat(50_000);
        let edited = apply(content.as_bytes(), &Replacement { old: "a", new: "b\n", all: true }, &|| false).unwrap();
        assert_eq!((edited.count, edited.content.len()), (50_000, content.len() + 50_000));
        let misfit = apply(content.as_bytes(), &edit("\"a\"", "b\n"), &|| false).unwrap_err();
        assert!(matches!(&misfit, Misfit::NotUnique { count: MOST_PLACES, lines, .. } if lines.len() == MOST_PLACES));
        let same = "a".repeat(60_000);
        let misfit = apply(same.as_bytes(), &edit(&same[..30_000], ""), &|| false).unwrap_err();
        assert!(matches!(misfit, Misfit::NotUnique { count: MOST_PLACES, .. }));
        let lines = "    x\n".repeat(20_000);
        let misfit = apply(lines.as_bytes(), &edit("x  ", &"y\n".repeat(20_000)), &|| false).unwrap_err();
        assert!(matches!(misfit, Misfit::NotUnique { count: MOST_PLACES, .. }));
    }

    #[test]
    fn it_stops_when_told_and_before_it_grows_without_end() {
        let content = "x y\n".repeat(10_000);
        for (old, all) in [("x", true), ("z  \nw", false)] {
            let result = apply(content.as_bytes(), &Replacement { old, new: "", all }, &|| true);
            assert_eq!(result, Err(Misfit::Stopped), "{old:?}");
        }
        let long = "n".repeat(10_000_000);
        let result = apply(content.as_bytes(), &Replacement { old: "x", new: &long, all: true }, &|| false);
        assert_eq!(result, Err(Misfit::TooLong));
    }

    #[test]
    fn line_endings_are_told_for_every_place() {
        let content = b"a\r\nb\nc a\r\na a";
        let mut endings = Endings::of(content);
        for start in 0..=content.len() {
            assert_eq!(endings.is_crlf_at(start), Endings::of(content).is_crlf_at(start), "{start}");
        }
        assert!(Endings::of(content).is_crlf_at(0) && !Endings::of(content).is_crlf_at(3));
        assert!(endings.is_crlf_at(content.len()), "the last ending before it decides");
    }

    #[test]
    fn the_closest_place_is_shown_as_it_is() {
        let content = "fn one() {\n    alpha(1);\n}\n\nfn two() {\n    beta(22, 33);\n    gamma();\n}\n";
        let Err(Misfit::NotFound(Some(closest))) =
            apply(content.as_bytes(), &edit("fn two() {\n    beta(22, 34);\n    gamma();\n}", ""), &|| false)
        else {
            panic!("there is a near place")
        };
        assert_eq!(closest.lines, 5..9);
        assert!(closest.text.starts_with(b"fn two() {"));
        assert_eq!(closest.difference, Some((6, "    beta(22, 33);".to_owned(), "    beta(22, 34);".to_owned())));
        let Err(Misfit::NotFound(Some(closest))) = apply(content.as_bytes(), &edit("bta(22,33);", ""), &|| false)
        else {
            panic!("one line is near")
        };
        assert_eq!(closest.lines, 6..7);
        assert_eq!(apply(content.as_bytes(), &edit("quite 別 different", ""), &|| false), Err(Misfit::NotFound(None)));
    }

    mod properties {
        use proptest::prelude::*;

        use super::*;

        fn texts() -> impl Strategy<Value = String> {
            proptest::collection::vec(
                prop_oneof![
                    Just("\n"),
                    Just("\r\n"),
                    Just("  "),
                    Just("\t"),
                    Just("foo"),
                    Just("}"),
                    Just("\\n"),
                    Just("\""),
                    Just("é別"),
                    Just("a")
                ],
                0..24,
            )
            .prop_map(|parts| parts.concat())
        }

        proptest! {
            #[test]
            fn a_unique_text_is_replaced_exactly(before in texts(), old in texts(), after in texts(), new in texts()) {
                prop_assume!(!old.is_empty());
                let content = format!("{before}{old}{after}");
                let unique = content.match_indices(&old).count() == 1
                    && content.char_indices().filter(|(at, _)| content[*at..].starts_with(&old)).count() == 1;
                prop_assume!(unique);
                let edited = apply(content.as_bytes(), &Replacement { old: &old, new: &new, all: false }, &|| false).unwrap();
                prop_assert_eq!(edited.fit, Fit::Exact);
                let middle = edited.content.strip_prefix(before.as_bytes()).and_then(|rest| rest.strip_suffix(after.as_bytes()));
                let middle = middle.map(|middle| String::from_utf8(middle.to_vec()).unwrap());
                if content.contains('\n') {
                    // Only line endings may be adapted.
                    prop_assert_eq!(middle.map(|text| text.replace("\r\n", "\n")), Some(new.replace("\r\n", "\n")));
                } else {
                    prop_assert_eq!(middle, Some(new));
                }
            }

            #[test]
            fn whatever_fits_changes_one_stretch_only(content in texts(), old in texts(), all in any::<bool>()) {
                let marker = "⟦new⟧";
                if let Ok(edited) = apply(content.as_bytes(), &Replacement { old: &old, new: marker, all }, &|| false) {
                    let text = String::from_utf8(edited.content).unwrap();
                    let pieces: Vec<&str> = text.split(marker).collect();
                    prop_assert_eq!(pieces.len(), edited.count + 1);
                    prop_assert!(content.starts_with(pieces[0].trim_end_matches([' ', '\t'])));
                    prop_assert!(content.ends_with(pieces[pieces.len() - 1]));
                }
            }

            #[test]
            fn any_bytes_at_all(content in proptest::collection::vec(any::<u8>(), 0..200), old in any::<String>(), new in any::<String>(), all in any::<bool>()) {
                let _ = apply(&content, &Replacement { old: &old, new: &new, all }, &|| false);
            }

            #[test]
            fn bytes_that_are_no_text_survive(noise in proptest::collection::vec(0x80_u8..=0xff, 1..40)) {
                let content = [noise.as_slice(), b"\nneedle\n", noise.as_slice()].concat();
                let edited = apply(&content, &Replacement { old: "needle", new: "pin", all: false }, &|| false).unwrap();
                prop_assert_eq!(edited.content, [noise.as_slice(), b"\npin\n", noise.as_slice()].concat());
            }
        }
    }
}
