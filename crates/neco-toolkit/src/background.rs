//! The way of what a call runs to the background, where it goes on after the call, and what people see of it there.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::output::ToolError;

/// A command that goes on in the background of an agent, as people look after it.
pub trait InBackground: Send + Sync {
    /// What it is called, such as `bg-1`.
    fn name(&self) -> &str;
    /// The command line.
    fn command(&self) -> &str;
    /// How long ago it began.
    fn age(&self) -> Duration;
    /// How it ended: its exit code, if it has one, and how long it ran; nothing while it runs.
    fn ended(&self) -> Option<(Option<i32>, Duration)>;
    /// The last lines that it printed, as plain text; the model still has them before it as new.
    fn tail(&self, lines: usize) -> String;
    /// Ends it and everything that it started, on behalf of the person; ready when it is over.
    fn end(self: Arc<Self>) -> BoxFuture<'static, ()>;
}

/// Whether there is room for one more in the background.
type Room = Box<dyn Fn() -> Result<(), ToolError> + Send + Sync>;

/// The way to the background of what one call runs. It is closed until the tool opens it: most have nothing that could
/// go on without them. A clone is the same way.
///
/// ```
/// use neco_toolkit::ToBackground;
///
/// let way = ToBackground::default();
/// assert!(way.send().is_err());
/// way.open(|| Ok(()));
/// assert!(way.send().is_ok());
/// ```
#[derive(Clone, Default)]
pub struct ToBackground {
    wanted: CancellationToken,
    room: Arc<OnceLock<Room>>,
}

impl ToBackground {
    /// What the call runs can go on in the background from now on, as long as there is `room`.
    pub fn open(&self, room: impl Fn() -> Result<(), ToolError> + Send + Sync + 'static) {
        // It is opened once; the first one counts.
        let _ = self.room.set(Box::new(room));
    }

    /// Ready when the person wants what the call runs to go on in the background.
    pub async fn wanted(&self) {
        self.wanted.cancelled().await;
    }

    /// The person wants it.
    /// Fails when the call has nothing that could go there, or there is no room.
    pub fn send(&self) -> Result<(), ToolError> {
        let closed = || ToolError::failed("what it does can't go on in the background");
        self.room.get().ok_or_else(closed)?()?;
        self.wanted.cancel();
        Ok(())
    }
}
