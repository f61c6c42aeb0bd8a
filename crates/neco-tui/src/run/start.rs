//! A window from its start to its end: the terminal is taken, a session is opened, and both are given back.

use std::io;
use std::sync::Arc;

use neco_proto::ClientError;
use neco_proto::app::App as Program;

use super::opening::Retold;
use super::signals::Signals;
use super::window::Window;
use crate::host::{Host, Wanted};
use crate::looks::Looks;
use crate::term::{Depth, Guard, ground};
use crate::text::highlight;
use crate::theme::ThemeName;

/// Why a window could not be opened, or closed before its time.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// The terminal does not let us.
    #[error("the terminal can't be used: {0}")]
    Terminal(#[from] io::Error),
    /// The session could not be opened.
    #[error("{0}")]
    Open(String),
    /// What happens in the session can't be kept any more.
    #[error("{0}")]
    Lost(ClientError),
}

/// Shows sessions until the person leaves; `first` is said at once, and `program` is asked what no session knows.
///
/// # Errors
/// When the terminal can't be used, or the first session can't be opened.
pub async fn run(
    host: Arc<dyn Host>,
    program: Arc<dyn Program>,
    wanted: Wanted,
    first: Option<String>,
    looks: Looks,
) -> Result<(), WindowError> {
    // From the beginning: whoever hears a signal besides trusts that the window hears it, too.
    let signals = Signals::listen();
    let guard = Guard::take()?;
    let told = looks.asks_ground.map(ground::ask).unwrap_or_default();
    let theme = if looks.asks_ground.is_some() { told.theme() } else { looks.theme };
    // Fewer colours have washes of their own.
    let ground = told.colour.filter(|_| looks.depth == Depth::True);
    let looks = Looks { theme, ground, ..looks };
    // Meanwhile a session is opened, and the first program in it does not wait.
    if looks.theme != ThemeName::Plain {
        std::thread::spawn(highlight::warm);
    }
    let mut window = Window::new(host, program, first, looks)?;
    window.take_together(told.events);
    window.terminal.first_answers(&mut window.app).await?;
    window.errands.open(wanted, Retold::Whole);
    let outcome = window.work(signals).await;
    window.terminal.hear_out().await;
    window.leave(guard);
    window.session.close(window.host.as_ref()).await;
    outcome
}
