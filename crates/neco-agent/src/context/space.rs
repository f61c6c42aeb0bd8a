//! How much room there is, and how it is shared out.

use neco_config::section::ContextSection;
use neco_proto::Layer;

/// How the room is shared out, as it was set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextSettings {
    /// How full the context may be before it is compacted, in percent of what is left beside the answer.
    pub compact_at: u8,
    /// Tokens that are kept free for the answer.
    pub answer_reserve: u64,
    /// Turns that a compaction leaves as they are.
    pub keep_turns: usize,
    /// Whether outputs of earlier calls are shortened.
    pub trim: bool,
    /// Most of the window that rules may take, in percent.
    pub rules: u8,
    /// The same for the lists of skills and agents.
    pub skills: u8,
    /// The same for memory.
    pub memory: u8,
    /// The same for files and the map of the repository.
    pub files: u8,
    /// The same for pieces of files that fit a message.
    pub request_files: u8,
    /// The same for the summary of what was compacted.
    pub summary: u8,
}

impl From<&ContextSection> for ContextSettings {
    fn from(section: &ContextSection) -> Self {
        Self {
            compact_at: section.compact_at,
            answer_reserve: section.answer_reserve,
            keep_turns: section.keep_turns,
            trim: section.trim,
            rules: section.shares.rules,
            skills: section.shares.skills,
            memory: section.shares.memory,
            files: section.shares.files,
            request_files: section.shares.request_files,
            summary: section.shares.summary,
        }
    }
}

/// How much room a window gives. Without a known window nothing is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    settings: ContextSettings,
    window: Option<u64>,
}

impl Space {
    /// The room of a window.
    pub fn new(settings: ContextSettings, window: Option<u64>) -> Self {
        Self { settings, window }
    }

    /// The settings.
    pub fn settings(&self) -> &ContextSettings {
        &self.settings
    }

    /// Tokens that fit into one request and its answer.
    pub fn window(&self) -> Option<u64> {
        self.window
    }

    /// Tokens that are kept free for the answer; a small window is not given away to it.
    pub fn reserve(&self) -> u64 {
        self.window.map_or(self.settings.answer_reserve, |window| self.settings.answer_reserve.min(window / 4))
    }

    /// Tokens that a request may have.
    pub fn usable(&self) -> Option<u64> {
        self.window.map(|window| window.saturating_sub(self.reserve()))
    }

    /// Tokens from which on the conversation is compacted.
    pub fn compact_at(&self) -> Option<u64> {
        self.usable().map(|usable| percent(usable, self.settings.compact_at))
    }

    /// Tokens from which on old outputs are shortened.
    pub fn trim_at(&self) -> Option<u64> {
        self.compact_at().map(|full| percent(full, TRIM_AT)).filter(|_| self.settings.trim)
    }

    /// Tokens that shortening must free to be worth it: it costs the vendor's cache all that comes after
    /// the first output that is shortened.
    pub fn trim_gain(&self) -> u64 {
        self.usable().map_or(u64::MAX, |usable| percent(usable, TRIM_GAIN))
    }

    /// Tokens that a summary may have.
    pub fn summary(&self) -> u64 {
        self.window.map_or(MOST_SUMMARY, |window| percent(window, self.settings.summary).clamp(1, MOST_SUMMARY))
    }

    /// Tokens that pieces of files may take which fit one message; nothing where none are given. A small window is
    /// needed for the work itself, and of one that is not known nobody can tell.
    pub fn request_files(&self) -> Option<u64> {
        let window = self.window.filter(|window| *window >= SMALLEST_WITH_PIECES)?;
        let room = percent(window, self.settings.request_files).min(MOST_PIECES);
        (room > 0).then_some(room)
    }

    /// Tokens that the prompt and the tools may take where nobody chose the tools: the rest is for the work.
    pub fn most_told(&self) -> Option<u64> {
        self.window.map(|window| percent(window, MOST_TOLD))
    }

