//! Folding styled lines to a width: at spaces, beside characters of scripts that have none, never inside a character. A tab
//! becomes blanks here: how wide the terminal would make it can't be counted. The ground of a line is that of its rows.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What stands before the first row and before the others.
#[derive(Clone, Debug, Default)]
pub struct Indent {
    /// Before the first row.
    pub first: Vec<Span<'static>>,
    /// Before each further row.
    pub rest: Vec<Span<'static>>,
}

impl Indent {
    /// `first` before the first row and as many blanks before the others.
    pub fn hanging(first: Span<'static>) -> Self {
        let blanks = " ".repeat(first.width());
        Self { first: vec![first], rest: vec![Span::raw(blanks)] }
    }

    /// The same before every row.
    pub fn all(span: Span<'static>) -> Self {
        Self { first: vec![span.clone()], rest: vec![span] }
    }
}

/// Where tabs go to: multiples of this.
const TAB: usize = 4;

/// A character as people see it, with its style.
struct Glyph<'a> {
    text: &'a str,
    style: Style,
    width: usize,
}

/// `line` in rows of at most `width` columns.
pub fn wrap(line: &Line<'_>, width: usize, indent: &Indent) -> Vec<Line<'static>> {
    fold(line, width, indent, break_at)
}

/// The same for what leaves for good: a word that is longer than a row, such as an address, stays one. The terminal
/// folds it, and whoever copies it gets it whole.
pub fn wrap_words(line: &Line<'_>, width: usize, indent: &Indent) -> Vec<Line<'static>> {
    fold(line, width, indent, break_after_word)
}

/// `line` as one row, however wide, with tabs as blanks: the terminal folds it.
pub fn unfolded(line: &Line<'_>, before: &[Span<'static>]) -> Line<'static> {
    row(before, &glyphs(line), line.style)
}

