//! Lines of a socket, read and written within bounds.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// Lines that may wait to be written on one connection.
pub(crate) const OUTBOX: usize = 16;

/// Bytes that are written at a time when many lines wait.
const BATCH: usize = 64 * 1024;

/// Bytes that a line may keep of its buffer for the next one.
const KEPT: usize = 64 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line that is longer than allowed; nothing is read after it.
    TooLong,
    /// The other side is gone. A line without an end counts as never said.
    End,
}

/// Reads lines. Dropping a read loses nothing: the next one goes on where it was.
pub(crate) struct Lines<R> {
    source: BufReader<R>,
    partial: Vec<u8>,
    most: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `most` bytes.
    pub fn new(source: R, most: usize) -> Self {
        Self { source: BufReader::new(source), partial: Vec::new(), most }
    }

    /// From now on lines may have so many bytes.
    pub fn allow(&mut self, most: usize) {
        self.most = most;
    }

    /// The next line.
    pub async fn next(&mut self) -> io::Result<Read> {
        loop {
            let bytes = self.source.fill_buf().await?;
            if bytes.is_empty() {
                return Ok(Read::End);
            }
            let (piece, ended) = match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (bytes.get(..at).unwrap_or_default(), true),
                None => (bytes, false),
            };
            if self.partial.len() + piece.len() > self.most {
                return Ok(Read::TooLong);
            }
            self.partial.extend_from_slice(piece);
            let used = piece.len() + usize::from(ended);
            self.source.consume(used);
            if ended {
                let room = Vec::with_capacity(self.partial.len().min(KEPT));
                return Ok(Read::Line(std::mem::replace(&mut self.partial, room)));
            }
        }
    }
}

/// Writes the lines of `outbox` until there are no more; many small ones at a time. A line is let go of when it is
/// written.
pub(crate) async fn write_lines<L: AsRef<[u8]>>(
    mut sink: impl AsyncWrite + Unpin,
    mut outbox: mpsc::Receiver<L>,
) -> io::Result<()> {
    while let Some(first) = outbox.recv().await {
        let mut together = Vec::new();
        let (mut bytes, mut taken) = (first.as_ref().len(), vec![first]);
        while bytes < BATCH
            && let Ok(line) = outbox.try_recv()
        {
            bytes += line.as_ref().len();
            taken.push(line);
        }
        match taken.as_slice() {
            [one] => sink.write_all(one.as_ref()).await?,
            several => {
                several.iter().for_each(|line| together.extend_from_slice(line.as_ref()));
                sink.write_all(&together).await?;
            }
        }
    }
    sink.shutdown().await
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    async fn all(text: &[u8], piece: usize, most: usize) -> Vec<Read> {
        let (mut sender, receiver) = tokio::io::duplex(piece);
        let text = text.to_vec();
        let sent = tokio::spawn(async move {
            for piece in text.chunks(piece) {
                if sender.write_all(piece).await.is_err() {
                    return;
                }
            }
        });
        let mut lines = Lines::new(receiver, most);
        let mut read = Vec::new();
        loop {
            let next = lines.next().await.unwrap();
            let over = !matches!(next, Read::Line(_));
            read.push(next);
            if over {
                sent.abort();
                return read;
            }
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn a_line_that_is_too_long_is_the_end() {
        let read = runtime().block_on(all(b"abc\nabcdef\nabc\n", 2, 4));
        assert_eq!(read, [Read::Line(b"abc".to_vec()), Read::TooLong]);
    }

    #[test]
    fn a_line_without_an_end_was_never_said() {
        let read = runtime().block_on(all(b"a\n\nbc", 8, 4));
        assert_eq!(read, [Read::Line(b"a".to_vec()), Read::Line(Vec::new()), Read::End]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn lines_come_out_as_they_went_in(
            lines in proptest::collection::vec("[^\n]{0,40}", 0..20),
            piece in 1usize..64,
        ) {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let read = runtime().block_on(all(text.as_bytes(), piece, 4096));
            let mut expected: Vec<Read> = lines.iter().map(|line| Read::Line(line.as_bytes().to_vec())).collect();
            expected.push(Read::End);
            prop_assert_eq!(read, expected);
        }

        #[test]
        fn what_is_written_is_what_was_said(lines in proptest::collection::vec("[^\n]{0,60}", 0..60)) {
            let written = runtime().block_on(async {
                let (outbox, inbox) = mpsc::channel(OUTBOX);
                let (sink, mut source) = tokio::io::duplex(128);
                tokio::spawn(write_lines(sink, inbox));
                let said = lines.clone();
                tokio::spawn(async move {
                    for line in said {
                        outbox.send(format!("{line}\n").into_bytes()).await.unwrap();
                    }
                });
                let mut text = String::new();
                tokio::io::AsyncReadExt::read_to_string(&mut source, &mut text).await.unwrap();
                text
            });
            prop_assert_eq!(written, lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        }
    }
}