    /// What the layers may take.
    pub fn rooms(&self) -> Rooms {
        let share = |of: u8| self.window.map_or(u64::MAX, |window| percent(window, of));
        let ContextSettings { rules, skills, memory, files, .. } = self.settings;
        Rooms {
            rules: share(rules),
            skills: share(skills),
            memory: share(memory),
            files: share(files),
            plugged: share(PLUGGED),
        }
    }
}

/// Shortening begins when so much of the room is taken, in percent of what compaction begins at.
const TRIM_AT: u8 = 60;

/// And when it frees so much, in percent of the room.
const TRIM_GAIN: u8 = 20;

/// What a model is told before the conversation takes at most so much of the window, in percent.
const MOST_TOLD: u8 = 40;

/// The tools that people plug in are declared outright up to so much of the window, in percent.
const PLUGGED: u8 = 10;

/// Notes that are longer are no summary.
const MOST_SUMMARY: u64 = 8_000;

/// Models with a smaller window are given no pieces of files.
const SMALLEST_WITH_PIECES: u64 = 32_000;

/// More is no help with one message.
const MOST_PIECES: u64 = 6_000;

fn percent(of: u64, percent: u8) -> u64 {
    of.saturating_mul(percent.into()) / 100
}

/// How many tokens the layers may take that can be long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rooms {
    rules: u64,
    skills: u64,
    memory: u64,
    files: u64,
    plugged: u64,
}

impl Rooms {
    /// Room without end.
    pub const ENDLESS: Self =
        Self { rules: u64::MAX, skills: u64::MAX, memory: u64::MAX, files: u64::MAX, plugged: u64::MAX };

    /// How many tokens the declarations of all tools of one origin may take that people plug in.
    pub fn plugged(&self) -> u64 {
        self.plugged
    }

    /// How many tokens a layer may take; the ones that can't be cut have no limit of their own.
    pub fn of(&self, layer: Layer) -> u64 {
        match layer {
            Layer::Rules => self.rules,
            Layer::Skills | Layer::Agents => self.skills,
            Layer::Memory => self.memory,
            Layer::RepoMap | Layer::Files => self.files,
            Layer::Base
            | Layer::Mode
            | Layer::Generation
            | Layer::Role
            | Layer::Environment
            | Layer::Summary
            | Layer::Messages => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(window: Option<u64>) -> Space {
        Space::new(ContextSettings::from(&neco_config::Config::built_in().context), window)
    }

    #[test]
    fn the_answer_has_its_room_and_the_layers_their_shares() {
        let space = space(Some(200_000));
        assert_eq!((space.reserve(), space.usable()), (16_384, Some(183_616)));
        assert_eq!(space.compact_at(), Some(156_073));
        assert_eq!(space.rooms().of(Layer::Rules), 20_000);
        assert_eq!(space.rooms().of(Layer::Memory), 10_000);
        assert_eq!(space.rooms().of(Layer::Base), u64::MAX);
        assert_eq!(space.summary(), 8_000);
    }

    #[test]
    fn a_small_window_is_not_given_away_to_the_answer() {
        assert_eq!((space(Some(8_000)).reserve(), space(Some(8_000)).summary()), (2_000, 800));
    }

    #[test]
    fn pieces_have_a_small_share_and_none_in_a_small_window() {
        let rooms = [None, Some(8_000), Some(31_999), Some(32_000), Some(128_000), Some(1_000_000)]
            .map(|window| space(window).request_files());
        assert_eq!(rooms, [None, None, None, Some(960), Some(3_840), Some(6_000)]);
        let mut section = neco_config::Config::built_in().context;
        section.shares.request_files = 0;
        assert_eq!(Space::new(ContextSettings::from(&section), Some(200_000)).request_files(), None);
    }

    #[test]
    fn nothing_is_limited_when_nothing_is_known() {
        let space = space(None);
        assert_eq!((space.usable(), space.compact_at(), space.trim_at()), (None, None, None));
        assert_eq!(space.rooms(), Rooms::ENDLESS);
    }
}
