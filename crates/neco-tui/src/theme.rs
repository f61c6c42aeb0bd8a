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
    pub fn name(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Sixteen => "16",
            Self::Plain => "none",
        }
    }

    /// The theme of a name.
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
    pub fn new(name: ThemeName) -> Self {
        match name {
            ThemeName::Dark | ThemeName::Light | ThemeName::Sixteen => Self::coloured(name),
            ThemeName::Plain => Self::plain(),
        }
    }

    /// The themes with colours: of each role the colour for dark terminals, for light ones, and of the sixteen.
    fn coloured(name: ThemeName) -> Self {
        let is_sixteen = name == ThemeName::Sixteen;
        let rgb = |dark, light| Color::from_u32(if name == ThemeName::Dark { dark } else { light });
        let fg = |dark, light, sixteen| Style::new().fg(if is_sixteen { sixteen } else { rgb(dark, light) });
        let on = |style: Style, dark, light| if is_sixteen { style } else { style.bg(rgb(dark, light)) };
        let strong = |style: Style, dark, light| match is_sixteen {
            true => style.add_modifier(Modifier::REVERSED),
            false => style.bg(rgb(dark, light)),
        };
        let accent = fg(0xe8a85c, 0xa85508, Color::Yellow);
        Self {
            name,
            dim: fg(0x8a8f98, 0x6a6f78, Color::DarkGray),
            accent,
            said: fg(0x9cc4f0, 0x0b53a8, Color::Cyan),
            good: fg(0x8cc265, 0x2b7a24, Color::Green),
            warning: fg(0xe5c07b, 0x8a6000, Color::Yellow),
            bad: fg(0xe86e72, 0xb41f2c, Color::Red),
            code: fg(0x7cc5c0, 0x0b6e6a, Color::Cyan),
            heading: accent.add_modifier(Modifier::BOLD),
            link: fg(0x82aaff, 0x1f4fd0, Color::Blue).add_modifier(Modifier::UNDERLINED),
            added: on(fg(0xb4d8a0, 0x124a18, Color::Green), 0x182c1c, 0xe2f5e2),
            added_word: strong(fg(0xd8f5c8, 0x06330b, Color::Green), 0x2b7433, 0xace2ae),
            removed: on(fg(0xe0a8a8, 0x6e141c, Color::Red), 0x361c1e, 0xfbe6e6),
            removed_word: strong(fg(0xffd0d0, 0x520810, Color::Red), 0x742b30, 0xf3b4b6),
            chosen: accent.add_modifier(Modifier::BOLD),
            syntax: Syntax {
                keyword: fg(0xc692e9, 0x8a2fb4, Color::Magenta),
                string: fg(0x9cc97f, 0x2b7a24, Color::Green),
                constant: fg(0xd89b6a, 0xa84a08, Color::Yellow),
                comment: fg(0x7c828c, 0x6a6f78, Color::DarkGray),
                function: fg(0x82aaff, 0x1f4fd0, Color::Blue),
                type_name: fg(0xe5c07b, 0x8a6000, Color::Cyan),
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
