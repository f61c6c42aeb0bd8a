//! All of what is asked about, where there is no room for it at once: it unfolds and scrolls.

/// Whether all of it is shown in place of its beginning, and how much of that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Details {
    /// Rows that were scrolled past, while all of it is shown.
    from: Option<usize>,
    /// Rows that were shown last.
    page: usize,
}

impl Details {
    /// All of it takes the place of its beginning, or gives it back.
    pub fn toggle(&mut self) {
        self.from = if self.from.is_some() { None } else { Some(0) };
    }

    /// Whether all of it is shown.
    pub fn is_whole(&self) -> bool {
        self.from.is_some()
    }

    /// Scrolls a page; false when only its beginning is shown.
    pub fn scroll(&mut self, down: bool) -> bool {
        let Some(from) = &mut self.from else { return false };
        let page = self.page.saturating_sub(1).max(1);
        *from = if down { *from + page } else { from.saturating_sub(page) };
        true
    }

    /// The first row that is seen where `most` of `all` have room.
    pub(super) fn first(&mut self, all: usize, most: usize) -> usize {
        self.page = most;
        self.from = self.from.map(|from| from.min(all.saturating_sub(most)));
        self.from.unwrap_or_default()
    }

    /// Which rows are seen of `all`, and the keys that show others.
    pub(super) fn seen(&self, all: usize) -> String {
        let from = self.from.unwrap_or_default();
        format!("rows {} to {} of {all} · PgUp PgDn", from + 1, (from + self.page).min(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_scrolls_by_pages_and_not_past_its_end() {
        let mut details = Details::default();
        assert_eq!((details.first(30, 10), details.is_whole(), details.scroll(true)), (0, false, false));
        details.toggle();
        assert_eq!((details.first(30, 10), details.seen(30).as_str()), (0, "rows 1 to 10 of 30 · PgUp PgDn"));
        assert!(details.scroll(true));
        assert_eq!(details.first(30, 10), 9, "a row of the page before is seen again");
        assert!(details.scroll(true) && details.scroll(true));
        assert_eq!((details.first(30, 10), details.seen(30).as_str()), (20, "rows 21 to 30 of 30 · PgUp PgDn"));
        assert_eq!(details.first(30, 40), 0, "all of it has room now");
        details.toggle();
        assert!(!details.is_whole());
    }
}