/// Where a row ends that begins at a glyph and has so many columns, and where the next one begins.
type Break = fn(&[Glyph<'_>], usize, usize) -> (usize, usize);

fn fold(line: &Line<'_>, width: usize, indent: &Indent, break_at: Break) -> Vec<Line<'static>> {
    let first = room(width, &indent.first);
    let rest = room(width, &indent.rest);
    let glyphs = glyphs(line);
    let mut rows = Vec::new();
    let mut begin = 0;
    loop {
        let limit = if rows.is_empty() { first } else { rest };
        let (end, next) = break_at(&glyphs, begin, limit);
        let before = if rows.is_empty() { &indent.first } else { &indent.rest };
        rows.push(row(before, glyphs.get(begin..end).unwrap_or_default(), line.style));
        if next >= glyphs.len() {
            return rows;
        }
        begin = next;
    }
}

/// Every line of `lines`, folded.
pub fn wrap_all(lines: &[Line<'_>], width: usize, indent: &Indent) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let further = Indent { first: indent.rest.clone(), rest: indent.rest.clone() };
        rows.extend(wrap(line, width, if index == 0 { indent } else { &further }));
    }
    rows
}

/// `line` cut to one row of at most `width` columns, with `…` where something is missing.
pub fn cut(line: &Line<'_>, width: usize) -> Line<'static> {
    let glyphs = glyphs(line);
    let all: usize = glyphs.iter().map(|glyph| glyph.width).sum();
    if all <= width {
        return row(&[], &glyphs, line.style);
    }
    let mut taken = 0;
    let fitting = glyphs.iter().take_while(|glyph| {
        taken += glyph.width;
        taken < width
    });
    let end = fitting.count();
    let mut cut = row(&[], glyphs.get(..end).unwrap_or_default(), line.style);
    let style = glyphs.get(end).map(|glyph| glyph.style).unwrap_or_default();
    cut.push_span(Span::styled("…", style));
    cut
}

/// The end of `text` in at most `width` columns, with `…` where something is missing: of a path the name is what counts.
pub fn cut_front(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut taken = 1;
    let kept = text.grapheme_indices(true).rev().take_while(|(_, grapheme)| {
        taken += grapheme.width();
        taken <= width
    });
    let begin = kept.last().map_or(text.len(), |(at, _)| at);
    format!("…{}", text.get(begin..).unwrap_or_default())
}

fn room(width: usize, before: &[Span<'_>]) -> usize {
    width.saturating_sub(before.iter().map(Span::width).sum()).max(1)
}

fn glyphs<'a>(line: &'a Line<'_>) -> Vec<Glyph<'a>> {
    let mut glyphs = Vec::new();
    let mut column = 0;
    for span in &line.spans {
        let style = line.style.patch(span.style);
        for text in span.content.graphemes(true) {
            if text == "\t" {
                let blanks = TAB - column % TAB;
                glyphs.extend((0..blanks).map(|_| Glyph { text: " ", style, width: 1 }));
                column += blanks;
            } else {
                let width = text.width();
                glyphs.push(Glyph { text, style, width });
                column += width;
            }
        }
    }
    glyphs
}

/// Whether a row has something that the terminal makes wider than it is counted.
pub fn has_tabs(row: &Line<'_>) -> bool {
    row.spans.iter().any(|span| span.content.contains('\t'))
}

/// Signs that close or follow what stands before them: no row begins with one.
const FOLLOWING: &str = "，。、．：；！？）］｝〉》」』】〕〗…‥ー々·%!,.:;?)]}”’»";

/// Signs that open what stands behind them: no row ends with one.
const OPENING: &str = "（［｛〈《「『【〔〖([{“‘«";

/// Where the row that begins at `begin` ends, and where the next one begins.
fn break_at(glyphs: &[Glyph<'_>], begin: usize, limit: usize) -> (usize, usize) {
    last_break(glyphs, begin, limit).unwrap_or_else(|index| {
        // A character that is wider than the row stands alone rather than nowhere.
        let end = index.max(begin + 1);
        (end, end)
    })
}

/// The same, but a word of a script with spaces is never broken.
fn break_after_word(glyphs: &[Glyph<'_>], begin: usize, limit: usize) -> (usize, usize) {
    last_break(glyphs, begin, limit).unwrap_or_else(|index| {
        let from = index.max(begin + 1);
        let end = (from..glyphs.len()).find(|at| may_break(glyphs, *at)).unwrap_or(glyphs.len());
        (end, after_spaces(glyphs, end))
    })
}

/// The last place where a row that begins at `begin` may end and has room, and where the next one begins then; where
/// there is none, the character that has no room.
fn last_break(glyphs: &[Glyph<'_>], begin: usize, limit: usize) -> Result<(usize, usize), usize> {
    let mut width = 0;
    let mut end = None;
    for (index, glyph) in glyphs.iter().enumerate().skip(begin) {
        if index > begin && may_break(glyphs, index) {
            end = Some(index);
        }
        width += glyph.width;
        if width > limit {
            return end.map(|end| (end, after_spaces(glyphs, end))).ok_or(index);
        }
    }
    Ok((glyphs.len(), glyphs.len()))
}

/// Whether a row may end before this glyph: it is a space, or one of the two beside the place is of a script that has
/// none and both can stand at the margin. That is what Unicode's rules say of the scripts that agents write.
fn may_break(glyphs: &[Glyph<'_>], at: usize) -> bool {
    let (Some(before), Some(glyph)) = (at.checked_sub(1).and_then(|before| glyphs.get(before)), glyphs.get(at)) else {
        return false;
    };
    if glyph.text == " " {
        return true;
    }
    let is_one_of = |glyph: &Glyph<'_>, signs: &str| glyph.text.chars().next().is_some_and(|sign| signs.contains(sign));
    before.text != " "
        && (before.width == 2 || glyph.width == 2)
        && !is_one_of(glyph, FOLLOWING)
        && !is_one_of(before, OPENING)
}

fn after_spaces(glyphs: &[Glyph<'_>], from: usize) -> usize {
    glyphs.iter().skip(from).position(|glyph| glyph.text != " ").map_or(glyphs.len(), |count| from + count)
}

fn row(before: &[Span<'static>], glyphs: &[Glyph<'_>], line: Style) -> Line<'static> {
    let mut spans = before.to_vec();
    let mut text = String::new();
    let mut style = Style::default();
    for glyph in glyphs {
        if glyph.style != style && !text.is_empty() {
            spans.push(Span::styled(std::mem::take(&mut text), style));
        }
        style = glyph.style;
        text.push_str(glyph.text);
    }
    if !text.is_empty() {
        spans.push(Span::styled(text, style));
    }
    Line::from(spans).style(Style { bg: line.bg, ..Style::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        wrap(&Line::from(text.to_owned()), width, &Indent::default()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_break_at_spaces_and_between_wide_characters() {
        assert_eq!(rows("one two three", 8), ["one two", "three"]);
        assert_eq!(rows("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(rows("漢字漢字漢", 5), ["漢字", "漢字", "漢"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows("👩‍👩‍👧 family", 3), ["👩‍👩‍👧", "fam", "ily"]);
    }

    #[test]
    fn a_long_word_that_leaves_stays_one() {
        let rows = |text: &str| -> Vec<String> {
            wrap_words(&Line::from(text.to_owned()), 8, &Indent::default()).iter().map(ToString::to_string).collect()
        };
        assert_eq!(rows("see https://neco.dev/a/b now"), ["see", "https://neco.dev/a/b", "now"]);
        assert_eq!(rows("one two three"), ["one two", "three"]);
        assert_eq!(rows("漢字漢字漢"), ["漢字漢字", "漢"]);
        assert_eq!(unfolded(&Line::from("\tlet a = 1;"), &[Span::raw("  ")]).to_string(), "      let a = 1;");
    }

    #[test]
    fn a_cut_row_says_so() {
        assert_eq!(cut(&Line::from("abcdef"), 4).to_string(), "abc…");
        assert_eq!(cut(&Line::from("abc"), 4).to_string(), "abc");
        assert_eq!(cut(&Line::from("漢字漢"), 4).to_string(), "漢…");
        assert_eq!(cut_front("src/parts/a.rs", 8), "…ts/a.rs");
        assert_eq!(cut_front("漢字漢", 4), "…漢");
        assert_eq!(cut_front("a.rs", 8), "a.rs");
    }

    #[test]
    fn a_tab_is_as_wide_as_it_is_shown() {
        assert_eq!(rows("\ta\tbc\td", 40), ["    a   bc  d"]);
        assert_eq!(rows("a\tlonger\tword", 8), ["a  ", "longer ", "word"]);
        assert_eq!(cut(&Line::from("\t\tabc"), 6).to_string(), "     …");
    }

    #[test]
    fn scripts_beside_each_other_share_their_rows() {
        let text = "The parser reads one token and 然后把它交给下一个阶段，最后 writes the tree.";
        assert_eq!(
            rows(text, 24),
            ["The parser reads one", "token and 然后把它交给下", "一个阶段，最后 writes", "the tree."]
        );
        assert_eq!(rows("一二三，四五", 6), ["一二", "三，四", "五"], "no row begins with a comma");
        assert_eq!(rows("一二（三四）", 6), ["一二", "（三", "四）"], "and none ends with what opens");
    }

    /// The columns of what can't be broken at the beginning of a text.
    fn first_unit(text: &str) -> usize {
        let mut graphemes = text.graphemes(true);
        let first = graphemes.next().unwrap_or_default();
        if first.width() == 2 {
            return 2;
        }
        first.width() + graphemes.take_while(|next| *next != " " && next.width() < 2).map(str::width).sum::<usize>()
    }

    proptest! {
        #[test]
        fn any_mix_of_scripts_fills_its_rows(words in prop::collection::vec("[a-z]{1,7}|[漢字かなカ한국]{1,6}|[а-я]{1,7}|[a-z]{1,3}[漢字]{1,3}[a-z]{1,3}", 0..24), width in 8usize..40) {
            let text = words.join(" ");
            let rows = rows(&text, width);
            let mut rest = text.as_str();
            for row in &rows {
                prop_assert!(row.as_str().width() <= width);
                let behind = rest.strip_prefix(row.as_str()).unwrap();
                rest = behind.trim_start();
                // What the next row begins with had no room in this one.
                let blank = usize::from(behind.len() > rest.len());
                prop_assert!(rest.is_empty() || row.as_str().width() + blank + first_unit(rest) > width, "{rows:?}");
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn no_row_is_too_wide_and_no_word_is_lost(text in "[a-z \t漢字é👍]{0,80}", width in 2usize..20) {
            let rows = rows(&text, width);
            prop_assert!(rows.iter().all(|row| row.as_str().width() <= width));
            let squeezed = |text: &str| text.replace([' ', '\t'], "");
            prop_assert_eq!(squeezed(&rows.concat()), squeezed(&text));
        }
    }
}
