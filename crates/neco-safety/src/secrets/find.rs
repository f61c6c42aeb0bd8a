//! Finds secrets in text.
//!
//! One automaton runs over the text and stops only where one of a few dozen words stands that secrets
//! begin with or are named by; what stands there is then judged.

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::cost::looked_at;
use super::key_shape::{SHAPES, Shape};
use super::{assigned, elsewhere};

/// What is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything that looks like a secret: for what comes from files and commands.
    Outside,
    /// Only what can be nothing else: known values, well-known keys, private keys. For what people and
    /// the model write, where a guess would hide what somebody has to judge.
    Said,
}

/// A secret whose value is known.
#[derive(Clone)]
pub struct KnownSecret {
    /// What it is called where it was taken out, such as the name of its variable.
    pub what: String,
    /// The secret.
    pub value: String,
}

/// What stands at a place where a secret may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No secret.
    No,
    /// A secret.
    Secret { start: usize, end: usize },
    /// It depends on what comes after the end of the text.
    Open,
    /// The same, and what decides begins here.
    OpenFrom(usize),
    /// No secret, and nothing before this place is one for its name.
    NoneNamedBefore(usize),
}

#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    /// A secret.
    Secret { start: usize, end: usize, what: &'a str },
    /// What may become one when more text comes.
    Open(usize),
}

/// For what is longer it pays to make the faster automaton.
const SHORT: usize = 2048;

/// What stands at a place where the automaton stops.
#[derive(Clone, Copy)]
enum Anchor {
    Shape(&'static Shape),
    PrivateKey,
    SignedToken,
    Password,
    Bearer,
    Basic,
    BotToken,
    Named,
}

impl Anchor {
    fn what(self) -> &'static str {
        match self {
            Self::Shape(shape) => shape.what,
            Self::PrivateKey => "private key",
            Self::SignedToken => "JWT",
            Self::Password => "password",
            Self::Bearer => "bearer token",
            Self::Basic => "credentials",
            Self::BotToken => "Telegram token",
            Self::Named => "secret",
        }
    }

    fn is_certain(self) -> bool {
        match self {
            Self::Shape(_) | Self::PrivateKey | Self::SignedToken => true,
            Self::Password | Self::Bearer | Self::Basic | Self::BotToken | Self::Named => false,
        }
    }

    fn judge(self, text: &[u8], at: usize, end: usize, more: bool) -> Verdict {
        match self {
            Self::Shape(shape) => shape.judge(text, at, more),
            Self::PrivateKey => elsewhere::private_key(text, at, more),
            Self::SignedToken => elsewhere::signed_token(text, at, more),
            Self::Password => elsewhere::password(text, at, more),
            Self::Bearer => elsewhere::bearer(text, end, more),
            Self::Basic => elsewhere::basic(text, at, end, more),
            Self::BotToken => elsewhere::bot_token(text, at, more),
            Self::Named => assigned::judge(text, at, end, more),
        }
    }
}

/// The words that secrets begin with or are named by, and what they lead to. Longer ones first.
fn words() -> Vec<(&'static str, Anchor)> {
    let shapes = SHAPES.iter().map(|shape| (shape.prefix, Anchor::Shape(shape)));
    let others = [
        (elsewhere::PEM_BEGIN, Anchor::PrivateKey),
        ("eyJ", Anchor::SignedToken),
        ("://", Anchor::Password),
        ("bearer ", Anchor::Bearer),
        ("basic ", Anchor::Basic),
        (":AA", Anchor::BotToken),
    ];
    shapes.chain(others).chain(assigned::NAMES.split_whitespace().map(|name| (name, Anchor::Named))).collect()
}

/// The words as automata; without one, which can't happen, nothing would be found.
struct Words {
    /// Made quickly, for what is short: nearly all that a program start has to look at.
    small: Option<AhoCorasick>,
    /// Finds the same faster, and takes three times as long to make: made for the first long text.
    fast: OnceLock<Option<AhoCorasick>>,
    anchors: Vec<Anchor>,
    texts: Vec<&'static str>,
    longest: usize,
}

fn shared_words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let (texts, anchors): (Vec<_>, Vec<_>) = words().into_iter().unzip();
        let small = automaton(AhoCorasickKind::NoncontiguousNFA, &texts);
        let longest = texts.iter().map(|word| word.len()).max().unwrap_or(0);
        Words { small, fast: OnceLock::new(), anchors, texts, longest }
    })
}

impl Words {
    /// What finds the words in a text of this length.
    fn automaton(&self, length: usize) -> Option<&AhoCorasick> {
        let fast = match length > SHORT {
            true => self.fast.get_or_init(|| automaton(AhoCorasickKind::DFA, &self.texts)).as_ref(),
            false => self.fast.get().and_then(Option::as_ref),
        };
        fast.or(self.small.as_ref())
    }
}

