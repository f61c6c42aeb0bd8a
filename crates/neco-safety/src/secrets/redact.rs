//! Takes secrets out of text and says so: `[redacted: GitHub token]`.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::find::{Finder, Found, KnownSecret, Scope};

const MARK: &str = "[redacted: ";
/// What is longer is not the name in one of our marks.
const LONGEST_NAME: usize = 256;
/// How much of what was handed out is looked at again as what stands before the next piece.
const CONTEXT: usize = 64;

/// Takes secrets out of text. Clones are the same redactor: what one of them learns all of them know, and they count
/// together.
///
/// ```
/// use neco_safety::secrets::{KnownSecret, Redactor, Scope};
///
/// let (redactor, text) = (Redactor::default(), "it is new-secret-value-1");
/// let elsewhere = redactor.clone();
/// redactor.learn([KnownSecret { what: "TOKEN".to_owned(), value: "new-secret-value-1".to_owned() }]);
/// assert_eq!(elsewhere.redact(text, Scope::Said), "it is [redacted: TOKEN]");
/// ```
#[derive(Clone, Default)]
pub struct Redactor(Arc<Shared>);

#[derive(Default)]
struct Shared {
    finder: RwLock<Finder>,
    count: AtomicU64,
    /// Those that know what it knows.
    heirs: Mutex<Vec<Weak<Self>>>,
}

impl Shared {
    fn learn(&self, new: Vec<KnownSecret>) {
        let mut heirs = self.heirs.lock().unwrap_or_else(PoisonError::into_inner);
        heirs.retain(|heir| heir.strong_count() > 0);
        heirs.iter().filter_map(Weak::upgrade).for_each(|heir| heir.learn(new.clone()));
        let mut finder = self.finder.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = finder.with(new) {
            *finder = more;
        }
    }
}

impl Redactor {
    /// A redactor that knows the values of some secrets besides what secrets look like. Values that
    /// are words rather than secrets are left alone: they would be taken out everywhere.
    pub fn new(known: impl IntoIterator<Item = KnownSecret>) -> Self {
        let redactor = Self::default();
        redactor.learn(known);
        redactor
    }

    /// Knows these secrets too, besides those that it knew before: what was a secret once stays hidden.
    pub fn learn(&self, known: impl IntoIterator<Item = KnownSecret>) {
        let known = known.into_iter().filter(|secret| is_worth_hiding(&secret.value));
        self.0.learn(known.flat_map(as_written).collect());
    }

    /// Another one that knows all that this one knows, now and later. What it learns besides is its own.
    #[must_use]
    pub fn heir(&self) -> Self {
        let mut heirs = self.0.heirs.lock().unwrap_or_else(PoisonError::into_inner);
        let heir = Arc::new(Shared { finder: RwLock::new(self.finder()), ..Shared::default() });
        heirs.push(Arc::downgrade(&heir));
        Self(heir)
    }

    /// Has another one know all that this one knows, now and later, besides what it knew before.
    pub fn teach(&self, heir: &Self) {
        let mut heirs = self.0.heirs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = Arc::downgrade(&heir.0);
        if Arc::ptr_eq(&self.0, &heir.0) || heirs.iter().any(|heir| heir.ptr_eq(&known)) {
            return;
        }
        heirs.push(known);
        heir.0.learn(self.finder().known().to_vec());
    }

