//! What was written before, for the arrow keys and for a search.

/// Messages that are kept.
const MOST: usize = 1000;

/// What was written before, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<String>,
    /// Which one is shown, and what was being written before.
    at: Option<(usize, String)>,
}

impl History {
    /// With what earlier windows left.
    pub fn new(entries: Vec<String>) -> Self {
        Self { entries, at: None }
    }

    /// Something was sent.
    pub fn push(&mut self, text: &str) {
        self.at = None;
        self.entries.retain(|entry| entry != text);
        self.entries.push(text.to_owned());
        if self.entries.len() > MOST {
            self.entries.remove(0);
        }
    }

    /// The one before the one that is shown; `present` comes back at the end of the way.
    pub fn older(&mut self, present: &str) -> Option<&str> {
        let index = match &self.at {
            Some((index, _)) => index.checked_sub(1)?,
            None => self.entries.len().checked_sub(1)?,
        };
        let draft = self.at.take().map_or_else(|| present.to_owned(), |(_, draft)| draft);
        self.at = Some((index, draft));
        self.entries.get(index).map(String::as_str)
    }

    /// The one after the one that is shown, or what was being written.
    pub fn newer(&mut self) -> Option<String> {
        let (index, draft) = self.at.take()?;
        match self.entries.get(index + 1) {
            Some(entry) => {
                self.at = Some((index + 1, draft));
                Some(entry.clone())
            }
            None => Some(draft),
        }
    }

    /// Something was changed: the arrows begin at the end again.
    pub fn leave(&mut self) {
        self.at = None;
    }

    /// The newest that holds `words`, after skipping `skip` of them.
    pub fn search(&self, words: &str, skip: usize) -> Option<&str> {
        let words = words.to_lowercase();
        self.entries.iter().rev().filter(|entry| entry.to_lowercase().contains(&words)).nth(skip).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_draft_comes_back() {
        let mut history = History::new(vec!["one".into(), "two".into()]);
        assert_eq!(history.older("draft"), Some("two"));
        assert_eq!(history.older("two"), Some("one"));
        assert_eq!(history.older("one"), None);
        assert_eq!(history.newer().as_deref(), Some("two"));
        assert_eq!(history.newer().as_deref(), Some("draft"));
        assert_eq!(history.newer(), None);
        assert_eq!(history.search("ON", 0), Some("one"));
    }
}
