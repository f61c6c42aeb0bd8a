//! Pages of lists: a limit, and a cursor that says where the page before ended.

use neco_proto::app::{AppError, Page};

use crate::error::invalid;

/// A page of a list.
pub(crate) struct Paged<T> {
    pub items: Vec<T>,
    /// How many more there are.
    pub more: usize,
    /// The cursor of the page that follows, where there are more.
    pub next: Option<String>,
}

/// The page that is wanted. `place` tells of an item a number that never grows along the list, and its id: the item of a
/// cursor may have moved or be gone meanwhile, and then its number says where the page ended.
pub(crate) fn page<T>(
    mut items: Vec<T>,
    wanted: &Page,
    place: impl Fn(&T) -> (i64, String),
) -> Result<Paged<T>, AppError> {
    if let Some(cursor) = &wanted.cursor {
        let last = read(cursor)?;
        let after = items.iter().position(|item| place(item) == last).map(|at| at + 1);
        let after = after.or_else(|| items.iter().position(|item| place(item).0 < last.0));
        items.drain(..after.unwrap_or(items.len()));
    }
    // A page without items could not say where it ended.
    let limit = wanted.limit.unwrap_or(usize::MAX).max(1);
    let more = items.len().saturating_sub(limit);
    items.truncate(limit);
    let next = items.last().filter(|_| more > 0).map(place).map(|(number, id)| format!("{number}.{id}"));
    Ok(Paged { items, more, next })
}

fn read(cursor: &str) -> Result<(i64, String), AppError> {
    let read = cursor.split_once('.').and_then(|(number, id)| Some((number.parse().ok()?, id.to_owned())));
    read.ok_or_else(|| invalid(format!("{cursor} is no cursor of a list")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_nothing_has_one_item_and_goes_on() {
        let wanted = Page { limit: Some(0), ..Page::default() };
        let paged = page(vec![3, 2], &wanted, |number| (*number, number.to_string())).unwrap();
        assert_eq!((paged.items, paged.more, paged.next.as_deref()), (vec![3], 1, Some("3.3")));
    }
}