fn automaton(kind: AhoCorasickKind, words: &[&str]) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(kind)).match_kind(MatchKind::LeftmostFirst).ascii_case_insensitive(true);
    builder.build(words).ok()
}

/// Whether a text holds a well-known key or a private key.
pub(super) fn holds_key(text: &[u8]) -> bool {
    Finder::default().search(text, false, Scope::Said).next(0).is_some()
}

/// Finds secrets, also those whose values are known.
#[derive(Clone, Default)]
pub(super) struct Finder {
    known: Arc<Known>,
}

#[derive(Default)]
struct Known {
    secrets: Vec<KnownSecret>,
    automaton: Option<AhoCorasick>,
    longest: usize,
}

impl Finder {
    /// A finder that knows the values of some secrets.
    pub(super) fn new(mut secrets: Vec<KnownSecret>) -> Self {
        secrets.sort_by(|one, other| other.value.len().cmp(&one.value.len()).then(one.value.cmp(&other.value)));
        secrets.dedup_by(|one, other| one.value == other.value);
        let values = secrets.iter().map(|secret| secret.value.as_bytes());
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(values).ok();
        let longest = secrets.first().map_or(0, |secret| secret.value.len());
        Self { known: Arc::new(Known { automaton: automaton.filter(|_| longest > 0), secrets, longest }) }
    }

    /// One that knows these secrets too; nothing when it knows them already.
    pub(super) fn with(&self, mut secrets: Vec<KnownSecret>) -> Option<Self> {
        secrets.retain(|new| self.known.secrets.iter().all(|known| known.value != new.value));
        (!secrets.is_empty()).then(|| Self::new([self.known.secrets.as_slice(), &secrets].concat()))
    }

    /// The secrets whose values are known.
    pub(super) fn known(&self) -> &[KnownSecret] {
        &self.known.secrets
    }

    /// A search through a text. `more` says that the text goes on.
    pub(super) fn search<'a>(&'a self, text: &'a [u8], more: bool, scope: Scope) -> Search<'a> {
        let open_known = if more { self.known_beginning(text) } else { text.len() };
        Search {
            finder: self,
            text,
            more,
            scope,
            open_known,
            named_from: 0,
            known: Next::Unknown,
            shaped: Next::Unknown,
        }
    }

    /// Whether a mark with this name may be one of this finder's.
    pub(super) fn names(&self, what: &str) -> bool {
        let known = self.known.secrets.iter().any(|secret| secret.what == what);
        known || shared_words().anchors.iter().any(|anchor| anchor.what() == what)
    }

    fn known_at(&self, text: &[u8], from: usize) -> Option<Found<'_>> {
        let found = self.known.automaton.as_ref()?.find(Input::new(text).range(from..));
        looked_at(found.map_or(text.len(), |found| found.end()).saturating_sub(from));
        let found = found?;
        let secret = self.known.secrets.get(found.pattern().as_usize())?;
        Some(Found::Secret { start: found.start(), end: found.end(), what: &secret.what })
    }

    /// Where the end of the text may be the beginning of a known value that goes on.
    fn known_beginning(&self, text: &[u8]) -> usize {
        let first = text.len().saturating_sub(self.known.longest.saturating_sub(1));
        let begins = |end: &[u8]| {
            let mut values = self.known.secrets.iter().map(|secret| secret.value.as_bytes());
            values.any(|value| value.len() > end.len() && value.starts_with(end))
        };
        (first..text.len()).find(|at| begins(text.get(*at..).unwrap_or_default())).unwrap_or(text.len())
    }

    /// Where the end of the text may be the beginning of a word or a known value; the text's length
    /// when it can't be.
    pub(super) fn beginning(&self, text: &[u8], scope: Scope) -> usize {
        let words = shared_words();
        let first = text.len().saturating_sub(words.longest.saturating_sub(1));
        let begins = |end: &[u8]| {
            words.texts.iter().zip(&words.anchors).any(|(word, anchor)| {
                let word = word.as_bytes().get(..end.len());
                word.is_some_and(|word| word.eq_ignore_ascii_case(end)) && considers(scope, *anchor)
            })
        };
        let word = (first..text.len()).find(|at| begins(text.get(*at..).unwrap_or_default()));
        word.unwrap_or(text.len()).min(self.known_beginning(text))
    }
}

/// A search through one text, from its beginning to its end: what was found and not yet passed is
/// remembered, so that no stretch is searched again for each secret in it.
pub(super) struct Search<'a> {
    finder: &'a Finder,
    text: &'a [u8],
    more: bool,
    scope: Scope,
    /// Where a known value may begin that goes on after the end.
    open_known: usize,
    /// Nothing that begins before is a secret for its name.
    named_from: usize,
    known: Next<'a>,
    shaped: Next<'a>,
}

