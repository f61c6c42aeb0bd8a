//! The text of PDF pages: what is drawn, in the order of drawing, with lines and gaps told by position.

use std::collections::BTreeMap;

use lopdf::content::{Content, Operation};
use lopdf::{Document, Encoding, LoadOptions, Object, ObjectId};

use super::pdf::{Pages, PdfError};

/// Characters of one page that are kept.
const MOST_CHARACTERS: usize = 200_000;
/// Bytes that one packed part of a document may unpack to: a small file can hold endless ones.
const MOST_UNPACKED: usize = 32 * 1024 * 1024;
/// How deep pictures made of drawings may stand in each other.
const DEEPEST: usize = 4;
/// A gap between pieces of a line, in thousandths of the letter height, that stands for a space.
const GAP: f32 = 180.0;

/// A document that was taken apart.
pub struct PdfText {
    document: Document,
    pages: Vec<ObjectId>,
}

impl PdfText {
    /// Takes a document apart.
    pub fn open(content: &[u8]) -> Result<Self, PdfError> {
        let options = LoadOptions { max_decompressed_size: Some(MOST_UNPACKED), ..LoadOptions::default() };
        let mut document = Document::load_mem_with_options(content, options).map_err(PdfError::Damaged)?;
        // Many are locked with no password at all, only against changes.
        if document.is_encrypted() && document.decrypt("").is_err() {
            return Err(PdfError::Locked);
        }
        let pages = document.get_pages().into_values().collect();
        Ok(Self { document, pages })
    }
}

impl Pages for PdfText {
    fn count(&self) -> usize {
        self.pages.len()
    }

    fn text(&self, number: usize, stop: &dyn Fn() -> bool) -> Result<String, PdfError> {
        let page = number.checked_sub(1).and_then(|at| self.pages.get(at)).ok_or(PdfError::NoPage)?;
        let content = self.document.get_page_content_with_limit(*page, MOST_UNPACKED)?;
        let fonts = self.document.get_page_fonts(*page)?;
        let mut drawing =
            Drawing { document: &self.document, stop, text: String::new(), place: Place::default(), drawn: None };
        let forms = forms(&self.document, self.document.get_dictionary(*page).ok());
        drawing.draw(&content, &encodings(&self.document, fonts), &forms, 0)?;
        Ok(drawing.text)
    }
}

type Encodings<'a> = BTreeMap<Vec<u8>, Encoding<'a>>;
type Forms = BTreeMap<Vec<u8>, ObjectId>;

fn encodings<'a>(document: &'a Document, fonts: BTreeMap<Vec<u8>, &'a lopdf::Dictionary>) -> Encodings<'a> {
    let encoding = |font: &'a lopdf::Dictionary| font.get_font_encoding_with_limit(document, MOST_UNPACKED).ok();
    fonts.into_iter().filter_map(|(name, font)| Some((name, encoding(font)?))).collect()
}

/// The drawings that a page or drawing may draw by name.
fn forms(document: &Document, owner: Option<&lopdf::Dictionary>) -> Forms {
    let resources = owner.and_then(|owner| owner.get_deref(b"Resources", document).ok()?.as_dict().ok());
    let objects = resources.and_then(|resources| resources.get_deref(b"XObject", document).ok()?.as_dict().ok());
    let forms = objects.into_iter().flat_map(|objects| objects.iter());
    forms.filter_map(|(name, object)| Some((name.clone(), object.as_reference().ok()?))).collect()
}

/// Where the next letters go.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The beginning of the line.
    line: (f32, f32),
    /// How far lines lie apart.
    leading: f32,
    size: f32,
}

struct Drawing<'a> {
    document: &'a Document,
    stop: &'a dyn Fn() -> bool,
    text: String,
    place: Place,
    /// Where the last letters were drawn, and how wide they may be.
    drawn: Option<((f32, f32), f32)>,
}

