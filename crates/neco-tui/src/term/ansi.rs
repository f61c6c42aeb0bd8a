//! A styled line as the bytes a terminal understands, in as many colours as it has.

use std::fmt::Write;

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use crate::theme::among_256;

/// How many colours the terminal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// None: bold, underline and reverse only.
    None,
    /// The sixteen that the person chose for their terminal.
    Sixteen,
    /// 256.
    Many,
    /// All.
    True,
}

/// Appends `line` to `out`; the style is the terminal's own again afterwards.
pub fn write_line(out: &mut String, line: &Line<'_>, depth: Depth) {
    let mut present = Style::default();
    for span in line.spans.iter().filter(|span| !span.content.is_empty()) {
        let style = line.style.patch(span.style);
        if style != present {
            write_style(out, style, present == Style::default(), depth);
            present = style;
        }
        push_shown(out, &span.content);
    }
    if present != Style::default() {
        out.push_str("\x1b[m");
    }
}

/// Erases from the cursor to the end of its row, and leaves the ground of `style` there.
pub fn write_fill(out: &mut String, style: Style, depth: Depth) {
    let ground = Style { bg: style.bg, ..Style::default() };
    let before = out.len();
    write_style(out, ground, true, depth);
    let styled = out.len() > before;
    out.push_str(if styled { "\x1b[K\x1b[m" } else { "\x1b[K" });
}

