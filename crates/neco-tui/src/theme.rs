//! What things look like: a few roles, each with a style, for dark and light terminals and for those with few colours.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

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

    /// The theme that fits a ground of this colour.
    pub fn fitting(ground: [u8; 3]) -> Self {
        if is_light(ground) { Self::Light } else { Self::Dark }
    }

    /// The theme of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.name() == name)
    }
}

/// The styles of the roles. Text that is nothing else has the terminal's own colours.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// Which one it is.
    pub name: ThemeName,
    /// Labels: what something is, beside what it says.
    pub label: Style,
    /// What matters less.
    pub dim: Style,
    /// Rules, and the edges that the body of a call hangs on.
    pub line: Style,
    /// What works, or has the focus.
    pub accent: Style,
    /// What waits for the person, and nothing else.
    pub ask: Style,
    /// The edge of a question: it may be lighter than words are.
    pub ask_edge: Style,
    /// The ground below a question.
    pub ask_wash: Style,
    /// The answer that is chosen: the one solid thing on the screen.
    pub ask_solid: Style,
    /// Thoughts and plans.
    pub plan: Style,
    /// The ground below a plan.
    pub plan_wash: Style,
    /// The ground below what the person wrote, the field and programs.
    pub panel: Style,
    /// What the person said, where there is no ground below it.
    pub said: Style,
    /// What went well.
    pub good: Style,
    /// What the person should look at before they answer.
    pub warning: Style,
    /// What failed, or leaves the sandbox.
    pub bad: Style,
    /// Code inside a sentence.
    pub code: Style,
    /// A heading.
    pub heading: Style,
    /// A link.
    pub link: Style,
    /// The sign of a line that was added, and the number of such lines.
    pub added: Style,
    /// The line itself.
    pub added_line: Style,
    /// The words of it that are new.
    pub added_word: Style,
    /// The sign of a line that was removed, and the number of such lines.
    pub removed: Style,
    /// The line itself.
    pub removed_line: Style,
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

    /// The same on a terminal whose ground is this: what is washed is as far from it as it is from the ground that the
    /// washes were chosen for.
    #[must_use]
    pub fn on(mut self, ground: Option<[u8; 3]>) -> Self {
        let Some(ground) = ground else { return self };
        let usual = match (self.name, is_light(ground)) {
            (ThemeName::Dark, false) => DARK,
            (ThemeName::Light, true) => LIGHT,
            // Whoever wants another theme than the one that fits has the colours of that one.
            _ => return self,
        };
        let washes = [
            &mut self.ask_wash,
            &mut self.plan_wash,
            &mut self.panel,
            &mut self.code,
            &mut self.added_line,
            &mut self.added_word,
            &mut self.removed_line,
            &mut self.removed_word,
            &mut self.chosen,
        ];
        for wash in washes {
            if let Some(Color::Rgb(red, green, blue)) = wash.bg {
                let mix = |part: u8, index: usize| {
                    let [ground, usual] = [ground, usual].map(|of| i16::from(of.get(index).copied().unwrap_or(part)));
                    u8::try_from((ground + i16::from(part) - usual).clamp(0, 255)).unwrap_or(part)
                };
                wash.bg = Some(Color::Rgb(mix(red, 0), mix(green, 1), mix(blue, 2)));
            }
        }
        self
    }

    /// The same inside of a question: where 256 colours have no ground for lines that change, the terminal's own would be
    /// a hole in the wash, and they have others.
    #[must_use]
    pub fn in_question(mut self) -> Self {
        for line in [&mut self.added_line, &mut self.removed_line] {
            let asked = IN_QUESTION.iter().find(|(usual, _)| line.bg == Some(Color::from_u32(*usual)));
            line.bg = asked.map_or(line.bg, |(_, asked)| Some(Color::from_u32(*asked)));
        }
        self
    }

    /// A row that is chosen in a list. Where it is reversed its parts have no colours of their own, which would be grounds
    /// then.
    #[must_use]
    pub fn choose(&self, row: Line<'static>) -> Line<'static> {
        if self.chosen.bg.is_some() {
            return row.style(self.chosen);
        }
        Line::styled(row.to_string(), self.chosen)
    }

    /// Whether there are grounds below parts of the window; where there are none, rules and marks stand for them.
    pub fn has_washes(&self) -> bool {
        self.panel.bg.is_some()
    }

    /// The themes with colours: of each role the colour for dark terminals, for light ones, and of the sixteen. On grounds
    /// of their own there are no sixteen: what would have one is underlined, reversed or has a rule.
    fn coloured(name: ThemeName) -> Self {
        let is_sixteen = name == ThemeName::Sixteen;
        let none = Style::new();
        let rgb = |dark, light| Color::from_u32(if name == ThemeName::Dark { dark } else { light });
        let fg = |dark, light, sixteen: Option<Color>| match (is_sixteen, sixteen) {
            (true, sixteen) => sixteen.map_or(none, |colour| none.fg(colour)),
            (false, _) => none.fg(rgb(dark, light)),
        };
        let bg = |dark, light, sixteen: Style| if is_sixteen { sixteen } else { none.bg(rgb(dark, light)) };
        let bold = none.add_modifier(Modifier::BOLD);
        let ask = fg(0xf7be61, 0x89540d, Some(Color::Yellow));
        let dim = fg(0x97928c, 0x69645d, Some(Color::DarkGray));
        let added = fg(0x86d391, 0x1d6e37, Some(Color::Green));
        let removed = fg(0xf5847a, 0xb53530, Some(Color::Red));
        Self {
            name,
            label: fg(0xbab7b2, 0x4f4b46, None),
            dim,
            line: fg(0x3e3a36, 0xcecac5, Some(Color::DarkGray)),
            accent: fg(0x7dd4d1, 0x03696e, Some(Color::Cyan)),
            ask,
            ask_edge: fg(0xf7be61, 0xd9a147, Some(Color::Yellow)),
            ask_wash: bg(0x261d11, 0xfef4db, none),
            ask_solid: match is_sixteen {
                true => ask.patch(bold).add_modifier(Modifier::REVERSED),
                false => bold.fg(Color::from_u32(0x17130f)).bg(rgb(0xf7be61, 0xedb044)),
            },
            plan: fg(0xbea9e7, 0x6c4d9c, Some(Color::Magenta)),
            plan_wash: bg(0x241f2f, 0xf4f0fe, none),
            panel: bg(0x1e1a17, 0xf3f0eb, none),
            said: none,
            good: dim,
            warning: ask,
            bad: removed,
            code: bg(0x282420, 0xebe8e3, none),
            heading: bold,
            link: none.add_modifier(Modifier::UNDERLINED),
            added,
            added_line: bg(0x132518, 0xe2f8e7, added),
            added_word: bg(0x1d462a, 0xb2e9bf, added.patch(bold).add_modifier(Modifier::UNDERLINED)),
            removed,
            removed_line: bg(0x301918, 0xfeeeed, removed),
            removed_word: bg(0x642c2a, 0xfcd0ce, removed.patch(bold).add_modifier(Modifier::UNDERLINED)),
            chosen: bg(0x1f2d2c, 0xd5eceb, none.add_modifier(Modifier::REVERSED)),
            syntax: if is_sixteen {
                Syntax { comment: dim, ..Syntax::default() }
            } else {
                Syntax {
                    keyword: fg(0xc3a4dc, 0x73418f, None),
                    string: fg(0xb4cb8e, 0x3b6631, None),
                    constant: fg(0xeab37d, 0x894c15, None),
                    comment: fg(0x928d86, 0x69645d, None),
                    function: fg(0x91c9eb, 0x215d96, None),
                    type_name: fg(0x83d4cc, 0x0c6367, None),
                }
            },
        }
    }

    fn plain() -> Self {
        let none = Style::new();
        let dim = none.add_modifier(Modifier::DIM);
        let bold = none.add_modifier(Modifier::BOLD);
        let underlined = none.add_modifier(Modifier::UNDERLINED);
        let reversed = none.add_modifier(Modifier::REVERSED);
        Self {
            name: ThemeName::Plain,
            label: none,
            dim,
            line: dim,
            accent: none,
            ask: bold,
            ask_edge: bold,
            ask_wash: none,
            ask_solid: bold.add_modifier(Modifier::REVERSED),
            plan: none,
            plan_wash: none,
            panel: none,
            said: none,
            good: dim,
            warning: bold,
            bad: bold,
            code: none,
            heading: bold,
            link: underlined,
            added: none,
            added_line: none,
            added_word: underlined,
            removed: none,
            removed_line: none,
            removed_word: underlined,
            chosen: reversed,
            syntax: Syntax::default(),
        }
    }
}

