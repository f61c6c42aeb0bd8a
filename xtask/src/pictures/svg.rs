//! A screen as a picture: text stays text, so it is sharp at any size and small.

use std::fmt::Write as _;

use vt100::{Cell, Color, Screen};

const WIDTH: f32 = 8.4;
const HEIGHT: f32 = 18.0;
/// The room around the screen.
const EDGE: f32 = 16.0;

/// The sixteen colours of a terminal, as most have them.
const SIXTEEN: [u32; 16] = [
    0x00_1e1e1e,
    0x00_cd3131,
    0x00_0dbc79,
    0x00_e5e510,
    0x00_2472c8,
    0x00_bc3fbc,
    0x00_11a8cd,
    0x00_e5e5e5,
    0x00_666666,
    0x00_f14c4c,
    0x00_23d18b,
    0x00_f5f543,
    0x00_3b8eea,
    0x00_d670d6,
    0x00_29b8db,
    0x00_ffffff,
];

/// How a cell is drawn.
#[derive(Clone, Default, PartialEq)]
struct Style {
    ink: String,
    ground: Option<String>,
    bold: bool,
    dim: bool,
    italic: bool,
    underlined: bool,
}

/// The picture of a screen on a ground; rows below the last one with something in it are left out.
pub fn picture(screen: &Screen, ground: &str, ink: &str) -> String {
    let (rows, columns) = screen.size();
    let is_empty = |row: &u16| (0..columns).all(|column| screen.cell(*row, column).is_none_or(|cell| !is_drawn(cell)));
    let first = (0..rows).find(|row| !is_empty(row)).unwrap_or(0);
    let last = (0..rows).rev().find(|row| !is_empty(row)).unwrap_or(0);
    let (width, height) = (f32::from(columns) * WIDTH + 2.0 * EDGE, f32::from(last + 1 - first) * HEIGHT + 2.0 * EDGE);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"ui-monospace, \
         'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"10\" fill=\"{ground}\"/>\n"
    );
    for row in first..=last {
        let y = EDGE + f32::from(row - first) * HEIGHT;
        for (column, style, words) in runs(screen, row, columns, ink, ground) {
            run(&mut text, EDGE + f32::from(column) * WIDTH, y, &style, &words);
        }
    }
    text.push_str("</svg>\n");
    text
}

fn is_drawn(cell: &Cell) -> bool {
    !cell.contents().trim().is_empty() || cell.bgcolor() != Color::Default || cell.inverse()
}

/// The parts of a row that look the same, and where each begins.
fn runs(screen: &Screen, row: u16, columns: u16, ink: &str, ground: &str) -> Vec<(u16, Style, Vec<String>)> {
    let mut runs: Vec<(u16, Style, Vec<String>)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        let contents = if cell.is_wide_continuation() { String::new() } else { at_least_a_blank(cell.contents()) };
        let style = style(cell, ink, ground);
        match runs.last_mut() {
            Some((_, last, words)) if *last == style => words.push(contents),
            _ => runs.push((column, style, vec![contents])),
        }
    }
    runs
}

fn at_least_a_blank(contents: &str) -> String {
    if contents.is_empty() { " ".to_owned() } else { contents.to_owned() }
}

fn style(cell: &Cell, ink: &str, ground: &str) -> Style {
    let (own_ink, own_ground) = (hex(cell.fgcolor()), hex(cell.bgcolor()));
    let (ink, ground) = match cell.inverse() {
        true => (own_ground.unwrap_or_else(|| ground.to_owned()), Some(own_ink.unwrap_or_else(|| ink.to_owned()))),
        false => (own_ink.unwrap_or_else(|| ink.to_owned()), own_ground),
    };
    let (bold, dim, italic, underlined) = (cell.bold(), cell.dim(), cell.italic(), cell.underline());
    Style { ink, ground, bold, dim, italic, underlined }
}

