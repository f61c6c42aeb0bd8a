//! Finds secrets in text.
//!
//! One automaton runs over the text and stops only where one of a few dozen words stands that secrets
//! begin with or are named by; what stands there is then judged.

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

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
}

/// What is found next.
pub(super) enum Found<'a> {
    /// A secret.
    Secret { start: usize, end: usize, what: &'a str },
    /// What may become one when more text comes.
    Open(usize),
}

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
    shapes.chain(others).chain(assigned::NAMES.iter().map(|name| (*name, Anchor::Named))).collect()
}

/// The words as an automaton; without one, which can't happen, nothing would be found.
struct Words {
    automaton: Option<AhoCorasick>,
    anchors: Vec<Anchor>,
    texts: Vec<&'static str>,
}

fn shared_words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    WORDS.get_or_init(|| {
        let (texts, anchors): (Vec<_>, Vec<_>) = words().into_iter().unzip();
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::LeftmostFirst)
            .ascii_case_insensitive(true)
            .build(&texts)
            .ok();
        Words { automaton, anchors, texts }
    })
}

/// Whether a text holds a well-known key or a private key.
pub(super) fn holds_key(text: &[u8]) -> bool {
    Finder::default().next(text, 0, false, Scope::Said).is_some()
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

    /// The first thing at or after `from`. `more` says that the text goes on.
    pub(super) fn next(&self, text: &[u8], from: usize, more: bool, scope: Scope) -> Option<Found<'_>> {
        let known = self.next_known(text, from);
        let shaped = next_shaped(text, from, more, scope);
        match (known, shaped) {
            (Some(known), Some(shaped)) => Some(earlier(known, shaped)),
            (known, shaped) => known.or(shaped),
        }
    }

    fn next_known(&self, text: &[u8], from: usize) -> Option<Found<'_>> {
        let found = self.known.automaton.as_ref()?.find(Input::new(text).range(from..))?;
        let secret = self.known.secrets.get(found.pattern().as_usize())?;
        Some(Found::Secret { start: found.start(), end: found.end(), what: &secret.what })
    }

    /// Where the end of the text may be the beginning of a word or a known value; the text's length
    /// when it can't be.
    pub(super) fn beginning(&self, text: &[u8], scope: Scope) -> usize {
        let words = shared_words();
        let longest = words.texts.iter().map(|word| word.len()).max().unwrap_or(0).max(self.known.longest);
        let first = text.len().saturating_sub(longest.saturating_sub(1));
        let begins = |end: &[u8]| {
            let known = self.known.secrets.iter().any(|secret| secret.value.as_bytes().starts_with(end));
            known
                || words.texts.iter().zip(&words.anchors).any(|(word, anchor)| {
                    let word = word.as_bytes().get(..end.len());
                    word.is_some_and(|word| word.eq_ignore_ascii_case(end)) && considers(scope, *anchor)
                })
        };
        (first..text.len()).find(|at| begins(text.get(*at..).unwrap_or_default())).unwrap_or(text.len())
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
        (Found::Secret { start, .. }, shaped @ Found::Open(open)) if open < start => shaped,
        (known, _) => known,
    }
}

fn considers(scope: Scope, anchor: Anchor) -> bool {
    match scope {
        Scope::Outside => true,
        Scope::Said => anchor.is_certain(),
    }
}

fn next_shaped(text: &[u8], mut from: usize, more: bool, scope: Scope) -> Option<Found<'static>> {
    let words = shared_words();
    let automaton = words.automaton.as_ref()?;
    loop {
        let hit = automaton.find(Input::new(text).range(from..))?;
        let anchor = *words.anchors.get(hit.pattern().as_usize())?;
        let verdict = match considers(scope, anchor) {
            true => anchor.judge(text, hit.start(), hit.end(), more),
            false => Verdict::No,
        };
        match verdict {
            Verdict::Secret { start, end } if start < end && end > from => {
                let start = start.max(from);
                let (end, what) = better_known(text, start, end, anchor);
                return Some(Found::Secret { start, end, what });
            }
            Verdict::Open => return Some(Found::Open(hit.start())),
            Verdict::OpenFrom(start) => return Some(Found::Open(start.max(from))),
            Verdict::Secret { .. } | Verdict::No => from = hit.start() + 1,
        }
    }
}

/// A value that is secret by its name alone may be a well-known key, which says more.
fn better_known(text: &[u8], start: usize, end: usize, anchor: Anchor) -> (usize, &'static str) {
    let inside = if anchor.is_certain() { None } else { next_shaped(text, start, false, Scope::Said) };
    match inside {
        Some(Found::Secret { start: other, end: other_end, what }) if other < end => (end.max(other_end), what),
        Some(Found::Secret { .. } | Found::Open(_)) | None => (end, anchor.what()),
    }
}
