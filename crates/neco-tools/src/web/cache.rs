//! Pages that were read a short while ago.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::page::Page;

/// How long a page is good for.
pub(super) const FRESH: Duration = Duration::from_secs(15 * 60);

/// Pages, and bytes of them, that are kept.
const MOST_PAGES: usize = 50;
const MOST_BYTES: usize = 20_000_000;

/// The pages of one agent, the newest last.
#[derive(Default)]
pub(super) struct Cache(Mutex<VecDeque<Kept>>);

struct Kept {
    address: String,
    read: Instant,
    page: Arc<Page>,
}

impl Cache {
    /// The page that was read from an address.
    pub(super) fn get(&self, address: &str, now: Instant) -> Option<Arc<Page>> {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| now.duration_since(kept.read) < FRESH);
        pages.iter().find(|kept| kept.address == address).map(|kept| Arc::clone(&kept.page))
    }

    /// Keeps a page; the oldest go where there is no room.
    pub(super) fn put(&self, address: String, page: Arc<Page>, now: Instant) {
        let mut pages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pages.retain(|kept| kept.address != address);
        pages.push_back(Kept { address, read: now, page });
        while pages.len() > MOST_PAGES || pages.iter().map(|kept| kept.page.text.len()).sum::<usize>() > MOST_BYTES {
            pages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: String) -> Arc<Page> {
        Arc::new(Page { url: String::new(), title: None, text, cut: false })
    }

    #[test]
    fn a_page_is_kept_for_a_while_and_not_for_ever() {
        let (cache, now) = (Cache::default(), Instant::now());
        cache.put("a".to_owned(), page("1".to_owned()), now);
        cache.put("a".to_owned(), page("2".to_owned()), now);
        assert_eq!(cache.get("a", now + FRESH - Duration::from_secs(1)).unwrap().text, "2");
        assert!(cache.get("b", now).is_none());
        assert!(cache.get("a", now + FRESH).is_none());
    }

    #[test]
    fn the_oldest_pages_go_first() {
        let (cache, now) = (Cache::default(), Instant::now());
        for number in 0..MOST_PAGES + 1 {
            cache.put(number.to_string(), page(String::new()), now);
        }
        assert!(cache.get("0", now).is_none() && cache.get("1", now).is_some());
        cache.put("big".to_owned(), page("x".repeat(MOST_BYTES)), now);
        cache.put("small".to_owned(), page("x".to_owned()), now);
        assert!(cache.get("big", now).is_none() && cache.get("small", now).is_some());
    }
}
