//! The terminal is written to by a thread of its own: one that is slow, or a line that is, never holds up a key.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Bytes that are handed to the terminal at a time: what is left of a frame when the end comes is not written.
const PIECE: usize = 4096;

/// How long a terminal may take nothing at the end, and how long the end may take.
const PATIENCE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(2);

/// Hands bytes to the terminal in the background, one frame at a time.
#[derive(Debug)]
pub struct Writer {
    frames: Option<mpsc::Sender<Vec<u8>>>,
    state: Arc<State>,
    over: mpsc::Receiver<()>,
}

#[derive(Debug, Default)]
struct State {
    waiting: AtomicUsize,
    /// Bytes that were taken so far.
    written: AtomicUsize,
    broken: AtomicBool,
    /// Nothing more is to be written: the terminal is somebody else's.
    ended: AtomicBool,
    /// The bytes of the last frame and how long it took until they were taken; what nobody has asked about yet.
    last: Mutex<Option<(usize, Duration)>>,
    freed: Notify,
}

impl State {
    fn write(&self, out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        for piece in bytes.chunks(PIECE) {
            if self.ended.load(Ordering::SeqCst) {
                return Ok(());
            }
            out.write_all(piece)?;
            self.written.fetch_add(piece.len(), Ordering::SeqCst);
        }
        out.flush()
    }
}

impl Writer {
    /// Writes to `out`.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn new(mut out: impl Write + Send + 'static) -> io::Result<Self> {
        let (frames, taken) = mpsc::channel::<Vec<u8>>();
        let (end, over) = mpsc::channel();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        std::thread::Builder::new().name("screen".to_owned()).spawn(move || {
            for bytes in taken {
                let began = Instant::now();
                if shared.write(&mut out, &bytes).is_err() {
                    shared.broken.store(true, Ordering::SeqCst);
                }
                *shared.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((bytes.len(), began.elapsed()));
                shared.waiting.fetch_sub(1, Ordering::SeqCst);
                shared.freed.notify_one();
            }
            // Whoever waited may be gone.
            let _ = end.send(());
        })?;
        Ok(Self { frames: Some(frames), state, over })
    }

    /// Whether everything is written; until then a frame would only wait, and be old when it comes.
    pub fn is_free(&self) -> bool {
        self.state.waiting.load(Ordering::SeqCst) == 0
    }

    /// How many bytes the last frame had and how long it took, once.
    pub fn take_last(&self) -> Option<(usize, Duration)> {
        self.state.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether the terminal is gone.
    pub fn is_broken(&self) -> bool {
        self.state.broken.load(Ordering::SeqCst)
    }

    /// Ready when everything is written.
    pub async fn freed(&self) {
        self.state.freed.notified().await;
    }

    /// Hands over bytes.
    pub fn write(&self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        self.state.waiting.fetch_add(1, Ordering::SeqCst);
        let sent = self.frames.as_ref().is_some_and(|frames| frames.send(bytes).is_ok());
        if !sent {
            self.state.broken.store(true, Ordering::SeqCst);
        }
    }

    /// Waits until everything is written, but not for ever: the terminal may be gone, or take nothing for a second. What
    /// is not written by then is not written at all, as whoever has the terminal next would find it in the middle of theirs.
    /// Whether everything is.
    pub fn close(&mut self) -> bool {
        self.frames = None;
        let last = Instant::now() + LONGEST;
        let is_over = loop {
            let written = self.state.written.load(Ordering::SeqCst);
            if self.over.recv_timeout(PATIENCE) != Err(mpsc::RecvTimeoutError::Timeout) {
                break true;
            }
            let moves = self.state.written.load(Ordering::SeqCst) > written;
            // Not in time is as good as it gets.
            if !moves || Instant::now() > last {
                break false;
            }
        };
        self.state.ended.store(true, Ordering::SeqCst);
        is_over && !self.is_broken()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Slow(Arc<Mutex<Vec<u8>>>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut written = self.0.lock().unwrap();
            let taken = bytes.len().min(3);
            written.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn all_of_it_is_written_in_order() {
        let out = Slow::default();
        let mut writer = Writer::new(out.clone()).unwrap();
        writer.write(b"first frame ".to_vec());
        writer.write(b"second".to_vec());
        while !writer.is_free() {
            writer.freed().await;
        }
        assert!(writer.close());
        assert_eq!(*out.0.lock().unwrap(), b"first frame second");
        assert!(!writer.is_broken());
    }

    /// Takes a piece, and then nothing until it is let go.
    struct Stuck(Arc<Mutex<Vec<usize>>>, mpsc::Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().push(bytes.len());
            let _ = self.1.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_terminal_that_takes_nothing_gets_nothing_after_the_end() {
        let (go, stuck) = mpsc::channel();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let mut writer = Writer::new(Stuck(Arc::clone(&taken), stuck)).unwrap();
        writer.write(vec![b'x'; 3 * PIECE]);
        writer.write(b"later".to_vec());
        assert!(!writer.close(), "not everything is written");
        drop(go);
        // Its thread ends, and drops what it held.
        while Arc::strong_count(&taken) > 1 {
            std::thread::yield_now();
        }
        assert_eq!(*taken.lock().unwrap(), [PIECE]);
    }
}