/// Whether a colour is a light one.
pub fn is_light([red, green, blue]: [u8; 3]) -> bool {
    299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue) > 127_500
}

/// The grounds that the washes were chosen for.
const DARK: [u8; 3] = [0x14, 0x11, 0x0f];
const LIGHT: [u8; 3] = [0xfd, 0xfb, 0xf8];

/// Grounds of lines that change, and what they are inside of a question. Of all colours these are nearly the same; of the
/// 256 the first have none, and the others are neither that of the question nor those of changed words.
const IN_QUESTION: [(u32, u32); 2] = [(0x132518, 0x14261a), (0x301918, 0x31191a)];

/// Colours of the themes whose nearest of the 256 would lose their hue, with the one that keeps it; none where the
/// terminal's own ground is better than any.
const OF_256: [(u32, Option<u8>); 30] = [
    (0x1e1a17, Some(235)),
    (0xf3f0eb, Some(255)),
    (0x282420, Some(237)),
    (0xebe8e3, Some(254)),
    (0x1f2d2c, Some(236)),
    (0xd5eceb, Some(195)),
    (0x261d11, Some(235)),
    (0xfef4db, Some(230)),
    (0x132518, None),
    (0x14261a, Some(234)),
    (0xe2f8e7, Some(194)),
    (0x1d462a, Some(22)),
    (0xb2e9bf, Some(157)),
    (0x301918, None),
    (0x31191a, Some(233)),
    (0xfeeeed, Some(224)),
    (0x642c2a, Some(52)),
    (0xfcd0ce, Some(217)),
    (0xbea9e7, Some(183)),
    (0x6c4d9c, Some(61)),
    (0x241f2f, Some(235)),
    (0xf4f0fe, Some(189)),
    (0x1d6e37, Some(22)),
    (0xb53530, Some(124)),
    (0x3e3a36, Some(237)),
    (0xcecac5, Some(251)),
    (0x97928c, Some(246)),
    (0x69645d, Some(241)),
    (0xbab7b2, Some(249)),
    (0x4f4b46, Some(239)),
];