    /// What it finds secrets with now.
    fn finder(&self) -> Finder {
        self.0.finder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many secrets were taken out so far.
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    /// The text without secrets.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str, scope: Scope) -> Cow<'a, str> {
        let mut out = String::new();
        let (mut at, finder) = (0, self.finder());
        let mut search = finder.search(text.as_bytes(), false, scope);
        while let Some(Found::Secret { start, end, what }) = search.next(at) {
            out.push_str(text.get(at..start).unwrap_or_default());
            out.push_str(&self.mark(what));
            at = end;
        }
        if at == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(at..).unwrap_or_default());
        Cow::Owned(out)
    }

    /// The same in place.
    pub fn redact_in(&self, text: &mut String, scope: Scope) {
        if let Cow::Owned(redacted) = self.redact(text, scope) {
            *text = redacted;
        }
    }

    /// The same for text that comes in pieces.
    pub fn stream(&self, scope: Scope) -> RedactedStream {
        RedactedStream { redactor: self.clone(), scope, held: Vec::new(), given: 0 }
    }

    /// The first of this redactor's marks in `new` that `old` does not have: whoever wrote it has not
    /// seen what stands there. What only looks like a mark, such as `[redacted: email]`, is none.
    pub fn unseen_mark<'a>(&self, new: &'a str, old: &str) -> Option<&'a str> {
        self.marks(new).find(|mark| !old.contains(mark))
    }

    /// The marks in a text that this redactor may have made.
    pub fn marks<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let finder = self.finder();
        text.match_indices(MARK).filter_map(move |(at, _)| {
            let rest = text.get(at + MARK.len()..)?;
            let near = rest.get(..rest.floor_char_boundary(LONGEST_NAME + 1))?;
            let what = near.get(..near.find(']')?)?;
            finder.names(what).then(|| text.get(at..at + MARK.len() + what.len() + 1)).flatten()
        })
    }

    fn mark(&self, what: &str) -> String {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        format!("{MARK}{what}]")
    }
}

/// Text that comes in pieces, without secrets: what may be the beginning of one is held back until it
/// is known, some 16 kB at most.
pub struct RedactedStream {
    redactor: Redactor,
    scope: Scope,
    held: Vec<u8>,
    /// How many bytes of `held` were handed out already.
    given: usize,
}

impl RedactedStream {
    /// Takes the next piece; gives what is certain.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(piece);
        self.give(true)
    }

    /// Gives what was held back; begins anew.
    pub fn finish(&mut self) -> Vec<u8> {
        let rest = self.give(false);
        self.held.clear();
        self.given = 0;
        rest
    }

    /// The same as [`RedactedStream::push`] for text.
    pub fn push_str(&mut self, piece: &str) -> String {
        text(self.push(piece.as_bytes()))
    }

    /// The same as [`RedactedStream::finish`] for text.
    pub fn finish_str(&mut self) -> String {
        text(self.finish())
    }

    fn give(&mut self, more: bool) -> Vec<u8> {
        let mut out = Vec::new();
        let (mut at, held, finder) = (self.given, &self.held, self.redactor.finder());
        let mut search = finder.search(held, more, self.scope);
        let certain = loop {
            match search.next(at) {
                Some(Found::Secret { start, end, what }) => {
                    out.extend_from_slice(held.get(at..start).unwrap_or_default());
                    out.extend_from_slice(self.redactor.mark(what).as_bytes());
                    at = end;
                }
                Some(Found::Open(start)) => break start.max(at),
                None if more => break finder.beginning(held, self.scope).max(at),
                None => break held.len(),
            }
        };
        out.extend_from_slice(held.get(at..certain).unwrap_or_default());
        let forgotten = certain.saturating_sub(CONTEXT);
        self.held.drain(..forgotten);
        self.given = certain - forgotten;
        out
    }
}

/// Pieces of text are cut at whole characters only.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A secret as it stands in plain text and in JSON, where quotes, backslashes and controls are escaped,
/// by some writers everything that is not ASCII too.
fn as_written(secret: KnownSecret) -> Vec<KnownSecret> {
    let json = serde_json::Value::from(secret.value.as_str()).to_string();
    let json = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or_default().to_owned();
    let ascii = json.chars().fold(String::new(), |mut ascii, char| {
        match char.is_ascii() {
            true => ascii.push(char),
            false => {
                let units =
                    char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
                ascii.push_str(&units);
            }
        }
        ascii
    });
    let values = [json, ascii].into_iter().filter(|value| !value.is_empty() && *value != secret.value);
    let escaped: Vec<_> = values.map(|value| KnownSecret { what: secret.what.clone(), value }).collect();
    std::iter::once(secret).chain(escaped).collect()
}

/// A value that may also be an ordinary word, number or path is not looked for.
fn is_worth_hiding(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_path = value.starts_with('/') || value.starts_with("./") || value.starts_with('~');
    let has = |is: fn(&u8) -> bool| bytes.iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    bytes.len() >= 8 && !is_path && (bytes.len() >= 24 || is_mixed)
}
