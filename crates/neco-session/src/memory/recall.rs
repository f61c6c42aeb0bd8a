//! Layer 1: titles and summaries of what matters for the first request, for the rest of the session.
//!
//! The choice is made once, when the first message of a session comes, and recorded: a prompt that
//! changed with every request would never be found in a vendor's cache, and a session that is opened
//! again must be told what it was told before. What is kept meanwhile is in the conversation anyway.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use neco_agent::context::{Layer, Situation, Source};
use neco_model::tokens::{Family, estimate};
use neco_proto::event::{MemoryAction, MemoryScope, MemoryUpdate};
use neco_safety::untrusted;

use super::found::Found;
use super::memory::Memory;

/// What stands above the entries.
const HEAD: &str = include_str!("recall.md");

/// Where entries come from that a session wrote.
const EARLIER: &str = "notes of earlier sessions";

/// Tokens for what stands around the entries.
const AROUND: u64 = 200;

/// How much of the memory is put before the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecallLimits {
    /// Most entries.
    pub entries: usize,
    /// Most tokens.
    pub tokens: u64,
    /// How the model counts tokens.
    pub family: Family,
}

/// What the memory puts before the model in one session.
pub struct Recall {
    memory: Arc<Memory>,
    limits: RecallLimits,
    told: Arc<Told>,
    /// Whether the first request is still to come.
    waits: bool,
    /// Whether the last request was the first.
    chosen_now: bool,
}

/// What the model is told, and how often that was changed.
struct Told {
    text: RwLock<Option<String>>,
    changes: AtomicU64,
}

impl Told {
    fn set(&self, text: String) {
        *self.text.write().unwrap_or_else(PoisonError::into_inner) = Some(text);
        self.changes.fetch_add(1, Ordering::Release);
    }
}

impl Recall {
    /// The recall of a session that was told `told` before, or nothing; `waits` when nobody has said
    /// anything in it yet.
    pub fn new(memory: Arc<Memory>, limits: RecallLimits, told: Option<String>, waits: bool) -> Self {
        let told = Told { text: RwLock::new(told), changes: AtomicU64::new(0) };
        Self { memory, limits, told: Arc::new(told), waits, chosen_now: false }
    }

    /// The request that was chosen for was not taken: the next one is the first.
    pub fn wait_again(&mut self) {
        self.waits |= std::mem::take(&mut self.chosen_now);
    }

    /// What puts it before the model.
    pub fn source(&self) -> Arc<dyn Source> {
        Arc::new(Recalled(Arc::clone(&self.told)))
    }

    /// The memory.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Chooses what matters for the first request; nothing for any other. What fails is logged: a
    /// session works without its memory.
    pub async fn at_request(&mut self, request: &str) -> Option<MemoryUpdate> {
        self.chosen_now = std::mem::take(&mut self.waits);
        if !self.chosen_now || self.limits.entries == 0 {
            return None;
        }
        let ranked = match self.memory.ranked(request).await {
            Ok(ranked) => ranked,
            Err(error) => {
                tracing::warn!(%error, "nothing is recalled");
                return None;
            }
        };
        let chosen = choose(&ranked, self.limits);
        if chosen.is_empty() {
            return None;
        }
        let text = self.memory.without_secrets(&text_of(&chosen, ranked.len() - chosen.len()));
        self.told.set(text.clone());
        let entries = chosen.iter().map(|found| found.note()).collect();
        Some(MemoryUpdate { action: MemoryAction::Recalled, entries, text: Some(text) })
    }
}

/// The source of layer 1.
struct Recalled(Arc<Told>);

impl Source for Recalled {
    fn layer(&self) -> Layer {
        Layer::Memory
    }

    fn text(&self, _: &Situation) -> Option<String> {
        self.0.text.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// When the first request has come.
    fn revision(&self) -> u64 {
        self.0.changes.load(Ordering::Acquire)
    }
}

/// The first entries that fit. What lies in a folder is anybody's who wrote it, and may be much: half of the room
/// is kept for what holds everywhere, as far as there is any.
fn choose(ranked: &[Found], limits: RecallLimits) -> Vec<&Found> {
    let mut room = Room { entries: limits.entries / 2, tokens: limits.tokens.saturating_sub(AROUND) / 2 };
    let fits = |room: &mut Room, found: &Found| room.take(estimate(&line(found), limits.family));
    let global = ranked.iter().map(|found| found.scope() == MemoryScope::Global);
    let mut chosen: Vec<bool> =
        ranked.iter().zip(global).map(|(found, global)| global && fits(&mut room, found)).collect();
    room.entries += limits.entries - limits.entries / 2;
    room.tokens += limits.tokens.saturating_sub(AROUND).div_ceil(2);
    for (found, chosen) in ranked.iter().zip(&mut chosen).filter(|(_, chosen)| !**chosen) {
        if !fits(&mut room, found) {
            break;
        }
        *chosen = true;
    }
    ranked.iter().zip(chosen).filter_map(|(found, chosen)| chosen.then_some(found)).collect()
}

/// What is left for entries.
struct Room {
    entries: usize,
    tokens: u64,
}

impl Room {
    /// Takes the place of one entry, if there is one.
    fn take(&mut self, tokens: u64) -> bool {
        let left = self.entries.checked_sub(1).zip(self.tokens.checked_sub(tokens));
        if let Some((entries, tokens)) = left {
            *self = Self { entries, tokens };
        }
        left.is_some()
    }
}

/// The entries as the model reads them. What lies in a folder is that folder's words, and what a session
/// wrote may be anybody's: both stand between tags that say so, as the content of files does.
fn text_of(chosen: &[&Found], more: usize) -> String {
    let mut text = HEAD.trim().to_owned();
    let (own, kept): (Vec<&&Found>, Vec<&&Found>) =
        of(chosen, MemoryScope::Global).partition(|found| found.is_the_persons());
    let lines = |entries: &[&&Found]| entries.iter().map(|found| line(found)).collect::<Vec<_>>().join("\n");
    if !own.is_empty() {
        let _ = write!(text, "\n\n{}", untrusted::neutral(&lines(&own)));
    }
    if !kept.is_empty() {
        let _ = write!(text, "\n\n{}", untrusted::wrap(EARLIER, EARLIER, &lines(&kept)));
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    for found in of(chosen, MemoryScope::Directory) {
        if !folders.contains(&found.folder.path()) {
            folders.push(found.folder.path());
        }
    }
    for folder in folders {
        let lines = of(chosen, MemoryScope::Directory).filter(|found| found.folder.path() == folder);
        let lines: Vec<String> = lines.map(|found| line(found)).collect();
        let place = folder.display().to_string();
        let _ = write!(text, "\n\n{}", untrusted::wrap(&place, &place, &lines.join("\n")));
    }
    if more > 0 {
        let _ = write!(text, "\n\n{more} more are not listed; memory_search finds them.");
    }
    text
}

fn of<'a>(chosen: &'a [&'a Found], scope: MemoryScope) -> impl Iterator<Item = &'a &'a Found> {
    chosen.iter().filter(move |found| found.scope() == scope)
}

fn line(found: &Found) -> String {
    if found.summary.is_empty() || found.summary == found.title {
        return format!("- [{}] {}", found.id, found.title);
    }
    format!("- [{}] {}: {}", found.id, found.title, found.summary)
}
