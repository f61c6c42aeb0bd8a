//! Which pages or cells are wanted: `3`, `2-5`, `10-`.

use neco_proto::ErrorCode;
use neco_toolkit::ToolError;

/// A stretch of pages or cells, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: usize,
    /// The last; none for the end.
    pub last: Option<usize>,
}

impl Span {
    pub const ALL: Self = Self { first: 1, last: None };

    /// Reads what a model wrote.
    pub fn read(text: Option<&str>) -> Result<Self, ToolError> {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(Self::ALL) };
        let (first, last) = match text.split_once(['-', '–']) {
            Some((first, last)) => (first.trim(), Some(last.trim()).filter(|last| !last.is_empty())),
            None => (text, Some(text)),
        };
        // Whoever counts from zero means the first, and a stretch has two ends whichever comes first.
        let number = |text: &str| text.parse::<usize>().ok().map(|number| number.max(1));
        match (number(first), last.map(number)) {
            (Some(first), None) => Ok(Self { first, last: None }),
            (Some(one), Some(Some(other))) => Ok(Self { first: one.min(other), last: Some(one.max(other)) }),
            _ => Err(ToolError::new(
                ErrorCode::InvalidArguments,
                format!("pages: {text:?} is no stretch of pages; write 3, 2-5 or 10-"),
            )),
        }
    }

    /// The numbers of it that there are, out of `count`.
    pub fn of(self, count: usize) -> std::ops::RangeInclusive<usize> {
        self.first..=self.last.unwrap_or(count).min(count)
    }
}

/// `page 3`, `pages 2–5`.
pub fn stretch(what: &str, first: usize, last: usize) -> String {
    if first == last { format!("{what} {first}") } else { format!("{what}s {first}–{last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches() {
        let table = [
            (None, Some((1, None))),
            (Some(" 3 "), Some((3, Some(3)))),
            (Some("2-5"), Some((2, Some(5)))),
            (Some("10-"), Some((10, None))),
            (Some("0"), Some((1, Some(1)))),
            (Some("5-2"), Some((2, Some(5)))),
            (Some("x"), None),
        ];
        for (text, expected) in table {
            let span = Span::read(text).ok().map(|span| (span.first, span.last));
            assert_eq!(span, expected, "{text:?}");
        }
        assert_eq!(Span { first: 2, last: Some(9) }.of(4), 2..=4);
    }
}
