//! What things look like: a few roles, each with a style, for dark and light terminals and for those with few colours.

use ratatui::style::{Color, Modifier, Style};

/// Which set of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// For dark terminals.
    #[default]
    Dark,
    /// For light terminals.
    Light,
    /// The terminal's own sixteen colours.
    Sixteen,
    /// No colours.
    Plain,
}

impl ThemeName {
    /// Every theme.
    pub const ALL: [Self; 4] = [Self::Dark, Self::Light, Self::Sixteen, Self::Plain];

    /// Its name in commands and settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Sixteen => "16",
            Self::Plain => "none",
        }
    }

    /// The theme of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }
}

/// The styles of the roles.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// Which one it is.
    pub name: ThemeName,
    /// What matters less.
    pub dim: Style,
    /// What is ours: marks, frames that want attention.
    pub accent: Style,
    /// What the person said.
    pub said: Style,
    /// What went well.
    pub good: Style,
    /// What deserves a look.
    pub warning: Style,
    /// What failed.
    pub bad: Style,
    /// Code inside a sentence.
    pub code: Style,
    /// A heading.
    pub heading: Style,
    /// A link.
    pub link: Style,
    /// A line that was added.
    pub added: Style,
    /// The words of it that are new.
    pub added_word: Style,
    /// A line that was removed.
    pub removed: Style,
    /// The words of it that are gone.
    pub removed_word: Style,
    /// What is chosen in a list.
    pub chosen: Style,
    /// The parts of a program: keyword, string, number, comment, function, type.
    pub syntax: Syntax,
}

/// The styles of the parts of a program; none unless they are said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Syntax {
    /// Words of the language.
    pub keyword: Style,
    /// Texts.
    pub string: Style,
    /// Numbers and constants.
    pub constant: Style,
    /// Comments.
    pub comment: Style,
    /// Names of functions.
    pub function: Style,
    /// Names of types.
    pub type_name: Style,
}

impl Default for Theme {
    fn default() -> Self {
        Self::new(ThemeName::default())
    }
}

impl Theme {
    /// The theme of a name.
    #[must_use]
    pub fn new(name: ThemeName) -> Self {
        match name {
            ThemeName::Dark => Self::dark(),
            ThemeName::Light => Self::light(),
            ThemeName::Sixteen => Self::sixteen(),
            ThemeName::Plain => Self::plain(),
        }
    }

    /// Whether programs have colours.
    #[must_use]
    pub fn paints_programs(&self) -> bool {
        self.syntax != Syntax::default()
    }

    fn dark() -> Self {
        Self {
            name: ThemeName::Dark,
            dim: fg(0x8a, 0x8f, 0x98),
            accent: fg(0xe8, 0xa8, 0x5c),
            said: fg(0x9c, 0xc4, 0xf0),
            good: fg(0x8c, 0xc2, 0x65),
            warning: fg(0xe5, 0xc0, 0x7b),
            bad: fg(0xe8, 0x6e, 0x72),
            code: fg(0x7c, 0xc5, 0xc0),
            heading: fg(0xe8, 0xa8, 0x5c).add_modifier(Modifier::BOLD),
            link: fg(0x82, 0xaa, 0xff).add_modifier(Modifier::UNDERLINED),
            added: fg(0xb4, 0xd8, 0xa0).bg(Color::Rgb(0x18, 0x2c, 0x1c)),
            added_word: fg(0xd8, 0xf5, 0xc8).bg(Color::Rgb(0x2b, 0x74, 0x33)),
            removed: fg(0xe0, 0xa8, 0xa8).bg(Color::Rgb(0x36, 0x1c, 0x1e)),
            removed_word: fg(0xff, 0xd0, 0xd0).bg(Color::Rgb(0x74, 0x2b, 0x30)),
            chosen: fg(0xe8, 0xa8, 0x5c).add_modifier(Modifier::BOLD),
            syntax: Syntax {
                keyword: fg(0xc6, 0x92, 0xe9),
                string: fg(0x9c, 0xc9, 0x7f),
                constant: fg(0xd8, 0x9b, 0x6a),
                comment: fg(0x7c, 0x82, 0x8c),
                function: fg(0x82, 0xaa, 0xff),
                type_name: fg(0xe5, 0xc0, 0x7b),
            },
        }
    }

