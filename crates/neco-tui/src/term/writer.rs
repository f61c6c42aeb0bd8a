//! The terminal is written to by a thread of its own: one that is slow, or a line that is, never holds up a key.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::Notify;

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
    broken: AtomicBool,
    freed: Notify,
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
                if out.write_all(&bytes).and_then(|()| out.flush()).is_err() {
                    shared.broken.store(true, Ordering::SeqCst);
                }
                shared.waiting.fetch_sub(1, Ordering::SeqCst);
                shared.freed.notify_one();
            }
            // Whoever waited may be gone.
            let _ = end.send(());
        })?;
        Ok(Self { frames: Some(frames), state, over })
    }

    /// Whether everything is written; until then a frame would only wait, and be old when it comes.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.state.waiting.load(Ordering::SeqCst) == 0
    }

    /// Whether the terminal is gone.
    #[must_use]
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

    /// Waits until everything is written, but not for ever: the terminal may be gone.
    pub fn close(&mut self) {
        self.frames = None;
        // Not in time is as good as it gets.
        let _ = self.over.recv_timeout(Duration::from_secs(1));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

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
        writer.close();
        assert_eq!(*out.0.lock().unwrap(), b"first frame second");
        assert!(!writer.is_broken());
    }
}