fn run(text: &mut String, x: f32, y: f32, style: &Style, cells: &[String]) {
    #[allow(clippy::cast_precision_loss, reason = "a row has at most some hundred cells")]
    let width = cells.len() as f32 * WIDTH;
    if let Some(ground) = &style.ground {
        rectangle(text, x, y, width + 0.5, HEIGHT + 0.5, ground);
    }
    let words = cells.concat();
    if words.trim().is_empty() {
        return;
    }
    // What is drawn with blocks has no gaps only when it is drawn.
    let block = |cell: &str| match cell {
        "▎" => Some((0.0, 0.0, WIDTH / 4.0, HEIGHT)),
        "▄" => Some((0.0, HEIGHT / 2.0, WIDTH + 0.5, HEIGHT / 2.0)),
        "▀" => Some((0.0, 0.0, WIDTH + 0.5, HEIGHT / 2.0)),
        "─" | "━" => Some((0.0, HEIGHT / 2.0 - 0.5, WIDTH + 0.5, 1.0)),
        _ => None,
    };
    let mut left = x;
    for cell in cells {
        if let Some((across, down, wide, high)) = block(cell) {
            rectangle(text, left + across, y + down, wide, high, &style.ink);
        }
        left += WIDTH;
    }
    let words: String = cells.iter().map(|cell| if block(cell).is_some() { " " } else { cell.as_str() }).collect();
    let trimmed = words.trim_end();
    if trimmed.trim().is_empty() {
        return;
    }
    let mut more = String::new();
    for (is_so, attribute) in [
        (style.bold, " font-weight=\"bold\""),
        (style.italic, " font-style=\"italic\""),
        (style.underlined, " text-decoration=\"underline\""),
        (style.dim, " opacity=\"0.6\""),
    ] {
        more.push_str(if is_so { attribute } else { "" });
    }
    let ends_in_blanks = words.chars().count() - trimmed.chars().count();
    #[allow(clippy::cast_precision_loss, reason = "a row has at most some hundred cells")]
    let length = (cells.len() - ends_in_blanks) as f32 * WIDTH;
    let _ = writeln!(
        text,
        "<text x=\"{x:.1}\" y=\"{:.1}\" textLength=\"{length:.1}\" fill=\"{}\" xml:space=\"preserve\"{more}>{}</text>",
        y + HEIGHT * 0.74,
        style.ink,
        escaped(trimmed)
    );
}

fn rectangle(text: &mut String, x: f32, y: f32, width: f32, height: f32, fill: &str) {
    let place = format!("x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"");
    let _ = writeln!(text, "<rect {place} fill=\"{fill}\"/>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn hex(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Idx(number @ 0..=15) => Some(format!("#{:06x}", SIXTEEN[usize::from(number)])),
        Color::Idx(number @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let number = number - 16;
            let [red, green, blue] = [number / 36, number / 6 % 6, number % 6].map(level);
            Some(format!("#{red:02x}{green:02x}{blue:02x}"))
        }
        Color::Idx(number) => {
            let grey = 8 + 10 * (number - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_keeps_its_words_colours_and_columns() {
        let mut parser = vt100::Parser::new(4, 12, 0);
        parser.process("\x1b[2;1H▎\x1b[38;2;1;2;3ma<b\x1b[0m \x1b[7mno\x1b[0m 中x".as_bytes());
        let text = picture(parser.screen(), "#000000", "#ffffff");
        assert!(text.contains("viewBox=\"0 0 133 50\""), "{text}");
        assert!(text.contains("fill=\"#010203\" xml:space=\"preserve\">a&lt;b</text>"), "{text}");
        assert!(text.contains("fill=\"#000000\" xml:space=\"preserve\">no</text>"), "{text}");
        assert!(text.contains(">  中x</text>") || text.contains("> 中x</text>"), "{text}");
        assert_eq!(hex(Color::Idx(231)).as_deref(), Some("#ffffff"));
        assert_eq!(hex(Color::Idx(244)).as_deref(), Some("#808080"));
    }
}
