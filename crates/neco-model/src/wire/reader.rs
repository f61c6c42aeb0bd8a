//! From the bytes of an answer to deltas, whether it is a stream or one JSON body.

use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::wire::cut;
use crate::wire::format::{Decoder, Problem};
use crate::wire::sse::{LIMIT, Parser};

/// Larger pieces are looked at before they are parsed.
const LARGE: usize = 256 * 1024;
/// Most values in one piece of JSON: each takes many times the bytes that it is written with.
const MOST_VALUES: usize = 100_000;
/// Most that a decoder may keep to itself of an answer.
const MOST_KEPT: usize = 8 * 1024 * 1024;

/// Reads one answer.
pub struct Reader {
    decoder: Box<dyn Decoder>,
    form: Form,
}

/// What the answer is, known from its first visible byte: an event stream never begins with `{` or `[`.
enum Form {
    Unknown,
    Stream(Parser),
    Whole(Vec<u8>),
}

impl Reader {
    /// A reader that hands what it cuts out to `decoder`.
    pub fn new(decoder: Box<dyn Decoder>) -> Self {
        Self { decoder, form: Form::Unknown }
    }

    /// Takes the next bytes.
    /// Fails when the vendor reports one, or when the bytes are no answer of this format. What was read before it is in
    /// `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem> {
        if let Form::Unknown = self.form {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => return Ok(()),
                Some(b'{' | b'[') => self.form = Form::Whole(Vec::new()),
                Some(b'<') => return Err(web_page()),
                Some(_) => self.form = Form::Stream(Parser::default()),
            }
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Stream(parser) => {
                feed(parser, self.decoder.as_mut(), out, |parser, on_event| parser.push(bytes, on_event))
            }
            Form::Whole(body) if body.len() + bytes.len() > LIMIT => {
                let body = std::mem::take(body);
                Err(cut_short(&body, out, |body, out| self.decoder.whole(body, out)))
            }
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Whether the end mark was seen, so that nothing more is worth waiting for.
    pub fn is_over(&self) -> bool {
        self.decoder.is_over()
    }

    /// Whether the answer is known to be whole, though more may be said about it.
    pub fn is_finished(&self) -> bool {
        self.decoder.is_finished()
    }

    /// Whether the answer comes piece by piece.
    pub fn is_stream(&self) -> bool {
        matches!(self.form, Form::Stream(_))
    }

    /// The bytes ended.
    /// Fails when the answer is not whole.
    pub fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        match &mut self.form {
            Form::Unknown => {}
            Form::Whole(body) => {
                within_reason(body)?;
                return self.decoder.whole(body, out);
            }
            Form::Stream(parser) => {
                feed(parser, self.decoder.as_mut(), out, |parser, on_event| parser.finish(on_event))?;
            }
        }
        if self.decoder.is_over() { Ok(()) } else { self.decoder.end(out) }
    }
}

type OnEvent<'a> = dyn FnMut(crate::wire::sse::Event<'_>) + 'a;

/// Runs `parser` and hands its events to `decoder` until one is the last or is a problem.
fn feed(
    parser: &mut Parser,
    decoder: &mut dyn Decoder,
    out: &mut Vec<Delta>,
    run: impl FnOnce(&mut Parser, &mut OnEvent<'_>) -> Result<(), crate::wire::sse::TooLong>,
) -> Result<(), Problem> {
    let mut result = Ok(());
    let parsed = run(parser, &mut |event| {
        if result.is_ok() && !decoder.is_over() {
            result = within_reason(event.data).and_then(|()| decoder.event(event, out));
            if result.is_ok() && decoder.kept() > MOST_KEPT {
                result = Err(too_large("more of it is held back than any real answer has"));
            }
        }
    });
    result?;
    parsed.map_err(|_| {
        cut_short(&parser.cut(), out, |data, out| decoder.event(crate::wire::sse::Event { name: b"", data }, out))
    })
}

/// Reads what came of a piece that is too large: whoever wrote it is then told what was too large. It is no whole
/// answer in any case.
fn cut_short(
    piece: &[u8],
    out: &mut Vec<Delta>,
    mut read: impl FnMut(&[u8], &mut Vec<Delta>) -> Result<(), Problem>,
) -> Problem {
    if within_reason(piece).is_ok() {
        let _ = cut::endings(piece).find(|text| read(text.as_bytes(), out).is_ok());
        out.retain(|delta| !matches!(delta, Delta::Finish(_)));
    }
    too_large(&format!("a piece of it is larger than {LIMIT} bytes"))
}

/// Whether parsing a piece costs about what its size says.
fn within_reason(piece: &[u8]) -> Result<(), Problem> {
    if piece.len() <= LARGE {
        return Ok(());
    }
    let (mut values, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in piece {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b',' | b'[' | b'{' if !in_text => values += 1,
            _ => {}
        }
    }
    if values > MOST_VALUES { Err(too_large("a piece of it has more values than any real one")) } else { Ok(()) }
}

fn too_large(words: &str) -> Problem {
    Problem::new(ErrorKind::AnswerTooLarge, words)
}

fn web_page() -> Problem {
    Problem::new(
        ErrorKind::NotFound,
        "a web page came instead of an answer; the provider's base address is probably wrong",
    )
}