/// Whether a character steers the terminal, or makes text run backwards so that it reads as something else.
pub fn is_steering(char: char) -> bool {
    char.is_control() || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whatever a text was made of, nothing in it steers the terminal: this is the one place where text becomes bytes.
fn push_shown(out: &mut String, text: &str) {
    if !text.contains(is_steering) {
        out.push_str(text);
        return;
    }
    for char in text.chars() {
        match char {
            // As wide as it was counted.
            char if char.is_control() => out.push('\u{fffd}'),
            char if is_steering(char) => {}
            char => out.push(char),
        }
    }
}

/// `fresh` when the terminal's own style is in force: there is nothing to take back.
fn write_style(out: &mut String, style: Style, fresh: bool, depth: Depth) {
    let mut codes = String::new();
    for (modifier, code) in [
        (Modifier::BOLD, ";1"),
        (Modifier::DIM, ";2"),
        (Modifier::ITALIC, ";3"),
        (Modifier::UNDERLINED, ";4"),
        (Modifier::REVERSED, ";7"),
        (Modifier::CROSSED_OUT, ";9"),
    ] {
        if style.add_modifier.contains(modifier) {
            codes.push_str(code);
        }
    }
    if let Some(color) = style.fg {
        write_color(&mut codes, color, depth, false);
    }
    if let Some(color) = style.bg {
        write_color(&mut codes, color, depth, true);
    }
    match (fresh, codes.strip_prefix(';')) {
        (true, None) => {}
        (false, None) => out.push_str("\x1b[m"),
        (true, Some(codes)) => out.extend(["\x1b[", codes, "m"]),
        (false, Some(codes)) => out.extend(["\x1b[0;", codes, "m"]),
    }
}

fn write_color(out: &mut String, color: Color, depth: Depth, background: bool) {
    let base = if background { 40 } else { 30 };
    // Writing to a string can't fail.
    let _ = match (reduced(color, depth), depth) {
        (_, Depth::None) | (Color::Reset, _) => Ok(()),
        (Color::Rgb(red, green, blue), _) => write!(out, ";{};2;{red};{green};{blue}", base + 8),
        (Color::Indexed(index), _) => write!(out, ";{};5;{index}", base + 8),
        (named, _) => {
            let index = sixteen(named);
            let code = if index < 8 { base + index } else { base + 60 + index - 8 };
            write!(out, ";{code}")
        }
    };
}

/// The nearest colour that the terminal has.
fn reduced(color: Color, depth: Depth) -> Color {
    match (color, depth) {
        (Color::Rgb(red, green, blue), Depth::Many) => {
            among_256(red, green, blue).unwrap_or_else(|| Color::Indexed(indexed(red, green, blue)))
        }
        (Color::Rgb(red, green, blue), Depth::Sixteen) => nearest_of_sixteen(red, green, blue),
        (Color::Indexed(index), Depth::Sixteen) if index >= 16 => Color::Gray,
        (other, _) => other,
    }
}

/// The nearest of the 256. What is dark but has a colour keeps it: the cube has nothing between black and its first
/// step, and a green that becomes black is no green.
fn indexed(red: u8, green: u8, blue: u8) -> u8 {
    const FIRST_STEP: u8 = 95;
    let (strong, weak) = (red.max(green).max(blue), red.min(green).min(blue));
    if strong >= 48 || strong - weak < 12 {
        return cube(red, green, blue);
    }
    let raised = |value: u8| if value == strong { FIRST_STEP } else { 0 };
    cube(raised(red), raised(green), raised(blue))
}

/// The colour of the 6 × 6 × 6 cube, or of the greys, that is nearest.
fn cube(red: u8, green: u8, blue: u8) -> u8 {
    if red == green && green == blue {
        return match red {
            0..=7 => 16,
            248..=255 => 231,
            grey => 232 + (grey - 8) / 10,
        };
    }
    let step = |value: u8| -> u8 {
        match value {
            0..=47 => 0,
            48..=114 => 1,
            _ => (value - 35) / 40,
        }
    };
    16 + 36 * step(red) + 6 * step(green) + step(blue)
}

fn nearest_of_sixteen(red: u8, green: u8, blue: u8) -> Color {
    let strong = red.max(green).max(blue);
    let weak = red.min(green).min(blue);
    if strong - weak < 40 {
        return match strong {
            0..=63 => Color::Black,
            64..=150 => Color::DarkGray,
            151..=220 => Color::Gray,
            _ => Color::White,
        };
    }
    let is_high = |value: u8| u16::from(value) * 2 > u16::from(strong);
    match (is_high(red), is_high(green), is_high(blue)) {
        (true, true, false) => Color::Yellow,
        (true, false, true) => Color::Magenta,
        (false, true, true) => Color::Cyan,
        (true, false, false) => Color::Red,
        (false, true, false) => Color::Green,
        (false, false, true) => Color::Blue,
        (true, true, true) | (false, false, false) => Color::White,
    }
}

fn sixteen(color: Color) -> u8 {
    match color {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Indexed(index) if index < 16 => index,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => 7,
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::Stylize;
    use ratatui::text::Span;

    use super::*;

    fn written(line: &Line<'_>, depth: Depth) -> String {
        let mut out = String::new();
        write_line(&mut out, line, depth);
        out
    }

    #[test]
    fn a_line_leaves_the_terminal_as_it_was() {
        let line = Line::from(vec![Span::raw("a"), "b".bold(), Span::raw("c")]);
        assert_eq!(written(&line, Depth::True), "a\x1b[1mb\x1b[mc");
        assert_eq!(written(&Line::from("x".red()), Depth::Sixteen), "\x1b[31mx\x1b[m");
    }

    #[test]
    fn nothing_in_a_text_steers_the_terminal() {
        let line = Line::from("a\u{1b}]52;c;eA==\u{7}b\u{9b}2J\u{202e}c");
        assert_eq!(written(&line, Depth::True), "a\u{fffd}]52;c;eA==\u{fffd}b\u{fffd}2Jc");
    }

    #[test]
    fn dark_colours_stay_colours() {
        let background = |red, green, blue| Line::from(Span::raw("x").bg(Color::Rgb(red, green, blue)));
        assert_eq!(written(&background(0x18, 0x2c, 0x1c), Depth::Many), "\x1b[48;5;22mx\x1b[m");
        assert_eq!(written(&background(0x36, 0x1c, 0x1e), Depth::Many), "\x1b[48;5;52mx\x1b[m");
        assert_eq!(written(&background(0x10, 0x10, 0x12), Depth::Many), "\x1b[48;5;16mx\x1b[m");
    }

    #[test]
    fn colours_are_reduced_to_what_the_terminal_has() {
        let line = Line::from(Span::raw("x").fg(Color::Rgb(200, 40, 40)));
        assert_eq!(written(&line, Depth::True), "\x1b[38;2;200;40;40mx\x1b[m");
        assert_eq!(written(&line, Depth::Many), "\x1b[38;5;160mx\x1b[m");
        assert_eq!(written(&line, Depth::Sixteen), "\x1b[31mx\x1b[m");
        assert_eq!(written(&line, Depth::None), "x\x1b[m");
    }
}
