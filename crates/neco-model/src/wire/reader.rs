//! From the bytes of an answer to deltas, whether it is a stream or one JSON body.

use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::wire::format::{Decoder, Problem};
use crate::wire::sse::Parser;

/// The largest answer that is accepted in one body.
const WHOLE_LIMIT: usize = 64 * 1024 * 1024;

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
    #[must_use]
    pub fn new(decoder: Box<dyn Decoder>) -> Self {
        Self { decoder, form: Form::Unknown }
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// When the vendor reports one, or when the bytes are no answer of this format. What was read
    /// before it is in `out`.
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
            Form::Whole(body) if body.len() + bytes.len() > WHOLE_LIMIT => {
                Err(Problem::new(ErrorKind::ServerError, "the answer is larger than any real one"))
            }
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Whether the end mark was seen, so that nothing more is worth waiting for.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.decoder.is_over()
    }

    /// Whether the answer is known to be whole, though more may be said about it.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.decoder.is_finished()
    }

    /// Whether the answer comes piece by piece.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        matches!(self.form, Form::Stream(_))
    }

    /// The bytes ended.
    ///
    /// # Errors
    /// When the answer is not whole.
    pub fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem> {
        match &mut self.form {
            Form::Unknown => {}
            Form::Whole(body) => return self.decoder.whole(body, out),
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
            result = decoder.event(event, out);
        }
    });
    result?;
    parsed.map_err(|too_long| Problem::new(ErrorKind::ServerError, too_long.to_string()))
}

fn web_page() -> Problem {
    Problem::new(
        ErrorKind::NotFound,
        "a web page came instead of an answer; the provider's base address is probably wrong",
    )
}