/// What comes next of one kind.
#[derive(Clone, Copy)]
enum Next<'a> {
    Unknown,
    Nothing,
    Here(Found<'a>),
}

impl<'a> Next<'a> {
    /// What is known of what comes at or after `from`.
    fn after(self, from: usize) -> Self {
        match self {
            Self::Here(Found::Secret { start, .. } | Found::Open(start)) if start < from => Self::Unknown,
            Self::Unknown | Self::Nothing | Self::Here(_) => self,
        }
    }

    fn of(found: Option<Found<'a>>) -> Self {
        found.map_or(Self::Nothing, Self::Here)
    }

    fn found(self) -> Option<Found<'a>> {
        match self {
            Self::Here(found) => Some(found),
            Self::Unknown | Self::Nothing => None,
        }
    }
}

impl<'a> Search<'a> {
    /// The first thing at or after `from`, which only grows from one call to the next.
    pub(super) fn next(&mut self, from: usize) -> Option<Found<'a>> {
        self.known = match self.known.after(from) {
            Next::Unknown => Next::of(self.finder.known_at(self.text, from)),
            known @ (Next::Nothing | Next::Here(_)) => known,
        };
        self.shaped = match self.shaped.after(from) {
            Next::Unknown => Next::of(self.next_shaped(from, self.text.len(), self.scope)),
            shaped @ (Next::Nothing | Next::Here(_)) => shaped,
        };
        let found = match (self.known.found(), self.shaped.found()) {
            (Some(known), Some(shaped)) => Some(earlier(known, shaped)),
            (known, shaped) => known.or(shaped),
        };
        found.map(|found| match found {
            // A longer value that is known may still come of it.
            Found::Secret { start, end, .. } if self.open_known < end => Found::Open(start.min(self.open_known)),
            Found::Secret { .. } => found,
            Found::Open(start) => Found::Open(start.min(self.open_known)),
        })
    }

    /// The first thing that begins with a word between `from` and `until`.
    fn next_shaped(&mut self, mut from: usize, until: usize, scope: Scope) -> Option<Found<'static>> {
        let words = shared_words();
        let automaton = words.automaton(self.text.len())?;
        let until = until.saturating_add(words.longest).min(self.text.len());
        loop {
            let hit = automaton.find(Input::new(self.text).range(from..until));
            looked_at(hit.map_or(until, |hit| hit.end()).saturating_sub(from));
            let hit = hit?;
            let anchor = *words.anchors.get(hit.pattern().as_usize())?;
            let passed = matches!(anchor, Anchor::Named) && hit.start() < self.named_from;
            let verdict = match considers(scope, anchor) && !passed {
                true => anchor.judge(self.text, hit.start(), hit.end(), self.more),
                false => Verdict::No,
            };
            match verdict {
                Verdict::Secret { start, end } if start < end && end > from => {
                    let start = start.max(from);
                    let (end, what) = self.better_known(start, end, anchor);
                    return Some(Found::Secret { start, end, what });
                }
                Verdict::Open => return Some(Found::Open(hit.start())),
                Verdict::OpenFrom(start) => return Some(Found::Open(start.max(from))),
                Verdict::NoneNamedBefore(end) => {
                    self.named_from = end;
                    from = hit.start() + 1;
                }
                Verdict::Secret { .. } | Verdict::No => from = hit.start() + 1,
            }
        }
    }

    /// A value that is secret by its name alone may be a well-known key, which says more.
    fn better_known(&mut self, start: usize, end: usize, anchor: Anchor) -> (usize, &'static str) {
        let inside = if anchor.is_certain() { None } else { self.next_shaped(start, end, Scope::Said) };
        match inside {
            Some(Found::Secret { start: other, end: other_end, what }) if other < end => (end.max(other_end), what),
            Some(Found::Secret { .. } | Found::Open(_)) | None => (end, anchor.what()),
        }
    }
}

/// What begins first; two that overlap are one.
fn earlier<'a>(known: Found<'a>, shaped: Found<'a>) -> Found<'a> {
    match (known, shaped) {
        (Found::Secret { start, end, what }, Found::Secret { start: other, end: other_end, what: other_what }) => {
            let (what, overlap) = if start <= other { (what, other < end) } else { (other_what, start < other_end) };
            let end = match (overlap, start <= other) {
                (true, _) => end.max(other_end),
                (false, true) => end,
                (false, false) => other_end,
            };
            Found::Secret { start: start.min(other), end, what }
        }
        // What is not decided yet may make one of both.
        (Found::Secret { start, end, .. }, Found::Open(open)) if open < end => Found::Open(open.min(start)),
        (known, _) => known,
    }
}

fn considers(scope: Scope, anchor: Anchor) -> bool {
    match scope {
        Scope::Outside => true,
        Scope::Said => anchor.is_certain(),
    }
}