impl Drawing<'_> {
    fn draw(&mut self, content: &[u8], fonts: &Encodings<'_>, forms: &Forms, depth: usize) -> lopdf::Result<()> {
        let content = Content::decode(content)?;
        let mut font = None;
        for (index, operation) in content.operations.iter().enumerate() {
            if self.text.len() > MOST_CHARACTERS || (index % 256 == 0 && (self.stop)()) {
                break;
            }
            if operation.operator == "Do" {
                self.draw_form(operation, forms, depth);
            } else {
                self.step(operation, fonts, &mut font);
            }
        }
        Ok(())
    }

    /// A drawing inside; what is wrong with it is no reason to lose the rest.
    fn draw_form(&mut self, operation: &Operation, forms: &Forms, depth: usize) {
        let name = operation.operands.first().and_then(|name| name.as_name().ok());
        let stream =
            name.and_then(|name| forms.get(name)).and_then(|id| self.document.get_object(*id).ok()?.as_stream().ok());
        let Some(stream) = stream.filter(|stream| {
            depth < DEEPEST && stream.dict.get(b"Subtype").and_then(Object::as_name).ok() == Some(b"Form")
        }) else {
            return;
        };
        let document = self.document;
        let resources = stream.dict.get_deref(b"Resources", document).and_then(Object::as_dict).ok();
        let fonts = resources.and_then(|resources| resources.get_deref(b"Font", document).ok()?.as_dict().ok());
        let fonts = fonts.into_iter().flat_map(|fonts| fonts.iter());
        let fonts = fonts.filter_map(|(name, font)| match font {
            Object::Reference(id) => Some((name.clone(), document.get_dictionary(*id).ok()?)),
            other => Some((name.clone(), other.as_dict().ok()?)),
        });
        let fonts = encodings(document, fonts.collect());
        let content = match stream.is_compressed() {
            true => stream.decompressed_content_with_limit(MOST_UNPACKED),
            false => Ok(stream.content.clone()),
        };
        let Ok(content) = content else { return };
        let _ = self.draw(&content, &fonts, &self::forms(document, Some(&stream.dict)), depth + 1);
    }

    fn step<'f>(&mut self, operation: &Operation, fonts: &'f Encodings<'_>, font: &mut Option<&'f Encoding<'f>>)
    where
        Self: 'f,
    {
        let number = |at: usize| operation.operands.get(at).and_then(|object| object.as_float().ok()).unwrap_or(0.0);
        match operation.operator.as_str() {
            "BT" => self.place.line = (0.0, 0.0),
            "Tf" => {
                let name = operation.operands.first().and_then(|name| name.as_name().ok());
                *font = name.and_then(|name| fonts.get(name));
                self.place.size = number(1).abs();
            }
            "TL" => self.place.leading = number(0),
            "Td" => self.go(number(0), number(1)),
            "TD" => {
                self.place.leading = -number(1);
                self.go(number(0), number(1));
            }
            "T*" => self.go(0.0, -self.place.leading),
            "Tm" => {
                self.place.line = (number(4), number(5));
                if number(3) != 0.0 && self.place.size <= 1.5 {
                    self.place.size = number(3).abs();
                }
            }
            "Tj" => self.show(operation.operands.first(), *font),
            "'" => {
                self.go(0.0, -self.place.leading);
                self.show(operation.operands.first(), *font);
            }
            "\"" => {
                self.go(0.0, -self.place.leading);
                self.show(operation.operands.get(2), *font);
            }
            "TJ" => self.show_pieces(operation.operands.first(), *font),
            _ => {}
        }
    }

    fn go(&mut self, right: f32, up: f32) {
        self.place.line = (self.place.line.0 + right, self.place.line.1 + up);
    }

    fn show_pieces(&mut self, pieces: Option<&Object>, font: Option<&Encoding<'_>>) {
        for piece in pieces.and_then(|pieces| pieces.as_array().ok()).into_iter().flatten() {
            match piece.as_float() {
                Ok(back) if -back > GAP => self.space(),
                Ok(_) => {}
                Err(_) => self.show(Some(piece), font),
            }
        }
    }

    fn show(&mut self, string: Option<&Object>, font: Option<&Encoding<'_>>) {
        let Some(bytes) = string.and_then(|string| string.as_str().ok()) else { return };
        let text = match font {
            Some(font) => {
                Document::decode_text(font, bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned())
            }
            None => String::from_utf8_lossy(bytes).into_owned(),
        };
        self.separate();
        self.text.extend(text.chars().filter(|character| !character.is_control()));
        let width = text.chars().count() as f32 * self.place.size * 0.5;
        self.drawn = Some(match self.drawn {
            Some((place, before)) if place == self.place.line => (place, before + width),
            Some(_) | None => (self.place.line, width),
        });
    }

    /// What lies between the last letters and the next ones.
    fn separate(&mut self) {
        let Some(((x, y), width)) = self.drawn else { return };
        let (now, height) = (self.place.line, self.place.size.max(1.0));
        let down = (y - now.1).abs();
        if now == (x, y) || self.text.is_empty() {
            return;
        }
        if down > height * 0.5 {
            let paragraph = down > height * 1.9;
            self.text.push_str(if paragraph { "\n\n" } else { "\n" });
        } else if now.0 > x + width * 0.6 || now.0 < x {
            self.space();
        }
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
    }
}