/// What a colour of a theme is on a terminal with 256 of them, where that is not the nearest one; `Reset` for the
/// terminal's own.
pub fn among_256(red: u8, green: u8, blue: u8) -> Option<Color> {
    let colour = u32::from_be_bytes([0, red, green, blue]);
    let (_, index) = OF_256.iter().find(|(known, _)| *known == colour)?;
    Some(index.map_or(Color::Reset, Color::Indexed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_256(colour: Option<Color>) -> Option<Color> {
        match colour {
            Some(Color::Rgb(red, green, blue)) => among_256(red, green, blue).or(colour),
            other => other,
        }
    }

    /// How bright a colour is, as contrasts are counted.
    fn luminance(colour: Color) -> f64 {
        let parts = match colour {
            Color::Rgb(red, green, blue) => [red, green, blue],
            Color::Indexed(grey @ 232..) => [8 + 10 * (grey - 232); 3],
            Color::Indexed(index @ 16..) => {
                let step = |part: u8| if part == 0 { 0 } else { 55 + 40 * part };
                [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(step)
            }
            other => panic!("{other:?}"),
        };
        let linear = parts.map(|part| match f64::from(part) / 255.0 {
            part if part <= 0.03928 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        });
        0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    }

    #[test]
    fn inside_of_a_question_lines_that_change_have_grounds_of_their_own_in_256_colours() {
        let dark = Theme::new(ThemeName::Dark);
        assert_eq!(of_256(dark.added_line.bg), Some(Color::Reset));
        let asked = dark.in_question();
        let grounds = [asked.added_line, asked.removed_line, asked.added_word, asked.removed_word, asked.ask_wash];
        let grounds = grounds.map(|style| of_256(style.bg).unwrap());
        for (at, ground) in grounds.iter().enumerate() {
            assert!(!grounds[..at].contains(ground), "{grounds:?}");
        }
        let Syntax { keyword, string, constant, comment, function, type_name } = asked.syntax;
        let texts = [asked.label, asked.dim, asked.added, asked.removed, keyword, string, constant, comment, function];
        for (text, ground) in texts.iter().chain([&type_name]).flat_map(|text| [(text, grounds[0]), (text, grounds[1])])
        {
            let (text, ground) = (luminance(of_256(text.fg).unwrap()), luminance(ground));
            assert!((text + 0.05) / (ground + 0.05) >= 4.5, "{text} on {ground}");
        }
        for name in [ThemeName::Light, ThemeName::Sixteen, ThemeName::Plain] {
            let (theme, asked) = (Theme::new(name), Theme::new(name).in_question());
            let lines = |theme: Theme| [theme.added_line, theme.removed_line];
            assert_eq!(lines(asked), lines(theme), "nothing is a hole there");
        }
    }

    #[test]
    fn plans_keep_their_hue_in_256_colours() {
        for (name, index) in [(ThemeName::Dark, 183), (ThemeName::Light, 61)] {
            let Some(Color::Rgb(red, green, blue)) = Theme::new(name).plan.fg else { panic!("{name:?}") };
            assert_eq!(among_256(red, green, blue), Some(Color::Indexed(index)));
        }
    }

    #[test]
    fn washes_are_mixed_with_the_ground_of_the_terminal() {
        let usual = Theme::new(ThemeName::Dark);
        assert_eq!(usual.on(Some(DARK)).panel, usual.panel);
        assert_eq!(usual.on(Some([0, 0, 0])).panel.bg, Some(Color::Rgb(10, 9, 8)));
        assert_eq!(usual.on(Some([0x2e, 0x34, 0x40])).panel.bg, Some(Color::Rgb(0x38, 0x3d, 0x48)));
        assert_eq!(usual.on(Some(LIGHT)).panel, usual.panel);
        let plain = Theme::new(ThemeName::Plain);
        assert_eq!(plain.on(Some([0, 0, 0])).panel, plain.panel);
    }
}