    fn light() -> Self {
        Self {
            name: ThemeName::Light,
            dim: fg(0x6a, 0x6f, 0x78),
            accent: fg(0xa8, 0x55, 0x08),
            said: fg(0x0b, 0x53, 0xa8),
            good: fg(0x2b, 0x7a, 0x24),
            warning: fg(0x8a, 0x60, 0x00),
            bad: fg(0xb4, 0x1f, 0x2c),
            code: fg(0x0b, 0x6e, 0x6a),
            heading: fg(0xa8, 0x55, 0x08).add_modifier(Modifier::BOLD),
            link: fg(0x1f, 0x4f, 0xd0).add_modifier(Modifier::UNDERLINED),
            added: fg(0x12, 0x4a, 0x18).bg(Color::Rgb(0xe2, 0xf5, 0xe2)),
            added_word: fg(0x06, 0x33, 0x0b).bg(Color::Rgb(0xac, 0xe2, 0xae)),
            removed: fg(0x6e, 0x14, 0x1c).bg(Color::Rgb(0xfb, 0xe6, 0xe6)),
            removed_word: fg(0x52, 0x08, 0x10).bg(Color::Rgb(0xf3, 0xb4, 0xb6)),
            chosen: fg(0xa8, 0x55, 0x08).add_modifier(Modifier::BOLD),
            syntax: Syntax {
                keyword: fg(0x8a, 0x2f, 0xb4),
                string: fg(0x2b, 0x7a, 0x24),
                constant: fg(0xa8, 0x4a, 0x08),
                comment: fg(0x6a, 0x6f, 0x78),
                function: fg(0x1f, 0x4f, 0xd0),
                type_name: fg(0x8a, 0x60, 0x00),
            },
        }
    }

    fn sixteen() -> Self {
        let named = |color| Style::new().fg(color);
        Self {
            name: ThemeName::Sixteen,
            dim: named(Color::DarkGray),
            accent: named(Color::Yellow),
            said: named(Color::Cyan),
            good: named(Color::Green),
            warning: named(Color::Yellow),
            bad: named(Color::Red),
            code: named(Color::Cyan),
            heading: named(Color::Yellow).add_modifier(Modifier::BOLD),
            link: named(Color::Blue).add_modifier(Modifier::UNDERLINED),
            added: named(Color::Green),
            added_word: named(Color::Green).add_modifier(Modifier::REVERSED),
            removed: named(Color::Red),
            removed_word: named(Color::Red).add_modifier(Modifier::REVERSED),
            chosen: named(Color::Yellow).add_modifier(Modifier::BOLD),
            syntax: Syntax {
                keyword: named(Color::Magenta),
                string: named(Color::Green),
                constant: named(Color::Yellow),
                comment: named(Color::DarkGray),
                function: named(Color::Blue),
                type_name: named(Color::Cyan),
            },
        }
    }

    fn plain() -> Self {
        let none = Style::new();
        let bold = none.add_modifier(Modifier::BOLD);
        Self {
            name: ThemeName::Plain,
            dim: none,
            accent: bold,
            said: bold,
            good: none,
            warning: bold,
            bad: bold,
            code: none,
            heading: bold,
            link: none.add_modifier(Modifier::UNDERLINED),
            added: none,
            added_word: none.add_modifier(Modifier::UNDERLINED),
            removed: none,
            removed_word: none.add_modifier(Modifier::UNDERLINED),
            chosen: none.add_modifier(Modifier::REVERSED),
            syntax: Syntax::default(),
        }
    }
}

fn fg(red: u8, green: u8, blue: u8) -> Style {
    Style::new().fg(Color::Rgb(red, green, blue))
}
